"""The entries of the conversation: what each kind of turn looks like, closed and open. No widget.

A tool call and its result are one entry; everything else is one turn each.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

from agent.core.turns import (
    FAILED,
    AssistantTextTurn,
    CustomTurn,
    NoticeTurn,
    ThinkingTurn,
    ToolCallTurn,
    ToolResultTurn,
    Turn,
    UserTurn,
    thaw,
)
from tui.terminal.sanitise import one_line, sanitise, shortened
from tui.widgets.conversation.custom_entry import EndingEntry, StepEntry, UserEditEntry
from tui.widgets.conversation.entry import INDENT, Entry, GrowingEntry, one_line_of
from tui.widgets.conversation.lines import (
    BOLD,
    DIM,
    ERROR,
    ITALIC,
    TOOL,
    UNICODE,
    USER,
    Glyphs,
    Line,
    TextRun,
    run_cells,
)
from tui.widgets.conversation.markdown_blocks import split_blocks
from tui.widgets.conversation.render_parts import (
    MarkdownStream,
    Part,
    PlainStream,
    block_part,
    fixed_part,
    plain_parts,
)
from tui.widgets.conversation.search import SearchableText
from tui.widgets.conversation.tool_entry import ToolEntry

_YOU: list[TextRun] = [("you  ", USER | BOLD)]


class UserEntry(Entry):
    """What the person said: plain text."""

    opens_run = True

    def __init__(self, turn: UserTurn, glyphs: Glyphs = UNICODE, *, first: bool = False) -> None:
        super().__init__(turn.id, glyphs)
        self._turn = turn
        self._gap = not first

    @property
    def turn(self) -> Turn:
        return self._turn

    def weight(self) -> tuple[int, int]:
        return len(self._turn.content), self._turn.content.count("\n") + self._gap

    def make_parts(self) -> list[Part]:
        rest: list[TextRun] = [(" " * run_cells(_YOU), 0)]
        gap = [fixed_part(lambda width: [Line()])] if self._gap else []
        return [*gap, *plain_parts(self.text(), USER, _YOU, rest)]

    def text(self) -> str:
        return sanitise(self._turn.content)


@dataclass(frozen=True, kw_only=True)
class SpokenTurn(AssistantTextTurn):
    """The answer of somebody else than the agent, whose name stands above it."""

    speaker: str


class AnswerEntry(GrowingEntry[MarkdownStream]):
    """One text block of an answer: Markdown, finished or still arriving; above it who speaks, unless it is the agent."""

    def __init__(self, turn: AssistantTextTurn, glyphs: Glyphs = UNICODE, *, streaming: bool = False) -> None:
        super().__init__(turn.id, glyphs)
        self._turn = turn
        if streaming:
            self.stream = MarkdownStream(glyphs)
        if self.stream is not None:
            self._parts = [*self._head(), self.stream.tail]
            if turn.content:
                self.stream.add(turn.content)

    @property
    def turn(self) -> Turn:
        return self._turn

    def weight(self) -> tuple[int, int]:
        content = self._turn.content
        # A block of nothing but space has no line.
        own = -1 if not content or content.isspace() else content.count("\n")
        return len(content), own + 2 * isinstance(self._turn, SpokenTurn)

    def make_parts(self) -> list[Part]:
        blocks = [block_part(block, self.glyphs) for block in split_blocks(self.text())]
        return [*self._head(), *blocks, *self._mark()]

    def text(self) -> str:
        return sanitise(self.stream.raw() if self.stream is not None else self._turn.content)

    def searchable(self) -> SearchableText:
        return SearchableText([self.text()], markdown=True)

    @property
    def grows(self) -> bool:
        return self.stream is not None

    def unfinished(self) -> AssistantTextTurn:
        """Return the turn as far as it arrived, marked as interrupted."""
        content = self.stream.raw() if self.stream is not None else self._turn.content
        return replace(self._turn, content=content, interrupted=True)

    def end(self, turn: AssistantTextTurn) -> None:
        """The block is over, `turn` is what it became."""
        stream, self.stream, self._turn = self.stream, None, turn
        self._searchable = None
        if stream is None or self._parts is None or stream.raw() != turn.content:
            self.remake()
            return
        self._parts[-1:] = [*stream.finish(), *self._mark()]
        self.changed()

    def _head(self) -> list[Part]:
        if not isinstance(self._turn, SpokenTurn):
            return []
        name = one_line(self._turn.speaker, 200)
        return [fixed_part(lambda width: [Line(), *one_line_of(width, name, TOOL | BOLD)])]

    def _mark(self) -> list[Part]:
        if not self._turn.interrupted:
            return []
        return [fixed_part(lambda width: one_line_of(width, "[interrupted]", DIM | ITALIC))]


class ThinkingEntry(GrowingEntry[PlainStream]):
    """Thinking: one dim line, the text when open."""

    foldable = True

    def __init__(self, turn: ThinkingTurn, glyphs: Glyphs = UNICODE, *, streaming: bool = False) -> None:
        super().__init__(turn.id, glyphs)
        self._turn = turn
        self._arrived: list[str] | None = [turn.content] if streaming else None

    @property
    def turn(self) -> Turn:
        return self._turn

    def make_parts(self) -> list[Part]:
        parts = [fixed_part(self._head)]
        self.stream = None
        if not self.opened:
            return parts
        if self._arrived is not None:
            self.stream = PlainStream(self._content(), DIM | ITALIC, INDENT)
            return [*parts, *self.stream.done, self.stream.tail]
        return parts + plain_parts(self.text() or "(nothing to show)", DIM | ITALIC, INDENT, INDENT)

    def text(self) -> str:
        return sanitise(self._content())

    @property
    def grows(self) -> bool:
        return self._arrived is not None

    def add(self, text: str) -> None:
        """Take a delta. It is shown when the entry is opened or the block is over."""
        if self._arrived is None:
            return
        self._arrived.append(text)
        if self.stream is not None:
            self.stream.add(text)

    def _content(self) -> str:
        return self._turn.content if self._arrived is None else "".join(self._arrived)

    def unfinished(self) -> ThinkingTurn:
        """Return the turn as far as it arrived, marked as interrupted."""
        return replace(self._turn, content=self._content(), interrupted=True)

    def end(self, turn: ThinkingTurn) -> None:
        """The block is over, `turn` is what it became."""
        self._turn, self._arrived = turn, None
        self.remake()

    def _head(self, width: int) -> list[Line]:
        sign = self.glyphs.opened if self.opened else self.glyphs.closed
        ended = self._arrived is None
        name = "thinking" if ended else f"thinking{self.glyphs.dots}"
        if ended and self._turn.interrupted:
            name = "thinking, interrupted"
        return one_line_of(width, f"{sign} {name}", DIM)


class NoticeEntry(Entry):
    """Something the program says: dim, or as an error."""

    def __init__(
        self,
        text: str,
        glyphs: Glyphs = UNICODE,
        *,
        key: str = "",
        error: bool = False,
        turn: Turn | None = None,
    ) -> None:
        super().__init__(key, glyphs)
        self._text = text
        self._error = error
        self._turn = turn

    @property
    def turn(self) -> Turn | None:
        return self._turn

    def weight(self) -> tuple[int, int]:
        return len(self._text), self._text.count("\n")

    def make_parts(self) -> list[Part]:
        sign = self.glyphs.failed if self._error else self.glyphs.point
        ink = ERROR if self._error else DIM
        return plain_parts(self.text(), ink, [(f"{sign} ", ink)], INDENT)

    def text(self) -> str:
        return sanitise(self._text)


def entry_for(turn: Turn, glyphs: Glyphs, *, first: bool, streaming: bool = False) -> Entry:
    """Return the entry of a turn that is no tool result; `first`: it is the first entry."""
    match turn:
        case UserTurn():
            return UserEntry(turn, glyphs, first=first)
        case AssistantTextTurn():
            return AnswerEntry(turn, glyphs, streaming=streaming)
        case ThinkingTurn():
            return ThinkingEntry(turn, glyphs, streaming=streaming)
        case ToolCallTurn():
            return ToolEntry(turn, glyphs)
        case NoticeTurn():
            return NoticeEntry(turn.content, glyphs, key=turn.id, error=turn.kind == FAILED, turn=turn)
        case CustomTurn(type="task_step"):
            return StepEntry(turn, glyphs)
        case CustomTurn(type="task_ending"):
            return EndingEntry(turn, glyphs)
        case CustomTurn(type="hand_edit"):
            return UserEditEntry(turn, glyphs)
        case CustomTurn():
            fields = json.dumps(thaw(turn.fields), ensure_ascii=False, default=str)
            return NoticeEntry(f"{turn.type}: {shortened(fields, 2000)}", glyphs, key=turn.id, turn=turn)
        case ToolResultTurn():
            entry = ToolEntry(None, glyphs, key=turn.id)
            entry.result = turn
            entry.finish(turn.output, turn.is_error, turn.details)
            return entry
