"""A disk that keeps who writes a persona, or its versions, waiting until a test lets it go."""

from __future__ import annotations

import asyncio
import os
import threading
from pathlib import Path

import pytest

LONGEST = 60.0
"""Seconds after which a test that forgot to let it go ends nevertheless."""


class SlowFsync:
    """Holds up what waits for the disk from `hold` until `let_go`.

    Attributes:
        waits: set once something waits.
        on_loop: whether an event loop waited for the disk itself; that is not held up.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.waits, self._goes_on = threading.Event(), threading.Event()
        self.on_loop = False
        self._holds = False
        self._fsync = os.fsync
        monkeypatch.setattr(os, "fsync", self._slowly)

    def hold(self) -> None:
        """From now on it keeps everybody waiting."""
        self.waits.clear()
        self._goes_on.clear()
        self._holds = True

    def let_go(self) -> None:
        """It is fast again."""
        self._holds = False
        self._goes_on.set()

    def _slowly(self, descriptor: int) -> None:
        if self._holds and _is_of_a_persona(descriptor):
            if is_loop():
                self.on_loop = True
            else:
                self.waits.set()
                self._goes_on.wait(LONGEST)
        self._fsync(descriptor)


def _is_of_a_persona(descriptor: int) -> bool:
    """Whether a file is one of a persona; everything is where the system does not say."""
    path = Path(f"/proc/self/fd/{descriptor}")
    return not path.exists() or not {"personas", "versions"}.isdisjoint(path.resolve().parts)


def is_loop() -> bool:
    """Whether this is the thread of an event loop at work."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
