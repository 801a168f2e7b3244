"""What an endpoint supports: a profile for each endpoint and model, learned from its refusals.

What a server refuses by name is remembered here for the life of the process; `client` asks it again by what was learned.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

OLDER_VERSION = "2023-06-01"
"""The `anthropic-version` every compatible server knows."""

SMALLEST_ANSWER = 256
"""Tokens below which it makes no sense to shrink `max_tokens` further, whatever a server says."""

MOST_LOWERINGS = 2
"""How often `max_tokens` is lowered for one request: to the model's limit, and to what the context has room for."""


@dataclass(frozen=True, slots=True)
class EndpointProfile:
    """How to speak to one model at one endpoint.

    Attributes:
        api_key_header: the key goes into `x-api-key` too.
        anthropic_version: sent instead of the newest one, when set.
        cache_control, effort, thinking: whether the feature is sent at all.
        adaptive_thinking: whether thinking may be `adaptive`; else `enabled` with a budget.
        thinking_off: whether thinking may be turned off by `disabled`; else it is left out.
        thinking_display: whether `display` may be sent with thinking.
        max_tokens: the most this model may be asked for, when known.
    """

    api_key_header: bool = False
    anthropic_version: str | None = None
    cache_control: bool = True
    effort: bool = True
    thinking: bool = True
    adaptive_thinking: bool = True
    thinking_off: bool = True
    thinking_display: bool = True
    max_tokens: int | None = None

    @property
    def always_thinks(self) -> bool:
        """Whether it is known that thinking cannot be turned off."""
        return self.thinking and self.adaptive_thinking and not self.thinking_off


class Profiles:
    """The profiles of this process, by endpoint and model."""

    def __init__(self) -> None:
        self._learned: dict[tuple[str, str], EndpointProfile] = {}

    def get(self, endpoint: str, model: str) -> EndpointProfile | None:
        """Return what was learned, or None where nothing was."""
        return self._learned.get((endpoint, model))

    def put(self, endpoint: str, model: str, profile: EndpointProfile) -> None:
        """Remember `profile`."""
        self._learned[(endpoint, model)] = profile


SHARED = Profiles()
"""What this process has learned."""

Learned = tuple[EndpointProfile, str]

_UNKNOWN_FIELD = re.compile(
    r"\bthinking\b:? (is )?(an? )?(extra|unknown|unrecognized|unexpected)|not permitted"
)
_KEY_HEADER = re.compile(
    r"(required|missing|provide|expected|no).{0,40}x-api-key|x-api-key.{0,40}(required|missing)"
)
_MAX_TOKENS = re.compile(r"max_tokens:?\s*\d+\s*>\s*(\d{1,9})")
_MAX_TOKENS_RANGE = re.compile(
    r"max_tokens\b.{0,80}?(?:at most|less than or equal to|between 0 and|\[1,)\s*(\d{1,9})", re.S
)
_CONTEXT = re.compile(
    r"maximum context length is (?P<most>\d{1,9}) tokens.{0,200}?(?P<taken>\d{1,9}) (?:input|prompt) tokens"
    r"|exceed context limit:\s*(?P<input>\d{1,9})\s*\+\s*\d{1,9}\s*>\s*(?P<limit>\d{1,9})",
    re.S,
)


def learn(
    profile: EndpointProfile, status: int, text: str, sent: Mapping[str, Any], *, with_key: bool = True
) -> Learned | None:
    """Return the profile without what the server refused by name and a sentence about it, or None.

    Args:
        profile: what the refused request was made with.
        status: HTTP status of the refusal.
        text: what the server said.
        sent: the refused request's body: a feature that was not sent cannot have been refused.
        with_key: whether it was sent with a key: where there is none, no other header helps.
    """

    def but(sentence: str, **changes: Any) -> Learned:
        return replace(profile, **changes), sentence

    lowered = text.lower()
    if status == 401 and with_key and not profile.api_key_header and _KEY_HEADER.search(lowered):
        return but("The server wants the key as x-api-key; it is sent so from now on.", api_key_header=True)
    if status not in (400, 422):
        return None
    if "anthropic-version" in lowered and profile.anthropic_version is None:
        sentence = f"The server does not know this version of the API; {OLDER_VERSION} is used."
        return but(sentence, anthropic_version=OLDER_VERSION)
    limit = _token_limit(text)
    if limit is not None and SMALLEST_ANSWER <= limit < sent.get("max_tokens", 0):
        return but(f"The server gives at most {limit} tokens per answer; that is used.", max_tokens=limit)
    if re.search(r"messages[.\[]\d", lowered):
        return None  # it is about the conversation, not about a feature
    if "cache_control" in lowered and "cache_control" in sent:
        return but("The server does not know prompt caching; it is left out.", cache_control=False)
    if "output_config" in sent and ("effort" in lowered or "output_config" in lowered):
        return but("The server does not take an effort for this model; it is left out.", effort=False)
    thinking = sent.get("thinking")
    if "thinking" in lowered and isinstance(thinking, Mapping):
        return _learn_thinking(profile, lowered, thinking)
    return None


def _learn_thinking(profile: EndpointProfile, text: str, thinking: Mapping[str, Any]) -> Learned:
    """The same for a refusal that names `thinking`."""
    kind = thinking.get("type")
    if not _UNKNOWN_FIELD.search(text):
        if "display" in text and "display" in thinking:
            sentence = "The server does not take a display for thinking; it is left out."
            return replace(profile, thinking_display=False), sentence
        if kind == "disabled":
            return replace(profile, thinking_off=False), "This model does not let thinking be turned off."
        if kind == "adaptive" and "adaptive" in text:
            return replace(profile, adaptive_thinking=False), "This model thinks within a fixed budget."
    sentence = "The server does not take a thinking level for this model; it is left out."
    return replace(profile, thinking=False), sentence


def find_room(status: int, text: str, sent: Mapping[str, Any]) -> int | None:
    """Return how many tokens of answer the conversation leaves of the context, where a refusal says so.

    That holds for this conversation alone, at this length: it is nothing to be learned.
    """
    match = _CONTEXT.search(text) if status in (400, 422) and _token_limit(text) is None else None
    if match is None:
        return None
    room = int(match["most"] or match["limit"]) - int(match["taken"] or match["input"])
    return room if SMALLEST_ANSWER <= room < sent.get("max_tokens", 0) else None


def _token_limit(text: str) -> int | None:
    """Return the largest `max_tokens` a refusal names; a number no program would send is none."""
    for pattern in (_MAX_TOKENS, _MAX_TOKENS_RANGE):
        if match := pattern.search(text):
            return int(match[1])
    return None
