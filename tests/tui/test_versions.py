"""The timeline of versions, and the comparison of two of them, over what is stored."""

from __future__ import annotations

import threading
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from agent.models.anthropic.client import AnthropicModel
from personas.changes import SetName, SetPrompt
from personas.files.home import open_home
from personas.versions.authorship import Author, Version
from tests.agent.outputs.bench import SONNET, answer_of
from tests.support.faulty_store import FaultyStore
from tests.support.hostile import ESCAPES, MARKUP, forbidden_in
from tests.support.messages_answers import Reply, say
from tests.support.messages_answers import call as call_tool
from tests.support.messages_server import MessagesServer
from tests.support.program import STAYS, Program, make_store, program
from tests.support.screen import drawn
from tui.document.version_names import heading, when
from tui.screens.dialogs.comparison import ShowComparison
from tui.screens.dialogs.confirm import Confirm
from tui.screens.dialogs.diff import ShowDiff
from tui.screens.dialogs.text_prompt import AskLine
from tui.screens.dialogs.versions import Versions
from tui.screens.version_actions import FIRST_READ
from tui.settings.schema import Settings
from tui.widgets.virtual_list import VirtualList

KIND = 'name = "Kind"\nsystem_prompt = "Be kind."\n' + "".join(
    f'\n[[test_inputs]]\nid = "n{i}"\ncontent = "question {i}"\nexpect = [{{ type = "contains", value = "kind" }}]\n'
    for i in range(2)
)
EVIL = "".join(ESCAPES.values()) + "".join(MARKUP)
ZONE = timezone(timedelta(hours=2))
NOW = datetime(2026, 11, 29, 20, 0, tzinfo=ZONE)


def rows(p: Program) -> list[str]:
    return [f"{row.head} {row.text} {row.tail}" for row in p.app.screen.query_one(VirtualList).rows]


async def open_versions(p: Program, number: int) -> None:
    p.main.version_actions.action_versions()
    await p.until(lambda: isinstance(p.app.screen, Versions) and len(rows(p)) >= number)


async def test_the_timeline_shows_versions_and_does_what_is_chosen_in_it(tmp_path: Path) -> None:
    store = FaultyStore(open_home(tmp_path / "home", env={"PERSONA_CONFIG": str(tmp_path / "config.toml")}))
    async with program(store, persona_id="mentor", size=(80, 24)) as p:
        before = p.prompt.text
        await p.say("/versions")
        await p.until(lambda: isinstance(p.app.screen, Versions) and "2✓ 1✗" in "".join(rows(p)))
        timeline = p.app.screen
        assert "an import · Ask before you explain" in rows(p)[0]
        assert "the first text" in rows(p)[1] and "1✓ 2✗" in rows(p)[1]
        await p.press("enter")
        await p.dialog(ShowDiff)
        assert "Find out where they are" in drawn(p.app.screen)
        await p.press("escape")
        await p.until(lambda: p.app.screen is timeline)

        await p.press("j", "r")
        await p.until(lambda: len(rows(p)) == 3)
        await p.notified("Version 0 is restored. Ctrl+Z brings back what was there.")
        assert p.on_disk("mentor").strip() == p.prompt.text.strip() != before.strip()
        await p.press("m")
        await p.notified("The first text needs no name")
        await p.press("home", "m")
        await p.dialog(AskLine)
        await p.write("plain")
        await p.press("enter")
        await p.until(lambda: p.app.screen is timeline and "“plain”" in "".join(rows(p)))

        await p.press("j", "space", "enter")
        await p.dialog(ShowDiff)
        assert "From version 0 to version 1" in drawn(p.app.screen)
        await p.press("escape")
        await p.until(lambda: p.app.screen is timeline)
        await p.press("home", "space", "end", "space", "enter")
        await p.until(lambda: "unmark the others" in drawn(timeline))
        await p.press("home", "space", "space", "space", "home", "j", "c")
        await p.dialog(ShowComparison)
        await p.until(lambda: "nothing to compare" in drawn(p.app.screen) or "broke" in drawn(p.app.screen))
        await p.press("escape")
        await p.until(lambda: p.app.screen is timeline)
        await p.press("escape")
        await p.until(lambda: p.app.screen is p.main)
        p.main.action_go("personas")
        await p.press("ctrl+z")
        await p.until(lambda: p.prompt.text == before)

        store.change("mentor", SetName("Guide"), by=Author("agent", "s", "r1"), revision=None)
        store.change("mentor", SetPrompt("Be brief."), by=Author("agent", "s", "r2"), revision=None)
        await p.say("/versions")
        await p.until(lambda: isinstance(p.app.screen, Versions) and len(rows(p)) == 6)
        await p.press("j", "u")
        await p.notified("Undone: the agent's run")
        assert store.get("mentor").name == "Mentor" and store.get("mentor").system_prompt == "Be brief."
        await p.until(lambda: len(rows(p)) == 7)
        await p.press("end", "u")
        await p.notified("Version 0 is not a change that can be undone.")


