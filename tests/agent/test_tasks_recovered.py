"""Tasks an earlier program left on disk: shown as what they are, never run by themselves, continued when asked."""

from __future__ import annotations

import asyncio
import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agent.chat.chat import Chat
from agent.core.tool import Tool, ToolContext
from agent.core.turns import NoticeTurn, ToolResultTurn, UserTurn
from agent.jobs.agent_jobs import AgentJobs
from agent.jobs.agent_run import AgentRun
from agent.jobs.approval_policy import ApprovalRules, NotTrusted
from agent.jobs.job import Job
from agent.jobs.options import JobOptions
from agent.jobs.recovery import JobWaits, find_job, leave_task
from agent.models.scripted import Hang, ScriptedModel, ToolUse, answer
from personas.changes import EditPrompt
from personas.errors import Busy, InvalidValue
from personas.files import trust
from personas.store import Store
from personas.versions.authorship import USER
from tests.support.messages_rules import violations
from tests.support.task_bench import ASK, COMPLETE, EDIT, PROMPT, Bench, log_event, session_file

ASK_ALL = JobOptions(ApprovalRules("ask-all"), request_pause=0)


async def leave(store: Store, answers: list[Any], options: JobOptions = ASK_ALL) -> Job:
    """Begin a task, and let the program end while it waits."""
    bench = Bench(store, answers, options)
    await bench.runner.start(bench.chat, "Do it.")
    async with asyncio.timeout(120):
        while not bench.task.is_waiting:
            await asyncio.sleep(0)
    left = bench.task
    assert bench.runner.suspend("kept")
    await bench.runner.wait("kept")
    assert bench.seen[-1] == left, "leaving changes nothing"
    return left


def calls_answered(store: Store) -> dict[str, str]:
    chat = Chat(store, "kept", ScriptedModel())
    chat.load()
    return {turn.tool_use_id: turn.output for turn in chat.turns if isinstance(turn, ToolResultTurn)}


async def test_a_question_survives_and_its_answer_goes_on_with_a_valid_request(store: Store) -> None:
    left = await leave(store, [answer("Let me ask.", EDIT, ASK)], JobOptions(request_pause=0))
    bench = Bench(store, [answer(COMPLETE)])
    found = await bench.runner.find(store, "kept")
    assert found == left and found is not None and found.pending_question == "Which one?"
    size = session_file(store).stat().st_size
    await bench.runner.find_all(store)
    assert session_file(store).stat().st_size == size and bench.model.requests == []
    assert (await bench.runner.respond(bench.chat, "the second")).status == "thinking"
    await bench.runner.wait("kept")
    assert (bench.task.status, bench.task.id, bench.task.step_count) == ("completed", left.id, 2)
    request = bench.model.requests[0]
    assert violations({"messages": request.messages}) == []
    last = request.messages[-1]["content"]
    assert [block["content"] for block in last][-1] == "the second" and len(last) == 2
    assert [turn.content for turn in bench.chat.turns if isinstance(turn, UserTurn)] == ["Do it."]


async def test_a_task_with_two_runs_is_undone_as_one(store: Store) -> None:
    await leave(store, [answer(EDIT, ASK)], JobOptions(request_pause=0))
    more = ToolUse("edit_system_prompt", {"old": "To the end.", "new": "To the beginning."})
    bench = Bench(store, [answer(more), answer(COMPLETE)])
    await bench.runner.respond(bench.chat, "the second")
    await bench.runner.wait("kept")
    assert bench.prompt == "You are kept.\nSometimes.\nTo the beginning.\n"
    store.undo("kept", by=USER)
    assert bench.prompt == PROMPT


@pytest.mark.parametrize("said", ["once", "no, leave it"])
async def test_an_approval_survives_and_the_call_is_made_once_or_not_at_all(store: Store, said: str) -> None:
    left = await leave(store, [answer("I will.", EDIT)])
    assert store.get("kept").system_prompt == PROMPT
    bench = Bench(store, [answer(COMPLETE)])
    assert await bench.runner.find(store, "kept") == left
    await bench.runner.respond(bench.chat, said)
    await bench.runner.wait("kept")
    assert bench.task.status == "completed"
    assert violations({"messages": bench.model.requests[0].messages}) == []
    if said == "once":
        assert bench.prompt == PROMPT.replace("Always.", "Sometimes.")
        assert [version.by.kind for version in store.log("kept")] == ["agent"]
    else:
        assert bench.prompt == PROMPT and "leave it" in calls_answered(store)["call_1"]
    assert len(calls_answered(store)) == 2


