"""Links in a row of text, which Textual 8.2.8 styles by a private method while nothing is being selected."""

from __future__ import annotations

from textual.strip import Strip
from textual.widget import Widget


def with_link_style(widget: Widget, row: Strip) -> Strip:
    """Return a row of a widget with its links in their style."""
    if widget.auto_links and not widget.screen._selecting:
        return row._apply_link_style(widget.link_style)
    return row
