"""Random tasks over several lives of a program: stop, reply, approval, leaving and crashes at every point.

    python -m tests.agent.fuzz_tasks --runs 2000 --seed 1

Each must follow the table of states, make valid requests only, make no call twice, lose nothing that was kept,
and be found afterwards as something that can be gone on with.
"""

from __future__ import annotations

import asyncio
import logging
import random
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

from agent.chat.chat import Chat
from agent.core import cancellation
from agent.core.agent import AgentBusy
from agent.jobs.approval_policy import ApprovalRules
from agent.jobs.job import Job, Question
from agent.jobs.options import JobOptions
from agent.jobs.recovery import find_job
from agent.models.scripted import ScriptedModel
from agent.transcript.turn_records import to_record
from personas.changes import EditPrompt
from personas.errors import PersonaError
from personas.files.home import open_home
from personas.store import Store
from personas.versions.authorship import USER
from tests.agent.scenario import _script
from tests.agent.task_scenario import PROMPT, Disk, Life, run_in_place
from tests.agent.test_task_conformance import broken_rules, started_calls
from tests.support.long_form import long_form
from tests.support.virtual_time import VirtualLoop

WORDS = ("Words.", "More words.", "", "\ud800 odd", "long " * 30)
REPLIES = ("the first", "once", "yes", "task", "always", "no", "no, not like that", "", "2", "odd \x1b[2J")


class Broken(AssertionError):
    """A task broke what must hold."""


def fuzz_one(seed: int, folder: Path) -> str:
    """Play the lives of one random task; return the state it was left in.

    Raises:
        Broken: something that must hold did not.
    """
    rng = random.Random(seed)
    store = Store(open_home(folder / f"home{seed}"))
    store.create("Kept", system_prompt=PROMPT)
    rules = ApprovalRules(
        rng.choice(["auto", "ask-destructive", "ask-all"]),
        {"undo": rng.choice(["ask", "deny"])} if rng.random() < 0.3 else {},
    )
    options = JobOptions(
        approval=rules,
        max_steps=rng.choice([2, 5, 50]),
        max_seconds=rng.choice([3.0, 1800.0]),
        request_pause=rng.choice([0.0, 0.5]),
        idle_steps=rng.choice([1, 3]),
        begin_by_themselves=rng.random() < 0.2,
    )
    try:
        for number in range(rng.randint(1, 4)):
            loop = VirtualLoop()
            run_in_place(_live(rng, store, options, number, loop), loop)
        found = _look(store)
    except Broken as broken:
        raise Broken(f"seed {seed}: {broken}") from None
    except Exception as error:
        raise Broken(f"seed {seed}: {type(error).__name__}: {error}") from error
    return found.status if found is not None else "none"


async def _live(
    rng: random.Random, store: Store, options: JobOptions, number: int, loop: VirtualLoop
) -> None:
    answers = [_script(_parts(rng), rng.choice([0, 3])) for _ in range(rng.randint(1, 7))]
    life = Life(store, "kept", options, answers)
    person = Person(rng, life, loop)
    crash: list[tuple[Disk, list[str]]] = []
    kept_when_left: list[list[str]] = []
    written_elsewhere = 0  # events heard when another program wrote; with the next it is read
    park = life.chat.release

    def leave() -> None:
        kept_when_left.append(_ids_on_disk(life.chat))  # what comes after it is in memory only
        park()

    life.chat.release = leave  # type: ignore[method-assign]
    patient = rng.random() < 0.8

    over = False

    def strike() -> None:
        if not over:
            _strike(rng, life, loop, person)

    def die() -> None:
        if not over:
            kept = kept_when_left[-1] if kept_when_left else _ids_on_disk(life.chat)
            crash.append((Disk.of(store, number), kept))

    def see(task: Job) -> None:
        if task.is_waiting and patient:
            loop.call_later(rng.choice([0, 1, 9000]), person.answer)
        person.see(task)
        if rng.random() < 0.05:
            raise RuntimeError("an observer")

    life.runner.observe(see)
    for _ in range(rng.choice([0, 0, 1, 2, 5])):
        loop.at_tick(loop.ticks + rng.choice([2, 5, rng.randint(2, 60), rng.randint(2, 400)]), strike)
    if rng.random() < 0.4:
        loop.at_tick(loop.ticks + rng.choice([rng.randint(2, 60), rng.randint(2, 400)]), die)
    for _ in range(rng.randint(1, 2)):
        found = await life.runner.find(store, "kept")
        if found is not None and found.is_waiting and rng.random() < 0.3:
            await _answer_elsewhere(rng, store, options)
            written_elsewhere = len(life.events)
            life.seen.clear()  # it does not see the states between, which are checked where they were
            await person.answer_what_was_seen(found)
            found = await life.runner.find(store, "kept")
        work = loop.create_task(
            life.begin(_what_to_do(rng, found), rng.choice(["Do it.", "once", "continue", "no"]))
        )
        await asyncio.wait({work}, timeout=30_000)
        if not work.done():
            ended = life.runner.suspend("kept") if rng.random() < 0.5 else life.runner.stop("kept")
            if not ended:
                life.runner.stop("kept")
            await work
        work.result()
    for _ in range(30):
        await asyncio.sleep(0)
    over = True
    await life.runner.close()
    await _check_tasks()
    if faults := [*person.faults, *broken_rules(life)]:
        raise Broken("; ".join(faults))
    if crash:
        disk, kept = crash[0]
        disk.restore()
        _check_kept(store, kept)
    elif len(life.events) > written_elsewhere and not any(run.is_released for run in life.runner._runs):
        _check_log(store, life)
    _look(store)


