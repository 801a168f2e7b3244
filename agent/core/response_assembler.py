"""One answer of the model: its block events become turns, in the order in which the blocks began."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import isinf
from typing import Any

from agent.core.events import ModelNotice, TurnDelta, TurnStart
from agent.core.model import (
    BlockDelta,
    BlockEnd,
    BlockEvent,
    BlockStart,
    Done,
    Failed,
    ModelError,
    Notice,
    Usage,
    UsageSoFar,
    Waiting,
)
from agent.core.redaction import text_of
from agent.core.run import Run
from agent.core.turns import (
    DEEPEST,
    AssistantTextTurn,
    ThinkingTurn,
    ToolCallTurn,
    nesting_exceeds,
    new_id,
)

CUT_BEFORE_INPUT = (
    "Not run: the call was cut before its input was complete. Send it again, shorter if it was long."
)

NO_STOP_REASON = "The answer broke off: the server ended it without a stop reason."
_LONGEST_ERROR = 2_000  # characters
_BLOCK_KINDS = ("text", "thinking", "tool_call")

BlockTurn = AssistantTextTurn | ThinkingTurn | ToolCallTurn


@dataclass(slots=True)
class _OpenBlock:
    """A block on its way: its turn in its first state, the pieces so far, and its end once that came."""

    turn: BlockTurn
    parts: list[str] = field(default_factory=list)
    end: BlockEnd | None = None

    @property
    def kind(self) -> str:
        return self.turn.type.removeprefix("assistant_")


class Answer:
    """Collects one attempt's events.

    Args:
        run: the run it belongs to.
        known_ids: the wire ids of the calls so far; those of this answer are added.
        clean: takes out of a text what must not be shown.

    Attributes:
        complete: a stop reason arrived and no error.
        stop_reason: as the server gave it.
        error: why the attempt failed, if it did.
        usage: the last report.
        shown: whether anything of the answer was shown; then it is not tried again.
        has_words: whether an ended text of it has words.
        calls: the finished tool calls, in order.
        raw: the input of each as it came, by the id of its turn.
    """

    def __init__(self, run: Run, known_ids: set[str], clean: Callable[[str], str] = str) -> None:
        self.complete = False
        self.stop_reason = ""
        self.error: ModelError | None = None
        self.usage = Usage()
        self.shown = False
        self.has_words = False
        self.calls: list[ToolCallTurn] = []
        self.raw: dict[str, str] = {}
        self._run = run
        self._clean = clean
        self._known_ids = known_ids
        self._open: deque[_OpenBlock] = deque()  # those whose turn has not ended, in order of their start
        self._blocks: dict[int, _OpenBlock] = {}  # the newest of each number
        self._unknown: list[object] = []  # kinds of blocks that were left out
        self._left_out: set[int] = set()  # their numbers
        self._notified: set[str] = set()

    def fail(self, error: BaseException) -> None:
        """Note what the model raised."""
        self.complete = False
        self.error = failure("The model", error, self._clean)

    async def close(self) -> None:
        """End every open turn; what was cut is marked."""
        if not self.complete and self.error is None and self._run.stopped is None:
            self.error = ModelError("incomplete", NO_STOP_REASON, retryable=True)
        whole = self.complete and self.stop_reason not in ("max_tokens", "model_context_window_exceeded")
        while self._open:
            await self._end(self._open[0], interrupted=not whole and len(self._open) == 1)
            self._open.popleft()

    async def take(self, event: BlockEvent) -> None:
        """Take one event of the stream; what is none is left out.

        Raises:
            Exception: the event holds what it must not hold.
        """
        if isinstance(event, BlockDelta):
            await self._add_text(event)
        elif isinstance(event, BlockStart):
            await self._start(event)
        elif isinstance(event, BlockEnd):
            block = self._blocks.get(event.block)
            if block is not None and block.end is None:
                block.end = event
        elif isinstance(event, Done):
            self.usage = event.usage
            if event.stop_reason.strip():
                self.complete, self.stop_reason = True, event.stop_reason
            else:
                self.error = ModelError("incomplete", NO_STOP_REASON, retryable=True)
        elif isinstance(event, Failed):
            self.usage = event.usage
            message = self._clean(event.error.message)[:_LONGEST_ERROR]
            self.error = replace(event.error, message=message)
        elif isinstance(event, UsageSoFar):
            self.usage = event.usage
        elif isinstance(event, Notice):
            await self._run.emit(ModelNotice, message=self._clean(event.message))
        elif isinstance(event, Waiting):
            message = f"Waiting for the model, {event.seconds:.0f} s so far."
            await self._run.emit(ModelNotice, message=message, waiting=event.seconds)

    async def _add_text(self, event: BlockDelta) -> None:
        """Add to an open block, which is started where the model did not do it."""
        block = self._blocks.get(event.block)
        if not event.text:
            return
        if block is None or block.end is not None:
            block = await self._start_anyway(event.block, block)
        if block is not None:
            block.parts.append(event.text)
            await self._run.emit(TurnDelta, turn_id=block.turn.id, text=event.text)

    async def _start(self, event: BlockStart) -> None:
        """Begin a turn; finished turns before it are ended first, in order.

        The last block's turn stays open until something follows it: only then is it known whether the
        answer went on or was cut there.
        """
        run = self._run
        if event.kind not in _BLOCK_KINDS:
            self._left_out.add(event.block)
            if event.kind not in self._unknown:
                self._unknown.append(event.kind)
                message = f"The model sent a block of an unknown kind ({event.kind!s:.40}); it was left out."
                await run.emit(ModelNotice, message=message)
            return
        former = self._blocks.get(event.block)
        if former is not None and former.end is None:
            if _says_the_same(former, event):
                return  # a second start of an open block says nothing new
            former.end = BlockEnd(event.block, complete=False)  # its number is used again
        if self._left_out:
            self._left_out.discard(event.block)
        while self._open and self._open[0].end is not None:
            await self._end(self._open[0], interrupted=False)
            self._open.popleft()
        if run.stopped is not None:  # by a listener of that end: nothing is opened any more
            return
        turn: BlockTurn
        if event.kind == "text":
            turn = AssistantTextTurn(content="")
        elif event.kind == "thinking":
            turn = ThinkingTurn(content="", model=run.model_name, endpoint=run.model_endpoint)
        else:
            turn = ToolCallTurn(
                tool_use_id=self._unique(event.tool_use_id), tool_name=event.tool_name, input={}
            )
        self._blocks[event.block] = block = _OpenBlock(turn)
        self._open.append(block)
        self.shown = True
        try:
            await run.emit(TurnStart, turn=turn)
        except Exception:
            self._open.pop()  # no listener heard that it began
            raise

    async def _start_anyway(self, number: int, former: _OpenBlock | None) -> _OpenBlock | None:
        """Return a block for text that came without a start or after an end, None where it is left out or too late.

        What follows the end of a tool call is no part of its input, which was whole.
        """
        if number in self._left_out:
            return None  # a notice says so
        if former is not None and former.kind == "tool_call":
            message = "The model sent more of a tool call after its end; it was left out."
            if message not in self._notified:
                self._notified.add(message)
                await self._run.emit(ModelNotice, message=message)
            return None
        await self._start(BlockStart(number, "thinking" if former and former.kind == "thinking" else "text"))
        return self._blocks[number] if self._run.stopped is None else None

    async def _end(self, block: _OpenBlock, *, interrupted: bool) -> None:
        turn, end = block.turn, block.end
        value: dict[str, Any] = {}
        if isinstance(turn, AssistantTextTurn):
            unfinished = interrupted or (end is None and not self.complete)
            turn = replace(turn, content="".join(block.parts), interrupted=unfinished)
            self.has_words = self.has_words or bool(turn.content.strip())
        elif isinstance(turn, ThinkingTurn):
            turn = replace(
                turn,
                content="".join(block.parts),
                signature=end.signature if end else "",
                redacted=end.redacted if end else "",
                interrupted=end is None or not end.complete,
            )
        else:
            if end is None or not end.complete:
                fault = CUT_BEFORE_INPUT
                self.raw[turn.id] = "".join(block.parts)
            else:
                raw = end.input_json or "".join(block.parts)
                value, fault = parse_input(raw)
                self.raw[turn.id] = raw
            turn = ToolCallTurn(
                tool_use_id=turn.tool_use_id,
                tool_name=turn.tool_name,
                input=value,
                fault=fault,
                id=turn.id,
                created_at=turn.created_at,
            )
        await self._run.end_turn(turn)
        if isinstance(turn, ToolCallTurn):
            self.calls.append(turn)

    def _unique(self, wire_id: str) -> str:
        """The server's id, or one of ours when it is missing or was used before in this conversation."""
        if not wire_id or wire_id in self._known_ids:
            wire_id = new_id("toolu")
        self._known_ids.add(wire_id)
        return wire_id


