"""Colours of the theme for widgets that draw their own lines.

A component class costs a pass of the style sheet for each widget that has it, before the first paint; these
are looked up when a line is drawn, once for each colour.
"""

from __future__ import annotations

from rich.style import Style
from textual.color import Color, ColorParseError
from textual.widget import Widget

_cache: dict[tuple[object, ...], Style] = {}


def ink(widget: Widget, fore: str = "", back: str = "", *, bold: bool = False) -> Style:
    """Return a style over `widget`'s own background.

    Args:
        widget: on what it is drawn.
        fore: a colour of the theme such as `text-accent`, empty for none; "contrast" for black or white, whichever
            can be read on `back`.
        back: the same for the background.
        bold: whether it is bold.
    """
    # Not by the theme's name: Textual works out its colours a moment after it is set.
    variables = widget.app.theme_variables
    ground = widget.background_colors[1]
    key = (variables.get(fore), fore, variables.get(back), back, variables.get("foreground"), bold, ground)
    style = _cache.get(key)
    if style is None:
        under = ground + _colour(variables, back) if back else ground
        text = under.get_contrast_text(0.95) if fore == "contrast" else _colour(variables, fore)
        over = (under + text).rich_color if fore else None
        style = Style(color=over, bgcolor=under.rich_color if back else None, bold=True if bold else None)
        if len(_cache) > 500:
            _cache.clear()
        _cache[key] = style
    return style


def _colour(variables: dict[str, str], name: str) -> Color:
    try:
        return Color.parse(variables[name])
    except (KeyError, ColorParseError):
        return Color.parse(variables["foreground"])
