"""A pilot waits for what it knows to be under way, and for nothing else."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from textual.app import App
from textual.events import Key

from tests.support import rest
from tests.support.program import make_store, program


class Desk(App[None]):
    """Does on a key what it is told to, and writes down which keys came."""

    def __init__(self, action: Callable[[Desk], object]) -> None:
        super().__init__()
        self.action, self.done = action, [""]

    async def on_key(self, event: Key) -> None:
        self.done[-1] += event.key
        self.action(self)

    def note(self, what: str = "!") -> None:
        self.done[-1] += what


def in_a_thread(app: Desk) -> object:
    async def work() -> None:
        await asyncio.to_thread(time.sleep, 0.1)  # longer than any sleep of Textual's pilot
        app.note()

    return app.run_worker(work())


def after_a_chain_of_messages(app: Desk, left: int = 50) -> object:
    return app.call_later(after_a_chain_of_messages, app, left - 1) if left else app.note()


WAYS: dict[str, Callable[[Desk], object]] = {
    "thread": in_a_thread,
    "messages": after_a_chain_of_messages,
    "timer": lambda app: app.set_timer(0.03, app.note),
    "frame": lambda app: (app.screen.refresh(layout=True), app.call_after_refresh(app.note)),
}


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A loaded machine may take its time."""
    monkeypatch.setattr(rest, "SOON", 5.0)
    monkeypatch.setattr(rest, "PATIENCE", 30.0)
    monkeypatch.setattr(rest, "LONGEST", 30.0)


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize("way", WAYS)
async def test_a_key_is_taken_with_all_that_it_led_to_before_the_next_one(way: str) -> None:
    app = Desk(WAYS[way])
    async with app.run_test() as pilot:
        await pilot.press("a", "b")
        assert app.done == ["a!b!"]


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize("way", WAYS)
async def test_a_pause_waits_for_what_a_message_led_to(way: str) -> None:
    app = Desk(WAYS[way])
    async with app.run_test() as pilot:
        app.post_message(Key("a", "a"))
        await pilot.pause()
        assert app.done == ["a!"]


async def test_where_nothing_is_left_to_do_nothing_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    sleep = asyncio.sleep

    async def note(seconds: float, *result: object) -> object:
        slept.append(seconds)
        return await sleep(seconds, *result)

    app = Desk(lambda app: None)
    async with app.run_test() as pilot:
        await pilot.pause()
        monkeypatch.setattr(asyncio, "sleep", note)
        await pilot.press(*"abc")
        await pilot.pause()
        assert app.done == ["abc"] and not any(slept)


async def test_a_thread_that_is_held_is_waited_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    held = threading.Event()
    app = Desk(lambda app: None)
    async with app.run_test() as pilot:
        waiting = asyncio.ensure_future(asyncio.to_thread(held.wait, 60))
        try:
            await pilot.pause()
            monkeypatch.setattr(rest, "PATIENCE", 60.0)
            await pilot.press(*"abc")
            assert app.done == ["abc"] and not waiting.done()
        finally:
            held.set()
        await pilot.pause()
        assert waiting.done()


async def test_what_never_rests_is_left_to_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    goes_on = True

    def for_ever(app: Desk) -> object:
        return goes_on and asyncio.get_running_loop().call_soon(for_ever, app)

    monkeypatch.setattr(rest, "LONGEST", 0.05)
    app = Desk(for_ever)
    async with app.run_test() as pilot:
        await pilot.press("a")
        goes_on = False
        assert app.done == ["a"]


async def test_what_changed_is_painted_when_the_program_rests(tmp_path: Path) -> None:
    async with program(make_store(tmp_path)) as p:
        before = p.prompt.render_line
        drawn: list[int] = []
        p.prompt.render_line = lambda y: drawn.append(y) or before(y)  # type: ignore[method-assign,func-returns-value]
        p.main.action_go("prompt")
        await p.press("x")
        await p.until(lambda: p.prompt.text.startswith("x"))
        assert drawn and not p.main._compositor._dirty_regions
