"""Signals and a lost terminal end the program: the loop saves and exits, a thread ends the process if that takes too long.

What is typed is on disk all the time, so that little is left to do: `App.exit` as by the command, in about two seconds.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import threading
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from tui.terminal.tty import is_gone, terminal_modes

_Number = TypeVar("_Number", bound=int)

GRACE = 3.0
"""Seconds from the signal to the end of the process, whatever hangs: a disk, a terminal. A fraction of one as a rule."""

LOOK_EVERY = 0.5
"""Seconds between two looks at the terminal: one that is not the controlling terminal goes without a signal."""

LOST = 129
"""Exit code when the terminal went away."""

SIGNALS: dict[int, int] = {
    int(getattr(signal, name)): 128 + getattr(signal, name)
    for name in ("SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM")
    if hasattr(signal, name)
}
"""The signals that ask a program to end, with its exit code."""


class Guard:
    """Watches over one run of the program.

    Args:
        leave: called once in the loop with the exit code; saves and ends the program.
        files: the terminal's input and output, as file numbers.
        end: ends the process at once.
        last_words: what to say before that, when the terminal is back; empty for nothing.
    """

    def __init__(
        self,
        leave: Callable[[int], None],
        *,
        files: tuple[int, int] = (0, 2),
        end: Callable[[int], Any] = os._exit,
        last_words: Callable[[], str] = lambda: "",
    ) -> None:
        self._leave = leave
        self._files = files
        self._end = end
        self._last_words = last_words
        self.code: int | None = None
        """The exit code of what ends the program; None while it is no signal and no lost terminal."""
        self._over = threading.Event()
        self._modes = terminal_modes(files[0])
        self._loop: asyncio.AbstractEventLoop | None = None
        self._heard: list[int] = []

    def start(self) -> None:
        """Begin to watch; to be called in the running loop, in the main thread."""
        self._loop = asyncio.get_running_loop()
        with contextlib.suppress(ValueError):  # not in the main thread: then the default stays
            for number in handle_signals(SIGNALS):
                signal.signal(number, lambda number, _frame: self._leave_soon(SIGNALS[number]))
                self._heard.append(number)
        threading.Thread(target=self._watch, name="terminal-watch", daemon=True).start()

    def stop(self) -> None:
        """The program has ended in order. What a signal ended stays watched: the rest must not take long either."""
        if self.code is not None:
            return
        self._over.set()
        with contextlib.suppress(ValueError):
            for number in self._heard:
                signal.signal(
                    number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL
                )

    def end_soon(self, code: int) -> None:
        """The program ends, and something hangs: end the process unless that is over in the time of grace."""
        timer = threading.Timer(GRACE, self._restore_and_end, (code,))
        timer.daemon = True
        timer.start()

    def end(self, code: int) -> None:
        """All is saved, and the terminal is back: say the last words and end the process."""
        if self._last_words():
            self._restore()
        self._end(code)

    def _leave_soon(self, code: int) -> None:
        """Have the loop leave; also a signal's handler: it may come in the midst of anything, so no locks in here."""
        if self.code is None and self._loop is not None:
            self.code = code
            with contextlib.suppress(RuntimeError):  # the loop is closed
                self._loop.call_soon_threadsafe(self._leave, code)

    def _watch(self) -> None:
        """In a thread: notice a lost terminal, and end the process when leaving takes too long."""
        while self.code is None:
            if self._over.wait(LOOK_EVERY):
                return
            if is_gone(self._files[0]):
                self._leave_soon(LOST)
        if not self._over.wait(GRACE):
            self._restore_and_end(self.code)

    def _restore_and_end(self, code: int) -> None:
        self._restore()
        self._end(code)

    def _restore(self) -> None:
        """Give the terminal back as it was, without waiting for it."""
        from tui.terminal.textual_compat.nonblocking_writer import reset

        words = self._last_words()
        reset(self._files[1], f"persona: {words}\n".encode("utf-8", "backslashreplace") if words else b"")
        if self._modes is not None:
            import termios

            with contextlib.suppress(termios.error, OSError):
                termios.tcsetattr(self._files[0], termios.TCSANOW, self._modes)


def handle_signals(numbers: Mapping[_Number, int]) -> dict[_Number, int]:
    """Return those signals that were not ignored when the program began: what nohup, or a shell that starts something
    in the background, has ignored is to be outlived.

    Args:
        numbers: exit codes by signal.
    """
    return {
        number: code for number, code in numbers.items() if signal.getsignal(number) is not signal.SIG_IGN
    }