async def _check_tasks() -> None:
    """Only what ignored its cancellation may still be there."""
    for _ in range(20):
        left = asyncio.all_tasks() - {asyncio.current_task()}
        if not left - cancellation.detached:
            break
        await asyncio.sleep(0.01)
    else:
        raise Broken(f"tasks left behind: {left}")
    for _ in range(5):
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()
        await asyncio.sleep(0)


def _what_to_do(rng: random.Random, found: Job | None) -> str:
    if rng.random() < 0.15:
        return rng.choice(["task", "chat", "reply", "resume", "stop"])
    if found is None or found.is_over:
        return "task" if rng.random() < 0.8 else "chat"
    return "reply" if found.is_waiting else "resume"


def _strike(rng: random.Random, life: Life, loop: VirtualLoop, person: Person) -> None:
    """Something happens, between any two awaits of the program."""
    kind = rng.choice(["stop", "answer", "answer", "leave", "steer", "later", "abort", "edit", "again"])
    if kind == "stop":
        life.runner.stop("kept")
    elif kind == "answer":
        person.answer()
    elif kind == "leave":
        life.runner.suspend("kept")
    elif kind in ("steer", "later") and life.runner.is_live("kept"):
        life.runner.steer("kept", "Mind the tone.", later=kind == "later")
    elif kind == "abort":
        life.chat.abort("fuzz")
    elif kind == "edit":
        try:
            life.store.change("kept", EditPrompt("To the end.", "To the very end."), revision=None, by=USER)
        except PersonaError:
            return
    elif kind == "again":
        loop.create_task(_try(life.runner.start(life.chat, "Again.")))


class Person:
    """Answers what is asked, and sometimes what was asked before: that must never count for another question."""

    def __init__(self, rng: random.Random, life: Life, loop: VirtualLoop) -> None:
        self._rng, self._life, self._loop = rng, life, loop
        self._seen: dict[str, Question] = {}
        self.faults: list[str] = []

    def see(self, task: Job) -> None:
        """A question is on the screen."""
        if task.is_waiting and task.pending is not None:
            self._seen[task.pending.id] = task.pending

    def answer(self) -> None:
        """Answer whatever is open, or one of the questions that were seen."""
        if self._life.runner.is_live("kept"):
            question = self._rng.choice([None, *self._seen.values()])
            self._loop.create_task(self._try_to_answer(question))

    async def answer_what_was_seen(self, found: Job) -> None:
        """Answer a question that was found on the disk, and that somebody else may have answered since."""
        await self._try_to_answer(found.pending)

    async def _try_to_answer(self, question: Question | None) -> None:
        life, given = self._life, question.id if question is not None else None
        live = life.runner.is_live("kept")
        open_now = life.runner.job("kept") if live else find_job(life.store, "kept")
        pending = open_now.pending if open_now is not None and open_now.is_waiting else None
        try:
            await life.runner.respond(life.chat, self._rng.choice(REPLIES), question_id=given)
        except (PersonaError, AgentBusy):
            return
        if question is not None and (pending is None or pending.tool_use_id != question.tool_use_id):
            self.faults.append(f"the answer to {question.text!r} was taken for another question")


