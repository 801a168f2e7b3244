"""A tool's write holds nobody up, is whole once it has begun, and its result says how far it came."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent.chat.chat import Chat
from agent.core.agent import Agent
from agent.core.tool import NoInput, Tool, ToolContext
from agent.core.tool_execution import MAYBE, NOT_RUN
from agent.core.turns import ToolResultTurn
from agent.jobs.agent_jobs import AgentJobs
from agent.jobs.options import JobOptions
from agent.models.scripted import Act, ScriptedModel, ToolUse, answer
from agent.tools import context as writing
from agent.tools import spec as tool_spec
from agent.tools.context import WriteResult
from personas.changes import AddTestInput, SetName, SetPrompt
from personas.files.home import open_home
from personas.store import Store
from personas.versions.authorship import USER
from tests.support.faulty_store import FaultyStore
from tests.support.slow_fsync import SlowFsync, is_loop
from tests.support.virtual_time import LoopClock, run_virtually

EDIT = ToolUse("edit_system_prompt", {"old": "One.", "new": "Two."})
WRITES = (
    EDIT,
    ToolUse("update_persona_name", {"name": "Robin"}),
    ToolUse("update_system_prompt", {"system_prompt": "All new.\n"}),
    ToolUse("undo"),
    ToolUse("create_test_input", {"content": "3+3?"}),
    ToolUse("update_test_input", {"id": "sum", "content": "4+4?"}),
    ToolUse("delete_test_input", {"id": "sum"}),
)


@pytest.fixture
def store(tmp_path: Path) -> FaultyStore:
    store = FaultyStore(open_home(tmp_path / "home", {"PERSONA_CONFIG": str(tmp_path / "config.toml")}))
    store.create("Wren", system_prompt="One.\n")
    store.change("wren", AddTestInput("2+2?", "sum"), revision=None, by=USER)
    return store


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> SlowFsync:
    return SlowFsync(monkeypatch)


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(60):
        while not condition():
            await asyncio.sleep(0)


def results(chat: Chat) -> list[ToolResultTurn]:
    return [turn for turn in chat.turns if isinstance(turn, ToolResultTurn)]


class Conversation:
    """A chat whose model makes one call on a disk that is slow from then on."""

    def __init__(self, store: Store, disk: SlowFsync, call: ToolUse = EDIT, **options: Any) -> None:
        self.written: list[WriteResult] = []
        model = ScriptedModel([answer(Act(disk.hold), call), answer("done"), answer("again")])
        self.chat = Chat(store, "wren", model, on_change=self.written.append, **options)
        self.sending = asyncio.ensure_future(self.chat.send("go"))


@pytest.mark.parametrize("call", WRITES, ids=lambda call: call.name)
async def test_the_loop_goes_on_while_a_tool_writes(store: Store, disk: SlowFsync, call: ToolUse) -> None:
    before = store.text("wren")
    talk = Conversation(store, disk, call)
    await until(lambda: disk.waits.is_set() or disk.on_loop)
    assert not disk.on_loop and not talk.sending.done() and not results(talk.chat)
    disk.let_go()
    await talk.sending
    (result,) = results(talk.chat)
    assert not result.is_error and store.text("wren") != before
    assert [written.persona for written in talk.written] == [store.get("wren")]


@pytest.mark.parametrize("how", ["stop", "cancel the call"])
@pytest.mark.parametrize("call", [EDIT, WRITES[4]], ids=lambda call: call.name)
async def test_a_write_that_has_begun_is_whole_and_told_as_what_it_is(
    store: Store, disk: SlowFsync, how: str, call: ToolUse
) -> None:
    before = store.text("wren")
    talk = Conversation(store, disk, call)
    await until(disk.waits.is_set)
    if how == "stop":
        talk.chat.abort()
        talk.chat.abort("once more")
    else:
        assert talk.chat._agent.cancel_tool("call_1")
    for _ in range(20):
        await asyncio.sleep(0)
    assert not results(talk.chat)
    disk.let_go()
    end = await talk.sending
    assert end.outcome == ("cancelled" if how == "stop" else "completed")
    (result,) = results(talk.chat)
    assert not result.is_error and result.details is not None and result.details["added"] == 1
    assert [written.unit for written in talk.written] == [end.run_id]
    store.undo("wren", by=USER, only="agent")
    assert store.text("wren") == before


@pytest.mark.parametrize("moment", ["in the queue", "while it reads"])
async def test_a_write_that_has_not_begun_never_does(
    store: FaultyStore, disk: SlowFsync, moment: str
) -> None:
    before, reached, goes_on = store.text("wren"), threading.Event(), threading.Event()
    options: dict[str, Any] = {}
    ended: list[asyncio.Future[Any]] = []
    if moment == "in the queue":
        turn = asyncio.Event()

        async def queued(function: Callable[[], Any], then: Callable[[Any], object]) -> Any:
            ended.append(asyncio.current_task())  # type: ignore[arg-type]
            reached.set()
            await turn.wait()
            return await writing.write_in_thread(function, then)

        options["writes"] = queued
    else:
        held = store.hold(
            "get", when=lambda: bool(talk.chat.turns) and talk.chat.turns[-1].type == "tool_call"
        )
        reached, goes_on = held.waits, held.goes_on
    talk = Conversation(store, disk, **options)
    await until(reached.is_set)
    disk.let_go()
    talk.chat.abort()
    await until(lambda: results(talk.chat))
    goes_on.set()
    end = await talk.sending
    (result,) = results(talk.chat)
    assert end.outcome == "cancelled" and result.is_error and result.output == NOT_RUN
    await asyncio.gather(*ended, return_exceptions=True)
    await asyncio.get_running_loop().run_in_executor(None, int)
    assert store.text("wren") == before and talk.written == []


async def test_what_met_another_change_is_not_tried_again_once_it_is_stopped(
    store: Store, disk: SlowFsync, monkeypatch: pytest.MonkeyPatch
) -> None:
    change, tries = store.change, 0

    def met(persona_id: str, what: Any, **named: Any) -> Any:
        nonlocal tries
        tries += 1
        disk.waits.set()
        assert stopped.wait(60)
        change("wren", SetName(f"Robin {tries}"), revision=None, by=USER)
        return change(persona_id, what, **named)

    monkeypatch.setattr(store, "change", met)
    stopped = threading.Event()
    talk = Conversation(store, disk)
    await until(disk.waits.is_set)
    disk.let_go()
    talk.chat.abort()
    stopped.set()
    await talk.sending
    (result,) = results(talk.chat)
    assert result.is_error and "changed meanwhile; nothing was written" in result.output
    assert tries == 1 and store.get("wren").system_prompt == "One.\n"


async def test_what_takes_longer_than_a_stop_waits_is_whole_all_the_same_and_told_to_be_of_its_own_run(
    store: Store, disk: SlowFsync, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tool_spec, "SETTLES_WITHIN", 0.0)
    talk = Conversation(store, disk)
    await until(disk.waits.is_set)
    talk.chat.abort()
    await until(lambda: results(talk.chat))
    (result,) = results(talk.chat)
    assert result.is_error and result.output == MAYBE
    assert store.get("wren").system_prompt == "One.\n" and talk.written == []
    talk.chat._env.unit = "another"
    disk.let_go()
    end = await talk.sending
    await until(lambda: talk.written)
    assert [written.unit for written in talk.written] == [end.run_id]
    assert store.get("wren").system_prompt == "Two.\n"
    assert [version.by.run_id for version in store.log("wren")][:1] == [end.run_id]
    await talk.chat.send("go on")
    assert "hand_edit" not in [turn.type for turn in talk.chat.turns]


async def test_what_the_model_is_told_of_in_the_thread_it_knows(store: Store) -> None:
    look, change = ToolUse("list_test_inputs"), ToolUse("update_test_input", {"id": "sum", "content": "mine"})

    def by_hand() -> None:
        store.change("wren", SetPrompt("By hand.\n"), revision=None, by=USER)

    model = ScriptedModel([answer(look), answer(Act(by_hand), change), answer("done")])
    chat = Chat(store, "wren", model)
    await chat.send("go")
    assert [result.is_error for result in results(chat)] == [False, False]


async def test_no_loop_waits_for_what_is_read_either(store: FaultyStore) -> None:
    asked: list[tuple[str, bool]] = []
    for name in ("get", "text", "writer", "session_of"):
        store.watch(name, lambda name=name: asked.append((name, is_loop())))  # type: ignore[misc]
    calls = (
        ToolUse("get_persona"),
        ToolUse("list_test_inputs"),
        ToolUse("get_test_input", {"id": "sum"}),
        EDIT,
    )
    chat = Chat(store, "wren", ScriptedModel([*map(answer, calls), answer("done")]))
    runner = AgentJobs(JobOptions(request_pause=0))
    await runner.start(chat, "go", kind="chat")
    await runner.wait("wren")
    assert [result.is_error for result in results(chat)] == [False] * 4
    assert {name for name, _ in asked} >= {"get", "writer", "session_of"}
    assert [name for name, on_loop in asked if on_loop] == []


@pytest.mark.parametrize("settles_within", [None, 1.0, 5.0])
@pytest.mark.parametrize("how", ["stop", "cancel", "timeout"])
def test_what_a_tool_says_after_its_cancellation_counts_where_it_says_how_far_it_came(
    settles_within: float | None, how: str
) -> None:
    async def execute(_input: NoInput, _ctx: ToolContext) -> str:
        loop = asyncio.get_running_loop()
        if how != "timeout":
            loop.call_later(1.0, agent.abort if how == "stop" else lambda: agent.cancel_tool("call_1"))
        try:
            await asyncio.sleep(100)
        except asyncio.CancelledError:
            await asyncio.sleep(2.0 if settles_within else 0.01)
        return "Half of it is done."

    timeout = 1.0 if how == "timeout" else None
    tool = Tool("act", "Acts.", "Act", NoInput, execute, timeout=timeout, settles_within=settles_within)
    model = ScriptedModel([answer(ToolUse("act")), answer("done")])
    agent = Agent(model=model, tools=[tool], clock=LoopClock())

    async def main() -> tuple[str, float]:
        end = await agent.prompt("go")
        took = asyncio.get_running_loop().time() - 1000.0
        assert end.outcome == ("cancelled" if how == "stop" else "completed")
        await asyncio.sleep(200)
        result = next(turn for turn in agent.turns if isinstance(turn, ToolResultTurn))
        return result.output, round(took, 1)

    output, took = run_virtually(main())
    if settles_within == 5.0:
        assert (output, took) == ("Half of it is done.", 3.0)
    else:
        assert "it may have taken effect" in output and took <= 1.0 + (settles_within or 0.1)
