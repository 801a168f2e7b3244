"""`AnthropicModel`: any server that speaks the Messages API, through the official SDK.

The SDK is imported and its client built in a thread, at the first request. It makes the request and
hands over raw bytes; reading them, the clocks and the errors are ours.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from agent.models import errors, profiles
from agent.models.base import (
    BlockEvent,
    Done,
    Failed,
    ModelError,
    Notice,
    Request,
    Waiting,
)
from agent.models.catalogue import ModelInfo, read_models, unknown_model
from agent.models.endpoint import (
    OFFICIAL,
    check_base_url,
    check_key,
    hide_secrets,
    is_loopback,
    is_official,
    normalise_base_url,
)
from agent.models.errors import ModelFailure, Where
from agent.models.profiles import EndpointProfile, Profiles
from agent.models.pump import Pump, Put
from agent.models.request_body import build_body
from agent.models.sse import SSEParser
from agent.models.stalls import Clock, Patience, StallClocks, SystemClock
from agent.models.wire import Accumulator

DEFAULT_MODEL = "claude-sonnet-5-5"
_LINGER = 0.05  # seconds a finished stream may take to close by itself and keep its connection


class _Refused(Exception):
    """The server answered with a status outside 2xx."""

    def __init__(self, status: int, body: object, headers: Mapping[str, str]) -> None:
        super().__init__()
        self.status = status
        self.body = body
        self.headers = headers


class _NotAStream(Exception):
    """The server answered 200 with something else than an event stream."""

    def __init__(self, content_type: str, start: str) -> None:
        super().__init__()
        self.content_type = content_type
        self.start = start


class _NoClient(Exception):
    """The client could not be built, or there is no key to build it with."""

    def __init__(self, error: ModelError) -> None:
        super().__init__()
        self.error = error


class AnthropicModel:
    """A model behind the Messages API.

    Args:
        name: the model's name on the wire.
        api_key: sent as the API key; stripped and checked before use.
        auth_token: a bearer token instead of a key.
        base_url: the server, with or without `/v1`; default is Anthropic's API.
        key_name: where the key comes from, named when the server refuses it.
        known: what was learned about endpoints; shared by the process by default.
        patience: the limits of the stall clocks.
        clock: read by the stall clocks.
    """

    def __init__(
        self,
        name: str = DEFAULT_MODEL,
        *,
        api_key: str | None = None,
        auth_token: str | None = None,
        base_url: str | None = None,
        key_name: str = "ANTHROPIC_API_KEY",
        known: Profiles | None = None,
        patience: Patience | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._name = name
        self._api_key = api_key
        self._auth_token = auth_token
        self._base_url = normalise_base_url(base_url or OFFICIAL)
        self._endpoint = hide_secrets(self._base_url)
        self._key_name = key_name
        self._known = profiles.SHARED if known is None else known
        self._patience = patience or Patience()
        self._clock = clock or SystemClock()
        self._http: tuple[asyncio.AbstractEventLoop, Any] | None = None
        self._clients: dict[tuple[str | None, EndpointProfile], Any] = {}

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

    async def stream(self, request: Request) -> AsyncGenerator[BlockEvent, None]:
        """Make one attempt; see `Model.stream`.

        A refusal that names a feature is answered by the same request without it, with a `Notice`; that
        happens before anything of an answer came, and each feature can be refused only once.
        """
        where = self._where(request)
        while True:
            profile = self._known.get(self._endpoint, self._name)
            body = build_body(self._name, request, profile)
            try:
                async with aclosing(self._attempt(request, body, profile, where)) as events:
                    async for event in events:
                        yield event
                return
            except _Refused as refused:
                text = errors.read_complaint(refused.body).text
                learned = profiles.learn(profile, refused.status, text, body)
                if learned is None:
                    yield Failed(await self._explain(refused, where))
                    return
                self._known.put(self._endpoint, self._name, learned[0])
                yield Notice(learned[1])

    async def _attempt(
        self, request: Request, body: Mapping[str, Any], profile: EndpointProfile, where: Where
    ) -> AsyncGenerator[BlockEvent, None]:
        """Make the request once; raises `_Refused`, everything else becomes `Failed`."""
        wire = Accumulator(lambda error: errors.from_event(error, where))
        parser = SSEParser()
        stalls = StallClocks(self._clock.now(), self._patience, self._endpoint)

        async def read(put: Put) -> None:
            await self._read(request, body, profile, put)

        try:
            async with Pump(read, self._clock, stalls) as pump, aclosing(pump.chunks()) as chunks:
                async for chunk in chunks:
                    if isinstance(chunk, Waiting):
                        yield chunk
                        continue
                    if isinstance(chunk, ModelError):
                        events = wire.fail(chunk)
                    else:
                        events = [
                            event
                            for server_event in parser.feed(chunk)
                            for event in read_event(wire, server_event)
                        ]
                    if events:
                        stalls.content_came(self._clock.now())
                    if events and isinstance(events[-1], Done):
                        await pump.finish(_LINGER)
                    for event in events:
                        yield event
                    if wire.finished:
                        return
            for server_event in parser.close():
                for event in read_event(wire, server_event):
                    yield event
            for event in wire.close():
                yield event
        except _Refused:
            raise
        except _NoClient as error:
            failed = wire.fail(error.error)
        except _NotAStream as error:
            failed = wire.fail(errors.not_messages(error.content_type, error.start, where))
        except Exception as error:  # noqa: BLE001 - a model never raises: what the client throws becomes a value
            failed = wire.fail(errors.from_exception(error, where))
        else:
            return
        for event in failed:
            yield event

    async def _read(
        self, request: Request, body: Mapping[str, Any], profile: EndpointProfile, put: Put
    ) -> None:
        """Make the request with the SDK and put the bytes of its answer."""
        client = await self._client(request, profile)
        import anthropic

        try:
            async with client.messages.with_streaming_response.create(**body) as response:
                content_type = response.headers.get("content-type", "")
                if "event-stream" not in content_type.lower():
                    raise _NotAStream(content_type, await _beginning(response.iter_bytes()))
                async for chunk in response.iter_bytes():
                    await put(chunk)
        except anthropic.APIStatusError as error:
            headers = errors.as_headers(error.response.headers)
            raise _Refused(error.status_code, error.body, headers) from None

    # -- the client --------------------------------------------------------------------------------------

    async def _client(self, request: Request, profile: EndpointProfile) -> Any:
        key, problem = check_key(request.api_key or self._api_key, self._key_name)
        token, token_problem = check_key(None if key else self._auth_token, self._key_name)
        problem = problem or token_problem or check_base_url(self._base_url)
        if problem is None and not key and not token and is_official(self._base_url):
            message = f"There is no API key; set {self._key_name}, or use --model offline."
            problem = ModelError("authentication", message)
        if problem is not None:
            raise _NoClient(problem)
        loop = asyncio.get_running_loop()
        if self._http is None or self._http[0] is not loop:
            # Connections belong to one event loop; a client of another one is useless here.
            self._clients.clear()
            self._http = None
        client = self._clients.get((key or token, profile))
        if client is None:
            http = None if self._http is None else self._http[1]
            try:
                client, http = await asyncio.to_thread(
                    build_client, self._base_url, key, token, profile, http
                )
            except Exception as error:  # noqa: BLE001 - proxies, certificates, missing packages: all become one message
                raise _NoClient(errors.from_construction(error, self._where(request))) from None
            self._http = (loop, http)
            self._clients[(key or token, profile)] = client
        return client

    async def close(self) -> None:
        """Close the connections that are kept for the next request."""
        http, self._http = self._http, None
        self._clients.clear()
        if http is not None and http[0] is asyncio.get_running_loop():
            await http[1].aclose()

    def _where(self, request: Request | None = None) -> Where:
        secrets = (self._api_key, self._auth_token, request.api_key if request else None)
        known = tuple({part for secret in secrets if secret for part in (secret, secret.strip()) if part})
        return Where(self._endpoint, self._name, self._key_name, known)

    # -- questions other than a stream --------------------------------------------------------------------

    async def _explain(self, refused: _Refused, where: Where) -> ModelError:
        error = errors.from_status(refused.status, refused.body, where, refused.headers)
        if error.kind != "not_found":
            return error
        try:
            async with asyncio.timeout(5):
                offered = [model.id for model in await self.list_models()]
        except (ModelFailure, TimeoutError):
            return error
        return replace(error, message=unknown_model(self._name, self._endpoint, offered))

    async def list_models(self) -> list[ModelInfo]:
        """Return the models the server offers.

        Raises:
            ModelFailure: the server cannot be asked, or does not answer as expected.
        """
        models = read_models(await self._get("/v1/models", {"limit": "1000"}))
        for model in models:
            if model.max_tokens is not None:
                profile = self._known.get(self._endpoint, model.id)
                self._known.put(self._endpoint, model.id, replace(profile, max_tokens=model.max_tokens))
        return models

    async def count_tokens(self, request: Request) -> int | None:
        """Return the input tokens of `request`, or None where the server cannot count."""
        profile = self._known.get(self._endpoint, self._name)
        body = build_body(self._name, request, profile)
        wanted = ("model", "messages", "system", "tools", "thinking")
        try:
            client = await self._client(request, profile)
            count = await client.messages.count_tokens(**{key: body[key] for key in wanted if key in body})
            tokens = count.input_tokens
        except _NoClient:
            return None
        except Exception:  # noqa: BLE001 - counting is a courtesy: without it the request is simply made
            return None
        return tokens if isinstance(tokens, int) else None

    async def _get(self, path: str, params: Mapping[str, str]) -> object:
        where = self._where()
        try:
            client = await self._client(
                Request(system="", messages=()), self._known.get(self._endpoint, self._name)
            )
            import anthropic
            import httpx2

            try:
                response = await client.get(path, cast_to=httpx2.Response, options={"params": dict(params)})
            except anthropic.APIStatusError as error:
                headers = errors.as_headers(error.response.headers)
                raise ModelFailure(
                    errors.from_status(error.status_code, error.body, where, headers)
                ) from None
            try:
                return json.loads(response.content)
            except (ValueError, RecursionError):
                content_type = response.headers.get("content-type", "")
                raise ModelFailure(errors.not_messages(content_type, response.text, where)) from None
        except ModelFailure:
            raise
        except _NoClient as error:
            raise ModelFailure(error.error) from None
        except Exception as error:  # noqa: BLE001 - one boundary for whatever the client throws
            raise ModelFailure(errors.from_exception(error, where)) from None


def build_client(
    base_url: str, key: str | None, token: str | None, profile: EndpointProfile, http: Any = None
) -> tuple[Any, Any]:
    """Import the SDK and return its client and the HTTP client below. Slow: call it in a thread.

    Args:
        http: an HTTP client to share, or None for a new one.

    Raises:
        Exception: anything; the SDK or its transport cannot be set up.
    """
    import anthropic
    import httpx2

    headers: dict[str, Any] = {}
    if not key and not token:
        headers["Authorization"] = anthropic.omit  # a local server that wants no key
    if profile.api_key_header and (key or token):
        headers["x-api-key"] = key or token
    if profile.anthropic_version:
        headers["anthropic-version"] = profile.anthropic_version
    # Redirects are not followed: the key is for the server the person named. The stall clocks are ours.
    timeout = httpx2.Timeout(None, connect=20.0)
    if http is None:
        http = anthropic.DefaultAsyncHttpxClient(
            timeout=timeout, follow_redirects=False, trust_env=not is_loopback(base_url)
        )
    client = anthropic.AsyncAnthropic(
        api_key=None if token else key or "",
        auth_token=token,
        base_url=base_url,
        max_retries=0,
        timeout=timeout,
        default_headers=headers,
        http_client=http,
    )
    # Touched here, in the thread: each imports a good part of the SDK.
    _ = client.messages.with_streaming_response, client.models
    return client, http


def read_event(wire: Accumulator, server_event: Any) -> list[BlockEvent]:
    """Feed one server-sent event to the accumulator; one that is no JSON ends the answer."""
    text = server_event.data.strip()
    if not text or text == "[DONE]":
        return []
    try:
        event = json.loads(text)
    except (ValueError, RecursionError):
        message = "The server sent an event that is not JSON; the answer stops there."
        return wire.fail(ModelError("protocol", message, retryable=True))
    return wire.feed(event, server_event.name)


async def _beginning(chunks: AsyncIterator[bytes]) -> str:
    """Return how a body that is no event stream begins, without waiting for all of it."""
    start = b""
    async for chunk in chunks:
        start += chunk
        if len(start) >= 4 * errors.EXCERPT:
            break
    return start.decode("utf-8", "replace")
