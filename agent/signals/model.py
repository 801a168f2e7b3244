"""A model in whose answers signals become tool calls: all else, and what is stored, is as if the model had made these calls."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from agent.core.errors import InvalidInput
from agent.core.model import (
    BlockDelta,
    BlockEnd,
    BlockEvent,
    BlockStart,
    Done,
    Failed,
    Model,
    Notice,
    Request,
    endpoint_of,
    name_of,
)
from agent.core.tool_validation import validate
from agent.core.turns import ToolCallTurn, new_id
from agent.models.context_fallback import closing
from agent.signals.parser import InvalidSignal, Piece, Signal, SignalParser
from agent.tools.use_actions import action_tools

MOST_ACTIONS = 20
"""Actions in one signal."""

_TOOLS = {
    "GENERATE_ACTIONS": "create_action",
    "GENERATE_ASSET": "create_asset",
    "STORE_MEASUREMENT": "store_measurement",
}


_ID = "signal"


def is_signal(call: ToolCallTurn) -> bool:
    """Return whether a call was written as text."""
    return call.tool_use_id.startswith(f"{_ID}_")


class TextToolCallModel:
    """Another model, whose signals become calls of tools.

    Args:
        model: the model that is asked.
        on_signal: called before the first call of a signal, so that its tool is there.
    """

    def __init__(self, model: Model, on_signal: Callable[[], None]) -> None:
        self.model = model
        self._on_signal = on_signal

    @property
    def name(self) -> str:
        """The name of the model that is asked."""
        return name_of(self.model)

    @property
    def endpoint(self) -> str:
        """The endpoint of the model that is asked."""
        return endpoint_of(self.model)

    async def stream(self, request: Request) -> AsyncIterator[BlockEvent]:
        """See `Model.stream`; a `Notice` says of a signal that it is malformed."""
        answer = _Answer(self._on_signal)
        async with closing(self.model.stream(request)) as events:
            async for event in events:
                for one in answer.take(event):
                    yield one


@dataclass
class _Text:
    """A text block on its way: its number once it has begun, and whether a signal ended just now."""

    parser: SignalParser = field(default_factory=SignalParser)
    number: int | None = None
    is_behind_signal: bool = False


class _Answer:
    """The events of one answer, with blocks numbered anew, since a text with a signal becomes several."""

    def __init__(self, on_signal: Callable[[], None]) -> None:
        self._on_signal = on_signal
        self._numbers: dict[int, int] = {}  # by the model's numbers: of blocks that have begun
        self._texts: dict[int, _Text] = {}
        self._next = 0

    def take(self, event: BlockEvent) -> Iterator[BlockEvent]:
        """Give what is to go on for an event."""
        if isinstance(event, BlockStart):
            if event.block in self._texts:
                if event.kind == "text":
                    return  # a second start of an open block says nothing new
                yield from self._end(BlockEnd(event.block, complete=False))
            if event.kind == "text":
                self._texts[event.block] = _Text()
            else:
                yield replace(event, block=self._new(event.block))
        elif isinstance(event, BlockDelta):
            if (text := self._texts.get(event.block)) is not None:
                yield from self._give(text, text.parser.feed(event.text))
            else:
                yield replace(event, block=self._number(event.block))
        elif isinstance(event, BlockEnd):
            if event.block in self._texts:
                yield from self._end(event)
            else:
                yield replace(event, block=self._number(event.block))
        else:
            for text in self._texts.values() if isinstance(event, Done | Failed) else ():
                # An answer of which nothing was shown may be asked for again.
                if isinstance(event, Done) or text.number is not None or text.is_behind_signal:
                    yield from self._give(text, text.parser.end())
            yield event

    def _end(self, event: BlockEnd) -> Iterator[BlockEvent]:
        text = self._texts.pop(event.block)
        yield from self._give(text, text.parser.end())
        if text.number is None and not text.is_behind_signal:
            text.number = self._new()
            yield BlockStart(text.number, "text")  # a block without a word
        if text.number is not None:
            self._numbers[event.block] = text.number
            yield replace(event, block=text.number)

    def _give(self, text: _Text, pieces: Iterable[Piece]) -> Iterator[BlockEvent]:
        for piece in pieces:
            if isinstance(piece, InvalidSignal):
                yield _refused(piece.word, f"{piece.why}.")
                continue
            said = piece
            if isinstance(piece, Signal):
                try:
                    calls = _calls(piece)
                except InvalidInput as error:
                    yield _refused(piece.word, str(error))
                    said = piece.text
                else:
                    yield from self._call(text, calls)
                    continue
            assert isinstance(said, str)
            if text.is_behind_signal:
                said = said.lstrip("\r\n")
            if not said:
                continue
            if text.number is None:
                text.number, text.is_behind_signal = self._new(), False
                yield BlockStart(text.number, "text")
            yield BlockDelta(text.number, said)

    def _call(self, text: _Text, calls: Iterable[tuple[str, Any]]) -> Iterator[BlockEvent]:
        if text.number is not None:
            yield BlockEnd(text.number)
        text.number, text.is_behind_signal = None, True
        self._on_signal()
        for name, given in calls:
            number = self._new()
            yield BlockStart(number, "tool_call", new_id(_ID), name)
            yield BlockEnd(number, input_json=json.dumps(given))

    def _new(self, of: int | None = None) -> int:
        self._next += 1
        if of is not None:
            self._numbers[of] = self._next - 1
        return self._next - 1

    def _number(self, block: int) -> int:
        return self._numbers[block] if block in self._numbers else self._new(block)


def _calls(signal: Signal) -> list[tuple[str, dict[str, Any]]]:
    """Return the calls that a signal is, each as valid as it can be seen without making it.

    Raises:
        InvalidInput: one of them is not; then it is none.
    """
    tool = action_tools()[_TOOLS[signal.word]]
    inputs = [signal.value]
    if signal.word == "GENERATE_ACTIONS":
        actions = signal.value.get("actions")
        if (
            signal.value.keys() != {"actions"}
            or not isinstance(actions, list)
            or not 0 < len(actions) <= MOST_ACTIONS
        ):
            raise InvalidInput(
                f'It holds {{"actions": […]}} with 1 to {MOST_ACTIONS} actions, and nothing else.'
            )
        inputs = actions
    for given in inputs:
        if not isinstance(given, dict):
            raise InvalidInput("Each action is an object.")
        validate(tool, given)
    return [(tool.name, given) for given in inputs]


def _refused(word: str, why: str) -> Notice:
    return Notice(f"Nothing was done for the signal {word}, which is shown as text: {why}")
