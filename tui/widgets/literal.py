"""The widgets for text that came from anywhere but this program's own source: always literal, never markup.

Everything dynamic goes to the screen through `content` or through one of these classes. They sanitise what they
are given and never read markup in it, so `[/]`, `[@click=app.quit]` and escape sequences are just characters.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rich.text import Text
from textual.content import Content
from textual.selection import Selection
from textual.visual import VisualType
from textual.widgets import Button, Label, OptionList, Static
from textual.widgets.option_list import Option

from tui.sanitise import one_line, sanitise

LABEL_LIMIT = 400
"""Cells a one-line label may have at most; more is cut with `…`."""


def content(text: str) -> Content:
    """Return `text` as harmless, literal content, line breaks kept."""
    return Content(sanitise(text))


def label(text: str, limit: int = LABEL_LIMIT) -> Content:
    """Return `text` as harmless, literal content of one line of at most `limit` cells."""
    return Content(one_line(text, limit))


def rich_text(text: str, limit: int = LABEL_LIMIT) -> Text:
    """Return `text` as one harmless line for the widgets that want a `rich.text.Text` (Tree, DataTable)."""
    return Text(one_line(text, limit), no_wrap=True, end="")


def _literal(value: VisualType) -> VisualType:
    """Make a string literal; content built by this program stays as it is."""
    return content(value) if isinstance(value, str) else value


class LiteralStatic(Static):
    """A `Static` that shows strings literally, line breaks kept."""

    def __init__(self, text: VisualType = "", **kwargs: Any) -> None:
        super().__init__(_literal(text), markup=False, **kwargs)

    def update(self, content: VisualType = "", *, layout: bool = True) -> None:
        """Show `content`; a string is taken literally."""
        super().update(_literal(content), layout=layout)

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Return the selected text; a selection that outlived the text it was made on is no error."""
        return _selected(self, selection)


class LiteralLabel(Label):
    """A `Label` that shows a string literally."""

    def __init__(self, text: VisualType = "", **kwargs: Any) -> None:
        super().__init__(_literal(text), markup=False, **kwargs)

    def update(self, content: VisualType = "", *, layout: bool = True) -> None:
        """Show `content`; a string is taken literally."""
        super().update(_literal(content), layout=layout)

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Return the selected text; a selection that outlived the text it was made on is no error."""
        return _selected(self, selection)


class LiteralButton(Button):
    """A `Button` whose label is one literal line. It never takes the focus when `focusable` is False."""

    def __init__(self, text: str = "", *, focusable: bool = True, **kwargs: Any) -> None:
        super().__init__(label(text), **kwargs)
        self.can_focus = focusable
        # A press that follows at once counts too, and no timer repaints the button.
        self.active_effect_duration = 0

    def set_label(self, text: str) -> None:
        """Show `text` on the button."""
        self.label = label(text)


def option(text: str, *, key: str | None = None, disabled: bool = False) -> Option:
    """Return an item for an `OptionList` that shows `text` as one literal line; `key` is its id."""
    return Option(label(text), id=key, disabled=disabled)


class LiteralOptionList(OptionList):
    """An `OptionList` whose string items are literal lines."""

    def __init__(self, *items: str | Option | None, **kwargs: Any) -> None:
        super().__init__(*(_as_option(item) for item in items), markup=False, **kwargs)

    def add_option(self, option: Any = None) -> LiteralOptionList:
        """Add one item; a string is taken literally."""
        super().add_option(_as_option(option))
        return self

    def add_options(self, new_options: Iterable[Any]) -> LiteralOptionList:
        """Add items; strings are taken literally."""
        super().add_options([_as_option(item) for item in new_options])
        return self


def _as_option(item: Any) -> Any:
    return option(item) if isinstance(item, str) else item


def _selected(widget: Static, selection: Selection) -> tuple[str, str] | None:
    lines = str(widget.render()).split("\n")
    start = selection.start
    if start is not None and start.y >= len(lines):
        return None
    return selection.extract("\n".join(lines)), "\n"
