"""What is written to narrow a list: words, each of which has to be in what is shown. Pure, and quick at any length."""

from __future__ import annotations

from collections.abc import Sequence

from tui.commands.unicode_folding import composed

FEW = 50
"""Words that are looked for one by one. Where so many are found, most of the others are words of that text, too."""


def fold(text: str) -> str:
    """Return a text without the differences that do not matter: letter case, and how its letters are composed."""
    return text.casefold() if text.isascii() else composed(text).casefold()


def words_of(written: str) -> list[str]:
    """Return the words of a text, folded, each once."""
    return [*dict.fromkeys(fold(written).split())]


def are_in(words: Sequence[str], folded: str) -> bool:
    """Return whether every word is somewhere in a text that is folded."""
    if not all(word in folded for word in words[:FEW]):
        return False
    return len(words) <= FEW or all(word in folded for word in {*words[FEW:]}.difference(folded.split()))
