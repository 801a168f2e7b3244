"""A terminal that is too small: a screen shows only that it is, and no key or click does anything that is not seen."""

from __future__ import annotations

from textwrap import wrap

from textual import events
from textual.geometry import Size

from tui.commands.registry import BY_ID, Keymap, keys_of
from tui.widgets.plain_text import LiteralStatic

SMALLEST = Size(60, 15)

STILL = ("copy", "quit", "redraw")
"""Commands whose keys work all the same: one can always stop what runs, and leave."""


class TooSmallOverlay(LiteralStatic):
    """Lies over a whole screen, and says that the terminal is too small."""

    DEFAULT_CSS = """
    TooSmallOverlay { layer: cover; width: 100%; height: 100%; content-align: center middle; text-align: center; background: $background; }
    """


def is_too_small(size: Size) -> bool:
    """Whether a terminal of this size has no room for the program."""
    return size.width < SMALLEST.width or size.height < SMALLEST.height


def too_small(size: Size) -> str:
    """Say that a terminal of this size is too small, in as many words as it has room for."""
    width, height = size
    needed = f"{SMALLEST.width}×{SMALLEST.height}"
    for text in (f"{width}×{height} is too small: at least {needed}", f"at least {needed}"):
        rows = wrap(text, max(1, width), break_long_words=False)
        if len(rows) <= height and max(map(len, rows)) <= width:
            return text
    return needed


def is_unseen(event: events.Event, keymap: Keymap, *, types: bool = False) -> bool:
    """Whether a key or a paste is for what is not seen in such a terminal.

    Args:
        event: the event.
        keymap: the person's own keys.
        types: text that is typed now is kept where it goes.
    """
    if isinstance(event, events.Paste):
        return not types
    if not isinstance(event, events.Key) or any(event.key in keys_of(BY_ID[name], keymap) for name in STILL):
        return False
    return not (event.is_printable and types)


def is_click(event: events.Event) -> bool:
    """Whether an event of the mouse begins something; what was pressed before can be let go of."""
    return isinstance(event, events.MouseEvent) and not isinstance(event, events.MouseUp)
