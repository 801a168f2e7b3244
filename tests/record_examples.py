"""Makes what ships with the example `mentor`: an earlier version of its prompt, and recorded outputs of both.

    python -m tests.record_examples       # after a change of personas/examples/mentor.toml

The answers are examples, written for the purpose; they are marked as recordings and name no real model.
"""

from __future__ import annotations

import shutil
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from agent.outputs.expectations import RUBRIC, Outcome, verdict_of
from agent.outputs.output_log import RECORDING, OutputLog, make_output
from agent.outputs.variant import variant_of
from personas.changes import SetPrompt
from personas.files.home import EXAMPLES, RECORDINGS, open_home
from personas.store import Store
from personas.versions.authorship import Author

AT = datetime(2026, 11, 27, 9, 0, tzinfo=UTC)
MODEL = "example"
"""Stands where an output names its model: nobody's, so that with a model connected everything is run anew."""

EARLIER = """\
You are a patient mentor. Explain what people ask about, clearly and at the right level, with one worked example.

Use the words they use. Introduce a new term only when it will be needed again, and define it in passing.
If you do not know, say so, and think aloud about how the two of you could find out.
"""

ANSWERS = {
    ("recursion", 0): """\
Recursion means that a function calls itself with a smaller problem until the problem is so small that the answer is
known. Take the factorial: 5! is 5 times 4!, and 4! is 4 times 3!, down to 1! which is 1. In code, `fact(n)` returns 1
when n is 1, and otherwise `n * fact(n - 1)`. The first line is called the base case, the second the recursive step.""",
    ("recursion", 1): """\
Then let us leave numbers alone. Think of a folder on your disk: it holds files, and it holds folders. You want to count
all files in it, however deep they lie.

How would you do it by hand, if a friend offered to count any one folder for you?""",
    ("career", 0): """\
You should try it. Leading a team does not mean that you stop writing code; many leads spend half their week in the
editor. You should ask for a trial period of six months, with a way back. If you miss the code after that, return.""",
    ("career", 1): """\
Two good things, and the offer makes you choose sooner than you wanted to. Before we weigh them: think of your best week
in the last year. What were you doing on the day you went home most content, and who else was part of it?""",
    ("just-tell-me", 0): """\
Run `git reset --soft HEAD~1`. The commit is gone, and its changes are staged as they were before it.""",
    ("just-tell-me", 1): """\
`git reset --soft HEAD~1`

That takes back the commit and leaves its changes staged, just as they were the moment before you committed.

The idea behind it: a branch is only a name that points at a commit. `reset` moves the name one step back, to the parent
of the last commit, which git writes as HEAD~1. `--soft` says that nothing but the name is to move: neither the staging
area nor your files. With `--mixed` the changes would be unstaged, and with `--hard` they would be thrown away.""",
}
RUBRIC_VERDICTS: dict[int, tuple[Outcome, str]] = {
    0: ("fail", "It tells the person what to do instead of helping them to find out."),
    1: ("pass", "It asks about the person's own best week, from which the answer can come."),
}


def record(folder: Path) -> None:
    """Make the recordings of the example in a folder, as `versions/…` and `outputs/…`."""
    with tempfile.TemporaryDirectory() as scratch:
        store = Store(open_home(Path(scratch) / "home"), now=lambda: AT)
        shutil.rmtree(store.home.versions / "mentor", ignore_errors=True)
        (store.home.outputs / "mentor.jsonl").unlink(missing_ok=True)
        shipped = (EXAMPLES / "mentor.toml").read_text()
        path = store.home.personas / "mentor.toml"
        path.write_text(SetPrompt(EARLIER).apply(shipped))
        by = Author("import")
        prompt = store_prompt(shipped)
        store.change(
            "mentor", SetPrompt(prompt), revision=None, by=by, reason="Ask before you explain", alone=True
        )
        assert path.read_text() == shipped, "both versions differ in the prompt alone"
        log = OutputLog(store.home, "mentor")
        persona = store.get("mentor")
        for (input_id, version), text in ANSWERS.items():
            variant = variant_of(store, persona, model=MODEL, version=version)
            test_input = next(one for one in persona.test_inputs if one.id == input_id)
            known = {"id": f"example_{input_id}_{version}", "run_id": f"example_{version}"}
            output = make_output(
                variant, test_input, text=text, stop_reason="end_turn", source=RECORDING,
                started_at="2026-11-27T09:00:00.000Z", **known,
            )  # fmt: skip
            log.append(output)
            for rubric in (one for one in test_input.expect if one.base == RUBRIC):
                log.append_verdict(output.id, rubric, MODEL, verdict_of(rubric, *RUBRIC_VERDICTS[version]))
        log.close()
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(store.home.versions / "mentor", folder / "versions" / "mentor")
        (folder / "outputs").mkdir()
        shutil.copy(store.home.outputs / "mentor.jsonl", folder / "outputs")
        for path in folder.rglob("*"):
            path.chmod(0o755 if path.is_dir() else 0o644)


def store_prompt(text: str) -> str:
    """Return the prompt of a persona's file."""
    from personas.persona import read_persona

    return read_persona("mentor", text.encode()).system_prompt


if __name__ == "__main__":
    record(RECORDINGS)
