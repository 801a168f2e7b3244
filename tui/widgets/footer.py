"""The last line of the screen: what keys do here, and which model answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from tui.commands.registry import key_called
from tui.terminal.sanitise import one_line
from tui.widgets.clickable_hints import key_under, press, pressing_style
from tui.widgets.plain_text import NotSelectable
from tui.widgets.theme_styles import ink


class KeyLine(NotSelectable, Widget, can_focus=False):
    """Keys with their words from the left as far as they fit, a note at the right end. A click on a key presses it."""

    class NotePressed(Message):
        """The note was clicked."""

    def __init__(self, *, id: str = "keys") -> None:
        super().__init__(id=id)
        self._keys: Sequence[tuple[str, str]] = ()
        self._note = ""

    def show(self, keys: Sequence[tuple[str, str]], note: str) -> None:
        """Show (key, word) pairs, the most important first, and a note of any text."""
        if (list(keys), note) != (list(self._keys), self._note):
            self._keys, self._note = keys, note
            self.refresh()

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        base = self.rich_style
        key_style = base + ink(self, "text-accent")
        note = one_line(self._note, max(0, width // 2))
        room = width - cell_len(note) - 3
        segments = [Segment(" ", base)]
        used = 1
        for names, word in self._keys:
            key = one_line(names, width)
            size = cell_len(key) + cell_len(word) + 3
            if used + size > room:
                break
            segments += [*_entry(key, word, key_style, base), Segment("  ", base)]
            used += size
        segments.append(Segment(" " * max(0, width - used - cell_len(note) - 1), base))
        segments.append(Segment(f"{note} ", base))
        return Strip(segments).adjust_cell_length(width, base)

    def on_click(self, event: events.Click) -> None:
        if key := key_under(event):
            press(self.app, key)
        elif event.x >= self.size.width - 1 - cell_len(one_line(self._note, self.size.width // 2)):
            self.post_message(self.NotePressed())


def _entry(names: str, word: str, key_style: Style, base: Style) -> Iterator[Segment]:
    """Yield the keys of an entry, each to be clicked, and their word, which is the first of them."""
    keys = [(key, key_called(key)) for key in names.split(" ")]
    for place, (key, name) in enumerate(keys):
        if place:
            yield Segment(" ", key_style)
        yield Segment(key, key_style + pressing_style(name) if name else key_style)
    first = keys[0][1]
    yield Segment(f" {word}", base + pressing_style(first) if first else base)
