"""Approval of calls: what is asked for, what is shown, and how long an answer holds."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from agent.approval import ApprovalRules, Grants, approval_of, is_same, read_decision
from agent.chat import Chat
from agent.models.scripted import ScriptedModel, ToolUse, answer
from agent.task import AgentTask
from agent.task_options import TaskOptions
from personas.authorship import USER
from personas.changes import EditPrompt
from personas.errors import InvalidValue
from personas.store import Store
from tests.agent.task_bench import COMPLETE, EDIT, PROMPT, Bench

ASK_ALL = TaskOptions(ApprovalRules("ask-all"), request_pause=0)


async def test_an_approval_shows_exactly_what_would_change_and_nothing_is_written_before(
    store: Store,
) -> None:
    bench = Bench(store, [answer(EDIT), answer(COMPLETE)], ASK_ALL)
    before = store.text("kept")
    await bench.runner.start(bench.chat, "Do it.")
    task = await bench.until("waiting_approval")
    assert task.pending is not None and task.pending.approval is not None
    diff = task.pending.approval.diff
    assert "-Always.\n" in diff and "+Sometimes.\n" in diff and store.text("kept") == before
    await bench.runner.respond(bench.chat, "once")
    await bench.runner.wait("kept")
    shown = [line for line in diff.splitlines() if line[:1] in "+-" and line[:3] not in ("+++", "---")]
    done = store.diff("kept").diff.splitlines()
    assert shown == [line for line in done if line[:1] in "+-" and line[:3] not in ("+++", "---")]
    assert bench.states.count("waiting_approval") == 1


@pytest.mark.parametrize(
    ("said", "asked"), [("once", 2), ("task", 1), ("always", 1), ("no, keep it warm", 2)]
)
async def test_answers_hold_as_long_as_they_say(store: Store, said: str, asked: int) -> None:
    back = ToolUse("edit_system_prompt", {"old": "To the end.", "new": "To the beginning."})
    bench = Bench(store, [answer(EDIT), answer(back), answer(COMPLETE)], ASK_ALL)
    questions: list[str] = []
    bench.runner.observe(lambda task: _reply_once(bench, task, said, questions))
    await bench.run()
    assert len(questions) == asked
    if said.startswith("no"):
        assert bench.prompt == PROMPT
        assert all("the owner said no: keep it warm" in result for result in bench.results()[:2])
    else:
        assert "Sometimes." in bench.prompt and "beginning" in bench.prompt


def _reply_once(bench: Bench, task: AgentTask, said: str, questions: list[str]) -> None:
    question = task.pending if task.is_waiting else None
    if question is not None and question.answer is None and question.id not in questions:
        questions.append(question.id)
        loop = asyncio.get_running_loop()
        loop.call_soon(lambda: loop.create_task(_answer(bench, said)))


async def _answer(bench: Bench, said: str) -> None:
    await bench.runner.respond(bench.chat, said)


async def test_a_file_that_changed_while_it_waited_is_asked_for_anew(store: Store) -> None:
    bench = Bench(
        store,
        [answer(ToolUse("update_system_prompt", {"system_prompt": "New.\n"})), answer(COMPLETE)],
        ASK_ALL,
    )
    await bench.runner.start(bench.chat, "Do it.")
    first = (await bench.until("waiting_approval")).pending
    store.change("kept", EditPrompt("To the end.", "To the very end."), revision=None, by=USER)
    await bench.runner.respond(bench.chat, "once")
    async with asyncio.timeout(5):
        while bench.task.pending is None or bench.task.pending.id == first.id:  # type: ignore[union-attr]
            await asyncio.sleep(0.001)
    second = bench.task.pending
    assert second.approval is not None and "very end" in second.approval.diff and "changed" in second.text
    assert "very end" in bench.prompt
    await bench.runner.respond(bench.chat, "no")
    await bench.runner.wait("kept")
    assert "very end" in bench.prompt


async def test_a_call_that_could_not_be_made_is_not_asked_for(store: Store) -> None:
    bad = ToolUse("edit_system_prompt", {"old": "nowhere", "new": "x"})
    bench = Bench(store, [answer(bad), answer(COMPLETE)], ASK_ALL)
    await bench.run()
    assert "waiting_approval" not in bench.states and "no match" in bench.results()[0]


async def test_an_undo_is_shown_before_it_is_agreed_to(store: Store) -> None:
    store.change("kept", EditPrompt("Always.", "Never."), revision=None, by=USER)
    bench = Bench(
        store,
        [answer(ToolUse("undo")), answer(COMPLETE)],
        TaskOptions(ApprovalRules("auto", {"undo": "ask"})),
    )
    await bench.runner.start(bench.chat, "Undo it.")
    task = await bench.until("waiting_approval")
    assert task.pending is not None and task.pending.approval is not None
    assert "-Never." in task.pending.approval.diff and "+Always." in task.pending.approval.diff
    await bench.runner.respond(bench.chat, "yes")
    await bench.runner.wait("kept")
    assert bench.prompt == PROMPT


@pytest.mark.parametrize(
    ("policy", "overrides", "tool", "verdict"),
    [
        ("auto", {}, "delete_test_input", "allow"),
        ("ask-destructive", {}, "delete_test_input", "ask"),
        ("ask-destructive", {}, "edit_system_prompt", "allow"),
        ("ask-all", {}, "edit_system_prompt", "ask"),
        ("ask-all", {}, "get_persona", "allow"),
        ("ask-all", {"edit_system_prompt": "allow"}, "edit_system_prompt", "allow"),
        ("auto", {"undo": "deny"}, "undo", "deny"),
    ],
)
def test_the_policy_and_its_overrides(
    store: Store, policy: Any, overrides: Any, tool: str, verdict: str
) -> None:
    tools = {one.name: one for one in Chat(store, "kept", ScriptedModel()).tools}
    assert ApprovalRules(policy, overrides).verdict(tools[tool]) == verdict


async def test_a_denied_tool_is_refused_without_a_question(store: Store) -> None:
    bench = Bench(
        store,
        [answer(EDIT), answer(COMPLETE)],
        TaskOptions(ApprovalRules("auto", {"edit_system_prompt": "deny"})),
    )
    await bench.run()
    assert bench.prompt == PROMPT and "settings do not allow" in bench.results()[0]


@pytest.mark.parametrize("text", ["", "perhaps", "once more", "yes but", "?", "5"])
def test_an_unclear_answer_is_no_approval(text: str) -> None:
    with pytest.raises(InvalidValue):
        read_decision(text)


def test_grants_for_good_are_kept_beside_the_settings_for_one_home_only(tmp_path: Path) -> None:
    path = tmp_path / "settings" / "grants.json"
    Grants(path).add(tmp_path / "one", "undo")
    assert Grants(path).has(tmp_path / "one", "undo")
    assert not Grants(path).has(tmp_path / "two", "undo") and not Grants(path).has(tmp_path / "one", "edit")
    path.write_text('{"x": 1, "y": [', encoding="utf-8")
    assert not Grants(path).has(tmp_path / "one", "undo")


def test_the_same_change_elsewhere_in_the_file_is_the_same_request(store: Store) -> None:
    tools = {one.name: one for one in Chat(store, "kept", ScriptedModel()).tools}
    tool = tools["edit_system_prompt"]
    given = tool.input.model_validate({"old": "Always.", "new": "Sometimes."})
    first = approval_of(store, "kept", tool, given)
    path = store.path("kept")
    path.write_text("# mine\n\n\n\n" + path.read_text(encoding="utf-8"), encoding="utf-8")
    moved = approval_of(store, "kept", tool, given)
    assert moved.diff != first.diff and is_same(first, moved)
    other = tool.input.model_validate({"old": "Always.", "new": "Never."})
    assert not is_same(first, approval_of(store, "kept", tool, other))
