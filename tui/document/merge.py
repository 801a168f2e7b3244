"""What to do when a text on the screen and the same text on disk both changed. Pure.

`merge_texts` merges what does not touch; `resolve` puts a text together from what the person chose where it does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from personas.files.text_file import encode
from personas.lines import changed_regions, split_lines
from personas.persona import read_persona
from personas.versions.merge import Hunk, merge3, stretches

Choice = Literal["ours", "theirs", "both"]


@dataclass(frozen=True, slots=True)
class MergeConflict:
    """Both sides changed the same lines.

    Attributes:
        base: the text both grew from.
        ours: what stands in the editor.
        theirs: what stands on disk.
        hunks: the places where they touch.
        parts: the text with these places in it, where they are not found by comparing the three texts.
    """

    base: str
    ours: str
    theirs: str
    hunks: tuple[Hunk, ...]
    parts: tuple[str | Hunk, ...] = ()


def merge_texts(base: str, ours: str, theirs: str) -> str | MergeConflict:
    """Return the one text that holds both sides' changes, or the conflict."""
    merge = merge3(base, ours, theirs)
    return merge.text if merge.text is not None else MergeConflict(base, ours, theirs, merge.conflicts)


def merge_files(base: str, ours: str, theirs: str) -> str | MergeConflict:
    """As `merge_texts`, for whole persona files: two that can be read do not become one that cannot. Pure."""
    merged = merge_texts(base, ours, theirs)
    if isinstance(merged, str) and spoils(merged, ours, theirs):
        return MergeConflict(base, ours, theirs, (Hunk(1, base, ours, theirs),))
    return merged


def spoils(text: str, *made_of: str) -> bool:
    """Whether a text is not a persona file although those that it was made of are. Pure."""
    return text not in made_of and _is_broken(text) and not any(map(_is_broken, made_of))


def _is_broken(text: str) -> bool:
    return read_persona("any", encode(text)).error is not None


def touch(base: str, ours: str, theirs: str) -> bool:
    """Whether both sides changed the same lines of `base`, be it in the same way."""
    lines = split_lines(base)
    mine, yours = (changed_regions(lines, split_lines(text)) for text in (ours, theirs))
    return any(a.old_start < b.old_end and b.old_start < a.old_end for a in mine for b in yours)


def is_newly_in_conflict(conflict: MergeConflict, before: str) -> bool:
    """Whether what was stored last takes part in the conflict; `before`: what was stored until then.

    It does not where both sides were in the same conflict until then, be it with more lines beside them.
    """
    earlier = merge_texts(conflict.base, conflict.ours, before)
    return isinstance(earlier, str) or not all(
        any(hunk.ours == one.ours and _holds(hunk.theirs, one.theirs) for one in earlier.hunks)
        for hunk in conflict.hunks
    )


def _holds(text: str, part: str) -> bool:
    """Whether some lines stand in a text, one after the other."""
    return text == part or (bool(part) and f"\n{part.rstrip(chr(10))}\n" in f"\n{text}\n")


def resolve(conflict: MergeConflict, choices: Sequence[Choice]) -> str:
    """Return the text with each touching place as chosen; elsewhere both sides' changes stand.

    Where both are chosen, ours stands first.

    Args:
        conflict: what is to be resolved.
        choices: one for each of `conflict.hunks`.
    """
    parts = list(conflict.parts or stretches(conflict.base, conflict.ours, conflict.theirs))
    if [part for part in parts if isinstance(part, Hunk)] != list(conflict.hunks):
        parts = list(conflict.hunks)  # one place that is the whole text
    chosen = iter(choices)
    return "".join(part if isinstance(part, str) else _chosen(part, next(chosen)) for part in parts)


def _chosen(hunk: Hunk, choice: Choice) -> str:
    if choice == "both":
        first, second = hunk.ours, hunk.theirs
        return first if not second else first + ("" if not first or first.endswith("\n") else "\n") + second
    return hunk.ours if choice == "ours" else hunk.theirs


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
