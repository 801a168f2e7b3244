"""Letters in one form, however they were composed, in a time that grows with the text alone. Pure."""

from __future__ import annotations

import unicodedata

PIECE = 1_000
"""Characters that are composed at one time."""

LETTER = 32
"""Characters of which a letter may be made up; marks beyond them change nothing."""


def composed(text: str) -> str:
    """Return `text` in the form NFKC, made piece by piece: the time it takes is the square of how many marks there are.

    A piece ends between two letters, if there are two within its length.
    """
    if len(text) <= PIECE:
        return unicodedata.normalize("NFKC", text)
    pieces: list[str] = []
    at = 0
    while at < len(text):
        end = min(at + PIECE, len(text))
        while at + PIECE // 2 < end < len(text) and joins(text, at, end):
            end -= 1
        if at + PIECE // 2 == end:
            end = at + PIECE
        pieces.append(unicodedata.normalize("NFKC", text[at:end]))
        at = end
    return "".join(pieces)


def joins(text: str, start: int, at: int) -> bool:
    """Return whether the sign at a place is one letter with what stands before it, from `start` on."""
    sign = text[at]
    if sign.isascii():
        return False
    if unicodedata.combining(sign):
        return True
    before = text[max(start, at - LETTER) : at]
    whole = unicodedata.normalize("NFKC", before + sign)
    return whole != unicodedata.normalize("NFKC", before) + unicodedata.normalize("NFKC", sign)