@pytest.mark.parametrize("obeys", [True, False])
async def test_a_stop_reaches_a_call_that_is_made_after_its_approval(store: Store, obeys: bool) -> None:
    await leave(store, [answer("I will.", EDIT)])
    bench = Bench(store, [answer(COMPLETE)])
    reached, over = asyncio.Event(), asyncio.Event()

    async def hang(_given: Any, _ctx: ToolContext) -> str:
        reached.set()
        try:
            await over.wait()
        except asyncio.CancelledError:
            if obeys:
                raise
            await over.wait()
        return "late"

    bench.chat.tools = [replace(tool, execute=hang) for tool in bench.chat.tools]
    answering = asyncio.ensure_future(bench.runner.respond(bench.chat, "once"))
    await reached.wait()
    bench.runner.stop("kept")
    await asyncio.wait_for(asyncio.gather(answering, bench.runner.wait("kept")), 30)
    over.set()
    assert (bench.task.status, bench.model.requests) == ("cancelled", [])
    assert "may have taken effect" in calls_answered(store)["call_1"]


async def test_an_approval_in_a_home_that_is_not_trusted_does_not_count(store: Store) -> None:
    await leave(store, [answer(EDIT)])
    trust.distrust(store.home.root)
    bench = Bench(store, [answer(COMPLETE)])
    with pytest.raises(NotTrusted, match="persona trust"):
        await bench.runner.respond(bench.chat, "once")
    assert bench.prompt == PROMPT and bench.model.requests == []
    trust.trust(store.home.root)
    await bench.runner.respond(bench.chat, "once")
    await bench.runner.wait("kept")
    assert "Sometimes." in bench.prompt


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        (ASK, ToolUse("ask_user", {"question": "Delete everything?"}), "the first"),
        (EDIT, ToolUse("ask_user", {"question": "Delete everything?"}), "once"),
        (EDIT, ToolUse("update_persona_name", {"name": "Other"}), "no"),
        (EDIT, ToolUse("update_persona_name", {"name": "Other"}), "once"),
        (ASK, EDIT, "once"),
    ],
)
async def test_an_answer_to_what_another_program_has_answered_goes_to_nothing_else(
    store: Store, first: ToolUse, second: ToolUse, said: str
) -> None:
    await leave(store, [answer(first)])
    screen = Bench(store, [answer(COMPLETE)], ASK_ALL)
    shown = await screen.runner.find(store, "kept")
    assert shown is not None and shown.pending is not None
    other = Bench(store, [answer(second, ids="later")], ASK_ALL)
    await other.runner.respond(other.chat, "no" if first is EDIT else "by command")
    async with asyncio.timeout(120):
        while not other.task.is_waiting or other.task.pending.id == shown.pending.id:  # type: ignore[union-attr]
            await asyncio.sleep(0)
    assert other.runner.suspend("kept")
    await other.runner.wait("kept")
    with pytest.raises(InvalidValue, match="no longer open"):
        await screen.runner.respond(screen.chat, said, question_id=shown.pending.id)
    found = find_job(store, "kept")
    assert found is not None and found.is_waiting and found.pending == other.task.pending
    assert screen.model.requests == [] and store.get("kept").system_prompt == PROMPT


async def test_refusing_and_stopping_need_no_trust(store: Store) -> None:
    await leave(store, [answer(EDIT)])
    trust.distrust(store.home.root)
    bench = Bench(store, [answer(COMPLETE)])
    stopped = await bench.runner.stop_found(bench.chat)
    assert stopped.status == "cancelled" and bench.prompt == PROMPT
    assert (
        isinstance(bench.chat.turns[-1], NoticeTurn) and "stopped the task" in calls_answered(store)["call_1"]
    )
    assert (await bench.run("Another.")).status == "completed"


async def test_what_an_approval_would_do_is_read_anew_and_asked_again_when_it_is_something_else(
    store: Store,
) -> None:
    whole = ToolUse("update_system_prompt", {"system_prompt": "New.\n"})
    left = await leave(store, [answer(whole)])
    store.change("kept", EditPrompt("To the end.", "To the very end."), revision=None, by=USER)
    bench = Bench(store, [answer(COMPLETE)])
    asked = await bench.runner.respond(bench.chat, "once")
    assert asked.is_waiting and asked.pending is not None and asked.pending.id != left.pending.id  # type: ignore[union-attr]
    assert asked.pending.approval is not None and "-To the very end." in asked.pending.approval.diff
    assert "very end" in bench.prompt
    later = Bench(store, [answer(COMPLETE)])
    await later.runner.respond(later.chat, "once")
    await later.runner.wait("kept")
    assert later.prompt == "New.\n"


