"""The settings of the program on a page: shown with their source, changed, written, and holding at once."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from agent.models.scripted import ScriptedModel, answer
from tests.support.program import Program, make_store, program
from tests.support.settings import page, preferences, row
from tui.screens.dialogs.picker import Picker
from tui.screens.dialogs.settings import ProgramSettings
from tui.settings import help_text as help_text_module
from tui.settings.schema import ConfigError, Settings, load_settings, unset_setting
from tui.widgets.text.line_input import LineInput
from tui.widgets.virtual_list import VirtualList


def trouble(p: Program) -> str:
    return str(p.app.screen.query_one("#setting-trouble").render())


def test_every_setting_is_explained_and_can_be_shown() -> None:
    assert set(help_text_module.explanations()) == set(help_text_module.names())
    for name in help_text_module.names():
        assert help_text_module.explanations()[name].endswith((".", '"', "none.")), name
        assert "  " not in help_text_module.explanations()[name]
        assert help_text_module.shown(getattr(Settings(), name))
        assert help_text_module.kind(name)


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [("max_tokens", " 4096 ", 4096), ("panel_seconds", "2,5", 2.5), ("model", "claude-x ", "claude-x")],
)
def test_what_is_typed_becomes_a_value_of_the_right_type(name: str, text: str, value: object) -> None:
    assert help_text_module.written(name, text) == value


@pytest.mark.parametrize(
    ("name", "text"),
    [
        *(("max_tokens", "many"), ("max_tokens", "1.5"), ("retries", "-1"), ("sent_turns", "0")),
        *(
            ("panel_seconds", "nan"),
            ("panel_seconds", "inf"),
            ("notify_after", "1e400"),
            ("theme", "nosuch"),
            ("base_url", "example.org"),
        ),
    ],
)
def test_what_is_no_value_is_refused_by_name(name: str, text: str) -> None:
    with pytest.raises(ConfigError, match=name):
        help_text_module.written(name, text)


async def test_a_value_is_written_with_comments_kept_and_holds_at_once_and_a_wrong_one_is_said(
    tmp_path: Path,
) -> None:
    path = tmp_path / "config.toml"
    settings = preferences(tmp_path, "# mine\npanel_seconds = 4.0 # short\nretries = 2\n")
    async with program(make_store(tmp_path), preferences=settings) as p:
        rows = await page(p, "panel_seconds")
        assert row(rows, "panel_seconds") == ("4", "the file")
        assert "without anything new" in str(p.app.screen.query_one("#setting-help").render())
        await p.press("enter", "backspace", "9", "enter")
        await p.until(lambda: row(rows, "panel_seconds") == ("9", "the file"))
        assert path.read_text() == "# mine\npanel_seconds = 9.0 # short\nretries = 2\n"
        assert p.main.conversation.panel.delay == 9.0
        await p.press("d")
        await p.until(lambda: p.main.conversation.panel.delay == Settings().panel_seconds)
        before = path.read_text()
        rows.select("retries")
        await p.pilot.pause()
        await p.press("enter", "x", "enter")
        assert "retries must be a whole number" in trouble(p)
        await p.press("escape")
        await p.until(lambda: trouble(p) == "")
        assert isinstance(p.app.screen, ProgramSettings) and path.read_text() == before
        rows.select("mouse")
        await p.press("enter")
        await p.until(lambda: row(rows, "mouse") == ("no", "the file"))
        assert p.app.settings.mouse is False
        rows.select("theme")
        await p.press("enter")
        await p.dialog(Picker)
        await p.press("down", "enter")
        await p.until(lambda: p.app.theme == "textual-light")
        assert load_settings({"PERSONA_CONFIG": str(path)}).settings.theme == "light"
        await p.press("escape")
        await p.until(lambda: p.app.screen is p.main)


async def test_with_a_reading_rate_the_panel_stays_as_long_as_the_answer_takes_to_read(
    tmp_path: Path,
) -> None:
    settings = Settings(panel_seconds=5.0, reading_rate=0.1)
    async with program(make_store(tmp_path), answer("word " * 20), settings=settings) as p:
        await p.run_to_end("hello")
        panel = p.main.conversation.panel
        await p.until(lambda: (panel.next_deadline() or 0.0) > time.monotonic() + 300)


async def test_a_value_that_is_begun_goes_into_no_other_setting(tmp_path: Path) -> None:
    known = preferences(tmp_path)
    async with program(make_store(tmp_path), preferences=known) as p:
        rows = await page(p, "max_tokens")
        await p.press("enter")
        field = p.app.screen.query_one("#setting-value", LineInput)
        await p.until(lambda: field.has_focus)
        await p.press("home", "5")
        rows.select("api_key_env")  # a click on that row
        await p.pilot.pause()
        assert not field.display and rows.has_focus
        await p.press("enter")
        await p.until(lambda: field.has_focus)
        await p.write("MY_KEY\n")
        await p.until(lambda: known.settings.api_key_env == "MY_KEY")
        rows.select("max_tokens")
        await p.press("enter")
        await p.until(lambda: field.has_focus)
        rows.set_reactive(VirtualList.cursor, 0)
        await p.press("home", "5", "enter")
        await p.until(lambda: known.settings.max_tokens == 50)
        assert known.path.read_text().splitlines() == ['api_key_env = "MY_KEY"', "max_tokens = 50"]


async def test_what_is_odd_in_the_file_and_where_the_environment_holds_over_it_is_said(
    tmp_path: Path,
) -> None:
    settings = preferences(tmp_path, 'model = "offline"\ncolour = 1\n', {"PERSONA_MODEL": "from-env"})
    async with program(make_store(tmp_path), model=ScriptedModel([]), preferences=settings) as p:
        await p.notified("config.toml:2: unknown setting 'colour'")
        rows = await page(p, "model")
        assert row(rows, "model") == ("from-env", "$PERSONA_MODEL")
        assert "$PERSONA_MODEL overrides the file" in str(p.app.screen.query_one("#setting-help").render())


async def test_a_file_that_broke_meanwhile_is_said_and_not_overwritten(tmp_path: Path) -> None:
    async with program(make_store(tmp_path), preferences=preferences(tmp_path)) as p:
        rows = await page(p, "mouse")
        (tmp_path / "config.toml").write_text("\nmouse = \n")
        await p.press("enter")
        await p.until(lambda: trouble(p) != "")
        assert trouble(p).startswith("config.toml line 2: Invalid value")
        assert trouble(p).endswith("; nothing was stored. e edits it.")
        assert (tmp_path / "config.toml").read_text() == "\nmouse = \n"
        assert row(rows, "mouse")[0] == "yes"


async def test_tables_are_edited_in_the_file_and_hold_when_it_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "config.toml"

    async def edit(_self: object, _app: object, file: Path) -> bool:
        file.write_text('[keys]\nhelp = "f10"\nnothing = "f9"\n')
        return True

    monkeypatch.setattr("tui.external_editor.process.ExternalEditor.run", edit)
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


async def test_what_is_set_in_the_program_holds_now_also_over_the_environment(tmp_path: Path) -> None:
    settings = preferences(tmp_path, "", {"PERSONA_MODEL": "from-env"})
    settings.store({"model": "offline"})
    assert settings.settings.model == "offline"
    assert settings.source("model") == "this session"
    settings.store({"base_url": "http://x"})
    assert settings.source("base_url") == "the file"


async def test_values_that_cannot_be_used_leave_the_editor_open_and_stop_only_the_agent(
    tmp_path: Path,
) -> None:
    settings = preferences(tmp_path, 'colours = "17"\napproval = "ask-al"\ntheme = "nosuch"\n')
    async with program(
        make_store(tmp_path), make_model=settings.make_model, preferences=settings, ready=False
    ) as p:
        await p.until(lambda: "3 problems in config.toml: /settings shows them." in p.messages)
        assert settings.name_model() == "none" and p.prompt.text
        rows = await page(p, "!1")
        assert [r.key for r in rows.rows[:4]] == ["!0", "!1", "!2", "model"]
        assert row(rows, "!2")[0].startswith("line 3: theme must be dark, light or")
        await p.press("escape")
        await p.until(lambda: p.app.screen is p.main)
        await p.say("hello")
        await p.notified(
            "config.toml:2: approval must be one of auto, ask-destructive, ask-all, not 'ask-al'"
        )
        await p.until(lambda: p.main.chat_bar.draft == "hello")
        with pytest.raises(ConfigError, match="approval must be"):
            settings.other(model="another", key="k")  # which would go by it too
        await asyncio.to_thread(settings.store, {"approval": "ask-all", "model": "offline"})
        await p.app.apply_settings()
        assert p.app.settings.approval == "ask-all" and settings.name_model() == "offline"
        await p.press("enter")
        await p.until(lambda: p.main.conversation.current is not None and p.main.chat_bar.draft == "")


async def test_a_key_in_a_setting_is_not_on_the_page(tmp_path: Path) -> None:
    text = 'api_key_command = "echo sk-ant-api03-AAAABBBB"\nmodel = "sk-ant-api03-AAAABBBB"\n'
    settings = preferences(tmp_path, text)
    async with program(make_store(tmp_path), preferences=settings) as p:
        rows = await page(p, "api_key_command")
        assert row(rows, "api_key_command")[0] == "echo [secret]"
        assert "AAAABBBB" not in str([(r.text, r.tail) for r in rows.rows]) + str(p.messages)


async def test_a_theme_that_does_not_exist_is_said(tmp_path: Path) -> None:
    async with program(make_store(tmp_path), settings=Settings(theme="gruvbux")) as p:
        await p.until(lambda: "There is no theme 'gruvbux'; did you mean gruvbox?" in p.messages)
        assert p.app.theme == "textual-dark"


async def test_what_is_wrong_in_the_file_is_one_message_and_each_of_it_a_row_of_the_page(
    tmp_path: Path,
) -> None:
    text = 'odd = 1\nstrange = 2\n\n[keys]\nnowhere = "f5"\n'
    async with program(make_store(tmp_path), preferences=preferences(tmp_path, text), size=(80, 24)) as p:
        await p.until(lambda: p.messages)
        assert p.messages == ["3 problems in config.toml: /settings shows them."]
        rows = await page(p, "!2")
        assert row(rows, "!0") == ("line 1: unknown setting 'odd' is ignored", "")
        assert [r.key for r in rows.rows[:4]] == ["!0", "!1", "!2", "model"]
        help_text = p.app.screen.query_one("#setting-help")
        await p.until(lambda: "config.toml:5: " in str(help_text.render()))
        await p.press("d")  # has no default
        p.main.app.preferences.path.write_text("odd = 1\n")  # type: ignore[attr-defined]
        await p.app.screen._stored(p.app.preferences.read_again)  # type: ignore[attr-defined]
        assert [r.key for r in rows.rows[:2]] == ["!0", "model"]


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("# above\ncalm = 'never'  # for SSH\nmouse = false\n", "# above\n# for SSH\nmouse = false\n"),
        ("\ufeffmouse = false\r\ncalm = 'never'\r\n", "\ufeffmouse = false\r\n"),
        ("mouse = false\n[keys]\nhelp = 'f10'\n", None),
        ("", None),
    ],
    ids=["comments", "windows", "not in it", "empty"],
)
def test_a_setting_that_is_unset_leaves_the_file_with_its_comments_and_its_line_ends(
    text: str, left: str | None, tmp_path: Path
) -> None:
    path = tmp_path / "config.toml"
    path.write_bytes(text.encode())
    unset_setting(path, "calm")
    assert path.read_bytes().decode() == (text if left is None else left)


async def test_the_default_takes_the_setting_out_of_the_file_and_what_else_there_is_holds(
    tmp_path: Path,
) -> None:
    settings = preferences(tmp_path, '# mine\nmodel = "of-the-file"\n', {"PERSONA_MODEL": "from-env"})
    settings.use_model("of-this-session")
    async with program(make_store(tmp_path), model=ScriptedModel([]), preferences=settings) as p:
        rows = await page(p, "model")
        assert row(rows, "model") == ("of-this-session", "this session")
        await p.press("d")
        await p.until(lambda: row(rows, "model") == ("from-env", "$PERSONA_MODEL"))
        assert (tmp_path / "config.toml").read_text() == "# mine\n"


def test_a_pasted_key_is_gone_when_the_settings_name_another_server(tmp_path: Path) -> None:
    settings = preferences(tmp_path, 'base_url = "http://one"\nmodel = "m"\n')
    settings.use(settings.other(key="given"))
    settings.store({"model": "n"})
    assert settings.connection().api_key == "given"
    settings.store({"base_url": "http://two"})
    assert settings.connection().api_key == ""
    settings.use(settings.other(key="given"))
    settings.unset("base_url")
    assert settings.connection().api_key == ""
