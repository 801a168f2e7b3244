"""Runs of actions, on scripted models: each kind, its limits, its questions, and what ends it."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from agent.actions import run, run_log
from agent.actions.estimate import price_of_backlog
from agent.actions.run import RunContext, run_action
from agent.actions.run_log import ActionRun
from agent.chat.chat import Chat, ChatOptions
from agent.core.clock import SystemClock, Timer
from agent.core.model import Failed, ModelError, Usage
from agent.jobs.options import JobOptions
from agent.models.anthropic.endpoint import OFFICIAL
from agent.models.scripted import Act, Hang, Pause, ScriptedModel, answer
from agent.outputs.evaluator import Evaluator, OutputOptions
from agent.transcript.session_store import AgentAtWork, agent_lock_path, lock_path
from personas.actions.document import Action, ActionLimits
from personas.actions.states import ActionState
from personas.changes import SetPrompt
from personas.versions.authorship import USER
from tests.support.faulty_store import FaultyStore
from tests.support.task_bench import ASK, COMPLETE, EDIT

NOW = datetime(2026, 11, 30, 3, tzinfo=UTC)
REFUSED = [Failed(ModelError("authentication", "The key was refused.", status=401))]
DOWN = [Failed(ModelError("network", "No connection.", retryable=True))]
INPUTS = """
[[test_inputs]]
id = "refund"
content = "Refund?"
expect = [{ type = "icontains", value = "sorry" }]

