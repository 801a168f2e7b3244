"""What a question was asked about: the persona as it was read then, against what is read when it is answered."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from agent.models.offline import speech
from agent.models.offline.draft import Draft
from agent.models.offline.intents import (
    AddText,
    Ask,
    ChangeTest,
    CopyTest,
    DeleteTests,
    DeleteThing,
    ExtendTest,
    Intent,
    Option,
    Reference,
    RemoveText,
    ReplaceText,
    SetPrompt,
    Undo,
)
from agent.models.offline.reference import TestInput


@dataclass(frozen=True, slots=True)
class Seen:
    """The outputs of the reading tools in one exchange; None for what was not read."""

    persona: str | None = None
    inputs: str | None = None


def touches(intent: Intent) -> tuple[str, ...]:
    """Return what an intent changes that is there already: of `prompt`, `tests`."""
    if isinstance(intent, SetPrompt) or (isinstance(intent, AddText) and intent.spot is not None):
        return ("prompt",)
    if isinstance(intent, ReplaceText | RemoveText):
        return ("tests",) if isinstance(intent.where, Reference) else ("prompt",)
    if isinstance(intent, ChangeTest | ExtendTest | CopyTest | DeleteTests):
        return ("tests",)
    return ("prompt", "tests") if isinstance(intent, DeleteThing | Undo) else ()


def stale(intents: Sequence[Intent], draft: Draft, seen: Seen) -> Ask | None:
    """Return the new question when what an answer would change is not what the question was asked about.

    Args:
        intents: what the chosen answer does.
        draft: the persona as it is read now.
        seen: the persona as it was read for the question.
    """
    parts = {part for intent in intents for part in touches(intent)}
    before = json_object(seen.persona or "")
    if "prompt" in parts and before is not None and draft.knows_persona:
        changed = str(before.get("system_prompt", "")) != draft.prompt
        if changed:
            whole = [intent for intent in intents if isinstance(intent, SetPrompt)]
            again: tuple[Option, ...] = ()
            if len(whole) == len(intents) == 1:
                label = f"Set it to {speech.quote(whole[0].text, 80)}" if whole[0].text else "Empty it"
                again = (Option(label, tuple(intents), "still empty set"),)
            shown = speech.quote(draft.prompt, 400) if draft.prompt.strip() else "nothing"
            told = f"The system prompt was changed since I asked; it now says: {shown}."
            return Ask(told if again else f"{told} Tell me again what to do with it.", again)
    known = "tests" in parts and seen.inputs is not None and draft.knows_inputs
    if known and test_inputs_of(seen.inputs or "") != draft.inputs:
        return Ask("The test inputs were changed since I asked. Tell me again what to do with them.")
    return None


LISTED = ("item", "entry", "point", "one")
"""Words for a test input that may mean an item of a list in the prompt as well."""
_ITEM = re.compile(r"^[ \t]*(?:[-*•+]|\d{1,3}[.)])[ \t]", re.MULTILINE)


def speaks_of(prompt: str, word: str) -> bool:
    """Whether a prompt has what a word may mean: the word in the singular or the plural, or a list."""
    if word in LISTED:
        return len(_ITEM.findall(prompt)) > 1
    if word in ("input", "inputs"):
        return (
            re.search(r"^\W*(?:[A-Za-z]+ )?inputs?\b[^.!?]{0,20}$", prompt, re.IGNORECASE | re.MULTILINE)
            is not None
        )
    if counted := re.fullmatch(r"(?:number|#) (\d+)", word):
        return re.search(rf"^[ \t]*{counted[1]}[.)][ \t]", prompt, re.MULTILINE) is not None
    if word in ("example", "examples", "sample", "samples"):
        return re.search(r"\b(?:example|sample)s?\b", prompt, re.IGNORECASE) is not None
    return re.search(rf"\b{re.escape(word.removesuffix('s'))}s?\b", prompt, re.IGNORECASE) is not None


def test_inputs_of(output: str) -> list[TestInput]:
    """Return the test inputs in what `list_test_inputs` gave; what is none is left out."""
    rows = (json_object(output) or {}).get("test_inputs", [])
    return [
        TestInput(str(row.get("id", "")), str(row.get("content", "")))
        for row in (rows if isinstance(rows, list) else [])
        if isinstance(row, dict)
    ]


def json_object(output: str) -> dict[str, Any] | None:
    """Return a tool's output as an object, or None when it is none."""
    try:
        value = json.loads(output)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
