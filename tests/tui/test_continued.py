"""A program that goes on after a stop takes its terminal again, once, and only where it is its own."""

from __future__ import annotations

import asyncio
import os
import pty
import signal
from threading import Thread
from types import SimpleNamespace
from typing import Any

import pytest

from tui.terminal.textual_compat import sigcont as continued


class Driver:
    """Says what is asked of it."""

    def __init__(self, number: int, reading: Any) -> None:
        self.fileno, self._key_thread, self._must_signal_resume = number, reading, False
        self.asked: list[str] = []

    def suspend_application_mode(self) -> None:
        self.asked.append("suspend")

    def resume_application_mode(self) -> None:
        self.asked.append("resume, told" if self._must_signal_resume else "resume")
        self._must_signal_resume = False

    def _sigcont_application(self) -> None:
        self.asked.append("Textual's own")


IS, IS_NOT = SimpleNamespace(is_alive=lambda: True), Thread()


@pytest.mark.parametrize(
    ("lent", "reading", "by_key", "asked"),
    [
        (False, IS, False, ["suspend", "resume, told"]),
        (False, IS, True, ["Textual's own"]),
        (True, IS, False, []),  # an editor has it
        (False, IS_NOT, False, []),  # the program is about to end
        (False, None, False, []),  # and to begin
    ],
)
async def test_the_terminal_is_taken_again_where_it_is_the_programs_own(
    lent: bool, reading: Any, by_key: bool, asked: list[str]
) -> None:
    ends = pty.openpty()
    earlier = signal.getsignal(signal.SIGCONT)
    driver = Driver(ends[1], reading)
    driver._must_signal_resume = by_key
    try:
        continued.heed(SimpleNamespace(_driver=driver, is_lent=lent))  # type: ignore[arg-type]
        signal.raise_signal(signal.SIGCONT)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
    finally:
        signal.signal(signal.SIGCONT, earlier)
        for number in ends:
            os.close(number)
    assert driver.asked == asked
