"""The phrasings of `phrasings_*.toml`: how a case is read and what holds after it.

A `[[case]]` has `message` or `messages`, a `kind`, and optionally `before.name`, `before.system_prompt`,
`before.test_inputs`. Under `after`: `name`, `system_prompt` (exact), `prompt_contains`, `prompt_lacks`,
`test_inputs` (contents in order), `count` (of test inputs), `unchanged`, `tools` (were called), `says` (the
last answer has it, whatever the case), `may_ask` (unchanged is right too). What is not listed stays as it was.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.agent.offline.room import INPUTS, PROMPT

_KEYS = {
    "name", "system_prompt", "prompt_contains", "prompt_lacks", "test_inputs", "count", "unchanged", "tools",
    "says", "may_ask",
}  # fmt: skip


@dataclass(frozen=True)
class State:
    """The persona at one moment."""

    name: str
    prompt: str
    contents: tuple[str, ...]


@dataclass(frozen=True)
class Case:
    label: str
    messages: tuple[str, ...]
    name: str
    prompt: str
    inputs: tuple[tuple[str, str], ...]
    after: dict[str, Any]

    @property
    def start(self) -> State:
        return State(self.name, self.prompt, tuple(content for _, content in self.inputs))


def read_cases(path: Path) -> list[Case]:
    """Return the cases of a phrasings file."""
    cases = []
    for k, row in enumerate(tomllib.loads(path.read_text(encoding="utf-8"))["case"]):
        before = row.get("before", {})
        after = {key: row[key] for key in _KEYS & row.keys()} | row.get("after", {})
        assert after.keys() <= _KEYS, after.keys() - _KEYS
        assert after, f"case {k} says nothing about what holds after it"
        inputs: Sequence[Any] = before.get("test_inputs", [])
        given = [
            (row["id"], row["content"]) if isinstance(row, dict) else (f"t{n}", row)
            for n, row in enumerate(inputs)
        ]
        messages = tuple(row["messages"]) if "messages" in row else (row["message"],)
        cases.append(
            Case(
                f"{k:03} {messages[-1][:60]!r}",
                messages,
                before.get("name", "Optimist"),
                before.get("system_prompt", PROMPT),
                tuple(given) if "test_inputs" in before else INPUTS,
                after,
            )
        )
    return cases


def problems(case: Case, now: State, called: Sequence[str], answer: str) -> list[str]:
    """Return what does not hold after a case, in words; an empty list when it passed."""
    after, start = case.after, case.start
    missing = [tool for tool in after.get("tools", []) if tool not in called]
    silent = [words for words in after.get("says", []) if words.casefold() not in answer.casefold()]
    if not answer.strip():
        return ["it said nothing"]
    if after.get("may_ask") and now == start:
        return []
    found = [f"did not call {missing}"] * bool(missing) + [f"did not say {silent}"] * bool(silent)
    if after.get("unchanged"):
        return found + ([f"changed to {now}"] if now != start else [])
    if now.name != after.get("name", start.name):
        found.append(f"the name is {now.name!r}")
    loose = "prompt_contains" in after or "prompt_lacks" in after
    if "system_prompt" in after or not loose:
        if now.prompt != after.get("system_prompt", start.prompt):
            found.append(f"the prompt is {now.prompt!r}")
    elif now.prompt == start.prompt:
        found.append("the prompt did not change")
    found += [
        f"the prompt lacks {text!r}" for text in after.get("prompt_contains", []) if text not in now.prompt
    ]
    found += [f"the prompt has {text!r}" for text in after.get("prompt_lacks", []) if text in now.prompt]
    if "count" in after:
        if len(now.contents) != after["count"]:
            found.append(f"there are {len(now.contents)} test inputs")
    elif now.contents != tuple(after.get("test_inputs", start.contents)):
        found.append(f"the test inputs are {now.contents}")
    return found
