"""Plays a declared scenario of a task: a scripted model, the real tools on a real file, lives of a program.

A scenario is a table with these keys, all but `name` optional:

    name, covers            what it is about, the sentence it covers
    options                 fields of `JobOptions`; `policy` and `overrides` say what is asked for
    life                    the lives of the program, one after the other, each a table:
        begin               "task" (the default), "chat", "reply", "resume", "stop"
        say                 the words with it
        answers             the model's answers, see `tests.agent.scenario`
        do                  what the person does: {when = STATUS, nth = 1} and one of
                            {reply = TEXT} {stop = true} {leave = true} {steer = TEXT} {later = TEXT} {edit = [OLD, NEW]}
        crash               STATUS in which the program dies, for the `crash_nth` time
        fails               words of the error `begin` raises
    expect                  states, status, summary, notices, results, prompt, steps, requests, said, found, …
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from agent.chat.chat import Chat
from agent.core.events import AgentEnd, Event
from agent.jobs.agent_jobs import AgentJobs
from agent.jobs.approval_policy import ApprovalRules
from agent.jobs.job import Job
from agent.jobs.options import JobOptions
from agent.models.scripted import ScriptedModel
from personas.changes import EditPrompt
from personas.errors import PersonaError
from personas.files.home import open_home
from personas.store import Store
from personas.versions.authorship import USER
from tests.agent.scenario import _script
from tests.support.virtual_time import LoopClock, VirtualLoop

PROMPT = "You are kept.\nAlways.\nTo the end.\n"
T = TypeVar("T")


class Inline(ThreadPoolExecutor):
    """Does in place what would go to a thread, so that virtual time has nothing to wait for."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Call and return the finished future."""
        done: Future[Any] = Future()
        try:
            done.set_result(fn(*args, **kwargs))
        except BaseException as error:  # what a thread would carry over
            done.set_exception(error)
        return done


def run_in_place(main: Coroutine[Any, Any, T], loop: VirtualLoop | None = None) -> T:
    """Run in virtual time, with threads done in place; tasks still there afterwards are an error."""
    loop = loop or VirtualLoop()
    loop.set_default_executor(Inline())
    try:
        result = loop.run_until_complete(main)
        left = asyncio.all_tasks(loop)
        assert not left, f"tasks left behind: {left}"
        return result
    finally:
        for task in asyncio.all_tasks(loop):
            task.cancel()
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()


@dataclass
class Disk:
    """The home as it was at one moment: what a crash leaves."""

    root: Path
    copy: Path

    @classmethod
    def of(cls, store: Store, number: int) -> Disk:
        copy = store.home.root.with_name(f"{store.home.root.name}-copy{number}")
        shutil.copytree(store.home.root, copy)
        return cls(store.home.root, copy)

    def restore(self) -> None:
        """Make the home what it was."""
        shutil.rmtree(self.root)
        self.copy.rename(self.root)


@dataclass
class Life:
    """One life of a program: a chat, a runner, and what they were seen doing."""

    store: Store
    persona_id: str
    options: JobOptions
    answers: list[Any]
    seen: list[Job] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    end: AgentEnd | None = None
    error: str = ""

    def __post_init__(self) -> None:
        self.model = ScriptedModel(self.answers)
        self.chat = Chat(self.store, self.persona_id, self.model)
        self.chat.load()
        self.chat.subscribe(self.events.append)
        self.runner = AgentJobs(self.options, clock=LoopClock(), is_trusted=lambda _home: True)
        self.runner.observe(self.seen.append)

    async def begin(self, kind: str, say: str) -> None:
        """Do what begins this life, and wait until its task does not run any more."""
        runner, chat = self.runner, self.chat
        try:
            if kind == "reply":
                await runner.respond(chat, say)
            elif kind == "resume":
                await runner.resume(chat, say)
            elif kind == "stop":
                await runner.stop_found(chat)
            else:
                await runner.start(chat, say, kind="chat" if kind == "chat" else "task")
            self.end = await runner.wait(self.persona_id)
        except PersonaError as error:
            self.error = str(error)

    @property
    def states(self) -> list[str]:
        """The states seen, repetitions left out."""
        found: list[str] = []
        for task in self.seen:
            if not found or found[-1] != task.status:
                found.append(task.status)
        return found


def play_task(scenario: Mapping[str, Any], folder: Path) -> tuple[Store, list[Life]]:
    """Play a scenario to its end; return the store and its lives."""
    store = Store(open_home(folder / "home"))
    store.create("Kept", system_prompt=PROMPT)
    given = dict(scenario.get("options", {}))
    rules = ApprovalRules(given.pop("policy", "auto"), given.pop("overrides", {}))
    options = JobOptions(approval=rules, **{"request_pause": 0, **given})
    lives = []
    for number, life in enumerate(scenario["life"]):
        lives.append(run_in_place(_live(store, options, life, number)))
    return store, lives


async def _live(store: Store, options: JobOptions, spec: Mapping[str, Any], number: int) -> Life:
    life = Life(store, "kept", options, [_script(parts, 0) for parts in spec.get("answers", [])])
    counts: dict[str, int] = {}
    disks: list[Disk] = []

    def see(task: Job) -> None:
        if len(life.seen) > 1 and life.seen[-2].status == task.status:
            return
        count = counts[task.status] = counts.get(task.status, 0) + 1
        if spec.get("crash") == task.status and count == spec.get("crash_nth", 1):
            disks.append(Disk.of(store, number))
            life.runner.stop("kept")
        for action in spec.get("do", []):
            if action["when"] == task.status and action.get("nth", 1) == count:
                asyncio.get_running_loop().call_soon(_act, life, action)

    life.runner.observe(see)
    await life.begin(spec.get("begin", "task"), spec.get("say", "Do it."))
    for _ in range(20):
        await asyncio.sleep(0)
    for disk in disks:
        disk.restore()
    return life


def _act(life: Life, action: Mapping[str, Any]) -> None:
    loop = asyncio.get_running_loop()
    if "edit" in action:
        life.store.change("kept", EditPrompt(*action["edit"]), revision=None, by=USER)
    if "reply" in action:
        loop.create_task(_reply(life, action["reply"]))  # noqa: RUF006 - awaited by the run it answers
    if "stop" in action:
        life.runner.stop("kept")
    if "leave" in action:
        life.runner.suspend("kept")
    if "steer" in action:
        life.runner.steer("kept", action["steer"])
    if "later" in action:
        life.runner.steer("kept", action["later"], later=True)


async def _reply(life: Life, text: str) -> None:
    try:
        await life.runner.respond(life.chat, text)
    except PersonaError as error:
        life.error = str(error)
