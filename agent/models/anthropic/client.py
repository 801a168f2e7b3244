"""`AnthropicModel`: any server that speaks the Messages API, over HTTP.

Requests are those of the official SDK (`tests/agent/models/test_sdk_requests.py`), which takes seconds to import.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from agent.core.clock import Clock, SystemClock
from agent.core.model import (
    BlockEvent,
    Failed,
    ModelError,
    Notice,
    Request,
    Waiting,
    is_count,
)
from agent.models.anthropic import batches, endpoint_profiles, error_body, error_mapping
from agent.models.anthropic.endpoint import (
    OFFICIAL,
    check_base_url,
    check_key,
    hide_secrets,
    is_official,
    normalise_base_url,
)
from agent.models.anthropic.endpoint_profiles import EndpointProfile, Profiles
from agent.models.anthropic.error_mapping import ModelFailure, Where
from agent.models.anthropic.request_body import FEWEST_CHARACTERS, USUAL_CONTEXT, build_body, length_of
from agent.models.anthropic.stall_timeouts import StallClocks, StallLimits, waiting_for
from agent.models.anthropic.stream import Put, transfer
from agent.models.anthropic.stream_accumulator import Accumulator
from agent.models.http_client import HttpClient
from agent.models.model_list import ModelInfo, read_models, unknown_model

if TYPE_CHECKING:
    import httpx2

DEFAULT_MODEL = "claude-sonnet-5-5"
API_VERSION = "2026-10-21"
_STREAM_PATH = "/v1/messages"
_ASK_TIMEOUT = 20.0  # seconds for a question other than a stream
_BATCH_TIMEOUT = 600.0  # for what is long: the requests of a batch, and its results
_T = TypeVar("_T")


class _Refused(Exception):
    """The server answered with a status outside 2xx."""

    def __init__(self, status: int, body: object, headers: Mapping[str, str]) -> None:
        super().__init__()
        self.status = status
        self.body = body
        self.headers = headers


class AnthropicModel:
    """A model behind the Messages API.

    Args:
        name: the model's name on the wire.
        api_key: sent as the API key; stripped and checked before use.
        auth_token: a bearer token instead of a key.
        base_url: the server, with or without `/v1`; default is Anthropic's API.
        key_name: where the key comes from, named when the server refuses it.
        profile: how to speak to the server as long as nothing else was learned about it.
        known: what was learned about endpoints; shared by the process by default.
        stall_limits: the limits of the stall clocks.
        clock: read by the stall clocks.
    """

    def __init__(
        self,
        name: str = DEFAULT_MODEL,
        *,
        api_key: str | None = None,
        auth_token: str | None = None,
        base_url: str | None = None,
        key_name: str | None = None,
        profile: EndpointProfile | None = None,
        known: Profiles | None = None,
        stall_limits: StallLimits | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._name = name
        self._api_key = api_key
        self._auth_token = auth_token
        self._base_url = normalise_base_url(base_url or OFFICIAL)
        self._endpoint = hide_secrets(self._base_url)
        self._key_name = key_name or ("ANTHROPIC_AUTH_TOKEN" if auth_token else "ANTHROPIC_API_KEY")
        self._start = profile or EndpointProfile()
        self._known = endpoint_profiles.SHARED if known is None else known
        self._stall_limits = stall_limits or StallLimits()
        self._clock = clock or SystemClock()
        self._context: int | None = None
        self._says_length = True  # whether the server says how long its context is, as far as it was asked
        self._http = HttpClient(self._endpoint)

    def __repr__(self) -> str:
        return f"AnthropicModel({self._name!r}, endpoint={self._endpoint!r})"

    @property
    def name(self) -> str:
        """The model's name on the wire."""
        return self._name

    @property
    def endpoint(self) -> str:
        """The server's base URL without secrets."""
        return self._endpoint

    def _profile(self) -> EndpointProfile:
        return self._known.get(self._endpoint, self._name) or self._start

    async def stream(self, request: Request) -> AsyncGenerator[BlockEvent, None]:
        """Make one attempt; see `Model.stream`.

        A refusal that names a feature is answered by the same request without it, with a `Notice`; that
        happens before anything of an answer came, and each feature can be refused only once (`max_tokens`
        a second time). What is learned so is kept, but for how much of the context a conversation leaves.
        """
        where = self._where(request)
        if self._may_be_too_long(request):
            finding = asyncio.ensure_future(self._find_too_long(request))
            async with aclosing(waiting_for(finding, self._clock, self._stall_limits.show_every)) as waits:
                async for wait in waits:
                    yield wait
            if (too_long := finding.result()) is not None:
                yield Failed(too_long)
                return
        lowerings = 0
        while True:
            profile = self._profile()
            if request.forced_tool is not None and profile.always_thinks:
                message = (
                    f"{self._name} always thinks before it answers, and then no tool can be forced on it."
                )
                yield Failed(ModelError("invalid_request", message))
                return
            body = build_body(self._name, request, profile)
            try:
                async with aclosing(self._attempt(request, body, profile, where)) as events:
                    async for event in events:
                        yield event
                return
            except _Refused as refused:
                text = error_mapping.read_complaint(refused.body).text
                room = endpoint_profiles.find_room(refused.status, text, body)
                if room is not None and lowerings < endpoint_profiles.MOST_LOWERINGS:
                    lowerings += 1
                    request = replace(request, max_tokens=room)
                    yield Notice(
                        f"Only {room} tokens are left for the answer; the answer is limited to that."
                    )
                    continue
                learned = endpoint_profiles.learn(profile, refused.status, text, body, with_key=where.has_key)
                if learned is not None and learned[0].max_tokens != profile.max_tokens:
                    lowerings += 1
                if learned is None or learned[0] == profile or lowerings > endpoint_profiles.MOST_LOWERINGS:
                    yield Failed(await self._explain(refused, request, where))
                    return
                self._known.put(self._endpoint, self._name, learned[0])
                yield Notice(learned[1])

    def _attempt(
        self, request: Request, body: Mapping[str, Any], profile: EndpointProfile, where: Where
    ) -> AsyncGenerator[BlockEvent, None]:
        """Make the request once; raises `_Refused`, everything else becomes `Failed`."""

        async def read(put: Put) -> None:
            await self._read(request, body, profile, put)

        def explain(error: Exception) -> ModelError | None:
            match error:
                case _Refused():
                    return None
                case ModelFailure():
                    return error.error
                case _:
                    return error_mapping.explain_exception(error, where)

        return transfer(
            read,
            Accumulator(lambda error: error_mapping.explain_event(error, where)),
            clock=self._clock,
            stalls=StallClocks(self._clock.now(), self._stall_limits, self._endpoint),
            explain=explain,
        )

    async def _read(
        self, request: Request, body: Mapping[str, Any], profile: EndpointProfile, put: Put
    ) -> None:
        """Make the request and put the bytes of its answer."""
        async with self._send("POST", _STREAM_PATH, request, profile, body) as response:
            content_type = response.headers.get("content-type", "")
            if "event-stream" not in content_type.lower():
                start = await error_body.read_beginning(
                    response, error_mapping.PAGE_LIMIT, error_body.REFUSAL_SECONDS
                )
                raise ModelFailure(error_mapping.explain_page(content_type, start, self._where(request)))
            async for chunk in error_body.decompressed(response):
                await put(chunk)

    @asynccontextmanager
    async def _send(
        self,
        method: str,
        path: str,
        request: Request,
        profile: EndpointProfile,
        body: Mapping[str, Any] | None = None,
    ) -> AsyncIterator[httpx2.Response]:
        """Make one HTTP request; its answer can be read until the context is left.

        Raises:
            ModelFailure: there is something wrong before it can be sent.
            _Refused: the status is outside 2xx.
            Exception: whatever the client throws.
        """
        headers = self._headers(request, profile)
        client = await self._http.get(self._where(request))
        content = None
        if body is not None:
            headers["content-type"] = "application/json"
            content = json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
        async with client.stream(method, self._endpoint + path, headers=headers, content=content) as response:
            if not response.is_success:
                refusal = await error_body.read_refusal(response)
                raise _Refused(response.status_code, refusal, error_mapping.as_headers(response.headers))
            yield response

    def _headers(self, request: Request, profile: EndpointProfile) -> dict[str, str]:
        """Return the headers of a request; raises `ModelFailure` for a key that cannot be sent, or none."""
        given = self._auth_token if self._api_key is None else self._api_key
        # One that was given with the request counts, an empty one too: it is no key then.
        key, problem = check_key(given if request.api_key is None else request.api_key, self._key_name)
        problem = problem or check_base_url(self._base_url)
        if problem is None and not key and is_official(self._base_url):
            message = f"There is no API key: {error_mapping.ways_to_a_key(self._key_name)}; --model offline needs none."
            problem = ModelError("authentication", message)
        if problem is not None:
            raise ModelFailure(problem)
        headers = {
            "accept": "application/json",
            "anthropic-version": profile.anthropic_version or API_VERSION,
            "user-agent": "persona-editor",
        }
        if key:
            headers["authorization"] = f"Bearer {key}"
            if profile.api_key_header:
                headers["x-api-key"] = key
        return headers

    async def prepare(self) -> None:
        """Load the HTTP client, so that the first request leaves as fast as the next ones."""
        with suppress(ModelFailure):  # the request says it
            if check_base_url(self._base_url) is None:
                await self._http.get(self._where())

    async def close(self) -> None:
        """Close the connections that are kept for the next request."""
        await self._http.close()

    def _where(self, request: Request | None = None) -> Where:
        password = self._base_url.rpartition("@")[0].rpartition(":")[2]
        key = request.api_key if request else None
        secrets = (self._api_key, self._auth_token, password, key)
        has_key = bool(self._api_key or self._auth_token if key is None else key)
        return Where(self._endpoint, self._name, self._key_name, secrets, has_key)

    # -- questions other than a stream --------------------------------------------------------------------

    async def _explain(self, refused: _Refused, request: Request, where: Where) -> ModelError:
        error = error_mapping.explain_status(refused.status, refused.body, where, refused.headers)
        if error.kind != "not_found":
            return error
        try:
            async with asyncio.timeout(5):
                offered = [model.id for model in await self.list_models(request.api_key)]
        except (ModelFailure, TimeoutError):
            return error
        if self._name in offered:
            message = (
                f"{self._endpoint} has the model {self._name}, but no Messages API; is the server too old?"
            )
        else:
            message = unknown_model(self._name, self._endpoint, offered)
        return replace(error, message=message)

    async def list_models(self, api_key: str | None = None) -> list[ModelInfo]:
        """Return the models the server offers, and remember their limits.

        Args:
            api_key: a key for this question alone.

        Raises:
            ModelFailure: the server cannot be asked, or does not answer as expected.
        """
        request = Request(system="", messages=(), api_key=api_key)
        models = read_models(await self._ask("GET", "/v1/models?limit=1000", request, parse=json.loads))
        for model in models:
            if model.id == self._name:
                self._context = model.max_input_tokens
            if model.max_tokens is not None and model.max_tokens >= endpoint_profiles.SMALLEST_ANSWER:
                profile = self._known.get(self._endpoint, model.id) or self._start
                most = min(model.max_tokens, profile.max_tokens or model.max_tokens)  # a refusal knows better
                self._known.put(self._endpoint, model.id, replace(profile, max_tokens=most))
        return models

    async def count_tokens(self, request: Request) -> int | None:
        """Return the input tokens of `request`, or None where the server cannot count."""
        body = build_body(self._name, request, self._profile())
        wanted = ("model", "messages", "system", "tools", "thinking")
        asked = {key: body[key] for key in wanted if key in body}
        try:
            answer = await self._ask("POST", "/v1/messages/count_tokens", request, asked, parse=json.loads)
        except ModelFailure:  # counting is a courtesy: without it the request is simply made
            return None
        tokens = answer.get("input_tokens") if isinstance(answer, Mapping) else None
        return tokens if is_count(tokens) else None

    def _may_be_too_long(self, request: Request) -> bool:
        """Whether a request is to be counted before it is made: a short one is not, nor where nobody can count."""
        return (
            self._says_length and length_of(request) >= (self._context or USUAL_CONTEXT) * FEWEST_CHARACTERS
        )

    async def _find_too_long(self, request: Request) -> ModelError | None:
        """Return why a request cannot fit the model's context, counted by the server; None where it may.

        Where server or limit do not say, it is simply made, and the server is not asked again: who waits for nothing
        in front of each request waits long.
        """
        if self._context is None:
            with suppress(ModelFailure):
                await self.list_models(request.api_key)
        tokens = None if self._context is None else await self.count_tokens(request)
        if self._context is None or tokens is None:
            self._says_length = False
            return None
        if tokens <= self._context:
            return None
        message = (
            f"The conversation is {tokens:,} tokens long, and {self._name} takes {self._context:,}; begin a new "
            "one, or send fewer messages (the setting sent_turns)."
        )
        return ModelError("too_large", message)

    # -- batches ----------------------------------------------------------------------------------------

    async def create_batch(self, requests: Mapping[str, Request]) -> batches.BatchStatus:
        """Hand requests, each under a name of its own, to the provider's Message Batches, which answer within a day.

        The first one is begun as a stream and left at once: a wrong key and what the model does not take show now, and
        not as the error of every request.

        Raises:
            ModelFailure: the server does not take them.
        """
        with suppress(ModelFailure):
            await self.list_models()  # how long an answer may be
        async with aclosing(self.stream(next(iter(requests.values())))) as events:
            async for event in events:
                if isinstance(event, Failed) and not event.error.retryable:
                    raise ModelFailure(event.error)
                if not isinstance(event, Notice | Waiting):
                    break
        params = {name: build_body(self._name, one, self._profile()) for name, one in requests.items()}
        for one in params.values():
            del one["stream"]
        body = {"requests": [{"custom_id": name, "params": one} for name, one in params.items()]}
        try:
            return await self._ask_of_batch("POST", "", batches.read_status, body)
        except ModelFailure as failure:
            if failure.error.kind != "not_found":  # the model answered just now
                raise
            problem = replace(failure.error, message=f"{self._endpoint} has no Message Batches.")
        raise ModelFailure(problem)

    async def batch(self, batch_id: str) -> batches.BatchStatus:
        """Return how far a batch is.

        Raises:
            ModelFailure: the server cannot be asked, or does not know it.
        """
        return await self._ask_of_batch("GET", f"/{batch_id}", batches.read_status)

    async def batch_results(self, batch_id: str) -> dict[str, batches.BatchResult]:
        """Return the results of a batch that has ended, by the names of its requests.

        Raises:
            ModelFailure: the server cannot be asked, or has them no more.
        """
        where = self._where()

        def parse(content: bytes) -> dict[str, batches.BatchResult]:
            return batches.read_results(content, lambda error: error_mapping.explain_event(error, where))

        return await self._ask_of_batch("GET", f"/{batch_id}/results", parse)

    async def _ask_of_batch(
        self, method: str, path: str, parse: Callable[[bytes], _T], body: Mapping[str, Any] | None = None
    ) -> _T:
        return await self._ask(
            method,
            batches.BATCHES_PATH + path,
            Request(system="", messages=()),
            body,
            parse=parse,
            limit=batches.RESULTS_LIMIT,
            seconds=_BATCH_TIMEOUT,
        )

    async def _ask(
        self,
        method: str,
        path: str,
        request: Request,
        body: Mapping[str, Any] | None = None,
        *,
        parse: Callable[[bytes], _T],
        limit: int = error_body.ANSWER_LIMIT,
        seconds: float | None = None,
    ) -> _T:
        """Return what `parse` makes of an answer; raises `ModelFailure`, with no exception behind it."""
        where = self._where(request)
        try:
            async with asyncio.timeout(_ASK_TIMEOUT if seconds is None else seconds):
                async with self._send(method, path, request, self._profile(), body) as response:
                    content = await error_body.read_beginning(response, limit)
        except ModelFailure as failure:
            problem = failure.error
        except _Refused as refused:
            problem = error_mapping.explain_status(refused.status, refused.body, where, refused.headers)
        except Exception as error:  # noqa: BLE001 - one boundary for whatever the client throws
            problem = error_mapping.explain_exception(error, where)
        else:
            try:
                return parse(content)
            except (ValueError, RecursionError):
                content_type = response.headers.get("content-type", "")
                problem = error_mapping.explain_page(content_type, content[: error_mapping.PAGE_LIMIT], where)
        # Raised here, outside the handlers: what the client threw holds the key and must not be chained.
        raise ModelFailure(problem)
