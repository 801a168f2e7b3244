"""Kill `persona chat` with SIGKILL at random points and see that everything acknowledged is still there.

python -m tests.e2e.kill --runs 500 --seed 1
"""

from __future__ import annotations

import json
import random
import subprocess
import tomllib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.support.long_form import long_form
from tests.support.messages_server import MessagesServer, ToolUsingBrain
from tests.support.persona_agent import Workplace, served

MESSAGES = (
    "Change the name to 'Sunny'",
    "Add 'Be concise' to the system prompt",
    "Add a test input: 'What is 2+2? Show the math.'",
    "Show me all test inputs and add a new one about coding",
    "Delete the test input about math",
    "What did I say before?",
)


def kill_at(
    place: Workplace, command: Sequence[str], lines: int, extra_bytes: int, *, last: str = "", **options: Any
) -> list[dict[str, Any]]:
    """Run a command, read so many lines (and bytes of the next), kill it; return the whole lines it printed.

    Args:
        last: a type of line behind which nothing is read.
        options: of `Workplace.start`.
    """
    process = place.start(*command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0, **options)
    assert process.stdout is not None
    told: list[dict[str, Any]] = []
    for _ in range(lines):
        line = process.stdout.readline()
        if not line.endswith(b"\n"):
            break
        told.append(json.loads(line))
        if told[-1]["type"] == last:
            break
    else:
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


def run(folder: Path, runs: int, seed: int) -> Counter[str]:
    """Do `runs` kills in one home; return how many ended at which kind of line."""
    choose = random.Random(seed)
    acknowledged: dict[str, dict[str, Any]] = {}
    ends: Counter[str] = Counter()
    with MessagesServer(ToolUsingBrain()) as server:
        place = served(folder / "home", server)
        place.store.create("Kept", system_prompt="You are kept.\nAlways.\n")
        for _ in range(runs):
            command = ("chat", "kept", choose.choice(MESSAGES), "--json")
            told = kill_at(place, command, choose.randrange(0, 30), choose.choice((0, 0, 1, 7)))
            ends[told[-1]["type"] if told else "nothing"] += 1
            check(place, told, acknowledged)
        # After all that the next request satisfies the rules, and the work can be done.
        done = place.run_here("chat", "kept", "Change the name to 'Whole'", "--json")
        assert done.returncode == 0, done.stdout
        assert server.refusals == [], server.refusals
    assert place.store.get("kept").name == "Whole"
    return ends


if __name__ == "__main__":
    long_form(run, __doc__, runs=100)
