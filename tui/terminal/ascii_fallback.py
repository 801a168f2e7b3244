"""What is sent to a terminal without UTF-8, or without our signs: as many cells as meant, and no sign that is a lie. Pure.

Signs of this program (box drawing and scroll bars are not ours to choose) become ASCII. What people and models wrote
stays as it is where the terminal takes UTF-8. Where it does not, one letter too many may be a command to it (`Ý` in
UTF-8 holds the byte that begins a title): there whatever is not ASCII is a highlighted stand-in.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from rich.cells import split_graphemes

from tui.terminal.capabilities import locale_of

_DRAWN = {"╭╮╰╯┌┐└┘├┤┬┴┼": "+", "─━╴╶═": "-", "│┃║▎▌▏▍▋▊▉█▕▐": "|", "▁▂▃▄▅▆▇▀▔": " "}
_SIGNS = {"…": "~", "·": "-", "●•◆": "*", "■": "#", "▸›❯": ">", "▾▼↓": "v", "↑▲": "^"}
_WRITTEN = {"×✗": "x", "✓": "+", "−–—": "-", "“”„": '"', "‘’": "'"}


def _table(*groups: Mapping[str, str]) -> dict[int, str]:
    return {ord(sign): plain for signs in groups for row, plain in signs.items() for sign in row}


_OURS = _table(_SIGNS)
_ALIKE = _table(_DRAWN, _SIGNS, _WRITTEN)
_ONLY_SIGNS = re.compile(f"[ {''.join(map(chr, _ALIKE))}]+")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")

Piece = tuple[str, bool]
"""A text, and whether it is highlighted since it stands for another."""


@dataclass(frozen=True)
class Charset:
    """What a terminal takes that shows our signs in ASCII.

    Args:
        utf8: whether it takes UTF-8, so that every text may be sent; nothing but ASCII is where it does not.
    """

    utf8: bool

    def holds(self, text: str) -> bool:
        """Whether every character may be sent as it is."""
        return self.utf8 or text.isascii()

    def keeps(self, sign: str) -> bool:
        """Whether a character is shown as itself wherever it stands: else a text that is compared spells it out."""
        return sign.isascii() or (self.utf8 and ord(sign) not in _ALIKE)

    def bare(self, output: str) -> str:
        """Return terminal output, escape sequences and all, with `?` for what must not be sent."""
        return output if self.holds(output) else _NOT_ASCII.sub("?", output)

    def pieces(self, text: str, *, theirs: bool = False) -> tuple[Piece, ...]:
        """Return what to show for a text of one style: pieces that together are as many cells wide.

        Args:
            text: without escape sequences.
            theirs: it is where people and models write, and has no sign of ours but frames.
        """
        return _pieces(self, text, theirs)


@lru_cache(4096)
def _pieces(charset: Charset, text: str, theirs: bool) -> tuple[Piece, ...]:
    if text.isascii():
        return ((text, False),)
    if _ONLY_SIGNS.fullmatch(text):  # a frame, a bar, a mark
        return ((text.translate(_ALIKE), False),)
    if not theirs:
        text = text.translate(_OURS)
    if charset.holds(text):
        return ((text, False),)
    pieces: list[Piece] = []
    for start, end, width in split_graphemes(text)[0]:
        cluster = text[start:end]
        is_same = cluster.isascii()
        shown = cluster if is_same else _ALIKE.get(ord(cluster)) if len(cluster) == 1 else None
        if shown is None:
            shown = "?" * width
        if pieces and pieces[-1][1] is not is_same:
            pieces[-1] = (pieces[-1][0] + shown, not is_same)
        elif shown:
            pieces.append((shown, not is_same))
    return tuple(pieces)


def charset_of(environment: Mapping[str, str]) -> Charset:
    """Return what the terminal takes by the locale in an environment like `os.environ`."""
    locale = locale_of(environment)
    language, _, encoding = locale.partition("@")[0].partition(".")
    return Charset(utf8="utf" in locale.lower() or not (encoding or language in ("C", "POSIX")))
