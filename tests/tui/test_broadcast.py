"""One message to the agents of marked personas, and the queue in which what they propose is kept, edited or refused."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest
from textual.events import Key

from agent.models.anthropic.client import AnthropicModel
from agent.models.scripted import answer
from personas import proposals
from personas.changes import EditPrompt
from personas.store import Store
from personas.versions.authorship import USER, Author
from tests.support.messages_server import MessagesServer, Refusal
from tests.support.program import Gate, GatedModel, Program, make_store, program
from tests.support.screen import drawn
from tests.tui.test_cli_broadcast import PROMPT, answers
from tui.screens.dialogs.proposal import ShowProposal
from tui.screens.dialogs.text_prompt import AskText
from tui.settings.schema import Settings
from tui.terminal.textual_compat import key_order

IDS = [f"p{number}" for number in range(7)]
FILES = {
    key: f'name = "{key.upper()}"\nsystem_prompt = """\n{PROMPT.format(key)}"""\n' for key in [*IDS, "q"]
}


pytestmark = pytest.mark.usefixtures("own_settings_file")


def strip(p: Program) -> str:
    return str(p.main.output_actions.strip.render())


async def proposal(p: Program, place: str) -> ShowProposal:
    """Wait for this place of the queue."""
    await p.until(lambda: isinstance(p.app.screen, ShowProposal) and f"{place} of " in drawn(p.app.screen))
    dialog: ShowProposal = await p.dialog(ShowProposal)
    return dialog


async def test_marked_personas_get_one_message_and_what_is_kept_of_it_is_one_undo(tmp_path: Path) -> None:
    store = make_store(tmp_path, FILES)
    before = {key: p.read_bytes() for key in FILES if (p := store.path(key))}
    with MessagesServer(answers(p6=Refusal(400))) as server:
        model = AnthropicModel("claude-sonnet-5-5", base_url=server.url, api_key=server.key)
        settings = Settings(tasks_at_once=2, panel_seconds=600.0)
        async with program(store, model=model, persona_id="p2", settings=settings) as p:
            await p.say("/each Warmer.")
            await p.notified("Mark the personas it is for in their list: Space there marks one.")
            assert p.main.chat_bar.draft == "/each Warmer."
            p.main.chat_bar.set_draft("")
            p.main.personas.focus_target.focus()
            await p.press("asterisk", "end", "space", "m")  # all but the last
            await p.dialog(AskText)
            assert "Message to the agents of 7 personas" in drawn(p.app.screen)
            await p.write("Warmer.")
            await p.press("enter")
            await p.until(
                lambda: "6 of 7 personas have a proposal: /review shows them. Failed: P6" in strip(p)
            )
            assert not p.main.personas.rows.marked
            assert {key: store.path(key).read_bytes() for key in FILES} == before
            assert p.main.conversation.badges["p6"] == "failed" and p.main.conversation.badges["p0"] == "done"
            theirs = store.change("p3", EditPrompt("Be kind.", "Be rude."), revision=None, by=USER)

            await p.say("/review")
            words = {"p1": ""}
            for place in range(1, 7):
                dialog = await proposal(p, str(place))
                key = next(one for one in IDS if f" · {one.upper()} · " in drawn(dialog))
                if key == "p0":
                    words[key] = "kind"
                    await p.press("x")
                elif key == "p1":
                    await p.press("e")
                    await p.dialog(AskText)
                    await p.write("Always.")  # behind what is proposed
                    await p.press("enter")
                    again = await proposal(p, str(place))
                    await p.until(lambda again=again: "+Always." in drawn(again))
                    await p.press("y")
                elif key == "p3":
                    assert "Could not keep proposal-1 of p3" in drawn(dialog) and "keeps it" not in drawn(
                        dialog
                    )
                    words[key] = "rude"
                    await p.press("y", "n")  # it waits on
                else:
                    words[key] = "warm"
                    await p.press("y")
            await p.notified("4 kept, 1 refused, 1 left. F8 undoes what you kept.")
            prompts = {key: store.get(key).system_prompt for key in words}
            assert prompts.pop("p1") == PROMPT.format("p1").replace("kind", "warm") + "Always."
            assert prompts == {key: PROMPT.format(key).replace("kind", words[key]) for key in prompts}
            assert p.prompt.text == prompts["p2"] and store.path("p6").read_bytes() == before["p6"]

            await p.press("f8")
            await p.until(lambda: p.prompt.text == PROMPT.format("p2"))
            await p.until(lambda: "warm" not in store.text("p5"))
            now = {key: store.path(key).read_bytes() for key in FILES}
            assert now == {**before, "p3": now["p3"]} and store.get("p3").revision == theirs.revision


async def test_a_message_on_its_way_is_stopped_or_left_as_a_whole(tmp_path: Path) -> None:
    store = make_store(tmp_path, {key: FILES[key] for key in IDS[:3]})
    model = GatedModel([[Gate()], [Gate()]])
    settings = Settings(tasks_at_once=1, panel_seconds=600.0)
    async with program(store, model=model, persona_id="p2", settings=settings) as p:

        async def send() -> None:
            p.main.personas.focus_target.focus()
            await p.press("home", *["space"] * 3)
            await p.say("/each Warmer.\nAlways.")
            await p.until(lambda: "1 at work, 2 to come · Esc stops" in strip(p))

        await send()
        assert p.main.conversation.runs.working == ["P0", "P1", "P2"]
        p.main.personas.focus_target.focus()
        await p.press("space")
        await p.say("/each Now.")  # one at a time
        await p.notified("A message to many personas is being answered")
        assert p.main.chat_bar.draft == "/each Now."
        p.main.chat_bar.set_draft("")
        await p.press("escape")
        await p.until(lambda: "0 of 3 personas have a proposal. Failed: P0" in strip(p))
        assert p.main.conversation.broadcast is None and len(model.requests) == 1
        await p.say("/review")
        await p.notified("No pending proposals.")
        await send()
    assert [store.session_of(key) is not None for key in IDS[:3]] == [True, False, False]


async def test_who_only_answers_is_counted(tmp_path: Path) -> None:
    store = make_store(tmp_path, {key: FILES[key] for key in IDS[:2]})
    async with program(store, *[answer("Which word?")] * 2, settings=Settings(panel_seconds=600.0)) as p:
        p.main.personas.focus_target.focus()
        await p.press("asterisk")
        await p.say("/each Warmer.")
        await p.until(lambda: "0 of 2 personas have a proposal. 2 answered without one" in strip(p))


async def test_keys_in_the_queue_go_to_the_proposal_that_they_are_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = make_store(tmp_path, {key: FILES[key] for key in IDS[:3]})
    for key in IDS[:3]:
        by = Author("agent", "s", key, "Warmer.")
        run = proposals.ProposalStore(Store(store.home), key, by)
        run.change(key, EditPrompt("kind", "warm"), revision=None, by=by)
    refuse, begun, may_go_on = proposals.refuse, threading.Event(), threading.Event()

    def slow(*given: Any) -> Any:
        begun.set()
        assert may_go_on.wait(600)
        return refuse(*given)

    monkeypatch.setattr(proposals, "refuse", slow)
    monkeypatch.setattr(key_order, "LONGEST", 60.0)
    async with program(store, persona_id="p0") as p:
        await p.say("/review")
        dialog = await proposal(p, "1")
        # What comes while the disk is slow waits in turns of the loop: it is sent at once, not waited for key by key.
        p.app.post_message(Key("x", "x"))
        while not begun.is_set():
            await asyncio.sleep(0.001)
        for letter in "eShy, x.":
            p.app.post_message(Key("space" if letter == " " else letter, letter))
        for _ in range(100):
            await asyncio.sleep(0)
        assert p.app.screen is dialog
        may_go_on.set()
        await p.until(lambda: isinstance(p.app.screen, AskText) and "Shy, x." in drawn(p.app.screen))
        await p.press("enter")
        await p.until(lambda: "+Shy, x." in drawn(dialog))
        assert await proposal(p, "2") is dialog
        await p.press("y", "y")  # pressed twice: it keeps one
        await proposal(p, "3")
        await p.press("f8")  # of the person's, not of P0 behind it
        await p.notified("1 kept, 1 refused, 1 left. Open P1: F8 there undoes what you kept.")
        assert [store.get(key).system_prompt for key in IDS[:3]] == [
            PROMPT.format("p0"),
            PROMPT.format("p1").replace("kind", "warm") + "Shy, x.",
            PROMPT.format("p2"),
        ]
