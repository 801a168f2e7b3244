"""Which calls need the person's word: the policy, what was granted, and how an answer is read."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

from agent.task import Approval, Question
from agent.tool import Tool
from agent.tools.control import CONTROL
from agent.tools.preview import HARMLESS, preview
from agent.turns import thaw
from personas import trust
from personas.errors import InvalidValue, PersonaError
from personas.lock import hold
from personas.store import Store
from personas.textfile import encode, read_regular, replace_file, storage_error

Policy = Literal["auto", "ask-destructive", "ask-all"]
Override = Literal["ask", "allow", "deny"]
Answer = Literal["once", "task", "always", "no"]

OPTIONS = ("once", "task", "always", "no")
"""What an approval can be answered with; `no` may be followed by a reason."""
LONGEST_INPUT = 4_000
CHANGED = "The file changed since you were asked; this is what the call would do now."

_WORDS: dict[str, Answer] = {
    **dict.fromkeys(("once", "yes", "y", "1", "ok", "allow", "approve"), "once"),
    **dict.fromkeys(("task", "2"), "task"),
    **dict.fromkeys(("always", "3"), "always"),
    **dict.fromkeys(("no", "n", "4", "deny"), "no"),
}
_POSITION = re.compile(r"^@@ .*? @@", re.MULTILINE)


class NotTrusted(PersonaError):
    """An approval found on disk does not count before the person trusts that home."""


@dataclass(frozen=True, slots=True)
class ApprovalRules:
    """What the person's settings say about calls.

    Attributes:
        policy: `auto` asks for nothing (every edit can be undone), `ask-destructive` for tools that take
            something away, `ask-all` for every tool that changes something.
        overrides: by tool name, whatever the policy.
    """

    policy: Policy = "auto"
    overrides: Mapping[str, Override] = field(default_factory=dict)

    def verdict(self, tool: Tool) -> Override:
        """Return whether a call of this tool is allowed, asked for, or not allowed."""
        if tool.name in self.overrides:
            return self.overrides[tool.name]
        if self.policy == "auto" or tool.name in HARMLESS or tool.name in CONTROL:
            return "allow"
        return "ask" if self.policy == "ask-all" or tool.destructive else "allow"


@dataclass(frozen=True, slots=True)
class Decision:
    """The person's word on one call; `reason` goes to the model with a `no`."""

    answer: Answer
    reason: str = ""


def read_decision(text: str) -> Decision:
    """Return what an answer says: `once`, `task`, `always`, or `no` with a reason after it.

    Raises:
        InvalidValue: it says none of these.
    """
    match = re.match(r"\s*([\w-]+)[\s,.:;!-]*(.*)\Z", text, re.DOTALL)
    answer = _WORDS.get(match[1].casefold()) if match else None
    if match is None or answer is None or (answer != "no" and match[2].strip()):
        raise InvalidValue("Answer once, task, always, or no with a reason: 'no, keep the second line'.")
    return Decision(answer, match[2].strip())


def approval_of(store: Store, persona_id: str, tool: Tool, given: Any) -> Approval:
    """Return what the person is asked to agree to, as the call stands now. Reads the disk.

    Args:
        store: where the persona lives.
        persona_id: whose file.
        tool: the tool that is called.
        given: the validated input.

    Raises:
        PersonaError: the call could not be made at all.
    """
    found = preview(store, persona_id, tool.name, given)
    if found is None:
        shown = json.dumps(thaw(given.model_dump(mode="json")), ensure_ascii=False)
        return Approval(tool=tool.name, label=tool.label, note=f"It is called with {shown[:LONGEST_INPUT]}")
    note = "" if found.diff else "It would change nothing."
    return Approval(
        tool=tool.name,
        label=tool.label,
        diff=found.diff,
        added=found.added,
        removed=found.removed,
        note=note,
    )


def is_same(one: Approval, other: Approval) -> bool:
    """Return whether two requests ask for the same change, wherever in the file it has moved meanwhile."""
    return (one.tool, one.note, _POSITION.sub("@@", one.diff)) == (
        other.tool,
        other.note,
        _POSITION.sub("@@", other.diff),
    )


def approval_question(approval: Approval, tool_use_id: str, *, changed: bool = False) -> Question:
    """Return the question that asks for the person's word on a call."""
    text = f"Allow {approval.tool} ({approval.label})?" if approval.label else f"Allow {approval.tool}?"
    return Question(
        # The same request has the same id, also when another program asks it anew.
        id=f"approval_{sha256(f'{tool_use_id} {approval.model_dump_json()}'.encode()).hexdigest()[:24]}",
        text=f"{CHANGED} {text}" if changed else text,
        options=OPTIONS,
        tool_use_id=tool_use_id,
        approval=approval,
    )


def refusal(decision: Decision) -> str:
    """Return what the model is told after a no."""
    why = f": {decision.reason}" if decision.reason else "."
    return f"the owner said no{why}"


def check_answer(question: Question, text: str) -> None:
    """Refuse an answer that cannot be one.

    Raises:
        InvalidValue: it is empty, or says neither yes nor no to an approval.
    """
    if not text.strip():
        raise InvalidValue("The answer is empty.")
    if question.approval is not None:
        read_decision(text)


class Grants:
    """What the person allowed for good, home by home; kept beside the settings, never in a home.

    Args:
        path: the file; None keeps grants in memory only.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._here: set[tuple[str, str]] = set()

    @classmethod
    def of_person(cls, env: Mapping[str, str] = os.environ) -> Grants:
        """Return the grants of whoever runs the program."""
        return cls(trust.file_of(env).with_name("grants.json"))

    def has(self, home: Path, tool_name: str) -> bool:
        """Return whether calls of a tool are always allowed in a home."""
        key = (os.path.realpath(home), tool_name)
        return key in self._here or tool_name in self._read().get(key[0], [])

    def add(self, home: Path, tool_name: str) -> None:
        """Allow a tool in a home from now on.

        Raises:
            StorageError: it holds for this program, but could not be kept.
        """
        key = (os.path.realpath(home), tool_name)
        self._here.add(key)
        if self._path is None:
            return
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise storage_error(error, "create", self._path.parent) from None
        with hold(self._path.with_name("grants.lock"), wait=5, what="The list of grants"):
            known = self._read()
            known[key[0]] = sorted({*known.get(key[0], []), tool_name})
            replace_file(self._path, encode(json.dumps(known, indent=2) + "\n"), root=self._path.parent)

    def _read(self) -> dict[str, list[str]]:
        """What is kept; a missing or damaged file grants nothing."""
        if self._path is None:
            return {}
        try:
            stored = json.loads(read_regular(self._path, root=self._path.parent))
        except (FileNotFoundError, PersonaError, ValueError, RecursionError):
            return {}
        if not isinstance(stored, dict):
            return {}
        return {
            home: [name for name in names if isinstance(name, str)]
            for home, names in stored.items()
            if isinstance(names, list)
        }
