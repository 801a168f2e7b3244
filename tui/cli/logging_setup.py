"""Where the program's log goes: to `state/persona.log` in the home, and with --debug to stderr too. Never with a secret."""

from __future__ import annotations

import logging
import os
import stat
import threading
from contextlib import suppress
from queue import SimpleQueue
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from personas.files.home import Home

FILE = "persona.log"
LARGEST = 1024 * 1024
"""Bytes from which on the file is begun anew at the next start; the one before stays as `persona.log.1`."""
FLUSH_WITHIN = 0.2
"""Seconds that the disk gets at the end to take what was logged last."""
_OURS = ("agent", "personas", "tui")


class StderrHandler(logging.Handler):
    """Writes harmless lines without secrets on stderr, whatever stands there at the moment."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record; one that cannot be written is dropped."""
        from tui.cli.stderr import print_note

        with suppress(Exception):  # an argument that cannot be shown; Python's own complaint has a traceback
            print_note(_harmless(self.format(record)))


class FileLog(logging.Handler):
    """Appends harmless lines without secrets to a file, in a thread: nobody waits for the disk.

    Args:
        home: whose `state` folder the file lies in.
    """

    def __init__(self, home: Home) -> None:
        super().__init__()
        self.setFormatter(logging.Formatter("%(asctime)s %(process)d %(levelname)s %(name)s: %(message)s"))
        self._home = home
        self._lines: SimpleQueue[str | threading.Event] = SimpleQueue()
        threading.Thread(target=self._write, name="log", daemon=True).start()

    def emit(self, record: logging.LogRecord) -> None:
        """Have one record written; one that cannot be shown is dropped."""
        with suppress(Exception):
            self._lines.put(_harmless(self.format(record)) + "\n")

    def flush(self) -> None:
        """Wait a moment until all is written."""
        written = threading.Event()
        self._lines.put(written)
        written.wait(FLUSH_WITHIN)

    def _write(self) -> None:
        number: int | None = None
        with suppress(
            Exception
        ):  # a disk that refuses, a folder that leads out of the home: there is no log then
            number = _open(self._home.inside(self._home.state) / FILE)
        while True:
            line = self._lines.get()
            if isinstance(line, threading.Event):
                line.set()
            elif number is not None:
                with suppress(OSError):
                    os.write(number, line.encode("utf-8", "backslashreplace"))


def set_up(*, debug: bool = False) -> None:
    """Make the whole process log nowhere, or with `debug` to stderr. Only the first call counts.

    Without it Python writes warnings and the tracebacks of forgotten tasks over the screen.
    """
    root = logging.getLogger()
    if not root.handlers:
        root.addHandler(StderrHandler() if debug else logging.NullHandler())
        if debug:
            for name in _OURS:
                logging.getLogger(name).setLevel(logging.DEBUG)


def log_to(home: Home) -> None:
    """Have the process log to a home's `persona.log` too: our own work, and the warnings of libraries."""
    from importlib.metadata import version

    root = logging.getLogger()
    for handler in [one for one in root.handlers if isinstance(one, FileLog)]:
        root.removeHandler(handler)
    root.addHandler(FileLog(home))
    for name in _OURS:
        logger = logging.getLogger(name)
        logger.setLevel(min(logger.level or logging.INFO, logging.INFO))
    logging.getLogger(__name__).info("persona %s started in %s", version("persona-editor"), home.root)


def _open(path: Path) -> int:
    """Open a file of this person's own for appending; a pipe or a link in its place is not touched."""
    with suppress(OSError):
        if path.stat(follow_symlinks=False).st_size > LARGEST:
            path.replace(path.with_name(f"{FILE}.1"))
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
    for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC"):
        flags |= getattr(os, name, 0)
    number = os.open(path, flags, 0o600)
    if not stat.S_ISREG(os.fstat(number).st_mode):
        os.close(number)
        raise OSError("no regular file")
    return number


def _harmless(text: str) -> str:
    from tui.terminal.sanitise import sanitise
    from tui.terminal.secrets import redact

    return sanitise(redact(text))
