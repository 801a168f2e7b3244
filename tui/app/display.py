"""How the program looks in this terminal: theme, colours, signs, mouse, and what of a picture is really sent."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from contextlib import nullcontext, suppress
from typing import TYPE_CHECKING, Any, Self

from textual.app import App
from textual.screen import Screen
from textual.theme import Theme

from tui.app.sigcont import heed as heed_continuing
from tui.external_editor.process import ExternalEditor
from tui.terminal.capabilities import Capabilities, detect
from tui.terminal.palette import limit_colours, readable
from tui.terminal.sanitise import spell_out_too
from tui.terminal.textual_compat.cell_width import Placing
from tui.terminal.textual_compat.diff_rendering import SentCells

if TYPE_CHECKING:
    from tui.settings.schema import Settings
    from tui.terminal.ascii_fallback import Charset
    from tui.terminal.textual_compat.nonblocking_writer import TerminalWriter


class Appearance(App[int], inherit_bindings=False):
    """The program as the terminal gets it.

    Args:
        settings: the person's settings.
        env: the environment.
    """

    def __init__(self, settings: Settings, env: dict[str, str]) -> None:
        self._sent = SentCells()  # Textual refreshes while it is set up
        self._owes_picture = False
        self._charset: Charset | None = None
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

    def _take_terminal(self) -> None:
        """The program begins: show the theme, and send what this terminal can show."""
        self._show_theme()
        if (driver := self._driver) is not None:
            self._write_as_it_is = driver.write
            self._choose_signs()
            heed_continuing(self)
        if self.capabilities.calm:
            self.animation_level = "none"
        # Stopped by a signal, it goes on: its screen is a new, empty one.
        self.app_resume_signal.subscribe(self, lambda _app: self.refresh(layout=True), immediate=True)

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
        self._charset = charset = self._taken()
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

    def _take_mouse(self, wanted: bool) -> None:
        """Take the mouse or leave it to the terminal; where the driver cannot, it holds from the next start."""
        name = "_enable_mouse_support" if wanted else "_disable_mouse_support"
        if (switch := getattr(self._driver, name, None)) is not None:
            self._driver._mouse = True  # type: ignore[union-attr]  # else it does neither
            switch()

    def refresh(self, *, repaint: bool = True, layout: bool = False, recompose: bool = False) -> Self:
        """Draw everything again, whatever the terminal shows by now."""
        self._sent.forget()
        return super().refresh(repaint=repaint, layout=layout, recompose=recompose)

    def _display(self, screen: Screen[Any], renderable: Any) -> None:
        # Only what is really written may be remembered as written.
        if self.external_editor.has_terminal or (renderable is not None and self._must_wait()):
            renderable = None
        if renderable is not None and self.is_running and not self.is_headless:
            renderable = self._placed(screen, renderable)
        if renderable is not None and self._writes:
            renderable = self._sent.reduce(renderable, self.console)
        with self._writer.picture() if self._writer is not None else nullcontext():
            super()._display(screen, renderable)

    def _placed(self, screen: Screen[Any], renderable: Any) -> Any:
        """Return what is about to be written so that it is the same picture in every terminal."""
        placing = Placing(screen._compositor, self.console)
        if self._charset is not None:
            from textual.widgets import Input, TextArea

            from tui.widgets.conversation.scroll_view import EntryScrollView

            theirs = (TextArea, Input, EntryScrollView)
            placing = Placing(screen._compositor, self.console, self._charset, theirs)
        return placing.place(renderable)

    @property
    def _writer(self) -> TerminalWriter | None:
        """What writes to the terminal, where it is one that never waits."""
        writer = getattr(self._driver, "_writer_thread", None)
        return writer if hasattr(writer, "when_drained") else None

    def _must_wait(self) -> bool:
        """Whether the terminal takes too little for another picture; the whole screen follows when it has caught up."""
        writer, loop = self._writer, self._loop
        if self._owes_picture or writer is None or loop is None or not writer.is_behind:
            return self._owes_picture

        def tell() -> None:
            with suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(self._catch_up)

        self._owes_picture = True
        writer.when_drained(tell)
        return True

    def _catch_up(self) -> None:
        """Draw the whole screen, of which something was left out."""
        self._owes_picture = False
        if self.is_running:
            self.refresh(layout=True)

    @property
    def _writes(self) -> bool:
        """Whether what is displayed goes to a terminal, and what it shows already need not."""
        return (
            self.settings.repaint == "changed"
            and self.is_running
            and not (self._batch_count or self.is_headless)
        )

    def redraw(self) -> None:
        """Send the whole screen again."""
        if self._driver is not None:
            self._driver.write("\x1b[2J")
        self.refresh(repaint=True, layout=True)


def unknown_theme(name: str, themes: Iterable[str]) -> str:
    """Return what to say of a theme that does not exist."""
    from difflib import get_close_matches

    near = get_close_matches(name, ["dark", "light", *themes], n=1)
    hint = f"; did you mean {near[0]}?" if near else "; /settings lists them."
    return f"There is no theme {name!r}{hint}"
