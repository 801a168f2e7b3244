"""Tasks of foreign code that go on after the run they belong to has settled."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

log = logging.getLogger(__name__)

_left_behind: set[asyncio.Future[Any]] = set()


def leave_behind(task: asyncio.Future[Any]) -> None:
    """Keep a task that ignores its cancellation until it ends by itself, and drop what it returns."""
    if task.done():
        look_at(task)
    elif task not in _left_behind:
        _left_behind.add(task)
        task.add_done_callback(_log_late)


def _log_late(task: asyncio.Future[Any]) -> None:
    """Say how it ended, by types: what it returned, and the words of what it raised, may be a key."""
    _left_behind.discard(task)
    look_at(task)
    error = None if task.cancelled() else task.exception()
    how = "" if error is None else f": it raised {type(error).__name__}"
    log.info("what ended after its run had settled was dropped%s", how)


def look_at(task: asyncio.Future[Any]) -> None:
    """Take note of how a task ended, so that asyncio does not report an exception nobody fetched."""
    if not task.cancelled():
        task.exception()
