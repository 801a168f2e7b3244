"""A program that ends under a task, however it ends, leaves it interrupted; only the person's stop is the end of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from agent.core.turns import AssistantTextTurn, UserTurn
from agent.jobs.recovery import find_job
from agent.models.scripted import Pause, answer
from personas.store import Store
from tests.support.task_bench import ASK, COMPLETE, EDIT, Bench, session_file

AT_WORK = answer("Half of an", Pause(3600), " answer.")
"""An answer that stops in the middle."""


async def close(bench: Bench) -> None:
    await bench.runner.close()


async def leave(bench: Bench) -> None:
    bench.runner.interrupt("kept", "stopped by SIGTERM")
    await bench.runner.wait("kept")


async def take_the_loop_down(bench: Bench) -> None:
    """As after an exception that ends the program: whatever runs is cancelled."""
    running = bench.runner._ends["kept"]
    running.cancel()
    await asyncio.wait({running})


async def begin(store: Store) -> Bench:
    bench = Bench(store, [answer(EDIT), AT_WORK])
    await bench.runner.start(bench.chat, "Do it.")
    async with asyncio.timeout(120):
        while not any(turn.type == "tool_result" for turn in bench.chat.turns) or bench.task.step_count < 1:
            await asyncio.sleep(0)
        while bench.task.status != "thinking":
            await asyncio.sleep(0)
    return bench


@pytest.mark.parametrize("end", [close, leave, take_the_loop_down])
async def test_a_task_at_work_is_interrupted_and_gone_on_with(
    store: Store, end: Callable[[Bench], object]
) -> None:
    bench = await begin(store)
    await end(bench)  # type: ignore[misc]
    assert (bench.task.status, bench.task.ended_at) == ("interrupted", None)
    assert bench.notices() == [], "nobody stopped it"
    left = find_job(store, "kept")
    assert left is not None and left.status == "interrupted" and left.can_continue
    again = Bench(store, [answer(COMPLETE)])
    await again.runner.resume(again.chat)
    await again.runner.wait("kept")
    assert (again.task.status, again.task.id) == ("completed", bench.task.id)
    assert again.notices() == ["resumed"]


async def test_what_had_arrived_of_the_answer_is_kept(store: Store) -> None:
    bench = Bench(store, [AT_WORK])
    began = asyncio.Event()
    bench.chat.subscribe(lambda event: began.set() if event.type == "turn_delta" else None)
    await bench.runner.start(bench.chat, "Do it.")
    await began.wait()
    await bench.runner.close()
    again = Bench(store, [])
    again.chat.load()
    (said,) = [turn for turn in again.chat.turns if isinstance(turn, AssistantTextTurn)]
    assert said.interrupted and said.content and "Half of an".startswith(said.content)


async def test_who_stopped_it_before_the_program_ended_finds_it_stopped(store: Store) -> None:
    bench = await begin(store)
    bench.runner.stop("kept")
    await bench.runner.close()
    left = find_job(store, "kept")
    assert left is not None and left.status == "cancelled" and bench.notices() == ["stopped"]


async def test_an_answer_that_was_given_as_the_program_ended_is_not_lost(store: Store) -> None:
    bench = Bench(store, [answer(ASK)])
    await bench.runner.start(bench.chat, "Do it.")
    await bench.until("waiting_user")
    await bench.runner.respond(bench.chat, "the second")
    assert bench.task.is_waiting, "the call that asked has not taken it yet"
    await bench.runner.close()
    left = find_job(store, "kept")
    assert left is not None and left.status == "interrupted"
    again = Bench(store, [answer(COMPLETE)])
    await again.runner.resume(again.chat)
    await again.runner.wait("kept")
    assert again.results()[0] == "the second" and again.task.status == "completed"


async def test_a_task_that_is_about_to_begin_as_the_program_ends_begins_in_the_next_one(store: Store) -> None:
    bench = Bench(store, [])
    starting = asyncio.ensure_future(bench.runner.start(bench.chat, "Do it."))
    while "kept" not in bench.runner._beginning:
        await asyncio.sleep(0)
    await bench.runner.close()
    await starting
    left = find_job(store, "kept")
    assert left is not None and left.status == "interrupted" and bench.model.requests == []


async def test_words_to_go_on_with_are_said_behind_those_that_never_reached_the_conversation(
    store: Store,
) -> None:
    bench = await begin(store)
    await bench.runner.close()
    log = session_file(store)
    lines = log.read_text("utf-8").splitlines(keepends=True)
    begun = next(number for number, line in enumerate(lines) if '"started"' in line)
    log.write_text("".join(lines[: begun + 1]), "utf-8")  # killed before the words were in the log
    again = Bench(store, [answer(COMPLETE)])
    await again.runner.resume(again.chat, "And be quick.", turn_id="turn_quick")
    await again.runner.wait("kept")
    said = [turn for turn in again.chat.turns if isinstance(turn, UserTurn)]
    assert [turn.content for turn in said] == ["Do it.", "And be quick."]
    assert said[1].id == "turn_quick"
