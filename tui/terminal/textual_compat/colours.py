"""Changing how many colours a running app sends.

Textual 8.2.8 decides that once, from the environment: its filters (`App._filters`) and the console's colour system are
private, and what widgets have drawn before is kept in `Widget._styles_cache`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textual.color import Color

from tui.terminal.palette import Limit, NoColours

if TYPE_CHECKING:
    from tui.terminal.capabilities import Colours


def limit_colours(app: Any, colours: Colours) -> None:
    """Have a Textual app send these colours and no others from now on."""
    from rich.color import ColorSystem
    from textual.filter import Monochrome, NoColor

    app._filters = [one for one in app._filters if not isinstance(one, (Monochrome, NoColor, Limit))]
    if colours == "none":
        app._filters.append(NoColours(Color.parse(app.theme_variables["background"])))
    elif colours == "16":
        from tui.terminal.ansi16 import Sixteen

        app._filters.append(Sixteen())
    if not hasattr(app, "_found_colours"):
        app._found_colours = app.console._color_system
    app.console._color_system = ColorSystem.STANDARD if colours == "16" else app._found_colours
    for screen in app.screen_stack:
        for widget in screen.walk_children(with_self=True):
            widget._styles_cache.clear()
            widget.refresh()
