"""The end of a long run is told to whoever looks elsewhere, if they want that, and by no other bytes than meant."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.events import AppBlur

from agent.models.scripted import ToolUse, answer, failed
from tests.support.program import Gate, GatedModel, make_store, program
from tui.app.desktop_notify import announcement
from tui.chat.labels import asks, ended
from tui.settings.schema import Settings
from tui.terminal.capabilities import Capabilities

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


def test_one_line_says_what_has_become_of_whose_run() -> None:
    assert ended("Sunny", "completed") == "The agent is done: Sunny"
    assert ended("Sunny", "failed") == ended("Sunny", None) == "The agent failed: Sunny"
    assert ended("Sunny", "limit") == "The agent stopped at a limit: Sunny"
    evil = "a\x1b]0;t\x07\u202eb\n" + "x" * 500
    for said in (ended(evil, "completed"), asks(evil)):
        assert len(said) < 100
        assert said.isprintable()


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
        await p.until(lambda: p.main.conversation.running)
        p.app.app_focus = focused
        gate.set()
        await p.until(lambda: not p.main.conversation.running)
        await p.pilot.pause()
    assert ("\x07" in sent) is told


async def test_it_is_told_who_failed_and_at_once_who_asks(tmp_path: Path) -> None:
    gates = [Gate(), Gate()]
    model = GatedModel(
        [
            [gates[0], failed("invalid_request", "no")],
            [gates[1], *answer(ToolUse("ask_user", {"question": "Which one?"}))],
        ]
    )
    told: list[str] = []
    async with program(make_store(tmp_path), model=model, settings=Settings(notify_after=0)) as p:
        p.app.announce = told.append
        await p.say("hello")
        await p.until(lambda: p.main.conversation.running)
        gates[0].set()
        await p.until(lambda: told == ["The agent failed: One"])
        p.app.settings = Settings(notify_after=600)  # an end is not told, a question is
        await p.say("/task go")
        await p.until(lambda: p.main.conversation.running)
        gates[1].set()
        await p.until(lambda: p.main.conversation.question is not None)
        await p.until(lambda: told[1:] == ["The agent asks you: One"])


async def test_a_key_in_a_list_tells_that_the_person_is_here(tmp_path: Path) -> None:
    async with program(make_store(tmp_path)) as p:
        p.app.post_message(AppBlur())
        await p.until(lambda: not p.app.app_focus)
        p.main.personas.rows.focus()
        await p.until(lambda: p.main.focused is p.main.personas.rows)
        await p.press("j")
        await p.until(lambda: p.main.personas.rows.cursor == 1)
        assert p.app.app_focus
