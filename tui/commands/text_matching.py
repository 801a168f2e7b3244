"""Comparing texts whatever their letter case and composition, and filtering a list by words. Quick at any length; no widget."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

FEW = 50
"""Words that are searched one by one; of more, those that are whole words of the text are not searched."""

CHUNK = 1_000
"""Characters that are normalised at once."""

LETTER = 32
"""Characters that a letter may consist of; further combining marks are ignored."""


def fold(text: str) -> str:
    """Return a text normalised for comparison: letter case and the composition of letters do not matter."""
    return text.casefold() if text.isascii() else composed(text).casefold()


def words_of(written: str) -> list[str]:
    """Return the words of a text, folded, each once."""
    return [*dict.fromkeys(fold(written).split())]


def match_all(words: Sequence[str], folded: str) -> bool:
    """Return whether every word occurs in a folded text."""
    if not all(word in folded for word in words[:FEW]):
        return False
    return len(words) <= FEW or all(word in folded for word in {*words[FEW:]}.difference(folded.split()))


def composed(text: str) -> str:
    """Return `text` in NFKC, made in chunks: normalising takes quadratic time in consecutive combining marks.

    A chunk ends between two letters, if it has two.
    """
    if len(text) <= CHUNK:
        return unicodedata.normalize("NFKC", text)
    chunks: list[str] = []
    at = 0
    while at < len(text):
        end = min(at + CHUNK, len(text))
        while at + CHUNK // 2 < end < len(text) and joins(text, at, end):
            end -= 1
        if at + CHUNK // 2 == end:
            end = at + CHUNK
        chunks.append(unicodedata.normalize("NFKC", text[at:end]))
        at = end
    return "".join(chunks)


def joins(text: str, start: int, at: int) -> bool:
    """Return whether the character at `at` combines with those before it, from `start` on."""
    sign = text[at]
    if sign.isascii():
        return False
    if unicodedata.combining(sign):
        return True
    before = text[max(start, at - LETTER) : at]
    whole = unicodedata.normalize("NFKC", before + sign)
    return whole != unicodedata.normalize("NFKC", before) + unicodedata.normalize("NFKC", sign)
