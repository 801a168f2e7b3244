"""The end of a long run is told to whoever looks elsewhere, if they want that, and by no other bytes than meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.models.scripted import answer
from tests.tui.program import Gate, GatedModel, make_store, program
from tui.capabilities import Capabilities
from tui.config import Settings
from tui.notifying import announcement

HERE = Capabilities()


def test_nothing_is_sent_unless_wanted() -> None:
    assert announcement("never", "done", {}, HERE) == ""
    assert announcement("bell", "done", {}, HERE) == "\x07"


def test_the_desktop_is_told_in_the_way_the_terminal_knows() -> None:
    assert announcement("desktop", "done", {"TERM": "xterm-256color"}, HERE) == "\x1b]9;done\x07"
    assert announcement("desktop", "done", {"TERM": "foot"}, HERE) == "\x1b]777;notify;persona;done\x07"
    in_tmux = announcement("desktop", "done", {"TERM": "tmux-256color"}, Capabilities(tmux=True))
    assert in_tmux == "\x1bPtmux;\x1b\x1b]9;done\x07\x1b\\\x07"


def test_no_text_leaves_its_sequence() -> None:
    sent = announcement("desktop", "a\x07b\x1b]0;t\x9cc;d\n" + "x" * 500, {}, HERE)
    assert sent.count("\x1b") == 1
    assert sent.count("\x07") == 1
    assert len(sent) < 150


@pytest.mark.parametrize(
    ("notify", "focused", "after", "told"),
    [
        *(("bell", False, 0.0, True), ("bell", True, 0.0, False)),
        *(("bell", False, 60.0, False), ("never", False, 0.0, False)),
    ],
)
async def test_a_run_that_ends_is_told_if_it_was_long_and_nobody_looks(
    tmp_path: Path, notify: str, focused: bool, after: float, told: bool
) -> None:
    settings = Settings(notify=notify, notify_after=after)
    sent: list[str] = []
    gate = Gate()
    async with program(
        make_store(tmp_path), model=GatedModel([[gate, *answer("Hi.")]]), settings=settings
    ) as p:
        write = p.app._driver.write
        p.app._driver.write = lambda data: (sent.append(data), write(data))[1]
        await p.say("hello")
        await p.until(lambda: p.main.conversing.running)
        p.app.app_focus = focused
        gate.set()
        await p.until(lambda: not p.main.conversing.running)
        await p.pilot.pause()
    assert ("\x07" in sent) is told
