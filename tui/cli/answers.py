"""Answers to a task's questions from stdin: a line each, as long as anybody is there to write one."""

from __future__ import annotations

import asyncio
import os

PATIENCE = 2.0
"""Seconds a pipe that is open and empty is waited for; a terminal is waited for without end."""
LONGEST = 1 << 20


class Answers:
    """The lines of stdin, read only when one is asked for.

    Args:
        descriptor: where to read.
        patience: seconds a pipe may stay silent.
    """

    def __init__(self, descriptor: int = 0, patience: float = PATIENCE) -> None:
        self._descriptor = descriptor
        self._patience = patience
        self._read = b""

    async def next(self) -> str | None:
        """Return the next line that is not blank, or None when there is none and none is to be expected."""
        while True:
            line, newline, rest = self._read.partition(b"\n")
            if newline or len(line) > LONGEST:
                self._read = rest
                if text := line.decode("utf-8", "replace").strip():
                    return text
                continue
            more = await self._more()
            if not more:
                self._read = b""
                return line.decode("utf-8", "replace").strip() or None
            self._read += more

    async def _more(self) -> bytes:
        """Return what has come, or nothing when stdin is at its end, silent or not there."""
        try:
            terminal = os.isatty(self._descriptor)
            ready = await self._is_ready(None if terminal else self._patience)
            return os.read(self._descriptor, 1 << 16) if ready else b""
        except OSError:
            return b""

    async def _is_ready(self, seconds: float | None) -> bool:
        loop = asyncio.get_running_loop()
        came: asyncio.Future[None] = loop.create_future()

        def note() -> None:
            if not came.done():
                came.set_result(None)

        try:
            loop.add_reader(self._descriptor, note)
        except (PermissionError, NotImplementedError):
            return True  # a file, which never keeps anyone waiting
        try:
            await asyncio.wait_for(came, seconds)
        except TimeoutError:
            return False
        finally:
            loop.remove_reader(self._descriptor)
        return True
