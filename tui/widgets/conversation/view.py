"""The widget that shows a whole conversation: one `ScrollView` in the Line API, whatever its length.

It is fed turns or events and asked for turns, texts and places; what lies where is `layout`'s business.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from rich.segment import Segment
from textual import events
from textual.cache import LRUCache
from textual.geometry import Offset, Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip
from textual.timer import Timer
from textual.widget import Widget

from agent.events import (
    AgentEnd,
    Event,
    ModelNotice,
    RetryWait,
    ToolEnd,
    ToolProgress,
    TurnDelta,
    TurnEnd,
    TurnStart,
)
from agent.turns import AssistantTextTurn, ThinkingTurn, ToolCallTurn, ToolResultTurn, Turn
from tui.widgets.conversation.entries import (
    AnswerEntry,
    Entry,
    NoticeEntry,
    ThinkingEntry,
    ToolEntry,
    entry_for,
)
from tui.widgets.conversation.layout import Layout, Place
from tui.widgets.conversation.lines import UNICODE, Glyphs, Line
from tui.widgets.conversation.paint import COMPONENTS, Palette, paint, restyle

GUTTER = 1
"""Cells before every line, for the mark of the reading cursor."""

CHUNK_ROWS = 4
"""While following a stream the view moves by so many rows at once: fewer bytes to the terminal."""


class ConversationView(ScrollView, can_focus=False):
    """The turns of one conversation, from the first to the one that is arriving.

    Args:
        frames_per_second: how often arriving text is drawn at most (20; 10 over SSH).
        glyphs: Unicode or ASCII signs.
    """

    ALLOW_SELECT = True
    DEFAULT_CSS = """
    ConversationView {
        height: auto;
        overflow-x: hidden;
        overflow-y: auto;
        scrollbar-gutter: stable;
        scrollbar-size: 0 1;
        background: $surface;
        color: $foreground;
        & > .conversation--user { color: $text-accent; }
        & > .conversation--heading { color: $text-primary; }
        & > .conversation--code { color: $text-secondary; }
        & > .conversation--link { text-style: underline; }
        & > .conversation--tool { color: $text-secondary; text-style: bold; }
        & > .conversation--dim { color: $foreground 60%; }
        & > .conversation--added { color: $text-success; }
        & > .conversation--removed { color: $text-error; }
        & > .conversation--error { color: $text-error; text-style: bold; }
        & > .conversation--cursor { color: $accent; text-style: bold; }
        & > .conversation--match { text-style: reverse; }
        & > .conversation--new { background: $primary; color: $text; text-style: bold; }
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        *COMPONENTS.values(),
        "conversation--cursor",
        "conversation--match",
        "conversation--new",
    }

    @dataclass
    class Followed(Message):
        """Whether the view follows the end changed, or whether something new stands below what is seen."""

        view: ConversationView
        following: bool
        new_below: bool

        @property
        def control(self) -> ConversationView:
            return self.view

    @dataclass
    class Grown(Message):
        """New content was drawn: `characters` of it arrived since the last of these messages."""

        view: ConversationView
        characters: int

        @property
        def control(self) -> ConversationView:
            return self.view

    @dataclass
    class Scrolled(Message):
        """The person scrolled."""

        view: ConversationView

        @property
        def control(self) -> ConversationView:
            return self.view

    def __init__(
        self,
        *,
        frames_per_second: float = 20.0,
        glyphs: Glyphs = UNICODE,
        name: str | None = None,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        super().__init__(name=name, id=id, classes=classes)
        self.frames_per_second = frames_per_second
        self.glyphs = glyphs
        self.layout_model = Layout()
        self._by_key: dict[str, int] = {}
        self._calls: dict[str, int] = {}
        self._streaming: set[int] = set()
        self._following = True
        self._new_below = False
        self._placing = False
        self._cursor: int | None = None
        self._needle = ""
        self._frame_timer: Timer | None = None
        self._last_frame = 0.0
        self._arrived = 0
        self._strips: LRUCache[tuple[Line, int, int], Strip] = LRUCache(512)
        self._palette: Palette | None = None

    # Feeding

    def load(self, turns: Iterable[Turn]) -> None:
        """Show these turns and no others, from the end; nothing is drawn before it is seen."""
        self.clear()
        entries: list[Entry] = []
        for turn in turns:
            if isinstance(turn, ToolResultTurn) and turn.tool_use_id in self._calls:
                entry = entries[self._calls[turn.tool_use_id]]
                if isinstance(entry, ToolEntry):
                    entry.result = turn
                    entry.ended = (turn.output, turn.is_error, turn.details)
                    self._by_key[turn.id] = self._calls[turn.tool_use_id]
                    continue
            entry = entry_for(turn, self.glyphs, first=not entries)
            self._register(turn, entry, len(entries))
            entries.append(entry)
        self.layout_model.fill(entries)
        self._refresh_all()

    def clear(self) -> None:
        """Show nothing."""
        self._stop_frame()
        self.layout_model.fill([])
        self._by_key.clear()
        self._calls.clear()
        self._streaming.clear()
        self._following, self._new_below = True, False
        self._cursor = None
        self._arrived = 0
        self._strips.clear()
        self._drop_selection()
        self._refresh_all()

    def feed(self, event: Event) -> None:
        """Show what an event of a run says."""
        match event:
            case TurnStart(turn=turn):
                self.begin_turn(turn)
            case TurnDelta(turn_id=turn_id, text=text):
                self.extend_turn(turn_id, text)
            case TurnEnd(turn=ended):
                self.end_turn(ended)
            case ToolProgress(call_id=call_id, text=text):
                self.show_progress(call_id, text)
            case ToolEnd(call=call, output=output, is_error=is_error, details=details):
                index = self._calls.get(call.tool_use_id)
                entry = self._entry(index)
                if index is not None and isinstance(entry, ToolEntry):
                    entry.finish(output, is_error, details)
                    self._entry_changed(index)
            case RetryWait(attempt=attempt, delay=delay, error=error):
                self.add_notice(f"Trying again in {delay:.0f} s (attempt {attempt}): {error}")
            case ModelNotice(message=message):
                self.add_notice(message)
            case AgentEnd(outcome="failed", error=error):
                self.add_notice(str(error) if error is not None else "The run failed.", error=True)

    def begin_turn(self, turn: Turn) -> None:
        """A turn begins; its text may follow by `extend_turn`. One that is known already is taken as its end."""
        if turn.id in self._by_key:
            self.end_turn(turn)
            return
        if isinstance(turn, ToolResultTurn):
            self._end_tool(turn)
            return
        streaming = isinstance(turn, AssistantTextTurn | ThinkingTurn)
        entry = entry_for(turn, self.glyphs, first=not self.layout_model.entries, streaming=streaming)
        index = self._append(turn, entry)
        if streaming:
            self._streaming.add(index)

    def extend_turn(self, turn_id: str, text: str) -> None:
        """More text of a turn that began. Costs next to nothing: drawing waits for the next frame."""
        index = self._by_key.get(turn_id)
        entry = self._entry(index)
        if isinstance(entry, AnswerEntry) and entry.stream is not None:
            entry.stream.add(text)
        elif isinstance(entry, ThinkingEntry):
            entry.add(text)
        else:
            return
        self._arrived += len(text)
        self._ask_frame()

    def end_turn(self, turn: Turn) -> None:
        """A turn is over; `turn` is what it became. One that never began is simply shown."""
        index = self._by_key.get(turn.id)
        entry = self._entry(index)
        if isinstance(turn, ToolResultTurn):
            self._end_tool(turn)
        elif index is None or entry is None:
            self._append(turn, entry_for(turn, self.glyphs, first=not self.layout_model.entries))
        else:
            self._streaming.discard(index)
            match entry, turn:
                case (AnswerEntry(), AssistantTextTurn()):
                    entry.end(turn)
                case (ThinkingEntry(), ThinkingTurn()):
                    entry.end(turn)
                case (ToolEntry(), ToolCallTurn()):
                    entry.set_call(turn)
                    self._calls[turn.tool_use_id] = index
            self._entry_changed(index)

    def show_progress(self, call_id: str, text: str) -> None:
        """A tool says how far it is; `call_id` is the call's tool_use_id or the id of its turn."""
        index = self._calls.get(call_id, self._by_key.get(call_id))
        entry = self._entry(index)
        if index is not None and isinstance(entry, ToolEntry):
            entry.show_progress(text)
            self._entry_changed(index)

    def add_notice(self, text: str, *, error: bool = False) -> None:
        """Show something that is no turn: dim, or as an error."""
        self._append(None, NoticeEntry(text, self.glyphs, error=error))

    # Following and scrolling

    @property
    def following(self) -> bool:
        """Whether the view stays at the end as the conversation grows."""
        return self._following

    @property
    def new_below(self) -> bool:
        """Whether something was added below what is seen."""
        return self._new_below

    def follow(self) -> None:
        """Go to the end and stay there."""
        self._follow_changed(True)
        self._update_rows()
        self.refresh()

    def page(self, pages: float) -> None:
        """Scroll by so many heights of the view, up when negative."""
        self.scroll_to(y=self.scroll_offset.y + round(pages * max(1, self._rows() - 1)), animate=False)

    def scroll_to(self, x: float | None = None, y: float | None = None, **options: object) -> None:
        """Scroll at once: no animation, so that what is drawn is only what is looked at."""
        self._scroll_to(None, y, animate=False)

    def action_scroll_end(self) -> None:
        """Follow the end again."""
        self.follow()

    # Reading, turn by turn

    @property
    def cursor(self) -> int | None:
        """The number of the entry reading mode is at; None outside it."""
        return self._cursor

    def start_reading(self) -> None:
        """Put the reading cursor on the last entry that is seen."""
        last = self.layout_model.entry_at(self.scroll_offset.y + self._rows() - 1)
        entries = self.layout_model.entries
        self._set_cursor((len(entries) - 1 if last is None else last) if entries else None)

    def stop_reading(self) -> None:
        """Take the reading cursor away."""
        self._set_cursor(None)

    def move_cursor(self, step: int) -> None:
        """Go `step` entries on (back when negative) and bring that entry into view."""
        entries = self.layout_model.entries
        if not entries:
            return
        if self._cursor is None:
            self.start_reading()
        else:
            self._set_cursor(min(max(self._cursor + step, 0), len(entries) - 1))
        self._show_cursor()

    def cursor_home(self) -> None:
        """Go to the first entry."""
        self.move_cursor(0)
        self.move_cursor(-len(self.layout_model.entries))

    def toggle(self, index: int | None = None) -> bool:
        """Open or close an entry (that of the cursor by default); return whether there was something to open."""
        index = self._cursor if index is None else index
        entry = self._entry(index)
        if index is None or entry is None or not entry.toggle():
            return False
        self._drop_selection()
        self._entry_changed(index, by_person=True)
        return True

    def cursor_entry(self) -> Entry | None:
        """Return the entry the reading cursor is at."""
        return self._entry(self._cursor)

    def cursor_turn(self) -> Turn | None:
        """Return the turn the reading cursor is at (the call, for a call and its result)."""
        entry = self.cursor_entry()
        return entry.turn if entry is not None else None

    def cursor_text(self) -> str:
        """Return the whole text of the entry the reading cursor is at, harmless."""
        entry = self.cursor_entry()
        return entry.text() if entry is not None else ""

    # Searching

    def search(self, text: str) -> int:
        """Mark every place that holds `text`, letter case aside; return how many entries hold it.

        The nearest entry with it, looking back from what is seen, is brought into view. "" ends the search.
        """
        self._needle = text.casefold()
        self._strips.clear()
        self.refresh()
        if not self._needle:
            return 0
        matches = self._matches()
        if matches:
            here = self._cursor
            if here is None:
                bottom = self.layout_model.entry_at(self.scroll_offset.y + self._rows() - 1)
                here = len(self.layout_model.entries) - 1 if bottom is None else bottom
            before = [index for index in matches if index <= here]
            self._go_to_match(before[-1] if before else matches[0])
        return len(matches)

    def search_step(self, step: int) -> bool:
        """Go to the next entry with the text searched for (the previous, when `step` is negative), round the end."""
        matches = self._matches() if self._needle else []
        if not matches:
            return False
        here = -1 if self._cursor is None else self._cursor
        later = [index for index in matches if (index > here if step > 0 else index < here)]
        ends = matches[0] if step > 0 else matches[-1]
        self._go_to_match((later[0] if step > 0 else later[-1]) if later else ends)
        return True

    # The line API

    def render_line(self, y: int) -> Strip:
        """Return the strip of row `y` of the view; never raises."""
        palette = self._current_palette()
        width = self.scrollable_content_region.width
        layout = self.layout_model
        place = layout.place_at(self.scroll_offset.y + y)
        line = layout.line(place) if place is not None else None
        if place is None or line is None:
            end = Place(len(layout.entries), 0, 0).encode()
            strip = paint(Line(), palette, width, Segment(" ", palette.base), end)
        else:
            strip = self._strip_of(place, line, width, palette)
        if self._new_below and y == self._rows() - 1:
            strip = self._mark_new_below(strip, width)
        return strip

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return the rows of the conversation."""
        return max(1, self.virtual_size.height)

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Return the selected text: lines wrapped on the screen are joined again, decoration is left out."""
        layout = self.layout_model
        if selection.start is None and selection.end is None:
            return "\n\n".join(entry.text() for entry in layout.entries), "\n"
        first = Place.decode(selection.start.y) if selection.start is not None else Place(0, 0, 0)
        last = (
            Place.decode(selection.end.y) if selection.end is not None else Place(len(layout.entries), 0, 0)
        )
        texts: list[str] = []
        for index in range(first.entry, min(last.entry, len(layout.entries) - 1) + 1):
            for number, part in enumerate(layout.entries[index].parts()):
                for row, line in enumerate(part.draw(layout.width)):
                    place = (index, number, row)
                    if place < (first.entry, first.part, first.line):
                        continue
                    if place > (last.entry, last.part, last.line):
                        return "".join(texts).rstrip("\n"), "\n"
                    span = selection.get_span(Place(index, number, row).encode()) or (0, -1)
                    text = line.text
                    end = len(text) if span[1] < 0 else span[1]
                    texts.append(text[max(span[0], line.lead) : end])
                    texts.append(line.join)
        return "".join(texts).rstrip("\n"), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        """The selection changed: paint it."""
        self.refresh()

    def notify_style_update(self) -> None:
        """The theme changed: paint everything anew."""
        super().notify_style_update()
        self._palette = None
        self._strips.clear()

    # What happens to the widget

    def on_resize(self, event: events.Resize) -> None:
        """Take the new width: what is on the screen is drawn for it, the rest when it is seen."""
        width = max(1, self.scrollable_content_region.width - GUTTER)
        layout = self.layout_model
        if width == layout.width:
            self._update_rows()
            return
        anchor = layout.place_at(self.scroll_offset.y)
        layout.resize(width)
        self._strips.clear()
        self._drop_selection()
        if anchor is not None and not self._following:
            self._update_rows(layout.row_of(anchor))
        else:
            self._update_rows()
        self.refresh()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """The view moved: draw what came on the screen."""
        super().watch_scroll_y(old_value, new_value)
        if self._placing or round(old_value) == round(new_value):
            return
        self._follow_changed(round(new_value) >= self.max_scroll_y)
        self._update_rows(round(new_value))
        self.post_message(self.Scrolled(self))

    def on_click(self, event: events.Click) -> None:
        """Open or close what was clicked; a double click selects the turn."""
        event.prevent_default()
        row = event.y + self.scroll_offset.y
        place = self.layout_model.place_at(row)
        if place is None:
            return
        if event.chain == 2:
            self._select_entry(place.entry)
            return
        entry = self._entry(place.entry)
        if (
            entry is not None
            and entry.foldable
            and (place.part, place.line) == (0, 0)
            and not self.text_selection
        ):
            self.toggle(place.entry)

    def on_unmount(self) -> None:
        """Let no timer outlive the widget."""
        self._stop_frame()

    # The rest

    def _register(self, turn: Turn | None, entry: Entry, index: int) -> None:
        if turn is not None:
            self._by_key[turn.id] = index
            if isinstance(turn, ToolCallTurn):
                self._calls[turn.tool_use_id] = index

    def _append(self, turn: Turn | None, entry: Entry) -> int:
        index = self.layout_model.append(entry)
        self._register(turn, entry, index)
        self._content_grew(self.layout_model.top_of(index))
        return index

    def _entry(self, index: int | None) -> Entry | None:
        entries = self.layout_model.entries
        return entries[index] if index is not None and 0 <= index < len(entries) else None

    def _end_tool(self, turn: ToolResultTurn) -> None:
        index = self._calls.get(turn.tool_use_id)
        entry = self._entry(index)
        if index is None or not isinstance(entry, ToolEntry):
            if turn.id not in self._by_key:
                self._append(turn, entry_for(turn, self.glyphs, first=not self.layout_model.entries))
            return
        entry.result = turn
        self._by_key[turn.id] = index
        entry.finish(turn.output, turn.is_error, turn.details)
        self._entry_changed(index)

    def _entry_changed(self, index: int, *, by_person: bool = False) -> None:
        """An entry looks different: place it and everything below it anew."""
        self.layout_model.entries[index].changed()
        self.layout_model.update(index)
        if by_person:
            self._update_rows(self.scroll_offset.y)
            self._follow_changed(self.scroll_offset.y >= self.max_scroll_y)
            self.refresh()
        else:
            self._content_grew(self.layout_model.top_of(index))

    def _content_grew(self, first_row: int) -> None:
        """Content changed from `first_row` on: go on following, or say that there is something new below."""
        bottom = self.scroll_offset.y + self._rows()
        before = self.scroll_offset.y
        if not self._following and self.layout_model.height > bottom and not self._new_below:
            self._new_below = True
            self.post_message(self.Followed(self, False, True))
            self.refresh()
        self._update_rows(None if self._following else before)
        if self.scroll_offset.y == before:
            first = max(0, first_row - before)
            self.refresh(Region(0, first, self.size.width, max(0, self.size.height - first)))

    def _follow_changed(self, following: bool) -> None:
        new_below = self._new_below and not following
        if (following, new_below) != (self._following, self._new_below):
            self._following, self._new_below = following, new_below
            self.post_message(self.Followed(self, following, new_below))

    def _rows(self) -> int:
        return self.scrollable_content_region.height

    def _update_rows(self, top: int | None = None) -> None:
        """Draw what is seen from row `top` (None: the end), and scroll there."""
        layout = self.layout_model
        rows = self._rows()
        if rows > 0:
            top = layout.settle_end(rows) if top is None or self._following else layout.settle(top, rows)
        height = layout.height
        if self._streaming and self._following and height > rows > 2 * CHUNK_ROWS:
            # Room for the next rows: the view moves once for several of them.
            height = rows + -(-(height - rows) // CHUNK_ROWS) * CHUNK_ROWS
            top = height - rows
        self._placing = True
        try:
            self._set_height(height)
            if top is not None:
                self.scroll_target_y = self.scroll_y = top
        finally:
            self._placing = False

    def _set_height(self, height: int) -> None:
        size = Size(self.layout_model.width, height)
        old = self.virtual_size
        if size == old:
            return
        rows = self._rows()
        if rows and old.height > rows and height > rows:
            # The view is as high as it may be, before and after: only the scrollbar changes, not the screen.
            self.set_reactive(Widget.virtual_size, size)
            self._scroll_update(size)
        else:
            self.virtual_size = size

    def _refresh_all(self) -> None:
        self._update_rows()
        self.refresh(layout=True)

    def _ask_frame(self) -> None:
        if self._frame_timer is None and self.is_attached:
            wait = self._last_frame + 1 / self.frames_per_second - time.monotonic()
            self._frame_timer = self.set_timer(max(wait, 0.001), self.draw_frame)

    def _stop_frame(self) -> None:
        if self._frame_timer is not None:
            self._frame_timer.stop()
            self._frame_timer = None

    def draw_frame(self) -> None:
        """Draw all text that arrived since the last frame."""
        self._stop_frame()
        self._last_frame = time.monotonic()
        layout = self.layout_model
        for index in sorted(self._streaming):
            entry = layout.entries[index]
            first = 0
            if isinstance(entry, AnswerEntry):
                if entry.stream is None or not entry.stream.has_news:
                    continue
                done, first = entry.advance(layout.width)
                for part in done:
                    layout.keep(part)
            elif entry.opened:
                entry.remake()
            else:
                continue
            layout.update(index)
            self._content_grew(layout.top_of(index) + first)
        if self._arrived:
            self.post_message(self.Grown(self, self._arrived))
            self._arrived = 0

    def _current_palette(self) -> Palette:
        base = self.rich_style
        if self._palette is None or self._palette.base != base:
            self._palette = Palette(base, lambda name: self.get_component_rich_style(name, partial=True))
            self._strips.clear()
        return self._palette

    def _strip_of(self, place: Place, line: Line, width: int, palette: Palette) -> Strip:
        at_cursor = place.entry == self._cursor
        offset = place.encode()
        key = (line, offset, width if not at_cursor else -width)
        strip = self._strips.get(key)
        if strip is None:
            gutter = Segment(" ", palette.base)
            if at_cursor:
                style = palette.base + self.get_component_rich_style("conversation--cursor", partial=True)
                gutter = Segment(self.glyphs.cursor, style)
            strip = paint(line, palette, width, gutter, offset)
            if self._needle:
                style = self.get_component_rich_style("conversation--match", partial=True)
                strip = restyle(strip, _spans(line.text, self._needle), style, GUTTER)
            self._strips[key] = strip
        selection = self.text_selection
        span = selection.get_span(offset) if selection is not None else None
        if span is not None:
            start, end = span
            style = self.screen.get_component_rich_style("screen--selection")
            strip = restyle(strip, [(start, len(line.text) if end < 0 else end)], style, GUTTER)
        return strip

    def _mark_new_below(self, strip: Strip, width: int) -> Strip:
        style = self._current_palette().base + self.get_component_rich_style(
            "conversation--new", partial=True
        )
        mark = f" {self.glyphs.down} new below "
        left = max(0, width - len(mark))
        return Strip([*strip.crop(0, left), Segment(mark, style)], left + len(mark))

    def _set_cursor(self, index: int | None) -> None:
        if index != self._cursor:
            self._cursor = index
            self.refresh()

    def _show_cursor(self) -> None:
        """Bring the entry of the cursor into view: whole if it fits, else its beginning."""
        if self._cursor is None:
            return
        layout = self.layout_model
        rows = self._rows()
        for _ in range(3):
            # What is drawn on the way may be higher than was thought.
            top = layout.top_of(self._cursor)
            height = layout.entries[self._cursor].height(layout.width)
            current = self.scroll_offset.y
            if current <= top and top + height <= current + rows:
                break
            target = top if top < current or height >= rows else top + height - rows
            if target == current:
                break
            self.scroll_to(y=target)

    def _matches(self) -> list[int]:
        entries = self.layout_model.entries
        return [index for index, entry in enumerate(entries) if self._needle in entry.text().casefold()]

    def _go_to_match(self, index: int) -> None:
        """Bring the first line with the needle of an entry into view, opening the entry for it."""
        layout = self.layout_model
        entry = layout.entries[index]
        place = self._find_line(index)
        if place is None and entry.foldable and not entry.opened:
            self.toggle(index)
            place = self._find_line(index)
        self._set_cursor(index)
        row = layout.row_of(place or Place(index, 0, 0))
        rows = self._rows()
        if not self.scroll_offset.y <= row < self.scroll_offset.y + rows:
            self.scroll_to(y=row - rows // 2)
        self.refresh()

    def _find_line(self, index: int) -> Place | None:
        layout = self.layout_model
        entry = layout.entries[index]
        for number, part in enumerate(entry.parts()):
            for row, line in enumerate(part.draw(layout.width)):
                if self._needle in line.text.casefold():
                    layout.keep(part)
                    entry.changed()
                    layout.update(index)
                    return Place(index, number, row)
        entry.changed()
        layout.update(index)
        return None

    def _select_entry(self, index: int) -> None:
        start = Offset(0, Place(index, 0, 0).encode())
        end = Offset(0, Place(index + 1, 0, 0).encode())
        self.screen.selections = {self: Selection(start, end)}

    def _drop_selection(self) -> None:
        """What was selected is not what it was: select nothing."""
        if self.is_attached and self.text_selection is not None:
            self.screen.clear_selection()


def _spans(text: str, needle: str) -> list[tuple[int, int]]:
    """Return where `needle` stands in `text`, letter case aside."""
    spans = []
    folded = text.casefold()
    if len(folded) != len(text):
        folded = text.lower() if len(text.lower()) == len(text) else text
    at = folded.find(needle)
    while at >= 0:
        spans.append((at, at + len(needle)))
        at = folded.find(needle, at + len(needle))
    return spans
