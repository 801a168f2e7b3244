"""Turns become the Messages API's messages: one total, pure conversion, used on every path.

Whatever list of turns comes in, what goes out satisfies the API's rules: calls are answered, orphan and
duplicate results are left out, results come first and in call order, neighbours of one role are merged, ids
are unique, and the last word is the user's. The log is never touched; repair happens on the wire only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from math import isfinite
from typing import Any

from agent.core.turns import (
    AssistantTextTurn,
    NoticeTurn,
    ThinkingTurn,
    ToolCallTurn,
    ToolResultTurn,
    Turn,
    UserTurn,
)

GO_ON = "Please continue."
"""What stands for the user when the conversation would end with the assistant."""
BEGIN = "(The conversation begins with your message.)"
"""What stands for the user when the conversation would begin with the assistant."""
NO_RESULT = (
    "No result of this call was recorded: it may or may not have taken effect. Look before calling again."
)
NO_OUTPUT = "(no output)"
REFUSED = "refused"
"""Kind of the notice after a refused answer that has turns; that answer is kept out of later requests."""
REFUSED_EMPTY = "refused_empty"
"""Kind of the notice after a refused answer without a single turn: what comes before it is another answer."""

_BAD_ID = re.compile(r"[^a-zA-Z0-9_-]")
_UNSENDABLE = re.compile("[\0\ud800-\udfff]")
_LONGEST_NAME = 128
_ANSWER = (AssistantTextTurn, ThinkingTurn, ToolCallTurn)
_REPLY = (UserTurn, ToolResultTurn)
_DEEPEST = 200

Message = dict[str, Any]


def to_messages(turns: Iterable[Turn], *, model: str = "", endpoint: str = "") -> list[Message]:
    """Return the messages of a request for this conversation. Total: any list of turns has an answer.

    They are the caller's own, to be changed at will.

    Args:
        turns: the conversation; kinds the API does not know are skipped.
        model: the model the request goes to, for which thinking may be replayed.
        endpoint: the server the request goes to, likewise.
    """
    conversion = _Conversion(model, endpoint)
    for turn in turns:
        conversion.add(turn)
    return conversion.messages()


class _Conversion:
    """Takes up turn after turn, then gives the messages.

    A message that is followed by one of the other role is final. The open end is an answer of the
    assistant, its results, and what the user said after it.
    """

    def __init__(self, model: str, endpoint: str) -> None:
        self._model = model
        self._endpoint = endpoint
        self._final: list[Message] = []
        self._answer: list[Message] = []  # blocks of the open assistant message
        self._calls: list[str] = []  # the wire ids of its calls
        self._unanswered: dict[str, list[str]] = {}  # id in the conversation: wire ids, the latest first
        self._results: dict[str, Message] = {}  # by wire id
        self._said: list[Message] = []  # text blocks of the open user message
        self._in_answer = False  # the last turn was the assistant's
        self._is_unseen = False  # nothing of the answer that began last can be sent so far
        self._ids: dict[str, int] = {}  # every wire id, and the last number added to it

    def add(self, turn: Turn) -> None:
        """Take up one further turn."""
        if isinstance(turn, _ANSWER):
            if not self._in_answer:
                self._in_answer = self._is_unseen = True
        elif isinstance(turn, _REPLY):
            self._in_answer = False
        if isinstance(turn, UserTurn):
            if turn.content and not turn.content.isspace():
                self._said.append(_text(sendable(turn.content)))
        elif isinstance(turn, ToolResultTurn):
            self._add_result(turn)
        elif isinstance(turn, AssistantTextTurn):
            content = sendable(turn.content)
            if content and not content.isspace():
                self._open_answer().append(_text(content))
        elif isinstance(turn, ToolCallTurn):
            answer = self._open_answer()
            wire = self._wire_id(turn.tool_use_id)
            self._calls.append(wire)
            self._unanswered.setdefault(turn.tool_use_id, []).insert(0, wire)
            given = sendable_object(turn.input)
            answer.append(
                {"type": "tool_use", "id": wire, "name": _wire_name(turn.tool_name), "input": given}
            )
        elif isinstance(turn, ThinkingTurn):
            if self._replayable(turn):
                self._open_answer().append(_thinking(turn))
        elif isinstance(turn, NoticeTurn) and turn.kind == REFUSED:
            if not self._is_unseen and not self._said:
                self._forget_answer()
            self._in_answer = self._is_unseen = False

    def messages(self) -> list[Message]:
        """Return the messages; nothing may be added after that."""
        self._close_end()
        if not self._final:
            return [_user([_text(GO_ON)])]
        if self._final[-1]["role"] == "assistant":
            self._final.append(_user([_text(GO_ON)]))
        return self._final

    def _close_end(self) -> None:
        """Make the open answer and what follows it messages."""
        answer = self._answer
        while answer and answer[-1]["type"] in ("thinking", "redacted_thinking"):
            answer.pop()  # thinking that led to nothing may not end a message
        # Nor may blanks end it; elsewhere they are the model's own.
        if answer and answer[-1]["type"] == "text":
            answer[-1] = _text(answer[-1]["text"].rstrip())
        if answer:
            if not self._final:
                self._append(_user([_text(BEGIN)]))
            self._append({"role": "assistant", "content": answer})
        replies = [self._results.get(wire) or _unanswered(wire) for wire in self._calls]
        if replies or self._said:
            self._append(_user([*replies, *self._said]))
        self._forget_answer()
        self._said = []

    def _append(self, message: Message) -> None:
        """Add a message; one of the role before it is merged into that."""
        if self._final and self._final[-1]["role"] == message["role"]:
            self._final[-1]["content"] += message["content"]
        else:
            self._final.append(message)

    def _open_answer(self) -> list[Message]:
        """The blocks to which an answer's next block is added; closes what came before it."""
        self._is_unseen = False
        if self._said or self._results:
            self._close_end()
        return self._answer

    def _forget_answer(self) -> None:
        self._answer, self._calls, self._results, self._unanswered = [], [], {}, {}

    def _add_result(self, turn: ToolResultTurn) -> None:
        """Answer the first call of this id that has no result yet; a result without a call is left out."""
        if not (waiting := self._unanswered.get(turn.tool_use_id)):
            return
        wire = waiting.pop()
        output = sendable(turn.output)
        content = output if output and not output.isspace() else NO_OUTPUT
        result: Message = {"type": "tool_result", "tool_use_id": wire, "content": content}
        self._results[wire] = {**result, "is_error": True} if turn.is_error else result

    def _wire_id(self, call_id: str) -> str:
        """An id the API takes and this conversation has not used: the call's own wherever possible."""
        base = _BAD_ID.sub("_", call_id) or "call"
        wire, number = base, self._ids.get(base, 1)
        while wire in self._ids:
            number += 1
            wire = f"{base}_{number}"
        self._ids[base] = number
        self._ids[wire] = self._ids.get(wire, 1)
        return wire

    def _replayable(self, turn: ThinkingTurn) -> bool:
        """Whether this thinking may go back to the model: whole, signed, and from this very model."""
        return (
            not turn.interrupted
            and bool(turn.signature or turn.redacted)
            and turn.model == self._model
            and turn.endpoint == self._endpoint
            and not _UNSENDABLE.search(turn.content + turn.signature + turn.redacted)
        )


