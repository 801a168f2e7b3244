"""A task that could be continued, and what begins after it: a message leaves it as it is, a task takes its place."""

from __future__ import annotations

import pytest

from agent.approval import ApprovalRules
from agent.chat import Chat
from agent.models.scripted import ToolUse, answer
from agent.task_found import read_task
from agent.task_log import TaskLog
from agent.task_options import TaskOptions
from agent.turns import NoticeTurn, ToolResultTurn
from personas.store import Store
from tests.agent.task_bench import COMPLETE, EDIT, Bench

ONE_STEP = TaskOptions(request_pause=0, max_steps=1)
RENAME = ToolUse("update_persona_name", {"name": "Other"})


async def at_its_limit(store: Store) -> Bench:
    bench = Bench(store, [answer(EDIT)], ONE_STEP)
    assert (await bench.run()).status == "limit"
    return bench


def goes_on(bench: Bench, *answers: object) -> None:
    bench.model._answers = iter(answers)
    bench.runner.options = TaskOptions(request_pause=0)


async def test_a_new_task_says_what_stays_behind_and_closes_it_for_good(store: Store) -> None:
    bench = await at_its_limit(store)
    left = bench.task
    goes_on(bench, answer(COMPLETE))
    assert (await bench.run("Another thing.")).status == "completed"
    notice = next(turn for turn in bench.chat.turns if turn.type == "notice" and turn.kind == "stopped")  # type: ignore[attr-defined]
    assert isinstance(notice, NoticeTurn) and notice.content == (
        "A new task begins here; the one that stopped at a limit at step 1 stays behind. What was done stays and can "
        "be undone as one."
    )
    tasks, marks = TaskLog(store.home, left.session_id).past("kept")
    assert [(task.id, task.status) for task in tasks] == [
        (left.id, "cancelled"),
        (bench.task.id, "completed"),
    ]
    ends = [mark for mark in marks if mark.kind == "ending" and mark.task.id == left.id]
    assert [mark.task.status for mark in ends] == ["limit", "cancelled"] and ends[-1].after == notice.id


async def test_a_message_that_asks_takes_no_task_away(store: Store) -> None:
    bench = await at_its_limit(store)
    left = bench.task
    goes_on(bench, answer(RENAME), answer("Done."), answer(COMPLETE))
    bench.runner.options = TaskOptions(ApprovalRules("ask-all"), request_pause=0)
    await bench.runner.start(bench.chat, "Rename it.", mode="chat")
    await bench.until("waiting_approval")
    waiting = read_task(store, "kept")
    assert waiting is not None and waiting.mode == "chat" and waiting.is_waiting
    await bench.runner.respond(bench.chat, "once")
    await bench.runner.wait("kept")
    again = Bench(store, [answer(COMPLETE)])
    assert await again.runner.find(store, "kept") == left
    await again.runner.resume(again.chat)
    await again.runner.wait("kept")
    assert (again.task.id, again.task.status) == (left.id, "completed")
    assert read_task(store, "kept") == again.task


async def test_a_message_that_becomes_a_task_says_what_stays_behind(store: Store) -> None:
    bench = await at_its_limit(store)
    left = bench.task
    goes_on(bench, answer(ToolUse("begin_task")), answer(COMPLETE))
    bench.runner.options = TaskOptions(request_pause=0, begin_by_themselves=True)
    task = await bench.run("Do many things.", mode="chat")
    assert (task.mode, task.status) == ("task", "completed")
    said = next(
        turn for turn in bench.chat.turns[::-1] if isinstance(turn, ToolResultTurn) and "stays" in turn.output
    )
    assert said.output.startswith("A new task begins here; the one that stopped at a limit at step 1 stays")
    tasks, _ = TaskLog(store.home, left.session_id).past("kept")
    assert [task.status for task in tasks] == ["cancelled", "completed"]


@pytest.mark.parametrize(
    ("use", "asked"),
    [
        (ToolUse("ask_user", {"question": "Which?"}), "waiting for an answer"),
        (RENAME, "waiting for approval of update_persona_name"),
    ],
)
async def test_a_found_task_that_is_given_up_says_what_it_waited_for(
    store: Store, use: ToolUse, asked: str
) -> None:
    bench = Bench(store, [answer(use)], TaskOptions(ApprovalRules("ask-all"), request_pause=0))
    await bench.runner.start(bench.chat, "Do it.")
    while not bench.task.is_waiting:
        await bench.until("waiting_user" if use is not RENAME else "waiting_approval")
    assert bench.runner.park("kept")
    await bench.runner.wait("kept")
    after = Bench(store, [])
    await after.runner.stop_found(after.chat)
    chat = Chat(store, "kept", after.model)
    chat.load()
    last = chat.turns[-1]
    assert (
        isinstance(last, NoticeTurn) and last.content == f"Stopped at step 1, {asked}. Nothing was changed."
    )
