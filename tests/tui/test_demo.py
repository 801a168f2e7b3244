"""The demonstration: what a person sees of it, and that it gives way when they act."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.program import Program
from tui.recording.demo_app import DemoApp
from tui.recording.playback import LABEL, TypingPace, first_change
from tui.recording.recorded_session import AT_ONCE, HUMAN, PlaybackSpeed
from tui.settings.schema import Settings
from tui.widgets.chat_bar import ChatBar

QUICK = TypingPace(0.0, 0.0, 0.0)


@asynccontextmanager
async def demo(
    folder: Path, *, hands: TypingPace = QUICK, pace: PlaybackSpeed = AT_ONCE, **options: Any
) -> AsyncIterator[Program]:
    app = DemoApp(folder, Settings(panel_seconds=60), hands=hands, pace=pace, **options)
    async with app.run_test(size=(110, 32), notifications=True, tooltips=True) as pilot:
        running = Program(app, pilot, None)  # type: ignore[arg-type]
        await running.until(lambda: running.main.conversation.current is not None)
        yield running


def status(p: Program) -> str:
    label = p.main.query_one(ChatBar).status
    return str(label.render()) if label.display else ""


def stored(folder: Path) -> str:
    return (folder / "home" / "personas" / "optimist.toml").read_text(encoding="utf-8")


async def test_it_changes_the_prompt_before_the_persons_eyes_and_then_is_theirs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    person, folder = tmp_path / "person", tmp_path / "demo"
    person.mkdir()
    folder.mkdir()
    for name in ("HOME", "PERSONA_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(person))
    monkeypatch.setenv("PERSONA_CONFIG", str(person / "config.toml"))
    async with demo(folder) as p:
        await p.notified("recording is over")
        assert "one warm sentence" in p.prompt.raw
        assert "one warm sentence" in stored(folder)
        assert p.main.conversation.panel_controller.panel_shown
        assert p.app.model_name == "offline"
        assert status(p) == ""
        await p.run_to_end("rename it to Sunny")
        await p.until(lambda: 'name = "Sunny"' in stored(folder))
        await p.say("/model claude-sonnet-5-5")
        await p.notified("offline model only")
    assert list(person.rglob("*")) == [], "everything it writes is in its folder"


async def test_the_first_change_is_opened_to_be_read(tmp_path: Path) -> None:
    async with demo(tmp_path, hands=TypingPace(0.0, 0.0, 2.0)) as p:
        view = p.main.conversation.view
        await p.until(lambda: any(entry.foldable and entry.opened for entry in view.layout_model.entries))
        place = first_change(p.main, p.main.conversation.current)  # type: ignore[arg-type]
        assert place is not None
        assert "one warm sentence" in view.layout_model.entries[place].text()
        assert view.vertical_scrollbar.position == view.scroll_y
        await p.until(lambda: not view.layout_model.entries[place].opened)


async def test_it_says_that_it_is_recorded_and_who_writes_something_has_the_program(tmp_path: Path) -> None:
    async with demo(tmp_path, hands=TypingPace(0.05, 0.5, 0.0)) as p:
        await p.until(lambda: status(p) == LABEL)
        assert p.app.model_name == "recorded"
        assert "recorded run" in p.main.conversation.view.layout_model.entries[0].text()
        await p.until(lambda: p.main.chat_bar.draft)
        await p.press("m", "i", "n", "e")
        await p.notified("recording has stopped")
        assert p.main.chat_bar.draft == "mine"
        assert p.app.model_name == "offline"
        assert "one warm sentence" not in stored(tmp_path)


async def test_who_writes_while_they_are_to_read_need_not_wait(tmp_path: Path) -> None:
    async with demo(tmp_path, hands=TypingPace(0.0, 0.0, 60.0)) as p:
        await p.until(lambda: p.main.conversation.current.events and not p.main.conversation.running)
        p.main.chat_bar.set_draft("mine")
        await p.notified("recording has stopped")
        assert p.main.chat_bar.draft == "mine"


async def test_who_stops_a_recorded_answer_has_the_program(tmp_path: Path) -> None:
    async with demo(tmp_path, pace=PlaybackSpeed(5.0, HUMAN.word)) as p:
        await p.until(lambda: p.main.conversation.running)
        await p.press("escape")
        await p.notified("recording has stopped")
        assert p.app.model_name == "offline"
