"""Cutting a row of the screen between characters as people see them: an emoji of several is kept whole.

Rich 15 cuts a text where the characters before the cut have the right width, and a family emoji has that width
from its first member on; the rest of it then stands on the other side, and the row is a cell short. `install`
puts a cut in place that counts in graphemes, as Rich itself does when it measures. (Textualize/rich#3299 was the same
for wide characters.)
"""

from __future__ import annotations

from functools import lru_cache

from rich.cells import split_text
from rich.segment import Segment


def split_segment(segment: Segment, cut: int) -> tuple[Segment, Segment]:
    """Return what of a segment stands before and after `cut` cells; a wide sign that is cut becomes two spaces."""
    text, style, control = segment
    if cut >= segment.cell_length:
        return segment, Segment("", style, control)
    before, after = split_text(text, cut)
    return Segment(before, style, control), Segment(after, style, control)


@lru_cache(16 * 1024)
def _split_cells(_cls: type[Segment], segment: Segment, cut: int) -> tuple[Segment, Segment]:
    return split_segment(segment, cut)


def install() -> None:
    """Let every cut of a row keep graphemes whole. Calling it again changes nothing."""
    Segment._split_cells = classmethod(_split_cells)  # type: ignore[assignment, arg-type]
