"""Turns become the Messages API's messages: one total, pure conversion, used on every path.

Whatever list of turns comes in, what goes out satisfies the API's rules: calls are answered, orphan and
duplicate results are left out, results come first and in call order, neighbours of one role are merged, ids
are unique, and the last word is the user's. The log is never touched; repair happens on the wire only.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from agent.turns import (
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
"""Kind of the notice after a refused answer; the answer before it is kept out of later requests."""

_BAD_ID = re.compile(r"[^a-zA-Z0-9_-]")
_UNSENDABLE = re.compile("[\0\ud800-\udfff]")
_LONGEST_NAME = 128
_DEEPEST = 200
_references = getattr(sys, "getrefcount", lambda _value: 0)
_OURS_ALONE = 2  # the attribute and the argument

Message = dict[str, Any]


def to_messages(turns: Iterable[Turn], *, model: str = "", endpoint: str = "") -> list[Message]:
    """Return the messages of a request for this conversation. Total: any list of turns has an answer.

    Args:
        turns: the conversation; kinds the API does not know are skipped.
        model: the model the request goes to, for which thinking may be replayed.
        endpoint: the server the request goes to, likewise.
    """
    conversion = Conversion(model=model, endpoint=endpoint)
    conversion.extend(turns)
    return conversion.messages()


def limit_history(turns: Sequence[Turn], user_turns: int) -> list[Turn]:
    """Return the end of the conversation that begins at the `user_turns`-th last user turn.

    A list with fewer user turns is returned whole; so is one where `user_turns` is not positive.
    """
    if user_turns > 0:
        left = user_turns
        for index in range(len(turns) - 1, -1, -1):
            if isinstance(turns[index], UserTurn):
                left -= 1
                if left == 0:
                    return list(turns[index:])
    return list(turns)


class Conversion:
    """The conversion of a conversation that grows: each turn is looked at once.

    A message that is followed by one of the other role is final. The open end is an answer of the
    assistant, its results, and what the user said after it.
    """

    def __init__(self, *, model: str = "", endpoint: str = "") -> None:
        self._model = model
        self._endpoint = endpoint
        self._final: list[Message] = []
        self._answer: list[Message] = []  # blocks of the open assistant message
        self._calls: list[str] = []  # the wire ids of its calls
        self._unanswered: dict[str, list[str]] = {}  # id in the conversation: wire ids, the latest first
        self._results: dict[str, Message] = {}  # by wire id
        self._said: list[Message] = []  # text blocks of the open user message
        self._handed: list[Message] = []  # what `messages` returned last
        self._handed_final = 0  # how many final messages begin it
        self._ids: dict[str, int] = {}  # every wire id, and the last number it was told apart by

    def extend(self, turns: Iterable[Turn]) -> None:
        """Take up further turns."""
        for turn in turns:
            self.add(turn)

    def add(self, turn: Turn) -> None:
        """Take up one further turn."""
        if isinstance(turn, UserTurn):
            if turn.content and not turn.content.isspace():
                self._said.append(_text(sendable(turn.content)))
        elif isinstance(turn, ToolResultTurn):
            self._add_result(turn)
        elif isinstance(turn, AssistantTextTurn):
            content = sendable(turn.content).rstrip()
            if content:
                self._open_answer().append(_text(content))
        elif isinstance(turn, ToolCallTurn):
            answer = self._open_answer()
            wire = self._wire_id(turn.tool_use_id)
            self._calls.append(wire)
            self._unanswered.setdefault(turn.tool_use_id, []).insert(0, wire)
            name = _BAD_ID.sub("_", turn.tool_name)[:_LONGEST_NAME] or "unnamed"
            answer.append({"type": "tool_use", "id": wire, "name": name, "input": _json_object(turn.input)})
        elif isinstance(turn, ThinkingTurn):
            if self._replayable(turn):
                self._open_answer().append(_thinking(turn))
        elif isinstance(turn, NoticeTurn) and turn.kind == REFUSED and not self._said:
            self._forget_answer()

    def messages(self) -> list[Message]:
        """Return the messages of a request made now. The blocks are shared: read, do not change them."""
        tail = self._open_end()
        if not self._final and (not tail or tail[0]["role"] == "assistant"):
            tail.insert(0, _user([_text(BEGIN if tail else GO_ON)]))
        messages = self._final_messages()
        for message in tail:
            _append(messages, message)
        if messages[-1]["role"] == "assistant":
            messages.append(_user([_text(GO_ON)]))
        return messages

    def _final_messages(self) -> list[Message]:
        """A list of the final messages that the caller may add to.

        The list handed out last is taken up again when nobody kept it: a step then costs the same however
        long the conversation is.
        """
        done = self._handed_final
        if _references(self._handed) == _OURS_ALONE and (
            done == 0 or self._handed[done - 1] is self._final[done - 1]
        ):
            del self._handed[done:]
            self._handed.extend(self._final[done:])
        else:
            self._handed = self._final.copy()
        self._handed_final = len(self._final)
        return self._handed

    def _open_end(self) -> list[Message]:
        """The messages of the open answer and what follows it."""
        answer = self._answer.copy()
        while answer and answer[-1]["type"] in ("thinking", "redacted_thinking"):
            answer.pop()  # thinking that led to nothing may not end a message
        tail: list[Message] = []
        if answer:
            tail.append({"role": "assistant", "content": answer})
        results = [self._results.get(wire) or _unanswered(wire) for wire in self._calls]
        if results or self._said:
            tail.append(_user(results + self._said))
        return tail

    def _open_answer(self) -> list[Message]:
        """The blocks to which an answer's next block is added; closes what came before it."""
        if self._said or self._results:
            for message in self._open_end():
                if not self._final and message["role"] == "assistant":
                    self._final.append(_user([_text(BEGIN)]))
                _append(self._final, message)
            self._forget_answer()
            self._said = []
        return self._answer

    def _forget_answer(self) -> None:
        self._answer, self._calls, self._results, self._unanswered = [], [], {}, {}

    def _add_result(self, turn: ToolResultTurn) -> None:
        """Answer the first call of this id that has no result yet; a result without a call is left out."""
        if not (waiting := self._unanswered.get(turn.tool_use_id)):
            return
        wire = waiting.pop()
        output = sendable(turn.output)
        block: Message = {
            "type": "tool_result",
            "tool_use_id": wire,
            "content": output if output and not output.isspace() else NO_OUTPUT,
        }
        if turn.is_error:
            block["is_error"] = True
        self._results[wire] = block

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


def _append(messages: list[Message], message: Message) -> None:
    """Add a message; one of the role before it is merged into a copy of that."""
    if messages and messages[-1]["role"] == message["role"]:
        last = messages[-1]
        messages[-1] = {"role": last["role"], "content": last["content"] + message["content"]}
    else:
        messages.append(message)


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


def _json_object(value: Mapping[str, Any]) -> Message:
    result = _json(value, 0)
    return result if isinstance(result, dict) else {}


def _json(value: Any, depth: int) -> Any:
    """A plain JSON value the wire can carry, whatever an application put into a call's input."""
    if isinstance(value, str):
        return sendable(value)
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if abs(value) != float("inf") and value == value else None
    if depth < _DEEPEST:
        if isinstance(value, Mapping):
            return {sendable(str(key)): _json(item, depth + 1) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [_json(item, depth + 1) for item in value]
    return sendable(str(value))
