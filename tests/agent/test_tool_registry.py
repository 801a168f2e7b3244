"""The tool registry: one entry is all that the policy, the previews, the settings and the list of tools need."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import pytest

import agent.tools
from agent.core.tool import NoInput, ToolContext
from agent.jobs.approval_policy import ApprovalRules, approval_of
from agent.tools import REGISTRY, effect_of, make_tools
from agent.tools.context import ToolEnvironment
from agent.tools.spec import tool
from personas.changes import SetName
from personas.store import Store
from tui.settings.loader import _unknown_tools


@tool("Shout", "Write the name in capitals.", NoInput, "destructive", change=lambda _given: SetName("KEPT"))
async def shout(env: ToolEnvironment, _given: NoInput, ctx: ToolContext) -> str:
    _, after = await env.write(SetName("KEPT"), ctx, "agent: shout")
    return after.name


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    with_it = MappingProxyType({**REGISTRY, shout.name: shout})
    monkeypatch.setattr(agent.tools, "REGISTRY", with_it)


@pytest.mark.usefixtures("registered")
async def test_a_registered_tool_is_offered_asked_for_previewed_and_known_to_the_settings(
    store: Store,
) -> None:
    made = {one.name: one for one in make_tools(ToolEnvironment(store, "kept"))}["shout"]
    assert ApprovalRules("ask-destructive").verdict(made) == "ask"
    approval = approval_of(store, "kept", made, NoInput())
    assert "+KEPT" in approval.diff and store.get("kept").name == "Kept"
    assert list(_unknown_tools({"shout": "ask"})) == []
    assert await made.execute(NoInput(), ToolContext(run_id="r", call_id="c")) == "KEPT"
    assert store.get("kept").name == "KEPT"


def test_tools_of_tasks_are_offered_to_tasks_only(store: Store) -> None:
    env: Any = ToolEnvironment(store, "kept")
    plain, tasks = ({one.name for one in make_tools(env, *which)} for which in ((), ("in tasks",)))
    assert tasks == {"task_complete", "ask_user", "send_update"} and not plain & tasks
    assert {name for name in plain if effect_of(name) == "read"} == {
        *(
            "get_persona",
            "list_test_inputs",
            "get_test_input",
            "keep_output_visible",
            "use_library",
            "use_actions",
        ),
    }
    assert effect_of("nobody knows it") == "write"
