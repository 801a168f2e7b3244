"""Kill `persona chat` with SIGKILL at random points and see that everything acknowledged is still there.

python -m tests.e2e.kill --runs 500 --seed 1
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import tempfile
import tomllib
from pathlib import Path
from typing import Any

from tests.support.messages_server import MessagesServer, ToolUsingBrain
from tests.support.persona_agent import Backend, Workplace

MESSAGES = (
    "Change the name to 'Sunny'",
    "Add 'Be concise' to the system prompt",
    "Add a test input: 'What is 2+2? Show the math.'",
    "Show me all test inputs and add a new one about coding",
    "Delete the test input about math",
    "What did I say before?",
)


def kill_at(
    place: Workplace, server: MessagesServer, message: str, lines: int, extra_bytes: int
) -> list[dict[str, Any]]:
    """Run one chat, read so many lines (and bytes of the next), kill it; return the whole lines it printed."""
    env = {"PERSONA_MODEL": "", "ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": server.key}
    process = place.start(
        "chat",
        "kept",
        message,
        "--json",
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        bufsize=0,
    )
    assert process.stdout is not None
    told = []
    for _ in range(lines):
        line = process.stdout.readline()
        if not line.endswith(b"\n"):
            break
        told.append(json.loads(line))
    process.stdout.read(extra_bytes)
    process.kill()
    process.communicate()
    return told


def check(place: Workplace, told: list[dict[str, Any]], acknowledged: dict[str, dict[str, Any]]) -> None:
    """What was printed as finished is in the session; the persona's file is whole."""
    for event in told:
        if event["type"] in ("text_complete", "tool_call", "tool_result"):
            acknowledged[event["id"]] = event
    history = place.run_here("history", "kept", "--json")
    assert history.returncode == 0, history.stderr
    turns = {turn["id"]: turn for turn in json.loads(history.stdout)["turns"]}
    for turn_id, event in acknowledged.items():
        assert turn_id in turns, f"lost: {event}"
        for name in ("content", "output", "tool_name"):
            assert event.get(name) == turns[turn_id].get(name)
    path = place.home / "personas" / "kept.toml"
    tomllib.loads(path.read_text(encoding="utf-8"))
    leftovers = [
        item.name for item in path.parent.iterdir() if item.suffix != ".toml" and item.name != ".gitignore"
    ]
    assert len(leftovers) <= 1, leftovers  # a killed write may leave its temporary file, and only that


def run(folder: Path, runs: int, seed: int) -> dict[str, int]:
    """Do `runs` kills in one home; return how many ended at which kind of line."""
    choose = random.Random(seed)
    place = Workplace(folder / "home", Backend("loopback", {}))
    place.store.create("Kept", system_prompt="You are kept.\nAlways.\n")
    acknowledged: dict[str, dict[str, Any]] = {}
    ends: dict[str, int] = {}
    with MessagesServer(ToolUsingBrain()) as server:
        for _ in range(runs):
            message = choose.choice(MESSAGES)
            told = kill_at(place, server, message, choose.randrange(0, 30), choose.choice((0, 0, 1, 7)))
            kind = told[-1]["type"] if told else "nothing"
            ends[kind] = ends.get(kind, 0) + 1
            check(place, told, acknowledged)
        # After all that the next request satisfies the rules, and the work can be done.
        env = {"PERSONA_MODEL": "", "ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": server.key}
        done = place.run_here("chat", "kept", "Change the name to 'Whole'", "--json", env=env)
        assert done.returncode == 0, done.stdout
        assert server.refusals == [], server.refusals
    assert place.store.get("kept").name == "Whole"
    return ends


def main() -> None:
    """The long form, as a command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        ends = run(Path(folder), given.runs, given.seed)
    print(f"{given.runs} kills, nothing lost; last line before the kill: {ends}")


if __name__ == "__main__":
    main()
