"""What to do when a text on the screen and the same text on disk both changed. Pure.

`meet` merges what does not touch; `resolve` puts a text together from what the person chose where it does.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from personas.lines import changed_regions, split_lines
from personas.merge import Hunk, merge3

Choice = Literal["ours", "theirs", "both"]


@dataclass(frozen=True, slots=True)
class Clash:
    """Both sides changed the same lines.

    Attributes:
        base: the text both grew from.
        ours: what stands in the editor.
        theirs: what stands on disk.
        hunks: the places where they touch.
    """

    base: str
    ours: str
    theirs: str
    hunks: tuple[Hunk, ...]


def meet(base: str, ours: str, theirs: str) -> str | Clash:
    """Return the one text that holds both sides' changes, or the clash."""
    merge = merge3(base, ours, theirs)
    return merge.text if merge.text is not None else Clash(base, ours, theirs, merge.conflicts)


def touch(base: str, ours: str, theirs: str) -> bool:
    """Whether both sides changed the same lines of `base`, be it in the same way."""
    lines = split_lines(base)
    mine, yours = (changed_regions(lines, split_lines(text)) for text in (ours, theirs))
    return any(a.old_start < b.old_end and b.old_start < a.old_end for a in mine for b in yours)


def resolve(clash: Clash, choices: Sequence[Choice]) -> str:
    """Return the text with each touching place as chosen; elsewhere both sides' changes stand.

    Args:
        clash: what met.
        choices: one for each of `clash.hunks`.
    """
    wanted = [
        {"ours": hunk.ours, "theirs": hunk.theirs, "both": _joined(hunk.ours, hunk.theirs)}[choice]
        for hunk, choice in zip(clash.hunks, choices, strict=True)
    ]
    base = split_lines(clash.base)
    ours = _replaced(base, clash.ours, clash.hunks, [hunk.ours for hunk in clash.hunks], wanted)
    theirs = _replaced(base, clash.theirs, clash.hunks, [hunk.theirs for hunk in clash.hunks], wanted)
    merged = merge3(clash.base, ours, theirs).text
    if merged is not None:
        return merged
    # The places lie too close to be taken one by one: the first choice decides for the whole text.
    return clash.theirs if choices and choices[0] == "theirs" else clash.ours


def changed_lines(old: str, new: str) -> list[int]:
    """Return the numbers (from 0) of the lines of `new` that are not as in `old`.

    Where lines were only removed, the line that now stands in their place is named.
    """
    new_lines = split_lines(new)
    found: list[int] = []
    for region in changed_regions(split_lines(old), new_lines):
        last = region.new_end if region.new_end > region.new_start else region.new_start + 1
        found.extend(range(region.new_start, min(last, max(len(new_lines), 1))))
    return found


def moved(old: str, new: str, cursor: tuple[int, int]) -> tuple[int, int]:
    """Return where the words at `cursor`, a row and a column from 0, are in the new text."""
    row, column = cursor
    shift = 0
    for region in changed_regions(split_lines(old), split_lines(new)):
        if region.old_end <= row:
            shift += (region.new_end - region.new_start) - (region.old_end - region.old_start)
        elif region.old_start <= row:
            row = min(row, region.old_start + max(0, region.new_end - region.new_start - 1))
    return row + shift, column


def _joined(first: str, second: str) -> str:
    return first if not second else first + ("" if not first or first.endswith("\n") else "\n") + second


def _replaced(
    base: list[str], side: str, hunks: Sequence[Hunk], present: Sequence[str], wanted: Sequence[str]
) -> str:
    """Return one side with what is wanted in place of what it has, `present`, where each of the hunks lies."""
    lines = split_lines(side)
    regions = changed_regions(base, lines)
    ends = [region.old_end for region in regions]
    grown = [0]  # by how many lines the side is longer than the base, after so many of its changes
    for region in regions:
        grown.append(grown[-1] + (region.new_end - region.new_start) - (region.old_end - region.old_start))
    result = list(lines)
    # From below: what is replaced moves nothing above it.
    for hunk, old, new in sorted(zip(hunks, present, wanted, strict=True), key=lambda place: -place[0].line):
        start, old_lines = hunk.line - 1, split_lines(old)
        above = bisect_right(ends, start)
        # Text inserted right at the hunk's first line belongs to the hunk or stands before it; what is there tells.
        inserted = above > 0 and regions[above - 1].old_start == start
        for known in (above, above - 1) if inserted else (above,):
            at = start + grown[known]
            if lines[at : at + len(old_lines)] == old_lines:
                result[at : at + len(old_lines)] = split_lines(new)
                break
    return "".join(result)
