"""Turns become the Messages API's messages: one total, pure conversion, used on every path.

Whatever list of turns comes in, what goes out satisfies the API's rules: calls are answered, orphan and
duplicate results are left out, results come first and in call order, neighbours of one role are merged, ids
are unique, and the last word is the user's. The log is never touched; repair happens on the wire only.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from agent.core.turns import (
    AssistantTextTurn,
    NoticeTurn,
    ThinkingTurn,
    ToolCallTurn,
    ToolResultTurn,
    Turn,
    UserTurn,
    thaw,
)
from agent.transcript.read_only import ReadOnlyDict, ReadOnlyList

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
_references = getattr(sys, "getrefcount", lambda _value: 0)
_OURS_ALONE = 2  # the attribute and the argument

Message = dict[str, Any]


def to_messages(turns: Iterable[Turn], *, model: str = "", endpoint: str = "") -> list[Message]:
    """Return the messages of a request for this conversation. Total: any list of turns has an answer.

    They are the caller's own, to be changed at will.

    Args:
        turns: the conversation; kinds the API does not know are skipped.
        model: the model the request goes to, for which thinking may be replayed.
        endpoint: the server the request goes to, likewise.
    """
    conversion = Conversion(model=model, endpoint=endpoint)
    conversion.extend(turns)
    messages: list[Message] = thaw(conversion.messages())
    return messages


def last_user_turns(turns: Sequence[Turn], user_turns: int) -> list[Turn]:
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
        self._end: tuple[Message, ...] | None = None  # the open end as messages, until something is added
        self._in_answer = False  # the last turn was the assistant's
        self._is_unseen = False  # nothing of the answer that began last can be sent so far
        self._handed = ReadOnlyList()  # what `messages` returned last
        self._handed_final = 0  # how many final messages begin it
        self._ids: dict[str, int] = {}  # every wire id, and the last number it was told apart by
        self._replaced: list[tuple[str, int | None]] | None = None  # what `_ids` had, to be put back

    def extend(self, turns: Iterable[Turn]) -> None:
        """Take up further turns."""
        for turn in turns:
            self.add(turn)

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
                ReadOnlyDict(type="tool_use", id=wire, name=_wire_name(turn.tool_name), input=given)
            )
        elif isinstance(turn, ThinkingTurn):
            if self._replayable(turn):
                self._open_answer().append(_thinking(turn))
        elif isinstance(turn, NoticeTurn) and turn.kind == REFUSED:
            if not self._is_unseen and not self._said:
                self._forget_answer()
            self._in_answer = self._is_unseen = False
        self._end = None

    def messages(self) -> ReadOnlyList:
        """Return the messages of a request made now, read-only: later requests share them."""
        tail = self._open_end()
        if not self._final and (not tail or tail[0]["role"] == "assistant"):
            tail = (_user([_text(BEGIN if tail else GO_ON)]), *tail)
        messages = self._final_messages()
        _extend(messages, tail)
        if messages[-1]["role"] == "assistant":
            _append(messages, _user([_text(GO_ON)]))
        return messages

    def messages_with(self, turns: Iterable[Turn]) -> ReadOnlyList:
        """Return the messages of a request that says `turns` as well, without taking them up."""
        length, last = len(self._final), self._final[-1:]
        answer, calls, results, said = (
            self._answer.copy(),
            self._calls.copy(),
            self._results.copy(),
            self._said.copy(),
        )
        state = self._in_answer, self._is_unseen
        unanswered = {call_id: wires.copy() for call_id, wires in self._unanswered.items()}
        replaced: list[tuple[str, int | None]] = []
        self._replaced = replaced
        try:
            self.extend(turns)
            return self.messages()
        finally:
            self._replaced = None
            for wire, number in reversed(replaced):
                if number is None:
                    self._ids.pop(wire, None)  # it may be recorded twice
                else:
                    self._ids[wire] = number
            self._final[max(0, length - 1) :] = last  # another message may have been merged into the last
            self._handed_final = min(self._handed_final, max(0, length - 1))
            self._answer, self._calls, self._results, self._said = answer, calls, results, said
            self._end = None
            self._unanswered = unanswered
            self._in_answer, self._is_unseen = state

    def _final_messages(self) -> ReadOnlyList:
        """A list of the final messages to which `_append` may add.

        The list handed out last is taken up again when nobody kept it: a step then costs the same however
        long the conversation is.
        """
        done = self._handed_final
        if _references(self._handed) == _OURS_ALONE and (
            done == 0 or self._handed[done - 1] is self._final[done - 1]
        ):
            list.__delitem__(self._handed, slice(done, None))
            list.extend(self._handed, self._final[done:])
        else:
            self._handed = ReadOnlyList(self._final)
        self._handed_final = len(self._final)
        return self._handed

    def _open_end(self) -> tuple[Message, ...]:
        """The messages of the open answer and what follows it."""
        if self._end is None:
            self._end = tuple(self._made_end())
        return self._end

    def _made_end(self) -> list[Message]:
        answer = self._answer.copy()
        while answer and answer[-1]["type"] in ("thinking", "redacted_thinking"):
            answer.pop()  # thinking that led to nothing may not end a message
        # Nor may blanks end it; elsewhere they are the model's own.
        if answer and answer[-1]["type"] == "text":
            answer[-1] = _text(answer[-1]["text"].rstrip())
        tail: list[Message] = []
        if answer:
            tail.append(ReadOnlyDict(role="assistant", content=ReadOnlyList(answer)))
        replies = [self._results.get(wire) or _unanswered(wire) for wire in self._calls]
        replies += self._said
        if replies:
            tail.append(_user(replies))
        return tail

    def _open_answer(self) -> list[Message]:
        """The blocks to which an answer's next block is added; closes what came before it."""
        self._is_unseen = False
        if self._said or self._results:
            end = self._open_end()
            if not self._final and end and end[0]["role"] == "assistant":
                self._final.append(_user([_text(BEGIN)]))
            _extend(self._final, end)
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
        content = output if output and not output.isspace() else NO_OUTPUT
        result = {"type": "tool_result", "tool_use_id": wire, "content": content}
        self._results[wire] = ReadOnlyDict(result, is_error=True) if turn.is_error else ReadOnlyDict(result)

    def _wire_id(self, call_id: str) -> str:
        """An id the API takes and this conversation has not used: the call's own wherever possible."""
        is_plain = call_id.isascii() and call_id.isidentifier()  # as those of most servers, and sooner seen
        base = call_id if is_plain else _BAD_ID.sub("_", call_id) or "call"
        wire, number = base, self._ids.get(base, 1)
        while wire in self._ids:
            number += 1
            wire = f"{base}_{number}"
        if self._replaced is not None:
            self._replaced += [(wire, self._ids.get(wire)), (base, self._ids.get(base))]
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


