"""Finds the conflict markers that git leaves in a text. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from personas.errors import BrokenFile, EditRefused
from personas.toml.parse import line_and_column

_MARK = r"(?m)^(<{7}|={7}|>{7})(?=[ \r\n]|\Z)[^\n]*"


def conflicts(text: str) -> list[tuple[int, int]]:
    """Return the spans of the conflicts in a text, each from its first mark to the end of the line of its last."""
    found: list[tuple[int, int]] = []
    start, divided = -1, False
    for mark in re.finditer(_MARK, text) if "<<<<<<<" in text else ():
        if mark[1][0] == "<":
            start, divided = mark.start(), False
        elif mark[1][0] == "=":
            divided = start >= 0
        elif divided:
            found.append((start, mark.end()))
            start, divided = -1, False
    return found


def conflict_in(text: str, where: str = "") -> BrokenFile | None:
    """Return what to say of the conflicts in a file; the message names all their lines. None where there is none.

    `where`: names the file, where it is not the document's first.
    """
    found = conflicts(text)
    if not found:
        return None
    places = [[line_and_column(text, at)[0] for at in span] for span in found]
    lines = ", ".join(f"{first} to {last}" for first, last in places)
    return BrokenFile(f"unresolved merge conflict{where}, lines {lines}")


def require_kept(before: Iterable[str], after: Iterable[str]) -> None:
    """Refuse a change to what stands between the marks of a conflict, or to the marks: the person resolves it.

    Args:
        before, after: the texts of a persona.

    Raises:
        EditRefused: a conflict in the texts before is not in those after as it was.
    """
    if _conflicts_of(before) - _conflicts_of(after):
        raise EditRefused(
            "There is an unresolved merge conflict of git in the text, and this would change what stands between its "
            "marks (<<<<<<< to >>>>>>>). Only the owner resolves it: ask them to. Nothing was written."
        )


def _conflicts_of(texts: Iterable[str]) -> Counter[str]:
    return Counter(text[start:end] for text in texts for start, end in conflicts(text))
