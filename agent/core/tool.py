"""The tool protocol: a name, a pydantic input, an async function, and its output.

Also what the hooks around a call are given and may answer.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from agent.core.turns import ToolCallTurn

TASK_COMPLETE = "task_complete"
"""The tool with which the model ends its run."""
ASK_USER = "ask_user"
"""The tool with which the model waits for the person."""
ALWAYS_CONTROL = frozenset({TASK_COMPLETE, ASK_USER})
"""Tools that run after their siblings, alone, whoever makes them; see `Tool.control`."""


class NoInput(BaseModel, extra="forbid"):
    """Input of a tool that takes none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOutput:
    """What a tool returns when a string is not enough.

    Attributes:
        output: the text for the model; JSON text where it is data.
        is_error: the tool did not do what was asked.
        details: data for the screen (for example `{"diff": …, "added": 2, "removed": 1}`), never sent.
        terminate: the run ends after the batch if every result of the batch says so; what the user said
            meanwhile and was not delivered goes back to the caller. (`task_complete` needs no such word, and
            after it the run goes on with what was said.)
    """

    output: str
    is_error: bool = False
    details: Mapping[str, Any] | None = None
    terminate: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """What the core hands to a running tool.

    `on_progress` may be called with short texts while it runs; calls after its end are ignored.
    """

    run_id: str
    call_id: str
    session_id: str | None = None
    on_progress: Callable[[str], None] = lambda _text: None


Execute = Callable[[Any, ToolContext], Awaitable[str | ToolOutput]]


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool of the agent.

    Attributes:
        name: snake_case, as the model calls it.
        description: for the model.
        label: for the person, a few words ("Change the name").
        input: pydantic model of the input; validated strictly (no lossy coercion; a field it does not know is an error).
        execute: `async (input, ctx) -> str | ToolOutput`; may raise, which becomes an error result.
        sequential: makes the whole batch it is called in sequential.
        timeout: seconds until it is cancelled, or None.
        control: runs after its siblings, alone; always so for `task_complete` and `ask_user`. What
            `task_complete` returns without an error ends the run, unless a sibling failed or the user has
            said something that waits.
        max_output: characters of its output that are kept, where the run's limit does not suit it.
        when_cut: what the result says when it is cancelled while it runs; None: that it may have taken effect.
        settles_within: seconds that it has, once it is cancelled, to come to its end by itself; what it returns by
            then counts, because it says how far it came. None: it has the run's grace period, and nothing counts.
    """

    name: str
    description: str
    label: str
    input: type[BaseModel]
    execute: Execute = field(repr=False)
    sequential: bool = False
    timeout: float | None = None
    control: bool = field(default=False, kw_only=True)
    max_output: int | None = field(default=None, kw_only=True)
    when_cut: str | None = field(default=None, kw_only=True)
    settles_within: float | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if self.name in ALWAYS_CONTROL:
            object.__setattr__(self, "control", True)


@dataclass(frozen=True, slots=True, kw_only=True)
class HookContext:
    """What a hook gets to know about a call.

    Attributes:
        call: the call as the model made it.
        tool: the tool it names.
        input: the hook's own copy of the validated input; changing it changes nothing.
        output: what the tool returned (after hook only).
    """

    run_id: str
    step: int
    call: ToolCallTurn
    tool: Tool
    input: BaseModel
    session_id: str | None = None
    output: ToolOutput | None = None


@dataclass(frozen=True, slots=True)
class Block:
    """A before hook's answer: the call does not run; `reason` goes to the model."""

    reason: str


@dataclass(frozen=True, slots=True)
class ChangeInput:
    """A before hook's answer: run with this input instead, once it validates like the model's own.

    The call and its start show what the model sent; the details of its end and its result name the input
    that ran, as `ran_with`, and so does the session's record of its start.
    """

    input: Mapping[str, Any]


BeforeAnswer = Block | ChangeInput | None
BeforeToolCall = Callable[[HookContext], Awaitable[BeforeAnswer] | BeforeAnswer]
AfterAnswer = ToolOutput | None
AfterToolCall = Callable[[HookContext], Awaitable[AfterAnswer] | AfterAnswer]
