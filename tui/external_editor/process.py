"""The process of the person's editor: it has the terminal while this program is suspended and goes on in the background."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
import signal
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from personas.errors import PersonaError
from tui.terminal.tty import is_gone, terminal_modes

if TYPE_CHECKING:
    from textual.app import App

_TO_END = {signal.SIGTERM, signal.SIGINT, getattr(signal, "SIGHUP", signal.SIGTERM)}
"""Signals that ask any program to end; the others mean something else to many."""

BY_KEYS = frozenset({signal.SIGINT, getattr(signal, "SIGQUIT", signal.SIGINT)})
"""Signals that keys send in an ordinary terminal, to all programs in it."""

END_WITHIN = 0.3
"""Seconds that the editor gets to end when this program must."""


class EditorFailed(PersonaError):
    """The editor ran and said that it failed; what it had saved is in the file."""


class ExternalEditor:
    """At most one editor at a time."""

    def __init__(self) -> None:
        self.has_terminal = False
        self.ending = False
        """Whether this program must end, and asked the editor to."""
        self.has_ended = True
        """Whether no editor is left running."""
        self._in_use = asyncio.Lock()
        self._process: asyncio.subprocess.Process | None = None
        self._number: int = signal.SIGTERM
        self._waiting: asyncio.Future[int] | None = None

    @contextlib.asynccontextmanager
    async def reserved(self) -> Any:
        """Reserve the editor for the length of an `async with` block; gives whether it was free."""
        if self._in_use.locked() or self.ending:
            yield False
            return
        async with self._in_use:
            yield True

    async def run(self, app: App[Any], *files: Path) -> bool:
        """Run the editor on files and wait for it; what runs in this program goes on meanwhile.

        Args:
            app: whose terminal it gets.
            files: what it gets to edit.

        Returns:
            Whether it ended; False where this program must end first.

        Raises:
            EditorFailed: it ended with a code other than 0.
            PersonaError: it could not be started.
        """
        from textual.app import SuspendNotSupported

        command = [*editor_command(), *map(str, files)]
        try:
            code = await self._run(app, command)
        except SuspendNotSupported:
            raise PersonaError("This terminal cannot be handed to another program.") from None
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else str(error)
            raise PersonaError(f"Cannot start {command[0]}: {why}. Set another editor in $EDITOR.") from None
        if self.ending or code is None:
            return False
        if code:
            how = f"ended with code {code}" if code > 0 else f"was ended by signal {-code}"
            raise EditorFailed(f"{Path(command[0]).name} {how}.")
        return True

    async def _run(self, app: App[Any], command: Sequence[str]) -> int | None:
        code, failure = None, None
        with app.suspend():
            self.has_terminal = True
            modes = terminal_modes(0)
            try:
                with _no_signals_by_keys():
                    code = await self._until_ended(command)
            except (OSError, ValueError, asyncio.CancelledError) as error:
                failure = error  # what leaves this block leaves the terminal suspended
            self._process = self._waiting = None
            if not app.is_running or (self.ending and is_gone(0)):
                raise failure or asyncio.CancelledError
            _take_back(modes)
            app.keys.forget()  # type: ignore[attr-defined]
            self.has_terminal = False
        app.refresh(layout=True, repaint=True)
        if failure is not None:
            raise failure
        return code

    async def _until_ended(self, command: Sequence[str]) -> int | None:
        if self.ending:
            return None
        self._process = await asyncio.create_subprocess_exec(*command)
        self.has_ended = False
        if self.ending:  # a signal came while it began
            self.end(self._number)
        self._waiting = asyncio.ensure_future(self._process.wait())
        await asyncio.wait({self._waiting})
        self.has_ended = not self._waiting.cancelled()
        return None if self._waiting.cancelled() else self._waiting.result()

    def end(self, number: int) -> None:
        """This program must end, by this signal: the editor gets the same, if it is one that says so."""
        self.ending = True
        self._number = number if number in _TO_END else signal.SIGTERM
        if self._process is not None:
            with contextlib.suppress(OSError):
                self._process.send_signal(self._number)

    async def closed(self) -> None:
        """Wait until the editor has ended and what was written in it is taken over."""
        async with self._in_use:
            pass

    async def give_up(self) -> None:
        """Wait for that a short time, then take the terminal back."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.closed(), END_WITHIN)
        if self._waiting is not None:
            self._waiting.cancel()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.closed(), END_WITHIN)


def editor_command(env: Mapping[str, str] = os.environ) -> list[str]:
    """Return the command of the person's editor.

    Raises:
        PersonaError: none is set and none of the usual ones is there, or it cannot be read as a command.
    """
    import shutil

    for name in ("VISUAL", "EDITOR"):
        if command := env.get(name, "").strip():
            try:
                return shlex.split(command)
            except ValueError as error:
                why = str(error)[:1].lower() + str(error)[1:]
                raise PersonaError(f"${name} is not a command ({why}): {command}. Set it again.") from None
    for usual in ("nano", "vim", "vi"):
        if found := shutil.which(usual):
            return [found]
    raise PersonaError("No editor is set; name one in $EDITOR.")


@contextlib.contextmanager
def _no_signals_by_keys() -> Iterator[None]:
    """What Ctrl+C and Ctrl+\\ send is meant for the editor. A function, for the editor would inherit `SIG_IGN`."""
    earlier = {number: signal.signal(number, lambda *_: None) for number in BY_KEYS}
    try:
        yield
    finally:
        for number, handler in earlier.items():
            signal.signal(number, handler if handler is not None else signal.SIG_DFL)


def _take_back(modes: list[Any] | None) -> None:
    """Put the terminal as it was, whatever the editor left, and forget keys that were typed to that.

    Textual takes the modes it finds for those to leave behind, and a key may answer a question that came meanwhile.
    """
    if modes is None:
        return
    import termios

    with contextlib.suppress(termios.error, OSError, ValueError):
        termios.tcsetattr(0, termios.TCSANOW, modes)
        termios.tcflush(0, termios.TCIFLUSH)
