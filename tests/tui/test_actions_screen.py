"""Actions on the screen: their list by state, one in its editor with its runs, and what is done with them there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.actions import consent, run_log
from agent.actions.run_log import ActionRun
from agent.core.turns import new_id
from agent.models.anthropic.client import AnthropicModel
from agent.models.scripted import ToolUse, answer
from agent.transcript.session_store import read_recent
from personas.action_store import create_action, get_action
from personas.actions.states import ActionState
from personas.files import trust
from personas.store import Store, utc_now
from tests.agent.outputs.bench import SONNET
from tests.support.messages_answers import call
from tests.support.messages_server import MessagesServer
from tests.support.program import Gate, GatedModel, Program, make_store, program
from tests.support.screen import drawn
from tui.screens.actions.screen import ActionsScreen
from tui.screens.dialogs.confirm import Confirm
from tui.screens.dialogs.picker import Picker
from tui.screens.dialogs.text_page import ShowText
from tui.screens.dialogs.text_prompt import AskLine
from tui.widgets.run_strip import RunStrip

NIGHTLY = {"title": "Nightly check", "persona": "one", "kind": "test", "schedule": "0 3 * * *"}
GREET = {"title": "Greet", "persona": "one", "kind": "persona", "instructions": "Say good morning.\n"}
WORK = {"title": "Work", "persona": "one", "kind": "agent", "instructions": "Do it.\n"}


def make_actions(root: Path, *wanted: dict[str, str]) -> Store:
    store = make_store(root)
    trust.trust(store.home.root)
    for values in wanted:
        create_action(store, values)
    return store


def ran(store: Store, action_id: str, state: ActionState, **values: str) -> ActionRun:
    """Have another program run an action."""
    home, run_id = store.home, new_id("run")
    run_log.begin(home, get_action(store, action_id), run_id, now=utc_now())
    return run_log.change(home, action_id, run_id, now=utc_now(), state=state, **values)


async def open_place(p: Program) -> ActionsScreen:
    await p.say("/actions")
    await p.until(lambda: isinstance(p.app.screen, ActionsScreen) and p.app.screen.rows.empty != "Reading…")
    return p.app.screen  # type: ignore[return-value]


def rows(place: ActionsScreen) -> dict[str, str]:
    return {row.key: f"{row.head} {row.text} {row.tail}".strip() for row in place.rows.rows}


async def test_an_action_is_made_edited_approved_and_cancelled_by_keyboard_on_80_columns(
    tmp_path: Path,
) -> None:
    store = make_actions(tmp_path)
    home = store.home
    async with program(store, persona_id="one", size=(80, 24)) as p:
        place = await open_place(p)
        assert "No actions yet: n makes one." in drawn(place)
        await p.press("n")
        await p.dialog(AskLine)
        await p.write("Nightly check")
        await p.press("enter")
        await p.dialog(Picker)
        await p.press("enter")  # the open persona
        await p.until(lambda: "does it begin with" in drawn(p.app.screen))
        await p.press("down", "down", "enter")
        await p.until(lambda: "When is it due?" in drawn(p.app.screen))
        await p.write("0 3 * * 1-6x")
        await p.press("enter")
        await p.until(lambda: "not a cron expression" in drawn(p.app.screen))
        await p.press("backspace", "enter")
        await p.until(lambda: 'kind = "test"' in place.editor.text)
        assert place.focused is place.editor and 'schedule = "0 3 * * 1-6"' in place.editor.text

        # What is typed is stored as a whole, when the person says so; what is no action is not stored.
        path = home.actions / "nightly-check.toml"
        before = path.read_text()
        await p.write("=")
        await p.press("f2")
        await p.until(lambda: "Not saved: " in drawn(place))
        await p.press("backspace")
        await p.write("priority = 3\n")
        await p.until(lambda: "F2 saves it" in drawn(place))
        assert path.read_text() == before
        await p.press("f2")
        await p.until(lambda: path.read_text() == f"priority = 3\n{before}")
        await p.until(lambda: "F2 saves it" not in drawn(place))

        await p.press("escape")
        assert rows(place)["nightly-check"].startswith("dormant ")
        await p.until(lambda: "not approved" in drawn(place))
        assert "persona action approve" not in drawn(place)
        await p.press("y")
        await p.until(lambda: isinstance(p.app.screen, Confirm))
        assert "test: the test inputs are run" in drawn(p.app.screen)
        assert "0 3 * * 1-6" in drawn(p.app.screen)
        await p.dialog(Confirm)
        await p.press("y")
        await p.until(lambda: consent.approval_of(home, get_action(store, "nightly-check")))
        await p.until(lambda: rows(place)["nightly-check"].startswith("scheduled "))
        assert "next " in rows(place)["nightly-check"]
        await p.press("c")
        await p.until(lambda: rows(place)["nightly-check"].startswith("cancelled "))
        await p.press("x")
        await p.dialog(Confirm)
        await p.press("y")
        await p.until(lambda: not place.rows.rows)
        await p.press("u")
        await p.dialog(Picker)
        await p.press("enter")
        await p.until(lambda: "nightly-check" in rows(place))
        await p.press("escape")
        await p.until(lambda: p.app.screen is p.main)


@pytest.fixture
def server() -> Iterator[MessagesServer]:
    with MessagesServer([]) as running:
        yield running


def model_of(server: MessagesServer) -> AnthropicModel:
    return AnthropicModel(SONNET, api_key=server.key, base_url=server.url)


ASK = call("ask_user", {"question": "Which [b]one[/b]?", "options": ["a", "b"]})
DONE = call("task_complete", {"summary": "All done."})


async def test_a_run_that_asks_is_answered_and_its_conversation_opened_like_any_other(
    tmp_path: Path, server: MessagesServer
) -> None:
    store = make_actions(tmp_path, WORK)
    server.script = [ASK, DONE]
    async with program(store, make_model=lambda _: model_of(server), persona_id="two", size=(160, 50)) as p:
        place = await open_place(p)
        await p.press("r")
        await p.until(
            lambda: rows(place)["work"].startswith("waiting ") and "Which [b]one[/b]?" in rows(place)["work"]
        )
        await p.press("escape")
        strip = p.main.query_one(RunStrip)
        await p.until(lambda: "Actions: 1 waiting for you" in str(strip.content))
        await p.pilot.click(RunStrip)
        await p.until(lambda: isinstance(p.app.screen, ActionsScreen))
        place = p.app.screen  # type: ignore[assignment]
        await p.until(lambda: rows(place))
        await p.press("enter")
        await p.until(lambda: place.runs.rows)
        await p.press("tab", "enter")
        await p.dialog(Picker)
        assert "Which [b]one[/b]?" in drawn(p.app.screen)
        await p.press("down", "enter")
        await p.until(lambda: run_log.runs(store.home, "work")[0].state == "completed")
        await p.until(lambda: place.runs.rows[0].text == "All done.")
        assert "b" in str(server.bodies[1]["messages"][-1])
        await p.press("o")
        await p.until(lambda: isinstance(p.app.screen, ShowText) and "All done." in drawn(p.app.screen))
        await p.press("escape")
        await p.until(lambda: p.app.screen is place)
        assert store.session_of("one") is None, "a run moves nobody's conversation"
        await p.press("enter")
        await p.until(lambda: p.app.screen is p.main and "Do it." in drawn(p.main))
        assert p.main.documents is not None and p.main.documents.id == "one"
        assert store.session_of("one") == run_log.runs(store.home, "work")[0].id


async def test_a_run_at_work_is_watched_and_what_is_said_meanwhile_is_for_the_persona_s_own_conversation(
    tmp_path: Path,
) -> None:
    store, gates = make_actions(tmp_path, WORK), (Gate(), Gate())
    steps = [
        [*answer("Mine.")],
        [*answer("First.")],
        [gates[0], *answer("Second.")],
        [gates[1], *answer(ToolUse("task_complete", {"summary": "All done."}))],
    ]
    model = GatedModel([*steps, answer("Yours.")])
    async with program(store, model=model, persona_id="one", size=(80, 24)) as p:
        await p.run_to_end("hello")
        own = store.session_of("one")
        place = await open_place(p)
        await p.press("r", "enter")
        await p.until(lambda: place.runs.rows and len(model.requests) == 3)
        place.runs.focus()
        await p.press("enter")
        await p.until(lambda: p.app.screen is p.main and "First." in drawn(p.main))
        assert "Second." not in drawn(p.main) and "hello" not in drawn(p.main)
        assert "Messages go to your conversation" in str(p.main.chat_bar.input.placeholder)
        gates[0].set()
        await p.until(lambda: "Second." in drawn(p.main))  # it comes by itself
        await p.say("/clear")
        await p.notified("You are viewing another run")
        await p.say("/unclear")
        await p.until(lambda: "Mine." in drawn(p.main) and "Second." not in drawn(p.main))

        place = await open_place(p)
        await p.press("enter")
        await p.until(lambda: place.runs.rows)
        place.runs.focus()
        await p.press("enter")
        await p.until(lambda: p.app.screen is p.main and "Second." in drawn(p.main))
        await p.say("and you?")
        await p.until(lambda: "Mine." in drawn(p.main))
        gates[1].set()
        await p.until(lambda: "Yours." in drawn(p.main))
        await p.until(lambda: run_log.runs(store.home, "work")[0].state == "completed")
        run = run_log.runs(store.home, "work")[0]
        assert store.session_of("one") == own != run.session_id
        said = [turn.content for turn in read_recent(store, "one", run.id) if turn.type == "user"]  # type: ignore[union-attr]
        assert said[0].startswith("Do it.") and "and you?" not in said


async def test_what_another_program_ran_is_told_until_it_is_seen_and_a_run_here_is_stopped_by_escape(
    tmp_path: Path,
) -> None:
    store = make_actions(tmp_path, NIGHTLY, {**WORK, "instructions": "Do it.\x1b]And more.\x07\n"})
    model = GatedModel([[Gate()]])
    async with program(store, model=model, persona_id="one", size=(80, 24)) as p:
        strip = p.main.query_one(RunStrip)
        run_log.note_look(store.home, utc_now())
        ran(store, "nightly-check", ActionState.COMPLETED, output="one: 1 passed")
        ran(store, "nightly-check", ActionState.FAILED, why="expired key")
        p.main._look()
        await p.until(lambda: "Actions: 1 done, 1 failed or stopped" in str(strip.content))
        place = await open_place(p)
        place.rows.select("nightly-check")
        await p.press("enter")
        await p.until(lambda: [row.head for row in place.runs.rows] == ["failed", "done"])
        assert "worker last active" in str(place.query_one("#actions-list").border_subtitle)
        assert "expired key" in place.runs.rows[0].text
        await p.press("escape")
        place.rows.select("work")
        await p.press("y")
        await p.until(lambda: "Do it.<U+001B>]And more.<U+0007>" in drawn(p.app.screen))
        await p.press("escape")
        await p.until(lambda: p.app.screen is place)
        await p.press("r")
        await p.until(lambda: rows(place)["work"].startswith("running "))
        await p.press("escape")
        await p.until(lambda: "Actions: 1 at work" in str(strip.content))
        await p.press("escape")
        await p.until(lambda: run_log.runs(store.home, "work")[0].state == "interrupted")
        await p.until(lambda: not p.main.actions.running)
