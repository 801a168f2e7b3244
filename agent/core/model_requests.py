"""The requests of one run: made from the conversation as it stands, tried again where that makes sense."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from pydantic import BaseModel

from agent.core.events import RetryWait
from agent.core.loop_config import AgentContext, GetApiKey
from agent.core.messages import sendable, sendable_object
from agent.core.model import ModelError, Request, ToolSpec, Usage
from agent.core.owned_task import begin_plainly
from agent.core.response_assembler import Answer, failure
from agent.core.retry import GiveUp, decide
from agent.core.run import Cut, Fault, Run
from agent.core.turns import ToolCallTurn, Turn
from agent.transcript.incremental_conversion import Sent
from agent.transcript.stretch import Stretch
from personas.errors import PersonaError

_NOTHING_USED = Usage()


class KeyUnknown(Exception):
    """Who was to give the key failed."""


class Asking:
    """Keeps a run's conversation and asks the model.

    Attributes:
        turns: the conversation, with what the run added; it only grows.
        usage: tokens of the last request, its failed attempts included.
        requests: the same, for each attempt by itself.
    """

    def __init__(self, run: Run, context: AgentContext) -> None:
        self.turns: list[Turn] = list(context.turns)
        self.usage = Usage()
        self.requests: list[Usage] = []
        self._run = run
        self._config = run.config
        self._system_prompt = sendable(context.system_prompt)
        self._tools = list({tool.name: tool for tool in context.tools}.values())  # a name's last tool counts
        self._specs: tuple[ToolSpec, ...] | None = None
        self._ids = {turn.tool_use_id for turn in self.turns if isinstance(turn, ToolCallTurn)}
        self._sent = Sent(model=run.model_name, endpoint=run.model_endpoint)
        self._requested_at: float | None = None
        self._answer: Answer | None = None

    async def ask(self) -> Answer:
        """Make the request, again where that makes sense, and return what came of it, all turns ended."""
        run, config = self._run, self._config
        failures = 0
        self.usage = _NOTHING_USED
        self.requests = []
        while True:
            self._answer = answer = Answer(run, self._ids, run.secrets.clean)
            if await self._is_time():
                await self._attempt(answer)
            await answer.close()
            run.usage += answer.usage
            self.usage = self.usage + answer.usage if failures else answer.usage
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
            self._requested_at = answer.last_at = run.now()
            stream = config.model.stream(request)
            task = begin_plainly(answer.read(stream), run.loop)
        except Cut as cut:
            if run.stopped is None:
                answer.error = ModelError("client", f"The request could not be prepared: {cut}.")
            return
        except KeyUnknown as error:
            answer.error = ModelError("client", str(error))
            return
        except BaseException as error:  # noqa: BLE001 - functions of the application
            answer.error = failure("The request", run.fault(error), run.secrets.clean)
            return
        silence = config.limits.max_silence
        if silence is None:
            await run.watch(task)
        elif (
            await run.watch(task, lambda: answer.last_at, silence)
            and run.stopped is None
            and not answer.complete
        ):
            message = f"Nothing came from the model for {silence:.0f} s; the request was given up."
            answer.error = ModelError("stall", message, retryable=True)

    async def _request(self) -> Request:
        """The request for the conversation as it stands."""
        run, config = self._run, self._config
        within = config.limits.hook_timeout
        turns: Sequence[Turn] = self.turns
        if config.transform_context is not None:
            turns = await run.call(config.transform_context, Stretch(self.turns), within=within)
        messages: Sequence[Mapping[str, Any]]
        if config.convert_to_llm is None:
            whole = self.turns, 0, len(self.turns)
            messages = self._sent.messages_at(whole) if turns is self.turns else self._sent.messages(turns)
        else:
            messages = await run.call(config.convert_to_llm, list(turns), within=within)
            if not isinstance(messages, list | tuple):
                raise TypeError(f"convert_to_llm gave {type(messages).__name__}, not a list of messages")
        return Request.make(
            system=self._system_prompt,
            messages=messages,
            tools=self._specs or self._tool_specs(),
            thinking=config.thinking,
            max_tokens=config.max_tokens,
            session_id=config.session_id,
            api_key=None if config.get_api_key is None else await self._api_key(config.get_api_key),
        )

    async def _api_key(self, get_api_key: GetApiKey) -> str | None:
        """The key for one request; nothing that is said of a failure holds it from now on.

        Raises:
            KeyUnknown: it could not be got; of what was raised only the type is told, for the key may stand in it.
            PersonaError: the same, in words that were written to be shown.
        """
        run, config = self._run, self._config
        try:
            key = await run.call(get_api_key, within=config.limits.hook_timeout)
        except (Cut, PersonaError):
            raise
        except Exception as error:  # noqa: BLE001 - a function of the application
            kind = type(error.__cause__ or error if isinstance(error, Fault) else error).__name__
            raise KeyUnknown(f"The API key could not be got: get_api_key raised {kind}.") from None
        if key is not None and not isinstance(key, str):
            raise TypeError(f"get_api_key gave {type(key).__name__}, not text")
        run.secrets.keep_out(key)
        return key

    def _tool_specs(self) -> tuple[ToolSpec, ...]:
        if self._specs is None:
            self._specs = tuple(
                [
                    ToolSpec(sendable(tool.name), sendable(tool.description), _schema(tool.input))
                    for tool in self._tools
                ]
            )
        return self._specs

    async def _is_time(self) -> bool:
        """Keep the least time between requests; False when the run was stopped."""
        interval = self._config.limits.min_request_interval
        if self._requested_at is None or interval <= 0:
            return self._run.stopped is None
        return await self._run.sleep_until(self._requested_at + interval)


@lru_cache(maxsize=256)
def _schema(model: type[BaseModel]) -> Mapping[str, Any]:
    schema = model.model_json_schema()
    if "extra" not in model.model_config:
        schema.setdefault("additionalProperties", False)  # as the check of its input has it
    return sendable_object(schema)
