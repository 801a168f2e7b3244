"""Unified diffs, counts of added and removed lines, and the three-way merge. Pure, by lines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from personas.lines import Region, changed_regions, split_lines

_CONTEXT = 3


@dataclass(frozen=True, slots=True)
class Hunk:
    """A place where both sides changed the same lines: what each has there. `line` counts from 1 in the base."""

    line: int
    base: str
    ours: str
    theirs: str


@dataclass(frozen=True, slots=True)
class Merge:
    """The merged text, or None and the places where the two sides meet."""

    text: str | None
    conflicts: tuple[Hunk, ...] = ()


def count(old: str, new: str) -> tuple[int, int]:
    """Return how many lines were added and removed."""
    added = removed = 0
    for region in changed_regions(split_lines(old), split_lines(new)):
        added += region.new_end - region.new_start
        removed += region.old_end - region.old_start
    return added, removed


def unified_diff(old: str, new: str, from_name: str = "before", to_name: str = "after") -> str:
    """Return the difference as `diff -u` writes it, three lines of context; empty for equal texts."""
    old_lines, new_lines = split_lines(old), split_lines(new)
    regions = changed_regions(old_lines, new_lines)
    if not regions:
        return ""
    out = [f"--- {from_name}\n", f"+++ {to_name}\n"]
    for group in _groups(regions):
        out.extend(_hunk_lines(group, old_lines, new_lines))
    return "".join(out)


def _groups(regions: list[Region]) -> list[list[Region]]:
    """Put regions whose context would meet into one hunk."""
    groups = [[regions[0]]]
    for region in regions[1:]:
        if region.old_start - groups[-1][-1].old_end <= 2 * _CONTEXT:
            groups[-1].append(region)
        else:
            groups.append([region])
    return groups


def _hunk_lines(group: list[Region], old: list[str], new: list[str]) -> list[str]:
    first, last = group[0], group[-1]
    before = min(_CONTEXT, first.old_start)
    after = min(_CONTEXT, len(old) - last.old_end)
    i1, i2 = first.old_start - before, last.old_end + after
    j1, j2 = first.new_start - before, last.new_end + after
    out = [f"@@ -{_range(i1, i2)} +{_range(j1, j2)} @@\n"]
    at = i1
    for region in group:
        out.extend(_marked(" ", old[at : region.old_start]))
        out.extend(_marked("-", old[region.old_start : region.old_end]))
        out.extend(_marked("+", new[region.new_start : region.new_end]))
        at = region.old_end
    out.extend(_marked(" ", old[at:i2]))
    return out


def _range(start: int, end: int) -> str:
    length = end - start
    if length == 1:
        return str(start + 1)
    return f"{start + 1 if length else start},{length}"


def _marked(mark: str, lines: list[str]) -> list[str]:
    return [
        mark + line if line.endswith("\n") else f"{mark}{line}\n\\ No newline at end of file\n"
        for line in lines
    ]


def merge3(base: str, ours: str, theirs: str) -> Merge:
    """Merge two texts that grew from one base.

    Lines that only one side changed are taken from it; the same change on both sides is taken once. Where both
    changed the same lines differently, or inserted different text at the same place, there is a conflict.

    Returns:
        The merged text, or no text and every conflict.
    """
    if ours == theirs or base == theirs:
        return Merge(ours)
    if base == ours:
        return Merge(theirs)
    texts: list[str] = []
    conflicts: list[Hunk] = []
    for stretch in stretches(base, ours, theirs):
        if isinstance(stretch, Hunk):
            conflicts.append(stretch)
        else:
            texts.append(stretch)
    return Merge(None, tuple(conflicts)) if conflicts else Merge("".join(texts))


def stretches(base: str, ours: str, theirs: str) -> Iterator[str | Hunk]:
    """Yield the merged text from above: what stands, and in their places the hunks to choose from.

    Nothing follows a hunk in which a side ends without a newline, so that no choice glues two lines.
    """
    base_lines = split_lines(base)
    sides = (split_lines(ours), split_lines(theirs))
    regions = [changed_regions(base_lines, lines) for lines in sides]
    places = _pair(*regions)
    if len(places) > 1 and places[-2][1] == places[-1][0] == len(base_lines):
        start, end, mine, yours = places[-2]
        if any(
            not line.endswith("\n")
            for lines, own in zip(sides, (mine, yours), strict=True)
            for line in _side(lines, own, base_lines, start, end)
        ):
            # One side ends without a newline where the other goes on: they meet.
            *places, _, (_, end, *more) = places
            places.append((start, end, mine + more[0], yours + more[1]))
    at = 0
    for start, end, mine, yours in places:
        first, second = (
            "".join(_side(lines, own, base_lines, start, end))
            for lines, own in zip(sides, (mine, yours), strict=True)
        )
        yield "".join(base_lines[at:start])
        if not yours or first == second:
            yield first
        elif not mine:
            yield second
        else:
            yield Hunk(start + 1, "".join(base_lines[start:end]), first, second)
        at = end
    yield "".join(base_lines[at:])


def _pair(mine: list[Region], yours: list[Region]) -> list[tuple[int, int, list[Region], list[Region]]]:
    """Walk both lists of changes by base lines; changes that meet are returned together."""
    tagged = sorted([(r, 0) for r in mine] + [(r, 1) for r in yours], key=lambda item: item[0][:2])
    result: list[tuple[int, int, list[Region], list[Region]]] = []
    for region, side in tagged:
        start, end, first, second = result[-1] if result else (-1, -1, [], [])
        if _overlaps(end, first if side else second, region):
            result.pop()
            end = max(end, region.old_end)
        else:
            start, end, first, second = region.old_start, region.old_end, [], []
        (second if side else first).append(region)
        result.append((start, end, first, second))
    return result


def _overlaps(end: int, others: list[Region], region: Region) -> bool:
    """Whether a change shares base lines with the ones before it, which reach up to `end`.

    Two changes that only border are apart, unless both add lines there: which comes first would be a guess.
    """
    if region.old_start != end:
        return region.old_start < end
    return _grows(region) and any(other.old_end == end and _grows(other) for other in others)


def _grows(region: Region) -> bool:
    return region.new_end - region.new_start > region.old_end - region.old_start


def _side(lines: list[str], regions: list[Region], base: list[str], start: int, end: int) -> list[str]:
    """Return what one side has in place of the base lines `start:end`."""
    out: list[str] = []
    at = start
    for region in regions:
        out.extend(base[at : region.old_start])
        out.extend(lines[region.new_start : region.new_end])
        at = region.old_end
    out.extend(base[at:end])
    return out
