"""Another program acts between this one's look at a task and its hold of the conversation: nothing old is believed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from agent.chat.chat import Chat
from agent.core.turns import NoticeTurn, UserTurn
from agent.jobs import agent_jobs
from agent.jobs import recovery as task_found
from agent.jobs.job import Job
from agent.jobs.options import JobOptions
from agent.jobs.recovery import JobWaits, find_job
from agent.models.scripted import Hang, ToolUse, answer
from personas.changes import EditPrompt
from personas.errors import InvalidValue
from personas.store import Store
from personas.versions.authorship import USER
from tests.agent.test_tasks_recovered import ASK_ALL, leave
from tests.support import task_bench
from tests.support.task_bench import ASK, COMPLETE, EDIT, Bench, session_file

ONE_STEP = JobOptions(request_pause=0, max_steps=1)
WHOLE = ToolUse("update_system_prompt", {"system_prompt": "New.\n"})
LOOK = ToolUse("get_persona")

Act = Callable[[], Awaitable[object]]


@pytest.fixture
def between(monkeypatch: pytest.MonkeyPatch) -> Callable[[Act], None]:
    """Have something done once this program has looked and holds nothing yet."""

    def set_up(act: Act) -> None:
        read = agent_jobs._read

        async def read_and_act(chat: Chat) -> None:
            await read(chat)
            monkeypatch.setattr(agent_jobs, "_read", read)
            await act()

        monkeypatch.setattr(agent_jobs, "_read", read_and_act)

    return set_up


async def replies(store: Store, text: str) -> None:
    other = Bench(store, [answer(COMPLETE, ids="other")], ASK_ALL)
    await other.runner.respond(other.chat, text)
    await other.runner.wait("kept")
    assert other.task.status == "completed"


async def goes_on(store: Store, *answers: Any, options: JobOptions = ONE_STEP) -> None:
    other = Bench(store, answers, options)
    await other.runner.resume(other.chat)
    await other.runner.wait("kept")


async def at_its_limit(store: Store) -> Job:
    return await Bench(store, [answer(LOOK)], ONE_STEP).run()


def logged(store: Store) -> list[tuple[str, str]]:
    tasks, _ = task_bench.logged(store)
    return [(task.id, task.status) for task in tasks if task.kind == "task"]


async def test_a_task_that_was_answered_meanwhile_is_not_given_up(
    store: Store, between: Callable[[Act], None]
) -> None:
    left = await leave(store, [answer(ASK)])
    bench = Bench(store, [])
    between(lambda: replies(store, "the first"))
    with pytest.raises(InvalidValue, match="went on in another program"):
        await bench.runner.stop_found(bench.chat)
    assert logged(store) == [(left.id, "completed")]
    bench.chat.load()
    assert not any(isinstance(turn, NoticeTurn) for turn in bench.chat.turns)


@pytest.mark.parametrize(("meanwhile", "status"), [(COMPLETE, "completed"), (LOOK, "limit")])
async def test_a_task_that_went_on_meanwhile_is_not_continued(
    store: Store, between: Callable[[Act], None], meanwhile: ToolUse, status: str
) -> None:
    left = await at_its_limit(store)
    bench = Bench(store, [answer(COMPLETE)])
    between(lambda: goes_on(store, answer(meanwhile, ids="other")))
    with pytest.raises(InvalidValue, match="went on in another program"):
        await bench.runner.resume(bench.chat)
    assert bench.model.requests == [] and logged(store) == [(left.id, status)]
    found = find_job(store, "kept")
    assert found is not None and found.step_count == 2
    if status == "limit":
        await bench.runner.resume(bench.chat)
        await bench.runner.wait("kept")
        assert bench.task.status == "completed" and bench.task.step_count == 3


async def test_a_question_that_is_asked_anew_is_not_written_over_what_became_of_the_task(
    store: Store, between: Callable[[Act], None]
) -> None:
    left = await leave(store, [answer(WHOLE)])
    store.change("kept", EditPrompt("To the end.", "To the very end."), revision=None, by=USER)
    bench = Bench(store, [])
    between(lambda: replies(store, "no"))
    with pytest.raises(InvalidValue, match="went on in another program"):
        await bench.runner.respond(bench.chat, "once")
    assert logged(store) == [(left.id, "completed")]


async def test_an_answer_given_twice_counts_once(store: Store, between: Callable[[Act], None]) -> None:
    left = await leave(store, [answer(ASK)])
    bench = Bench(store, [answer(COMPLETE)])
    between(lambda: replies(store, "the first"))
    with pytest.raises(InvalidValue, match="went on in another program"):
        await bench.runner.respond(bench.chat, "the second")
    assert bench.model.requests == [] and logged(store) == [(left.id, "completed")]


@pytest.mark.parametrize("mode", ["task", "chat"])
async def test_nothing_begins_over_a_question_that_was_asked_meanwhile(
    store: Store, between: Callable[[Act], None], mode: Any
) -> None:
    await Bench(store, [answer("Hello.")]).run("Hello", kind="chat")
    bench = Bench(store, [answer("Words.")])
    between(lambda: leave(store, [answer(ASK)], JobOptions(request_pause=0)))
    with pytest.raises(JobWaits, match="Which one"):
        await bench.runner.start(bench.chat, "Do it.", kind=mode)
    found = find_job(store, "kept")
    assert bench.model.requests == [] and found is not None and found.is_waiting


async def test_a_task_that_was_completed_meanwhile_is_not_replaced(
    store: Store, between: Callable[[Act], None]
) -> None:
    left = await at_its_limit(store)
    bench = Bench(store, [answer(COMPLETE, ids="new")])
    between(lambda: goes_on(store, answer(COMPLETE, ids="other")))
    await bench.runner.start(bench.chat, "Another thing.")
    await bench.runner.wait("kept")
    assert logged(store) == [(left.id, "completed"), (bench.task.id, "completed")]
    assert "stopped" not in bench.notices()


async def test_a_task_that_came_to_its_limit_meanwhile_is_replaced(
    store: Store, between: Callable[[Act], None]
) -> None:
    await Bench(store, [answer("Hello.")]).run("Hello", kind="chat")
    bench = Bench(store, [answer(COMPLETE, ids="new")])
    between(lambda: at_its_limit(store))
    await bench.runner.start(bench.chat, "Another thing.")
    await bench.runner.wait("kept")
    assert [status for _, status in logged(store)] == ["cancelled", "completed"]
    assert "stopped" in bench.notices()


async def test_the_words_that_began_a_task_elsewhere_are_not_said_twice(store: Store) -> None:
    await Bench(store, [answer("Hello.")]).run("Hello", kind="chat")
    screen = Bench(store, [answer(COMPLETE)])
    screen.chat.load()  # as it was before the other program began
    other = Bench(store, [answer("A word", Hang())])
    await other.runner.start(other.chat, "Do it.")
    async with asyncio.timeout(120):
        while not other.model.requests:
            await asyncio.sleep(0)
    files = {path: path.read_bytes() for path in store.home.sessions.iterdir() if path.is_file()}
    other.runner.stop("kept")
    await other.runner.wait("kept")
    for path, content in files.items():  # it died at work
        path.write_bytes(content)
    await screen.runner.resume(screen.chat)
    await screen.runner.wait("kept")
    said = [turn.content for turn in screen.chat.turns if isinstance(turn, UserTurn)]
    assert said.count("Do it.") == 1 and screen.task.status == "completed"


async def test_a_task_that_ends_while_it_is_looked_for_is_not_interrupted(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Bench(store, [answer(EDIT), answer(COMPLETE)])
    await bench.run()
    log = session_file(store)
    whole = log.read_bytes()
    log.write_bytes(whole[: whole.rindex(b'{"type":"run_end"')])
    holder = task_found.holder

    def ends(path: Any) -> int | None:
        log.write_bytes(whole)
        return holder(path)

    before = find_job(store, "kept")
    monkeypatch.setattr(task_found, "holder", ends)
    found = find_job(store, "kept")
    assert found == bench.task and before is not None


async def test_a_word_to_the_task_that_is_shown_goes_to_no_other(store: Store) -> None:
    left = await at_its_limit(store)
    screen = Bench(store, [answer(COMPLETE, ids="new")])
    assert await screen.runner.find(store, "kept") == left
    await Bench(store, [answer(LOOK, ids="other")], ONE_STEP).run("Another thing.")
    for word in (screen.runner.resume, screen.runner.stop_found):
        screen.runner._known["kept"] = left
        with pytest.raises(InvalidValue, match="another task"):
            await word(screen.chat)
    await screen.runner.resume(screen.chat)
    await screen.runner.wait("kept")
    assert [status for _, status in logged(store)] == ["cancelled", "completed"]
