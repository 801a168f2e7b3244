"""The model protocol: a request goes in, block events come out, and one terminal event ends the answer.

Nothing here knows a provider. A model never raises out of `stream`: whatever goes wrong is `Failed`.
Retrying is the loop's business (`retry.py` has the policy); a model makes one attempt.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeGuard

ThinkingLevel = Literal["off", "minimal", "low", "medium", "high", "max"]
BlockKind = Literal["text", "thinking", "tool_call"]
ErrorKind = Literal[
    "authentication",  # no key, wrong key
    "permission",
    "not_found",  # unknown model or path
    "invalid_request",
    "too_large",  # request or context too large
    "rate_limit",
    "spend_limit",  # billing: never retried
    "overloaded",
    "server",
    "network",  # no connection, dropped connection
    "stall",  # one of the two stall clocks ran out
    "protocol",  # not the Messages API: HTML, bad JSON
    "incomplete",  # the stream ended without a stop reason
    "client",  # the client could not be built (proxy, certificates, missing package)
]


_LONGEST_WAIT = 365 * 86_400  # seconds

MOST_TOKENS = 2**53
"""No count of tokens is as large as this; what a server says beyond it is no count."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one request, under the API's names. Within a stream the last report wins (cumulative)."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_creation_input_tokens: int = 0
    cache_read_input_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        """Sum over the steps of a run."""
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cache_creation_input_tokens + other.cache_creation_input_tokens,
            self.cache_read_input_tokens + other.cache_read_input_tokens,
        )

    @property
    def tokens(self) -> int:
        """All of them, in and out."""
        return (
            self.input_tokens
            + self.output_tokens
            + self.cache_creation_input_tokens
            + self.cache_read_input_tokens
        )

    def since(self, before: Usage) -> Usage:
        """Return what came to an earlier sum."""
        return Usage(
            self.input_tokens - before.input_tokens,
            self.output_tokens - before.output_tokens,
            self.cache_creation_input_tokens - before.cache_creation_input_tokens,
            self.cache_read_input_tokens - before.cache_read_input_tokens,
        )

    def to_record(self) -> dict[str, int]:
        """Return the four counts as a JSON object with the API's field names."""
        return {
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "cache_creation_input_tokens": self.cache_creation_input_tokens,
            "cache_read_input_tokens": self.cache_read_input_tokens,
        }


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as the model sees it; `input_schema` is a JSON Schema object."""

    name: str
    description: str
    input_schema: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request. `messages` are Messages API dicts (`{"role", "content"}`) made by `messages.py`.

    `forced_tool` names the tool that must be called; a model that cannot turn its thinking off refuses that.
    """

    system: str
    messages: Sequence[Mapping[str, Any]]
    tools: Sequence[ToolSpec] = ()
    forced_tool: str | None = None
    thinking: ThinkingLevel = "off"
    max_tokens: int | None = None
    session_id: str | None = None
    api_key: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class ModelError:
    """Why an attempt failed.

    Attributes:
        kind: the class of failure; decides whether a retry makes sense.
        message: one sentence for the person, with the next thing to do; free of secrets.
        retryable: whether a further attempt may succeed without anyone acting.
        retry_after: seconds the server asked to wait, if it did.
        status: HTTP status, if there was one.
    """

    kind: ErrorKind
    message: str
    retryable: bool = False
    retry_after: float | None = None
    status: int | None = None


@dataclass(frozen=True, slots=True)
class BlockStart:
    """A content block begins. `block` numbers blocks from 0 within one answer, never reused."""

    block: int
    kind: BlockKind
    tool_use_id: str = ""
    tool_name: str = ""


@dataclass(frozen=True, slots=True)
class BlockDelta:
    """More of a block: text, thinking text, or raw JSON of a tool call's input."""

    block: int
    text: str


@dataclass(frozen=True, slots=True)
class BlockEnd:
    """A block is complete.

    For a tool call `input_json` is the whole raw JSON text (`""`: what came in deltas; nothing at all means
    `{}`); for thinking `signature` and `redacted` carry what a replay needs. `complete` is False when the block was closed for the
    server (its stop event never came): a tool call is then never run.
    """

    block: int
    input_json: str = ""
    signature: str = ""
    redacted: str = ""
    complete: bool = True


@dataclass(frozen=True, slots=True)
class Notice:
    """Something the person should know about the answer (a dropped feature, ignored events)."""

    message: str


@dataclass(frozen=True, slots=True)
class Waiting:
    """Nothing but silence or pings for `seconds` so far: the request is alive, the content is not here."""

    seconds: float


@dataclass(frozen=True, slots=True)
class UsageSoFar:
    """Tokens reported before the end, for requests that never come to one; the last report wins."""

    usage: Usage


DECLINED = "declined"
"""Stop reason of the offline model when it did not do what was asked: to the core an ordinary answer."""


@dataclass(frozen=True, slots=True)
class Done:
    """The answer is complete: a stop reason arrived and no error. `stop_reason` as the server gave it."""

    stop_reason: str
    usage: Usage = Usage()
    message_id: str = ""


@dataclass(frozen=True, slots=True)
class Failed:
    """The attempt ended without a complete answer. Blocks still open are cut."""

    error: ModelError
    usage: Usage = Usage()


BlockEvent = BlockStart | BlockDelta | BlockEnd | Notice | Waiting | UsageSoFar | Done | Failed


class Model(Protocol):
    """Where the next token comes from.

    `stream` is all the loop needs. A model that does not say its name goes by that of its class; see
    `name_of` and `endpoint_of`.
    """

    @property
    def name(self) -> str:
        """The model's name as the person would write it, for example `claude-sonnet-5-5` or `offline`."""

    @property
    def endpoint(self) -> str:
        """The server's base URL without secrets, or a word such as `embedded`."""

    def stream(self, request: Request) -> AsyncIterator[BlockEvent]:
        """Make one attempt. Ends with exactly one `Done` or `Failed`; never raises but for cancellation.

        Blocks may interleave; each gets one `BlockStart`, any deltas, and at most one `BlockEnd`.
        Closing the iterator (or cancelling the task that reads it) ends the request at once.
        """


def name_of(model: Model) -> str:
    """Return the name of a model, that of its class where it says none."""
    return getattr(model, "name", "") or type(model).__name__


def endpoint_of(model: Model) -> str:
    """Return the endpoint of a model, "" where it says none."""
    return getattr(model, "endpoint", "")


def is_count(value: object) -> TypeGuard[int]:
    """Return whether a value that came from outside can be a count of tokens."""
    return type(value) is int and 0 <= value <= MOST_TOKENS


def seconds_of(value: object) -> float | None:
    """Return how long a server asks to wait, a year at most; None where it is no such number."""
    if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0:
        return float(min(value, _LONGEST_WAIT))
    return None
