"""The requests of one run: made from the conversation as it stands, tried again where that makes sense."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from pydantic import BaseModel

from agent.core.cancellation import detach, race
from agent.core.errors import ApiKeyError, GaveUpWaiting, PersonaError
from agent.core.events import RetryWait
from agent.core.loop_config import AgentContext, GetApiKey
from agent.core.messages import sendable, sendable_object, to_messages
from agent.core.model import BlockEvent, ModelError, Request, ToolSpec, Usage
from agent.core.redaction import report
from agent.core.response_assembler import Answer, failure
from agent.core.retry import GiveUp, decide
from agent.core.run import Run
from agent.core.turns import ToolCallTurn, Turn, thaw

log = logging.getLogger(__name__)


class ModelRequests:
    """Keeps a run's conversation and asks the model.

    Attributes:
        turns: the conversation, with what the run added; it only grows.
        usage: tokens of the last request, its failed attempts included.
        requests: the same, for each attempt by itself.
        tools: what the model is offered.
    """

    def __init__(self, run: Run, context: AgentContext) -> None:
        self.turns: list[Turn] = list(context.turns)
        self.usage = Usage()
        self.requests: list[Usage] = []
        self._run = run
        self._config = run.config
        self._system_prompt = sendable(context.system_prompt)
        self.tools = list({tool.name: tool for tool in context.tools}.values())  # a name's last tool counts
        self._ids = {turn.tool_use_id for turn in self.turns if isinstance(turn, ToolCallTurn)}
        self._requested_at: float | None = None
        self._answer: Answer | None = None

    async def ask(self) -> Answer:
        """Make the request, again where that makes sense, and return what came of it, all turns ended."""
        run, config = self._run, self._config
        failures = 0
        self.usage = Usage()
        self.requests = []
        while True:
            self._answer = answer = Answer(run, self._ids, run.secrets.clean)
            if await self._is_time():
                await self._attempt(answer)
            await answer.close()
            run.usage += answer.usage
            self.usage += answer.usage
            self.requests.append(answer.usage)
            if answer.error is None or answer.shown or run.stopped is not None:
                return answer
            failures += 1
            verdict = decide(answer.error, failures, config.retry, config.random())
            if isinstance(verdict, GiveUp):
                answer.error = verdict.error
                return answer
            await run.emit(RetryWait, attempt=verdict.attempt, delay=verdict.delay, error=answer.error)
            if not await run.sleep_until(config.clock.now() + verdict.delay):
                answer.error = None
                return answer

    async def close(self) -> None:
        """End the turns of an answer that is still open, with what came of them."""
        if self._answer is not None:
            await self._answer.close()

    async def _attempt(self, answer: Answer) -> None:
        """One attempt at the request."""
        run, config = self._run, self._config
        try:
            request = await self._request()
            if run.stopped is not None:
                return
            self._requested_at = run.now()
            stream = config.model.stream(request)
        except GaveUpWaiting as error:
            if run.stopped is None:
                answer.error = ModelError("client", f"The request could not be prepared: {error}.")
            return
        except ApiKeyError as error:
            answer.error = ModelError("client", str(error))
            return
        except Exception as error:  # noqa: BLE001 - functions of the application
            answer.error = failure("The request", error, run.secrets.clean)
            return
        await self._read(stream, answer)

    async def _read(self, stream: AsyncIterator[BlockEvent], answer: Answer) -> None:
        """Pull the events of one attempt until its end or the run's stop."""
        silence = self._config.limits.max_silence
        reader = StreamReader(self._run, stream, silence)
        try:
            while not (answer.complete or answer.error) and await reader.pull():
                await answer.take(reader.event)
        except Exception as error:  # noqa: BLE001 - the events of a model may hold anything
            answer.fail(error)
        await reader.close()
        if reader.error is not None and not answer.complete:
            answer.fail(reader.error)
        elif reader.is_late and self._run.stopped is None and not answer.complete and answer.error is None:
            message = f"Nothing came from the model for {silence:.0f} s; the request was given up."
            answer.error = ModelError("stall", message, retryable=True)

    async def _request(self) -> Request:
        """The request for the conversation as it stands."""
        config = self._config
        turns: Sequence[Turn] = list(self.turns)
        if config.transform_context is not None:
            turns = await self._run.call(config.transform_context, turns)
        messages: Sequence[Mapping[str, Any]]
        if config.convert_to_llm is None:
            messages = to_messages(turns, model=self._run.model_name, endpoint=self._run.model_endpoint)
        else:
            messages = await self._run.call(config.convert_to_llm, list(turns))
            if not isinstance(messages, list | tuple):
                raise TypeError(f"convert_to_llm gave {type(messages).__name__}, not a list of messages")
        return Request(
            system=self._system_prompt,
            messages=messages,
            tools=[
                ToolSpec(sendable(tool.name), sendable(tool.description), thaw(schema_of(tool.input)))
                for tool in self.tools
            ],
            thinking=config.thinking,
            max_tokens=config.max_tokens,
            session_id=config.session_id,
            api_key=None if config.get_api_key is None else await self._api_key(config.get_api_key),
        )

    async def _api_key(self, get_api_key: GetApiKey) -> str | None:
        """The key for one request; nothing that is said of a failure holds it from now on.

        Raises:
            ApiKeyError: it could not be got; of what was raised the message has only the type, for the key may stand in it.
            PersonaError: the same, in words that were written to be shown.
        """
        run = self._run
        try:
            key = await run.call(get_api_key)
        except (GaveUpWaiting, PersonaError):
            raise
        except Exception as error:  # noqa: BLE001 - a function of the application
            kind = type(error).__name__
            raise ApiKeyError(f"The API key could not be got: get_api_key raised {kind}.") from None
        if key is not None and not isinstance(key, str):
            raise TypeError(f"get_api_key gave {type(key).__name__}, not text")
        run.secrets.keep_out(key)
        return key

    async def _is_time(self) -> bool:
        """Keep the least time between requests; False when the run was stopped."""
        interval = self._config.limits.min_request_interval
        if self._requested_at is None or interval <= 0:
            return self._run.stopped is None
        return await self._run.sleep_until(self._requested_at + interval)


