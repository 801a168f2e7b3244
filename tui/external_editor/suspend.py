"""The terminal lent to another program: this one goes on meanwhile, but writes nothing to it and hears no key.

Textual stops its driver while it is suspended, and says nothing of what the rest of it does: what was written then
would wait in a queue that nobody empties, or stand in the other program's picture.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from textual import events

from tui.app.signals import BY_KEYS, is_gone, terminal_modes
from tui.external_editor.process_tree import descendants

if TYPE_CHECKING:
    from tui.app.app import PersonaApp

_TO_END = {signal.SIGTERM, signal.SIGINT, getattr(signal, "SIGHUP", signal.SIGTERM)}
"""Signals that ask a program to end; the others mean something else to many."""

PATIENCE = 0.3
"""Seconds that the other program gets to end when this one must."""


class Lending:
    """Who has the terminal of one program."""

    def __init__(self) -> None:
        self.lent = False
        """Whether the other program has it."""
        self.ending = False
        """Whether this program must end, and asked the other one to."""
        self._asked = False
        self._process: subprocess.Popen[bytes] | None = None
        self._number: int = signal.SIGTERM
        self._returned = asyncio.Event()
        self._returned.set()
        self._stop_waiting: Callable[[], object] | None = None

    @contextlib.contextmanager
    def alone(self) -> Iterator[bool]:
        """For the length of a `with` block nobody else gets the terminal; gives whether that is so."""
        if self._asked or self.ending:
            yield False
            return
        self._asked = True
        self._returned.clear()
        try:
            yield True
        finally:
            self._asked = False
            self._returned.set()

    def is_deaf_to(self, event: events.Event) -> bool:
        """Whether an event is a key, a click or a paste that was not meant for this program."""
        return self.lent and isinstance(event, events.InputEvent | events.Paste)

    def guard(self, write: Callable[[str], None]) -> Callable[[str], None]:
        """Return `write`, which writes nothing while the terminal is lent."""
        return lambda data: None if self.lent else write(data)

    async def run(self, app: PersonaApp, command: Sequence[str], keep: Sequence[int] = ()) -> int | None:
        """Lend the terminal to a command until it ends; return its code, None where this program must end first.

        What keys send, Ctrl+C and Ctrl+\\, is meant for the command and not for this program.

        Args:
            app: whose terminal it is.
            command: the program and its arguments.
            keep: open files that the command gets too, by their numbers.

        Raises:
            SuspendNotSupported: this terminal cannot be lent.
            OSError, ValueError: the command cannot be started.
        """
        if self.ending:
            return None
        failure: BaseException | None = None
        code: int | None = None
        printed = sys.stdout, sys.stderr  # where Textual has them caught
        with app.suspend():
            self.lent = True
            modes = terminal_modes(0)
            try:
                with (
                    contextlib.redirect_stdout(printed[0]),
                    contextlib.redirect_stderr(printed[1]),
                    _no_signals_by_keys(),
                ):
                    code = await self._until_ended(command, keep)
            except BaseException as error:  # noqa: BLE001 - raised again as soon as the screen is back
                failure = error
                self.ask_to_end(signal.SIGTERM, ending=self.ending)
            finally:
                self._process = self._stop_waiting = None
            # An exception that leaves this block leaves the terminal as it is: only where nobody is to see it again.
            if not app.is_running or (self.ending and is_gone(0)):
                raise failure or asyncio.CancelledError
            _take_back(modes)
            self.lent = False
        if failure is not None:
            raise failure
        return None if self.ending else code

    async def _until_ended(self, command: Sequence[str], keep: Sequence[int]) -> int | None:
        loop = asyncio.get_running_loop()
        ended: asyncio.Future[int] = loop.create_future()
        process = self._process = _start(command, keep)

        def wait() -> None:
            code = process.wait()
            with contextlib.suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(lambda: None if ended.done() else ended.set_result(code))

        # A thread of its own that nobody waits for: a command that does not end must not hold this program up.
        threading.Thread(target=wait, name="terminal-lent", daemon=True).start()
        if self.ending:
            self.ask_to_end(self._number)
        self._stop_waiting = ended.cancel
        await asyncio.wait({ended})
        return None if ended.cancelled() else ended.result()

    def ask_to_end(self, number: int, *, ending: bool = True) -> None:
        """This program must end, by this signal: the other one is told by the same, if it is one that says so.

        So are those that it has begun: an editor is often begun by a script.
        """
        self.ending = ending
        self._number = number if number in _TO_END else signal.SIGTERM
        if (process := self._process) is not None:
            begun = descendants(process.pid) if process.poll() is None else []
            with contextlib.suppress(OSError):
                process.send_signal(self._number)
            for pid in begun:
                with contextlib.suppress(OSError):
                    os.kill(pid, self._number)

    async def over(self) -> None:
        """Wait until the terminal is back and what was made meanwhile is taken in."""
        await self._returned.wait()

    async def give_up(self) -> None:
        """Wait for that a short time, then take the terminal back."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._returned.wait(), PATIENCE)
        if (stop_waiting := self._stop_waiting) is not None:
            stop_waiting()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._returned.wait(), PATIENCE)


def _start(command: Sequence[str], keep: Sequence[int]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(list(command), pass_fds=tuple(keep))


@contextlib.contextmanager
def _no_signals_by_keys() -> Iterator[None]:
    # A function and not SIG_IGN, which the command would inherit.
    earlier = {number: signal.signal(number, lambda *_: None) for number in BY_KEYS}
    try:
        yield
    finally:
        for number, handler in earlier.items():
            signal.signal(number, handler if handler is not None else signal.SIG_DFL)


def _take_back(modes: list[Any] | None) -> None:
    """Put the terminal as it was lent, whatever the other program left, and forget keys that were typed to that.

    Textual takes the modes it finds for those to leave behind, and a key may answer a question that came meanwhile.
    """
    if modes is None:
        return
    import termios

    with contextlib.suppress(termios.error, OSError, ValueError):
        termios.tcsetattr(0, termios.TCSANOW, modes)
        termios.tcflush(0, termios.TCIFLUSH)
