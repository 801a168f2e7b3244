"""An editor for one text that is stored elsewhere: it knows what is saved, and takes changes made elsewhere.

Hidden characters stand in as signs (`tui.editable`). What is typed is remembered in stretches, for the one timeline of
undo (`tui.past`). What to do about saving is told by messages; nothing is written here.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from rich.style import Style
from rich.text import Text
from textual import events
from textual.geometry import Offset, Region, Size, Spacing
from textual.message import Message
from textual.strip import Strip
from textual.timer import Timer
from textual.widgets.text_area import Edit, EditResult, Selection

from tui.terminal.visible_controls import from_shown, is_editable, pasted, to_shown, with_signs
from tui.widgets.text.prompt_highlighter import style_row
from tui.widgets.text.safe_text_area import GuardedTextArea
from tui.widgets.text.smallest_edit import smallest_edit
from tui.widgets.theme_styles import ink

if TYPE_CHECKING:
    from personas.versions.undo import Retrace
    from tui.document.merge import Clash
    from tui.document.undo_stack import Past

PAUSE = 0.7
"""Seconds without a key after which a text is saved."""
LONGEST = 2.5
"""Seconds after which a text is saved although the typing goes on."""
clock = monotonic

FRESH = 3.0
"""Seconds for which changed lines stay highlighted."""
AT_IT = 2.0
"""Seconds without a key after which the person is no longer at the line they typed in."""


PARTS = {
    "heading": ("text-primary", True),
    "code": ("text-warning", False),
    "macro": ("text-accent", False),
    "mark": ("text-secondary", False),
    "strong": ("", True),
}
"""Colour and weight of the parts of a prompt."""


class TextEditor(GuardedTextArea):
    """A text with soft wrap and a memory of what is saved and how it was typed.

    `walk` takes a step of undo or redo, while no other key is heard here; without one the text has an undo of its own.
    """

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
    class Refused(Message):
        """A letter was typed, or something pasted, where nothing can be."""

        editor: TextEditor

        @property
        def control(self) -> TextEditor:
            return self.editor

    def __init__(self, *, id: str | None = None, placeholder: str = "", prose: bool = True) -> None:
        self.covered = 0
        super().__init__(id=id, max_checkpoints=500, placeholder=placeholder)
        self.base = ""
        self.clash: Clash | None = None
        self.takings = self.showing = 0
        self.walk: Callable[[Retrace], Awaitable[None]] | None = None
        self._starts: list[str] = []  # the text where each stretch of typing began that is not sent yet
        self._told: str | None = None  # what had been told, where the first of them is what came in since
        self._goes_on = False  # the first of them began before what was told last
        self._batch: list[Edit] | None = None
        self._before_clash: str | None = None  # what was stored before the agent changed what was being typed
        self._burst: tuple[str, float] | None = (
            None  # the text where the person began, and when they typed last
        )
        self._prose = prose
        self._touched = False
        self._own_edit = False
        self._fresh: frozenset[int] = frozenset()
        self._pause: Timer | None = None
        self._unsaved_since: float | None = None
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
        """Begin anew with a stored text; the undo history starts empty.

        What is typed from now on did not grow from what was typed before: `showing`, a number, tells them apart.
        """
        self._stop_timers()
        self.showing += 1
        self._touched = False
        self.clash = self._before_clash = None
        self.takings += 1
        self._fresh = frozenset()
        self.base = text
        self._forget_starts()
        self._burst = None
        self.read_only = read_only or not is_editable(text)
        self.load_text(to_shown(text))

    def mark_saved(self, text: str) -> None:
        """Remember that `text` is what is stored now."""
        self.base = text
        self.clash = self._before_clash = None
        self._touched = self.raw != text
        if not self._touched:
            self._unsaved_since = None

    def note_stored(self, base: str, sent: str, stored: str) -> bool:
        """`sent`, which stood here and grew from `base`, was stored while a change from elsewhere was taken in here.

        What stands here grew from `stored` then, unless that holds more than both: returns whether it does not.
        """
        from tui.document.merge import meet

        is_all = self.clash is None and meet(base, sent, self.base) == stored
        if is_all:
            if self._starts and self._told is not None:
                self._starts[0] = self._told
            self.mark_saved(stored)
        return is_all

    def keep_unsaved(self, base: str, text: str) -> None:
        """Begin with a text that could not be stored yet, grown from the stored text `base`."""
        self.show(base)
        self.take(text)
        self.base, self._touched = base, text != base

    def take(self, text: str, *, flash: bool = True, follow: bool = False) -> None:
        """Replace the text by one changed elsewhere.

        The cursor stays at its words; with `follow` it goes to where the text changed.
        """
        from tui.document.merge import changed_lines, moved

        old, new = self.text, to_shown(text)
        if old == new:
            return
        fresh = changed_lines(old, new) if flash else []
        cursor = moved(old, new, self.selection.end)
        self._own_edit = True
        try:
            end = self.edit(smallest_edit(old, new)).end_location
            self.history.checkpoint()
        finally:
            self._own_edit = False
        if follow:
            self.move_cursor(end)
        else:
            self.selection = Selection.cursor(self.clamp_visitable(cursor))
        if flash:
            self.flash(fresh)

    def go(self, text: str) -> None:
        """Show a text that undo or redo leads to; it is to be stored."""
        self.take(text, follow=True)
        self._burst = None
        self._touched = self.raw != self.base

    def tell_typing(self, past: Past, place: str) -> None:
        """Tell the past how it was typed here since it was told last, under the name of this text."""
        if self._starts:
            texts = (*map(from_shown, self._starts), self.raw)
            past.typed(place, texts, goes_on=self._goes_on)
            self._forget_starts()

    def _forget_starts(self) -> None:
        self._starts.clear()
        self._told = None

    def tell_choice(self, past: Past, place: str, clash: Clash, chosen: str) -> None:
        """Tell the past what was chosen where two texts met, and how the one that stands here was typed."""
        self.tell_typing(past, place)
        stored = self.base if self._before_clash is None else self._before_clash
        past.settled(place, (stored, clash.ours), clash.theirs, chosen)

    def absorb(self, stored: str, *, by_agent: bool = False) -> Clash | None:
        """Take in what is stored now, merged with what is typed here; return the clash where they touch.

        With a clash the text stays as it is, and so does what it is known to have grown from.

        Args:
            stored: the whole text.
            by_agent: who wrote it may not have seen what is being typed just now, though it was saved: where it
                touches that, what is typed counts as unsaved.
        """
        from tui.document.merge import Clash, meet, rebased, touch

        if stored == self.base and self.clash is None:
            return None
        base, saved = self.base, self.base
        if by_agent and self._burst is not None and self._is_at_it:
            start = from_shown(self._burst[0])
            base = start if touch(saved, start, stored) else saved
        elif stored == self._before_clash:
            base = stored  # the agent's change was taken back
        met = meet(base, self.raw, stored)
        if isinstance(met, Clash):
            self.clash, self.base, self._touched = met, base, True
            if base != saved:
                self._before_clash = saved
            self.takings += 1
            return met
        starts, burst = self._starts, self._burst
        self.take(met)
        if starts:
            self._told = self._told and rebased([self._told], saved, stored)[0]
            self._starts = rebased(starts, saved, stored)
        elif met != stored:
            self._starts, self._told = [to_shown(stored)], to_shown(met)
        if burst is not None:
            self._burst = rebased([burst[0]], saved, stored)[0], burst[1]
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
        before = self.text
        result = super().edit(edit)
        if self.walk is not None and not self._own_edit:
            self._note_typing(before)
        self._changed()
        return result

    def _note_typing(self, before: str) -> None:
        stack = self.history._undo_stack
        goes_on = bool(stack) and stack[-1] is self._batch
        if not self._starts:
            self._goes_on = goes_on
        if not self._starts or not goes_on:
            self._starts.append(before)
        self._batch = stack[-1] if stack else None
        self._burst = (before if self._burst is None or not self._is_at_it else self._burst[0]), clock()

    @property
    def _is_at_it(self) -> bool:
        """Whether the person is typing just now."""
        return self._burst is not None and clock() - self._burst[1] <= AT_IT

    def _changed(self) -> None:
        if self._own_edit:
            return
        self.end_flash()
        self._touched = True
        if self._pause is not None:
            self._pause.stop()
        self.post_message(self.Edited(self))
        now = clock()
        if self._unsaved_since is None:
            self._unsaved_since = now
        left = max(PAUSE, LONGEST) - (now - self._unsaved_since)
        if left <= 0:
            self._ask_to_save()
        else:
            self._pause = self.set_timer(min(PAUSE, left), self._ask_to_save)

    async def _on_key(self, event: events.Key) -> None:
        # Beside the handler of the base class, which types.
        if self.read_only and event.is_printable:
            event.stop()  # it would be a command of the pane around this
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

    async def action_undo(self) -> None:  # type: ignore[override]
        await self._walk("undo")

    async def action_redo(self) -> None:  # type: ignore[override]
        await self._walk("redo")

    async def _walk(self, operation: Retrace) -> None:
        if self.walk is not None:
            await self.walk(operation)
        elif operation == "undo":
            self.undo()
        else:
            self.redo()

    # -- saving -------------------------------------------------------------------------------------------

    def _on_blur(self, event: events.Blur) -> None:
        super()._on_blur(event)
        self._burst = None
        if self._touched:
            self._ask_to_save()

    def _ask_to_save(self) -> None:
        if self._pause is not None:
            self._pause.stop()
            self._pause = None
        self._unsaved_since = None
        if self.unsaved:
            self.post_message(self.SaveWanted(self))
        else:
            self.post_message(self.Edited(self))

    def _stop_timers(self) -> None:
        for timer in (self._pause, self._fade):
            if timer is not None:
                timer.stop()
        self._pause = self._fade = None
        self._unsaved_since = None
