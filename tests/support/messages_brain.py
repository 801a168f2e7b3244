"""A rule-driven model for the test server: it reads the request like a model would, and nothing else.

It knows the requests of the specified test cases, calls the tools that are offered for them, reads their
results, and answers from them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.support.messages_answers import Answer, Call, Text, say

QUOTED = r"""(?:'(?P<single>.+)'|"(?P<double>.+)"|“(?P<curly>.+)”)"""
TOPICS = {
    "math": r"math|arithmetic|equation|\d\s*[-+*/x×]\s*\d",
    "coding": r"cod(e|ing)|program|python|function|bug",
}
INVENTED = {"coding": "Write a Python function that reverses a string.", "math": "What is 17 * 23?"}


@dataclass(frozen=True, slots=True)
class Result:
    """A finished call: the tool, its output, and the output as JSON where it is JSON."""

    name: str
    output: str
    is_error: bool

    @property
    def fields(self) -> Mapping[str, Any]:
        try:
            value = json.loads(self.output)
        except ValueError:
            return {}
        return value if isinstance(value, dict) else {}


@dataclass(frozen=True, slots=True)
class Situation:
    """What the request says: the task, what was done for it, and what the person said before."""

    task: str
    done: Sequence[Result]
    earlier: Sequence[str]
    offered: frozenset[str]

    def last(self, tool: str) -> Result | None:
        """Return the newest result of `tool` for this task."""
        return next((result for result in reversed(self.done) if result.name == tool), None)

    @property
    def persona(self) -> Mapping[str, Any]:
        result = self.last("get_persona")
        return result.fields if result else {}

    @property
    def test_inputs(self) -> list[Mapping[str, Any]]:
        result = self.last("list_test_inputs")
        listed = result.fields.get("test_inputs", []) if result else []
        return [item for item in listed if isinstance(item, dict)]


# A step of a plan: the tool, and its input made of the situation; None when nothing fits.
Step = tuple[str, Callable[[Situation], Mapping[str, Any] | None]]
Plan = list[Step]


class ToolUsingBrain:
    """Answers a request body; keeps nothing between requests.

    Args:
        delta: characters per delta of its answers.
    """

    def __init__(self, delta: int = 7) -> None:
        self._delta = delta

    def __call__(self, body: dict[str, Any]) -> Answer:
        """Return the next answer for `body`."""
        situation = read_situation(body)
        failed = next((result for result in situation.done if result.is_error), None)
        if failed is not None:
            return self._say(f"That did not work: {failed.output}")
        plan = make_plan(situation.task)
        if len(situation.done) < len(plan):
            tool, fill = plan[len(situation.done)]
            if tool not in situation.offered:
                return self._say(f"I have no tool named {tool}, so I cannot do that.")
            given = fill(situation)
            if given is None:
                return self._say("I found no test input that fits; which one do you mean?")
            before = () if situation.done else (Text("Let me do that."),)
            return Answer((*before, Call(tool, given)), delta=self._delta)
        return self._say(conclude(situation))

    def _say(self, text: str) -> Answer:
        return say(text, delta=self._delta)


def read_situation(body: Mapping[str, Any]) -> Situation:
    """Return the situation a request body describes."""
    task, done, earlier = "", [], []
    calls: dict[str, str] = {}
    for message in body["messages"]:
        content = message["content"]
        for block in [{"type": "text", "text": content}] if isinstance(content, str) else content:
            match block["type"]:
                case "tool_use":
                    calls[block["id"]] = block["name"]
                case "tool_result":
                    name = calls.get(block["tool_use_id"], "")
                    done.append(Result(name, _plain(block.get("content", "")), bool(block.get("is_error"))))
                case "text" if message["role"] == "user":
                    if task:
                        earlier.append(task)
                    task, done = block["text"], []
    return Situation(task, done, earlier, frozenset(tool["name"] for tool in body.get("tools", ())))


def _plain(content: Any) -> str:
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def _quoted(text: str) -> str | None:
    match = re.search(QUOTED, text, re.DOTALL)
    return next((group for group in match.groups() if group is not None), None) if match else None


def _rest(text: str) -> str:
    return _quoted(text) or text.strip().rstrip(".!")


def make_plan(task: str) -> Plan:
    """Return the calls a task needs, in order; empty for a task that needs none."""
    if re.search(r"\bwhat\b.*\b(did|have) i\b", task, re.IGNORECASE):
        return []

    def matches(pattern: str) -> re.Match[str] | None:
        return re.search(pattern, task, re.IGNORECASE | re.DOTALL)

    if found := matches(r"\badd\b(?P<what>.+)\bto the (system )?prompt"):
        addition = _rest(found["what"])
        return [
            ("get_persona", _nothing),
            ("update_system_prompt", lambda now: {"system_prompt": _append(now, addition)}),
        ]
    if found := matches(r"\breplace\b(?P<old>.+?)\bwith\b(?P<new>.+?)(\bin the (system )?prompt|$)"):
        edit = {"old": _rest(found["old"]), "new": _rest(found["new"])}
        return [("edit_system_prompt", lambda _now: edit)]
    if found := matches(r"\b(set|change|update)\b.*\b(system )?prompt to\b:?(?P<new>.+)"):
        prompt = _rest(found["new"])
        return [("update_system_prompt", lambda _now: {"system_prompt": prompt})]
    if found := matches(r"\b(rename\b.*?\bto|name to)\b(?P<name>.+)"):
        name = _rest(found["name"])
        return [("update_persona_name", lambda _now: {"name": name})]
    if found := matches(r"\b(delete|remove)\b.*\btest input\b(.*\babout\b)?(?P<topic>.+)"):
        topic = _rest(found["topic"])
        return [("list_test_inputs", _nothing), ("delete_test_input", lambda now: _the_one(now, topic))]
    if found := matches(r"\b(change|update)\b.*\btest input\b.*?\babout (?P<topic>\S+) to\b:?(?P<new>.+)"):
        topic, new = found["topic"], _rest(found["new"])
        return [
            ("list_test_inputs", _nothing),
            ("update_test_input", lambda now: (one := _the_one(now, topic)) and {**one, "content": new}),
        ]
    return _plan_of_reads(matches)


def _plan_of_reads(matches: Callable[[str], re.Match[str] | None]) -> Plan:
    """The plan of a task that lists, shows or creates."""
    plan: Plan = []
    if matches(r"\b(show|list|what|which|see)\b.*\btest inputs\b"):
        plan.append(("list_test_inputs", _nothing))
    if found := matches(r"\b(add|create)\b.*?(\btest input\b|\bnew one\b)(?P<what>.*)"):
        content = _content(found["what"])
        plan.append(("create_test_input", lambda _now: {"content": content}))
    if not plan and matches(r"\b(system )?prompt\b|persona'?s?\b.*\bname|\bname\b.*\bpersona"):
        plan.append(("get_persona", _nothing))
    if not plan and matches(r"^\s*undo\b"):
        plan.append(("undo", _nothing))
    return plan


def _nothing(_now: Situation) -> Mapping[str, Any]:
    return {}


def _append(now: Situation, addition: str) -> str:
    old = str(now.persona.get("system_prompt", ""))
    return f"{old.rstrip()}\n{addition}\n" if old.strip() else addition


def _content(what: str) -> str:
    quoted = _quoted(what)
    if quoted:
        return quoted
    topic = re.sub(r"^\s*:|\babout\b", "", what).strip(" .!?\n")
    return INVENTED.get(topic.lower(), f"Tell me about {topic or 'yourself'}.")


def _the_one(now: Situation, topic: str) -> Mapping[str, Any] | None:
    """Return the id of the test input that is about `topic`."""
    topic = topic.strip(" .!?'\"").lower()
    pattern = TOPICS.get(topic, re.escape(topic))
    for item in now.test_inputs:
        if re.search(pattern, f"{item.get('id')} {item.get('content')}", re.IGNORECASE):
            return {"id": item["id"]}
    return None


def conclude(now: Situation) -> str:
    """Return the closing words: what was read or done, or an answer without tools."""
    if not now.done:
        return _talk(now)
    words = []
    for result in now.done:
        match result.name:
            case "list_test_inputs":
                lines = [f"- {item.get('content')}" for item in now.test_inputs]
                words.append(
                    "Your test inputs:\n" + "\n".join(lines) if lines else "There are no test inputs."
                )
            case "get_persona" if len(now.done) == 1:
                words.append(_about_persona(now))
            case "get_persona":
                pass
            case _:
                words.append(f"Done: {result.output}")
    return "\n\n".join(words)


def _about_persona(now: Situation) -> str:
    if re.search("prompt", now.task, re.IGNORECASE):
        return f"The system prompt is:\n\n{now.persona.get('system_prompt', '')}"
    return f"The persona's name is {now.persona.get('name', '')}."


def _talk(now: Situation) -> str:
    if re.search(r"\bwhat\b.*\b(did|have) i\b", now.task, re.IGNORECASE):
        if not now.earlier:
            return "You have not said anything before."
        return "Before, you said: " + " / ".join(now.earlier)
    if found := re.search(r"what(?:'s| is) my (?P<thing>[^?]+)", now.task, re.IGNORECASE):
        thing = found["thing"].strip()
        for text in reversed(now.earlier):
            if known := re.search(rf"my {re.escape(thing)} is (?P<value>[^.!\n]+)", text, re.IGNORECASE):
                return f"Your {thing} is {known['value'].strip()}."
        return f"You have not told me your {thing}."
    return "Hello! I help you edit this persona: its name, its system prompt and its test inputs."
