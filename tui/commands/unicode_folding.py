"""Unicode normalisation (NFKC) in linear time."""

from __future__ import annotations

import unicodedata

CHUNK = 1_000
"""Characters that are normalised at once."""

LETTER = 32
"""Characters that a letter may consist of; further combining marks are ignored."""


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
