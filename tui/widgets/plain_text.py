"""Widgets for text from outside of the program: always literal, never markup.

All dynamic text goes to the screen through `content` or one of these classes. They sanitise it and read no markup, so
`[/]`, `[@click=app.quit]` and escape sequences are just characters.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from textual.content import Content
from textual.selection import Selection
from textual.visual import VisualType
from textual.widgets import Button, Static

from tui.terminal.sanitise import one_line, sanitise

LABEL_LIMIT = 400
"""Cells a one-line label may have at most; more is cut with `…`."""


def content(text: str) -> Content:
    """Return `text` as sanitised, literal content, line breaks kept."""
    return Content(sanitise(text))


def label(text: str, limit: int = LABEL_LIMIT) -> Content:
    """Return `text` as sanitised, literal content of one line of at most `limit` cells."""
    return Content(one_line(text, limit))


def marked(
    text: str, spans: Sequence[tuple[int, int]], style: str = "bold underline $text-warning"
) -> Content:
    """Return a text as sanitised, literal content with some stretches (begin, end) of it in a style."""
    parts: list[str | tuple[str, str]] = []
    at = 0
    for begin, end in spans:
        parts += [sanitise(text[at:begin]), (sanitise(text[begin:end]), style)]
        at = end
    return Content.assemble(*parts, sanitise(text[at:]))


def in_one_line(text: str) -> str:
    """Return `text` as a field of one line holds it: a space for each line end."""
    return " ".join(text.splitlines()) if "\n" in text or "\r" in text else text


def _literal(value: VisualType) -> VisualType:
    """Make a string literal; content built by this program stays as it is."""
    return content(value) if isinstance(value, str) else value


def _is_shown(widget: Static, value: VisualType) -> bool:
    now = widget.content
    return isinstance(now, Content) and isinstance(value, Content) and now.is_same(value)


class LiteralStatic(Static):
    """A `Static` that shows strings literally, line breaks kept."""

    def __init__(self, text: VisualType = "", **kwargs: Any) -> None:
        super().__init__(_literal(text), markup=False, **kwargs)

    def update(self, content: VisualType = "", *, layout: bool = True) -> None:
        """Show `content`; a string is taken literally. What is shown already is not laid out again."""
        if not _is_shown(self, shown := _literal(content)):
            super().update(shown, layout=layout)

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Return the selected text; none where the text has fewer lines now."""
        return _selected(self, selection)


class NotSelectable:
    """Text that is not part of a selection on the screen: signs, titles, rows, and fields, which have their own."""

    def get_selection(self, selection: Selection) -> None:
        """Return no text."""


class LiteralLabel(NotSelectable, LiteralStatic):
    """A `LiteralStatic` as wide as its text. Textual's `Label` has styles for variants, which nothing here uses."""

    DEFAULT_CSS = "LiteralLabel { width: auto; min-height: 1; }"


class LiteralButton(NotSelectable, Button, inherit_css=False):
    """A `Button` whose label is one literal line, without a border. It never takes the focus when `focusable` is False.

    It has its own style: the style sheet of Textual's buttons is a third of what is parsed before the first paint.
    """

    DEFAULT_CSS = """
    LiteralButton {
        width: auto;
        min-width: 16;
        height: auto;
        line-pad: 1;
        text-align: center;
        content-align: center middle;
        text-style: bold;
        color: $button-foreground;
        background: $surface;
        pointer: pointer;
        &:hover { background: $surface-darken-1; }
        &.-active { background: $surface; tint: $background 30%; }
        &.-primary { color: $text-primary; }
        &.-error { color: $text-error; }
        &:focus { color: auto 95%; }
    }
    """

    def __init__(self, text: str = "", *, focusable: bool = True, classes: str = "", **kwargs: Any) -> None:
        # The class that Textual would add a moment later, at the cost of styling the button again.
        super().__init__(label(text), classes=f"{classes} -style-default", **kwargs)
        self.can_focus = focusable
        # A second press right after the first one counts, and no timer repaints the button.
        self.active_effect_duration = 0

    def set_label(self, text: str) -> None:
        """Show `text` on the button."""
        self.label = label(text)


def _selected(widget: Static, selection: Selection) -> tuple[str, str] | None:
    lines = str(widget.render()).split("\n")
    start = selection.start
    if start is not None and start.y >= len(lines):
        return None
    return selection.extract("\n".join(lines)), "\n"
