"""Approval of calls: what is asked for, what is shown, and how long an answer holds."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from agent.chat.chat import Chat
from agent.core.turns import ToolCallTurn
from agent.jobs.agent_jobs import AgentJobs
from agent.jobs.approval_policy import ApprovalRules, approval_of, is_same, read_decision
from agent.jobs.job import Job
from agent.jobs.options import JobOptions
from agent.jobs.recovery import approval_now
from agent.jobs.saved_approvals import MOST_TASKS, SavedApprovals
from agent.models.scripted import ScriptedModel, ToolUse, answer
from agent.tools import tool_names
from personas.changes import EditPrompt
from personas.errors import InvalidValue
from personas.store import Store
from personas.versions.authorship import USER
from tests.support.task_bench import COMPLETE, EDIT, PROMPT, Bench

ASK_ALL = JobOptions(ApprovalRules("ask-all"), request_pause=0)


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


async def test_what_was_allowed_for_good_is_read_in_a_thread(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    has = SavedApprovals.has

    def noted(grants: SavedApprovals, home: Path, tool_name: str) -> bool:
        asked.append(threading.get_ident())
        return has(grants, home, tool_name)

    monkeypatch.setattr(SavedApprovals, "has", noted)
    grants = SavedApprovals(tmp_path / "grants.json")
    grants.add(store.home.root, EDIT.name)
    bench = Bench(store, [answer(EDIT), answer(COMPLETE)], ASK_ALL)
    bench.runner = AgentJobs(ASK_ALL, grants=grants)
    await bench.run()
    assert asked and threading.get_ident() not in asked and "Sometimes." in bench.prompt


def _reply_once(bench: Bench, task: Job, said: str, questions: list[str]) -> None:
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
    async with asyncio.timeout(120):
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


def test_what_keeps_a_call_found_on_disk_from_being_made_is_told_at_a_bearable_length(store: Store) -> None:
    call = ToolCallTurn(tool_use_id="c", tool_name=EDIT.name, input={"x" * 1_000_000: 1})
    note = approval_now(store, "kept", call).note
    assert note.startswith("It cannot be made: Invalid input") and len(note) < 5_000


async def test_an_undo_is_shown_before_it_is_agreed_to(store: Store) -> None:
    store.change("kept", EditPrompt("Always.", "Never."), revision=None, by=USER)
    bench = Bench(
        store,
        [answer(ToolUse("undo")), answer(COMPLETE)],
        JobOptions(ApprovalRules("auto", {"undo": "ask"})),
    )
    await bench.runner.start(bench.chat, "Undo it.")
    task = await bench.until("waiting_approval")
    assert task.pending is not None and task.pending.approval is not None
    assert "-Never." in task.pending.approval.diff and "+Always." in task.pending.approval.diff
    await bench.runner.respond(bench.chat, "yes")
    await bench.runner.wait("kept")
    assert bench.prompt == PROMPT


DESTRUCTIVE = {"update_system_prompt", "update_test_input", "delete_test_input", "undo"}


def test_what_takes_something_away_as_a_whole_is_asked_for_and_named_in_the_manual(store: Store) -> None:
    rules = ApprovalRules("ask-destructive")
    asked = {tool.name for tool in Chat(store, "kept", ScriptedModel()).tools if rules.verdict(tool) == "ask"}
    assert asked == DESTRUCTIVE
    readme = (Path(__file__).parent.parent.parent / "README.md").read_text(encoding="utf-8")
    told = next(part for part in readme.split("\n\n") if part.startswith("`ask-destructive` asks before"))
    assert {name for name in tool_names() if f"`{name}`" in told} == DESTRUCTIVE


async def test_replacing_the_whole_prompt_is_asked_for_with_its_diff(store: Store) -> None:
    replace = ToolUse("update_system_prompt", {"system_prompt": ""})
    bench = Bench(store, [answer(replace), answer(COMPLETE)], JobOptions(ApprovalRules("ask-destructive")))
    await bench.runner.start(bench.chat, "Empty it.")
    task = await bench.until("waiting_approval")
    assert task.pending is not None and task.pending.approval is not None
    assert "-Always." in task.pending.approval.diff and bench.prompt == PROMPT
    await bench.runner.respond(bench.chat, "no")
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
        JobOptions(ApprovalRules("auto", {"edit_system_prompt": "deny"})),
    )
    await bench.run()
    assert bench.prompt == PROMPT and "settings do not allow" in bench.results()[0]


@pytest.mark.parametrize("text", ["", "perhaps", "once more", "yes but", "?", "5"])
def test_an_unclear_answer_is_no_approval(text: str) -> None:
    with pytest.raises(InvalidValue):
        read_decision(text)


async def test_an_ask_in_the_settings_is_stronger_than_an_always(store: Store, tmp_path: Path) -> None:
    grants = SavedApprovals(tmp_path / "config" / "grants.json")
    grants.add(store.home.root, "edit_system_prompt")
    each_time = JobOptions(ApprovalRules("auto", {"edit_system_prompt": "ask"}), request_pause=0)
    bench = Bench(store, [answer(EDIT), answer(COMPLETE)], each_time)
    bench.runner = AgentJobs(each_time, grants=grants)
    await bench.runner.start(bench.chat, "Do it.")
    question = (await bench.until("waiting_approval")).pending
    assert question is not None and question.options == ("once", "task", "no")
    with pytest.raises(InvalidValue, match="every time"):
        await bench.runner.respond(bench.chat, "always")
    await bench.runner.respond(bench.chat, "3")
    await bench.runner.wait("kept")
    assert bench.results()[0] == "Not run: the owner said no." and bench.prompt == PROMPT


def test_what_was_allowed_in_a_home_is_taken_back_whole_and_there_alone(tmp_path: Path) -> None:
    path = tmp_path / "config" / "grants.json"
    here, there = tmp_path / "here", tmp_path / "there"
    running, other = SavedApprovals(path), SavedApprovals(path)
    for home in (here, there):
        running.add(home, "undo")
        running.add_for_task(home, "s", "t", "undo")
    assert other.always(here) == ["undo"]
    other.forget(here)
    assert (running.has(here, "undo"), running.has(there, "undo")) == (False, True)
    assert (other.of_task(here, "s", "t"), other.of_task(there, "s", "t")) == (frozenset(), {"undo"})
    running.forget(there)
    assert running.of_task(there, "s", "t") == frozenset()


def test_grants_for_good_are_kept_beside_the_settings_for_one_home_only(tmp_path: Path) -> None:
    path = tmp_path / "settings" / "grants.json"
    SavedApprovals(path).add(tmp_path / "one", "undo")
    assert SavedApprovals(path).has(tmp_path / "one", "undo")
    assert not SavedApprovals(path).has(tmp_path / "two", "undo") and not SavedApprovals(path).has(
        tmp_path / "one", "edit"
    )
    path.write_text('{"x": 1, "y": [', encoding="utf-8")
    assert not SavedApprovals(path).has(tmp_path / "one", "undo")


def test_the_same_change_elsewhere_in_the_file_is_the_same_request(store: Store) -> None:
    tools = {one.name: one for one in Chat(store, "kept", ScriptedModel()).tools}
    tool = tools["edit_system_prompt"]
    given = tool.input.model_validate({"old": "Always.", "new": "Sometimes."})
    far = EditPrompt("You are kept.", "You are kept.\none\ntwo\nthree")
    store.change("kept", far, revision=None, by=USER)
    first = approval_of(store, "kept", tool, given)
    store.change("kept", EditPrompt("You are kept.", "So:\nYou are kept."), revision=None, by=USER)
    moved = approval_of(store, "kept", tool, given)
    assert moved.diff != first.diff and is_same(first, moved)
    other = tool.input.model_validate({"old": "Always.", "new": "Never."})
    assert not is_same(first, approval_of(store, "kept", tool, other))


BACK = ToolUse("edit_system_prompt", {"old": "To the end.", "new": "To the beginning."})
ASK = ToolUse("ask_user", {"question": "Go on?"})


def next_program(store: Store, answers: list[Any], grants: SavedApprovals, trusted: bool = True) -> Bench:
    bench = Bench(store, answers, ASK_ALL)
    bench.runner = AgentJobs(ASK_ALL, grants=grants, is_trusted=lambda _home: trusted)
    bench.runner.observe(bench.seen.append)
    return bench


async def left_with_a_grant(store: Store, path: Path) -> Job:
    """Leave a task that waits for an answer, a tool being allowed for it."""
    bench = next_program(store, [answer(EDIT), answer(ASK)], SavedApprovals(path))
    await bench.runner.start(bench.chat, "Do it.")
    await bench.until("waiting_approval")
    await bench.runner.respond(bench.chat, "task")
    left = await bench.until("waiting_user")
    bench.runner.suspend("kept")
    await bench.runner.wait("kept")
    return left


async def test_what_is_allowed_for_the_task_holds_in_the_next_program_and_no_longer_than_the_task(
    store: Store, tmp_path: Path
) -> None:
    path = tmp_path / "settings" / "grants.json"
    left = await left_with_a_grant(store, path)
    home = store.home.root
    assert SavedApprovals(path).of_task(home, left.session_id, left.id) == {"edit_system_prompt"}
    assert "edit_system_prompt" not in "".join(
        file.read_text(encoding="utf-8", errors="replace") for file in home.rglob("*grants*")
    )
    bench = next_program(store, [answer(BACK), answer(COMPLETE)], SavedApprovals(path))
    await bench.runner.respond(bench.chat, "yes")
    await bench.runner.wait("kept")
    assert bench.task.status == "completed" and "waiting_approval" not in bench.states
    assert "To the beginning." in bench.prompt
    assert SavedApprovals(path).of_task(home, left.session_id, left.id) == frozenset()
    more = ToolUse("edit_system_prompt", {"old": "To the beginning.", "new": "No more."})
    again = next_program(store, [answer(more, ids="again")], SavedApprovals(path))
    await again.runner.start(again.chat, "Once more.")
    await again.until("waiting_approval")
    await again.runner.close()


@pytest.mark.parametrize("how", ["give up", "stop"])
async def test_what_was_allowed_is_forgotten_when_the_task_is_stopped(
    store: Store, tmp_path: Path, how: str
) -> None:
    path = tmp_path / "grants.json"
    left = await left_with_a_grant(store, path)
    bench = next_program(store, [answer(ASK, ids="again")], SavedApprovals(path))
    if how == "give up":
        await bench.runner.stop_found(bench.chat)
    else:
        await bench.runner.respond(bench.chat, "yes")
        await bench.until("waiting_user")
        bench.runner.stop("kept")
        await bench.runner.wait("kept")
    assert bench.task.status == "cancelled"
    assert SavedApprovals(path).of_task(store.home.root, left.session_id, left.id) == frozenset()


async def test_what_was_allowed_for_a_task_does_not_count_in_a_home_that_is_not_trusted(
    store: Store, tmp_path: Path
) -> None:
    path = tmp_path / "grants.json"
    await left_with_a_grant(store, path)
    bench = next_program(store, [answer(BACK)], SavedApprovals(path), trusted=False)
    await bench.runner.respond(bench.chat, "yes")
    await bench.until("waiting_approval")
    await bench.runner.close()


def test_grants_for_tasks_are_bounded_and_a_damaged_file_grants_nothing(tmp_path: Path) -> None:
    path = tmp_path / "grants.json"
    grants = SavedApprovals(path)
    for number in range(MOST_TASKS + 3):
        grants.add_for_task(tmp_path, "session", f"task{number}", "undo")
    kept = SavedApprovals(path)
    assert kept.of_task(tmp_path, "session", "task0") == frozenset()
    assert kept.of_task(tmp_path, "session", f"task{MOST_TASKS + 2}") == {"undo"}
    assert kept.of_task(tmp_path / "other", "session", f"task{MOST_TASKS + 2}") == frozenset()
    assert not kept.has(tmp_path, "undo")
    path.with_name("task-grants.json").write_text('{"x": [', encoding="utf-8")
    assert kept.of_task(tmp_path, "session", f"task{MOST_TASKS + 2}") == frozenset()
    memory = SavedApprovals()
    memory.add_for_task(tmp_path, "s", "t", "undo")
    assert memory.of_task(tmp_path, "s", "t") == {"undo"} and not list(tmp_path.glob("None*"))
    memory.end_task(tmp_path, "s", "t")
    assert memory.of_task(tmp_path, "s", "t") == frozenset()
