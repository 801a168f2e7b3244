"""The entries of the conversation: what each kind of turn looks like, closed and open. Pure.

A tool call and its result are one entry; everything else is one turn each.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import accumulate
from typing import Any

from agent.turns import (
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
from tui.sanitise import clip, one_line, sanitise
from tui.widgets.conversation.lines import (
    ADDED,
    BOLD,
    DIM,
    ERROR,
    ITALIC,
    REMOVED,
    TOOL,
    UNICODE,
    USER,
    Glyphs,
    Line,
    Run,
    run_cells,
)
from tui.widgets.conversation.parts import Part, Stream, fixed_part, piece_part, plain_parts
from tui.widgets.conversation.pieces import split

_ESSENCE_KEYS = ("name", "content", "system_prompt", "new", "id", "query", "question", "message")
_YOU: list[Run] = [("you  ", USER | BOLD)]
_INDENT: list[Run] = [("  ", 0)]


class Entry:
    """One item of the conversation on the screen.

    Attributes:
        key: the id of its turn.
        foldable: whether a click on its first line opens and closes it.
        opened: whether it is open.
    """

    foldable = False

    def __init__(self, key: str, glyphs: Glyphs = UNICODE) -> None:
        self.key = key
        self.glyphs = glyphs
        self.opened = False
        self._parts: list[Part] | None = None
        self._starts: list[int] = []
        self._starts_width = 0

    @property
    def is_measured(self) -> bool:
        """Whether its parts are known (its height may still be a guess)."""
        return self._parts is not None

    def parts(self) -> list[Part]:
        """Return its parts, made when first asked for."""
        if self._parts is None:
            self._parts = self.make_parts()
            self.changed()
        return self._parts

    def starts(self, width: int) -> list[int]:
        """Return the row each part begins at, within the entry, and at last where the entry ends."""
        if self._starts_width != width:
            self._starts = [0, *accumulate(part.height(width) for part in self.parts())]
            self._starts_width = width
        return self._starts

    def height(self, width: int) -> int:
        """Return its rows at `width`: a guess where nothing was drawn yet."""
        if self._parts is None:
            characters, breaks = self.weight()
            return breaks + 1 + characters // max(width, 1)
        return self.starts(width)[-1]

    def changed(self) -> None:
        """Its parts or their heights changed."""
        self._starts_width = 0

    def remake(self) -> None:
        """What it shows changed: make its parts anew."""
        self._parts = None
        self.changed()
        self.parts()

    def toggle(self) -> bool:
        """Open or close it; return whether it did."""
        if not self.foldable:
            return False
        self.opened = not self.opened
        self.remake()
        return True

    def make_parts(self) -> list[Part]:
        """Return its parts as it is now."""
        raise NotImplementedError

    def weight(self) -> tuple[int, int]:
        """Return characters and line ends, for a first guess at the height."""
        return 0, 0

    def text(self) -> str:
        """Return its whole text, harmless, as it is copied and searched."""
        return ""

    @property
    def turn(self) -> Turn | None:
        """The turn it shows, None for what is no turn."""
        return None


def _foot(width: int, text: str, ink: int) -> list[Line]:
    return [Line([(clip(text, width), ink)])]


class UserEntry(Entry):
    """What the person said: plain text."""

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
        rest: list[Run] = [(" " * run_cells(_YOU), 0)]
        gap = [fixed_part(lambda width: [Line()])] if self._gap else []
        return [*gap, *plain_parts(self.text(), USER, _YOU, rest)]

    def text(self) -> str:
        return sanitise(self._turn.content)


class AnswerEntry(Entry):
    """One text block of an answer: Markdown, finished or still arriving."""

    def __init__(self, turn: AssistantTextTurn, glyphs: Glyphs = UNICODE, *, streaming: bool = False) -> None:
        super().__init__(turn.id, glyphs)
        self._turn = turn
        self.stream: Stream | None = Stream(glyphs) if streaming else None
        if self.stream is not None:
            self._parts = [self.stream.tail]
            if turn.content:
                self.stream.add(turn.content)

    @property
    def turn(self) -> Turn:
        return self._turn

    def weight(self) -> tuple[int, int]:
        return len(self._turn.content), self._turn.content.count("\n")

    def make_parts(self) -> list[Part]:
        return [piece_part(piece, self.glyphs) for piece in split(self.text())] + self._mark()

    def text(self) -> str:
        return sanitise(self.stream.raw() if self.stream is not None else self._turn.content)

    def advance(self, width: int) -> tuple[list[Part], int]:
        """Draw the deltas that wait.

        Returns:
            The parts that were finished, drawn, and the first row within the entry that changed.
        """
        if self.stream is None or self._parts is None:
            return [], 0
        starts = self.starts(width)
        done, changed = self.stream.advance(width)
        tail_at = starts[-2]
        first = tail_at + changed
        self._parts[-1:] = [*done, self.stream.tail]
        # Only what changed is added up again: the cost does not grow with the answer.
        del starts[-1]
        for part in self._parts[-1 - len(done) :]:
            part.draw(width)
            tail_at += part.height(width)
            starts.append(tail_at)
        return done, first

    def end(self, turn: AssistantTextTurn) -> None:
        """The block is over, `turn` is what it became."""
        stream, self.stream, self._turn = self.stream, None, turn
        if stream is None or self._parts is None or stream.raw() != turn.content:
            self.remake()
            return
        self._parts[-1:] = [*stream.finish(), *self._mark()]
        self.changed()

    def _mark(self) -> list[Part]:
        if not self._turn.interrupted:
            return []
        return [fixed_part(lambda width: _foot(width, "[interrupted]", DIM | ITALIC))]


class ThinkingEntry(Entry):
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
        if self.opened:
            parts += plain_parts(self.text() or "(nothing to show)", DIM | ITALIC, _INDENT, _INDENT)
        return parts

    def text(self) -> str:
        content = "".join(self._arrived) if self._arrived is not None else self._turn.content
        return sanitise(content)

    def add(self, text: str) -> None:
        """Take a delta. It is shown when the entry is opened or the block is over."""
        if self._arrived is not None:
            self._arrived.append(text)

    def end(self, turn: ThinkingTurn) -> None:
        """The block is over, `turn` is what it became."""
        self._turn, self._arrived = turn, None
        self.remake()

    def _head(self, width: int) -> list[Line]:
        sign = self.glyphs.opened if self.opened else self.glyphs.closed
        ended = self._arrived is None
        name = "thinking" if ended else "thinking…"
        if ended and self._turn.interrupted:
            name = "thinking, interrupted"
        return _foot(width, f"{sign} {name}", DIM)


class ToolEntry(Entry):
    """A tool call and its result: one line when closed, input, output and changes when open."""

    foldable = True

    def __init__(self, call: ToolCallTurn | None, glyphs: Glyphs = UNICODE, *, key: str = "") -> None:
        super().__init__(call.id if call is not None else key, glyphs)
        self.call = call
        self.result: ToolResultTurn | None = None
        self.progress = ""
        self.ended: tuple[str, bool, Mapping[str, Any] | None] | None = None

    @property
    def turn(self) -> Turn | None:
        return self.call or self.result

    def weight(self) -> tuple[int, int]:
        return 0, 0

    def finish(self, output: str, is_error: bool, details: Mapping[str, Any] | None) -> None:
        """The call ended with this."""
        self.ended = (output, is_error, details)
        self.remake()

    def set_call(self, call: ToolCallTurn) -> None:
        """The call is complete now."""
        self.call = call
        self.remake()

    def show_progress(self, text: str) -> None:
        """The tool says how far it is."""
        self.progress = text
        self.remake()

    def make_parts(self) -> list[Part]:
        parts = [fixed_part(self._head)]
        if self.opened:
            parts += self._body()
        return parts

    def text(self) -> str:
        lines = []
        if self.call is not None:
            arguments = json.dumps(thaw(self.call.input), ensure_ascii=False, indent=2, default=str)
            lines.append(f"{self.call.tool_name} {arguments}")
            if self.call.fault:
                lines.append(self.call.fault)
        if self.ended is not None:
            lines.append(self.ended[0])
        return sanitise("\n".join(lines))

    def _head(self, width: int) -> list[Line]:
        glyphs = self.glyphs
        sign = glyphs.opened if self.opened else glyphs.closed
        failed = self.ended is not None and self.ended[1]
        name = one_line(self.call.tool_name, 60) if self.call is not None else "result"
        left: list[Run] = [(f"{sign} ", DIM), (name, TOOL | (ERROR if failed else 0))]
        right: list[Run] = []
        if self.ended is None:
            note = one_line(self.progress, width) or one_line(essence(self.call), width)
            right = [("  …", DIM)]
        elif failed:
            note = one_line(self.ended[0], width)
            left.insert(1, (f"{glyphs.failed} ", ERROR))
        else:
            note = one_line(essence(self.call), width)
            right = _counts(self.ended[2], glyphs)
        room = width - run_cells(left) - run_cells(right) - 2
        middle: list[Run] = [(f"  {clip(note, room)}", ERROR if failed else DIM)] if note and room > 3 else []
        return [Line([*left, *middle, *right])]

    def _body(self) -> list[Part]:
        parts: list[Part] = []
        details = self.ended[2] if self.ended is not None else None
        diff = details.get("diff") if details is not None else None
        has_diff = isinstance(diff, str) and bool(diff.strip())
        if self.call is not None:
            if self.call.fault:
                parts += plain_parts(sanitise(self.call.fault), ERROR, _INDENT, _INDENT)
            for name, value in self.call.input.items():
                parts += _field(name, value)
        if has_diff:
            parts += _diff_parts(sanitise(str(diff)))
        elif self.ended is not None and self.ended[0]:
            failed = self.ended[1]
            first: list[Run] = [("  = ", DIM)]
            parts += plain_parts(sanitise(self.ended[0]), ERROR if failed else 0, first, [("    ", 0)])
        if not parts:
            parts = plain_parts("(no input)" if self.ended is None else "(nothing)", DIM, _INDENT, _INDENT)
        return parts


def essence(call: ToolCallTurn | None) -> str:
    """Return what of a call's input says most in one line; not sanitised."""
    if call is None:
        return ""
    if call.fault:
        return call.fault
    values = call.input
    for key in _ESSENCE_KEYS:
        if isinstance(values.get(key), str):
            return str(values[key])[:1000]
    for value in values.values():
        if isinstance(value, str | int | float):
            return str(value)[:1000]
    return ""


