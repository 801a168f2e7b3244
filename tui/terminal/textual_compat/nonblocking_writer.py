"""Writes to the terminal without ever waiting for it in the loop: a terminal may take nothing for hours.

Textual hands what it writes to a thread through a short queue, and waits where that is full: a connection that hangs,
or a laptop that sleeps, then held up the agent, the saving and the signals too. Here the queue has no end; who
paints asks whether the terminal is behind, paints nothing while it is, and the whole screen once it has caught up.
"""

from __future__ import annotations

import contextlib
import os
import select
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from typing import TextIO

BEHIND = 65_536
"""Bytes that wait for the terminal from which on nothing more is painted: some pictures of a large screen."""

PATIENCE = 0.5
"""Seconds without a byte taken after which the terminal counts as stalled when the program leaves it."""

LEAVE_WITHIN = 1.5
"""Seconds that a slow terminal gets to take the rest when the program leaves it."""

_CHUNK = 4096
"""Bytes that are written at once."""

_LOOK_EVERY = 0.1
"""Seconds after which a thread that waits for the terminal looks whether it still must."""

# Cancel a sequence that was cut; leave the alternate screen; show the cursor; no mouse, no focus reports, no bracketed
# paste, no key protocol, lines wrap.
RESET = (
    b"\x18\x1b[<u\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1015l\x1b[?1016l\x1b[?1004l\x1b[?2004l\x1b[?2048l"
    b"\x1b[?2026l\x1b[?7h\x1b[?1049l\x1b[?25h\x1b[0m\r\n"
)


class TerminalWriter(threading.Thread):
    """Takes the place of Textual's `WriterThread`: the same methods, and `write` never waits.

    Args:
        file: the terminal, as Textual has it.
    """

    def __init__(self, file: TextIO) -> None:
        super().__init__(daemon=True, name="textual-output")
        self._number = file.fileno()
        self._encoding = file.encoding or "utf-8"
        self._changed = threading.Condition()  # its lock may be taken again by a signal's handler
        self._parts: deque[tuple[bytes, bool]] = deque()  # and whether it is a picture
        self._unsent = 0
        self._sent = 0
        self._picture: list[bytes] | None = None
        self._when_drained: Callable[[], object] | None = None
        self._stopped = False
        self._given_up = False

    # -- for who paints ---------------------------------------------------------------------------------

    @property
    def is_behind(self) -> bool:
        """Whether so much waits for the terminal that nothing more is to be painted."""
        return self._unsent > BEHIND

    @contextlib.contextmanager
    def picture(self) -> Iterator[None]:
        """What is written in a `with` block is one picture: sent whole, or not at all when the screen is left."""
        self._picture = []
        try:
            yield
        finally:
            parts, self._picture = self._picture, None
            if parts:
                self._add(b"".join(parts), is_picture=True)

    def when_drained(self, callback: Callable[[], object]) -> None:
        """Call `tell` once, in any thread, when nothing waits for the terminal any more, or it is left."""
        with self._changed:
            if self._unsent and not self._stopped:
                self._when_drained = callback
                return
        callback()

    # -- for Textual's driver ---------------------------------------------------------------------------

    def write(self, text: str) -> None:
        """Have a text sent, after what was written before."""
        coded = text.encode(self._encoding, "backslashreplace")
        if self._picture is not None and threading.current_thread() is threading.main_thread():
            self._picture.append(coded)
        elif coded:
            self._add(coded, is_picture=False)

    def isatty(self) -> bool:
        """It is a terminal, or as good as one."""
        return True

    def fileno(self) -> int:
        """Return the number of the terminal's file."""
        return self._number

    def flush(self) -> None:
        """Nothing is held back."""

    def stop(self) -> None:
        """Send what must be sent before the terminal is left, but no more pictures; stops waiting for a terminal that
        takes nothing, and leaves it as it should be all the same as soon as it takes something."""
        with self._changed:
            if self._picture:  # a signal stops the program in the midst of painting
                self._add(b"".join(self._picture), is_picture=False)
                self._picture = None
            self._stopped = True
            for coded, is_picture in self._parts:
                self._unsent -= len(coded) * is_picture
            self._parts = deque(part for part in self._parts if not part[1])
            self._changed.notify_all()
        end = time.monotonic() + LEAVE_WITHIN
        while self.is_alive():
            sent = self._sent
            self.join(PATIENCE)
            if self.is_alive() and (self._sent == sent or time.monotonic() > end):
                self._given_up = True
                self.join(PATIENCE)  # else it might send on after the reset
                reset(self._number)
                return

    # -- the thread -------------------------------------------------------------------------------------

    def run(self) -> None:
        """Send what is written until it is stopped."""
        own = reopen(self._number)
        number = self._number if own is None else own
        try:
            while (coded := self._next()) is not None:
                self._send(number, coded)
        except OSError:
            pass  # the terminal is gone
        finally:
            with self._changed:
                self._stopped = True
                self._parts.clear()
                self._unsent = 0
            self._call_when_drained()
            if own is not None:
                os.close(own)

    def _add(self, coded: bytes, *, is_picture: bool) -> None:
        with self._changed:
            if not self._stopped:
                self._parts.append((coded, is_picture))
                self._unsent += len(coded)
                self._changed.notify_all()

    def _next(self) -> bytes | None:
        """Return what is to be sent next, waiting for it; None when it is stopped."""
        with self._changed:
            while not self._parts:
                if self._stopped:
                    return None
                self._changed.wait()
            return self._parts.popleft()[0]

    def _send(self, number: int, coded: bytes) -> None:
        rest = memoryview(coded)
        while rest and not self._given_up:
            sent = write_some(number, rest[:_CHUNK], _LOOK_EVERY)
            rest = rest[sent:]
            with self._changed:
                self._unsent -= sent
                self._sent += sent
                drained = not self._unsent
            if drained:
                self._call_when_drained()

    def _call_when_drained(self) -> None:
        with self._changed:
            callback, self._when_drained = self._when_drained, None
        if callback is not None:
            callback()


