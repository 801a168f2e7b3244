"""What `persona find` costs, in seconds of a processor, in a home with many personas: WORKSHOP.md wants 3,000 within 1 s
after the first time.

python -m tests.benchmarks.find [PERSONAS]
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from agent.outputs.output_log import Output, OutputLog
from agent.search.find import AMONG, Search
from agent.search.pattern import Pattern
from personas.changes import AddTestInput
from personas.files.home import open_home
from personas.store import Store
from personas.versions.authorship import USER
from tests.benchmarks.listing import clock

PROMPT = "You are careful.\n" + "Never say more than needed, please.\n" * 80
INPUTS = 5
"""Test inputs of a persona, each with an output."""


def build(root: Path, personas: int) -> Store:
    """Make a home of so many personas, each with outputs; one of them has a word that no other has."""
    store = Store(open_home(root))
    store.create("First", system_prompt=PROMPT)
    for number in range(INPUTS):
        store.change("first", AddTestInput(f"What is thing {number}?"), revision=None, by=USER)
    text = store.text("first")
    for one in store.get("first").test_inputs:
        output = Output(input_id=one.id, text=PROMPT, input_hash="", prompt_hash="", settings_hash="")
        OutputLog(store.home, "first").append(output)
    outputs = (store.home.outputs / "first.jsonl").read_bytes()
    for number in range(personas - 1):
        store.path(f"p{number}").write_text(text, encoding="utf-8")
        (store.home.outputs / f"p{number}.jsonl").write_bytes(outputs)
    store.path("p0").write_text(text.replace("careful", "marsupial", 1), encoding="utf-8")
    return store


def main() -> None:
    """Print what searches cost."""
    personas = int(sys.argv[1]) if len(sys.argv) > 1 else 3_000
    with tempfile.TemporaryDirectory() as folder:
        store = build(Path(folder) / "home", personas)
        rare, common = Pattern("marsupial", any_case=True), Pattern("careful", any_case=True)
        for label, pattern, among in (
            ("the first time", rare, AMONG),
            ("a word of one, everywhere", rare, AMONG),
            ("a word of all, in prompts", common, ("prompts",)),
            ("a word of all, everywhere", common, AMONG),
            ("many lines of each prompt", Pattern("Never"), ("prompts",)),
            ("an expression, in prompts", Pattern(r"mars\w+l", is_regex=True), ("prompts",)),
        ):
            started = clock()
            hits = list(Search(store, pattern, among).hits())  # type: ignore[arg-type]
            print(f"  {label:34} {clock() - started:6.2f} s   {len(hits):,} lines")
        for word, *options in (["marsupial"], ["careful", "--in", "prompts"], ["mars.+l", "--regex"]):
            command = [sys.executable, "-m", "tui", "--home", str(store.home.root), "find", word, *options]
            started = clock()
            subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
            print(f"  {' '.join(['persona find', word, *options]):34} {clock() - started:6.2f} s")


if __name__ == "__main__":
    main()
