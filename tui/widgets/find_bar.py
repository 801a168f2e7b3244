"""Finding and replacing in the text of an editor: a field for each below it, and how many matches there are."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Grid
from textual.widgets import Input
from textual.widgets.text_area import Selection

from tui.commands.registry import bindings
from tui.terminal.visible_controls import to_shown
from tui.widgets.plain_text import LiteralStatic
from tui.widgets.text.document_editor import DocumentEditor
from tui.widgets.text.edits import index_of, location_at, smallest_edit
from tui.widgets.text.line_input import LineInput

if TYPE_CHECKING:
    from agent.search.pattern import Match, Pattern


class FindBar(Grid):
    """Two fields; letter case makes no difference. What is replaced is an edit of the editor.

    Args:
        editor: whose text.
    """

    DEFAULT_CSS = Path(__file__).with_suffix(".tcss").read_text(encoding="utf-8")

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("find")]

    def __init__(self, editor: DocumentEditor) -> None:
        super().__init__(id="find-bar")
        self._editor = editor
        self.text = LineInput(hint="find", id="find-text")
        self.new = LineInput(hint="replace by", id="find-new")
        self._count = LiteralStatic("", id="find-count")

    def compose(self) -> ComposeResult:
        yield from (self.text, self._count, self.new)

    @property
    def has_keys(self) -> bool:
        """Whether one of its fields has the focus."""
        return self.text.has_focus or self.new.has_focus

    def begin(self) -> None:
        """Go to the field of the text; from there to the other one."""
        self.display = True
        selected = self._editor.selected_text
        if not self.has_keys and selected and "\n" not in selected:
            self.text.value = selected
        field = self.new if self.text.has_focus else self.text
        field.focus()
        field.action_select_all()

    def close(self) -> None:
        """Go back to the text; what was found last stays selected."""
        self._editor.focus()
        self.display = False

    # -- finding --------------------------------------------------------------------------------------------

    @property
    def _pattern(self) -> Pattern | None:
        from agent.search.pattern import Pattern

        return Pattern(self.text.raw, any_case=True) if self.text.raw else None

    @property
    def _matches(self) -> list[Match]:
        return pattern.matches(self._editor.raw) if (pattern := self._pattern) is not None else []

    @property
    def _selected(self) -> tuple[int, int]:
        """Where the selection of the editor begins and ends in its text."""
        text, selection = self._editor.text, self._editor.selection
        return index_of(text, min(selection)), index_of(text, max(selection))

    def action_step(self, by: int) -> None:
        """Select the next match, or the one before; with 0 the first one from the cursor on. Behind the last comes the first."""
        if not (matches := self._matches):
            self.show_count()
            return
        starts, (start, _) = [one.start for one in matches], self._selected
        place = bisect_right(starts, start) if by > 0 else bisect_left(starts, start) + by
        match = matches[place % len(matches)]
        self._select(match.start, match.end)
        self.show_count()

    def _select(self, start: int, end: int) -> None:
        text = self._editor.text
        self._editor.selection = Selection(location_at(text, start), location_at(text, end))

    def show_count(self) -> None:
        """Show how many matches there are, and which is selected."""
        places = [(one.start, one.end) for one in self._matches]
        at = f"{places.index(self._selected) + 1} of " if self._selected in places else ""
        self._count.update(f"{at}{len(places) or 'none'}" if self.text.value else "")

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        event.stop()
        if event.input is self.text:
            self.action_step(0)

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        if event.input is self.new:
            self._replace_one()
        else:
            self.action_step(1)

    # -- replacing ------------------------------------------------------------------------------------------

    def _replace_one(self) -> None:
        """Replace the match that is selected, and go to the next one; without one go to the next."""
        start, end = self._selected
        if self._may_edit() and (start, end) in [(one.start, one.end) for one in self._matches]:
            text, new = self._editor.text, self.new.value
            self._edit(text[:start] + new + text[end:])
            self._select(start + len(new), start + len(new))
        self.action_step(0)

    def action_replace_all(self) -> None:
        """Replace every match, as one step of undo."""
        if (pattern := self._pattern) is not None and self._may_edit():
            count = len(self._matches)
            self._edit(to_shown(pattern.replaced(self._editor.raw, self.new.raw)))
            self.notify(f"{count} replaced.", markup=False)

    def _may_edit(self) -> bool:
        if self._editor.read_only:
            self._editor.post_message(DocumentEditor.Refused(self._editor))
        return not self._editor.read_only

    def _edit(self, text: str) -> None:
        if text != self._editor.text:
            self._editor.history.checkpoint()
            self._editor.edit(smallest_edit(self._editor.text, text))
            self._editor.history.checkpoint()
