"""Hints that name a key: a click on one presses that key."""

from __future__ import annotations

from typing import Any

from rich.style import Style as RichStyle
from textual import events
from textual.app import App
from textual.content import Content
from textual.keys import key_to_character
from textual.style import Style

from tui.widgets.plain_text import content

PRESSES = "presses"


def pressing(text: str, key: str) -> Content:
    """Return literal text that presses a key when it is clicked."""
    return content(text).stylize(Style.from_meta({PRESSES: key})) if key else content(text)


def pressing_style(key: str) -> RichStyle:
    """Return the same as a style, for widgets that draw their own lines."""
    return RichStyle.from_meta({PRESSES: key})


def key_under(event: events.MouseEvent) -> str:
    """Return the key of the hint under the mouse; empty for none."""
    return str(event.style.meta.get(PRESSES, ""))


def press(app: App[Any], key: str) -> None:
    """Press a key."""
    event = events.Key(key, key_to_character(key))
    event.set_sender(
        app
    )  # else the sender is the dialog that was clicked, which then does not get the key itself
    app.post_message(event)