class StreamReader:
    """A model's stream in a task of its own, which hands over one event whenever it is asked for one.

    Args:
        run: the run that reads it; its stop ends the reading.
        stream: what `Model.stream` returned.
        silence: seconds that one event may take, or None.

    Attributes:
        event: the event that came last.
        is_late: whether an event took too long.
        error: what the stream raised.
    """

    def __init__(self, run: Run, stream: AsyncIterator[BlockEvent], silence: float | None) -> None:
        self.event: Any = None
        self.is_late = False
        self.error: BaseException | None = None
        self._run = run
        self._silence = silence
        self._loop = asyncio.get_running_loop()
        self._closed = False
        self._came = False
        self._asked_at: float | None = None
        self._asked: asyncio.Future[None] | None = None  # the reading task waits for it between two events
        self._waiter: asyncio.Future[None] | None = None  # the run waits for it
        self._timer = None if silence is None else run.config.clock.call_later(silence, self._check_silence)
        self._task = asyncio.create_task(self._read(stream))
        self._task.add_done_callback(self._wake)
        run.scope.add_callback(self._wake)

    async def pull(self) -> bool:
        """Wait for the next event; return False when there is none: at the end, after a stop, when it is late."""
        if self._run.scope.is_cancelled or self._task.done():
            return False
        self._came = False
        self._asked_at = self._run.now()
        self._waiter = self._loop.create_future()
        if self._asked is not None:
            self._asked.set_result(None)
            self._asked = None
        await self._waiter
        self._waiter = self._asked_at = None
        return self._came and not self._run.scope.is_cancelled

    async def close(self) -> None:
        """Close the stream; a task that does not end within the grace period is left behind."""
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
        self._run.scope.remove_callback(self._wake)
        grace = self._run.config.grace
        if self._asked is not None:  # it is between two events
            self._asked.set_result(None)
            await race(self._task, within=grace)
            self._task.cancel()
        else:
            self._task.cancel()
            await race(self._task, within=grace)
        detach(self._task)

    async def _read(self, stream: AsyncIterator[BlockEvent]) -> None:
        """Go through the stream, one event a `pull`."""
        if self._run.stopped is not None:
            return  # stopped before the request left: it does not leave any more
        try:
            async for event in stream:
                if self._closed:
                    break
                self.event, self._came = event, True
                self._asked = asked = self._loop.create_future()
                self._wake()
                await asked
                if self._closed:
                    break
        except asyncio.CancelledError as error:
            if not self._task.cancelling():  # else it is ours
                self.error = error
        except Exception as error:  # noqa: BLE001 - a model must not raise; if it does, the run ends cleanly
            self.error = error
        await self._close_stream(stream)

    async def _close_stream(self, stream: object) -> None:
        """Have the model clear up; what that raises changes nothing."""
        close = getattr(stream, "aclose", None)
        if close is None:
            return
        try:
            await close()
        except Exception as error:  # noqa: BLE001 - the model's own clearing up
            report(log, "a model's stream could not be closed", error, self._run.secrets.clean)

    def _wake(self, _done: object = None) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def _check_silence(self) -> None:
        """The time that listeners take does not count: it begins when an event is asked for."""
        assert self._silence is not None
        asked_at = self._run.now() if self._asked_at is None else self._asked_at
        left = asked_at + self._silence - self._run.now()
        self.is_late = left <= 0.001
        if self.is_late:
            self._wake()
        else:
            self._timer = self._run.config.clock.call_later(left, self._check_silence)


@lru_cache(maxsize=256)
def schema_of(model: type[BaseModel]) -> Mapping[str, Any]:
    """Return the input of a tool as a JSON Schema object, made when it is first asked for."""
    schema = {**model.model_json_schema(), "additionalProperties": False}  # as `validate` has it
    return sendable_object(schema)