def sendable(text: str) -> str:
    """Return `text` as UTF-8 can carry it: halves of a pair joined, lone surrogates and NUL replaced."""
    if text.isascii() and "\0" not in text:
        return text
    if not _UNSENDABLE.search(text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").replace("\0", "\ufffd")


def _wire_name(name: str) -> str:
    """A tool's name as the API takes it."""
    return _BAD_ID.sub("_", name)[:_LONGEST_NAME] or "unnamed"


def _text(content: str) -> Message:
    return {"type": "text", "text": content}


def _user(blocks: list[Message]) -> Message:
    return {"role": "user", "content": blocks}


def _unanswered(wire: str) -> Message:
    return {"type": "tool_result", "tool_use_id": wire, "content": NO_RESULT, "is_error": True}


def _thinking(turn: ThinkingTurn) -> Message:
    if turn.redacted:
        return {"type": "redacted_thinking", "data": turn.redacted}
    return {"type": "thinking", "thinking": turn.content, "signature": turn.signature}


def sendable_object(value: Mapping[str, Any]) -> Message:
    """Return a JSON object as a copy that can be sent, whatever is in it."""
    result = _json(value, 0)
    return result if isinstance(result, dict) else {}


def _json(value: Any, depth: int) -> Any:
    """A JSON value the wire can carry, whatever an application put into a call's input."""
    if isinstance(value, str):
        return sendable(value)
    if value is None or isinstance(value, int):  # truth values, too
        return value
    if isinstance(value, float):
        return value if isfinite(value) else None
    if depth < _DEEPEST:
        if isinstance(value, Mapping):
            return {sendable(str(key)): _json(item, depth + 1) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [_json(item, depth + 1) for item in value]
    return sendable(str(value))
