"""The main screen at every size, with any text, in light and dark; and what it does before the first paint."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from agent.models.scripted import ToolUse, answer
from tests.support.hostile import EVIL, QUOTED, assert_harmless
from tests.support.program import make_store, program
from tests.support.screen import drawn
from tests.tui.test_outbox import said_to
from tui.screens.dialogs.confirm import Confirm
from tui.widgets.persona_fields import SettingsPane

HOSTILE_FILE = f'''
name = "{QUOTED}"
description = "{QUOTED}"
tags = ["{QUOTED}"]
system_prompt = "{QUOTED}\\n# {QUOTED}\\n{{{{user}}}} <t> `c` **b**"
[model]
name = "{QUOTED}"
[[test_inputs]]
id = "[/]"
content = "{QUOTED}"
'''.strip()


async def test_prompt_chat_bar_and_footer_are_there_at_every_size(tmp_path: Path) -> None:
    sizes = [(60, 15), (100, 30), (160, 50)]
    async with program(make_store(tmp_path), answer("Hi."), size=sizes[0]) as p:
        await p.run_to_end("hello")
        for size in sizes:
            await p.pilot.resize_terminal(*size)
            text = drawn(p.app.screen)
            assert "first line" in text
            assert "Send" in text
            assert "Esc" in text
            assert len(text) >= size[0] * size[1] * 0.9
            bar, keys = p.main.chat_bar.region, p.main.query_one("#keys").region
            assert bar.width == size[0]
            assert keys.bottom == size[1]
            assert p.main.chat_bar.input.region.height == 1


async def test_a_terminal_that_is_too_small_shows_nothing_but_the_size_it_needs_and_is_survived(
    tmp_path: Path,
) -> None:
    async with program(make_store(tmp_path), size=(6, 1)) as p:
        await p.write("draft")
        for size, told in (
            ((6, 1), "60×15"),
            ((10, 3), "at least 60×15"),
            ((59, 14), "59×14 is too small: at least 60×15"),
            ((1, 1), ""),
            ((59, 24), "59×24 is too small: at least 60×15"),
            ((80, 14), "80×14 is too small: at least 60×15"),
        ):
            await p.pilot.resize_terminal(*size)
            assert p.main.has_class("-too-small")
            assert not told or " ".join(drawn(p.app.screen).split()) == told
        await p.pilot.resize_terminal(80, 24)
        await p.until(lambda: "draft" in drawn(p.app.screen) and "first line" in drawn(p.app.screen))
        assert p.main.focused is p.main.chat_bar.input


async def test_a_narrow_terminal_shows_one_pane_and_a_row_of_names(tmp_path: Path) -> None:
    async with program(make_store(tmp_path), size=(80, 24), frames=True) as p:
        assert p.prompt.is_on_screen
        await p.press("f4")
        assert not p.prompt.is_on_screen
        assert p.main.tests.rows.is_on_screen
        await p.pilot.click("#tabs", offset=(3, 0))
        assert p.prompt.is_on_screen
        assert p.prompt.has_focus
        await p.pilot.resize_terminal(140, 40)
        await p.until(lambda: p.main.tests.rows.is_on_screen and p.prompt.is_on_screen)


async def test_resizing_back_and_forth_while_the_agent_answers(tmp_path: Path) -> None:
    async with program(make_store(tmp_path), answer("word " * 400, chunk=5), frames=True) as p:
        await p.say("go")
        for size in (60, 15), (160, 50), (10, 4), (80, 24), (120, 40):
            await p.pilot.resize_terminal(*size)
        await p.until(lambda: not p.main.conversation.running)
        await p.until(lambda: "word word" in drawn(p.app.screen))


async def test_hostile_text_is_only_text_everywhere(tmp_path: Path) -> None:
    store = make_store(tmp_path, {"a": HOSTILE_FILE, "b": f"# {QUOTED}\nname = "})
    script = [answer(EVIL, ToolUse("update_persona_name", {"name": EVIL})), answer(f"Done {EVIL}")]
    async with program(store, *script, size=(80, 24), frames=True) as p:
        for pane in ("prompt", "tests", "settings", "personas"):
            p.main.action_go(pane)
            await p.pilot.pause()
            assert_harmless(drawn(p.app.screen))
        await p.run_to_end(EVIL)
        p.app.show_message(EVIL, error=True)
        p.main.tests.rows.tooltip = None
        await p.pilot.pause(0.1)
        assert_harmless(drawn(p.app.screen))
        assert p.app.is_running
        await p.press("ctrl+p", "number_sign")
        await p.pilot.pause()
        assert_harmless(drawn(p.app.screen))


async def test_a_long_line_without_a_blank_is_drawn(tmp_path: Path) -> None:
    long = "x" * 100_000
    store = make_store(tmp_path, {"a": f'name = "{long}"\nsystem_prompt = "{long}"\n'})
    async with program(store, answer(long), frames=True) as p:
        await p.run_to_end("go")
        assert_harmless(drawn(p.app.screen))


async def test_a_folder_with_personas_is_offered_once_as_home(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    answers: list[bool] = []
    async with program(
        store, find_offer=lambda: tmp_path / "[x]", accept=answers.append, ready=False, frames=True
    ) as p:
        await p.dialog(Confirm)
        assert "[x]" in str(p.app.screen.query_one(".dialog-text").render())
        await p.press("y")
        await p.until(lambda: p.main.documents is not None)
        assert answers == [True]


async def test_putting_the_offer_off_remembers_nothing(tmp_path: Path) -> None:
    answers: list[bool] = []
    async with program(
        make_store(tmp_path), find_offer=lambda: tmp_path, accept=answers.append, ready=False
    ) as p:
        await p.dialog(Confirm)
        await p.press("escape")
        await p.until(lambda: p.main.documents is not None)
        assert answers == []


async def test_a_home_that_cannot_be_opened_ends_the_program_with_one_line(tmp_path: Path) -> None:
    from personas.errors import StorageError

    def fail() -> object:
        raise StorageError("The disk is away.")

    async with program(make_store(tmp_path), open_store=fail, ready=False, frames=True) as p:
        await p.until(lambda: p.app.return_code == 1)
        assert p.app.shutdown.failure == "The disk is away."


async def test_a_fault_in_an_operation_is_told_and_ends_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "tui.app.emergency_save.write_fault", lambda text: noted.append(text) or tmp_path / "fault.log"
    )
    noted: list[str] = []

    async def broken() -> None:
        raise RuntimeError("oops sk-abcdefghijklmnop")

    async with program(make_store(tmp_path), frames=True) as p:
        p.main.start(broken())
        await p.notified("RuntimeError")
        assert "oops" in noted[0]
        assert "sk-abc" not in noted[0]
        assert p.app.is_running


AFTER_THE_FIRST_PAINT = (
    "agent", "anthropic", "click", "httpx2", "markdown_it", "pydantic", "sqlite3", "tomllib",
    "personas.files.home", "personas.store", "personas.versions",
    "tui.chat.conversations", "tui.document.merge", "tui.document.undo", "tui.drafts.store", "tui.screens.dialogs",
    "tui.settings.model_factory", "tui.widgets.agent_panel", "tui.widgets.conversation", "tui.widgets.output_pane",
    "tui.widgets.question_box", "tui.widgets.talk_panel",
)  # fmt: skip
"""Modules and packages that the screen does without until something is to be shown in them, or done by them."""


def test_the_first_paint_loads_no_agent_no_dialog_and_no_panel() -> None:
    code = (
        "import sys; import tui.cli.error_handling, tui.cli.start, tui.app.app, tui.screens.main.screen, "
        "tui.terminal.textual_compat.input_parser; "
    )
    done = subprocess.run(
        [sys.executable, "-c", f"{code} print(*sys.modules)"], capture_output=True, text=True, check=True
    )
    loaded = done.stdout.split()
    assert [
        name for name in loaded if f"{name}.".startswith(tuple(f"{one}." for one in AFTER_THE_FIRST_PAINT))
    ] == []


async def test_the_screen_is_there_before_the_personas_are_read(tmp_path: Path) -> None:
    import threading

    gate = threading.Event()
    store = make_store(tmp_path)

    def slow() -> object:
        gate.wait(60)
        return store

    async with program(store, answer("Yes?"), open_store=slow, ready=False, frames=True) as p:
        await p.until(lambda: "Test inputs" in drawn(p.app.screen))
        await p.write("typed early")
        assert p.main.chat_bar.draft == "typed early"
        await p.press("enter")
        gate.set()
        await p.until(lambda: "Yes?" in said_to(store, "one"))
        assert "typed early" in said_to(store, "one")
        await p.until(lambda: not p.main.conversation.running)


async def test_whether_the_prompt_is_saved_is_said_at_any_width(tmp_path: Path) -> None:
    long = 'name = "One"\nsystem_prompt = """\n' + "words in a line\n" * 400 + '"""\n'
    async with program(make_store(tmp_path, {"one": long}), size=(120, 30)) as p:
        await p.until(lambda: p.state == "saved")
        for width in (60, 100, 160):
            await p.pilot.resize_terminal(width, 30)
            await p.pilot.pause()
            pane = p.prompt.parent
            said = str(pane.border_subtitle)
            assert said.endswith("saved")
            assert len(said) <= pane.size.width
        assert said.startswith("401 lines · ~")


async def test_the_settings_take_their_room_before_their_fields_are_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on, fill = asyncio.Event(), SettingsPane.fill

    async def later(pane: SettingsPane) -> None:
        await go_on.wait()
        await fill(pane)

    monkeypatch.setattr(SettingsPane, "fill", later)
    async with program(make_store(tmp_path), size=(120, 40), ready=False) as p:
        settings = p.main.settings
        await p.until(lambda: settings.region.height)
        first = settings.region
        go_on.set()
        await p.until(lambda: settings.focus_target and settings.focus_target.region)
        assert settings.region == first and settings.max_scroll_y == 0
