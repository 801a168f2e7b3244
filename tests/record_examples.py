"""Makes what ships with the examples of `RECORDED`: an earlier version of the prompt, and recorded outputs of both.

    python -m tests.record_examples       # after a change of one of them in personas/examples

The answers are examples, written for the purpose; they are marked as recordings and name no real model.
"""

from __future__ import annotations

import random
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from agent.outputs.coverage import APART, SAMPLES
from agent.outputs.expectations import RUBRIC, Outcome, verdict_of
from agent.outputs.output_log import RECORDING, OutputLog, make_output
from agent.outputs.prompt_pieces import pieces_of, without
from agent.outputs.variant import variant_of
from personas.changes import SetPrompt
from personas.files.home import EXAMPLES, RECORDINGS, open_home
from personas.persona import read_persona
from personas.store import Store
from personas.versions.authorship import Author

AT = datetime(2026, 11, 27, 9, 0, tzinfo=UTC)
MODEL = "example"
"""Stands where an output names its model: nobody's, so that with a model connected everything is run anew."""


@dataclass(frozen=True)
class Recorded:
    """What is recorded of one example.

    Attributes:
        earlier: the prompt of its first version.
        reason: what the change to the shipped prompt was for.
        answers: by test input and version.
        rubrics: what a judge says of the answers of a version.
    """

    earlier: str
    reason: str
    answers: Mapping[tuple[str, int], str]
    rubrics: Mapping[int, tuple[Outcome, str]] = field(default_factory=dict)


MENTOR_EARLIER = """\
You are a patient mentor. Explain what people ask about, clearly and at the right level, with one worked example.

Use the words they use. Introduce a new term only when it will be needed again, and define it in passing.
If you do not know, say so, and think aloud about how the two of you could find out.
"""

MENTOR_ANSWERS = {
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
MENTOR_RUBRICS: Mapping[int, tuple[Outcome, str]] = {
    0: ("fail", "It tells the person what to do instead of helping them to find out."),
    1: ("pass", "It asks about the person's own best week, from which the answer can come."),
}

EDITOR_EARLIER = """\
You are a line editor. You get a text and give back a better one.

Answer in two parts:

<text>
The edited text, complete, ready to use.
</text>

Then at most three notes, one line each: what you changed and why.
"""

EDITOR_ANSWERS = {
    ("notice", 0): """\
<text>
Please note that the lift will not be available on Tuesday between 9 and 11, due to the fact that it is being maintained.
</text>

- "in a state of unavailability" became "not available": fewer words.""",
    ("notice", 1): """\
<text>
The lift is out of service for maintenance on Tuesday from 9 to 11.
</text>

- Cut the two openings that say nothing.
- "in a state of unavailability" became "out of service": the verb instead of the noun made from it.
- The time comes last, where it is remembered.""",
    ("placeholder", 0): """\
<text>
Dear User, we are happy to tell you, with great pleasure, that you have won!
</text>

- Made it warmer.""",
    ("leave-it", 0): """\
<text>
Unfortunately, the lift is out of order at the moment. Kindly use the stairs instead.
</text>

- Made it more polite.""",
    ("leave-it", 1): """\
<text>
The lift is out of order. Please use the stairs.
</text>

- Nothing to change: it is short, clear and says what to do.""",
}

RECORDED = {
    "editor": Recorded(EDITOR_EARLIER, "Say how to edit", EDITOR_ANSWERS),
    "mentor": Recorded(MENTOR_EARLIER, "Ask before you explain", MENTOR_ANSWERS, MENTOR_RUBRICS),
}


OPENINGS = (
    "Then let us leave numbers alone.",
    "Then no numbers this time.",
    "Let us try it without any numbers.",
)
PICTURES = (
    "Think of a folder on your disk: it holds files, and it holds folders. You want to count\nall files in it, however deep they lie.",
    "Picture a folder on your disk, with files and with folders in it. You want to know how many files\nthere are, at any depth.",
    "Take a folder on your disk: some files, some folders with files of their own. You want to count\nthem all, however deep they lie.",
)
QUESTIONS = (
    "How would you do it by hand, if a friend offered to count any one folder for you?",
    "How would you go about it, if a friend would count any one folder for you?",
    "What would you do yourself, and what would you leave to a friend who counts any one folder for you?",
)
TELLING = (
    "You count the files, and ask the same of each folder. A function that does that calls itself: that is recursion.",
    "The function counts the files and calls itself for each folder. That is all that recursion is.",
    "A function that counts a folder calls itself for each folder inside. This is what recursion means.",
)
EXPLAINING = (
    "A function that solves a problem may call itself on a smaller one, and puts the parts together at the end.",
    "A function calls itself on a smaller part of the same problem until the part is so small that it is solved.",
    "The problem is cut into smaller ones of the same kind, and the same function solves each of them.",
)
JARGON = (
    "Every recursive function has a base case and a recursive step, and each call gets a frame on the call stack.",
    "You need a base case, a recursive step, and an invariant that holds on each frame of the call stack.",
    "Mind the base case and the recursive step; the call stack keeps one frame for each call.",
)
COVERED = "recursion"
"""The test input of `mentor` whose answers are recorded without each piece of the prompt, too."""
WITHOUT = {
    3: (OPENINGS, PICTURES, TELLING),
    4: (OPENINGS, EXPLAINING, QUESTIONS),
    8: (OPENINGS, JARGON, QUESTIONS),
}
"""By the line of a piece, what answers are made of where it is missing; the others change nothing."""


def record(folder: Path) -> None:
    """Make the recordings of all examples in a folder, as `versions/…` and `outputs/…`."""
    shutil.rmtree(folder, ignore_errors=True)
    with tempfile.TemporaryDirectory() as scratch:
        store = Store(open_home(Path(scratch) / "home"), now=lambda: AT)
        for persona_id, recorded in RECORDED.items():
            _record(store, persona_id, recorded)
            shutil.copytree(store.home.versions / persona_id, folder / "versions" / persona_id)
        _record_coverage(store)
        (folder / "outputs").mkdir()
        for persona_id in RECORDED:
            for path in store.home.outputs.glob(f"*{persona_id}.jsonl"):
                shutil.copy(path, folder / "outputs")
    for path in folder.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)


