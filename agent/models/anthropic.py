"""`AnthropicModel`: any server that speaks the Messages API, through the official SDK.

The SDK is imported and its client built in a thread, at the first request. It makes the request and
hands over raw bytes; reading them, the clocks and the errors are ours.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing, suppress
from dataclasses import replace
from typing import Any

from agent.models import errors, profiles
from agent.models.base import (
    BlockEvent,
    Failed,
    ModelError,
    Notice,
    Request,
)
from agent.models.bodies import ENCODINGS, body_hooks
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
from agent.models.pump import Put
from agent.models.request_body import FEWEST_CHARACTERS, USUAL_CONTEXT, build_body, length_of
from agent.models.stalls import Clock, StallClocks, StallLimits, SystemClock, waiting_for
from agent.models.transfer import read_beginning, transfer
from agent.models.wire import Accumulator

DEFAULT_MODEL = "claude-sonnet-5-5"
_MOST_CLIENTS = 16  # each is for one key and one profile; all share their connections
_ASK_TIMEOUT = 20.0  # seconds for a question other than a stream


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
        self._known = profiles.SHARED if known is None else known
        self._stall_limits = stall_limits or StallLimits()
        self._clock = clock or SystemClock()
        self._context: int | None = None
        self._says_length = True  # the server tells context and tokens, as far as it was asked
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
            body = build_body(self._name, request, profile)
            try:
                async with aclosing(self._attempt(request, body, profile, where)) as events:
                    async for event in events:
                        yield event
                return
            except _Refused as refused:
                text = errors.read_complaint(refused.body).text
                room = profiles.find_room(refused.status, text, body)
                if room is not None and lowerings < profiles.MOST_LOWERINGS:
                    lowerings += 1
                    request = replace(request, max_tokens=room)
                    yield Notice(f"The conversation leaves room for {room} tokens of answer; that is used.")
                    continue
                learned = profiles.learn(profile, refused.status, text, body, with_key=where.has_key)
                if learned is not None and learned[0].max_tokens != profile.max_tokens:
                    lowerings += 1
                if learned is None or learned[0] == profile or lowerings > profiles.MOST_LOWERINGS:
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
                    return errors.explain_exception(error, where)

        return transfer(
            read,
            Accumulator(lambda error: errors.explain_event(error, where)),
            clock=self._clock,
            stalls=StallClocks(self._clock.now(), self._stall_limits, self._endpoint),
            explain=explain,
        )

    async def _read(
        self, request: Request, body: Mapping[str, Any], profile: EndpointProfile, put: Put
    ) -> None:
        """Make the request with the SDK and put the bytes of its answer."""
        client = await self._client(request, profile)
        import anthropic

        try:
            async with client.messages.with_streaming_response.create(**_arguments(body)) as response:
                content_type = response.headers.get("content-type", "")
                if "event-stream" not in content_type.lower():
                    start = await read_beginning(response.iter_bytes())
                    raise ModelFailure(errors.explain_page(content_type, start, self._where(request)))
                async for chunk in response.iter_bytes():
                    await put(chunk)
        except anthropic.APIStatusError as error:
            headers = errors.as_headers(error.response.headers)
            raise _Refused(error.status_code, error.body, headers) from None

    # -- the client --------------------------------------------------------------------------------------

    async def _client(self, request: Request, profile: EndpointProfile) -> Any:
        """Return the SDK's client for this key and profile; raises `ModelFailure` for what is wrong before."""
        asked = request.api_key  # one that was given counts, an empty one too: it is no key then
        key, problem = check_key(self._api_key if asked is None else asked, self._key_name)
        token, token_problem = check_key(
            self._auth_token if asked is None and not key else None, self._key_name
        )
        problem = problem or token_problem or check_base_url(self._base_url)
        if problem is None and not key and not token and is_official(self._base_url):
            message = (
                f"There is no API key: {errors.ways_to_a_key(self._key_name)}; --model offline needs none."
            )
            problem = ModelError("authentication", message)
        if problem is not None:
            raise ModelFailure(problem)
        loop = asyncio.get_running_loop()
        if self._http is None or self._http[0] is not loop:
            # Connections belong to one event loop; a client of another one is useless here.
            self._clients.clear()
            self._http = None
        while (client := self._clients.get((key or token, profile))) is None:
            before = None if self._http is None else self._http[1]
            try:
                client, http = await asyncio.to_thread(
                    build_client, self._base_url, (key, token), profile, before
                )
            except Exception as error:  # noqa: BLE001 - proxies, certificates, missing packages: all become one message
                problem = errors.explain_construction(error, self._where(request))
            if problem is not None:
                raise ModelFailure(problem)
            if before is not (None if self._http is None else self._http[1]):
                # Another request was quicker, or the connections were closed: one client for all requests.
                if before is None:
                    await http.aclose()
                continue
            self._http = (loop, http)
            if len(self._clients) >= _MOST_CLIENTS:
                self._clients.clear()  # keys that change with every request
            self._clients[(key or token, profile)] = client
        return client

    async def prepare(self) -> ModelError | None:
        """Load the SDK and build the client, in a thread, so that the first request finds them ready.

        Returns:
            What a request would fail with before it is sent (no key, a bad base URL, a bad proxy), or None.
        """
        try:
            await self._client(Request(system="", messages=()), self._profile())
        except ModelFailure as failure:
            return failure.error
        return None

    async def close(self) -> None:
        """Close the connections that are kept for the next request."""
        http, self._http = self._http, None
        self._clients.clear()
        if http is not None and http[0] is asyncio.get_running_loop():
            await http[1].aclose()

    def _where(self, request: Request | None = None) -> Where:
        password = self._base_url.rpartition("@")[0].rpartition(":")[2]
        key = request.api_key if request else None
        secrets = (self._api_key, self._auth_token, password, key)
        has_key = bool(self._api_key or self._auth_token if key is None else key)
        return Where(self._endpoint, self._name, self._key_name, secrets, has_key)

    # -- questions other than a stream --------------------------------------------------------------------

    async def _explain(self, refused: _Refused, request: Request, where: Where) -> ModelError:
        error = errors.explain_status(refused.status, refused.body, where, refused.headers)
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
        models = read_models(await self._get("/v1/models", {"limit": "1000"}, api_key))
        for model in models:
            if model.id == self._name:
                self._context = model.max_input_tokens
            if model.max_tokens is not None and model.max_tokens >= profiles.SMALLEST_ANSWER:
                profile = self._known.get(self._endpoint, model.id) or self._start
                most = min(model.max_tokens, profile.max_tokens or model.max_tokens)  # a refusal knows better
                self._known.put(self._endpoint, model.id, replace(profile, max_tokens=most))
        return models

    async def count_tokens(self, request: Request) -> int | None:
        """Return the input tokens of `request`, or None where the server cannot count."""
        profile = self._profile()
        body = build_body(self._name, request, profile)
        wanted = ("model", "messages", "system", "tools", "thinking")
        try:
            client = await self._client(request, profile)
            asked = {key: body[key] for key in wanted if key in body}
            async with asyncio.timeout(_ASK_TIMEOUT):
                count = await client.messages.count_tokens(**asked, timeout=_ASK_TIMEOUT)
            tokens = count.input_tokens
        except Exception:  # noqa: BLE001 - counting is a courtesy: without it the request is simply made
            return None
        return tokens if isinstance(tokens, int) else None

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

    async def _get(self, path: str, params: Mapping[str, str], api_key: str | None) -> object:
        """Return the decoded JSON of a GET; raises `ModelFailure`, with no exception behind it."""
        request = Request(system="", messages=(), api_key=api_key)
        where = self._where(request)
        options = {"params": dict(params), "timeout": _ASK_TIMEOUT}
        client = await self._client(request, self._profile())
        import anthropic
        import httpx2

        try:
            async with asyncio.timeout(_ASK_TIMEOUT):  # the client's own is for each read
                response = await client.get(path, cast_to=httpx2.Response, options=options)
        except anthropic.APIStatusError as error:
            headers = errors.as_headers(error.response.headers)
            problem = errors.explain_status(error.status_code, error.body, where, headers)
        except Exception as error:  # noqa: BLE001 - one boundary for whatever the client throws
            problem = errors.explain_exception(error, where)
        else:
            try:
                return json.loads(response.content)
            except (ValueError, RecursionError):
                content_type = response.headers.get("content-type", "")
                problem = errors.explain_page(content_type, response.text, where)
        # Raised here, outside the handlers: what the client threw holds the key and must not be chained.
        raise ModelFailure(problem)