@pytest.mark.parametrize("size", [(80, 24), (160, 50)])
async def test_the_comparison_shows_what_an_edit_did(tmp_path: Path, size: tuple[int, int]) -> None:
    store = FaultyStore(open_home(tmp_path / "home", env={"PERSONA_CONFIG": str(tmp_path / "config.toml")}))
    async with program(store, persona_id="mentor", size=size) as p:
        await p.say("/compare")
        shown: ShowComparison = await p.dialog(ShowComparison)
        await p.until(lambda: "too few to tell" in drawn(shown))
        first = drawn(shown)
        assert "broke 1, fixed 2" in first and "before the import of" in first and "now" in first
        assert "recursion  fixed" in first and "✗ 71 words · recorded · regex: does not match" in first
        box = shown.query_one("#comparison-texts")
        await p.press("n", "n", "n", "n", "n", "n")
        await p.until(lambda: "just-tell-me  broke" in drawn(shown))
        assert box.scroll_offset.y > 0 or size[1] == 50
        await p.press("p", "p", "p", "p", "p")
        await p.press("w")
        await p.until(lambda: "recursion  fixed" in drawn(shown))
        await p.press("q")
        await p.until(lambda: p.app.screen is p.main)

        await p.say("/compare 7")
        await p.notified("has no version '7'")
        await p.until(lambda: p.app.screen is p.main)
        await p.say("/compare 0 1")
        await p.until(lambda: isinstance(p.app.screen, ShowComparison) and "broke 1" in drawn(p.app.screen))


async def test_what_a_run_of_the_agent_did_is_run_and_streams_in(tmp_path: Path) -> None:
    gate, calls = threading.Event(), list[Reply]()

    def brain(body: dict[str, Any]) -> Reply:
        if "tools" in body:
            return calls.pop() if calls else say("Done.")
        gate.wait(60)
        return say(answer_of(body))

    store = make_store(tmp_path, {"kind": KIND})
    with MessagesServer(brain, key=None) as server:
        settings = Settings(panel_seconds=STAYS, base_url=server.url, model=SONNET, confirm_requests=3)
        agent = AnthropicModel(SONNET, base_url=server.url)
        async with program(store, model=agent, settings=settings, size=(160, 50)) as p:
            await p.run_to_end("hello")
            assert not p.main.comparison_actions.compare_read_run(), "nothing is being read"
            calls.append(call_tool("update_system_prompt", {"system_prompt": "Be cruel."}))
            await p.run_to_end("be cruel")
            view = p.main.conversation.view
            rows = [view.render_line(y).text for y in range(view.size.height)]
            row = next(y for y, text in enumerate(rows) if text.rstrip().endswith("try"))
            await p.pilot.click(view, offset=(rows[row].rindex("try") + 1, row))
            question = await p.dialog(Confirm)
            assert "This takes" in drawn(question)
            await p.press("y")
            shown: ShowComparison = await p.dialog(ShowComparison)
            await p.until(lambda: "Running: 0/4" in drawn(shown) and "waits" in drawn(shown))
            assert "before the agent's edit of" in drawn(shown) and "s stops the run" in drawn(shown)
            gate.set()
            await p.until(lambda: "broke 2, fixed 0: too few to tell" in drawn(shown))
            assert "Be cruel. / question 1" in drawn(shown) and "stops the run" not in drawn(shown)
            assert "✗ 5 words · contains: has no “kind”" in drawn(shown)
            await p.press("escape")
            await p.until(lambda: p.app.screen is p.main)

            p.main.conversation.panel_controller.start_reading()
            await p.press("k")
            await p.press("ctrl+t")
            await p.until(
                lambda: isinstance(p.app.screen, ShowComparison) and "broke 2" in drawn(p.app.screen)
            )
            await p.press("escape")
            await p.until(lambda: p.app.screen is p.main)

            gate.clear()
            store.change("kind", SetPrompt("Be quick."), revision=None, by=Author("user"))
            await p.until(lambda: p.prompt.text == "Be quick.")
            p.main.start(p.main.comparison_actions.compare(1))
            shown = await p.dialog(ShowComparison)
            await p.until(lambda: "Running: 0/2" in drawn(shown))
            await p.press("s")
            await p.until(
                lambda: "nothing to compare" in drawn(shown) and "there is no output" in drawn(shown)
            )
            await p.press("escape")
            assert p.main.outputs.progress is None
            gate.set()