def _record(store: Store, persona_id: str, recorded: Recorded) -> None:
    shutil.rmtree(store.home.versions / persona_id, ignore_errors=True)
    (store.home.outputs / f"{persona_id}.jsonl").unlink(missing_ok=True)
    shipped = (EXAMPLES / f"{persona_id}.toml").read_text()
    path = store.home.personas / f"{persona_id}.toml"
    path.write_text(SetPrompt(recorded.earlier).apply(shipped))
    prompt = read_persona(persona_id, shipped.encode()).system_prompt
    by = Author("import")
    store.change(persona_id, SetPrompt(prompt), revision=None, by=by, reason=recorded.reason, own_unit=True)
    assert path.read_text() == shipped, "both versions differ in the prompt alone"
    log = OutputLog(store.home, persona_id)
    persona = store.get(persona_id)
    for (input_id, version), text in recorded.answers.items():
        variant = variant_of(store, persona, model=MODEL, version=version)
        test_input = next(one for one in persona.test_inputs if one.id == input_id)
        known = {"id": f"example_{input_id}_{version}", "run_id": f"example_{version}"}
        output = make_output(
            variant, test_input, text=text, stop_reason="end_turn", source=RECORDING,
            started_at="2026-11-27T09:00:00.000Z", **known,
        )  # fmt: skip
        log.append(output)
        for rubric in (one for one in test_input.expect if one.base == RUBRIC):
            log.append_verdict(output.id, rubric, MODEL, verdict_of(rubric, *recorded.rubrics[version]))
    log.close()


def _record_coverage(store: Store) -> None:
    """Record further answers of `mentor` to one test input, and answers without each piece of its prompt."""
    persona = store.get("mentor")
    test_input = next(one for one in persona.test_inputs if one.id == COVERED)
    whole = variant_of(store, persona, model=MODEL, version=1)
    log, apart = OutputLog(store.home, "mentor"), OutputLog(store.home, "mentor", APART)
    apart.clear()
    for line, piece in ((0, None), *((piece.line, piece) for piece in pieces_of(whole.prompt))):
        chance = random.Random(line)
        variant = whole if piece is None else replace(whole, prompt=without(whole.prompt, piece), apart=APART)
        for sample in range(2 if piece is None else 1, SAMPLES + 1):
            opening, picture, question = map(
                chance.choice, WITHOUT.get(line, (OPENINGS, PICTURES, QUESTIONS))
            )
            output = make_output(
                variant, test_input, text=f"{opening} {picture}\n\n{question}", stop_reason="end_turn",
                source=RECORDING, started_at="2026-11-27T09:00:00.000Z", sample=sample,
                id=f"example_coverage_{line}_{sample}", run_id=f"example_coverage_{line}",
            )  # fmt: skip
            (log if piece is None else apart).append(output)
    log.close()
    apart.close()


if __name__ == "__main__":
    record(RECORDINGS)
