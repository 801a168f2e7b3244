"""What a task leaves to be read later: the words of its end, and where its steps and ends stand in the conversation."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import threading
from typing import Any

import pytest

from agent.chat.chat import Chat
from agent.core.model import Usage
from agent.core.turns import NoticeTurn
from agent.jobs.approval_policy import ApprovalRules
from agent.jobs.job import Job
from agent.jobs.job_log import JobLog, Mark
from agent.jobs.options import JobOptions
from agent.jobs.recovery import find_job, give_up
from agent.models.scripted import Hang, ScriptedModel, ToolUse, answer
from agent.transcript.session_store import open_session, start_session
from personas.errors import Busy, InvalidValue, StorageError
from personas.files.journal import Journal
from personas.store import Store
from tests.support.task_bench import ASK, COMPLETE, EDIT, Bench, logged, session_file


def marks_of(store: Store) -> list[Mark]:
    return logged(store)[1]


def told(marks: list[Mark]) -> list[tuple[str, str, int]]:
    """How each mark reads; the state a step begins in is of no interest."""
    states = {"step": ""}
    return [(mark.kind, states.get(mark.kind, mark.job.status), mark.job.step_count) for mark in marks]


def last_notice(bench: Bench) -> str:
    notice = bench.chat.turns[-1]
    assert isinstance(notice, NoticeTurn)
    return notice.content


# -- the words ----------------------------------------------------------------------------------------------


async def test_a_question_that_is_stopped_was_not_answered_and_took_no_effect(store: Store) -> None:
    bench = Bench(store, [answer(ASK)])
    await bench.runner.start(bench.chat, "Do it.")
    await bench.until("waiting_user")
    bench.runner.stop("kept")
    await bench.runner.wait("kept")
    assert bench.results() == ["Not answered: the task was stopped."]
    assert last_notice(bench) == "Stopped at step 1, waiting for an answer. Nothing was changed."


async def test_a_call_that_waited_for_approval_did_not_run(store: Store) -> None:
    bench = Bench(store, [answer(EDIT)], JobOptions(ApprovalRules("ask-all"), request_pause=0))
    await bench.runner.start(bench.chat, "Do it.")
    await bench.until("waiting_approval")
    bench.runner.stop("kept")
    await bench.runner.wait("kept")
    where = "Stopped at step 1, waiting for approval of edit_system_prompt."
    assert last_notice(bench) == f"{where} Nothing was changed."


@pytest.mark.parametrize("leave", [False, True])
async def test_a_stopped_task_says_that_something_stays_only_where_something_was_done(
    store: Store, leave: bool
) -> None:
    for first, stays in (
        (EDIT, "What was done stays and can be undone as one."),
        (ToolUse("get_persona"), "Nothing was changed."),
        (ToolUse("edit_system_prompt", {"old": "nowhere", "new": "x"}), "Nothing was changed."),
    ):
        bench = Bench(store, [answer(first), answer(ASK)])
        await bench.runner.start(bench.chat, "Do it.")
        task = await bench.until("waiting_user")
        if leave:
            bench.runner.suspend("kept")
        else:
            bench.runner.stop("kept")
        await bench.runner.wait("kept")
        if leave:
            give_up(store, task)
            bench.chat.load()
        assert last_notice(bench).endswith(f". {stays}")
        bench.chat.clear()


async def test_a_tool_that_has_ended_is_not_said_to_run(store: Store) -> None:
    options = JobOptions(ApprovalRules("ask-all"), request_pause=0)
    first = Bench(store, [answer(EDIT)], options)
    await first.runner.start(first.chat, "Do it.")
    await first.until("waiting_approval")
    first.runner.suspend("kept")
    await first.runner.wait("kept")
    bench = Bench(store, [answer("A word", Hang())], options)
    await bench.runner.respond(bench.chat, "once")
    async with asyncio.timeout(120):
        while not bench.model.requests:
            await asyncio.sleep(0)
    assert bench.task.current_tool is None
    bench.runner.stop("kept")
    await bench.runner.wait("kept")
    assert last_notice(bench) == "Stopped at step 2. What was done stays and can be undone as one."


async def test_an_answer_the_disk_refuses_leaves_the_question_open(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Bench(store, [answer(ASK), answer(COMPLETE)])
    await bench.runner.start(bench.chat, "Do it.")
    waiting = await bench.until("waiting_user")

    def refuse(*_args: Any, **_options: Any) -> None:
        raise StorageError("the disk is full")

    with monkeypatch.context() as full:
        full.setattr(Journal, "append", refuse)
        with pytest.raises(StorageError):
            await bench.runner.respond(bench.chat, "the first")
    assert bench.task == waiting and find_job(store, "kept") == waiting
    await bench.runner.respond(bench.chat, "the second")
    await bench.runner.wait("kept")
    assert bench.task.status == "completed" and bench.results()[0] == "the second"


async def test_of_two_answers_at_once_one_is_taken(store: Store) -> None:
    bench = Bench(store, [answer(ASK), answer(COMPLETE)])
    await bench.runner.start(bench.chat, "Do it.")
    await bench.until("waiting_user")
    both = [bench.runner.respond(bench.chat, text) for text in ("one", "two")]
    told = await asyncio.gather(*both, return_exceptions=True)
    await bench.runner.wait("kept")
    assert [type(one) for one in told] == [Job, InvalidValue] and bench.results()[0] == "one"


async def test_what_waits_takes_no_place_among_the_tasks_at_work(store: Store) -> None:
    store.create("Other", system_prompt="x")
    bench = Bench(store, [answer(ASK), answer("Hello.")], JobOptions(at_once=1, request_pause=0))
    await bench.runner.start(bench.chat, "Do it.")
    await bench.until("waiting_user")
    other = Chat(store, "other", bench.model)
    await bench.runner.start(other, "Hello", kind="chat")
    await bench.runner.wait("other")
    bench.model._answers = iter([answer("A word", Hang())])
    await bench.runner.respond(bench.chat, "the first")
    with pytest.raises(Busy, match="1 task is at work"):
        await bench.runner.start(other, "Hello again")
    bench.runner.stop("kept")
    await bench.runner.wait("kept")


async def test_a_budget_that_cannot_hold_is_told_at_the_beginning_once(store: Store) -> None:
    bench = Bench(store, [answer("Words."), answer(COMPLETE)], JobOptions(max_cost=0.5, request_pause=0))
    bench.model._name, bench.model._endpoint = "some-model", "http://127.0.0.1:1"
    await bench.run()
    notices = [turn for turn in bench.chat.turns if isinstance(turn, NoticeTurn) and turn.kind == "budget"]
    assert len(notices) == 1 and "some-model" in notices[0].content and "$0.50" in notices[0].content
    assert "task_dollars" not in json.dumps(bench.model.requests[-1].messages)


async def test_a_message_that_becomes_a_task_is_told_that_its_budget_cannot_hold(store: Store) -> None:
    options = JobOptions(max_cost=0.5, request_pause=0, begin_by_themselves=True)
    bench = Bench(store, [answer("Hello."), *_begin_task(), answer(COMPLETE)], options)
    bench.model._name, bench.model._endpoint = "some-model", "http://127.0.0.1:1"
    await bench.run("Hello", kind="chat")
    assert bench.notices() == ["no_call"]
    task = await bench.run("Do many things.", kind="chat")
    assert (task.kind, task.status) == ("task", "completed")
    assert bench.notices() == ["no_call", "budget", "nudge"]
    notice = next(turn for turn in bench.chat.turns if isinstance(turn, NoticeTurn) and turn.kind == "budget")
    assert "some-model" in notice.content and "0.50" in notice.content


@pytest.mark.parametrize(
    ("name", "endpoint"), [("claude-sonnet-5-5", "https://api.anthropic.com"), ("offline", "embedded")]
)
async def test_a_message_that_becomes_a_task_says_nothing_of_a_budget_that_holds(
    store: Store, name: str, endpoint: str
) -> None:
    options = JobOptions(max_cost=0.5, request_pause=0, begin_by_themselves=True)
    bench = Bench(store, [*_begin_task(), answer(COMPLETE)], options)
    bench.model._name, bench.model._endpoint = name, endpoint
    task = await bench.run("Do many things.", kind="chat")
    assert task.kind == "task" and bench.notices() == ["nudge"]


async def test_a_task_that_goes_on_with_a_model_of_unknown_price_is_told_so(store: Store) -> None:
    options = JobOptions(max_cost=0.5, max_steps=1, request_pause=0)
    bench = Bench(store, [answer(EDIT)], options)
    bench.model._name, bench.model._endpoint = "claude-sonnet-5-5", "https://api.anthropic.com"
    assert (await bench.run()).status == "limit" and bench.notices() == ["limit"]
    other = ScriptedModel([answer(COMPLETE)], name="some-model", endpoint="http://127.0.0.1:1")
    bench.chat.set_model(other)
    await bench.runner.resume(bench.chat)
    await bench.runner.wait("kept")
    assert bench.notices() == ["limit", "budget"] and bench.task.model == "some-model"


def _begin_task() -> list[Any]:
    return [answer(ToolUse("begin_task")), answer("aloud")]


@pytest.mark.parametrize(
    ("name", "endpoint", "dollars"),
    [
        ("claude-sonnet-5-5", "https://api.anthropic.com", 0.5),
        ("offline", "embedded", 0.5),
        ("some-model", "http://127.0.0.1:1", None),
    ],
)
async def test_nothing_is_said_of_a_budget_that_holds_or_is_none(
    store: Store, name: str, endpoint: str, dollars: float | None
) -> None:
    bench = Bench(store, [answer(COMPLETE)], JobOptions(max_cost=dollars, request_pause=0))
    bench.model._name, bench.model._endpoint = name, endpoint
    await bench.run()
    assert bench.notices() == []


async def test_options_that_are_blank_or_look_alike_are_not_offered(store: Store) -> None:
    ask = ToolUse(
        "ask_user", {"question": "Which?", "options": ["  ", "ok", "o\u200bk", " no ", "\u202e", "\t"]}
    )
    bench = Bench(store, [answer(ask), answer(COMPLETE)])
    await bench.runner.start(bench.chat, "Do it.")
    task = await bench.until("waiting_user")
    assert task.pending is not None and task.pending.options == ("ok", "no")
    await bench.runner.respond(bench.chat, "ok")
    await bench.runner.wait("kept")
    assert bench.task.status == "completed"


async def test_a_question_nobody_could_read_is_refused(store: Store) -> None:
    bench = Bench(store, [answer(ToolUse("ask_user", {"question": " \u200b "})), answer(COMPLETE)])
    await bench.run()
    assert "waiting_user" not in bench.states and "says nothing" in bench.results()[0]


# -- the marks ----------------------------------------------------------------------------------------------


async def test_the_log_has_where_each_step_begins_and_how_each_task_ended(store: Store) -> None:
    bench = Bench(
        store,
        [
            *(answer("Words."), answer(EDIT), answer(COMPLETE, usage=Usage(input_tokens=7, output_tokens=5))),
            *(answer(ToolUse("get_persona"), ids="x1"), answer(COMPLETE, ids="x2")),
            answer("A plain answer."),
        ],
    )
    await bench.run("First.")
    await bench.run("Second.")
    await bench.run("Hello.", kind="chat")
    marks = marks_of(store)
    assert told(marks) == [
        ("step", "", 2),
        ("step", "", 3),
        ("ending", "completed", 3),
        ("step", "", 2),
        ("ending", "completed", 2),
    ]
    turns = {turn.id: turn for turn in bench.chat.turns}
    assert [turns[mark.after].type for mark in marks] == [
        "assistant_text",
        "tool_result",
        "tool_result",
        "tool_result",
        "tool_result",
    ]
    ending = marks[2].job
    assert (ending.summary, ending.usage.output_tokens >= 5) == ("All done.", True)


async def test_a_task_that_went_on_after_its_limit_has_both_its_ends(store: Store) -> None:
    bench = Bench(store, [answer(EDIT), answer(COMPLETE)], JobOptions(max_steps=1, request_pause=0))
    await bench.run()
    await bench.runner.resume(bench.chat)
    await bench.runner.wait("kept")
    marks = marks_of(store)
    assert told(marks) == [("ending", "limit", 1), ("step", "", 2), ("ending", "completed", 2)]
    assert len({mark.job.id for mark in marks}) == 1 and marks[0].after == marks[1].after


async def test_a_task_that_is_given_up_later_has_its_end(store: Store) -> None:
    bench = Bench(store, [answer(ASK)])
    await bench.runner.start(bench.chat, "Do it.")
    await bench.until("waiting_user")
    bench.runner.suspend("kept")
    await bench.runner.wait("kept")
    assert marks_of(store) == []
    await bench.runner.stop_found(bench.chat)
    (mark,) = marks_of(store)
    assert (mark.kind, mark.job.status, mark.after) == ("ending", "cancelled", bench.chat.turns[-1].id)


async def test_job_records_that_are_none_make_no_marks(store: Store) -> None:
    bench = Bench(store, [answer(EDIT), answer(COMPLETE)])
    task = await bench.run()
    good = marks_of(store)
    bad: list[dict[str, Any]] = [
        {"id": task.id, "event": "nonsense", "after": "t", "step_count": 1},
        {"id": task.id, "event": "step", "step_count": "x"},
        {"id": task.id, "event": "ended", "outcome": "nonsense"},
        {"id": [], "event": "step", "after": "t", "step_count": 1},
    ]
    lines = [json.dumps({"type": "job", **one}) + "\n" for one in bad]
    path = session_file(store)
    path.write_text(path.read_text(encoding="utf-8") + "".join(lines), encoding="utf-8")
    assert marks_of(store) == good


def test_a_job_that_is_logged_while_a_thread_waits_for_the_disk_has_the_last_word(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = open_session(store, "kept", start_session(store, "kept"))
    log = JobLog(lambda: session)
    task = Job(persona_id="kept", session_id=session.id, original_prompt="Do it.")
    log.write("started", task)
    first, second = (task.model_copy(update={"step_count": count}) for count in (1, 2))
    begun, over = threading.Event(), threading.Event()
    monkeypatch.setattr(os, "fsync", lambda _descriptor: (begun.set(), over.wait(2)))
    thread = threading.Thread(target=log.write, args=("changed", first), kwargs={"sync": True})
    thread.start()
    assert begun.wait(2)
    log.write("changed", second)
    assert thread.is_alive() and not over.is_set()
    over.set()
    thread.join()
    log.write("changed", first)
    assert logged(store)[0][0].step_count == 1
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", _refuse)
        with pytest.raises(StorageError):
            log.write("changed", second, sync=True)
    log.write("changed", second)
    assert logged(store)[0][0].step_count == 2


def _refuse(_descriptor: int) -> None:
    raise OSError(errno.EIO, "EIO")