async def test_a_stored_diff_is_not_believed(store: Store) -> None:
    """A home from a stranger shows a harmless diff over a call that does something else."""
    await leave(store, [answer(ToolUse("update_system_prompt", {"system_prompt": "Evil.\n"}))])
    log = session_file(store)
    lines = log.read_text(encoding="utf-8").splitlines(keepends=True)
    lines = [line.replace("Evil.", "Good.") if '"type":"job"' in line else line for line in lines]
    assert "Good." in "".join(lines)
    log.write_text("".join(lines), encoding="utf-8")
    found = await AgentJobs().find(store, "kept")
    assert found is not None and found.pending is not None and found.pending.approval is not None
    assert "+Evil." in found.pending.approval.diff
    bench = Bench(store, [answer(COMPLETE)])
    assert (await bench.runner.respond(bench.chat, "once")).is_waiting
    assert bench.prompt == PROMPT


async def test_a_task_under_which_the_program_died_is_interrupted_and_goes_on_only_when_asked(
    store: Store,
) -> None:
    bench = Bench(store, [answer(EDIT), answer(ToolUse("get_persona"), Hang())])
    await bench.runner.start(bench.chat, "Do it.")
    async with asyncio.timeout(120):
        while len(bench.model.requests) < 2:
            await asyncio.sleep(0)
    copy = _copy_of_disk(store)
    bench.runner.stop("kept")
    await bench.runner.wait("kept")
    _restore_disk(store, copy)

    again = Bench(store, [answer(COMPLETE)])
    found = await again.runner.find(store, "kept")
    assert found is not None and found.status == "interrupted" and again.model.requests == []
    with pytest.raises(InvalidValue, match="waits for an answer"):
        await again.runner.respond(again.chat, "x")
    await again.runner.resume(again.chat)
    await again.runner.wait("kept")
    assert again.task.status == "completed" and again.task.id == found.id
    assert violations({"messages": again.model.requests[0].messages}) == []
    assert "resumed" in again.notices()
    (note,) = [turn.content for turn in again.chat.turns if isinstance(turn, NoticeTurn)]
    assert note == "The program ended while this task was at step 2; it goes on here."
    assert again.task.step_count == 3


@pytest.mark.parametrize("step", [-1, 0, True, None, "9", 1e400, [2]])
async def test_a_mark_that_names_no_later_step_is_not_believed(store: Store, step: Any) -> None:
    left = await leave(store, [answer(EDIT)])
    log = session_file(store)
    mark = {"type": "job", "id": left.id, "event": "step", "kind": "task", "step_count": step}
    with log.open("a", encoding="utf-8") as file:
        file.write(json.dumps(mark) + "\n")
    found = find_job(store, "kept")
    assert found is not None and found.step_count == left.step_count


def _copy_of_disk(store: Store) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in store.home.sessions.iterdir() if path.is_file()}


def _restore_disk(store: Store, copy: dict[Path, bytes]) -> None:
    for path, content in copy.items():
        path.write_bytes(content)


async def test_a_further_task_cannot_begin_over_one_that_waits(store: Store) -> None:
    await leave(store, [answer(ASK)])
    bench = Bench(store, [answer(COMPLETE)])
    with pytest.raises(JobWaits, match="Which one"):
        await bench.runner.start(bench.chat, "Something else.")
    bench.chat.clear()
    assert (await bench.run("A new conversation.")).status == "completed"


async def test_a_new_conversation_begins_over_nothing_that_waits_or_is_at_work(store: Store) -> None:
    assert leave_task(store, "kept") == ""
    bench = Bench(store, [answer(ASK)])
    await bench.runner.start(bench.chat, "Do it.")
    await bench.until("waiting_user")
    with pytest.raises(JobWaits, match="persona reply --stop kept"):
        leave_task(store, "kept")
    bench.runner.suspend("kept")
    await bench.runner.wait("kept")
    with pytest.raises(JobWaits, match="Which one"):
        leave_task(store, "kept")
    await bench.runner.stop_found(bench.chat)
    assert leave_task(store, "kept") == ""
    at_work = Bench(store, [answer("A word", Hang())])
    await at_work.runner.start(at_work.chat, "More.")
    with pytest.raises(Busy, match="stop it there"):
        leave_task(store, "kept")
    at_work.runner.stop("kept")
    await at_work.runner.wait("kept")


