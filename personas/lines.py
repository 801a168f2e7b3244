"""Line diffs and common prefixes of two texts, fast also where they are long or repeat themselves. Pure."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from typing import NamedTuple

_PAIRS_LIMIT = 50_000  # pairs of equal lines that difflib may look at in one gap
_DEPTH_LIMIT = 16


class Region(NamedTuple):
    """Lines `old_start:old_end` of the old text became lines `new_start:new_end` of the new one."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int


def split_lines(text: str) -> list[str]:
    """Split at newlines only (form feeds and U+2028 are text), each line with its newline."""
    lines = text.split("\n")
    last = lines.pop()
    result = [line + "\n" for line in lines]
    if last:
        result.append(last)
    return result


def common_length(first: str, second: str) -> int:
    """Return how many characters both have in common at the start; the work is done in C."""
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        if first[low:middle] == second[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def changed_regions(old: list[str], new: list[str]) -> list[Region]:
    """Return the regions that differ, ascending; lines between them are equal."""
    if old == new:
        return []
    regions: list[Region] = []
    stack = [(0, len(old), 0, len(new), 0)]
    while stack:
        i1, i2, j1, j2, depth = stack.pop()
        while i1 < i2 and j1 < j2 and old[i1] == new[j1]:
            i1 += 1
            j1 += 1
        while i1 < i2 and j1 < j2 and old[i2 - 1] == new[j2 - 1]:
            i2 -= 1
            j2 -= 1
        if i1 == i2 and j1 == j2:
            continue
        if i1 == i2 or j1 == j2:
            regions.append(Region(i1, i2, j1, j2))
        elif depth < _DEPTH_LIMIT and (anchors := _anchors(old[i1:i2], new[j1:j2])):
            _push_gaps(stack, anchors, (i1, i2, j1, j2), depth + 1)
        else:
            regions.extend(_compare(old, new, i1, i2, j1, j2))
    regions.sort()
    return _joined(regions)


def _anchors(old: list[str], new: list[str]) -> list[tuple[int, int]]:
    """Return the longest ascending list of lines that occur exactly once in both."""
    old_counts, new_counts = Counter(old), Counter(new)
    where = {line: i for i, line in enumerate(old) if old_counts[line] == 1 and new_counts[line] == 1}
    if not where:
        return []
    pairs = [(where[line], j) for j, line in enumerate(new) if line in where]
    ends: list[int] = []  # ends[k]: smallest last old index of an ascending list of length k + 1
    chosen: list[int] = []  # the pair behind each end
    before = [-1] * len(pairs)
    for index, (i, _) in enumerate(pairs):
        k = bisect_left(ends, i)
        if k:
            before[index] = chosen[k - 1]
        if k == len(ends):
            ends.append(i)
            chosen.append(index)
        else:
            ends[k] = i
            chosen[k] = index
    result = []
    index = chosen[-1]
    while index >= 0:
        result.append(pairs[index])
        index = before[index]
    result.reverse()
    return result


def _push_gaps(
    stack: list[tuple[int, int, int, int, int]],
    anchors: list[tuple[int, int]],
    span: tuple[int, int, int, int],
    depth: int,
) -> None:
    i1, i2, j1, j2 = span
    i, j = i1, j1
    for a, b in anchors:
        if i < i1 + a or j < j1 + b:
            stack.append((i, i1 + a, j, j1 + b, depth))
        i, j = i1 + a + 1, j1 + b + 1
    if i < i2 or j < j2:
        stack.append((i, i2, j, j2, depth))


def _compare(old: list[str], new: list[str], i1: int, i2: int, j1: int, j2: int) -> list[Region]:
    """Compare a gap without unique lines: with difflib where it is small, else as one region."""
    new_counts = Counter(new[j1:j2])
    if sum(new_counts[line] for line in old[i1:i2]) > _PAIRS_LIMIT:
        return [Region(i1, i2, j1, j2)]
    from difflib import SequenceMatcher

    codes = SequenceMatcher(None, old[i1:i2], new[j1:j2], autojunk=False).get_opcodes()
    return [Region(i1 + a, i1 + b, j1 + c, j1 + d) for kind, a, b, c, d in codes if kind != "equal"]


def _joined(regions: list[Region]) -> list[Region]:
    """Join regions with nothing equal between them."""
    result: list[Region] = []
    for region in regions:
        if result and result[-1].old_end == region.old_start and result[-1].new_end == region.new_start:
            last = result.pop()
            region = Region(last.old_start, region.old_end, last.new_start, region.new_end)
        result.append(region)
    return result
