"""The first picture shows the text of the persona that the program begins with."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.support.program import make_store
from tests.support.screen import drawn
from tui.app.app import PersonaApp
from tui.app.first_persona import read_first
from tui.app.ui_state import UiState, save
from tui.cli import start
from tui.cli.group import persona


def test_the_persona_that_was_open_last_is_read_or_the_one_asked_for(tmp_path: Path) -> None:
    home = make_store(tmp_path).home

    def first(wanted: str | None = None) -> str:
        found = read_first(home.root, wanted)
        return found.name if found is not None else ""

    assert first() == "One"
    save(home, UiState("two"))
    assert first() == "Two"
    assert first("one") == "One"
    assert first("nobody") == first("../one") == ""
    save(home, UiState("gone"))
    assert first() == ""
    (home.state / "screen.json").write_text("[[", encoding="utf-8")
    assert first() == "One"
    (home.personas / "one.toml").write_text("name = ", encoding="utf-8")
    assert first() == ""


def test_a_new_home_begins_with_an_example(tmp_path: Path) -> None:
    found = read_first(tmp_path / "new", None)
    assert found is not None
    assert found.system_prompt
    (tmp_path / "file").touch()
    assert read_first(tmp_path / "file", None) is None  # told when the home is opened


async def test_the_text_is_on_the_screen_while_the_home_is_still_being_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, go, apps = make_store(tmp_path), threading.Event(), []
    monkeypatch.setattr(start, "has_terminal", lambda: True)
    monkeypatch.setattr(start, "run_in_terminal", lambda app: apps.append(app) or 0)
    monkeypatch.setattr(start._HomeChoice, "open", lambda place: go.wait(60) and store)
    arguments = ["--home", str(store.home.root), "--model", "offline", "open", "two"]
    CliRunner().invoke(persona, arguments, catch_exceptions=False)
    app: PersonaApp = apps[0]
    try:
        async with app.run_test(size=(110, 30)) as pilot:
            await pilot.pause()
            assert "I am two." in drawn(app.screen)
            assert "Two · system prompt" in drawn(app.screen)
            await pilot.click("#prompt")
            await pilot.press("x")
            assert app.main.prompt.text == "xI am two."
            go.set()
            while not store.get("two").system_prompt.startswith("x"):
                await pilot.pause(0.01)
            assert app.main.prompt.raw == "xI am two."
    finally:
        go.set()
