"""One answer of the model: its block events become turns, in the order in which the blocks began."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from typing import Any

from agent.events import ModelNotice, TurnDelta, TurnStart
from agent.models.base import (
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
from agent.run import Run
from agent.turns import (
    DEEPEST,
    AssistantTextTurn,
    ThinkingTurn,
    ToolCallTurn,
    freeze,
    nesting_exceeds,
    new_id,
)

CUT_BEFORE_INPUT = (
    "Not run: the call was cut before its input was complete. Send it again, shorter if it was long."
)

BlockTurn = AssistantTextTurn | ThinkingTurn | ToolCallTurn


@dataclass(slots=True)
class _Block:
    """A block on its way: its turn in its first state, the pieces so far, and its end once that came."""

    turn: BlockTurn
    parts: list[str] = field(default_factory=list)
    end: BlockEnd | None = None


class Answer:
    """Collects one attempt's events.

    Attributes:
        complete: a stop reason arrived and no error.
        stop_reason: as the server gave it.
        error: why the attempt failed, if it did.
        usage: the last report.
        shown: whether anything of the answer was shown; then it is not tried again.
        calls: the finished tool calls, in order.
        last_at: the clock's time of the last event.
    """

    def __init__(self, run: Run, known_ids: set[str]) -> None:
        self.complete = False
        self.stop_reason = ""
        self.error: ModelError | None = None
        self.usage = Usage()
        self.shown = False
        self.calls: list[ToolCallTurn] = []
        self.last_at = run.config.clock.now()
        self._run = run
        self._known_ids = known_ids
        self._blocks: dict[int, _Block] = {}  # those whose turn has not ended, in order of their start
        self._closed = False

    async def read(self, stream: AsyncIterator[BlockEvent]) -> None:
        """Take the events of one attempt until its end or the run's stop. Runs in a task of its own."""
        run = self._run
        now = run.config.clock.now
        try:
            async for event in stream:
                if run.stopped is not None or self._closed:
                    return
                self.last_at = now()
                if type(event) is BlockDelta:
                    block = self._blocks.get(event.block)
                    if block is not None and block.end is None and event.text:
                        block.parts.append(event.text)
                        await run.emit(TurnDelta, turn_id=block.turn.id, text=event.text)
                else:
                    await self._take(event)
                if run.stopped is not None or self.complete or self.error is not None:
                    return
        except Exception as error:  # noqa: BLE001 - a model must not raise; if it does, the run ends cleanly
            self.error = failure("The model", error)
        finally:
            close = getattr(stream, "aclose", None)
            if close is not None:
                await close()

    async def close(self) -> None:
        """End every open turn; what was cut is marked. Nothing the stream still says counts from now on."""
        self._closed = True
        if not self.complete and self.error is None and self._run.stopped is None:
            message = "The answer broke off: the server ended it without a stop reason."
            self.error = ModelError("incomplete", message, retryable=True)
        whole = self.complete and self.stop_reason not in ("max_tokens", "model_context_window_exceeded")
        blocks = list(self._blocks.values())
        self._blocks = {}
        for block in blocks:
            await self._end(block, interrupted=not whole and block is blocks[-1])

    async def _take(self, event: BlockEvent) -> None:
        if isinstance(event, BlockStart):
            await self._start(event)
        elif isinstance(event, BlockEnd):
            block = self._blocks.get(event.block)
            if block is not None and block.end is None:
                block.end = event
        elif isinstance(event, Done):
            self.complete, self.stop_reason, self.usage = True, event.stop_reason, event.usage
        elif isinstance(event, Failed):
            self.error, self.usage = event.error, event.usage
        elif isinstance(event, UsageSoFar):
            self.usage = event.usage
        elif isinstance(event, Notice):
            await self._run.emit(ModelNotice, message=event.message)
        elif isinstance(event, Waiting):
            message = f"Waiting for the model, {event.seconds:.0f} s so far."
            await self._run.emit(ModelNotice, message=message, waiting=event.seconds)

    async def _start(self, event: BlockStart) -> None:
        """Begin a turn; finished turns before it are ended first, in order.

        The last block's turn stays open until something follows it: only then is it known whether the
        answer went on or was cut there.
        """
        while self._blocks and next(iter(self._blocks.values())).end is not None:
            await self._end(self._blocks.pop(next(iter(self._blocks))), interrupted=False)
        if event.block in self._blocks:
            return  # a second start of an open block says nothing new
        model = self._run.config.model
        turn: BlockTurn
        if event.kind == "text":
            turn = AssistantTextTurn(content="")
        elif event.kind == "thinking":
            turn = ThinkingTurn(content="", model=model.name, endpoint=model.endpoint)
        else:
            turn = ToolCallTurn(
                tool_use_id=self._unique(event.tool_use_id), tool_name=event.tool_name, input=freeze({})
            )
        self._blocks[event.block] = _Block(turn)
        self.shown = True
        await self._run.emit(TurnStart, turn=turn)

    async def _end(self, block: _Block, *, interrupted: bool) -> None:
        turn, end = block.turn, block.end
        value: dict[str, Any] = {}
        if isinstance(turn, AssistantTextTurn):
            unfinished = interrupted or (end is None and not self.complete)
            turn = replace(turn, content="".join(block.parts), interrupted=unfinished)
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
            else:
                value, fault = parse_input(end.input_json)
            turn = replace(turn, input=freeze(value), fault=fault)
            self.calls.append(turn)
        await self._run.end_turn(turn)

    def _unique(self, wire_id: str) -> str:
        """The server's id, or one of ours when it is missing or was used before in this conversation."""
        if not wire_id or wire_id in self._known_ids:
            wire_id = new_id("toolu")
        self._known_ids.add(wire_id)
        return wire_id


def parse_input(text: str) -> tuple[dict[str, Any], str]:
    """Return a call's input from its streamed JSON, and the fault in words for the model ("" when none)."""
    if not text.strip():
        return {}, ""
    try:
        value = json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_unique_keys)
    except (ValueError, RecursionError) as error:
        problem = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        return {}, f"Not run: the input is no valid JSON ({problem}). Send the call again."
    if not isinstance(value, dict):
        return {}, "Not run: the input must be a JSON object. Send the call again."
    if nesting_exceeds(value, DEEPEST):
        return {}, f"Not run: the input is nested deeper than {DEEPEST} levels."
    return value, ""


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not allowed")


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("the same key occurs twice in an object")
    return value


def failure(who: str, error: BaseException) -> ModelError:
    """Return one line for a failure of code given to us: what it was, without its chain."""
    text = " ".join(str(error).split())[:200]
    return ModelError("client", f"{who} failed: {type(error).__name__}{': ' if text else ''}{text}")
