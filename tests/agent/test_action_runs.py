"""Runs of actions, on scripted models: each kind, its limits, its questions, and what ends it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from agent.actions import run_log
from agent.actions.run import RunContext, run_action
from agent.actions.run_log import ActionRun
from agent.chat.chat import ChatOptions
from agent.jobs.options import JobOptions
from agent.models.scripted import ScriptedModel, answer
from agent.outputs.evaluator import Evaluator, OutputOptions
from personas.actions.document import Action
from tests.support.faulty_store import FaultyStore
from tests.support.task_bench import COMPLETE, EDIT

NOW = datetime(2026, 11, 30, 3, tzinfo=UTC)


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


async def run(store: FaultyStore, answers: Sequence[Any], **fields: Any) -> ActionRun:
    return await run_action(context(store, answers), action(**fields), run_id="r1")


async def test_the_agent_works_in_a_conversation_of_its_own_and_its_changes_are_one_unit(
    store: FaultyStore,
) -> None:
    before = store.session_of("kept")
    done = await run(store, [answer(EDIT), answer(COMPLETE)], edits="apply", expected_output="Warmth.")
    assert (done.state, done.output, done.session_id) == ("completed", "All done.", "r1")
    assert done.versions == (1,) and store.log("kept")[0].by.run_id == "r1"
    assert "Sometimes." in store.get("kept").system_prompt
    assert store.session_of("kept") == before, "the current conversation is none of its business"
    store.undo("kept")
    assert "Always." in store.get("kept").system_prompt
    assert run_log.runs(store.home, "warm") == [done]


async def test_what_it_changes_is_a_proposal_where_the_action_says_so(store: FaultyStore) -> None:
    done = await run(store, [answer(EDIT), answer(COMPLETE)])
    assert done.versions == ("proposal-1",) and "Always." in store.get("kept").system_prompt
