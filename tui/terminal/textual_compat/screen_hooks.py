"""What a screen decides before Textual 8.2.8 does it by private methods: which events reach widgets, who gets the focus."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textual import events
from textual.css.types import CSSLocation
from textual.widget import Widget

if TYPE_CHECKING:
    from textual.screen import Screen

    _Base = Screen[Any]
else:
    _Base = object


class ScreenHooks(_Base):
    """For a screen. As they are here, Textual does what it does."""

    style_first: Widget | None = None
    """The widget whose style is parsed first.

    Textual parses the style of a base class again for each widget that is further away from it than those before: this
    is the furthest.
    """

    def lets_through(self, event: events.Event) -> bool:
        """Whether an event reaches the widgets. `on_event` of the app is too early: forwarded events pass it twice."""
        return True

    def moves_focus(self, widget: Widget, avoiding: list[Widget] | None) -> bool:
        """Whether Textual gives the focus to what stands beside a widget, which vanishes; `avoiding`: not to these."""
        return True

    def _forward_event(self, event: events.Event) -> None:
        if self.lets_through(event):
            super()._forward_event(event)

    def _reset_focus(self, widget: Widget, avoiding: list[Widget] | None = None) -> None:
        if self.moves_focus(widget, avoiding):
            super()._reset_focus(widget, avoiding)

    def _get_default_css(self) -> list[tuple[CSSLocation, str, int, str]]:
        first = self.style_first._get_default_css() if self.style_first is not None else []
        return [*first, *super()._get_default_css()]


def has_keys(widget: Widget, screen: Screen[Any]) -> bool:
    """Whether a widget, mounted or not, has the focus, or will have it once the terminal has its focus back."""
    return widget in (screen.focused, screen.app._last_focused_on_app_blur)
