"""The settings of the program on a page: shown with their source, changed, written, and holding at once."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from agent.models.scripted import ScriptedModel, answer
from tests.tui.program import Program, make_store, program
from tui import manual
from tui.config import ConfigError, Settings, load_settings
from tui.preferences import Preferences
from tui.screens.pick import Pick
from tui.screens.settings import ProgramSettings
from tui.widgets.row_list import RowList


def preferences(folder: Path, text: str | None = "", env: Mapping[str, str] | None = None) -> Preferences:
    path = folder / "config.toml"
    if text is not None:
        path.write_text(text)
    env = {"PERSONA_CONFIG": str(path), **(env or {})}
    return Preferences(load_settings(env), env=env)


async def page(p: Program, setting: str) -> RowList:
    """Open the page and go to a setting."""
    p.main.action_program_settings()
    await p.until(lambda: isinstance(p.app.screen, ProgramSettings))
    rows = p.app.screen.query_one(RowList)
    rows.select(setting)
    await p.pilot.pause()
    return rows


def row(rows: RowList, setting: str) -> tuple[str, str]:
    return next((r.text, r.tail) for r in rows.rows if r.key == setting)


def trouble(p: Program) -> str:
    return str(p.app.screen.query_one("#setting-trouble").render())


def test_every_setting_is_explained_and_can_be_shown() -> None:
    assert set(manual.explanations()) == set(manual.names())
    for name in manual.names():
        assert manual.explanations()[name].endswith((".", '"', "none.")), name
        assert manual.shown(getattr(Settings(), name))
        assert manual.kind(name)


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [("max_tokens", " 4096 ", 4096), ("panel_seconds", "2,5", 2.5), ("model", "claude-x ", "claude-x")],
)
def test_what_is_typed_becomes_a_value_of_the_right_type(name: str, text: str, value: object) -> None:
    assert manual.written(name, text) == value


@pytest.mark.parametrize(
    ("name", "text"),
    [
        *(("max_tokens", "many"), ("max_tokens", "1.5"), ("retries", "-1"), ("history_turns", "0")),
        *(("panel_seconds", "nan"), ("panel_seconds", "inf"), ("base_url", "example.org")),
    ],
)
def test_what_is_no_value_is_refused_by_name(name: str, text: str) -> None:
    with pytest.raises(ConfigError, match=name):
        manual.written(name, text)


async def test_a_value_is_typed_written_with_comments_kept_and_holds_at_once(tmp_path: Path) -> None:
    settings = preferences(tmp_path, "# mine\npanel_seconds = 4.0 # short\n")
    async with program(make_store(tmp_path), preferences=settings) as p:
        rows = await page(p, "panel_seconds")
        assert row(rows, "panel_seconds") == ("4", "the file")
        assert "without news" in str(p.app.screen.query_one("#setting-help").render())
        await p.press("enter", "backspace", "9", "enter")
        await p.until(lambda: row(rows, "panel_seconds") == ("9", "the file"))
        assert (tmp_path / "config.toml").read_text() == "# mine\npanel_seconds = 9.0 # short\n"
        assert p.main.conversing.panel.delay == 9.0
        await p.press("d")
        await p.until(lambda: p.main.conversing.panel.delay == Settings().panel_seconds)


async def test_a_wrong_value_is_said_and_nothing_is_written(tmp_path: Path) -> None:
    async with program(make_store(tmp_path), preferences=preferences(tmp_path, "retries = 2\n")) as p:
        await page(p, "retries")
        await p.press("enter", "x", "enter")
        assert "retries must be a whole number" in trouble(p)
        await p.press("escape")
        assert trouble(p) == ""
        assert isinstance(p.app.screen, ProgramSettings)
        await p.press("escape")
        await p.until(lambda: p.app.screen is p.main)
        assert (tmp_path / "config.toml").read_text() == "retries = 2\n"


async def test_the_theme_is_chosen_and_changes_before_ones_eyes(tmp_path: Path) -> None:
    async with program(make_store(tmp_path), preferences=preferences(tmp_path)) as p:
        await page(p, "theme")
        await p.press("enter")
        await p.dialog(Pick)
        await p.press("down", "enter")
        await p.until(lambda: p.app.theme == "textual-light")
        assert load_settings({"PERSONA_CONFIG": str(tmp_path / "config.toml")}).settings.theme == "light"


async def test_a_switch_turns_with_enter(tmp_path: Path) -> None:
    async with program(make_store(tmp_path), preferences=preferences(tmp_path)) as p:
        rows = await page(p, "mouse")
        await p.press("enter")
        await p.until(lambda: row(rows, "mouse") == ("no", "the file"))
        assert p.app.settings.mouse is False


async def test_where_the_environment_holds_over_the_file_that_is_said(tmp_path: Path) -> None:
    settings = preferences(tmp_path, 'model = "offline"\n', {"PERSONA_MODEL": "from-env"})
    async with program(make_store(tmp_path), model=ScriptedModel([]), preferences=settings) as p:
        rows = await page(p, "model")
        assert row(rows, "model") == ("from-env", "$PERSONA_MODEL")
        assert "$PERSONA_MODEL holds over the file" in str(p.app.screen.query_one("#setting-help").render())


async def test_a_file_that_broke_meanwhile_is_said_and_not_overwritten(tmp_path: Path) -> None:
    async with program(make_store(tmp_path), preferences=preferences(tmp_path)) as p:
        rows = await page(p, "mouse")
        (tmp_path / "config.toml").write_text("mouse = \n")
        await p.press("enter")
        await p.until(lambda: trouble(p) != "")
        assert (tmp_path / "config.toml").read_text() == "mouse = \n"
        assert row(rows, "mouse")[0] == "yes"


async def test_tables_are_edited_in_the_file_and_hold_when_it_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "config.toml"
    monkeypatch.setattr(
        "tui.external._edit", lambda app, file: file.write_text('[keys]\nhelp = "f10"\nnothing = "f9"\n')
    )
    async with program(make_store(tmp_path), preferences=preferences(tmp_path, None)) as p:
        await p.until(lambda: p.app.screen is not p.main)
        await p.press("escape")
        await p.until(lambda: p.app.screen is p.main)
        rows = await page(p, "keys")
        assert not path.exists()
        await p.press("enter")
        await p.until(lambda: row(rows, "keys")[0] == "help = f10")
        assert "there is no command 'nothing'" in trouble(p)
        await p.press("escape", "f10")
        await p.until(lambda: p.app.screen is not p.main)


async def test_what_a_run_goes_by_holds_from_the_next_message_in_open_conversations(tmp_path: Path) -> None:
    model = ScriptedModel([answer("One."), answer("Two.")])
    async with program(make_store(tmp_path), model=model, preferences=preferences(tmp_path)) as p:
        await p.run_to_end("first")
        await page(p, "max_tokens")
        await p.press("enter", "backspace", *"77", "enter")
        await p.until(lambda: p.app.settings.max_tokens == 77)
        await p.press("escape")
        await p.until(lambda: p.app.screen is p.main)
        await p.run_to_end("second")
        assert [request.max_tokens for request in model.requests][-1] == 77


async def test_odd_settings_are_told_at_the_start(tmp_path: Path) -> None:
    async with program(make_store(tmp_path), preferences=preferences(tmp_path, "colour = 1\n")) as p:
        await p.until(lambda: any("config.toml:1: unknown setting 'colour'" in text for text in p.messages))


async def test_what_is_set_in_the_program_holds_now_also_over_the_environment(tmp_path: Path) -> None:
    settings = preferences(tmp_path, "", {"PERSONA_MODEL": "from-env"})
    settings.store({"model": "offline"})
    assert settings.settings.model == "offline"
    assert settings.source("model") == "this session"
    settings.store({"base_url": "http://x"})
    assert settings.source("base_url") == "the file"