@lru_cache(maxsize=256)
def _wire_name(name: str) -> str:
    """A tool's name as the API takes it."""
    return _BAD_ID.sub("_", name)[:_LONGEST_NAME] or "unnamed"


def _append(messages: list[Message], message: Message) -> None:
    """Add a message, to a read-only list too; one of the role before it is merged into a copy of that."""
    if messages and (last := messages[-1])["role"] == message["role"]:
        content = ReadOnlyList(last["content"] + message["content"])
        list.__setitem__(messages, -1, ReadOnlyDict(role=last["role"], content=content))
    else:
        list.append(messages, message)


def _extend(messages: list[Message], end: Sequence[Message]) -> None:
    """Add messages whose roles alternate; see `_append`."""
    if messages and end and messages[-1]["role"] == end[0]["role"]:
        _append(messages, end[0])
        end = end[1:]
    list.extend(messages, end)


def _text(content: str) -> Message:
    return ReadOnlyDict(type="text", text=content)


def _user(blocks: list[Message]) -> Message:
    return ReadOnlyDict(role="user", content=ReadOnlyList(blocks))


def _unanswered(wire: str) -> Message:
    return ReadOnlyDict(type="tool_result", tool_use_id=wire, content=NO_RESULT, is_error=True)


def _thinking(turn: ThinkingTurn) -> Message:
    if turn.redacted:
        return ReadOnlyDict(type="redacted_thinking", data=turn.redacted)
    return ReadOnlyDict(type="thinking", thinking=turn.content, signature=turn.signature)


def sendable_object(value: Mapping[str, Any]) -> Message:
    """Return a JSON object as a read-only copy that can be sent, whatever is in it."""
    result = _json(value, 0)
    return result if isinstance(result, dict) else ReadOnlyDict()


def _json(value: Any, depth: int) -> Any:
    """A read-only JSON value the wire can carry, whatever an application put into a call's input."""
    kind = type(value)
    if kind is str or isinstance(value, str):
        return sendable(value)
    if value is None or isinstance(value, int):  # truth values, too
        return value
    if isinstance(value, float):
        return value if abs(value) != float("inf") and value == value else None
    if depth < _DEEPEST:
        if kind is MappingProxyType or isinstance(value, Mapping):
            return ReadOnlyDict({sendable(str(key)): _json(item, depth + 1) for key, item in value.items()})
        if isinstance(value, (list, tuple)):
            return ReadOnlyList([_json(item, depth + 1) for item in value])
    return sendable(str(value))