def _says_the_same(block: _OpenBlock, start: BlockStart) -> bool:
    """Whether a start for the number of an open block repeats the start of that block."""
    turn = block.turn
    if block.kind != start.kind:
        return False
    return not isinstance(turn, ToolCallTurn) or start.tool_name in ("", turn.tool_name)


def parse_input(text: str) -> tuple[dict[str, Any], str]:
    """Return a call's input from its streamed JSON, and the fault in words for the model ("" when none)."""
    if not text.strip():
        return {}, ""
    try:
        value = _STRICT_JSON.decode(text)
    except (ValueError, RecursionError) as error:
        problem = "nested too deeply" if isinstance(error, RecursionError) else text_of(error)
        return {}, f"Not run: the input is no valid JSON ({problem}). Send the call again."
    if not isinstance(value, dict):
        return {}, "Not run: the input must be a JSON object. Send the call again."
    if nesting_exceeds(value, DEEPEST):
        return {}, f"Not run: the input is nested deeper than {DEEPEST} levels."
    return value, ""


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not allowed")


def _number(digits: str) -> float:
    number = float(digits)
    if isinf(number):
        raise ValueError(f"{digits[:30]} is too large for a number")
    return number


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("the same key occurs twice in an object")
    return value


_STRICT_JSON = json.JSONDecoder(
    parse_constant=_refuse_constant, parse_float=_number, object_pairs_hook=_unique_keys
)


def failure(who: str, error: BaseException, clean: Callable[[str], str] = str) -> ModelError:
    """Return one line for a failure of code given to us: what it was, `clean`, without its chain."""
    text = " ".join(clean(text_of(error)).split())[:200]
    return ModelError("client", f"{who} failed: {type(error).__name__}{': ' if text else ''}{text}")
