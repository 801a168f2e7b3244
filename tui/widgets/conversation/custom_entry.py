"""The entries of custom turns: a hand edit, the line where a step of a task begins, and how a task ended. No widget."""

from __future__ import annotations

from agent.core.turns import CustomTurn, Turn
from tui.terminal.diff_view import LONGEST, close_context, diff_lines
from tui.terminal.sanitise import clip, one_line, sanitise
from tui.widgets.conversation.diff_parts import counts, diff_parts
from tui.widgets.conversation.entry import INDENT, Entry
from tui.widgets.conversation.lines import (
    BOLD,
    DIM,
    ERROR,
    TOOL,
    UNICODE,
    Glyphs,
    Line,
    TextRun,
    run_cells,
)
from tui.widgets.conversation.render_parts import Part, fixed_part, plain_parts
from tui.widgets.conversation.search import SearchableText


class _CustomEntry(Entry):
    def __init__(self, turn: CustomTurn, glyphs: Glyphs = UNICODE) -> None:
        super().__init__(turn.id, glyphs)
        self._turn = turn

    @property
    def turn(self) -> Turn:
        return self._turn

    def _field(self, name: str) -> str:
        value = self._turn.fields.get(name)
        return value if isinstance(value, str) else ""


class StepEntry(_CustomEntry):
    """Where a step of a task begins: one dim line."""

    def make_parts(self) -> list[Part]:
        return [fixed_part(self._line)]

    def text(self) -> str:
        return sanitise(self._field("text"))

    def _line(self, width: int) -> list[Line]:
        words = one_line(self._field("text"), width)
        rule = self.glyphs.rule
        left = f"{rule}{rule} {words} "
        return [Line([(clip(left + rule * max(0, min(width, 40) - len(left)), width), DIM)])]


class EndingEntry(_CustomEntry):
    """How a task ended: steps, time, cost, its summary, and when open the diff of everything it changed."""

    @property
    def foldable(self) -> bool:  # type: ignore[override]
        """Whether there is a diff to open."""
        return bool(self._field("diff"))

    def weight(self) -> tuple[int, int]:
        summary = self._field("summary")
        return len(summary), summary.count("\n") + bool(summary)

    def text(self) -> str:
        texts = [self._field(name) for name in ("text", "summary", "diff")]
        return sanitise("\n".join(text for text in texts if text))

    def searchable(self) -> SearchableText:
        return SearchableText(
            [self.text(), "\n".join(diff_lines(close_context(self._field("diff")[:LONGEST])))]
        )

    def make_parts(self) -> list[Part]:
        parts = [fixed_part(self._head)]
        if summary := self._field("summary"):
            parts += plain_parts(sanitise(summary), 0, INDENT, INDENT)
        if self.opened:
            diff = self._field("diff")
            parts += diff_parts(diff[:LONGEST], self.glyphs)
            if len(diff) > LONGEST:
                parts += plain_parts(
                    "(the rest is not shown; persona diff has all of it)", DIM, INDENT, INDENT
                )
        return parts

    def _head(self, width: int) -> list[Line]:
        glyphs = self.glyphs
        done = self._field("status") == "completed"
        sign = (glyphs.opened if self.opened else glyphs.closed) if self.foldable else glyphs.point
        mark = glyphs.done if done else glyphs.failed
        left: list[TextRun] = [(f"{sign} ", DIM), (f"{mark} ", TOOL | BOLD if done else ERROR)]
        right = self._counts()
        room = max(4, width - run_cells(left) - run_cells(right))
        text = one_line(self._field("text"), room, sign=glyphs.dots)
        return [Line([*left, (text, BOLD if done else ERROR), *right])]

    def _counts(self) -> list[TextRun]:
        added, removed = self._turn.fields.get("added"), self._turn.fields.get("removed")
        if not isinstance(added, int) or not isinstance(removed, int) or not self.foldable:
            return []
        return counts(added, removed, self.glyphs)


class UserEditEntry(_CustomEntry):
    """A hand edit: that there was one; when open, what it changed."""

    def __init__(self, turn: CustomTurn, glyphs: Glyphs = UNICODE) -> None:
        super().__init__(turn, glyphs)
        # The turn for the agent is in brackets: a sentence, then the diff if it is not too long.
        self._diff = self._field("content").partition("\n")[2].removesuffix("]")

    @property
    def foldable(self) -> bool:  # type: ignore[override]
        """Whether there is a diff to open."""
        return bool(self._diff)

    def weight(self) -> tuple[int, int]:
        return 0, 0

    def text(self) -> str:
        return sanitise("\n".join(filter(None, ("You changed the file.", self._diff))))

    def searchable(self) -> SearchableText:
        return SearchableText([self.text(), "\n".join(diff_lines(close_context(self._diff)))])

    def make_parts(self) -> list[Part]:
        return [fixed_part(self._head), *(diff_parts(self._diff, self.glyphs) if self.opened else ())]

    def _head(self, width: int) -> list[Line]:
        glyphs = self.glyphs
        sign = (glyphs.opened if self.opened else glyphs.closed) if self.foldable else glyphs.point
        lines = self._diff.split("\n")[2:]  # below the names of what is compared
        right: list[TextRun] = []
        if self.foldable:
            added = sum(line.startswith("+") for line in lines)
            removed = sum(line.startswith("-") for line in lines)
            right = counts(added, removed, glyphs)
        room = max(4, width - run_cells(right))
        words = one_line(f"{sign} you changed the file", room, sign=glyphs.dots)
        return [Line([(words, DIM), *right])]
