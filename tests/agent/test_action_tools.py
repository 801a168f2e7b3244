"""The tools on actions, assets and measurements: what they do, what they refuse, and how much the agent may make."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from agent.actions import run_log
from agent.actions.consent import approval_of, approve
from agent.core.tool import ToolContext, ToolOutput
from agent.core.tool_validation import validate
from agent.jobs.approval_policy import approval_of as asked
from agent.tools import effect_of, make_tools
from agent.tools.actions import MOST_ACTIONS, MOST_IN_RUN
from agent.tools.context import ToolEnvironment
from personas import action_store
from personas.action_document import action_ids
from personas.assets import list_assets
from personas.measurements import read_measurements
from personas.store import Store

Call = Callable[..., Awaitable[ToolOutput]]
NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def call(store: Store) -> Call:
    env = ToolEnvironment(store, "kept", session_id="here")
    tools = {tool.name: tool for tool in make_tools(env, "with actions")}

    async def call(name: str, /, run: str = "run", session: str | None = None, **given: Any) -> ToolOutput:
        tool = tools[name]
        context = ToolContext(run_id=run, call_id="call", session_id=session)
        done = await tool.execute(validate(tool, given), context)
        return done if isinstance(done, ToolOutput) else ToolOutput(output=done)

    return call


async def test_an_action_is_made_changed_read_and_completed_and_no_change_is_approved(
    store: Store, call: Call
) -> None:
    made = await call("create_action", title="Tidy up", instructions="Look.", kind="agent")
    assert (
        made.output.startswith("Made the action tidy-up. It does not run until") and made.details is not None
    )
    assert 'persona = "kept"' in made.details["diff"]
    action = action_store.get_action(store, "tidy-up")
    assert approval_of(store.home, action) is None and store.log("action/tidy-up")[0].by.kind == "agent"
    approve(store.home, [action], now=NOW)
    changed = await call("update_action", id="tidy-up", instructions="Look twice.", schedule="0 3 * * *")
    assert "Look twice." in changed.output and "approved" in changed.output
    action = action_store.get_action(store, "tidy-up")
    assert action.schedule == "0 3 * * *" and approval_of(store.home, action) is None
    refused = await call("complete_action", id="tidy-up")
    assert refused.is_error and "due time" in refused.output
    await call("update_action", id="tidy-up", at="2036-12-01T09:00:00+01:00", timezone="Europe/Berlin")
    action = action_store.get_action(store, "tidy-up")
    assert action.schedule is None and action.at == datetime(2036, 12, 1, 8, tzinfo=UTC)

    await call("create_action", title="By hand", instructions="Write.", persona="kept")
    assert not (await call("complete_action", id="by-hand", output="Written.")).is_error
    details = json.loads((await call("get_action_details", id="by-hand")).output)
    assert [(run["state"], run["output"], run["session_id"]) for run in details["runs"]] == [
        ("completed", "Written.", "here")
    ]
    run_log.begin(store.home, action_store.get_action(store, "by-hand"), "other", now=NOW)
    assert "at work" in (await call("complete_action", id="by-hand")).output
    listed = json.loads((await call("list_actions")).output)["actions"]
    assert [(one["id"], one["state"], one["approved"]) for one in listed] == [
        ("by-hand", "running", False),
        ("tidy-up", "waiting", False),
    ]

    for wrong in (
        {"persona": "nobody"},
        {"schedule": "often"},
        {"schedule": "* * * * *", "at": "2036-01-01T00:00:00"},
        {"at": "2026-01-01T00:00:00"},
    ):
        bad = await call("create_action", title="No", instructions="No.", **wrong)
        assert bad.is_error, bad
    for name in ("get_action_details", "update_action", "complete_action"):
        assert (await call(name, id="nobody")).is_error and (await call(name, id="../x")).is_error
    assert action_ids(store.home) == ["by-hand", "tidy-up"]


async def test_a_time_is_one_of_the_owners_machine_and_to_come(
    store: Store, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    await call("create_action", title="Weekly", instructions="Look.", schedule="0 9 * * 1")
    assert action_store.get_action(store, "weekly").timezone == "Europe/Berlin"
    await call("create_action", title="By hand", instructions="Look.")
    assert "timezone" not in store.text("action/by-hand")
    await call("update_action", id="by-hand", at="2036-07-01T09:00:00")
    assert action_store.get_action(store, "by-hand").at == datetime(2036, 7, 1, 7, tzinfo=UTC)
    monkeypatch.setenv("TZ", "America/New_York")
    await call("update_action", id="by-hand", at="2036-07-02T09:00:00")
    assert action_store.get_action(store, "by-hand").timezone == "Europe/Berlin", "it has one already"
    late = await call("update_action", id="by-hand", at="2026-01-01T09:00:00")
    assert late.is_error and "2026-01-01T09:00 has passed; it is 20" in late.output


async def test_an_asset_and_a_measurement_are_stored(store: Store, call: Call) -> None:
    assert "plan.md" in (await call("create_asset", name="Plan", kind="md", content="a")).output
    assert "plan-2.md" in (await call("create_asset", name="plan", kind="md", content="b")).output
    assert [one.name for one in list_assets(store.home)] == ["plan-2.md", "plan.md"]
    assert (
        await call("store_measurement", dimension="warmth", score=3, notes="so")
    ).output == "Stored: warmth 3."
    (found,) = read_measurements(store.home, "kept")
    assert (found.score, found.notes, found.source) == (3, "so", "agent")


async def test_a_person_that_wants_to_be_asked_sees_what_an_action_would_become(
    store: Store, call: Call
) -> None:
    await call("create_action", title="Tidy", instructions="Look.")
    tools = {tool.name: tool for tool in make_tools(ToolEnvironment(store, "kept"), "with actions")}
    update = tools["update_action"]
    question = asked(store, "kept", update, validate(update, {"id": "tidy", "instructions": "Look twice."}))
    assert "+Look twice." in question.diff and "approved" in question.note
    create = tools["create_action"]
    question = asked(store, "kept", create, validate(create, {"title": "A", "instructions": "B"}))
    assert '"title": "A"' in question.note
    assert {name for name in tools if effect_of(name) == "read"} == {"list_actions", "get_action_details"}


async def test_the_agent_makes_so_many_actions_and_no_more(store: Store, call: Call) -> None:
    one: dict[str, Any] = {"title": "One", "instructions": "Do."}
    for _ in range(MOST_IN_RUN):
        assert not (await call("create_action", **one)).is_error
    assert "This run has made" in (await call("create_action", **one)).output
    assert not (await call("create_action", run="next", **one)).is_error
    for number in range(len(action_ids(store.home)), MOST_ACTIONS):
        (store.home.actions / f"a{number}.toml").write_text("")
    assert "delete some" in (await call("create_action", run="third", **one)).output


async def test_actions_whose_runs_make_actions_end_somewhere(store: Store, call: Call) -> None:
    session = "here"  # a conversation with the person makes the first one
    for number in range(4):
        made = await call(
            "create_action", run=session, session=session, title=f"Step {number}", instructions="Do."
        )
        assert made.is_error is (number == 3), made
        if not made.is_error:
            session = f"session-{number}"
            action = action_store.get_action(store, f"step-{number}")
            run_log.begin(store.home, action, f"run-{number}", now=NOW)
            run_log.change(store.home, action.id, f"run-{number}", now=NOW, session_id=session)
