"""The offline model in task mode: it completes, asks, and understands the answer, also after a restart."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from agent.chat.chat import Chat
from agent.jobs.agent_jobs import AgentJobs
from agent.jobs.job import Job
from agent.jobs.options import JobOptions
from agent.models.offline import OfflineModel
from agent.models.offline.task import as_conversation
from personas.changes import AddTestInput
from personas.files.home import open_home
from personas.store import Store
from personas.versions.authorship import USER


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.setenv("PERSONA_CONFIG", str(tmp_path / "config.toml"))
    store = Store(open_home(tmp_path / "home"))
    store.create("Kept", system_prompt="You are kept.\n")
    for content in ("What is rain?", "What is snow?"):
        store.change("kept", AddTestInput(content), revision=None, by=USER)
    return store


async def work(store: Store, text: str, answer: str | None = None) -> Job:
    """Run a task; answer its question in a second life of the program, if it asks."""
    for say in (text, answer):
        if say is None:
            break
        runner, chat = AgentJobs(JobOptions(request_pause=0)), Chat(store, "kept", OfflineModel())
        act = runner.start if say is text else runner.respond
        await act(chat, say)
        while (task := runner.job("kept")) is not None and not (task.is_waiting or task.is_over):
            await asyncio.sleep(0)
        assert task is not None
        if task.is_waiting:
            runner.suspend("kept")
        await runner.wait("kept")
    return task


async def test_it_does_what_is_asked_and_completes_the_task_with_its_words(store: Store) -> None:
    task = await work(store, "Change the name to 'Sunny' and add 'Be concise.' to the system prompt")
    assert task.status == "completed" and task.summary is not None and "Sunny" in task.summary
    assert store.get("kept").name == "Sunny" and "Be concise." in store.get("kept").system_prompt
    assert task.idle_steps == 0


async def test_it_asks_and_understands_the_answer_after_a_restart(store: Store) -> None:
    asked = await work(store, "Delete the test input about dragons")
    assert asked.status == "waiting_user" and "dragons" in (asked.pending_question or "")
    runner, chat = AgentJobs(JobOptions(request_pause=0)), Chat(store, "kept", OfflineModel())
    await runner.respond(chat, "the second")
    await runner.wait("kept")
    assert [test_input.content for test_input in store.get("kept").test_inputs] == ["What is rain?"]
    done = runner.job("kept")
    assert done is not None and done.status == "completed"


async def test_what_it_declines_ends_the_task_with_its_words(store: Store) -> None:
    task = await work(store, "Make it funnier")
    assert task.status == "completed" and task.summary is not None and "Nothing was changed" in task.summary


def test_messages_of_any_shape_are_passed_through() -> None:
    odd: list[object] = [
        {"role": "user", "content": "text"},
        {"role": "assistant", "content": [None, {"type": "tool_use", "name": "ask_user", "input": []}]},
    ]
    turned = as_conversation(odd)  # type: ignore[arg-type]
    assert turned[0] == odd[0] and turned[1]["content"] == [None]
