"""The agent works with the library: it brings the tools in, and what it changes is asked for and undone as a whole."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent.chat.chat import Chat
from agent.core.turns import ToolResultTurn
from agent.jobs.approval_policy import ApprovalRules
from agent.jobs.options import JobOptions
from agent.models.scripted import ScriptedModel, ToolUse, answer
from agent.tools.context import WriteResult
from personas.changes import SetPrompt
from personas.files.home import open_home
from personas.library_store import LibraryStore
from personas.store import Store
from personas.versions.authorship import USER
from tests.support.faulty_store import FaultyStore
from tests.support.messages_answers import Reply, say
from tests.support.messages_answers import call as call_tool
from tests.support.messages_server import MessagesServer
from tests.support.persona_agent import Workplace, send_agent_message, served
from tests.support.program import make_store, program
from tests.support.task_bench import COMPLETE, PROMPT, Bench
from tui.screens.library.screen import LibraryScreen

WARMER = ToolUse("update_agent_part", {"name": "warmth", "content": "Be warmer."})


def fill(store: Store, *personas: str) -> None:
    library = LibraryStore(store)
    library.create("part", "warmth", {"type": "tone", "content": "Be warm."})
    for persona in personas:
        library.link(persona, "part", "warmth")


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FaultyStore:
    monkeypatch.setenv("PERSONA_CONFIG", str(tmp_path / "config.toml"))
    store = FaultyStore(open_home(tmp_path / "home"))
    store.create("Kept", system_prompt=PROMPT)
    store.create("Other", system_prompt="You are other.")
    return store


class Brain:
    """Makes these calls, one an answer, and keeps which tools it was offered."""

    def __init__(self) -> None:
        self.calls: list[Reply] = []
        self.offered: list[set[str]] = []

    def __call__(self, body: dict[str, Any]) -> Reply:
        self.offered.append({tool["name"] for tool in body["tools"]})
        return self.calls.pop(0) if self.calls else say("Done.")


@pytest.fixture
def brain() -> Brain:
    return Brain()


@pytest.fixture
def place(tmp_path: Path, brain: Brain) -> Iterator[Workplace]:
    with MessagesServer(brain) as server:
        place = served(tmp_path / "home", server, here=True, kept='system_prompt = "You are kept."\n')
        fill(place.store)
        yield place


def test_use_library_brings_the_tools_in_for_the_stored_session_and_a_run_is_undone_whole(
    place: Workplace, brain: Brain
) -> None:
    brain.calls = [
        call_tool("use_library", {}),
        call_tool("get_persona_manifest", {"name": "kept"}),
        call_tool(
            "create_agent_trait", {"name": "wondering", "trait_type": "personality", "instruction": "Ask."}
        ),
        call_tool("update_agent_part", {"name": "warmth", "content": "Be warmer."}),
        call_tool("add_persona_part", {"persona": "kept", "part": "warmth"}),
        call_tool("compile_persona", {"name": "kept"}),
    ]
    reply = send_agent_message(place, "kept", "use a warmer part", "--task")
    results = [event for event in reply.events if event["type"] == "tool_result"]
    assert not any(event["is_error"] for event in results), results
    assert json.loads(results[-1]["output"])["compiled_detail"] == "You are kept.\n\nBe warmer.\n"
    assert "use_library" in brain.offered[0] and "compile_persona" not in brain.offered[0]
    assert {"compile_persona", "update_agent_part", "advance_persona_stage"} <= brain.offered[1]

    brain.calls = [call_tool("get_agent_trait", {"name": "wondering"})]
    send_agent_message(place, "kept", "what is wondering?")  # another program, the same session
    assert "compile_persona" in brain.offered[-1]
    assert place.run_here("clear", "kept").returncode == 0
    send_agent_message(place, "kept", "hello")
    assert "compile_persona" not in brain.offered[-1]

    undone = place.run_here("undo", "kept")
    assert undone.returncode == 0 and b"also in" in undone.stdout
    store = place.store
    assert store.text("kept") == 'system_prompt = "You are kept."\n'
    assert LibraryStore(store).get("part", "warmth").content == "Be warm."
    assert "wondering" not in [one.name for one in LibraryStore(store).list("trait")]
    assert {one.by.kind for one in store.log("part/warmth")} == {"user", "agent"}


async def test_a_run_that_changed_only_the_library_is_undone_and_redone_from_the_persona(
    store: FaultyStore,
) -> None:
    fill(store, "other")
    chat = Chat(store, "kept", ScriptedModel([answer(ToolUse("use_library"), WARMER), answer("No."),
                                              answer(WARMER), answer("Done.")]))  # fmt: skip
    chat.load()
    await chat.send("warmer")  # the tools are there from the next step on
    await chat.send("again")
    part = LibraryStore(store).get
    assert part("part", "warmth").content == "Be warmer."
    for only in ("agent", None):
        assert store.undo("kept", by=USER, only=only).also == ("part/warmth",)
        assert part("part", "warmth").content == "Be warm."
        assert store.redo("kept", by=USER, only=only).also == ("part/warmth",)
        assert part("part", "warmth").content == "Be warmer."
    assert store.text("kept") == Store(store.home).text("kept") and store.get("kept").system_prompt == PROMPT


async def test_ask_destructive_asks_for_a_change_of_what_several_use_and_says_who(store: FaultyStore) -> None:
    fill(store, "kept")
    rules = JobOptions(ApprovalRules("ask-destructive"), request_pause=0)
    alone = Bench(store, [answer(ToolUse("use_library")), answer(WARMER), answer(COMPLETE)], rules)
    await alone.run()
    assert "waiting_approval" not in alone.states
    LibraryStore(store).link("other", "part", "warmth")
    warm = ToolUse("update_agent_part", {"name": "warmth", "content": "Be warm again."})
    bench = Bench(store, [answer(warm), answer(COMPLETE)], rules)
    await bench.runner.start(bench.chat, "Do it.")
    task = await bench.until("waiting_approval")
    assert task.pending is not None and task.pending.approval is not None
    approval = task.pending.approval
    assert "-Be warmer." in approval.diff and "+Be warm again." in approval.diff
    assert approval.note == "Used by kept, other."
    assert bench.runner.suspend("kept")
    await bench.runner.wait("kept")

    later = Bench(store, [answer(COMPLETE)], rules)  # another program
    later.chat.load()
    found = await later.runner.find(store, "kept")
    assert found is not None and found.pending is not None and found.pending.approval == approval
    await later.runner.respond(later.chat, "once")
    await later.runner.wait("kept")
    assert LibraryStore(store).get("part", "warmth").content == "Be warm again."


async def test_the_agent_neither_deletes_its_own_persona_nor_overwrites_a_prompt_it_has_not_seen(
    store: FaultyStore,
) -> None:
    replace = ToolUse("update_agent_persona", {"name": "kept", "detail": "New."})
    written: list[WriteResult] = []
    flushed = 0

    async def flush() -> None:
        nonlocal flushed
        flushed += 1
        if flushed == 5:  # before the first call of the second run
            store.change("kept", SetPrompt("Mine.\n"), revision=None, by=USER)

    script = [
        answer(ToolUse("use_library"), ToolUse("get_persona")),
        answer("Read."),
        answer(replace),
        answer(ToolUse("delete_agent_persona", {"name": "kept"})),
        answer(ToolUse("get_persona")),
        answer(replace),
        answer("Done."),
    ]
    chat = Chat(store, "kept", ScriptedModel(script), flush=flush, on_change=written.append)
    chat.load()
    await chat.send("read")
    await chat.send("replace and delete")
    results = [turn for turn in chat.turns if isinstance(turn, ToolResultTurn)]
    assert [turn.is_error for turn in results] == [False, False, True, True, False, False]
    assert "changed since you last read it" in results[2].output and "only its owner" in results[3].output
    assert '"system_prompt": "Mine.\\n"' in results[4].output
    assert [one.persona.system_prompt for one in written] == ["New."]


async def test_what_is_typed_is_in_what_the_agent_compiles_and_its_run_is_undone_on_the_screen(
    tmp_path: Path,
) -> None:
    store = make_store(tmp_path)
    fill(store, "two")
    script = [
        answer(ToolUse("use_library")),
        answer(ToolUse("compile_persona", {"name": "one"}), WARMER),
        answer("It is warmer."),
    ]
    async with program(store, *script, size=(110, 40)) as p:
        p.prompt.focus()
        await p.press("ctrl+home")
        await p.write("Typed. ")
        await p.run_to_end("make the shared part warmer")
        talk = p.main.conversation.current
        assert talk is not None
        results = [turn for turn in talk.chat.turns if isinstance(turn, ToolResultTurn)]
        assert "Typed. first line" in results[1].output and "a part of two" in results[2].output
        p.main.action_undo_agent()
        await p.notified("also in part/warmth")
        assert LibraryStore(store).get("part", "warmth").content == "Be warm."
        assert p.on_disk("one").startswith("Typed. first line")


async def test_what_is_typed_in_the_library_is_stored_before_a_call_of_the_agent(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    fill(store, "two")
    async with program(store, answer("Hello."), size=(110, 40)) as p:
        await p.run_to_end("hello")
        talk = p.main.conversation.current
        assert talk is not None
        p.main.open_library("part", "warmth")
        await p.until(
            lambda: isinstance(p.app.screen, LibraryScreen) and p.app.screen.editor.text == "Be warm."
        )
        await p.write("Typed. ")
        await talk.chat.flush()
        assert LibraryStore(store).get("part", "warmth").content == "Typed. Be warm."
