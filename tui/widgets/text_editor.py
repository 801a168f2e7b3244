"""An editor for one text that is stored elsewhere: it knows what is saved, and takes changes made elsewhere.

Hidden characters stand in as signs (`tui.editable`). A change made elsewhere enters the undo history as one
marked step. What to do about saving is told by messages; nothing is written here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.style import Style
from rich.text import Text
from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip
from textual.timer import Timer
from textual.widgets.text_area import Edit, EditResult, Location, Selection, WrappedDocument

from tui.editable import from_shown, is_editable, pasted, to_shown, with_signs
from tui.widgets.inks import ink
from tui.widgets.prose import style_line
from tui.widgets.text_area import GuardedTextArea

if TYPE_CHECKING:
    from tui.draft import Clash

PAUSE = 0.7
"""Seconds without a key after which a text is saved."""

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


@dataclass(frozen=True, slots=True)
class Step:
    """What a marked step in the undo history stands for.

    Attributes:
        run_id: the agent's run that made it, or None for what an undo or redo of a run did.
        undone_by: which operation of the store takes it back.
    """

    run_id: str | None
    undone_by: str = "undo"


@dataclass
class MarkedEdit(Edit):
    """An edit that was made elsewhere."""

    step: Step | None = None


class _Wrapped(WrappedDocument):
    """A wrapped text that knows its height; the base class counts all lines for every row it draws."""

    @property
    def height(self) -> int:
        return len(self._offset_to_line_info)


class TextEditor(GuardedTextArea):
    """A text with soft wrap, its own undo, and a memory of what is saved."""

    DEFAULT_CSS = Path(__file__).with_suffix(".tcss").read_text(encoding="utf-8")

    @dataclass
    class Edited(Message):
        """The person changed the text."""

        editor: TextEditor

        @property
        def control(self) -> TextEditor:
            return self.editor

    @dataclass
    class SaveWanted(Message):
        """The person paused or left: the text should be saved now."""

        editor: TextEditor

        @property
        def control(self) -> TextEditor:
            return self.editor

    @dataclass
    class StoreStep(Message):
        """Undo or redo reached something that was not typed here: the store has to do it.

        `step` is None where the editor's own history is at its end.
        """

        editor: TextEditor
        operation: str
        step: Step | None

        @property
        def control(self) -> TextEditor:
            return self.editor

    def __init__(self, *, id: str | None = None, placeholder: str = "", prose: bool = True) -> None:
        self.covered = 0
        super().__init__(id=id, max_checkpoints=500, placeholder=placeholder)
        self.base = ""
        self.clash: Clash | None = None
        self.takings = 0
        self._prose = prose
        self._touched = False
        self._own_edit = False
        self._fresh: frozenset[int] = frozenset()
        self._pause: Timer | None = None
        self._fade: Timer | None = None

    # -- what is held ---------------------------------------------------------------------------------

    @property
    def raw(self) -> str:
        """The text as it is to be stored."""
        return from_shown(self.text)

    @property
    def unsaved(self) -> bool:
        """Whether the text differs from what is known to be stored."""
        if self._touched and self.raw == self.base:
            self._touched = False
        return self._touched

    def show(self, text: str, *, read_only: bool = False) -> None:
        """Begin anew with a stored text; the undo history starts empty."""
        self._stop_timers()
        self._touched = False
        self.clash = None
        self.takings += 1
        self._fresh = frozenset()
        self.base = text
        self.read_only = read_only or not is_editable(text)
        self.load_text(to_shown(text))

    def mark_saved(self, text: str) -> None:
        """Remember that `text` is what is stored now."""
        self.base = text
        self.clash = None
        self._touched = self.raw != text

    def keep_unsaved(self, base: str, text: str) -> None:
        """Begin with a text that could not be stored yet, grown from the stored text `base`."""
        self.show(base)
        self.take(text, None)
        self.base, self._touched = base, text != base

    def take(self, text: str, step: Step | None, *, flash: bool = True) -> None:
        """Replace the text by one changed elsewhere, as one step of the undo history.

        The cursor stays at its words. The steps of one run that follow one another are one step.
        """
        from tui.draft import changed_lines, moved

        old, new = self.text, to_shown(text)
        if old == new:
            return
        fresh = changed_lines(old, new) if flash else []
        earlier = self._last_step()
        cursor = moved(old, new, self.selection.end)
        edit = _smallest(old, new, step)
        self._own_edit = True
        try:
            self.history.checkpoint()
            self.edit(edit)
            self.history.checkpoint()
        finally:
            self._own_edit = False
        if step is not None and step.run_id is not None and earlier == step:
            stack = self.history._undo_stack
            stack[-2].extend(stack.pop())
        self.selection = Selection.cursor(self.clamp_visitable(cursor))
        if flash:
            self.flash(fresh)

    def absorb(self, stored: str, step: Step | None) -> Clash | None:
        """Take in what is stored now, merged with what is typed here; return the clash where they touch.

        With a clash the text stays as it is, and so does what it is known to have grown from.
        """
        from tui.draft import Clash, meet

        if stored == self.base and self.clash is None:
            return None
        met = meet(self.base, self.raw, stored)
        if isinstance(met, Clash):
            self.clash = met
            return met
        self.take(met, step)
        self.mark_saved(stored)
        self.takings += 1
        return None

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
        """The moment is over."""
        if self._fresh:
            self._fresh = frozenset()
            self._line_cache.clear()
            self.refresh()

    def cover(self, rows: int) -> None:
        """Something lies over the last `rows` rows: one can scroll so much further, and changes show above it."""
        if rows != self.covered:
            self.covered = rows
            self._refresh_size()
            if self._fresh and not self.has_focus:
                self.call_after_refresh(self._reveal, min(self._fresh))

    def _set_document(self, text: str, language: str | None) -> None:
        super()._set_document(text, language)
        # The same object with another class: wrapping a long text a second time would be felt.
        self.wrapped_document.__class__ = _Wrapped

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

    def get_line(self, line_index: int) -> Text:
        line = self.document.get_line(line_index)
        shown = Text(with_signs(line), end="", no_wrap=True)
        if self._prose:
            style_line(shown, line, self._part_style)
        return shown

    def _part_style(self, part: str) -> Style:
        return ink(self, *PARTS[part][:1], bold=PARTS[part][1])

    def render_line(self, y: int) -> Strip:
        strip = super().render_line(y)
        if self._fresh:
            place = y + self.scroll_offset.y
            table = self.wrapped_document._offset_to_line_info
            if place < len(table) and table[place] is not None and table[place][0] in self._fresh:
                over = ink(self, back="success-muted")
                return Strip([type(s)(s.text, (s.style or Style()) + over) for s in strip], strip.cell_length)
        return strip

    # -- editing ------------------------------------------------------------------------------------------

    def edit(self, edit: Edit) -> EditResult:
        result = super().edit(edit)
        self._changed()
        return result

    def _changed(self) -> None:
        if self._own_edit:
            return
        self.end_flash()
        self._touched = True
        if self._pause is not None:
            self._pause.stop()
        self._pause = self.set_timer(PAUSE, self._ask_to_save)
        self.post_message(self.Edited(self))

    async def _on_paste(self, event: events.Paste) -> None:
        event.prevent_default()
        event.stop()
        if self.read_only:
            return
        if result := self._replace_via_keyboard(pasted(event.text), *self.selection):
            self.move_cursor(result.end_location)

    def action_paste(self) -> None:
        if self.read_only:
            return
        if result := self._replace_via_keyboard(pasted(self.app.clipboard), *self.selection):
            self.move_cursor(result.end_location)

    def step_at(self, operation: str) -> Step | None:
        """Return the marked step an undo or redo here would come to, if the next one is marked."""
        stack = self.history._undo_stack if operation == "undo" else self.history._redo_stack
        return _step_of(stack[-1]) if stack else None

    def _last_step(self) -> Step | None:
        stack = self.history._undo_stack
        return _step_of(stack[-1]) if stack else None

    def action_undo(self) -> None:
        stack = self.history._undo_stack
        step = self._last_step()
        if not stack or step is not None:
            self.post_message(self.StoreStep(self, step.undone_by if step else "undo", step))
        else:
            self.undo()

    def action_redo(self) -> None:
        stack = self.history._redo_stack
        step = _step_of(stack[-1]) if stack else None
        if not stack or step is not None:
            operation = "redo" if step is None or step.undone_by == "undo" else "undo"
            self.post_message(self.StoreStep(self, operation, step))
        else:
            self.redo()

    def follow_undo(self, text: str) -> None:
        """The store took back the last marked step and `text` is stored now: step back in the history too."""
        self._follow(text, self.undo)

    def follow_redo(self, text: str) -> None:
        """The store did again the next marked step and `text` is stored now."""
        self._follow(text, self.redo)

    def step_alone(self, operation: str) -> None:
        """Go one step in the history although the store cannot: what results is saved like typing."""
        self.undo() if operation == "undo" else self.redo()

    def _follow(self, text: str, move: Any) -> None:
        from tui.draft import changed_lines

        before = self.text
        if self.raw == text:
            self.mark_saved(text)  # what was undone was elsewhere in the persona: the step here stays
            return
        self._own_edit = True
        try:
            move()
        finally:
            self._own_edit = False
        if self.raw != text:
            self.take(text, None, flash=False)
        self.flash(changed_lines(before, self.text))
        self.mark_saved(text)

    def undo(self) -> None:
        super().undo()
        self._changed()

    def redo(self) -> None:
        super().redo()
        self._changed()

    # -- saving -------------------------------------------------------------------------------------------

    def _on_blur(self, event: events.Blur) -> None:
        super()._on_blur(event)
        if self._touched:
            self._ask_to_save()

    def _ask_to_save(self) -> None:
        if self._pause is not None:
            self._pause.stop()
            self._pause = None
        if self.unsaved:
            self.post_message(self.SaveWanted(self))
        else:
            self.post_message(self.Edited(self))

    def _stop_timers(self) -> None:
        for timer in (self._pause, self._fade):
            if timer is not None:
                timer.stop()
        self._pause = self._fade = None


def _step_of(batch: Sequence[Edit]) -> Step | None:
    last = batch[-1] if batch else None
    return last.step if isinstance(last, MarkedEdit) else None


def _location(text: str, index: int) -> Location:
    row = text.count("\n", 0, index)
    return row, index - (text.rfind("\n", 0, index) + 1)


def _smallest(old: str, new: str, step: Step | None) -> MarkedEdit:
    """Return the one edit that turns `old` into `new`, without what they have in common at both ends."""
    start = _common_length(old, new)
    most = min(len(old), len(new)) - start
    tail = _common_length(old[::-1][:most], new[::-1][:most])
    return MarkedEdit(
        new[start : len(new) - tail],
        _location(old, start),
        _location(old, len(old) - tail),
        maintain_selection_offset=True,
        step=step,
    )


def _common_length(first: str, second: str) -> int:
    """Return how many characters both have in common at the start."""
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        if first[low:middle] == second[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
