"""A terminal as small as one can be, that has its own idea of how wide a sign is."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

_STRINGS = r"\x1b[\]P_^X].*?(?:\x07|\x1b\\)"
_PART = re.compile(
    rf"{_STRINGS}|\x1b\[(?P<numbers>[0-?]*)[ -/]*(?P<letter>[@-~])|\x1b[ -/]*[0-~]|(?P<sign>.)", re.DOTALL
)


def each_alone(sign: str) -> int:
    """As in terminals that add up the parts of a sign: tmux, xterm, PuTTY."""
    if sign in "\u200d\ufe0f" or unicodedata.category(sign) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(sign) in "WF" else 1


def old_and_plain(sign: str) -> int:
    """As in a terminal that is older than the newest signs, and shows what joins others as a sign."""
    return (
        1
        if sign in "\u200d\ufe0f\u20e3\U0001fae9" or "\U0001f3fb" <= sign <= "\U0001f3ff"
        else each_alone(sign)
    )


def flags_wide(sign: str) -> int:
    """As in a terminal to which each letter of a flag is a sign of its own."""
    return 2 if "\U0001f1e6" <= sign <= "\U0001f1ff" else each_alone(sign)


class Cells:
    """Rows of cells; the second cell of a wide sign is empty.

    Args:
        width: columns.
        height: rows.
        measure: returns how many cells a character takes.
    """

    def __init__(self, width: int, height: int, measure: Callable[[str], int]) -> None:
        self.width, self.height, self._measure = width, height, measure
        self._x = self._y = 0
        self._erase()

    def _erase(self) -> None:
        self.rows = [[" "] * self.width for _ in range(self.height)]

    def feed(self, output: str) -> None:
        """Take what a program writes that has lines not wrap."""
        for part in _PART.finditer(output):
            sign, letter = part["sign"], part["letter"]
            if letter == "H":
                row, _, column = part["numbers"].partition(";")
                self._y, self._x = int(row or 1) - 1, int(column or 1) - 1
            elif letter == "J":
                self._erase()
            elif sign == "\n":
                self._x, self._y = 0, min(self._y + 1, self.height - 1)
            elif sign and sign.isprintable() | (sign in "\u200d\ufe0f"):
                self._draw(sign)

    def _draw(self, sign: str) -> None:
        width, row = self._measure(sign), self.rows[self._y]
        if not width:
            return
        self._x = min(self._x, self.width - width)
        if row[self._x] == "":
            row[self._x - 1] = " "  # half of a wide sign is no sign
        if self._x + width < self.width and row[self._x + width] == "":
            row[self._x + width] = " "
        row[self._x : self._x + width] = [sign, ""][:width]
        self._x += width
