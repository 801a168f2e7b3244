"""Kill runs of test inputs with SIGKILL at random points, also in batches, and see that no output is lost, double or false.

python -m tests.e2e.kill_outputs --runs 100 --seed 1
"""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

from personas.changes import SetPrompt
from personas.versions.authorship import USER
from tests.agent.outputs.bench import answer_of, many_inputs
from tests.e2e.kill import kill_at
from tests.support.long_form import long_form
from tests.support.messages_answers import say
from tests.support.messages_server import MessagesServer
from tests.support.persona_agent import Workplace, served

INPUTS, SAMPLES = 5, 4
COMMAND = ("run", "kept", "--samples", str(SAMPLES), "--missing", "--json")


def check(place: Workplace, prompts: dict[int, str], acknowledged: dict[str, str]) -> list[dict[str, Any]]:
    """What was printed is stored, each sample of a prompt once, with the answer to its own question."""
    done = place.run_here("outputs", "kept", "--json")
    assert done.returncode == 0, done.stderr
    stored: list[dict[str, Any]] = json.loads(done.stdout)
    texts = {one["id"]: one["text"] for one in stored}
    assert acknowledged.items() <= texts.items(), "lost"
    slots = Counter((one["prompt_hash"], one["input_id"], one["sample"]) for one in stored)
    assert len(texts) == len(stored) and set(slots.values()) <= {1}, "double"
    for one in stored:
        assert one["text"] == f"{prompts[one['version']]} / question {one['input_id'][1:]}", one
    return stored


def run(folder: Path, runs: int, seed: int) -> Counter[str]:
    """Do `runs` kills in one home; return how many ended at which kind of line, and how many were in a batch."""
    choose = random.Random(seed)
    ends: Counter[str] = Counter()
    acknowledged: dict[str, str] = {}
    with MessagesServer(lambda body: say(answer_of(body), delay=0.002)) as server:
        place = served(folder / "home", server, kept=many_inputs(INPUTS, "Prompt 0."))
        prompts = {0: "Prompt 0."}
        for number in range(1, runs + 1):
            server.batches_end = choose.random() < 0.7
            in_batch = choose.random() < 0.3
            is_silent = in_batch and not server.batches_end  # after its first line
            most = 2 if is_silent else 12 if in_batch else 40
            command = [*COMMAND, "--batch"] if in_batch else [*COMMAND]
            extra = 0 if is_silent else choose.choice((0, 0, 1, 60))
            told = kill_at(place, command, choose.randrange(most), extra)
            acknowledged |= {one["id"]: one["text"] for one in told if one["type"] == "output"}
            ends[told[-1]["type"] if told else "nothing"] += 1
            ends["in a batch"] += in_batch
            stored = check(place, prompts, acknowledged)
            made = [one for one in stored if not one["outdated"]]
            if (
                len(made) == INPUTS * SAMPLES or choose.random() < 0.2
            ):  # so that there is always something to run
                text = f"Prompt {number}."
                place.store.change("kept", SetPrompt(text), revision=None, by=USER)
                prompts[place.store.current_version("kept")] = text
        server.batches_end = True
        check(place, prompts, acknowledged)
        assert place.run_here(*COMMAND).returncode == 0
        stored = check(place, prompts, acknowledged)
        assert sum(not one["outdated"] for one in stored) == INPUTS * SAMPLES
    return ends


if __name__ == "__main__":
    long_form(run, __doc__, runs=100)
