"""A task that was left waiting with a call, when the same answer had more of them: none is dropped, none made twice."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from agent.core.tool import ToolContext, ToolOutput
from agent.core.turns import ToolResultTurn
from agent.jobs.approval_policy import ApprovalRules
from agent.jobs.options import JobOptions
from agent.models.scripted import ToolUse, answer
from personas.errors import PersonaError, StorageError
from personas.files.journal import Journal
from personas.store import Store
from tests.agent.test_tasks_recovered import ASK_ALL, calls_answered, leave, session_file
from tests.support.messages_rules import violations
from tests.support.task_bench import ASK, COMPLETE, EDIT, PROMPT, Bench

ADD = ToolUse("create_test_input", {"content": "What now?"})
NAME = ToolUse("update_persona_name", {"name": "Other"})
ASK_AGAIN = ToolUse("ask_user", {"question": "And then?"})
FREE = JobOptions(request_pause=0)


async def waiting_again(bench: Bench) -> None:
    async with asyncio.timeout(120):
        while not bench.task.is_waiting:
            await asyncio.sleep(0)


async def left_again(store: Store, said: str, options: JobOptions = ASK_ALL) -> Bench:
    """Answer what waits in a program of its own, which is left when the next call waits."""
    bench = Bench(store, [], options)
    await bench.runner.respond(bench.chat, said)
    await waiting_again(bench)
    assert bench.model.requests == [], "the model is asked when all calls of its answer have a result"
    assert bench.runner.suspend("kept")
    await bench.runner.wait("kept")
    return bench


async def test_each_call_of_an_answer_is_asked_for_in_a_program_of_its_own(store: Store) -> None:
    await leave(store, [answer(EDIT, ADD, NAME, ASK)])
    asked = []
    for said in ("once", "no: not now", "once"):
        bench = await left_again(store, said)
        pending = bench.task.pending
        assert pending is not None
        asked.append(pending.approval.tool if pending.approval else pending.text)
    assert asked == ["create_test_input", "update_persona_name", "Which one?"]
    last = Bench(store, [answer(COMPLETE)], ASK_ALL)
    await last.runner.respond(last.chat, "the second")
    await last.runner.wait("kept")
    assert last.task.status == "completed"
    assert (store.get("kept").name, len(store.get("kept").test_inputs)) == ("Other", 0)
    assert "Sometimes." in last.prompt
    outputs = list(calls_answered(store).values())
    assert "not now" in outputs[1] and outputs[3] == "the second"
    (request,) = last.model.requests
    assert violations({"messages": request.messages}) == []
    assert sum(isinstance(turn, ToolResultTurn) for turn in last.chat.turns) == 5


async def test_calls_that_need_no_word_are_made_when_the_answer_comes(store: Store) -> None:
    rules = JobOptions(ApprovalRules("auto", {"update_persona_name": "ask"}), request_pause=0)
    await leave(store, [answer(NAME, ADD, EDIT)], rules)
    assert store.get("kept").test_inputs == ()
    bench = Bench(store, [answer(COMPLETE)], rules)
    await bench.runner.respond(bench.chat, "no")
    await bench.runner.wait("kept")
    assert [item.content for item in store.get("kept").test_inputs] == ["What now?"]
    assert "Sometimes." in bench.prompt and store.get("kept").name == "Kept"


async def test_the_second_question_of_an_answer_is_put(store: Store) -> None:
    await leave(store, [answer(ASK, ASK_AGAIN)], FREE)
    bench = await left_again(store, "one", FREE)
    assert bench.task.pending_question == "And then?"
    last = Bench(store, [answer(COMPLETE)], FREE)
    await last.runner.respond(last.chat, "two")
    await last.runner.wait("kept")
    assert list(calls_answered(store).values())[:2] == ["one", "two"]


async def test_a_task_that_was_called_complete_beside_what_waited_is_complete_without_another_request(
    store: Store,
) -> None:
    await leave(store, [answer(EDIT, COMPLETE)])
    bench = Bench(store, [], ASK_ALL)
    await bench.runner.respond(bench.chat, "once")
    await bench.runner.wait("kept")
    assert bench.task.status == "completed" and bench.model.requests == []
    assert "Sometimes." in bench.prompt


async def test_a_refused_call_keeps_the_task_from_being_complete(store: Store) -> None:
    await leave(store, [answer(EDIT, COMPLETE)])
    bench = Bench(store, [answer("I see."), answer(COMPLETE)], ASK_ALL)
    await bench.runner.respond(bench.chat, "no")
    await bench.runner.wait("kept")
    assert len(bench.model.requests) == 2


@pytest.mark.parametrize("at", ["before", "while it waits"])
async def test_a_stop_reaches_the_calls_that_are_left(store: Store, at: str) -> None:
    await leave(store, [answer(EDIT, ADD)])
    bench = Bench(store, [answer(COMPLETE)], ASK_ALL)
    await bench.runner.respond(bench.chat, "once")
    if at == "while it waits":
        await waiting_again(bench)
    bench.runner.stop("kept")
    await bench.runner.wait("kept")
    assert bench.task.status == "cancelled" and store.get("kept").test_inputs == ()
    outputs = calls_answered(store)
    assert len(outputs) == 2 and "not run" in list(outputs.values())[1].lower()
    after = Bench(store, [answer("Hello.")])
    await after.chat.send("Hi.")
    assert violations({"messages": after.model.requests[0].messages}) == []


@pytest.mark.parametrize("refused", ["the start", "everything"])
async def test_an_approved_call_whose_start_cannot_be_noted_is_not_made(
    store: Store, monkeypatch: pytest.MonkeyPatch, refused: str
) -> None:
    await leave(store, [answer(EDIT)])
    append, path = Journal.append, session_file(store)
    first = iter([True])

    def refuse(journal: Journal, record: dict[str, Any], *, sync: bool = False) -> None:
        if journal.path == path and (
            (refused == "everything" and record["type"] != "job")
            or (record["type"] == "started" and next(first, False))
        ):
            raise StorageError("The disk is full.")
        append(journal, record, sync=sync)

    bench = Bench(store, [answer(COMPLETE)], ASK_ALL)
    with monkeypatch.context() as full:
        full.setattr(Journal, "append", refuse)
        await bench.runner.respond(bench.chat, "once")
        with pytest.raises(StorageError):
            await bench.runner.wait("kept")
    assert bench.prompt == PROMPT and bench.model.requests == []
    assert bench.results()[0] == "Cancelled: not run."
    if refused == "the start":
        assert calls_answered(store)["call_1"] == "Cancelled: not run." and bench.task.status == "error"


@pytest.mark.parametrize("raised", [None, ValueError("x" * 1_000_000), PersonaError("No such thing.")])
async def test_what_an_approved_call_gives_is_checked_and_bounded_as_in_a_run(
    store: Store, raised: Exception | None
) -> None:
    details: dict[str, Any] = {"added": [1]}

    async def execute(_given: object, _context: ToolContext) -> ToolOutput:
        if raised is not None:
            raise raised
        return ToolOutput(output="y" * 1_000_000, details=details)

    await leave(store, [answer(EDIT)])
    bench = Bench(store, [answer(COMPLETE)], ASK_ALL)
    bench.chat.tools = tuple(
        replace(tool, execute=execute) if tool.name == EDIT.name else tool for tool in bench.chat.tools
    )
    await bench.runner.respond(bench.chat, "once")
    await bench.runner.wait("kept")
    result = next(turn for turn in bench.chat.turns if isinstance(turn, ToolResultTurn))
    if raised is None:
        details["added"].append(2)
        assert result.details is not None and list(result.details["added"]) == [1]
        assert "characters left out" in result.output and len(result.output) < 210_000
    elif isinstance(raised, PersonaError):
        assert (result.output, result.is_error) == ("No such thing.", True)
    else:
        assert result.output.startswith("ValueError: xxx") and result.is_error and len(result.output) < 11_000
