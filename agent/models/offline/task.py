"""The offline model in a task: its closing words become `task_complete`, its questions `ask_user`, and back."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from agent.models.offline.draft import Call
from agent.models.offline.plan import Answer

_SAYS = {"task_complete": "summary", "ask_user": "question", "send_update": "text"}
"""The calls that only say something, and where."""

Message = Mapping[str, Any]


def as_call(answer: Answer, tools: Collection[str]) -> Call | Answer:
    """Return the call an answer is in a task; without a task's tools it stays an answer."""
    if "task_complete" not in tools or not answer.text.strip():
        return answer
    if answer.ask is not None and "ask_user" in tools:
        return Call("ask_user", {"question": answer.text}, "")
    return Call("task_complete", {"summary": answer.text}, "")


def as_conversation(messages: Sequence[Message]) -> list[Message]:
    """Return the messages with those calls as the words they say, and the answers to questions as the user's."""
    found: list[Message] = []
    asked: set[str] = set()
    said: set[str] = set()
    for message in messages:
        content = message.get("content") if isinstance(message, Mapping) else None
        if not isinstance(content, list | tuple):
            found.append(message)
            continue
        blocks: list[Any] = []
        for block in content:
            kind = block.get("type") if isinstance(block, Mapping) else None
            if kind == "tool_use" and block.get("name") in _SAYS:
                said.add(str(block.get("id")))
                if block["name"] == "ask_user":
                    asked.add(str(block.get("id")))
                given = block.get("input")
                words = given.get(_SAYS[block["name"]]) if isinstance(given, Mapping) else None
                if isinstance(words, str):
                    blocks.append({"type": "text", "text": words})
            elif kind == "tool_result" and str(block.get("tool_use_id")) in said:
                if str(block.get("tool_use_id")) in asked and block.get("is_error") is not True:
                    blocks.append({"type": "text", "text": block.get("content", "")})
            else:
                blocks.append(block)
        found.append({**message, "content": blocks})
    return found
