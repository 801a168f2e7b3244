"""How the program looks in this terminal: theme, colours, signs, mouse, and what of a picture is really sent."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from textual.theme import Theme

from tui.external_editor.process import ExternalEditor
from tui.terminal.capabilities import Capabilities, detect
from tui.terminal.palette import readable
from tui.terminal.sanitise import spell_out_too
from tui.terminal.textual_compat.colours import limit_colours
from tui.terminal.textual_compat.terminal_app import TerminalApp

if TYPE_CHECKING:
    from tui.settings.schema import Settings
    from tui.terminal.ascii_fallback import Charset


class Appearance(TerminalApp, inherit_bindings=False):
    """The program as the terminal gets it.

    Args:
        settings: the person's settings.
        env: the environment.
    """

    def __init__(self, settings: Settings, env: dict[str, str]) -> None:
        self.external_editor = ExternalEditor()
        self.settings = settings
        super().__init__()
        self._env = env
        self.capabilities = self._detected()
        self._told_theme = ""
        self._write_as_it_is: Callable[[str], None] = lambda _data: None

    def tell(self, message: str, *, error: bool = False) -> None:
        """Show a message for a moment."""
        raise NotImplementedError

    def begin_display(self) -> None:
        """The program begins: show the theme, and send what this terminal can show."""
        self._show_theme()
        if (driver := self._driver) is not None:
            self._write_as_it_is = driver.write
            self._choose_signs()
        if self.capabilities.calm:
            self.animation_level = "none"
        self.take_terminal()

    def get_theme(self, theme_name: str) -> Theme | None:
        theme = super().get_theme(theme_name)
        return None if theme is None else readable(theme)

    def _show_theme(self) -> None:
        theme = {"dark": "textual-dark", "light": "textual-light", "": "textual-dark"}.get(
            self.settings.theme, self.settings.theme
        )
        if theme in self.available_themes:
            self.theme = theme
        elif self.settings.theme != self._told_theme:
            self.call_later(self.tell, unknown_theme(self.settings.theme, self.available_themes), error=True)
        self._told_theme = self.settings.theme
        limit_colours(self, self.capabilities.colours)

    def _detected(self) -> Capabilities:
        """Return what the terminal can do, by the environment and the settings, which were checked when read."""
        settings = self.settings
        return detect(
            self._env,
            calm=settings.calm,  # type: ignore[arg-type]
            ascii_only=True if settings.glyphs == "ascii" else None,
            colours=settings.colours,  # type: ignore[arg-type]
        )

    def _choose_signs(self) -> None:
        """Send signs in ASCII, or as they are."""
        if (driver := self._driver) is None:
            return
        send = write = self._write_as_it_is
        self.charset = charset = self._taken()
        if not self.is_headless:
            spell_out_too(None if charset is None else charset.keeps)
        if charset is not None and not charset.takes_all:

            def send(data: str) -> None:
                write(charset.bare(data))

        driver.write = send  # type: ignore[method-assign, assignment]

    def _taken(self) -> Charset | None:
        """Return what the terminal takes; None where it takes everything, our signs too."""
        if not self.capabilities.ascii_only:
            return None
        from tui.terminal.ascii_fallback import charset_of

        return charset_of(self._env, getattr(sys.__stderr__, "encoding", None) or "ascii")

    @property
    def sends_only_changes(self) -> bool:
        return self.settings.repaint == "changed"

    @property
    def is_lent(self) -> bool:
        return self.external_editor.has_terminal

    def written_in(self) -> tuple[type, ...]:
        from textual.widgets import Input, TextArea

        from tui.widgets.conversation.scroll_view import EntryScrollView

        return TextArea, Input, EntryScrollView


def unknown_theme(name: str, themes: Iterable[str]) -> str:
    """Return what to say of a theme that does not exist."""
    from difflib import get_close_matches

    near = get_close_matches(name, ["dark", "light", *themes], n=1)
    hint = f"; did you mean {near[0]}?" if near else "; /settings lists them."
    return f"There is no theme {name!r}{hint}"
