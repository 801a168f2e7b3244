"""Bisect and coverage on the screen: asked by keyboard or mouse, seen, reverted, and gone when the prompt changes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from personas.changes import SetPrompt
from personas.files.home import open_home
from personas.versions.authorship import Author
from tests.agent.outputs.bench import SONNET
from tests.support.faulty_store import FaultyStore
from tests.support.messages_answers import Refusal, Reply, say
from tests.support.messages_server import MessagesServer
from tests.support.program import STAYS, Program, make_store, program
from tui.screens.dialogs.bisected import ShowBisected
from tui.screens.dialogs.picker import Picker
from tui.screens.dialogs.versions import Versions
from tui.settings.schema import Settings
from tui.widgets.margin_signs import MarginSigns

PROMPT = "- Be kind.\n- Be brief.\n- Tell jokes.\n"
FILE = f"""\
name = "Kind"
system_prompt = '''
{PROMPT}'''

[[test_inputs]]
id = "refund"
content = "I want my money back."
expect = [{{ type = "contains", value = "kind" }}]
"""
OTHER = """
[[test_inputs]]
id = "short"
content = "Hello."
expect = [{ type = "contains", value = "kind" }]
"""


def brain(body: dict[str, Any]) -> Reply:
    """A persona that follows its prompt, but never jokes."""
    return say(body["system"].replace("- Tell jokes.", ""))


@pytest.fixture
def server() -> Iterator[MessagesServer]:
    with MessagesServer(brain, key=None) as running:
        yield running


@pytest.fixture
def settings(server: MessagesServer) -> Settings:
    return Settings(panel_seconds=STAYS, base_url=server.url, model=SONNET)


def subtitle(p: Program) -> str:
    return str(p.main.prompt_pane.border_subtitle)


def seen(p: Program) -> str:
    """Return what stands on the screen."""
    return "\n".join("".join(part.text for part in row) for row in p.app.screen._compositor.render_strips())


async def test_the_version_that_turned_a_verdict_is_found_and_reverted(
    tmp_path: Path, settings: Settings, server: MessagesServer
) -> None:
    store = make_store(tmp_path, {"kind": FILE + OTHER})
    for prompt in (PROMPT + "One.\n", PROMPT.replace("kind", "cold") + "One.\n", "- Be cold.\nTwo.\nOne.\n"):
        store.change("kind", SetPrompt(prompt), revision=None, by=Author("import"))
    async with program(store, settings=settings, size=(80, 24)) as p:
        await p.say("/bisect")
        await p.dialog(Picker)
        assert "refund" in seen(p) and "short" in seen(p)
        await p.press("enter")
        await p.dialog(ShowBisected)
        assert "Version 2 changed the verdict of refund." in seen(p)
        assert "version 1 passes" in seen(p) and "-- Be kind." in seen(p)
        asked = len(server.bodies)
        await p.press("escape")
        # what is stored is used again: it is there at once, here from the row of the test input
        await p.press("f4")
        await p.until(lambda: p.main.tests.rows.has_focus)
        p.main.checks.action_bisect()
        await p.dialog(ShowBisected)
        assert len(server.bodies) == asked
        await p.press("r")
        await p.notified("Version 2 is reverted. Ctrl+Z undoes it.")
        assert p.on_disk("kind").startswith("- Be kind.\nTwo.\n") and p.prompt.raw == p.on_disk("kind")
        await p.press("ctrl+z")
        await p.until(lambda: p.on_disk("kind").startswith("- Be cold.\n"))
        # while a message is being written, no dialog comes between
        p.main.focus_chat()
        p.main.chat_bar.set_draft("half a mess")
        await p.main.checks.bisect("refund")
        await p.notified(
            "Bisect of refund: version 2 changed the verdict of refund. /bisect refund shows it."
        )
        assert p.app.screen is p.main and p.main.chat_bar.draft == "half a mess"
        p.main.chat_bar.set_draft("")
        # from a version of the timeline on
        await p.say("/versions")
        await p.dialog(Versions)
        await p.until(lambda: "the first text" in seen(p))
        await p.press("end", "up", "b")  # version 1
        await p.dialog(Picker)
        await p.press("enter")
        await p.dialog(ShowBisected)
        assert "version 1 passes" in seen(p) and "version 0 passes" not in seen(p)
        await p.press("escape")
        await p.say("/bisect nothing")
        await p.notified("has no test input 'nothing'")


async def test_what_a_coverage_found_stands_beside_the_prompt_until_it_changes(
    tmp_path: Path, settings: Settings, server: MessagesServer
) -> None:
    store = make_store(tmp_path, {"kind": FILE, "two": FILE})
    async with program(store, settings=settings, size=(80, 24)) as p:
        rows = lambda: [row[:30] for row in seen(p).splitlines() if "- " in row]  # noqa: E731
        before = rows()
        await p.say("/coverage")
        await p.notified(
            "Each of 3 pieces of the prompt removed: tests fail (1), answers change (1), no test detects it (1)."
        )
        assert [row[2:6] for row in rows()] == ["● - ", "◐ - ", "○ - "]
        assert "● tests fail without it: refund · saved" in subtitle(p)
        margin = p.main.prompt_pane.query_one(MarginSigns)
        await p.pilot.click(margin, offset=(0, 2))
        assert p.prompt.has_focus and p.prompt.cursor_location == (2, 0)
        await p.until(lambda: "○ no test detects its removal · saved" in subtitle(p))
        await p.press("up")
        await p.until(lambda: "◐ answers change without it: refund" in subtitle(p))
        assert not p.main.outputs.streaming("refund") and len(p.main.outputs.outputs_of("refund")) == 8
        await p.press("x")
        await p.until(lambda: not margin.display)
        assert "lines · ~" in subtitle(p)
        await p.press("backspace")
        await p.until(lambda: p.state == "saved")
        assert rows() == before
        asked = len(server.bodies)
        await p.say("/coverage")  # nothing has to be run again
        await p.until(lambda: margin.display)
        assert len(server.bodies) == asked
        await p.open("two")
        assert not margin.display


async def test_what_keeps_bisect_and_coverage_from_running_is_said(
    tmp_path: Path, settings: Settings, server: MessagesServer
) -> None:
    store = make_store(tmp_path, {"kind": 'system_prompt = "One."\n' + OTHER})
    async with program(store, settings=settings) as p:
        await p.say("/bisect")
        await p.notified("All versions have the same prompt")
        await p.say("/coverage")
        await p.notified("no pieces to remove")
        store.change("kind", SetPrompt(PROMPT), revision=None, by=Author("import"))
        await p.until(lambda: p.prompt.raw == PROMPT)
        server._brain = lambda _body: Refusal(400, "invalid_request_error", "no")
        await p.say("/coverage")
        await p.notified("Something could not be run: short: ")
    async with program(store, settings=Settings(panel_seconds=STAYS, model="offline")) as p:
        for command in ("/bisect", "/coverage"):
            await p.say(command)
            await p.notified("No model is connected")
            p.app.clear_notifications()


async def test_without_a_model_the_recorded_coverage_of_an_example_is_shown(tmp_path: Path) -> None:
    store = FaultyStore(open_home(tmp_path / "home", env={"PERSONA_CONFIG": str(tmp_path / "config.toml")}))
    offline = Settings(panel_seconds=STAYS, model="offline")
    async with program(store, persona_id="mentor", settings=offline) as p:
        await p.say("/coverage")
        await p.notified(
            "tests fail (1), answers change (2), no test detects it (3). career, just-tell-me: left out."
        )
        assert p.main.prompt_pane.query_one(MarginSigns).display