async def test_a_task_that_stays_behind_in_the_old_conversation_is_told(store: Store) -> None:
    bench = Bench(store, [answer(EDIT)], JobOptions(max_steps=1, request_pause=0))
    await bench.run()
    assert (
        leave_task(store, "kept")
        == "A task that stopped at a limit at step 1 stays behind in the old conversation."
    )
    await bench.runner.stop_found(bench.chat)
    assert leave_task(store, "kept") == ""


async def test_a_question_that_the_conversation_left_behind_is_not_waiting_any_more(store: Store) -> None:
    await leave(store, [answer(ASK)])
    chat = Chat(store, "kept", ScriptedModel([answer("fine")]))
    chat.load()
    await chat.send("Never mind.")  # as a program without tasks would
    bench = Bench(store, [answer(COMPLETE)])
    found = await bench.runner.find(store, "kept")
    assert found is not None and found.status == "interrupted"
    with pytest.raises(InvalidValue):
        await bench.runner.respond(bench.chat, "the first")


async def test_a_refusal_with_its_reason_is_on_the_disk_before_anything_else_of_a_reply(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    await leave(store, [answer(EDIT)])
    copies = []
    leave_waiting = AgentRun.leave_waiting

    async def dies_here(run: AgentRun, status: Any, **changes: Any) -> None:
        copies.append(_copy_of_disk(store))
        await leave_waiting(run, status, **changes)

    monkeypatch.setattr(AgentRun, "leave_waiting", dies_here)
    bench = Bench(store, [answer(COMPLETE)])
    await bench.runner.respond(bench.chat, "no, keep it warm")
    await bench.runner.wait("kept")
    _restore_disk(store, copies[0])
    again = Bench(store, [answer(COMPLETE)])
    await again.runner.resume(again.chat)
    await again.runner.wait("kept")
    assert again.results()[0] == "Not run: the owner said no: keep it warm" and again.prompt == PROMPT


@pytest.mark.parametrize(
    ("said", "told"), [("no, keep it warm", "Not run: the owner said no: keep it warm"), ("once", "Not run")]
)
async def test_an_answer_to_an_approval_right_before_a_crash_is_heard_and_makes_no_call(
    store: Store, said: str, told: str
) -> None:
    left = await leave(store, [answer(EDIT)])
    assert left.pending is not None
    answered = left.pending.model_copy(update={"answer": said})
    log_event(store, "answered", left.model_copy(update={"pending": answered}))
    bench = Bench(store, [answer(COMPLETE)])
    found = await bench.runner.find(store, "kept")
    assert found is not None and found.status == "interrupted"
    await bench.runner.resume(bench.chat)
    await bench.runner.wait("kept")
    assert bench.results()[0].startswith(told) and bench.prompt == PROMPT


async def test_an_approved_call_after_which_the_program_died_is_not_made_again(store: Store) -> None:
    await leave(store, [answer(EDIT)])
    copies = []
    bench = Bench(store, [answer(COMPLETE)])

    def dies_behind(tool: Tool) -> Tool:
        async def execute(given: Any, context: ToolContext) -> Any:
            output = await tool.execute(given, context)
            copies.append(_copy_of_disk(store))
            return output

        return replace(tool, execute=execute)

    bench.chat.tools = [dies_behind(tool) for tool in bench.chat.tools]
    await bench.runner.respond(bench.chat, "once")
    await bench.runner.wait("kept")
    assert "Sometimes." in bench.prompt
    _restore_disk(store, copies[0])
    found = find_job(store, "kept")
    assert found is not None and found.status == "interrupted", "not waiting, to be agreed to once more"
    again = Bench(store, [answer(COMPLETE)])
    await again.runner.resume(again.chat)
    await again.runner.wait("kept")
    assert "unknown" in again.results()[0].casefold()
    assert len([one for one in store.log("kept") if one.by.kind == "agent"]) == 1


async def test_a_file_that_changes_once_it_was_agreed_keeps_the_call_from_being_made(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    await leave(store, [answer(EDIT)])
    leave_waiting = AgentRun.leave_waiting

    async def changed_before(run: AgentRun, status: Any, **changes: Any) -> None:
        store.change("kept", EditPrompt("You are kept.", "You are here."), revision=None, by=USER)
        await leave_waiting(run, status, **changes)

    monkeypatch.setattr(AgentRun, "leave_waiting", changed_before)
    bench = Bench(store, [answer(COMPLETE)])
    await bench.runner.respond(bench.chat, "once")
    await bench.runner.wait("kept")
    assert "changed after it was agreed to" in bench.results()[0] and "Sometimes." not in bench.prompt


async def test_an_answer_given_right_before_a_crash_is_not_lost(store: Store) -> None:
    left = await leave(store, [answer(ASK)])
    assert left.pending is not None
    answered = left.model_copy(update={"pending": left.pending.model_copy(update={"answer": "the first"})})
    log_event(store, "answered", answered)
    bench = Bench(store, [answer(COMPLETE)])
    found = await bench.runner.find(store, "kept")
    assert found is not None and found.status == "interrupted"
    await bench.runner.resume(bench.chat)
    await bench.runner.wait("kept")
    assert calls_answered(store)[left.pending.tool_use_id] == "the first"


async def test_a_task_that_had_just_completed_is_completed(store: Store) -> None:
    bench = Bench(store, [answer(EDIT), answer(COMPLETE)])
    await bench.run()
    log = session_file(store)
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(lines[:-1]))
    found = find_job(store, "kept")
    assert found is not None and (found.status, found.summary) == ("completed", "All done.")


async def test_a_task_at_work_elsewhere_is_shown_and_not_touched(store: Store) -> None:
    bench = Bench(store, [answer(ASK)])
    await bench.runner.start(bench.chat, "Do it.")
    await bench.until("waiting_user")
    other = Bench(store, [])
    found = await other.runner.find(store, "kept")
    assert found is not None and found.status == "waiting_user"
    with pytest.raises(Busy):
        await other.runner.respond(other.chat, "the first")
    assert bench.task.is_waiting
    await bench.runner.close()


async def test_every_open_task_is_found_at_the_start_of_a_program(store: Store) -> None:
    await leave(store, [answer(ASK)])
    store.create("Idle", system_prompt=PROMPT)
    runner = AgentJobs()
    seen: list[Job] = []
    runner.observe(seen.append)
    assert [task.persona_id for task in await runner.find_all(store)] == ["kept"]
    assert seen == runner.jobs and len(seen) == 1
    await runner.find_all(store)
    assert len(seen) == 1, "what did not change is not told again"


HOSTILE: list[Any] = [
    {"status": "nonsense"},
    {"status": "completed", "session_id": "another"},
    {"persona_id": "other"},
    {"pending": {"text": "x"}},
    {"pending": {"id": "q" * 300, "text": "x", "tool_use_id": "t"}},
    {"step_count": "many"},
    {"usage": {"input_tokens": []}},
    {"scratchpad": [1]},
    {"cost": "free"},
    {"id": 7},
]


@pytest.mark.parametrize("change", HOSTILE, ids=lambda change: json.dumps(change)[:40])
async def test_a_record_that_is_wrong_makes_no_task_and_breaks_nothing(
    store: Store, change: dict[str, Any]
) -> None:
    left = await leave(store, [answer(ASK)])
    log = session_file(store)
    with log.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"type": "job", "event": "changed", "id": left.id, **change}) + "\n")
    found = find_job(store, "kept")
    assert found is None or found.status in ("waiting_user", "interrupted", "completed")
    bench = Bench(store, [answer(COMPLETE)])
    bench.chat.clear()
    assert (await bench.run()).status == "completed"


