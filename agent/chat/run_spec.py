"""What one run gets beyond the conversation: instructions, tools, a gate, limits. Values only."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from agent.core.limits import Limits
from agent.core.model import ModelError
from agent.core.tool import BeforeToolCall, Tool
from agent.core.turns import NoticeTurn, Turn


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSpec:
    """What a run of a chat is given.

    Attributes:
        instructions: added to the system prompt.
        tools: further tools.
        gate: asked before each call, once unsaved text is written; may wait for the person.
        limits: what the run may use up, instead of what the settings say.
        unit: all changes are undone together under this name; None: those of the run.
        proposes: whether the changes are not written, but a proposal of this unit, see `personas.proposals`.
        in_reach: called first of all, once `Chat.abort` reaches this run: who was asked to stop it before does so.
        prepare: called once the conversation is held and read, before anything is said; gives turns that go right
            before the person's words.
        asides: turns that go before those.
        when_idle: asked when the model answered in words alone; what it gives opens a further step, and
            follow-ups wait until it gives nothing.
        when_failed: asked when the run failed; gives the notice that says so in the conversation, or None.
    """

    instructions: str = ""
    tools: Sequence[Tool] = ()
    gate: BeforeToolCall | None = None
    limits: Limits | None = None
    unit: str | None = None
    proposes: bool = False
    in_reach: Callable[[], None] | None = None
    prepare: Callable[[], Awaitable[Sequence[Turn]]] | None = None
    asides: Sequence[Turn] = ()
    when_idle: Callable[[], Sequence[Turn]] | None = None
    when_failed: Callable[[ModelError], NoticeTurn | None] | None = None


PLAIN = RunSpec()
