"""Kill tasks with SIGKILL in every state, in commands and on the screen, and see that each is found as what it is, that
nothing a person said is lost, and that every one can be gone on with.

python -m tests.e2e.kill_tasks --runs 500 --seed 1
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import subprocess
import time
import tomllib
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agent.jobs.agent_jobs import AgentJobs
from agent.jobs.job import Job
from agent.transcript.session_store import read_history
from agent.transcript.turn_records import to_record
from tests.e2e.kill import kill_at
from tests.support.long_form import long_form
from tests.support.messages_answers import Refusal
from tests.support.messages_server import Answer, Call, MessagesServer, Text, call, say
from tests.support.persona_agent import Backend, Workplace
from tests.support.terminal import Terminal
from tests.support.terminal_drafts import queued, state
from tui.app.ui_state import UiState, save
from tui.drafts.outbox import recover_messages
from tui.drafts.store import DraftStore
from tui.drafts.unsaved_text import UnsavedText
from tui.widgets.question_box import GRACE

SETTINGS = 'task_pause = 0\nmax_steps = 5\n[approval_of]\nupdate_persona_name = "ask"\n'
NOT_NOW = "not now"
"""What the server says when it refuses for no fault of the program."""
LONG = 120
"""Kills from which on every state must have been met."""
FOUND = {"waiting_user", "waiting_approval", "interrupted", "completed", "limit", "cancelled", "error"}
"""The states a task can be found in."""
KILLED = {"beginning", "thinking", "tool called", "tool done", "asking", "over"}
"""What was the last that a killed command told of."""


class WanderingBrain:
    """Works on and on: edits, asks, thinks aloud, wants approvals, completes now and then, and fails now and then.

    It is of one mood for a while: only so does it think aloud, or edit, several times in a row.
    """

    def __init__(self, seed: int) -> None:
        self._choose = random.Random(seed)
        self._count = 0
        self._mood = "any"
        self.finish = False

    def __call__(self, _body: dict[str, Any]) -> Answer | Refusal:
        """Return the next answer."""
        self._count += 1
        if self.finish:
            return call("task_complete", {"summary": "At last."})
        if self._choose.random() < 0.06:
            return Refusal(400, message=NOT_NOW)
        if self._count % 6 == 1:
            self._mood = self._choose.choice(("words", "work", "any", "any"))
        number = self._count
        words = (say(f"Thinking aloud, {number}.", delta=3),)
        work = (
            call("create_test_input", {"content": f"Test {number}?"}, text="One more.", delta=2),
            call("send_update", {"text": f"At {number}."}),
            Answer((Call("get_persona"), Call("list_test_inputs"))),
        )
        others = (
            call("ask_user", {"question": f"Question {number}?", "options": ["a", "b"]}),
            call("update_persona_name", {"name": f"Name {number}"}),
            Answer((Call("get_persona"), Call("ask_user", {"question": f"Both {number}?"}))),
            Answer((Text("Done."), Call("task_complete", {"summary": f"Done {number}."}))),
        )
        return self._choose.choice({"words": words, "work": work}.get(self._mood, (*words, *work, *others)))


@dataclass
class Kept:
    """What must be in the conversation by now.

    Attributes:
        turns: by id, what was told of each.
        said: what a person said and the agent was seen to have heard.
        queued: what a person said to an agent at work; in the conversation or given back, and never both.
    """

    turns: dict[str, dict[str, Any]] = field(default_factory=dict)
    said: set[str] = field(default_factory=set)
    queued: set[str] = field(default_factory=set)


def next_command(choose: random.Random, task: Job | None, number: int) -> list[str]:
    """Return what a person would type now; `number` makes their words unlike all others."""
    if task is None or task.is_over:
        return ["chat", "kept", f"Work {number}.", "--task", "--json"]
    if choose.random() < 0.1:
        return ["reply", "kept", "--stop", "--json"]
    if task.status == "waiting_approval":
        return ["reply", "kept", choose.choice(("once", f"no, not that name {number}.")), "--json"]
    if task.is_waiting:
        return ["reply", "kept", choose.choice(("a", "2", f"Whatever you like {number}.")), "--json"]
    if choose.random() < 0.2:
        return ["chat", "kept", f"Begin anew {number}.", "--task", "--json"]
    return ["reply", "kept", choose.choice(("continue", f"Go on {number}.")), "--json"]


def moment(told: list[dict[str, Any]]) -> str:
    """Return what a command was at when it was killed, by what it told last; see `KILLED`."""
    kinds = {
        "tool_call": "tool called",
        "tool_result": "tool done",
        "question": "asking",
        "done": "over",
        "error": "over",
    }
    return kinds.get(told[-1]["type"], "thinking") if told else "beginning"


def has_heard(told: list[dict[str, Any]]) -> bool:
    """Whether a command told something that comes only after the person's words are in the log."""
    return any(event["type"] in ("text_delta", "tool_call", "question") for event in told)


