"""Reading answers to a task's questions from stdin, a line each, with a timeout."""

from __future__ import annotations

import asyncio
import math
import os
import select
import stat

import click

PIPE_TIMEOUT = 2.0
"""Seconds to wait for an open pipe, unless a program reads JSON from the command."""
LONGEST = 1 << 20


def _check_wait(_ctx: click.Context, _param: click.Parameter, value: float | None) -> float | None:
    if value is not None and not value >= 0:  # nan is neither
        raise click.BadParameter("give seconds, 0 or more")
    return value


wait_option = click.option(
    "--wait",
    "wait",
    type=float,
    metavar="SECONDS",
    callback=_check_wait,
    help="How long a question waits for a line on stdin; 0 takes only what is there.",
)
"""The option of the commands that may be asked something."""


def answer_timeout(wait: float | None, as_json: bool, descriptor: int = 0) -> float | None:
    """Return the seconds an answer on stdin is waited for, None for as long as somebody may write there.

    A person at a terminal takes their time; so does a program that reads our JSON and holds our stdin open. Any
    other pipe may be one that was only inherited, with nobody at its end.

    Args:
        wait: what `--wait` says, None where it was not given.
        as_json: whether a program reads what is printed.
        descriptor: stdin.
    """
    if wait is not None:
        return None if math.isinf(wait) else wait
    try:
        kind = os.fstat(descriptor).st_mode
        if os.isatty(descriptor) or (as_json and (stat.S_ISFIFO(kind) or stat.S_ISSOCK(kind))):
            return None
    except OSError:
        return 0.0
    return PIPE_TIMEOUT


class Answers:
    """The lines of stdin, read only when one is asked for.

    Args:
        descriptor: where to read.
        patience: seconds it may stay silent, None for as long as it is open.
    """

    def __init__(self, descriptor: int = 0, answer_timeout: float | None = PIPE_TIMEOUT) -> None:
        self._descriptor = descriptor
        self._patience = answer_timeout
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
            ready = await self._is_ready(self._patience)
            return os.read(self._descriptor, 1 << 16) if ready else b""
        except OSError:
            return b""

    async def _is_ready(self, seconds: float | None) -> bool:
        if seconds == 0:
            return bool(select.select([self._descriptor], [], [], 0)[0])
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
