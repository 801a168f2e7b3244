"""The tools on actions, assets and measurements. What they make or change of an action is dormant: nobody approved it."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel, Field

from agent.actions import listing, run_log
from agent.actions.times import zone_here
from agent.core.tool import NoInput, ToolContext, ToolOutput
from agent.core.turns import new_id, utc_now
from agent.tools.context import ToolEnvironment, as_json, confirm
from agent.tools.spec import Rehearsed, tool
from personas import action_store
from personas.action_document import action_ids, key_of
from personas.actions import schedule
from personas.actions.document import ActionKind
from personas.actions.states import ActionState
from personas.assets import AssetKind, add_asset
from personas.dry_run_store import DryRunStore
from personas.errors import InvalidValue, PersonaError
from personas.library.documents import is_name
from personas.measurements import DIMENSION_LIMIT, Measurement, add_measurement
from personas.store import Store
from personas.versions.authorship import Author

MOST_ACTIONS = 200
"""Actions in a home, beyond which the agent makes no more."""
MOST_IN_RUN = 20
"""Actions that one run of the agent makes."""
DEEPEST = 3
"""How many runs of actions may stand behind an action that one makes: each was made by a run of the one before it."""

RUNS_SHOWN = 5
OUTPUT_SHOWN = 2_000
DORMANT = "It does not run until the owner has approved it."

_SCHEDULE = "Five cron fields, for recurring work."
_AT = "When it is due once, ISO 8601; without an offset in the action's timezone, by default that of the owner's machine."


class CreateActionInput(BaseModel, extra="forbid"):
    title: str = Field(min_length=1, max_length=200)
    instructions: str = Field(description="What is to be done, complete in itself.")
    persona: str | None = Field(default=None, description="A persona's id; else this one.")
    kind: ActionKind | None = Field(
        default=None,
        description="agent (default): you work as in a task; persona: the persona answers; test: its test inputs are run.",
    )
    schedule: str | None = Field(default=None, description=_SCHEDULE)
    at: datetime | None = Field(default=None, description=_AT)


class ActionInput(BaseModel, extra="forbid"):
    id: str = Field(description="The id of an action, as list_actions gives it.")


class UpdateActionInput(ActionInput, extra="forbid"):
    title: str | None = Field(default=None, min_length=1, max_length=200)
    description: str | None = None
    instructions: str | None = None
    expected_output: str | None = None
    kind: ActionKind | None = None
    priority: int | None = None
    schedule: str | None = Field(default=None, description=f"{_SCHEDULE} Takes the place of at.")
    at: datetime | None = Field(default=None, description=f"{_AT} Takes the place of schedule.")
    timezone: str | None = Field(default=None, description="As in Europe/Berlin.")
    enabled: bool | None = None


class CompleteActionInput(ActionInput, extra="forbid"):
    output: str = Field(default="", description="What came of it.", max_length=100_000)


class AssetInput(BaseModel, extra="forbid"):
    name: str = Field(description="As in launch-plan, without an ending.", min_length=1, max_length=200)
    kind: AssetKind
    content: str


class MeasurementInput(BaseModel, extra="forbid"):
    dimension: str = Field(
        description="What is measured, always in the same words.", min_length=1, max_length=DIMENSION_LIMIT
    )
    score: float
    notes: str = Field(default="", description="Why this score.", max_length=4_000)
    source: str = Field(default="agent", description="Who or what measured.", max_length=200)


def _values(given: BaseModel, *, was_timed: bool = False, **defaults: Any) -> dict[str, Any]:
    """Return the keys to set in an action's file. Its first due time is one of this machine's zone, if none is said."""
    said = {key: value for key, value in given if value is not None and key != "id"}
    if not was_timed and ("schedule" in said or "at" in said):
        defaults["timezone"] = zone_here()
    values = {**defaults, **said}
    if isinstance(given, UpdateActionInput) and ("schedule" in said) != ("at" in said):
        values["at" if "schedule" in said else "schedule"] = None
    return values


def _require_ahead(values: dict[str, Any], zone: str = "UTC") -> None:
    if values.get("at") is not None:
        schedule.require_ahead(values["at"], values.get("timezone", zone), datetime.now(UTC))


def _rehearse_update(store: Store, given: Any) -> Rehearsed:
    rehearsal = DryRunStore(store)
    action = action_store.get_action(store, given.id)
    action_store.update_action(rehearsal, given.id, _values(given, was_timed=action.is_timed))
    return rehearsal.texts, DORMANT


@tool(
    "Make an action",
    f"Make an action: work for later, by hand, at a time, or by cron. {DORMANT}",
    CreateActionInput,
    "write",
    offered="with actions",
)
async def create_action(env: ToolEnvironment, given: CreateActionInput, ctx: ToolContext) -> ToolOutput:
    def make(by: Author) -> dict[str, Any]:
        _require_room(env.store, by)
        values = _values(given, persona=env.persona_id)
        _require_ahead(values)
        made = action_store.create_action(env.store, values, by=by, reason="agent: action")
        return {"id": key_of(made.id), "action": made.id, "text": env.store.text(key_of(made.id))}

    done = await env.change_documents(make, ctx, subject="actions")
    return confirm(f"Made the action {done['action']}. {DORMANT}", "", done["text"])


@tool(
    "Change an action",
    f"Change an action; only what is given changes. {DORMANT}",
    UpdateActionInput,
    "write",
    offered="with actions",
    rehearse=_rehearse_update,
    reader="get_action_details",
)
async def update_action(env: ToolEnvironment, given: UpdateActionInput, ctx: ToolContext) -> ToolOutput:
    def change(by: Author) -> dict[str, Any]:
        action = action_store.get_action(env.store, given.id)
        key = key_of(given.id)
        before = env.store.text(key)
        values = _values(given, was_timed=action.is_timed)
        _require_ahead(values, action.timezone)
        action_store.update_action(env.store, given.id, values, by=by, reason="agent: action")
        return {"id": key, "before": before, "after": env.store.text(key)}

    done = await env.change_documents(change, ctx, subject="actions")
    return confirm(f"Changed the action {given.id}. {DORMANT}", done["before"], done["after"])


@tool(
    "Complete an action",
    "Mark an action as completed that is done by hand: one without schedule and time, whose work you or the owner did here.",
    CompleteActionInput,
    "write",
    offered="with actions",
)
async def complete_action(env: ToolEnvironment, given: CompleteActionInput, ctx: ToolContext) -> str:
    def complete() -> str:
        action, home, now = action_store.get_action(env.store, given.id), env.store.home, datetime.now(UTC)
        if action.error is not None:
            raise InvalidValue(f"The action {action.id} is broken: {action.error.message}.")
        if action.is_timed:
            raise InvalidValue(
                f"The action {action.id} has a due time: its runs complete it, and nobody else."
            )
        if any(not run.is_over for run in run_log.runs(home, action.id)):
            raise InvalidValue(
                f"A run of the action {action.id} is at work, which completes it when it ends."
            )
        run = run_log.begin(home, action, new_id("run"), now=now)
        session_id = ctx.session_id or env.session_id
        done = {"output": given.output, "session_id": session_id}
        run_log.end(home, action.id, run.id, ActionState.COMPLETED, now=now, **done)
        return f"The action {action.id} is completed."

    return await asyncio.to_thread(complete)


@tool(
    "List the actions",
    "List all actions of this home: state, due times, and why one does not run.",
    NoInput,
    "read",
    offered="with actions",
)
async def list_actions(env: ToolEnvironment, _given: NoInput, _ctx: ToolContext) -> str:
    def read() -> str:
        listed = listing.list_actions(env.store.home, now=datetime.now(UTC))
        return as_json({"actions": [one.to_record() for one in listed]})

    return await asyncio.to_thread(read)


@tool("Read an action", "Read one action and its last runs.", ActionInput, "read", offered="with actions")
async def get_action_details(env: ToolEnvironment, given: ActionInput, _ctx: ToolContext) -> str:
    def read() -> str:
        action = action_store.get_action(env.store, given.id)
        runs = [one.to_record() for one in run_log.runs(env.store.home, action.id)[:RUNS_SHOWN]]
        shown = [{**one, "output": one["output"][:OUTPUT_SHOWN]} for one in runs]
        return as_json({**action.to_record(), "runs": shown})

    return await asyncio.to_thread(read)


@tool(
    "Leave an asset",
    "Write a text that stays for the owner, as a file of its own. Nothing is overwritten: a name that is taken gets a number.",
    AssetInput,
    "write",
    offered="with actions",
)
async def create_asset(env: ToolEnvironment, given: AssetInput, _ctx: ToolContext) -> str:
    def write() -> str:
        name = add_asset(env.store.home, env.persona_id, given.name, given.kind, given.content)
        return f"Written as {name} in the assets of {env.persona_id}."

    return await asyncio.to_thread(write)


@tool(
    "Store a measurement",
    "Store a score of this persona in a dimension, to be followed over time.",
    MeasurementInput,
    "write",
    offered="with actions",
)
async def store_measurement(env: ToolEnvironment, given: MeasurementInput, _ctx: ToolContext) -> str:
    def write() -> str:
        measured = Measurement(given.dimension, given.score, given.notes, given.source, utc_now())
        add_measurement(env.store.home, env.persona_id, measured)
        return f"Stored: {given.dimension} {given.score:g}."

    return await asyncio.to_thread(write)


def _require_room(store: Store, by: Author) -> None:
    """Refuse one more action where the agent has made enough: in this home, in this run, or one by the other.

    Raises:
        InvalidValue: it has.
    """
    ids = action_ids(store.home)
    if len(ids) >= MOST_ACTIONS:
        raise InvalidValue(f"This home has {MOST_ACTIONS} actions: the owner should delete some first.")
    makers = {action_id: _maker(store, action_id) for action_id in ids}
    mine = [one for one in makers.values() if one is not None and one.run_id == by.run_id]
    if len(mine) >= MOST_IN_RUN:
        raise InvalidValue(f"This run has made {MOST_IN_RUN} actions: that is enough.")
    run_by = {run.session_id: one for one in ids if is_name(one) for run in run_log.runs(store.home, one)}
    session_id = by.session_id
    for _ in range(DEEPEST):
        if session_id is None or session_id not in run_by:
            return
        maker = makers[run_by[session_id]]
        session_id = maker.session_id if maker is not None else None
    raise InvalidValue("Actions have made actions often enough: the owner should make this one.")


def _maker(store: Store, action_id: str) -> Author | None:
    """Return the agent that made an action, None where a person did."""
    with suppress(PersonaError):
        versions = store.log(key_of(action_id))
        if versions and versions[-1].by.kind == "agent":
            return versions[-1].by
    return None


TOOLS = (
    *(create_action, update_action, complete_action, list_actions, get_action_details),
    *(create_asset, store_measurement),
)
