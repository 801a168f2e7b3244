"""Kill tasks with SIGKILL in every state and see that each is found as what it is and can be gone on with.

python -m tests.e2e.kill_tasks --runs 500 --seed 1
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

from agent.stored import read_history
from agent.task import AgentTask
from agent.task_runner import AgentTaskRunner
from agent.turns import to_record
from personas.authorship import USER
from personas.store import Store
from tests.messages_server import Answer, Call, MessagesServer, Text, call, say
from tests.persona_agent import Backend, Workplace

SETTINGS = 'task_pause = 0\n[approval_of]\nupdate_persona_name = "ask"\n'


class WanderingBrain:
    """Works on and on: edits, asks, thinks aloud, wants approvals, and completes now and then."""

    def __init__(self, seed: int) -> None:
        self._choose = random.Random(seed)
        self._count = 0
        self.finish = False

    def __call__(self, _body: dict[str, Any]) -> Answer:
        """Return the next answer."""
        self._count += 1
        if self.finish:
            return call("task_complete", {"summary": "At last."})
        return self._choose.choice(
            (
                call("create_test_input", {"content": f"Test {self._count}?"}, text="One more.", delta=2),
                call("ask_user", {"question": f"Question {self._count}?", "options": ["a", "b"]}),
                say(f"Thinking aloud, {self._count}.", delta=3),
                call("update_persona_name", {"name": f"Name {self._count}"}),
                call("send_update", {"text": f"At {self._count}."}),
                Answer((Call("get_persona"), Call("ask_user", {"question": f"Both {self._count}?"}))),
                Answer((Text("Done."), Call("task_complete", {"summary": f"Done {self._count}."}))),
            )
        )


def next_command(choose: random.Random, task: AgentTask | None) -> list[str]:
    """Return what a person would type now."""
    if task is None or task.is_over:
        return ["chat", "kept", "Work on the test inputs", "--task", "--json"]
    if task.status == "waiting_approval":
        return ["reply", "kept", choose.choice(("once", "no, not that name")), "--json"]
    if task.is_waiting:
        return ["reply", "kept", choose.choice(("a", "2", "whatever you like")), "--json"]
    if choose.random() < 0.2:
        return ["chat", "kept", "Begin anew", "--task", "--json"]
    return ["reply", "kept", "continue", "--json"]


def kill_at(
    place: Workplace, env: dict[str, str], command: list[str], lines: int, extra_bytes: int
) -> list[dict[str, Any]]:
    """Run a command, read so many lines (and bytes of the next), kill it; return the lines it printed."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tui", *command],
        env=place.environment(env),
        stdin=subprocess.PIPE,  # open and silent, so that a question waits for a while
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        bufsize=0,
    )
    assert process.stdout is not None
    told: list[dict[str, Any]] = []
    for _ in range(lines):
        line = process.stdout.readline()
        if not line.endswith(b"\n"):
            break
        told.append(json.loads(line))
        if told[-1]["type"] == "question":
            break
    else:
        process.stdout.read(extra_bytes)
    process.kill()
    process.communicate()
    return told


def check(
    store: Store, told: list[dict[str, Any]], acknowledged: dict[str, dict[str, Any]]
) -> AgentTask | None:
    """Everything told is kept, the file is whole, the task is what it is, and looking at it does nothing."""
    for event in told:
        if event["type"] in ("text_complete", "tool_call", "tool_result"):
            acknowledged[event["id"]] = event
    session_id, turns, problems = read_history(store, "kept")
    kept = {turn.id: to_record(turn) for turn in turns}
    assert all(problem.startswith("Line") for problem in problems), problems
    for turn_id, event in acknowledged.items():
        assert turn_id in kept, f"lost: {event}"
        for name in ("content", "output", "tool_name"):
            assert event.get(name) == kept[turn_id].get(name), event
    tomllib.loads(store.path("kept").read_text(encoding="utf-8"))
    if session_id is None:
        return None
    before = (store.path("kept").read_bytes(), (store.home.sessions / f"{session_id}.jsonl").read_bytes())
    found = asyncio.run(AgentTaskRunner().find(store, "kept"))
    after = (store.path("kept").read_bytes(), (store.home.sessions / f"{session_id}.jsonl").read_bytes())
    assert before == after, "looking changes nothing"
    assert found is None or not found.is_working, found
    if told and told[-1]["type"] == "question":
        assert found is not None and found.is_waiting, f"asked, and found as {found}"
        assert found.pending_question == told[-1]["question"]
    if told and told[-1]["type"] == "done" and told[-1]["stop_reason"] == "end_turn":
        assert found is not None and found.status == "completed", found
    return found


def run(folder: Path, runs: int, seed: int) -> Counter[str]:
    """Do `runs` kills in one home; return how often a task was found in which state."""
    choose = random.Random(seed)
    os.environ["PERSONA_CONFIG"], before = str(folder / "config.toml"), os.environ.get("PERSONA_CONFIG")
    (folder / "config.toml").write_text(SETTINGS, encoding="utf-8")
    try:
        return _run(Workplace(folder / "home", Backend("loopback", {})), choose, runs, seed)
    finally:
        if before is None:
            del os.environ["PERSONA_CONFIG"]
        else:
            os.environ["PERSONA_CONFIG"] = before


def _run(place: Workplace, choose: random.Random, runs: int, seed: int) -> Counter[str]:
    store = place.store
    store.create("Kept", system_prompt="You are kept.\n", by=USER)
    acknowledged: dict[str, dict[str, Any]] = {}
    states: Counter[str] = Counter()
    brain = WanderingBrain(seed)
    task: AgentTask | None = None
    with MessagesServer(brain) as server:
        env = {"PERSONA_MODEL": "", "ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": server.key}
        for _ in range(runs):
            command = next_command(choose, task)
            lines, extra = choose.choice((0, 1, 2, 4, 8, 16, 40)), choose.choice((0, 0, 1, 9))
            task = check(store, kill_at(place, env, command, lines, extra), acknowledged)
            states[task.status if task is not None else "nothing"] += 1
            assert server.refusals == [], server.refusals
        brain.finish = True
        for _ in range(4):  # after all that every state can be gone on with, to the end
            if task is not None and task.status == "completed":
                break
            done = place.run(*next_command(choose, task), env=env)
            assert done.returncode == 0, done.stdout
            task = check(store, [json.loads(line) for line in done.stdout.splitlines()], acknowledged)
        assert task is not None and task.status == "completed", task
        assert server.refusals == [], server.refusals
    return states


def main() -> None:
    """The long form, as a command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        states = run(Path(folder), given.runs, given.seed)
    print(f"{given.runs} kills, nothing lost, nothing run again; found as: {dict(states)}")


if __name__ == "__main__":
    main()
