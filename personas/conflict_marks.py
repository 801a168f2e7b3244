"""Finds the conflict markers that git leaves in a text. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from personas.errors import BrokenFile, EditRefused
from personas.toml.parse import line_and_column

CONFLICT = "unresolved merge conflict"
"""How the message begins that says of a file that it has such markers."""

_MARK = r"(?m)^(<{7}|\|{7}|={7}|>{7})(?=[ \r\n]|\Z)([^\n]*)\n?"


class ConflictBlock(NamedTuple):
    """One conflict in a text.

    Attributes:
        start, end: where it stands, from its first mark to behind the line of its last.
        ours, theirs: the lines of both sides; `base` those that both grew from, where git has written them too.
        names: what git calls the sides, such as `HEAD` and a branch.
    """

    start: int
    end: int
    ours: str
    base: str
    theirs: str
    names: tuple[str, str]


def sides(text: str) -> list[ConflictBlock]:
    """Return the conflicts in a text, in order."""
    found: list[ConflictBlock] = []
    first: re.Match[str] | None = None
    base: re.Match[str] | None = None
    middle: re.Match[str] | None = None
    for mark in re.finditer(_MARK, text) if "<<<<<<<" in text else ():
        sign = mark[1][0]
        if sign == "<":
            first, base, middle = mark, None, None
        elif first is not None and sign == "|":
            base = base if middle else mark
        elif first is not None and sign == "=":
            middle = middle or mark
        elif first is not None and middle is not None:
            ours = text[first.end() : (base or middle).start()]
            before = text[base.end() : middle.start()] if base else ""
            theirs = text[middle.end() : mark.start()]
            names = (first[2].strip(), mark[2].strip())
            found.append(ConflictBlock(first.start(), mark.end(), ours, before, theirs, names))
            first = None
    return found


def conflicts(text: str) -> list[tuple[int, int]]:
    """Return the spans of the conflicts in a text, each from its first mark to the end of the line of its last."""
    return [(one.start, one.end - (text[one.end - 1] == "\n")) for one in sides(text)]


def conflict_in(text: str, where: str = "") -> BrokenFile | None:
    """Return what to say of the conflicts in a file; the message names all their lines. None where there is none.

    `where`: names the file, where it is not the document's first.
    """
    found = conflicts(text)
    if not found:
        return None
    places = [[line_and_column(text, at)[0] for at in span] for span in found]
    lines = ", ".join(f"{first} to {last}" for first, last in places)
    return BrokenFile(f"{CONFLICT}{where}, lines {lines}")


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