def build_client(
    base_url: str, secret: tuple[str | None, str | None], profile: EndpointProfile, http: Any = None
) -> tuple[Any, Any]:
    """Import the SDK and return its client and the HTTP client below. Slow: call it in a thread.

    Args:
        secret: an API key or else a bearer token, checked; both None for a server that wants neither.
        http: an HTTP client to share, or None for a new one.

    Raises:
        Exception: anything; the SDK or its transport cannot be set up.
    """
    import anthropic
    import httpx2

    key, token = secret
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
            timeout=timeout,
            follow_redirects=False,
            trust_env=not is_loopback(base_url),
            headers=ENCODINGS,
            event_hooks=body_hooks("/v1/messages"),
        )
    client = anthropic.AsyncAnthropic(
        api_key=None if token else key or "",
        auth_token=token,
        base_url=base_url,
        max_retries=0,
        open_telemetry=False,
        timeout=timeout,
        default_headers=headers,
        http_client=http,
    )
    # Touched here, in the thread: each imports a good part of the SDK.
    _ = client.messages.with_streaming_response, client.models
    return client, http


def _arguments(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return `body` as arguments of the SDK's `create`.

    All but the required ones go in as they are, as `extra_body`: the SDK writes warnings to the screen
    about some of them.
    """
    required = ("model", "max_tokens", "messages", "stream")
    rest = {key: value for key, value in body.items() if key not in required}
    return {**{key: body[key] for key in required}, "extra_body": rest}
