"""The approval policy: which calls ask for approval, what the person is shown, and how an answer is read."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Literal

from agent.core.tool import Tool
from agent.core.turns import thaw
from agent.jobs.job import Approval, Question
from agent.tools import effect_of, registered
from agent.tools.spec import Effect
from personas.errors import InvalidValue, PersonaError
from personas.store import Store

Policy = Literal["auto", "ask-destructive", "ask-all"]
Override = Literal["ask", "allow", "deny"]
Answer = Literal["once", "task", "always", "no"]

OPTIONS = ("once", "task", "always", "no")
"""What an approval can be answered with; `no` may be followed by a reason."""
EACH_TIME = ("once", "task", "no")
"""Likewise where the person's settings say of this very tool that it is asked for."""
LONGEST_INPUT = 4_000
CHANGED = "The file changed since you were asked; this is what the call would do now."

_WORDS: dict[str, Answer] = {
    **dict.fromkeys(("once", "yes", "y", "ok", "allow", "approve"), "once"),
    "task": "task",
    "always": "always",
    **dict.fromkeys(("no", "n", "deny"), "no"),
}
_POSITION = re.compile(r"^@@ .*? @@", re.MULTILINE)


class NotTrusted(PersonaError):
    """An approval found on disk does not count before the person trusts that home."""


@dataclass(frozen=True, slots=True)
class ApprovalRules:
    """What the person's settings say about calls.

    Attributes:
        policy: `auto` asks for nothing (every edit can be undone), `ask-destructive` for tools that take
            something away as a whole, `ask-all` for every tool that changes something.
        overrides: by tool name, whatever the policy. An `ask` here is stronger than what was allowed for good.
    """

    policy: Policy = "auto"
    overrides: Mapping[str, Override] = field(default_factory=dict)

    def verdict(self, tool: Tool, effect: Effect | None = None) -> Override:
        """Return whether a call of this tool is allowed, asked for, or not allowed; `effect`: of this very call."""
        if tool.name in self.overrides:
            return self.overrides[tool.name]
        effect = effect or effect_of(tool.name)
        if self.policy == "auto" or effect in ("read", "control"):
            return "allow"
        return "ask" if self.policy == "ask-all" or effect == "destructive" else "allow"

    def answers(self, tool_name: str) -> tuple[str, ...]:
        """Return what a question for this tool can be answered with."""
        return EACH_TIME if self.overrides.get(tool_name) == "ask" else OPTIONS


@dataclass(frozen=True, slots=True)
class Decision:
    """The person's word on one call; `reason` goes to the model with a `no`."""

    answer: Answer
    reason: str = ""


def read_decision(text: str, options: Sequence[str] = OPTIONS) -> Decision:
    """Return what an answer says: `once`, `task`, `always`, or `no` with a reason after it.

    Args:
        text: the answer; a number means the option at that place.
        options: what was offered.

    Raises:
        InvalidValue: it says none of these.
    """
    match = re.match(r"\s*([\w-]+)[\s,.:;!-]*(.*)\Z", text, re.DOTALL)
    numbers = {str(place): option for place, option in enumerate(options, 1)}
    word = match[1].casefold() if match else ""
    answer = _WORDS.get(numbers.get(word, word))
    if answer == "always" and answer not in options:
        raise InvalidValue(
            'Your settings ask about this every time, so "always" is not possible: answer once, task, or no with '
            "a reason."
        )
    if match is None or answer is None or (answer != "no" and match[2].strip()):
        offered = ", ".join(option for option in options if option != "no")
        raise InvalidValue(f"Answer {offered}, or no with a reason: 'no, keep the second line'.")
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
    spec = registered(tool.name)
    found = spec.preview(store, persona_id, given) if spec is not None else None
    if found is None:
        shown = json.dumps(thaw(given.model_dump(mode="json")), ensure_ascii=False)
        return Approval(tool=tool.name, label=tool.label, note=f"It is called with {shown[:LONGEST_INPUT]}")
    note = found.note if found.diff else "It would change nothing."
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


def approval_question(
    approval: Approval, tool_use_id: str, *, changed: bool = False, options: Sequence[str] = OPTIONS
) -> Question:
    """Return the question that asks for the person's word on a call; of `options` only those there are."""
    text = f"Allow {approval.tool} ({approval.label})?" if approval.label else f"Allow {approval.tool}?"
    return Question(
        # The same request has the same id, also when another program asks it anew.
        id=f"approval_{sha256(f'{tool_use_id} {approval.model_dump_json()}'.encode()).hexdigest()[:24]}",
        text=f"{CHANGED} {text}" if changed else text,
        options=tuple(option for option in OPTIONS if option in options),
        tool_use_id=tool_use_id,
        approval=approval,
    )


def refusal(decision: Decision) -> str:
    """Return what the model reads after a no."""
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
        read_decision(text, question.options)
