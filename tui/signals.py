"""Leaving well: signals and a lost terminal end the program within a second, the terminal as it was found.

The loop gets the chance to save and to leave in order; a thread sees to it that the process ends even where
the loop hangs, for example in a write to a terminal that takes nothing any more.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import select
import signal
import sys
import threading
from collections.abc import Callable
from typing import Any

GRACE = 3.0
"""Seconds from the signal to the end of the process, whatever hangs: a disk, a terminal. A fraction of one as a rule."""

LOOK_EVERY = 1.0
"""Seconds between two looks at the terminal."""

# Leave the alternate screen; show the cursor; no mouse, no focus reports, no bracketed paste, no key protocol.
_RESET = b"\x1b[<u\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1015l\x1b[?1004l\x1b[?2004l\x1b[?1049l\x1b[?25h\x1b[0m\r\n"

SIGNALS = {signal.SIGTERM: 143, signal.SIGHUP: 129} if sys.platform != "win32" else {signal.SIGTERM: 143}


class Guard:
    """Watches over one run of the program.

    Args:
        leave: called once in the loop with the exit code; saves and ends the program.
        files: the terminal's input and output, as file numbers.
        end: ends the process at once.
    """

    def __init__(
        self,
        leave: Callable[[int], None],
        *,
        files: tuple[int, int] = (0, 2),
        end: Callable[[int], Any] = os._exit,
    ) -> None:
        self._leave = leave
        self._files = files
        self._end = end
        self._loop: asyncio.AbstractEventLoop | None = None
        self._code: int | None = None
        self._over = threading.Event()
        self._leaving = threading.Event()
        self._modes = _terminal_modes(files[0])

    def start(self) -> None:
        """Begin to watch; to be called in the running loop, in the main thread."""
        self._loop = asyncio.get_running_loop()
        for number, code in SIGNALS.items():
            with contextlib.suppress(NotImplementedError, ValueError, RuntimeError):
                # Not in the main thread, or a platform without: then the default stays.
                self._loop.add_signal_handler(number, self._ask_to_leave, code)
        threading.Thread(target=self._watch, name="terminal-watch", daemon=True).start()

    def stop(self) -> None:
        """The program has ended in order."""
        self._over.set()
        self._leaving.set()

    @property
    def code(self) -> int | None:
        """The exit code of what ended the program, None if it was no signal and no lost terminal."""
        return self._code

    def _ask_to_leave(self, code: int) -> None:
        if self._code is None:
            self._code = code
            self._leaving.set()
            self._leave(code)

    def _watch(self) -> None:
        """In a thread: notice a lost terminal, and end the process when leaving takes too long."""
        while not self._leaving.wait(LOOK_EVERY):
            if _is_gone(self._files[0]):
                loop = self._loop
                if loop is not None and not loop.is_closed():
                    loop.call_soon_threadsafe(self._ask_to_leave, SIGNALS.get(signal.SIGHUP, 129))
                break
        if not self._over.wait(GRACE):
            self._restore()
            self._end(self._code if self._code is not None else 129)

    def _restore(self) -> None:
        """Give the terminal back as it was, without waiting for it."""
        output = self._files[1]
        with contextlib.suppress(OSError, ValueError):
            os.set_blocking(output, False)
            os.write(output, _RESET)
        if self._modes is not None:
            import termios

            with contextlib.suppress(termios.error, OSError):
                termios.tcsetattr(self._files[0], termios.TCSANOW, self._modes)


def has_terminal(files: tuple[int, int] = (0, 2)) -> bool:
    """Return whether input and output are a terminal."""
    return all(os.isatty(number) for number in files)


def _is_gone(number: int) -> bool:
    """Whether the other side of the terminal is closed."""
    if not hasattr(select, "poll"):
        return False
    poll = select.poll()
    try:
        poll.register(number, 0)  # hang-ups are told without asking for anything
        found = poll.poll(0)
    except (OSError, ValueError):
        return True
    return any(event & (select.POLLHUP | select.POLLERR | select.POLLNVAL) for _, event in found)


def _terminal_modes(number: int) -> list[Any] | None:
    try:
        import termios
    except ImportError:  # Windows
        return None
    try:
        return termios.tcgetattr(number)
    except (termios.error, OSError, ValueError):
        return None
