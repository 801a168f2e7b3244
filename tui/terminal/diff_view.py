"""How a unified diff is shown: exactly, since people agree to changes by it. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tui.terminal.sanitise import spelled_out
from tui.terminal.word_diffs import CharRange, differences

_HEADING = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")

_COUNTS = re.compile(r"(\+\d{1,9}) -(?=\d)")

FILE_LINES = ("--- ", "+++ ")
_REPLACED = re.compile(r"(-+)\++")
"""The signs of lines that went, and of those that came in their place."""

_NO_LINE_END = "\\ No newline at end of file"

LONGEST = 200_000
"""Characters of a diff that are shown."""


def diff_lines(diff: str, *, names: bool = False) -> list[str]:
    """Return the lines of a unified diff, harmless and with nothing left out.

    Only a newline ends a line: another line break in a changed text would let an added line pose as an old one.
    Carriage returns that end every line (a file from Windows) are no change and are left out.

    Args:
        diff: as stored.
        names: keep the two lines that name what is compared, and all else as `diff -u` writes it.
    """
    lines = diff.split("\n")
    named = len(lines) > 1 and all(map(str.startswith, lines, FILE_LINES))
    head, lines = (
        (lines[:2], lines[2:]) if named else ([], lines)
    )  # only there: a changed line may look the same
    own = [line for line in lines if line[:1] in (" ", "+", "-")]
    if own and all(line.endswith("\r") for line in own):
        lines = [line.removesuffix("\r") for line in lines]
    if names:
        lines = [*head, *lines]
    else:
        lines = ["(no line end at the end)" if line == _NO_LINE_END else line for line in lines]
    return [spelled_out(line) for line in lines]


def shown_counts(text: str) -> str:
    """Return what the store tells of a change with the sign for lines that went that is on the screen elsewhere."""
    return _COUNTS.sub(r"\1 −", text)


def close_context(diff: str) -> str:
    """Return a unified diff with one line of context on each side of a change: what changes has to be in sight.

    Each heading says which lines stand below it; where lines are left out between two changes, one more does.
    """
    lines = diff.split("\n")
    if len(lines) > 1 and all(map(str.startswith, lines, FILE_LINES)):
        del lines[:2]
    changed = [line[:1] in ("+", "-") for line in lines]
    kept: list[str] = []
    old = new = 0  # the numbers of the next line on either side; 0: no heading has told
    heading: int | None = None  # where the heading of the present stretch stands
    title = ""  # what stands behind its numbers
    begun = (0, 0)

    def close() -> None:
        if heading is not None and old:
            kept[heading] = f"@@ -{_range(begun[0], old)} +{_range(begun[1], new)} @@{title}"

    for place, line in enumerate(lines):
        sign = line[:1]
        if sign == "@":
            close()
            found = _HEADING.match(line)
            title = line[found.end() :] if found else ""
            old, new = (_first(*found.group(1, 2)), _first(*found.group(3, 4))) if found else (0, 0)
            heading = None
            if not found:
                kept.append(line)
            continue
        if any(changed[max(0, place - 1) : place + 2]):
            if heading is None and old:
                heading, begun = len(kept), (old, new)
                kept.append("")
            kept.append(line)
        else:
            close()
            heading = None
        old += bool(old) and sign in (" ", "-")
        new += bool(old) and sign in (" ", "+")
    close()
    return "\n".join(kept)


def changed_words(lines: Sequence[str]) -> dict[int, list[CharRange]]:
    """Return where words differ (begin, end) in the lines of a diff that took the place of others, by their numbers.

    Args:
        lines: of a unified diff, each with its sign.
    """
    found: dict[int, list[CharRange]] = {}
    signs = "".join(line[:1] or " " for line in lines)
    for block in _REPLACED.finditer(signs):
        middle = block.end(1)
        sides = (block.start(), middle), (middle, block.end())
        texts = ["\n".join(line[1:] for line in lines[first:last]) for first, last in sides]
        for (first, last), spans in zip(sides, differences(*texts), strict=True):
            begin = 0
            for number in range(first, last):
                end = begin + len(lines[number]) - 1
                found[number] = [
                    (max(start, begin) - begin + 1, min(stop, end) - begin + 1)
                    for start, stop in spans
                    if start < end and stop > begin
                ]
                begin = end + 1
    return found


def _first(start: str, count: str | None) -> int:
    """Return the number of the first line after a heading; one of no lines names the line before it."""
    return int(start) + (count == "0")


def _range(begin: int, end: int) -> str:
    count = end - begin
    return f"{begin - (not count)}{'' if count == 1 else f',{count}'}"