def check(place: Workplace, told: list[dict[str, Any]], kept: Kept) -> Job | None:
    """Everything told is kept, the file is whole, the task is what it is, and looking at it does nothing."""
    store = place.store
    for event in told:
        if event["type"] in ("text_complete", "tool_call", "tool_result"):
            kept.turns[event["id"]] = event
    session_id, turns, problems = read_history(store, "kept")
    stored = {turn.id: to_record(turn) for turn in turns}
    assert all(problem.startswith("Line") for problem in problems), problems
    for turn_id, event in kept.turns.items():
        assert turn_id in stored, f"lost: {event}"
        for name in ("content", "output", "tool_name"):
            assert event.get(name) == stored[turn_id].get(name), event
    words = [record["content"] for record in stored.values() if record["type"] == "user"]
    answers = [record["output"] for record in stored.values() if record["type"] == "tool_result"]
    for text in kept.said:
        assert any(text in one for one in (*words, *answers)), f"what was said is lost: {text}"
    drafts = given_back(place)
    for text in kept.queued:
        assert words.count(text) + drafts.count(text) == 1, f"{text}: in {words} and {drafts!r}"
    tomllib.loads(store.path("kept").read_text(encoding="utf-8"))
    if session_id is None:
        return None
    before = (store.path("kept").read_bytes(), (store.home.sessions / f"{session_id}.jsonl").read_bytes())
    found = asyncio.run(AgentJobs().find(store, "kept"))
    after = (store.path("kept").read_bytes(), (store.home.sessions / f"{session_id}.jsonl").read_bytes())
    assert before == after, "looking changes nothing"
    assert found is None or not found.is_working, found
    if told and told[-1]["type"] == "question":
        assert found is not None and found.is_waiting, f"asked, and found as {found}"
        assert found.pending_question == told[-1]["question"]
    if told and told[-1]["type"] == "done" and told[-1]["stop_reason"] == "end_turn":
        assert found is not None and found.status == "completed", found
    return found


def given_back(place: Workplace) -> str:
    """Return what the next program would put into the chat bars; it does not become this one's."""
    with closing(DraftStore(place.home, state(place.home.parent))) as store:
        drafts = [draft.text for draft in store.orphans() if draft.slot == "chat"]
        unsaved = UnsavedText(place.store.home, store, dict)
        return "\n".join([*recover_messages(place.store, unsaved).values(), *drafts])


def forget_drafts(place: Workplace) -> None:
    """Throw away what killed programs left."""
    with closing(DraftStore(place.home, state(place.home.parent))) as store:
        for draft in store.orphans():
            store.drop(draft)
        store.remove_from_outbox(*(message.turn_id for message in store.unsent()))


def check_sent(place: Workplace, bodies: list[dict[str, Any]]) -> None:
    """What the server was sent of the conversation is in its log: each turn is kept before it is used."""
    if not bodies:
        return
    _, turns, _ = read_history(place.store, "kept")
    stored = [to_record(turn) for turn in turns]
    ids = {record[name] for record in stored for name in ("tool_use_id",) if name in record}
    words = {line for record in stored if record["type"] == "user" for line in record["content"].splitlines()}
    for kind, value in _parts_of(bodies[-1]):
        if kind == "call":
            assert value in ids, f"sent and not kept: {value}"
        elif (
            value.endswith(".")
            and value[:-1].split(" ")[-1].isdigit()
            and value.startswith(("Work", "Later"))
        ):
            assert value in words, f"sent and not kept: {value}"


