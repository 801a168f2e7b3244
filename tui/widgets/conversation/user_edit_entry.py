"""The entry for what the person changed by hand between two messages: one dim line, and a diff. No widget."""

from __future__ import annotations

from agent.core.turns import CustomTurn, Turn
from tui.terminal.diff_view import close_context, diff_lines
from tui.terminal.sanitise import one_line, sanitise
from tui.widgets.conversation.diff_parts import counts, diff_parts
from tui.widgets.conversation.entry import Entry
from tui.widgets.conversation.lines import DIM, UNICODE, Glyphs, Line, TextRun, run_cells
from tui.widgets.conversation.render_parts import Part, fixed_part
from tui.widgets.conversation.search import SearchableText


class UserEditEntry(Entry):
    """A hand edit: that there was one; when open, what it changed."""

    def __init__(self, turn: CustomTurn, glyphs: Glyphs = UNICODE) -> None:
        super().__init__(turn.id, glyphs)
        self._turn = turn
        content = turn.fields.get("content")
        # The turn for the agent is in brackets: a sentence, then the diff if it is not too long.
        _, _, diff = content.partition("\n") if isinstance(content, str) else ("", "", "")
        self._diff = diff.removesuffix("]")

    @property
    def turn(self) -> Turn:
        return self._turn

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
