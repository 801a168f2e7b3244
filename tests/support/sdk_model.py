"""`AnthropicModel` with the official SDK making its requests: the reference for those the program makes by itself."""

from __future__ import annotations

import warnings
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import anthropic

from agent.core.model import Request
from agent.models.anthropic.client import AnthropicModel, _Refused
from agent.models.anthropic.endpoint_profiles import EndpointProfile
from agent.models.anthropic.error_mapping import as_headers


class SdkModel(AnthropicModel):
    """The same model over the SDK, which is given values and builds method, path, headers and body of them."""

    @asynccontextmanager
    async def _send(
        self,
        method: str,
        path: str,
        request: Request,
        profile: EndpointProfile,
        body: Mapping[str, Any] | None = None,
    ) -> AsyncIterator[Any]:
        headers: dict[str, Any] = {}
        key = self._api_key if request.api_key is None else request.api_key
        token = self._auth_token if key is None else None
        if not key and not token:
            headers["authorization"] = anthropic.omit
        if profile.api_key_header:
            headers["x-api-key"] = key or token
        if profile.anthropic_version:
            headers["anthropic-version"] = profile.anthropic_version
        async with anthropic.AsyncAnthropic(
            api_key=None if token else key or "",
            auth_token=token,
            base_url=self._base_url,
            max_retries=0,
            default_headers=headers,
            http_client=anthropic.DefaultAsyncHttpxClient(follow_redirects=False),
        ) as client:
            questions = {
                ("POST", "/v1/messages"): client.messages.with_streaming_response.create,
                ("POST", "/v1/messages/count_tokens"): client.messages.with_streaming_response.count_tokens,
                ("GET", "/v1/models?limit=1000"): client.models.with_streaming_response.list,
            }
            given: Mapping[str, Any] = {"limit": 1000} if body is None else body
            try:
                with warnings.catch_warnings(action="ignore"):
                    async with questions[method, path](**given) as response:
                        yield response.http_response
            except anthropic.APIStatusError as error:
                raise _Refused(error.status_code, error.body, as_headers(error.response.headers)) from None
