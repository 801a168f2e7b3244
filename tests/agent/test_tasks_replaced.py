"""A task that could be continued, and what begins after it: a message leaves it as it is, a task takes its place."""

from __future__ import annotations

from typing import Any

import pytest

from agent.chat.chat import Chat
from agent.core.errors import EmptyMessage
from agent.core.turns import NoticeTurn, ToolResultTurn
from agent.jobs import recovery
from agent.jobs.approval_policy import ApprovalRules
from agent.jobs.options import JobOptions
from agent.jobs.recovery import find_job
from agent.models.scripted import ToolUse, answer
from personas.errors import StorageError
from personas.files.journal import Journal
from personas.store import Store
from tests.support.task_bench import COMPLETE, EDIT, Bench, logged, session_file

ONE_STEP = JobOptions(request_pause=0, max_steps=1)
RENAME = ToolUse("update_persona_name", {"name": "Other"})


async def at_its_limit(store: Store) -> Bench:
    bench = Bench(store, [answer(EDIT)], ONE_STEP)
    assert (await bench.run()).status == "limit"
    return bench


def goes_on(bench: Bench, *answers: object) -> None:
    bench.model._answers = iter(answers)
    bench.runner.options = JobOptions(request_pause=0)


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
    tasks, marks = logged(store)
    assert [(task.id, task.status) for task in tasks] == [
        (left.id, "cancelled"),
        (bench.task.id, "completed"),
    ]
    ends = [mark for mark in marks if mark.kind == "ending" and mark.job.id == left.id]
    assert [mark.job.status for mark in ends] == ["limit", "cancelled"] and ends[-1].after == notice.id


async def test_a_message_that_asks_takes_no_task_away(store: Store) -> None:
    bench = await at_its_limit(store)
    left = bench.task
    goes_on(bench, answer(RENAME), answer("Done."), answer(COMPLETE))
    bench.runner.options = JobOptions(ApprovalRules("ask-all"), request_pause=0)
    await bench.runner.start(bench.chat, "Rename it.", kind="chat")
    await bench.until("waiting_approval")
    waiting = find_job(store, "kept")
    assert waiting is not None and waiting.kind == "chat" and waiting.is_waiting
    await bench.runner.respond(bench.chat, "once")
    await bench.runner.wait("kept")
    again = Bench(store, [answer(COMPLETE)])
    assert await again.runner.find(store, "kept") == left
    await again.runner.resume(again.chat)
    await again.runner.wait("kept")
    assert (again.task.id, again.task.status) == (left.id, "completed")
    assert find_job(store, "kept") == again.task


async def test_a_message_that_becomes_a_task_says_what_stays_behind(store: Store) -> None:
    bench = await at_its_limit(store)
    goes_on(bench, answer(ToolUse("begin_task")), answer(COMPLETE))
    bench.runner.options = JobOptions(request_pause=0, begin_by_themselves=True)
    task = await bench.run("Do many things.", kind="chat")
    assert (task.kind, task.status) == ("task", "completed")
    said = next(
        turn for turn in bench.chat.turns[::-1] if isinstance(turn, ToolResultTurn) and "stays" in turn.output
    )
    assert said.output.startswith("A new task begins here; the one that stopped at a limit at step 1 stays")
    tasks, _ = logged(store)
    assert [task.status for task in tasks] == ["cancelled", "completed"]


@pytest.mark.parametrize("mode", ["task", "chat"])
async def test_words_that_are_none_take_no_task_away(store: Store, mode: str) -> None:
    bench = await at_its_limit(store)
    goes_on(bench, answer(COMPLETE))
    with pytest.raises(EmptyMessage):
        await bench.run("  ", mode)
    found = find_job(store, "kept")
    assert found is not None and (found.status, found.step_count) == ("limit", 1)
    await bench.runner.resume(bench.chat, " \n")
    await bench.runner.wait("kept")
    assert (bench.task.id, bench.task.status) == (found.id, "completed")


@pytest.mark.parametrize("begins", ["at once", "by itself"])
async def test_a_task_that_the_disk_refuses_takes_no_task_away(
    store: Store, monkeypatch: pytest.MonkeyPatch, begins: str
) -> None:
    bench = await at_its_limit(store)
    left = bench.task
    append, first = Journal.append, iter([True])

    def refuse(journal: Journal, record: dict[str, Any], *, sync: bool = False) -> None:
        if record.get("kind") == "task" and record["id"] != left.id and next(first, False):
            raise StorageError("The disk is full.")
        append(journal, record, sync=sync)

    goes_on(bench, answer(ToolUse("begin_task")), answer("Done."), answer(COMPLETE))
    with monkeypatch.context() as full:
        full.setattr(Journal, "append", refuse)
        if begins == "at once":
            with pytest.raises(StorageError):
                await bench.run("Another thing.")
        else:
            bench.runner.options = JobOptions(request_pause=0, begin_by_themselves=True)
            assert (await bench.run("Do many things.", kind="chat")).kind == "chat"
    assert find_job(store, "kept") == left
    assert not any("stays behind" in str(turn) for turn in bench.chat.turns)


async def test_a_program_that_ends_where_a_task_takes_a_place_leaves_the_one_or_the_other(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between any two records it is the old task that can be continued, or the new one."""
    bench = await at_its_limit(store)
    left = bench.task
    log = session_file(store)
    before, close_replaced = len(log.read_bytes()), recovery.close_replaced
    then: list[bytes] = []

    def close(*args: Any) -> None:
        close_replaced(*args)
        then.append(log.read_bytes())

    goes_on(bench, answer(COMPLETE))
    monkeypatch.setattr(recovery, "close_replaced", close)
    await bench.run("Another thing.")
    (written,) = then
    ends = [at + 1 for at, byte in enumerate(written) if byte == ord("\n") and at + 1 >= before]
    assert len(ends) == 3, "as it was, the new task, the old one as cancelled"
    for end in ends:
        log.write_bytes(written[:end])
        now = find_job(store, "kept", is_held=True)
        assert now is not None and now.can_continue
        assert (now.id == left.id) == (end == before)


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
    bench = Bench(store, [answer(use)], JobOptions(ApprovalRules("ask-all"), request_pause=0))
    await bench.runner.start(bench.chat, "Do it.")
    while not bench.task.is_waiting:
        await bench.until("waiting_user" if use is not RENAME else "waiting_approval")
    assert bench.runner.suspend("kept")
    await bench.runner.wait("kept")
    after = Bench(store, [])
    await after.runner.stop_found(after.chat)
    chat = Chat(store, "kept", after.model)
    chat.load()
    last = chat.turns[-1]
    assert (
        isinstance(last, NoticeTurn) and last.content == f"Stopped at step 1, {asked}. Nothing was changed."
    )