async def _answer_elsewhere(rng: random.Random, store: Store, options: JobOptions) -> None:
    """Another program answers the question that this one has found, and leaves with whatever is asked then."""
    other = Life(store, "kept", options, [_script(_parts(rng), 0) for _ in range(3)])
    work = asyncio.get_running_loop().create_task(
        other.begin("reply", rng.choice(["the first", "once", "no"]))
    )
    await asyncio.wait({work}, timeout=3_000)
    if not work.done() and not other.runner.suspend("kept"):
        other.runner.stop("kept")
    await work
    await other.runner.close()
    if faults := broken_rules(other):
        raise Broken("; ".join(faults))


async def _try(act: Any) -> None:
    try:
        await act
    except (PersonaError, AgentBusy):
        return


def _ids_on_disk(chat: Chat) -> list[str]:
    """The turns that must survive: all but the results of open calls, made anew each time the log is read."""
    return [turn.id for turn in chat.session.turns_on_disk]


def _check_kept(store: Store, before: list[str]) -> None:
    """What was in the conversation when the program died is in it now."""
    chat = Chat(store, "kept", ScriptedModel())
    chat.load()
    now = {turn.id for turn in [*chat.earlier(), *chat.turns]}
    if missing := [turn_id for turn_id in before if turn_id not in now]:
        raise Broken(f"turns are missing: {missing}")


def _check_log(store: Store, life: Life) -> None:
    """The log holds what was in memory, unless the task was left waiting."""
    if any(task.is_waiting for task in life.seen[-1:]) or not life.events:
        return  # what stands for missing results is written with the first event of a run only
    chat = Chat(store, "kept", ScriptedModel())
    chat.load()
    ours, theirs = ([to_record(turn) for turn in one.turns] for one in (life.chat, chat))
    if ours != theirs[len(theirs) - len(ours) :]:
        raise Broken("the log is what happened")


def _look(store: Store) -> Job | None:
    """The task is something that can be gone on with; no call acted twice; the file is whole."""
    tomllib.loads(store.path("kept").read_text(encoding="utf-8"))
    found = find_job(store, "kept")
    if found is not None and found.is_working:
        raise Broken(f"nobody works on it, and it is {found.status}")
    if store.session_of("kept") is not None:
        started = started_calls(store, "kept")
        if len(started) != len(set(started)):
            raise Broken("a call acted twice")
    return found


def _parts(rng: random.Random) -> list[Any]:
    """One random answer."""
    parts: list[Any] = []
    for _ in range(rng.choice([0, 1, 1, 2, 3])):
        draw = rng.random()
        if draw < 0.25:
            parts.append(rng.choice(WORDS))
        elif draw < 0.45:
            parts.append({"call": "ask_user", "input": {"question": "Which?", "options": ["the first", "b"]}})
        elif draw < 0.55:
            parts.append({"call": "send_update", "input": {"text": "Half."}})
        elif draw < 0.65:
            parts.append({"pause": rng.choice([0, 0.1, 5])})
        elif draw < 0.9:
            call, given = rng.choice(
                [
                    ("edit_system_prompt", {"old": "Always.", "new": "Always. Really."}),
                    ("edit_system_prompt", {"old": "nowhere", "new": ""}),
                    ("create_test_input", {"content": "A test?"}),
                    ("delete_test_input", {"id": "a-test"}),
                    ("update_persona_name", {"name": "Other"}),
                    ("undo", {}),
                    ("get_persona", {}),
                    ("begin_task", {}),
                    ("unknown", {}),
                ]
            )
            parts.append({"call": call, "input": given})
        else:
            parts.append({"call": "task_complete", "input": {"summary": "All done."}})
    draw = rng.random()
    if draw < 0.05:
        parts.append({"fail": "server", "retryable": rng.random() < 0.5})
    elif draw < 0.08:
        parts.append({"raise": "boom"})
    elif draw < 0.12:
        parts.append({"hang": rng.choice([0, 1])})
    elif draw < 0.18:
        parts.append({"stop": rng.choice(["max_tokens", "refusal", "pause_turn", "end_turn"])})
    return parts


def run(folder: Path, runs: int, seed: int) -> Counter[str]:
    """Play so many random tasks; return how many ended in which way.

    Raises:
        Broken: something that must hold did not; it says for which seed.
    """
    logging.getLogger("agent").setLevel(logging.CRITICAL)
    return Counter(fuzz_one(number, folder) for number in range(seed, seed + runs))


if __name__ == "__main__":
    long_form(run, __doc__, runs=500)