async def test_a_log_cut_anywhere_or_full_of_noise_is_read(store: Store) -> None:
    left = await leave(store, [answer(EDIT, ASK)], JobOptions(request_pause=0))
    log = session_file(store)
    whole = log.read_bytes()
    choose = random.Random(1)
    for cut in choose.sample(range(len(whole)), 40):
        log.write_bytes(whole[:cut])
        found = find_job(store, "kept")
        assert found is None or found.status in ("interrupted", "waiting_user")
        log.write_bytes(whole[:cut] + b"\0" * 50 + b"\nnoise\n[1]\n" + whole)
        assert find_job(store, "kept") == left


async def test_a_log_that_is_a_symlink_is_left_alone(store: Store, tmp_path: Path) -> None:
    await leave(store, [answer(ASK)])
    log = session_file(store)
    secret = tmp_path / "secret"
    secret.write_bytes(log.read_bytes())
    log.unlink()
    log.symlink_to(secret)
    bench = Bench(store, [answer("fine")])
    runner = AgentJobs()
    assert await runner.find_all(store) == []
    assert secret.read_bytes().count(b"\n") >= 1
    assert (await bench.run("Hello", kind="chat")).status == "completed"


async def test_a_task_that_was_over_before_is_no_news(store: Store) -> None:
    await Bench(store, [answer(COMPLETE)]).run()
    bench = Bench(store, [answer("Hello.")])
    await bench.run("Hello", kind="chat")
    assert {task.original_prompt for task in bench.seen} == {"Hello"}
    assert (await bench.runner.find(store, "kept")) != bench.task and bench.task.original_prompt == "Hello"
