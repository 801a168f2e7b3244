"""Leaving well: signals and a lost terminal end the program within a second, the terminal as it was found.

The loop gets the chance to save and to leave in order. A thread hears the signals, not the loop, and sees to it that
the process ends even where the loop hangs, for example on a disk that does not come back.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import select
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import socket

_Number = TypeVar("_Number", bound=int)

GRACE = 3.0
"""Seconds from the signal to the end of the process, whatever hangs: a disk, a terminal. A fraction of one as a rule."""

LOOK_EVERY = 0.5
"""Seconds between two looks at the terminal."""

LOST = 129
"""Exit code when the terminal went away."""

_END_NOTHING = ("CHLD", "CLD", "CONT", "INFO", "STOP", "TSTP", "TTIN", "TTOU", "URG", "WINCH", "KILL")
"""By default they do not end a process, or nobody can hear them."""
_FAULTS = ("BUS", "FPE", "ILL", "SEGV")
"""They come from the process itself, which would run into the same fault again behind the handler."""


def _ending() -> dict[int, int]:
    left_alone = {getattr(signal, f"SIG{name}", None) for name in (*_END_NOTHING, *_FAULTS)}
    return {int(number): 128 + number for number in signal.valid_signals() if number not in left_alone}


SIGNALS = _ending()
"""Every signal that ends a process unless it is heard, with the exit code of a program it ended."""

BY_KEYS = frozenset({signal.SIGINT, getattr(signal, "SIGQUIT", signal.SIGINT)})
"""Those that keys send in an ordinary terminal, to all programs in it."""

TOLD_BY_SYSTEM = {number: code for number, code in SIGNALS.items() if number not in BY_KEYS}
"""The others only by their handler: while an editor has the terminal, they have another one."""


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
        self._code: int | None = None
        self._over = threading.Event()
        self._modes = terminal_modes(files[0])
        self._tell: socket.socket | None = None
        self._heard: list[int] = []

    def start(self) -> None:
        """Begin to watch; to be called in the running loop, in the main thread."""
        import socket

        hear, self._tell = socket.socketpair()
        self._tell.setblocking(False)
        with contextlib.suppress(ValueError):  # not in the main thread: then the default stays
            for number in heeded(SIGNALS):
                signal.signal(number, self._hear)
                self._heard.append(number)
            # Told by the system itself, even while the main thread hangs where Python runs no handler.
            if sys.platform != "win32":  # there the loop itself is told by it
                signal.set_wakeup_fd(self._tell.fileno(), warn_on_full_buffer=False)
        threading.Thread(
            target=self._watch, args=(hear, asyncio.get_running_loop()), name="terminal-watch", daemon=True
        ).start()

    def stop(self) -> None:
        """The program has ended in order. What a signal ended stays watched: the rest must not take long either."""
        if self._code is not None or self._tell is None:
            return
        self._over.set()
        with contextlib.suppress(ValueError):
            if sys.platform != "win32":
                signal.set_wakeup_fd(-1)
            for number in self._heard:
                signal.signal(
                    number, signal.default_int_handler if number is signal.SIGINT else signal.SIG_DFL
                )
        self._tell.close()  # wakes the thread

    @property
    def code(self) -> int | None:
        """The exit code of what ended the program, None if it was no signal and no lost terminal."""
        return self._code

    def end_soon(self, code: int) -> None:
        """The program ends, and something hangs: end the process unless that is over in the time of grace."""

        def end() -> None:
            self._restore()
            self._end(code)

        timer = threading.Timer(GRACE, end)
        timer.daemon = True
        timer.start()

    def end(self, code: int) -> None:
        """What a signal ends is saved, and its terminal is back: say the last words and end the process."""
        if self._last_words():
            self._restore()
        self._end(code)

    @property
    def has_input(self) -> bool:
        """Whether the terminal, if it is there, has sent something that nobody has read."""
        number = self._files[0]
        try:
            return not is_gone(number) and bool(select.select([number], [], [], 0)[0])
        except (OSError, ValueError):
            return False

    def _hear(self, number: int, _frame: object) -> None:
        """The handler of the signals: no locks in here, it may come in the midst of anything."""
        if self._tell is not None:
            with contextlib.suppress(OSError):
                self._tell.send(bytes([SIGNALS[number]]))

    def _watch(self, hear: socket.socket, loop: asyncio.AbstractEventLoop) -> None:
        """In a thread: notice a signal or a lost terminal, and end the process when leaving takes too long."""
        hear.settimeout(LOOK_EVERY)
        while (code := self._reason(hear)) is None:
            if self._over.is_set():
                return
        self._code = code
        with contextlib.suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(self._leave, code)
        if not self._over.wait(GRACE):
            self._restore()
            self._end(code)

    def _reason(self, hear: socket.socket) -> int | None:
        """Return the exit code of a reason to leave, waiting for one a while; None for none."""
        try:
            told = hear.recv(64)
        except TimeoutError:
            return LOST if is_gone(self._files[0]) else None
        except OSError:
            return None
        for byte in told:  # the number of a signal, from the system, or an exit code, from the handler
            code = TOLD_BY_SYSTEM.get(byte, byte)
            if code in SIGNALS.values():
                return code
        return None

    def _restore(self) -> None:
        """Give the terminal back as it was, without waiting for it."""
        from tui.terminal.textual_compat.nonblocking_writer import reset

        words = self._last_words()
        reset(self._files[1], f"persona: {words}\n".encode("utf-8", "backslashreplace") if words else b"")
        if self._modes is not None:
            import termios

            with contextlib.suppress(termios.error, OSError):
                termios.tcsetattr(self._files[0], termios.TCSANOW, self._modes)


def heeded(numbers: Mapping[_Number, int]) -> dict[_Number, int]:
    """Return those signals that were not ignored when the program began: what nohup, or a shell that starts something
    in the background, has ignored is to be outlived.

    Args:
        numbers: exit codes by signal.
    """
    return {
        number: code for number, code in numbers.items() if signal.getsignal(number) is not signal.SIG_IGN
    }


def has_terminal(files: tuple[int, int] = (0, 2)) -> bool:
    """Return whether input and output are a terminal."""
    return all(os.isatty(number) for number in files)


def is_gone(number: int) -> bool:
    """Return whether the other side of a terminal, given as a file number, is closed."""
    if not hasattr(select, "poll"):
        return False
    poll = select.poll()
    try:
        poll.register(number, 0)  # hang-ups are told without asking for anything
        found = poll.poll(0)
    except (OSError, ValueError):
        return True
    return any(event & (select.POLLHUP | select.POLLERR | select.POLLNVAL) for _, event in found)


def terminal_modes(number: int) -> list[Any] | None:
    """Return the modes of a terminal, given as a file number, as `termios.tcsetattr` takes them; None for none."""
    try:
        import termios
    except ImportError:  # Windows
        return None
    try:
        return termios.tcgetattr(number)
    except (termios.error, OSError, ValueError):
        return None
