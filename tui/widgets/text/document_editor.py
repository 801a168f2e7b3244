"""An editor for one slot of a document: what is typed goes into the slot, what changes there is shown.

Hidden characters are shown as signs (`tui.terminal.visible_controls`). Undo is the editor's own: what others change in
the text is a step of it, an agent's run one step.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual import events
from textual.geometry import Offset, Region, Size, Spacing
from textual.message import Message
from textual.strip import Strip
from textual.timer import Timer
from textual.widgets.text_area import Edit, EditResult, Selection

from tui.document.text_slot import TextSlot
from tui.terminal.textual_compat.edit_history import drop_redo, join_last_two
from tui.terminal.textual_compat.soft_wrap import places
from tui.terminal.visible_controls import from_shown, is_editable, pasted, to_shown, with_signs
from tui.widgets.text.edits import after_redo, after_undo, smallest_edit
from tui.widgets.text.prompt_highlighter import style_row
from tui.widgets.text.safe_text_area import SafeTextArea
from tui.widgets.theme_styles import ink

if TYPE_CHECKING:
    from tui.document.merge import MergeConflict

FRESH = 3.0
"""Seconds for which changed lines stay highlighted."""

PARTS = {
    "heading": ("text-primary", True),
    "code": ("text-warning", False),
    "macro": ("text-accent", False),
    "mark": ("text-secondary", False),
    "strong": ("", True),
}
"""Colour and weight of the parts of a prompt."""


class DocumentEditor(SafeTextArea):
    """A text with soft wrap that shows a slot."""

    DEFAULT_CSS = Path(__file__).with_suffix(".tcss").read_text(encoding="utf-8")

    class Blurred(Message):
        """The editor lost the focus: its text should be saved now."""

        def __init__(self, editor: DocumentEditor) -> None:
            super().__init__()
            self.editor = editor

        @property
        def control(self) -> DocumentEditor:
            return self.editor

    class Refused(Message):
        """A letter was typed or a text pasted although the editor is read-only."""

        def __init__(self, editor: DocumentEditor) -> None:
            super().__init__()
            self.editor = editor

        @property
        def control(self) -> DocumentEditor:
            return self.editor

    class UndoExhausted(Message):
        """There is nothing left to undo or redo in the text.

        Attributes:
            editor: the text.
            operation: which of both.
            untouched: the text was not changed since it is shown.
        """

        def __init__(
            self, editor: DocumentEditor, operation: Literal["undo", "redo"], untouched: bool
        ) -> None:
            super().__init__()
            self.editor = editor
            self.operation = operation
            self.untouched = untouched

        @property
        def control(self) -> DocumentEditor:
            return self.editor

    class RedoDropped(Message):
        """A change emptied the redo stack; `text` is the newest text it led to, and is stored nowhere else."""

        def __init__(self, editor: DocumentEditor, text: str) -> None:
            super().__init__()
            self.editor = editor
            self.text = text

        @property
        def control(self) -> DocumentEditor:
            return self.editor

    def __init__(self, *, id: str | None = None, placeholder: str = "", prose: bool = True) -> None:
        self.covered = 0
        super().__init__(id=id, max_checkpoints=500, placeholder=placeholder)
        self.slot = TextSlot("")
        self._by_store: list[Edit] | None = None  # the last undo step that the store's undo or redo made
        self._run: tuple[str, list[Edit]] | None = (
            None  # the last agent's run that changed the text, and its step
        )
        self._prose = prose
        self._own_edit = False
        self._fresh: frozenset[int] = frozenset()
        self._fade: Timer | None = None

    # -- what is held ---------------------------------------------------------------------------------

    @property
    def raw(self) -> str:
        """The text as it is to be stored."""
        return from_shown(self.text)

    @property
    def unsaved(self) -> bool:
        """Whether the text is not what is stored."""
        return self.slot.dirty

    @property
    def conflict(self) -> MergeConflict | None:
        """Both sides, where the text is in conflict with what is stored."""
        return self.slot.conflict

    def bind(self, slot: TextSlot, *, read_only: bool = False) -> None:
        """Show a slot from now on; the undo history starts empty."""
        self.unbind()
        self.slot, slot.view = slot, self
        self._run = None
        self._fresh = frozenset()
        self.read_only = read_only or not is_editable(slot.text)
        self.load_text(to_shown(slot.text))

    def unbind(self) -> None:
        """Show the slot no longer; the shown text belongs to no document."""
        if self._fade is not None:
            self._fade.stop()
            self._fade = None
        if self.slot.view is self:
            self.slot.view = None
        self.slot = TextSlot("")

    def show(self, text: str, *, read_only: bool = False) -> None:
        """Show a text that belongs to no document."""
        self.bind(TextSlot("", text), read_only=read_only)

    def slot_changed(self, source: str | None) -> None:
        """Show the slot's text, which was changed elsewhere, as a step of undo; the cursor stays at its words.

        `source`: as in `TextSlot.rebase`; consecutive changes of one agent's run are one step.
        """
        from tui.document.merge import changed_lines, moved

        if not is_editable(self.slot.text):
            self.read_only = True
        old, new = self.text, to_shown(self.slot.text)
        if old == new:
            return
        fresh, cursor = changed_lines(old, new), moved(old, new, self.selection.end)
        self._own_edit = True
        try:
            self._change_to(old, new, source)
        finally:
            self._own_edit = False
        self.selection = Selection.cursor(self.clamp_visitable(cursor))
        self.flash(fresh)

    def _change_to(self, old: str, new: str, source: str | None) -> None:
        """Change the text, as a step of undo.

        If undo or redo in this editor leads to the same text, that step is taken instead of adding one.
        """
        stacks = self.history
        if not source and stacks.undo_stack and after_undo(old, stacks.undo_stack[-1]) == new:
            is_by_store = stacks.undo_stack[-1] is self._by_store
            self.undo()
            if is_by_store:  # undone and redone by the store: nothing is left to redo here
                drop_redo(stacks)
        elif not source and stacks.redo_stack and after_redo(old, stacks.redo_stack[-1]) == new:
            self.redo()
        else:
            stacks.checkpoint()
            self.edit(smallest_edit(old, new))
            stacks.checkpoint()
            last = stacks.undo_stack[-1]
            if source is None:
                stacks.clear()
            elif (
                source
                and self._run is not None
                and self._run[0] == source
                and self._is_before_last(self._run[1])
            ):
                join_last_two(stacks)
            elif source:
                self._run = source, last
            else:
                self._by_store = last

    def _is_before_last(self, step: list[Edit]) -> bool:
        stack = self.history.undo_stack
        return len(stack) > 1 and stack[-2] is step

    # -- changed lines ----------------------------------------------------------------------------------

    def flash(self, lines: Sequence[int]) -> None:
        """Highlight lines (from 0) for a moment; bring the first of them into view when none is."""
        self._fresh = frozenset(lines)
        if self._fade is not None:
            self._fade.stop()
        self._fade = self.set_timer(FRESH, self.end_flash)
        self._line_cache.clear()
        self.refresh()
        if lines and not self.has_focus:
            self.call_after_refresh(self._reveal, lines[0])

    def end_flash(self) -> None:
        """End the highlight."""
        if self._fresh:
            self._fresh = frozenset()
            self._line_cache.clear()
            self.refresh()

    def cover(self, rows: int) -> None:
        """The last `rows` rows are covered: scroll so much further, and reveal changes above them."""
        if rows != self.covered:
            self.covered = rows
            self._refresh_size()
            if self.has_focus:
                self.call_after_refresh(self.scroll_cursor_visible)
            elif self._fresh:
                self.call_after_refresh(self._reveal, min(self._fresh))

    def scroll_to_region(self, region: Region, *, spacing: Spacing | None = None, **options: Any) -> Offset:
        """Bring a part of the text into view: above what covers the last rows."""
        return super().scroll_to_region(
            region, spacing=(spacing or Spacing()) + Spacing(bottom=self.covered), **options
        )

    def _refresh_size(self) -> None:
        self.virtual_size = Size(0, self.wrapped_document.height + self.covered)
        self._refresh_scrollbars()

    def _reveal(self, line: int) -> None:
        if line >= self.document.line_count:
            return
        y = self.wrapped_document.location_to_offset((line, 0)).y
        top, height = self.scroll_offset.y, max(1, self.size.height - self.covered)
        if not top <= y < top + height:
            self.scroll_to(y=max(0, y - height // 2), animate=False, force=True)

    # -- drawing ------------------------------------------------------------------------------------------

    def shown(self, line: str, start: int, end: int) -> Text:
        shown = Text(with_signs(line[start:end]), end="", no_wrap=True)
        if self._prose:
            style_row(shown, line, start, end, self._part_style)
        return shown

    def _part_style(self, part: str) -> Style:
        return ink(self, *PARTS[part][:1], bold=PARTS[part][1])

    def line_at(self, y: int, *, begins: bool = True) -> int | None:
        """Return the line that is drawn in a row; with `begins` only in its first one. None: there is none."""
        place = y + self.scroll_offset.y
        table = places(self.wrapped_document)
        if y < 0 or place >= len(table) or table[place] is None:
            return None
        line, row = table[place]
        return None if begins and row else line

    def render_line(self, y: int) -> Strip:
        strip = super().render_line(y)
        if self._fresh and self.line_at(y, begins=False) in self._fresh:
            return self._highlighted(strip)
        return strip

    def _highlighted(self, strip: Strip) -> Strip:
        """Return a row on the ground of fresh changes; cursor and selection keep theirs."""
        over = ink(self, back="success-muted")
        theme = self._theme
        own = {style.bgcolor for style in (theme.cursor_style, theme.selection_style) if style is not None}
        return Strip(
            [
                segment
                if segment.style is not None and segment.style.bgcolor in own
                else Segment(segment.text, (segment.style or Style()) + over)
                for segment in strip
            ],
            strip.cell_length,
        )

    # -- editing ------------------------------------------------------------------------------------------

    def edit(self, edit: Edit) -> EditResult:
        dropped = self.text if self.history.redo_stack else None
        for step in reversed(self.history.redo_stack):
            dropped = after_redo(dropped or "", step)
        result = super().edit(edit)
        if dropped is not None:
            self.post_message(self.RedoDropped(self, from_shown(dropped)))
        self._typed()
        return result

    def _undo_batch(self, edits: Sequence[Edit]) -> None:
        super()._undo_batch(edits)
        self._typed()

    def _redo_batch(self, edits: Sequence[Edit]) -> None:
        super()._redo_batch(edits)
        self._typed()

    def _typed(self) -> None:
        """The person changed the text: update the slot."""
        if not self._own_edit:
            self.end_flash()
            self.slot.edit(self.raw)

    async def _on_key(self, event: events.Key) -> None:
        # Runs before the handler of the base class, which inserts the letter.
        if self.read_only and event.is_printable:
            event.stop()  # else it would be a command of the pane
            event.prevent_default()
            self.post_message(self.Refused(self))

    async def _on_paste(self, event: events.Paste) -> None:
        event.prevent_default()
        event.stop()
        if self.read_only:
            self.post_message(self.Refused(self))
            return
        if result := self._replace_via_keyboard(pasted(event.text), *self.selection):
            self.move_cursor(result.end_location)

    def action_paste(self) -> None:
        if self.read_only:
            return
        if result := self._replace_via_keyboard(pasted(self.app.clipboard), *self.selection):
            self.move_cursor(result.end_location)

    def action_undo(self) -> None:
        self._step("undo")

    def action_redo(self) -> None:
        self._step("redo")

    def _step(self, operation: Literal["undo", "redo"]) -> None:
        """Undo or redo a step in the text; if there is none, post `UndoExhausted`."""
        undoes, redoes = self.history.undo_stack, self.history.redo_stack
        if self.read_only:
            self.post_message(self.UndoExhausted(self, operation, True))
        elif undoes if operation == "undo" else redoes:
            (self.undo if operation == "undo" else self.redo)()
        else:
            self.post_message(self.UndoExhausted(self, operation, not undoes and not redoes))

    def _on_blur(self, event: events.Blur) -> None:
        super()._on_blur(event)
        self.post_message(self.Blurred(self))
