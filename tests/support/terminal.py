"""A real pseudo-terminal with a terminal emulator, and the program in it as a process of its own."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyte

from tests.support import forked


class Terminal:
    """What a person has before them: a screen to read and keys to press.

    Args:
        arguments: of `persona`.
        folder: the current folder of the program.
        env: added to a small environment.
        size: columns and lines.
        cold: it loads everything itself, as where a person starts it (`forked`).
    """

    def __init__(
        self,
        arguments: Sequence[str],
        folder: Path,
        env: Mapping[str, str] | None = None,
        size: tuple[int, int] = (80, 24),
        command: Sequence[str] = (sys.executable, "-m", "tui"),
        *,
        cold: bool = False,
    ) -> None:
        self.screen = pyte.Screen(*size)
        self._stream = pyte.ByteStream(self.screen)
        self.received = bytearray()
        self.hung_up = False
        self._master, slave = pty.openpty()
        self._set_size(*size)
        self.modes = termios.tcgetattr(slave)
        self.process = (subprocess if cold else forked).Popen(
            [*command, *arguments],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            cwd=folder,
            start_new_session=True,
            env={
                "PATH": os.environ.get("PATH", ""),
                "HOME": str(folder),
                "TERM": "xterm-256color",
                **forked.ENVIRONMENT,
                "PERSONA_CONFIG": str(folder / "config.toml"),
                "PERSONA_MODEL": "offline",
                "XDG_STATE_HOME": str(folder / "state"),
                **(env or {}),
            },
            preexec_fn=_take_terminal,
        )
        self._slave = slave  # kept open: its modes are looked at after the program has ended

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for number in {self._master, self._slave} - {-1}:
            try:
                os.close(number)
            except OSError:
                continue

    # -- looking ----------------------------------------------------------------------------------------

    def read(self, seconds: float = 0.02) -> None:
        """Take what the program has written, waiting at most so long for it."""
        while not self.hung_up and select.select([self._master], [], [], seconds)[0]:
            try:
                data = os.read(self._master, 65536)
            except OSError:
                return
            if not data:
                return
            self.received += data
            self._stream.feed(data)
            seconds = 0

    @property
    def text(self) -> str:
        """The screen as lines."""
        # pyte's own `display` fails on the second half of a wide letter whose first half was written over.
        rows = (self.screen.buffer[row] for row in range(self.screen.lines))
        return "\n".join("".join(row[x].data for x in range(self.screen.columns)).rstrip() for row in rows)

    def until(self, condition: str | Callable[[], Any], seconds: float = 60.0) -> None:
        """Wait until a text stands on the screen, or a condition holds."""
        holds = (lambda: condition in self.text) if isinstance(condition, str) else condition
        end = time.monotonic() + seconds
        while not holds():
            assert time.monotonic() < end, f"never came: {condition!r}\n{self.text}"
            self.read()

    def ended(self, seconds: float = 60.0) -> int:
        """Wait for the end of the program and return its exit code."""
        end = time.monotonic() + seconds
        while self.process.poll() is None:
            assert time.monotonic() < end, f"still running\n{self.text}"
            self.read()
        self.read()
        return self.process.returncode

    @property
    def restored(self) -> bool:
        """Whether the terminal is as it was before the program: modes, main screen, cursor, no reports."""
        tail = bytes(self.received)
        pairs = (
            (b"\x1b[?1049h", b"\x1b[?1049l"),
            (b"\x1b[?25l", b"\x1b[?25h"),
            (b"\x1b[?2004h", b"\x1b[?2004l"),
        )
        pairs += ((b"\x1b[?1000h", b"\x1b[?1000l"), (b"\x1b[?1004h", b"\x1b[?1004l"))
        return termios.tcgetattr(self._slave) == self.modes and all(
            tail.rfind(off) >= tail.rfind(on) for on, off in pairs
        )

    @property
    def is_at_work(self) -> bool:
        """Whether a thread of the program runs, waits for the disk, or would run if a busy machine let it."""
        for stat in Path(f"/proc/{self.process.pid}/task").glob("*/stat"):
            with suppress(OSError):
                if stat.read_text("utf-8", "replace").rpartition(")")[2].split()[0] in "RD":
                    return True
        return False

    @property
    def is_full(self) -> bool:
        """Whether the program has written so much that nobody has read yet that the terminal takes no more."""
        return not select.select([], [self._slave], [], 0)[1]

    # -- acting -----------------------------------------------------------------------------------------

    def send(self, text: str | bytes, *, reading: bool = True) -> None:
        """Press keys, as the bytes a terminal sends for them; `reading`: take what the program writes meanwhile."""
        data = text.encode() if isinstance(text, str) else text
        while data:
            _, writable, _ = select.select([], [self._master], [], 1)
            if writable:
                data = data[os.write(self._master, data[:4096]) :]
            if reading:
                self.read(0)

    def paste(self, text: str) -> None:
        """Paste, bracketed."""
        self.send(f"\x1b[200~{text}\x1b[201~")

    def resize(self, columns: int, lines: int) -> None:
        """Change the size."""
        self._set_size(columns, lines)
        self.screen.resize(lines, columns)
        self.process.send_signal(signal.SIGWINCH)

    def as_the_shell_has_it(self) -> None:
        """Another program has the terminal: its own modes, and nothing that the program drew."""
        termios.tcsetattr(self._slave, termios.TCSANOW, self.modes)
        self.screen.reset()

    def hang_up(self) -> None:
        """Close the terminal under the program."""
        self.hung_up = True
        os.close(self._slave)
        os.close(self._master)
        self._slave = self._master = -1

    def _set_size(self, columns: int, lines: int) -> None:
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))


def _take_terminal() -> None:
    """In the child: make the terminal its own, so that closing it hangs it up."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
