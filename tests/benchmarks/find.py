"""What `persona find` costs, in seconds of a processor, in a home with many personas: WORKSHOP.md wants 3,000 within 1 s.

python -m tests.benchmarks.find [PERSONAS]
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from agent.outputs.output_log import Output, OutputLog
from agent.search.find import Search
from agent.search.pattern import Pattern
from personas.changes import AddTestInput
from personas.files.home import open_home
from personas.store import Store
from personas.versions.authorship import USER

PROMPT = "You are careful and kind.\nNever say more than needed, please.\n" * 40
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
    store.path("p0").write_text(text.replace("kind", "marsupial", 1), encoding="utf-8")
    return store


def main() -> None:
    """Print what searches cost."""
    personas = int(sys.argv[1]) if len(sys.argv) > 1 else 3_000
    with tempfile.TemporaryDirectory() as folder:
        store = build(Path(folder) / "home", personas)
        for label, pattern, among in (
            (
                "a word of one, everywhere",
                Pattern("marsupial", any_case=True),
                ("prompts", "inputs", "outputs"),
            ),
            ("a word of all, in prompts", Pattern("careful", any_case=True), ("prompts",)),
            ("an expression, in prompts", Pattern(r"mars\w+l", is_regex=True), ("prompts",)),
        ):
            started = time.process_time()
            hits = list(Search(store, pattern, among).hits())  # type: ignore[arg-type]
            print(f"  {label:28} {time.process_time() - started:6.2f} s   {len(hits):,} lines")


if __name__ == "__main__":
    main()