[[test_inputs]]
id = "free"
content = "Anything."
expect = [{ type = "icontains", value = "yes" }]
"""


class ImpatientClock(SystemClock):
    """A clock that waits for nothing."""

    def call_later(self, _seconds: float, function: Callable[[], object]) -> Timer:
        return super().call_later(0, function)


def action(**fields: Any) -> Action:
    return Action(
        **{"id": "warm", "title": "Warm", "persona": "kept", "instructions": "Make it warmer."} | fields
    )


def context(store: FaultyStore, answers: Sequence[Any]) -> RunContext:
    model = ScriptedModel(answers)
    evaluator = Evaluator(
        store, OutputOptions(jobs=1), endpoint="", default_model="scripted", make_model=lambda _name: model
    )
    return RunContext(
        store=store,
        make_model=lambda: model,
        evaluator=evaluator,
        chat=ChatOptions(),
        jobs=JobOptions(request_pause=0),
        now=lambda: NOW,
    )


async def run_one(
    store: FaultyStore, answers: Sequence[Any], *, run_id: str = "r1", **fields: Any
) -> ActionRun:
    return await run_action(context(store, answers), action(**fields), run_id=run_id)


async def test_the_agent_works_in_a_conversation_of_its_own_and_its_changes_are_one_unit(
    store: FaultyStore,
) -> None:
    before = store.session_of("kept")
    done = await run_one(store, [answer(EDIT), answer(COMPLETE)], edits="apply")
    assert (done.state, done.output, done.session_id) == ("completed", "All done.", "r1")
    assert done.versions == (1,) and store.log("kept")[0].by.run_id == "r1"
    assert "Sometimes." in store.get("kept").system_prompt and done.usage.output_tokens
    assert store.session_of("kept") == before, "the current conversation is none of its business"
    store.undo("kept")
    assert "Always." in store.get("kept").system_prompt
    assert run_log.runs(store.home, "warm") == [done]
    assert await run_one(store, []) == done, "what is over is not run again"


async def test_what_it_changes_is_a_proposal_where_the_action_says_so(store: FaultyStore) -> None:
    done = await run_one(store, [answer(EDIT), answer(COMPLETE)])
    assert done.versions == ("proposal-1",) and "Always." in store.get("kept").system_prompt


async def test_words_alone_are_no_completion(store: FaultyStore) -> None:
    done = await run_one(store, [answer("All done!")] * 3)
    assert done.state == "interrupted" and "without the task being called complete" in done.why


async def test_a_question_leaves_it_waiting_and_its_answer_has_it_go_on(store: FaultyStore) -> None:
    waiting = await run_one(store, [answer(ASK)])
    assert (waiting.state, waiting.why, waiting.ended_at) == ("waiting", "Which one?", None)
    assert await run_one(store, []) == waiting, "it waits on, whoever looks"

    async def reply(jobs: Any, chat: Chat, _act: object) -> None:
        await jobs.respond(chat, "the first")
        await jobs.wait("kept")

    done = await run_action(context(store, [answer(COMPLETE)]), action(), run_id="r1", follow=reply)
    assert (done.state, done.why, done.output) == ("completed", "", "All done.")


@pytest.mark.parametrize(
    ("limits", "answers", "why"),
    [
        (ActionLimits(max_steps=1), [answer(EDIT)], "Stopped after 1 step"),
        (ActionLimits(tokens=1), [answer(EDIT)], "tokens; one task may use 1."),
        (ActionLimits(max_minutes=0.002), [answer("Half", Hang(stubborn=1))], "minutes of work"),
    ],
)
async def test_a_limit_of_the_action_interrupts_the_agent_also_where_its_stream_hangs(
    store: FaultyStore, limits: ActionLimits, answers: Sequence[Any], why: str
) -> None:
    done = await run_one(store, answers, limits=limits)
    assert done.state == "interrupted" and why in done.why and done.ended_at


async def test_what_cannot_be_done_says_why(store: FaultyStore) -> None:
    done = await run_one(store, [REFUSED])
    assert done.state == "failed" and "The key was refused." in done.why
    done = await run_one(store, [REFUSED], run_id="r2", kind="persona")
    assert done.state == "failed" and "The key was refused." in done.why
    for number, kind in enumerate(("agent", "persona", "test")):
        done = await run_one(store, [], run_id=f"gone{number}", kind=kind, persona="gone")
        assert done.state == "failed" and "gone" in done.why
    its = replace(context(store, []), make_model=lambda: 1 / 0)
    done = await run_action(its, action(), run_id="bug")
    assert done.state == "failed" and "unexpectedly (ZeroDivisionError)" in done.why
    its = replace(context(store, [DOWN] * (run.PATIENCE + 1)), clock=ImpatientClock())
    done = await run_action(its, action(kind="persona"), run_id="r3")
    assert done.state == "failed" and done.why.startswith("No connection. (13 attempts were made.)")


async def test_the_persona_itself_answers_the_instructions(store: FaultyStore) -> None:
    its = context(store, [answer("Good morning.")])
    done = await run_action(its, action(kind="persona"), run_id="r1")
    assert (done.state, done.output, done.session_id) == ("completed", "Good morning.", None)
    asked = its.make_model().requests[0]  # type: ignore[attr-defined]
    assert asked.system.startswith("You are kept.") and asked.messages == [
        {"role": "user", "content": "Make it warmer."}
    ]
    late = await run_one(
        store,
        [answer("Half", Pause(3600))],
        run_id="r2",
        kind="persona",
        limits=ActionLimits(max_minutes=0.001),
    )
    assert late.state == "interrupted" and "minutes" in late.why


def with_inputs(store: FaultyStore) -> None:
    path = store.path("kept")
    path.write_text(path.read_text() + INPUTS)


async def test_a_run_of_test_inputs_is_compared_with_the_one_before(store: FaultyStore) -> None:
    with_inputs(store)
    test = {"kind": "test", "instructions": "", "report": "changes"}
    first = await run_one(store, [answer("Sorry."), answer("Yes.")], **test)
    assert first.state == "completed" and first.output.splitlines() == [
        "kept: 2 passed",
        "  pass  refund",
        "  pass  free",
    ]
    same = await run_one(store, [answer("So sorry."), answer("Oh yes.")], run_id="r2", **test)
    assert same.output.splitlines() == [
        "kept: 2 passed",
        "since the last run (2026-11-30 03:00 UTC): broke 0, fixed 0: no difference seen on 2 inputs",
    ]
    worse = await run_one(store, [answer("Never."), answer("Yes.")], run_id="r3", **test)
    assert worse.state == "completed", "it was run; that an expectation fails is what it has found"
    assert "broke 1, fixed 0" in worse.output
    assert worse.output.splitlines()[2:] == ["  fail  refund  was pass: icontains: has no “sorry”"]


async def test_a_run_of_test_inputs_goes_on_from_what_it_has_stored(store: FaultyStore) -> None:
    with_inputs(store)
    test = {"kind": "test", "instructions": ""}
    fences = 0

    async def given_up_later() -> None:
        nonlocal fences
        fences += 1
        if fences == 2:  # before the second answer is stored
            raise LeaseLost

    used = Usage(output_tokens=5)
    its = context(store, [answer("Sorry.", usage=used), answer("Lost.", usage=used)])
    with pytest.raises(LeaseLost):
        await run_action(its, action(**test), run_id="r1", fence=given_up_later)
    its = context(store, [answer("Yes.", usage=used)])
    done = await run_action(its, action(**test), run_id="r1")
    assert done.usage.output_tokens == 10, "what it used in the earlier program counts"
    assert done.output.startswith("kept: 2 passed") and len(its.make_model().requests) == 1  # type: ignore[attr-defined]


class LeaseLost(Exception):
    pass


async def test_who_cancels_it_ends_it_wherever_it_is_at_work(
    store: FaultyStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "LOOK", 0.01)
    for number, kind in enumerate(("agent", "persona")):
        its = context(store, [answer("Half", Pause(3600))])
        working = asyncio.create_task(run_action(its, action(kind=kind), run_id=f"r{number}"))
        async with asyncio.timeout(60):
            while not its.make_model().requests:  # type: ignore[attr-defined]
                await asyncio.sleep(0.01)
            run_log.cancel_runs(store.home, "warm", now=NOW)
            done = await working
        assert (done.state, done.why) == ("cancelled", run_log.CANCELLED)


async def test_it_waits_for_its_persona(store: FaultyStore) -> None:
    working = Chat(store, "kept", ScriptedModel([answer("Hm", Pause(3600))]))
    message = asyncio.create_task(working.send("Hello."))
    async with asyncio.timeout(60):
        while not any(turn.type == "user" for turn in working.turns):
            await asyncio.sleep(0.01)
        with pytest.raises(AgentAtWork):
            await run_one(store, [])
        waits = run_log.runs(store.home, "warm")[0]
        assert (waits.state, waits.why) == ("waiting", run.BUSY)
        beside = await run_one(store, [answer("Yes?")], run_id="r2", kind="persona")
        assert beside.state == "completed"
        working.abort()
        await message
    done = await run_one(store, [answer(COMPLETE)])
    assert (done.state, done.why) == ("completed", "")


async def test_who_was_given_up_and_is_there_still_holds_nothing_up(store: FaultyStore) -> None:
    run_log.begin(store.home, action(), "r1", now=NOW, due=NOW)
    locks = [lock_path(store, "r1"), agent_lock_path(store, "kept")]
    holds = "".join(f"held.enter_context(hold(Path({str(path)!r}))); " for path in locks)
    script = (
        "import contextlib, sys\nfrom pathlib import Path\nfrom personas.files.lock import hold\n"
        f"with contextlib.ExitStack() as held:\n    {holds}print('held', flush=True); sys.stdin.read()"
    )
    stopped = await asyncio.create_subprocess_exec(
        sys.executable, "-c", script, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    assert stopped.stdin is not None and stopped.stdout is not None
    assert await stopped.stdout.readline() == b"held\n"
    its = context(store, [answer(COMPLETE)])
    done = await run_action(its, action(), run_id="r1", fence=run._anybody)
    assert done.state == "completed"
    stopped.stdin.close()
    assert await stopped.wait() == 0


async def test_a_run_by_hand_whose_program_is_gone_is_interrupted(store: FaultyStore) -> None:
    run_log.begin(store.home, action(), "gone", now=NOW - timedelta(hours=1))
    run_log.begin(store.home, action(), "due", now=NOW - timedelta(hours=1), due=NOW)
    await run_one(store, [answer(COMPLETE)])
    states = {one.id: str(one.state) for one in run_log.runs(store.home, "warm")}
    assert states == {"gone": "interrupted", "due": "running", "r1": "completed"}


async def test_a_prompt_that_changes_while_the_agent_works_is_merged_as_in_any_run(
    store: FaultyStore,
) -> None:
    def change() -> None:
        store.change("kept", SetPrompt("You are kept.\nAlways.\nTo the last.\n"), revision=None, by=USER)

    done = await run_one(store, [answer(Act(change), EDIT), answer(COMPLETE)], edits="apply")
    assert done.state == "completed"
    assert store.get("kept").system_prompt == "You are kept.\nSometimes.\nTo the last.\n"


async def test_the_price_of_a_backlog_goes_by_the_last_runs_else_by_what_is_sent(store: FaultyStore) -> None:
    its = context(store, [])
    assert price_of_backlog(its, action(), 3) is None, "nobody knows what the agent will do"
    assert price_of_backlog(its, action(limits=ActionLimits(dollars=0.5)), 3) == 1.5
    assert price_of_backlog(its, action(kind="persona", persona="gone"), 3) is None
    priced = Evaluator(
        store,
        OutputOptions(),
        endpoint=OFFICIAL,
        default_model="claude-sonnet-5-5",
        make_model=lambda _name: ScriptedModel([]),
    )
    with_inputs(store)
    one = price_of_backlog(replace(its, evaluator=priced), action(kind="persona"), 1)
    tests = price_of_backlog(replace(its, evaluator=priced), action(kind="test"), 1)
    assert one and tests and 0 < one < tests < 1
    for number, cost in enumerate((0.1, 0.3, None)):
        run_log.begin(store.home, action(), f"r{number}", now=NOW)
        used = {"usage": Usage(output_tokens=9), "cost": cost}
        run_log.end(store.home, "warm", f"r{number}", ActionState.COMPLETED, now=NOW, **used)
    assert price_of_backlog(its, action(), 2) == pytest.approx(0.4)
