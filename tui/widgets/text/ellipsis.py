"""Ending a text that does not fit with an ellipsis."""

from __future__ import annotations

from rich.cells import cell_len
from rich.segment import Segment
from textual.strip import Strip

from tui.widgets.text.virtual_static import VirtualStatic

SIGN = "…"


def with_ellipsis(strip: Strip, width: int) -> Strip:
    """Return a row of `width` cells that ends in an ellipsis after its last word or cell."""
    end = min(cell_len(strip.text.rstrip()), max(0, width - 1))
    row = strip.crop(0, end)
    style = next((segment.style for segment in reversed([*row]) if segment.text), None)
    return Strip.join([row, Strip([Segment(SIGN, style)]), strip.crop(end + 1)]).adjust_cell_length(width)


class EllipsisStatic(VirtualStatic):
    """A text of any length that ends in an ellipsis if it has fewer rows than it needs."""

    def render_line(self, y: int) -> Strip:
        strip = super().render_line(y)
        width, height = self.scrollable_content_region.size
        if y != height - 1 or self._render().get_height(self.styles.get_rules(), width) <= height:
            return strip
        return with_ellipsis(strip, width)
