"""The completion list for slash commands, above the chat bar.

It never takes the focus; the input asks it before it handles a key itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar

from rich.cells import cell_len

from tui.commands import slash
from tui.commands.slash import Completion
from tui.widgets.virtual_list import Row, VirtualList

MOST = 14
"""Rows at most; a third of a smaller screen."""


class CommandList(VirtualList, can_focus=False):
    """The completions of the draft. A click posts `VirtualList.Chosen`."""

    DEFAULT_CSS: ClassVar[str] = Path(__file__).with_suffix(".tcss").read_text(encoding="utf-8")

    def __init__(self, **options: Any) -> None:
        super().__init__(lit=True, **options)
        self.find: Callable[[str], Sequence[Completion]] = slash.offers
        self._offers: Sequence[Completion] = ()
        self._text = ""
        self._closed = False
        self._stepped = False
        self.display = False

    @property
    def chosen(self) -> Completion | None:
        """What the cursor is on, None while nothing is offered."""
        return self._offers[self.cursor] if self.display and self.cursor < len(self._offers) else None

    def offer(self, text: str) -> None:
        """Show the completions of `text`; without any the list closes.

        The cursor is on the first, unless it was moved: then it stays on its row as long as that is offered.
        """
        if text == self._text:
            return
        self._text = text
        if not text.startswith("/"):
            self._closed = False
        self._offers = () if self._closed else self.find(text)
        opens, self.display = not self.display, bool(self._offers)
        if not self.display:
            return
        kept, wide = self.key, max(cell_len(offer.head) for offer in self._offers)
        self.set_rows([Row(o.line, o.meaning, head=o.head, head_cells=wide) for o in self._offers])
        if opens or not self._stepped or self._offers[0].line == text or self.key != kept:
            self.cursor, self._stepped = 0, False
        self.place()

    def place(self) -> None:
        """Set the height to the completions, as far as there is room, and the position above the chat bar."""
        rows = max(3, min(len(self._offers), MOST, self.app.size.height // 3))
        rows = min(rows, len(self._offers))
        self.styles.height = rows
        self.styles.offset = (0, -rows)

    def step(self, by: int) -> None:
        """Go to the next completion (1) or the previous one (-1), around the ends."""
        self.cursor, self._stepped = (self.cursor + by) % max(1, len(self._offers)), True

    def on_resize(self) -> None:
        """Scroll to the top as far as the cursor stays visible."""
        self.scroll_to(y=0, animate=False, force=True)
        self.show_cursor()

    def close(self, text: str | None = None) -> None:
        """Close the list until a new slash is typed or, with `text`, until the draft differs from it."""
        self._closed = text is None
        self._text = self._text if text is None else text
        self._offers, self.display = (), False