def _parts_of(body: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for message in body["messages"]:
        content = message["content"]
        for block in [{"type": "text", "text": content}] if isinstance(content, str) else content:
            if block["type"] in ("tool_use", "tool_result"):
                yield "call", block.get("tool_use_id") or block["id"]
            elif block["type"] == "text" and message["role"] == "user":
                yield from (("said", line) for line in block["text"].splitlines())


class Seat:
    """A person before the full-screen program, which is killed under them."""

    def __init__(self, place: Workplace, env: dict[str, str], choose: random.Random) -> None:
        self._place, self._env, self._choose = place, env, choose
        self.queued = 0

    def work_and_kill(self, task: Job | None, number: int, kept: Kept) -> None:
        """Begin, answer or go on, perhaps queue something, and kill the program."""
        choose = self._choose
        forget_drafts(self._place)  # a draft of an earlier life is in nobody's way
        save(self._place.store.home, UiState("kept"))  # a new home has the examples too, and shows the first
        kept.queued = {text for text in kept.queued if self._was_heard(text)}
        with Terminal(["--home", str(self._place.home)], self._place.home.parent, self._env) as terminal:
            # What is asked may cover the pane that says that the prompt is saved.
            terminal.until(
                lambda: any(word in terminal.text for word in ("saved", "Reply", "Continue")), seconds=60
            )
            self._say(terminal, task, number)
            if choose.random() < 0.7:
                self._queue(terminal, f"Later {number}.", kept)
            end = time.monotonic() + choose.choice((0.0, 0.05, 0.2, 0.5, 2.0))
            while time.monotonic() < end:
                terminal.read()
            terminal.process.kill()
            terminal.process.wait()

    def _say(self, terminal: Terminal, task: Job | None, number: int) -> None:
        choose = self._choose
        if task is not None and task.is_waiting:
            terminal.until("Reply", seconds=60)
            end = time.monotonic() + GRACE + 0.3  # before it no key counts
            while time.monotonic() < end:
                terminal.read()
            approval = task.status == "waiting_approval"
            terminal.send((choose.choice(("once", "no")) if approval else f"As you like {number}.") + "\r")
        elif task is not None and task.can_continue:
            terminal.send("/continue\r")
        else:
            terminal.send(f"/task Work {number}.\r")

    def _queue(self, terminal: Terminal, text: str, kept: Kept) -> None:
        """Say something to the agent if it is still at work, for now or for later."""
        end = time.monotonic() + self._choose.choice((0.3, 1.0, 3.0))
        while not (works := "Add something" in terminal.text) and time.monotonic() < end:
            terminal.read()
        if not works:
            return
        terminal.send(text + self._choose.choice("\r\t"))
        end = time.monotonic() + 2
        while time.monotonic() < end and not self._is_noted(text) and not self._was_heard(text):
            terminal.read()
        if self._is_noted(text) or self._was_heard(text):
            kept.queued.add(text)
            self.queued += 1

    def _is_noted(self, text: str) -> bool:
        return text in queued(self._place.home.parent)

    def _was_heard(self, text: str) -> bool:
        _, turns, _ = read_history(self._place.store, "kept")
        return any(turn.type == "user" and turn.content == text for turn in turns)  # type: ignore[union-attr]


def run(folder: Path, runs: int, seed: int, on_screen: float = 0.25) -> Counter[str]:
    """Do `runs` kills in one home, this part of them on the screen; return how often what was met.

    The counts are of the states tasks were found in, and of the moments commands were killed at.
    """
    choose = random.Random(seed)
    os.environ["PERSONA_CONFIG"], before = str(folder / "config.toml"), os.environ.get("PERSONA_CONFIG")
    (folder / "config.toml").write_text(SETTINGS, encoding="utf-8")
    try:
        return _run(Workplace(folder / "home", Backend("loopback", {})), choose, runs, seed, on_screen)
    finally:
        if before is None:
            del os.environ["PERSONA_CONFIG"]
        else:
            os.environ["PERSONA_CONFIG"] = before


def _run(place: Workplace, choose: random.Random, runs: int, seed: int, on_screen: float) -> Counter[str]:
    place.store.create("Kept", system_prompt="You are kept.\n")
    kept = Kept()
    met: Counter[str] = Counter()
    brain = WanderingBrain(seed)
    task: Job | None = None
    with MessagesServer(brain) as server:
        env = {"PERSONA_MODEL": "", "ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": server.key}
        seat = Seat(place, {**env, "PERSONA_MODEL": "claude-sonnet-5-5"}, choose)
        for number in range(runs):
            told: list[dict[str, Any]] = []
            if number % max(1, round(1 / on_screen)) == 0 if on_screen else False:
                seat.work_and_kill(task, number, kept)
                met["screen"] += 1
                met["queued"] = seat.queued
            else:
                command = next_command(choose, task, number)
                lines, extra = choose.choice((0, 1, 2, 4, 8, 16, 80, 80)), choose.choice((0, 0, 1, 9))
                silent = subprocess.PIPE  # open, so that a question waits for a while
                told = kill_at(place, command, lines, extra, last="question", env=env, stdin=silent)
                met[moment(told)] += 1
                if has_heard(told) and command[2].endswith(f"{number}."):
                    kept.said.add(command[2].removeprefix("no, "))
            task = check(place, told, kept)
            check_sent(place, server.bodies)
            met[task.status if task is not None else "nothing"] += 1
            assert set(server.refusals) <= {NOT_NOW}, server.refusals
        brain.finish = True
        for number in range(runs, runs + 6):  # after all that every state can be gone on with, to the end
            if task is not None and task.status == "completed" and number > runs:
                break
            done = place.run(*next_command(choose, task, number), env=env)
            assert done.returncode in (0, 130), done.stdout
            task = check(place, [json.loads(line) for line in done.stdout.splitlines()], kept)
        assert task is not None and task.status == "completed", task
        assert set(server.refusals) <= {NOT_NOW}, server.refusals
    return met


def run_all_kinds(folder: Path, runs: int, seed: int) -> Counter[str]:
    """Do the long form, a quarter of it in the full-screen program."""
    met = run(folder, runs, seed, on_screen=0.25)
    missing = (FOUND | KILLED) - set(met)
    assert runs < LONG or not missing, f"never met: {sorted(missing)}"
    return met


if __name__ == "__main__":
    long_form(run_all_kinds, __doc__, runs=100)
