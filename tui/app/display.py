"""How the program looks in this terminal: theme, colours, signs, mouse, and what of a picture is really sent."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Protocol, cast

from tui.terminal.capabilities import Calm, Capabilities, Colours, detect
from tui.terminal.sanitise import spell_out_too
from tui.terminal.textual_compat.colours import limit_colours

if TYPE_CHECKING:
    from collections.abc import Mapping

    from textual.theme import Theme
    from textual.types import AnimationLevel

    from tui.settings.schema import Settings
    from tui.terminal.ascii_fallback import Charset


class DisplayedApp(Protocol):
    """What is shown; `PersonaApp` itself is not named here: both modules would import one another."""

    theme: str
    animation_level: AnimationLevel
    charset: Charset | None
    settings: Settings

    @property
    def available_themes(self) -> Mapping[str, Theme]: ...
    @property
    def is_headless(self) -> bool: ...
    def take_terminal(self) -> None: ...
    def change_output(self, change: Callable[[str], str] | None) -> None: ...
    def redraw(self) -> None: ...
    def call_later(self, callback: Callable[..., object], *args: object, **kwargs: object) -> bool: ...
    def show_message(self, message: str, *, error: bool = False) -> None: ...


class Display:
    """Shows a program as its settings and its terminal want it.

    Args:
        app: the program.
        env: the environment.

    Attributes:
        capabilities: what the terminal can do.
    """

    def __init__(self, app: DisplayedApp, env: dict[str, str]) -> None:
        self._app = app
        self._env = env
        self.capabilities = self._detected()
        self._warned_of_theme = ""

    def begin(self) -> None:
        """The program begins: show the theme, and send what this terminal can show."""
        self._show_theme()
        self._choose_signs()
        if self.capabilities.calm:
            self._app.animation_level = "none"
        self._app.take_terminal()

    def use_settings(self) -> None:
        """The settings are others now."""
        self._show_theme()
        self.capabilities = self._detected()
        self._app.animation_level = "none" if self.capabilities.calm else "full"
        self._choose_signs()
        self._app.redraw()

    def _show_theme(self) -> None:
        app, wanted = self._app, self._app.settings.theme
        theme = {"dark": "textual-dark", "light": "textual-light", "": "textual-dark"}.get(wanted, wanted)
        if theme in app.available_themes:
            app.theme = theme
        elif wanted != self._warned_of_theme:
            app.call_later(app.show_message, unknown_theme(wanted, app.available_themes), error=True)
        self._warned_of_theme = wanted
        limit_colours(app, self.capabilities.colours)

    def _detected(self) -> Capabilities:
        """Return what the terminal can do, by the environment and the settings, which were checked when read."""
        settings = self._app.settings
        return detect(
            self._env,
            calm=cast(Calm, settings.calm),
            ascii_only=True if settings.glyphs == "ascii" else None,
            colours=cast(Colours, settings.colours),
        )

    def _choose_signs(self) -> None:
        """Send signs in ASCII, or as they are."""
        self._app.charset = charset = self._taken()
        if not self._app.is_headless:
            spell_out_too(None if charset is None else charset.keeps)
        self._app.change_output(None if charset is None or charset.utf8 else charset.bare)

    def _taken(self) -> Charset | None:
        """Return what the terminal takes; None where it takes everything, our signs too."""
        if not self.capabilities.ascii_only:
            return None
        from tui.terminal.ascii_fallback import charset_of

        return charset_of(self._env)


def unknown_theme(name: str, themes: Iterable[str]) -> str:
    """Return what to say of a theme that does not exist."""
    from difflib import get_close_matches

    near = get_close_matches(name, ["dark", "light", *themes], n=1)
    hint = f"; did you mean {near[0]}?" if near else "; /settings lists them."
    return f"There is no theme {name!r}{hint}"
