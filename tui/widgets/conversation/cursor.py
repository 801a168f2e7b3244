"""Reading the conversation: a cursor from entry to entry, opening and closing, searching, selecting, copying."""

from __future__ import annotations

from itertools import takewhile

from rich.cells import cell_len
from textual import events
from textual.geometry import Offset
from textual.message import Message
from textual.selection import Selection

from tui.widgets.conversation.entry import TRY, Entry
from tui.widgets.conversation.layout import Position
from tui.widgets.conversation.scroll_view import GUTTER, EntryScrollView
from tui.widgets.conversation.search import Query

_WHOLE = 1 << 20
"""More characters than a line has."""


class ReadableScrollView(EntryScrollView, can_focus=False):
    """A scroll view of entries with a reading cursor, search and copying."""

    class TryPressed(Message):
        """What the run of a turn did to the outputs is asked for; `turn_ids`: the turn, and those before it."""

        def __init__(self, turn_ids: list[str]) -> None:
            super().__init__()
            self.turn_ids = turn_ids

    # Reading, entry by entry

    @property
    def cursor(self) -> int | None:
        """The number of the entry reading mode is at; None outside it."""
        return self._cursor

    def start_reading(self, key: str | None = None) -> None:
        """Put the reading cursor on the entry with this key, else on the last visible one."""
        entries = self.layout_model.entries
        last = next((index for index, entry in enumerate(entries) if entry.key == key), None)
        if key is None or last is None:
            last = self.layout_model.entry_at(self.scroll_offset.y + self._rows() - 1)
        self._set_cursor((len(entries) - 1 if last is None else last) if entries else None)

    def stop_reading(self) -> None:
        """Remove the reading cursor."""
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
        self._show_entry(self._cursor)

    def keep_cursor_visible(self) -> None:
        """After a change of height: bring the cursor's entry back into view if it is out of it."""
        if self._cursor is not None and not self._following:
            top, visible = self.layout_model.top_of(self._cursor), self.scroll_offset.y
            height = self.layout_model.entries[self._cursor].height(self.layout_model.width)
            if not visible - height < top < visible + self._rows():
                self._show_entry(self._cursor)

    def cursor_home(self) -> None:
        """Go to the first entry."""
        self.move_cursor(0)
        self.move_cursor(-len(self.layout_model.entries))

    def cursor_end(self) -> None:
        """Go to the last entry, and follow what comes behind it."""
        if self._cursor is not None:
            self.move_cursor(len(self.layout_model.entries))
        self.follow()

    def toggle(self, index: int | None = None) -> bool:
        """Open or close an entry (that of the cursor by default); return whether there was something to open."""
        index = self._cursor if index is None else index
        entry = self._entry(index)
        if index is None or entry is None or not entry.toggle():
            return False
        self._drop_selection()
        self._entry_changed(index, by_person=True)
        if entry.opened:
            self._show_entry(index)
        return True

    def cursor_entry(self) -> Entry | None:
        """Return the entry the reading cursor is at."""
        return self._entry(self._cursor)

    def turns_up_from_cursor(self) -> list[str]:
        """Return the ids of the turns from the one the reading cursor is at up to the first."""
        return self._turns_up_from(-1 if self._cursor is None else self._cursor)

    def _turns_up_from(self, index: int) -> list[str]:
        entries = self.layout_model.entries[: index + 1]
        return [entry.turn.id for entry in reversed(entries) if entry.turn is not None]

    @property
    def reads_prompt_change(self) -> bool:
        """Whether the run of the entry that the reading cursor is at changed the prompt."""
        entries, first = self.layout_model.entries, self._cursor
        if first is None:
            return False
        while first > 0 and not entries[first].opens_run:
            first -= 1
        of_run = takewhile(lambda entry: not entry.opens_run, entries[first + 1 :])
        return any(entry.changed_prompt for entry in (entries[first], *of_run))

    def cursor_text(self) -> str:
        """Return the whole text of the entry the reading cursor is at, sanitised."""
        entry = self.cursor_entry()
        return entry.text() if entry is not None else ""

    # Searching

    def search(self, text: str) -> int:
        """Mark every match of `text` (see `search`); return how many entries have one.

        Both the drawn text, also of entries that are still closed, and its source are searched. The nearest matching
        entry, going back from the visible ones, is brought into view. "" ends the search.
        """
        self._query = Query.of(text)
        self._strips.clear()
        self._found.clear()
        self.refresh()
        if not self._query:
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
        matches = self._matches() if self._query else []
        if not matches:
            return False
        here = -1 if self._cursor is None else self._cursor
        later = [index for index in matches if (index > here if step > 0 else index < here)]
        ends = matches[0] if step > 0 else matches[-1]
        self._go_to_match((later[0] if step > 0 else later[-1]) if later else ends)
        return True

    # Selecting and copying

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Return the selected text: lines wrapped on the screen are joined again, decoration is left out.

        A selection that begins or ends beyond this view ends at the visible rows.
        """
        layout = self.layout_model
        top = self.scroll_offset.y
        visible = [layout.position_at(row) for row in (top, min(top + self._rows(), layout.height) - 1)]
        if visible[0] is None or visible[1] is None:
            return "", "\n"
        first = Position.decode(selection.start.y) if selection.start is not None else visible[0]
        last = Position.decode(selection.end.y) if selection.end is not None else visible[1]
        selection = Selection(
            selection.start or Offset(0, first.encode()), selection.end or Offset(_WHOLE, last.encode())
        )
        texts: list[str] = []
        for index in range(first.entry, min(last.entry, len(layout.entries) - 1) + 1):
            with self._keeping_scroll_position():
                parts = layout.draw_entry(index)
            for number, part in enumerate(parts):
                for row, line in enumerate(part.draw(layout.width)):
                    span = selection.get_span(Position(index, number, row).encode())
                    if span is not None:
                        text = line.text
                        end = len(text) if span[1] < 0 else span[1]
                        texts += (text[max(span[0], line.lead) : end], line.join)
        return "".join(texts).rstrip("\n"), "\n"

    def on_click(self, event: events.Click) -> None:
        """Open or close what was clicked; a double click selects the turn."""
        event.prevent_default()
        if self._new_below and event.y == self._rows() - 1 and event.x >= self._new_below_from:
            self.follow()
            return
        row = event.y + self.scroll_offset.y
        position = self.layout_model.position_at(row)
        if position is None:
            return
        if event.chain > 1:
            self._select_entry(position.entry)
            return
        entry = self._entry(position.entry)
        if (
            entry is not None
            and entry.foldable
            and (position.part, position.line) == (0, 0)
            and not self.text_selection
        ):
            line = self.layout_model.line(position)
            end = GUTTER + (cell_len(line.text) if line is not None else 0)
            if entry.changed_prompt and end - len(TRY) <= event.x < end:
                self.post_message(self.TryPressed(self._turns_up_from(position.entry)))
            else:
                self.toggle(position.entry)

    # Internal

    def _set_cursor(self, index: int | None) -> None:
        if index != self._cursor:
            self._cursor = index
            self.refresh()

    def _show_entry(self, index: int | None) -> None:
        """Bring an entry into view: whole if it fits, else its beginning."""
        if index is None:
            return
        layout = self.layout_model
        rows = self._rows()
        for _ in range(3):
            # What is drawn on the way may be higher than estimated.
            top = layout.top_of(index)
            height = layout.entries[index].height(layout.width)
            current = self.scroll_offset.y
            if current <= top and top + height <= current + rows:
                break
            target = top if top < current or height >= rows else top + height - rows
            if target == current:
                break
            self.scroll_to(y=target)

    def _matches(self) -> list[int]:
        entries = self.layout_model.entries
        return [index for index, entry in enumerate(entries) if entry.contains(self._query)]

    def _go_to_match(self, index: int) -> None:
        """Bring the first line with the query of an entry into view, opening the entry for it."""
        layout = self.layout_model
        entry = layout.entries[index]
        position = self._find_line(index)
        if position is None and entry.foldable and not entry.opened:
            self.toggle(index)
            position = self._find_line(index)
        self._set_cursor(index)
        row = layout.row_of(position or Position(index, 0, 0))
        rows = self._rows()
        if not self.scroll_offset.y <= row < self.scroll_offset.y + rows:
            self.scroll_to(y=row - rows // 2)
        self.refresh()

    def _find_line(self, index: int) -> Position | None:
        layout = self.layout_model
        with self._keeping_scroll_position():
            parts = layout.draw_entry(index)
        for number in range(len(parts)):
            if (row := self._matches_in(index, number).first()) is not None:
                return Position(index, number, row)
        return None

    def _select_entry(self, index: int) -> None:
        start = Offset(0, Position(index, 0, 0).encode())
        end = Offset(0, Position(index + 1, 0, 0).encode())
        self.screen.selections = {self: Selection(start, end)}
