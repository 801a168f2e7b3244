"""The last line of the screen: what keys do here, and which model answers."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from rich.segment import Segment
from textual.strip import Strip
from textual.widget import Widget

from tui.sanitise import one_line
from tui.widgets.inks import ink


class KeyLine(Widget, can_focus=False):
    """Keys with their words from the left as far as they fit, a note at the right end."""

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
        for key, word in self._keys:
            size = cell_len(key) + cell_len(word) + 3
            if used + size > room:
                break
            segments += [Segment(key, key_style), Segment(f" {word}  ", base)]
            used += size
        segments.append(Segment(" " * max(0, width - used - cell_len(note) - 1), base))
        segments.append(Segment(f"{note} ", base))
        return Strip(segments).adjust_cell_length(width, base)
