"""What a text that begins with a slash could become: a list over the panes, above the chat bar.

It never takes the focus; the input it belongs to asks it before it takes a key itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar

from rich.cells import cell_len

from tui.commands import slash
from tui.commands.slash import Offer
from tui.widgets.virtual_list import Row, RowList

MOST = 14
"""Rows at most; a third of a smaller screen."""


class CommandList(RowList, can_focus=False):
    """The offers for what is written. `RowList.Chosen` tells of a click on one."""

    DEFAULT_CSS: ClassVar[str] = Path(__file__).with_suffix(".tcss").read_text(encoding="utf-8")

    def __init__(self, **options: Any) -> None:
        super().__init__(lit=True, **options)
        self.find: Callable[[str], Sequence[Offer]] = slash.offers
        self._offers: Sequence[Offer] = ()
        self._text = ""
        self._closed = False
        self._stepped = False
        self.display = False

    @property
    def chosen(self) -> Offer | None:
        """What the cursor is on, None while nothing is offered."""
        return self._offers[self.cursor] if self.display and self.cursor < len(self._offers) else None

    def offer(self, text: str) -> None:
        """Offer what `text` could become; a text that is no beginning of anything closes the list.

        The cursor is on the first offer, unless it was moved: then it stays where it is for as long as that is offered.
        """
        if text == self._text:
            return
        self._text = text
        if not text.startswith("/"):
            self._closed = False
        self._offers = () if self._closed else self.find(text)
        anew, self.display = not self.display, bool(self._offers)
        if not self.display:
            return
        kept, wide = self.key, max(cell_len(offer.head) for offer in self._offers)
        self.set_rows([Row(o.line, o.meaning, head=o.head, head_cells=wide) for o in self._offers])
        if anew or not self._stepped or self._offers[0].line == text or self.key != kept:
            self.cursor, self._stepped = 0, False
        self.place()

    def place(self) -> None:
        """Take the rows that are wanted, as far as the screen has room, and stand above the chat bar."""
        rows = max(3, min(len(self._offers), MOST, self.app.size.height // 3))
        rows = min(rows, len(self._offers))
        self.styles.height = rows
        self.styles.offset = (0, -rows)

    def step(self, by: int) -> None:
        """Go to the next offer (1) or the one before (-1), round at the ends."""
        self.cursor, self._stepped = (self.cursor + by) % max(1, len(self._offers)), True

    def on_resize(self) -> None:
        """Show as much above the cursor as there is room for: the list may have been shorter when it came there."""
        self.scroll_to(y=0, animate=False, force=True)
        self.show_cursor()

    def close(self, text: str | None = None) -> None:
        """Offer nothing until a text begins anew with a slash, or, where `text` is given, until it is another."""
        self._closed = text is None
        self._text = self._text if text is None else text
        self._offers, self.display = (), False
