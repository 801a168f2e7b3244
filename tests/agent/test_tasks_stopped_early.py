"""A stop is heard wherever a task is on the way from the person's word to its run: nothing is done after it."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.chat.chat import Chat
from agent.core.tool_execution import NOT_RUN
from agent.core.turns import NoticeTurn, ToolResultTurn, UserTurn
from agent.jobs.agent_jobs import AgentJobs
from agent.jobs.approval_policy import ApprovalRules
from agent.jobs.options import JobOptions
from agent.models.scripted import ScriptedModel, ToolUse, answer
from personas.changes import EditPrompt
from personas.files.home import open_home
from personas.store import Store
from personas.versions.authorship import USER
from tests.agent.task_scenario import run_in_place
from tests.agent.test_tasks_recovered import ASK_ALL, calls_answered, leave
from tests.support.task_bench import ASK, COMPLETE, EDIT, Bench
from tests.support.virtual_time import VirtualLoop

ONE_STEP = JobOptions(ApprovalRules("auto"), request_pause=0, max_steps=1)
WHOLE = ToolUse("update_system_prompt", {"system_prompt": "New.\n"})


def left_in(folder: Path, kind: str) -> Store:
    """A home in which a program has left a task."""
    store = Store(open_home(folder / "home"))
    store.create("Kept", system_prompt="You are kept.\nAlways.\nTo the end.\n")
    if kind in ("approve", "ask anew"):
        run_in_place(leave(store, [answer(WHOLE if kind == "ask anew" else EDIT)]))
    elif kind == "answer":
        run_in_place(leave(store, [answer(EDIT, ASK)], JobOptions(request_pause=0)))
    elif kind == "resume":
        run_in_place(Bench(store, [answer(EDIT)], ONE_STEP).run())
    if kind == "ask anew":
        store.change("kept", EditPrompt("To the end.", "To the very end."), revision=None, by=USER)
    return store


def again_and_again(folder: Path, kind: str, every: int = 1) -> Iterator[tuple[int, Store]]:
    """Give the numbers of turns of a loop, each with that home as the program has left it."""
    store = left_in(folder, kind)
    root, copy = store.home.root, folder / "copy"
    shutil.copytree(root, copy)
    for tick in range(1, 300, every):
        yield tick, store
        shutil.rmtree(root)
        shutil.copytree(copy, root)
    raise AssertionError("it never comes to an end")


def stop_at(store: Store, kind: str, tick: int) -> tuple[Bench, bool]:
    """Give the word and stop before the loop's `tick`-th turn; return what was at work, and whether it was told."""
    loop = VirtualLoop()
    told = False

    async def main() -> Bench:
        bench = Bench(store, [answer(COMPLETE), answer(COMPLETE)], ASK_ALL)
        begun = loop.ticks

        def stop() -> None:
            nonlocal told
            before = bench.prompt, len(bench.model.requests)
            told = bench.runner.stop("kept")
            after.append(before)

        after: list[tuple[str, int]] = []
        loop.at_tick(begun + tick, stop)
        runner, chat = bench.runner, bench.chat
        if kind == "resume":
            await runner.resume(chat)
        elif kind == "begin":
            await runner.start(chat, "Do it.")
        else:
            await runner.respond(chat, "the first" if kind == "answer" else "once")
        await runner.wait("kept")
        if told:
            assert (bench.prompt, len(bench.model.requests)) == after[0], "something was done after the stop"
        return bench

    return run_in_place(main(), loop), told


@pytest.mark.parametrize(("kind", "every"), [("approve", 1), ("answer", 4), ("resume", 4), ("begin", 4)])
def test_a_stop_at_any_moment_before_the_first_request_is_heard(
    kind: str, every: int, tmp_path: Path
) -> None:
    heard = 0
    for tick, store in again_and_again(tmp_path, kind, every):
        bench, told = stop_at(store, kind, tick)
        if bench.model.requests:
            break
        if not told:  # before the word was given
            continue
        heard += 1
        assert bench.task.status == "cancelled"
        notice = bench.chat.turns[-1]
        assert isinstance(notice, NoticeTurn) and notice.content.startswith("Stopped ")
        is_changed = "Sometimes." in bench.prompt
        if "ran." not in notice.content:
            assert ("What was done stays" in notice.content) == is_changed
        if kind == "approve" and not is_changed:
            assert calls_answered(store)["call_1"] == NOT_RUN
        if kind == "answer":
            assert "the first" in calls_answered(store).values(), "nothing the person said is lost"
        if kind == "begin":
            assert [turn.content for turn in bench.chat.turns if isinstance(turn, UserTurn)] == ["Do it."]
    assert heard > 3


def test_a_stop_while_it_is_asked_anew_stops_the_task_and_not_the_next_one(tmp_path: Path) -> None:
    statuses = []
    for tick, store in again_and_again(tmp_path, "ask anew"):
        bench, told = stop_at(store, "ask anew", tick)
        statuses.append(bench.task.status)
        assert bench.prompt != "New.\n" and bench.model.requests == []
        if told:
            assert bench.task.status == "cancelled"
        elif "cancelled" in statuses:
            break
    assert statuses[-1] == "waiting_approval", "too late, there was nothing to stop"


def test_a_stop_of_one_run_is_not_the_stop_of_the_next(tmp_path: Path) -> None:
    store = left_in(tmp_path, "approve")
    bench, told = stop_at(store, "approve", 2)
    assert told

    async def again() -> Bench:
        bench.model._answers = iter([answer(COMPLETE)])
        await bench.run("Another.")
        return bench

    assert run_in_place(again()).task.status == "completed"


async def test_a_program_that_ends_leaves_what_is_asked_anew_waiting(tmp_path: Path) -> None:
    store = await asyncio.to_thread(left_in, tmp_path, "ask anew")
    bench = Bench(store, [], ASK_ALL)
    answering = asyncio.ensure_future(bench.runner.respond(bench.chat, "once"))
    while "kept" not in bench.runner._beginning:
        await asyncio.sleep(0)
    await bench.runner.close()
    assert (await answering).is_waiting


async def test_a_call_is_made_on_what_the_editor_has_just_written(store: Store) -> None:
    await leave(store, [answer(WHOLE)])
    order: list[str] = []

    async def flush() -> None:
        if not order:
            store.change("kept", EditPrompt("Always.", "Typed by hand."), revision=None, by=USER)
        order.append("flush")

    model = ScriptedModel([answer(COMPLETE)])
    chat = Chat(store, "kept", model, flush=flush, on_change=lambda _persona: order.append("change"))
    runner = AgentJobs(ASK_ALL)
    await runner.respond(chat, "once")
    await runner.wait("kept")
    assert "Typed by hand." in store.text("kept") and "change" not in order
    result = next(turn for turn in chat.turns if isinstance(turn, ToolResultTurn))
    assert "changed after it was agreed to" in result.output


async def test_a_call_agreed_to_belongs_to_its_own_task_whatever_ran_here_before(store: Store) -> None:
    first = Bench(store, [answer(COMPLETE), answer(COMPLETE)], ASK_ALL)
    before = await first.run()
    left = await leave(store, [answer(EDIT, ids="later")])
    await first.runner.respond(first.chat, "once")
    await first.runner.wait("kept")
    assert first.task.status == "completed" and before.id != left.id
    assert [version.by.run_id for version in store.log("kept")] == [left.id]
