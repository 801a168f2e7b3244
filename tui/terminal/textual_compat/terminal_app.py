"""The app as far as it writes to the terminal: only what changed, never waiting, the same picture in every terminal.

Overridden is `App._display`, the one place through which Textual 8.2.8 writes a screen, and what it does and prints when
a handler fails. Used besides are its driver, its loop, its clipboard, `_batch_count` and a screen's compositor, all
private. What each step is for says its own module.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import nullcontext, suppress
from typing import TYPE_CHECKING, Any, Self

from textual.app import App
from textual.screen import Screen

from tui.terminal.textual_compat import sigcont
from tui.terminal.textual_compat.cell_width import CursorPlacer
from tui.terminal.textual_compat.diff_rendering import SentCells

if TYPE_CHECKING:
    from tui.terminal.ascii_fallback import Charset
    from tui.terminal.textual_compat.nonblocking_writer import TerminalWriter


class TerminalApp(App[int], inherit_bindings=False):
    """An app in a terminal that may be slow, may be stopped, and may lack characters."""

    def __init__(self) -> None:
        self._sent = SentCells()  # Textual refreshes while it is set up
        self._owes_picture = False
        self._plain_write: Callable[[str], object] | None = None
        self.charset: Charset | None = None
        """What the terminal takes; None where it takes all, our signs too."""
        super().__init__()

    @property
    def sends_only_changes(self) -> bool:
        """Whether what the terminal shows already is not sent again."""
        return True

    @property
    def is_lent(self) -> bool:
        """Whether another program has the terminal."""
        return False

    def written_in(self) -> tuple[type, ...]:
        """Return the widgets that show what people and models write; asked where `charset` is set."""
        return ()

    def failed(self, error: Exception) -> None:
        """A handler failed: the program is about to end."""

    def _handle_exception(self, error: Exception) -> None:
        self.failed(error)
        super()._handle_exception(error)

    def _print_error_renderables(self) -> None:
        # What Textual would print is a traceback with local variables, and those hold people's texts.
        self._exit_renderables.clear()

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """The loop the program runs in."""
        assert self._loop is not None
        return self._loop

    @property
    def has_driver(self) -> bool:
        """Whether something takes what is sent."""
        return self._driver is not None

    def send(self, *sequences: str) -> None:
        """Send control sequences beside the picture."""
        if self._driver is not None:
            for sequence in sequences:
                self._driver.write(sequence)
            self._driver.flush()

    def change_output(self, change: Callable[[str], str] | None) -> None:
        """Send everything as `change` returns it from now on; None: as it is."""
        driver: Any = self._driver
        if driver is None:
            return
        write = self._plain_write = self._plain_write or driver.write

        def send(data: str) -> None:
            assert change is not None
            write(change(data))

        driver.write = write if change is None else send

    def keep_copied(self, text: str) -> None:
        """Take what was copied for what Textual's widgets paste; `copy_to_clipboard` sends it too."""
        self._clipboard = text

    def leave_terminal(self) -> None:
        """Give the terminal back, at once."""
        if self._driver is not None:
            self._driver.stop_application_mode()
            self._driver.close()

    def take_terminal(self) -> None:
        """The program begins: from now on draw everything anew when it goes on after a stop."""
        if self._driver is not None:
            sigcont.install_handler(self)
        self.app_resume_signal.subscribe(self, lambda _app: self.refresh(layout=True), immediate=True)

    def take_mouse(self, wanted: bool) -> None:
        """Take the mouse or leave it to the terminal; where the driver cannot, it holds from the next start.

        Textual decides that once, as an argument of `App.run`.
        """
        name = "_enable_mouse_support" if wanted else "_disable_mouse_support"
        if (switch := getattr(self._driver, name, None)) is not None:
            self._driver._mouse = True  # type: ignore[union-attr]  # else it does neither
            switch()

    def redraw(self) -> None:
        """Send the whole screen again."""
        if self._driver is not None:
            self._driver.write("\x1b[2J")
        self.refresh(repaint=True, layout=True)

    def refresh(self, *, repaint: bool = True, layout: bool = False, recompose: bool = False) -> Self:
        """Draw everything again, whatever the terminal shows by now."""
        self._sent.forget()
        return super().refresh(repaint=repaint, layout=layout, recompose=recompose)

    def _display(self, screen: Screen[Any], renderable: Any) -> None:
        # Only what is really written may be remembered as written.
        if self.is_lent or (renderable is not None and self._must_wait()):
            renderable = None
        is_written = self.is_running and not self.is_headless
        if renderable is not None and is_written:
            theirs = () if self.charset is None else self.written_in()
            renderable = CursorPlacer(screen._compositor, self.console, self.charset, theirs).place(
                renderable
            )
            if self.sends_only_changes and not self._batch_count:
                renderable = self._sent.reduce(renderable, self.console)
        with self._writer.picture() if self._writer is not None else nullcontext():
            super()._display(screen, renderable)

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

        def on_drained() -> None:
            with suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(self._catch_up)

        self._owes_picture = True
        writer.when_drained(on_drained)
        return True

    def _catch_up(self) -> None:
        """Draw the whole screen, of which something was left out."""
        self._owes_picture = False
        if self.is_running:
            self.refresh(layout=True)