async def test_without_a_model_it_says_what_is_missing(tmp_path: Path) -> None:
    store = make_store(tmp_path, {"kind": KIND})
    store.change("kind", SetPrompt("Be cruel."), revision=None, by=Author("user"))
    async with program(store) as p:
        await p.say("/compare 0")
        shown: ShowComparison = await p.dialog(ShowComparison)
        await p.until(lambda: "4 outputs missing: No model is connected" in drawn(shown))
        await p.press("escape")
        await p.say("/compare a b c")
        await p.notified("/compare takes at most two versions")


async def test_the_newest_versions_stand_before_all_others_are_read(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    for number in range(FIRST_READ + 20):
        by = Author("agent", "session", f"run_{number}", EVIL if number % 2 else f"request {number}")
        store.change("one", SetPrompt(f"Prompt {number}.\n"), revision=None, by=by)
    store.name_version("one", MARKUP[0])
    async with program(store, persona_id="one", size=(80, 24)) as p:
        held = store.hold("log")
        await open_versions(p, FIRST_READ - 1)
        assert f" {FIRST_READ + 20} · " in rows(p)[0] and "request" in rows(p)[1]
        assert forbidden_in(drawn(p.app.screen)) == []
        await p.press("j")
        held.goes_on.set()
        await p.until(lambda: len(rows(p)) == FIRST_READ + 21)
        assert p.app.screen.query_one(VirtualList).cursor == 1


def version(number: int, kind: str, at: str, **options: object) -> Version:
    return Version(number, Author(kind), at, "why", "a" * 64, "b" * 64, **options)  # type: ignore[arg-type]


def test_a_text_is_called_by_who_made_it_and_when() -> None:
    log = [
        version(4, "user", "2026-11-29T13:00:00Z", role="undo"),
        version(3, "agent", "2026-11-29T12:02:00Z"),
        version(2, "agent", "2026-11-28T12:02:00Z"),
        version(1, "user", "2025-01-02T03:04:05Z", name="warm \x1b[2J"),
    ]

    def called(number: int, *, before: bool) -> str:
        return heading(log, number, 4, NOW, before=before)

    assert called(2, before=True) == "before the agent's edit of 14:02"
    assert called(2, before=False) == "after the agent's edit of 28 Nov 14:02"
    assert called(3, before=True) == "before the undo of 15:00"
    assert called(4, before=False) == "now"
    assert called(1, before=True) == "“warm”"
    assert called(0, before=False) == "before your edit of 2 Jan 2025"
    assert heading([], 0, 5, NOW, before=True) == "the first text"
    assert when("no time \x1b[2J at all, and long", NOW) == "no time at all,…"