def install() -> None:
    """Make Textual's terminal driver write through this. Calling it again changes nothing."""
    if sys.platform != "win32":
        from textual.drivers import linux_driver

        linux_driver.WriterThread = TerminalWriter  # type: ignore[attr-defined, assignment]


def reopen(number: int) -> int | None:
    """Open a terminal, given as a file number, once more so that writing to it never waits; None where that fails.

    The mode belongs to this opening alone: whoever shares the first one, a shell or an editor, keeps theirs.
    """
    if sys.platform == "win32":
        return None
    mode = os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY
    with contextlib.suppress(OSError):  # not seen from within a container, or another user's (su)
        return os.open(os.ttyname(number), mode)
    with contextlib.suppress(OSError):
        os.tcgetpgrp(number)  # raises where it is not the one that the next path means
        return os.open("/dev/tty", mode)
    return None


def write_some(number: int, coded: memoryview | bytes, seconds: float) -> int:
    """Write what a terminal takes within some seconds; return how many bytes that were.

    Raises:
        OSError: it is gone.
    """
    if hasattr(select, "poll"):
        poll = select.poll()
        poll.register(number, select.POLLOUT)
        if not poll.poll(seconds * 1000):
            return 0
    try:
        return os.write(number, coded)
    except BlockingIOError:
        return 0


def reset(number: int, words: bytes = b"") -> None:
    """Leave a terminal as it should be, waiting only a moment for it: what it did not take by then is discarded.

    Args:
        number: its file number.
        words: what to say then.
    """
    own = reopen(number)
    to = number if own is None else own
    with contextlib.suppress(OSError):
        if not write_some(to, b"\x18", _LOOK_EVERY):
            import termios

            with contextlib.suppress(termios.error):
                termios.tcflush(to, termios.TCOFLUSH)
        write_some(to, RESET + words, _LOOK_EVERY)
    if own is not None:
        os.close(own)
