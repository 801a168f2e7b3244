"""The scroll view of entries: following the end, scrolling, painting. It knows entries, not turns."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.cache import LRUCache
from textual.geometry import Region, Size
from textual.message import Message
from textual.screen import Screen
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip
from textual.widget import Widget

from tui.widgets.conversation.entry import Entry
from tui.widgets.conversation.layout import Layout, Position
from tui.widgets.conversation.line_styles import COMPONENTS, Palette, paint, restyle
from tui.widgets.conversation.lines import DIM, UNICODE, Glyphs, Line
from tui.widgets.conversation.render_parts import Part
from tui.widgets.conversation.search import NO_QUERY, Matches, MatchRange

GUTTER = 1
"""Cells before every line, for the mark of the reading cursor."""

EMPTY = "Nothing was said yet."
CHUNK_ROWS = 4
"""While following a stream the view moves by so many rows at once: fewer bytes to the terminal."""


class EntryScrollView(ScrollView, can_focus=False):
    """Shows entries, drawing rows as they become visible.

    Args:
        frames_per_second: how often arriving text is drawn at most (20; 10 over SSH).
        glyphs: Unicode or ASCII signs.

    Attributes:
        layout_model: rows and positions of the entries.
    """

    ALLOW_SELECT = True
    DEFAULT_CSS = Path(__file__).with_suffix(".tcss").read_text(encoding="utf-8")
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        *COMPONENTS.values(),
        "conversation--cursor",
        "conversation--match",
        "conversation--new",
    }

    class Followed(Message):
        """`following` or `new_below` changed."""

        def __init__(self, view: EntryScrollView, following: bool, new_below: bool) -> None:
            super().__init__()
            self.view = view
            self.following = following
            self.new_below = new_below

        @property
        def control(self) -> EntryScrollView:
            return self.view

    class Scrolled(Message):
        """The person scrolled."""

        def __init__(self, view: EntryScrollView) -> None:
            super().__init__()
            self.view = view

        @property
        def control(self) -> EntryScrollView:
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
        self.when_empty = EMPTY
        self._streaming: set[int] = set()
        self._following = True
        self._new_below = False
        self._positioning = False
        self._cursor: int | None = None
        self._query = NO_QUERY
        self._found: LRUCache[Part, tuple[list[Line], Line | None, Matches]] = LRUCache(64)
        self._strips: LRUCache[tuple[Line, int, int, tuple[MatchRange, ...]], Strip] = LRUCache(512)
        self._palette: Palette | None = None
        self._taken: Size | None = None
        self._wanted: Position | None = None
        # The top row after a resize, its position, and the letters of its part above the first visible one.
        self._kept: tuple[int | None, Position | None, int] = (None, None, 0)

    # Following and scrolling

    @property
    def is_empty(self) -> bool:
        """Whether nothing is shown."""
        return not self.layout_model.entries

    @property
    def following(self) -> bool:
        """Whether the view stays at the end as the conversation grows."""
        return self._following

    @property
    def new_below(self) -> bool:
        """Whether something was added below the visible rows."""
        return self._new_below

    def follow(self) -> None:
        """Go to the end and stay there."""
        self._wanted = None
        self._follow_changed(True)
        self._update_rows()
        self.refresh()

    def page(self, pages: float) -> None:
        """Scroll by so many heights of the view, up when negative."""
        self.scroll_to(y=self.scroll_offset.y + round(pages * max(1, self._rows() - 1)), animate=False)

    def scroll_to(self, x: float | None = None, y: float | None = None, **options: object) -> None:
        """Scroll at once: no animation, so that what is drawn is only what is looked at.

        A view that has no rows yet goes there when it has.
        """
        if y is not None and not self._rows():
            self._wanted = self.layout_model.position_at(round(y))
        else:
            # Also where the scrollbar is still to come, as after many turns were shown at once.
            self._scroll_to(None, y, animate=False, force=True)

    def action_scroll_end(self) -> None:
        """Follow the end again."""
        self.follow()

    # The line API

    def render_lines(self, crop: Region) -> list[Strip]:
        """Return the strips of these rows, in the colours of the current theme."""
        self._choose_palette()
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        """Return the strip of row `y` of the view; never raises."""
        palette = self._palette or self._choose_palette()
        width = self.scrollable_content_region.width
        layout = self.layout_model
        position = layout.position_at(self.scroll_offset.y + y)
        line = layout.line(position) if position is not None else None
        if position is None or line is None:
            end = Position(len(layout.entries), 0, 0).encode()
            blank = Line([(self.when_empty, DIM)]) if y == 0 and not layout.entries else Line()
            strip = paint(blank, palette, width, Segment(" ", palette.base), end)
        else:
            strip = self._strip_of(position, line, width, palette)
        if self._new_below and y == self._rows() - 1:
            strip = self._mark_new_below(strip, width)
        return strip

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return the rows of the conversation."""
        return max(1, self.layout_model.height)

    def selection_updated(self, selection: Selection | None) -> None:
        """The selection changed: paint it."""
        self.refresh()

    def notify_style_update(self) -> None:
        """The theme changed: repaint everything."""
        super().notify_style_update()
        self._palette = None
        self._strips.clear()

    # Size and events

    def on_mount(self) -> None:
        """Check the size after each layout.

        Textual 8.2 sends no event for the first size of a widget if somebody asked for its region between its being
        shown and the layout.
        """
        self.screen.screen_layout_refresh_signal.subscribe(self, self._laid_out, immediate=True)

    def _laid_out(self, _screen: Screen[object]) -> None:
        if self._has_unheard_size:
            self.call_later(self._take_unheard_size)  # behind the event, if there is one

    @property
    def _has_unheard_size(self) -> bool:
        # Hidden it has no size, and keeps its width.
        return bool(self.size) and (
            self.size != self._taken or (self._wanted is not None and self._rows() > 0)
        )

    def _take_unheard_size(self) -> None:
        if self._has_unheard_size:
            self._take_size()

    def on_resize(self) -> None:
        """Take the new size."""
        self._take_size()

    def _take_size(self) -> None:
        """Take the new width: the visible rows are drawn now, the others when they become visible."""
        self._taken = self.size
        width = max(1, self.scrollable_content_region.width - GUTTER)
        layout = self.layout_model
        top = None if self._following else self.scroll_offset.y
        if width != layout.width:
            anchor = layout.position_at(top) if top is not None else None
            if (
                anchor is not None and (top, anchor) != self._kept[:2]
            ):  # moved since the last resize, if there was one
                self._kept = top, anchor, layout.letters_before(anchor)
            layout.resize(width)
            self._strips.clear()
            self._drop_selection()
            if anchor is not None:
                anchor = layout.line_after(anchor, self._kept[2])
                top = layout.draw_at(anchor)
            self.refresh()
        if self._wanted is not None and self._rows():
            self._following, top, self._wanted = False, layout.row_of(self._wanted), None
        self._update_rows(top)
        top = self.scroll_offset.y
        self._kept = top, layout.position_at(top), self._kept[2]
        if top >= self.max_scroll_y:
            self._follow_changed(True)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """The view moved: draw what came on the screen."""
        super().watch_scroll_y(old_value, new_value)
        # The base class leaves this out while the scrollbar is away, which it is in the middle of a layout.
        self.vertical_scrollbar.position = new_value
        if self._positioning or round(old_value) == round(new_value):
            return
        self._follow_changed(round(new_value) >= self.max_scroll_y)
        self._update_rows(round(new_value))
        self.post_message(self.Scrolled(self))

    # Internal

    def _entry(self, index: int | None) -> Entry | None:
        entries = self.layout_model.entries
        return entries[index] if index is not None and 0 <= index < len(entries) else None

    def _entry_changed(self, index: int, *, by_person: bool = False) -> None:
        """An entry looks different: lay it out again, and everything below it."""
        self.layout_model.entries[index].changed()
        self.layout_model.update(index)
        if by_person:
            # What a person opens is not pushed away by going on to the end.
            self._following = False
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

    @contextmanager
    def _keeping_scroll_position(self) -> Iterator[None]:
        """Whatever is drawn meanwhile, the first visible line stays the first."""
        layout = self.layout_model
        anchor = layout.position_at(self.scroll_offset.y)
        height = layout.height
        yield
        if anchor is not None and layout.height != height:
            self._update_rows(layout.row_of(anchor))

    def _follow_changed(self, following: bool) -> None:
        new_below = self._new_below and not following
        if (following, new_below) != (self._following, self._new_below):
            self._following, self._new_below = following, new_below
            self.post_message(self.Followed(self, following, new_below))

    def _rows(self) -> int:
        return self.scrollable_content_region.height

    def _update_rows(self, top: int | None = None) -> None:
        """Draw the visible rows from row `top` on (None: the end), and scroll there."""
        layout = self.layout_model
        rows = self._rows()
        if rows > 0:
            top = layout.draw_end(rows) if top is None or self._following else layout.draw_visible(top, rows)
        height = layout.height
        is_full = self.virtual_size.height > rows  # as high as it may be: more rows scroll
        if self._streaming and self._following and is_full and height > rows > 2 * CHUNK_ROWS:
            # Room for the next rows: the view moves once for several of them.
            height = rows + -(-(height - rows) // CHUNK_ROWS) * CHUNK_ROWS
            top = height - rows
        self._positioning = True
        try:
            self._set_height(height)
            if top is not None:
                self.scroll_target_y = self.scroll_y = top
        finally:
            self._positioning = False

    def _set_height(self, height: int) -> None:
        size = Size(self.layout_model.width, height)
        old = self.virtual_size
        if size == old:
            return
        # Textual keeps the size of a widget until it asks for a layout, and counts several requests before the
        # next frame as one: a layout in between would keep a height that is no longer true.
        self._box_model_cache.clear()
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

    def _choose_palette(self) -> Palette:
        base = self.rich_style
        if self._palette is None or self._palette.base != base:
            self._palette = Palette(base, self._component_style)
            self._strips.clear()
        return self._palette

    def _component_style(self, name: str) -> Style:
        """Return what a component class adds to the style of the widget."""
        style = self.get_component_rich_style(name, partial=True)
        if style.color is None:
            return style
        # Only the whole style has a translucent colour blended with the background.
        return style + Style(color=self.get_component_rich_style(name).color)

    def _strip_of(self, position: Position, line: Line, width: int, palette: Palette) -> Strip:
        at_cursor = position.entry == self._cursor
        offset = position.encode()
        found = (
            tuple(self._matches_in(position.entry, position.part).at(position.line)) if self._query else ()
        )
        key = (line, offset, width if not at_cursor else -width, found)
        strip = self._strips.get(key)
        if strip is None:
            gutter = Segment(" ", palette.base)
            if at_cursor:
                style = palette.base + self._component_style("conversation--cursor")
                gutter = Segment(self.glyphs.cursor, style)
            strip = paint(line, palette, width, gutter, offset)
            if found:
                strip = restyle(strip, found, self._component_style("conversation--match"), GUTTER)
            self._strips[key] = strip
        selection = self.text_selection
        span = selection.get_span(offset) if selection is not None else None
        if span is not None:
            start, end = span
            style = self.screen.get_component_rich_style("screen--selection")
            strip = restyle(strip, [(start, len(line.text) if end < 0 else end)], style, GUTTER)
        return strip

    def _matches_in(self, entry: int, part: int) -> Matches:
        """Return the matches in a part; each chunk of it is searched once."""
        drawn = self.layout_model.entries[entry].parts()[part]
        lines = drawn.draw(self.layout_model.width)
        last = lines[-1] if lines else None
        kept = self._found.get(drawn)
        if kept is None or kept[0] is not lines or kept[1] is not last:  # a part that grows keeps its list
            self._found.discard(drawn)  # this cache keeps what it has
            kept = self._found[drawn] = (lines, last, Matches(lines, self._query))
        return kept[2]

    @property
    def _new_below_mark(self) -> str:
        return f" {self.glyphs.down} new below "

    @property
    def _new_below_from(self) -> int:
        """The column in the last row where the mark begins; a click on it goes to the end."""
        return max(0, self.scrollable_content_region.width - len(self._new_below_mark))

    def _mark_new_below(self, strip: Strip, width: int) -> Strip:
        style = (self._palette or self._choose_palette()).base + self.get_component_rich_style(
            "conversation--new", partial=True
        )
        mark, left = self._new_below_mark, self._new_below_from
        return Strip([*strip.crop(0, left), Segment(mark, style)], left + len(mark))

    def _drop_selection(self) -> None:
        """Clear a selection whose text has changed."""
        if self.is_attached and self.text_selection is not None:
            self.screen.clear_selection()
