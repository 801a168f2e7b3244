"""Filtering a list by words, each of which must occur in the text. Quick at any length; no widget."""

from __future__ import annotations

from collections.abc import Sequence

from tui.commands.unicode_folding import composed

FEW = 50
"""Words that are searched one by one; of more, those that are whole words of the text are not searched."""


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