def _counts(details: Mapping[str, Any] | None, glyphs: Glyphs) -> list[Run]:
    """Return `+2 −1` from the details of a result, when they say so."""
    if details is None:
        return []
    added, removed = details.get("added"), details.get("removed")
    if not isinstance(added, int) or not isinstance(removed, int):
        return []
    return [("  ", 0), (f"+{added}", ADDED), (" ", 0), (f"{glyphs.minus}{removed}", REMOVED)]


def _field(name: str, value: Any) -> list[Part]:
    text = value if isinstance(value, str) else json.dumps(thaw(value), ensure_ascii=False, default=str)
    label: Run = (f"{one_line(str(name), 40)}: ", TOOL | DIM)
    if "\n" not in text and len(text) < 200:
        return plain_parts(sanitise(text), 0, [*_INDENT, label], [("    ", 0)])
    head = [Line([*_INDENT, label])]
    return [fixed_part(lambda width: head), *plain_parts(sanitise(text), 0, [("    ", 0)], [("    ", 0)])]


def _diff_parts(diff: str) -> list[Part]:
    """Return the parts of a unified diff, each run of like lines in its colour."""
    parts: list[Part] = []
    block: list[str] = []
    ink = 0
    for line in diff.split("\n"):
        if (line.startswith(("+++", "---")) and not parts) or line.startswith("@@"):
            of_line = DIM
        else:
            of_line = ADDED if line.startswith("+") else REMOVED if line.startswith("-") else 0
        if block and of_line != ink:
            parts += plain_parts("\n".join(block), ink, _INDENT, _INDENT)
            block = []
        ink = of_line
        block.append(line)
    if block != [""]:
        parts += plain_parts("\n".join(block), ink, _INDENT, _INDENT)
    return parts


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
        sign = self.glyphs.failed if self._error else "·" if self.glyphs.rule != "-" else "-"
        ink = ERROR if self._error else DIM
        return plain_parts(self.text(), ink, [(f"{sign} ", ink)], _INDENT)

    def text(self) -> str:
        return sanitise(self._text)


def entry_for(turn: Turn, glyphs: Glyphs, *, first: bool, streaming: bool = False) -> Entry:
    """Return the entry of a turn that is no tool result; `first`: nothing stands above it."""
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
            return NoticeEntry(turn.content, glyphs, key=turn.id, error=turn.kind == "error", turn=turn)
        case CustomTurn():
            fields = json.dumps(thaw(turn.fields), ensure_ascii=False, default=str)
            return NoticeEntry(f"{turn.type}: {fields[:2000]}", glyphs, key=turn.id, turn=turn)
        case ToolResultTurn():
            entry = ToolEntry(None, glyphs, key=turn.id)
            entry.result = turn
            entry.finish(turn.output, turn.is_error, turn.details)
            return entry
