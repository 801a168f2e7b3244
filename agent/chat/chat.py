"""A persona, its current session, a model and the tools, put together: what commands and screens talk to.

One run at a time writes to a session; the lock is held for the run, so that a screen may stay open while a
script talks about the same persona, and each sees what the other did.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

from agent.chat.live_session import ChatSession
from agent.chat.run_logging import log_run
from agent.chat.run_spec import PLAIN, RunSpec
from agent.chat.system_prompt import PROPOSES, system_prompt
from agent.chat.tool_use_history import NO_CALL, ToolUseHistory
from agent.core.agent import Agent, as_message
from agent.core.cancellation import CancelScope, detach
from agent.core.errors import GaveUpWaiting
from agent.core.event_bus import Listener
from agent.core.events import AgentEnd, Outcome
from agent.core.limits import Limits
from agent.core.model import Model, ThinkingLevel, Usage, endpoint_of, name_of
from agent.core.redaction import text_of
from agent.core.retry import RetryPolicy
from agent.core.tool import BeforeAnswer, HookContext, Tool
from agent.core.turns import NoticeTurn, ToolCallTurn, ToolResultTurn, Turn, UserTurn
from agent.models.context_fallback import ContextFallback
from agent.models.local_servers import why_no_tools
from agent.signals.model import TextToolCallModel, is_signal
from agent.tools import make_tools, registered
from agent.tools.context import OutputControls, ToolEnvironment, WriteQueue, WriteResult, write_in_thread
from agent.transcript.context_window import context_window
from agent.transcript.session_store import AgentAtWork, agent_lock
from personas.errors import Busy
from personas.proposals import ProposalStore
from personas.store import Store
from personas.versions.authorship import Author

log = logging.getLogger(__name__)

DISK_GRACE = 5.0
"""Seconds the log and the record of a task have after a stop: they write what is to last, on a slow disk too."""

LOOK_AGAIN = 0.25
"""Seconds between two looks whether the agent still works for the persona in another conversation."""

CLOSE_SECONDS = 2.0
"""How long a model may take to close its connections."""

OLDER_LEFT_OUT = "history"
"""Kind of the notice that older turns are not sent any more; stored sessions have it under this name."""


@dataclass(frozen=True, slots=True)
class ChatOptions:
    """What the person's settings say about a conversation.

    Attributes:
        about: what the personas are for; empty: what the home's `about.md` says.
        sent_turns: how many of the person's last turns, with what follows them, go to the model.
        thinking: how much the model thinks.
        max_tokens: the longest answer, None for the model's own limit.
        retries: further attempts at a request that failed.
        max_steps: model answers in one run.
        max_seconds: duration of one run.
    """

    about: str = ""
    sent_turns: int = 40
    thinking: ThinkingLevel = "off"
    max_tokens: int | None = None
    retries: int = 4
    max_steps: int = 50
    max_seconds: float = 30 * 60


async def _nothing_to_flush() -> None:
    pass


class Chat:
    """The conversation about one persona.

    Args:
        store: where the persona lives.
        persona_id: which one.
        model: where the next token comes from.
        options: the person's settings.
        flush: called before a run and before each tool call, to write an editor's unsaved text.
        on_change: called with what a tool wrote, see `ToolEnvironment.on_change`.
        on_keep: called when the agent asks for its output to stay.
        on_settle: called with a call that was left open, and the result it gets outside of a run.
        on_wait: called with why a message waits, where the agent works for the persona in another conversation.
        writes: how a tool's write gets its turn among others of the program.
        may_write: asked before anything of a run is recorded, where another program may have taken the run over.
        outputs: runs test inputs for the agent; None: it has no tools for that.
    """

    def __init__(
        self,
        store: Store,
        persona_id: str,
        model: Model,
        *,
        options: ChatOptions = ChatOptions(),
        flush: Callable[[], Awaitable[None]] = _nothing_to_flush,
        on_change: Callable[[WriteResult], None] = lambda _written: None,
        on_keep: Callable[[], None] = lambda: None,
        on_settle: Callable[[ToolCallTurn, ToolResultTurn], None] = lambda _call, _result: None,
        on_wait: Callable[[str], None] = lambda _why: None,
        writes: WriteQueue = write_in_thread,
        may_write: Callable[[], Awaitable[bool]] | None = None,
        outputs: OutputControls | None = None,
    ) -> None:
        self.persona_id = persona_id
        self._store = store
        self._flush = flush
        self._on_wait = on_wait
        self._on_change = on_change
        self._env = ToolEnvironment(store, persona_id, writes=writes, on_keep=on_keep, outputs=outputs)
        self._sent_turns = 0  # in this run
        self._asked = "", ""  # the model of this run, and its endpoint
        self._tool_use_history = ToolUseHistory(store.home)
        self._running = False
        self._stop: Callable[[], None] | None = None
        self._spec = PLAIN
        self.tools = make_tools(self._env, "always", *(("with outputs",) if outputs is not None else ()))
        self._model = model
        self._agent = Agent(
            model=self._asking(model),
            tools=self.tools,
            transform_context=self._what_the_model_sees,
            before_tool_call=self._before_tool_call,
        )
        self._agent.listener_grace = DISK_GRACE
        self._agent.more_tools = self._brought_in
        self._agent.subscribe(log_run(persona_id, lambda: name_of(self._model)))
        self._agent.when_done = lambda run: asyncio.to_thread(self._note_on_calls, run)
        self.session = ChatSession(
            store, persona_id, self._agent, self._env, on_settle=on_settle, may_write=may_write
        )
        self.scope = CancelScope()  # of `abort`, to what goes before the run
        self.set_options(options)

    # -- what there is ---------------------------------------------------------------------------------

    @property
    def session_id(self) -> str | None:
        """The current conversation's id, None before the first message."""
        return self.session.id

    @property
    def turns(self) -> Sequence[Turn]:
        """The conversation so far, as far as it is loaded."""
        return self._agent.turns

    @property
    def usage(self) -> Usage:
        """Tokens of the run that is active so far, the answer whose calls are made included; none when idle."""
        return self._agent.usage

    def costs(self, tool_name: str, given: Any) -> bool:
        """Return whether a call costs so much that outside of a task the person is asked first. Reads the disk."""
        spec = registered(tool_name)
        return spec is not None and spec.costs is not None and spec.costs(self._env, given)

    @cached_property
    def _library_tools(self) -> tuple[Tool, ...]:
        return make_tools(self._env, "with library")

    @cached_property
    def _action_tools(self) -> tuple[Tool, ...]:
        return make_tools(self._env, "with actions")

    def _brought_in(self) -> tuple[Tool, ...]:
        seen = self._env.seen
        on_library = self._library_tools if seen.uses_library else ()
        return (*on_library, *self._action_tools) if seen.uses_actions else on_library

    def _asking(self, model: Model) -> Model:
        """Return a model as it is asked: what it writes as signals are calls, and what is too long for it is cut."""

        def bring_in() -> None:
            self._env.seen.uses_actions = True

        return TextToolCallModel(ContextFallback(model), bring_in)

    @property
    def store(self) -> Store:
        """Where the persona lives."""
        return self._store

    @property
    def tool_store(self) -> Store:
        """What the tools of the last run act on: where the persona lives, or the run's proposal."""
        return self._env.store

    @property
    def proposal(self) -> str | None:
        """The name of what the last run has proposed, None where it wrote, or changed nothing. Reads the disk."""
        store = self._env.store
        return store.name if isinstance(store, ProposalStore) else None

    @property
    def model(self) -> Model:
        """Where the next run's tokens come from."""
        return self._model

    @property
    def problems(self) -> list[str]:
        """What is wrong with the conversation, one sentence each."""
        return self.session.problems

    @property
    def unit(self) -> str | None:
        """Under which name what the last run changed is undone with that of others, None: under the run's own."""
        return self._env.unit

    @property
    def running(self) -> bool:
        """Whether a run is active."""
        return self._running

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` with every event, sync or async; returns what ends that."""
        return self._agent.subscribe(listener)

    def set_model(self, model: Model) -> None:
        """Use another model from the next run on."""
        self._model = model
        self._agent.model = self._asking(model)

    def set_options(self, options: ChatOptions) -> None:
        """Go by other settings from the next run on."""
        self._options = options
        self.session.sent_turns = options.sent_turns
        self.session.own_about = options.about
        self._limits = Limits(max_steps=options.max_steps, max_duration=options.max_seconds)
        self._agent.thinking = options.thinking
        self._agent.limits = self._limits
        self._agent.max_tokens = options.max_tokens
        self._agent.retry = RetryPolicy(retries=options.retries)

    # -- the session -----------------------------------------------------------------------------------

    def load(self) -> None:
        """Read the end of the current session; see `ChatSession.load`. Blocking; idle only.

        Raises:
            PersonaError: the persona is unknown, or the disk refuses.
        """
        self.session.load()

    def earlier(self) -> list[Turn]:
        """Return the turns before those in `turns`, read from the disk when first asked for."""
        return self.session.earlier()

    def clear(self) -> str:
        """Begin a new session, link it and return its id; the old one stays on disk. Idle only.

        Raises:
            PersonaError: the persona is unknown, or the disk refuses.
        """
        return self.session.begin_anew()

    async def close(self) -> None:
        """Close what is kept open for a next message: the session's file, the model's connections. Idle only.

        A model that takes too long to close, or fails to, is left as it is; that is logged.
        """
        await asyncio.to_thread(self.session.close)
        close = getattr(self._model, "close", None)
        if close is None:
            return
        try:
            await CancelScope().wait(close(), within=CLOSE_SECONDS)
        except Exception as error:  # noqa: BLE001 - the model's own clearing up; nothing depends on it any more
            log.warning("the model's connections could not be closed: %s", text_of(error))

    # -- talking ---------------------------------------------------------------------------------------

    async def send(self, said: str | UserTurn | None, spec: RunSpec = PLAIN) -> AgentEnd:
        """Say something; return when the agent is idle again.

        Args:
            said: the person's words; None goes on from where the conversation stands.
            spec: what this run is given beyond the conversation.

        Raises:
            Busy: another process is talking in this session.
            BrokenFile: the persona's file cannot be read; its line and column are in the message.
            EmptyMessage: a message without words.
            PersonaError: no such persona, or the disk refuses; what was said before is on disk.
        """
        if self._running:
            raise Busy("The agent is at work; steer it or stop it first.")
        if said is not None:
            said = as_message(said, ())  # nothing is begun for a message without words
        self._running = True
        self._stop = None
        self.scope = CancelScope()
        self._spec = spec
        self._env.unit = spec.unit
        self._env.request = said.content if said is not None else ""
        self.session.makes_left_open = False
        try:
            if spec.in_reach is not None:
                spec.in_reach()
            with ExitStack() as held:
                await self.flush()  # before anybody looks what is in the file
                asides = await self._opened_run(held)
                prepared = await spec.prepare() if spec.prepare is not None else ()
                prompts = self._prompts(said, asides, prepared)
                if self._stop is not None:  # asked for before there was a run to stop
                    asyncio.get_running_loop().call_soon(self._stop)
                end = await self._agent.prompt(prompts)
                await asyncio.to_thread(self.session.close_run)
                if any(isinstance(turn, ToolCallTurn) and not is_signal(turn) for turn in end.turns):
                    await asyncio.to_thread(self._tool_use_history.add, *self._asked)
            if (failure := self.session.why_not_saved(end)) is not None:
                raise failure
            return end
        finally:
            self._running = False

    async def flush(self) -> None:
        """Have an editor's unsaved text written, as is done before each tool call. A stop does not wait for it."""
        with suppress(GaveUpWaiting):
            await self.scope.wait(self._flush(), cancels=False)

    def steer(self, said: str | UserTurn) -> None:
        """Say something while the agent works; it hears it after the tool it is running."""
        self._agent.steer(said)

    def follow_up(self, text: str) -> None:
        """Say something for when the agent is done with what it does."""
        self._agent.follow_up(text)

    @property
    def queued(self) -> tuple[tuple[UserTurn, ...], tuple[UserTurn, ...]]:
        """What was said and is not delivered yet: steering, then what waits until the agent is done."""
        return self._agent.steering_queue, self._agent.follow_up_queue

    def withdraw(self, turn_id: str) -> UserTurn | None:
        """Take a queued message back; None when it was delivered already."""
        return self._agent.withdraw(turn_id)

    def withdraw_all(self) -> list[UserTurn]:
        """Take everything back that is queued, steering first."""
        return self._agent.clear_all_queues()

    def abort(
        self, reason: str = "", *, outcome: Outcome = "cancelled", notice: NoticeTurn | None = None
    ) -> None:
        """Stop the run at once; what was done stays. Arguments as for `Agent.abort`."""
        self._stop = partial(self._agent.abort, reason, outcome=outcome, notice=notice)
        self._stop()
        self.scope.cancel()

    def release(self) -> None:
        """End the run in memory only: on the disk it stays as it is now, waiting, as after a crash."""
        self.session.detach()
        self._agent.abort("left waiting")

    # -- one run ---------------------------------------------------------------------------------------

    def _open_run(self, held: ExitStack, *, waits: bool) -> list[Turn]:
        """Take the session's lock, catch up with what others wrote, and return what goes before the words."""
        persona = self.session.open_run(held)
        if waits:
            try:
                held.enter_context(agent_lock(self._store, self.persona_id))
            except AgentAtWork:
                held.close()
                raise
        self._env.store, self._env.on_change = self._store, self._on_change
        if self._spec.proposes:
            by = Author("agent", session_id=self.session.id, run_id=self._spec.unit)
            self._env.store = ProposalStore(self._store, self.persona_id, by)
            self._env.on_change = lambda _written: None
        if self._env.outputs is not None:
            self._env.outputs.store = self._env.store
        return [*self._notice_on_older(), *self.session.user_edits(persona)]

    async def _opened_run(self, held: ExitStack) -> list[Turn]:
        """`_open_run` in a thread, once the agent does nothing else for the persona; a stop does not wait for that."""
        notified = False
        while True:
            try:
                return await self._open_in_thread(held, waits=self._stop is None)
            except AgentAtWork as busy:
                if not notified:
                    notified = True
                    self._on_wait(f"{busy} This waits until it is done.")
                with suppress(GaveUpWaiting):
                    await self.scope.wait(asyncio.sleep(LOOK_AGAIN))

    async def _open_in_thread(self, held: ExitStack, *, waits: bool) -> list[Turn]:
        """`_open_run` in a thread. Cancelled meanwhile, what that still takes is let go as soon as it has it."""
        opening = asyncio.ensure_future(asyncio.to_thread(self._open_run, held, waits=waits))
        try:
            return await asyncio.shield(opening)
        except asyncio.CancelledError:
            detach(opening)
            opening.add_done_callback(lambda _opening: held.close())
            raise

    def _prompts(self, said: UserTurn | None, asides: Sequence[Turn], prepared: Sequence[Turn]) -> list[Turn]:
        """Make the agent ready for this run and return the turns to prompt with."""
        given, agent = self._spec, self._agent
        self._sent_turns = self._options.sent_turns
        session = self.session
        agent.system_prompt = (
            system_prompt(self.persona_id, session.persona_name, session.about, session.about_by_owner)
            + given.instructions
            + (PROPOSES if given.proposes else "")
        )
        agent.tools = (*self.tools, *given.tools)
        agent.limits = given.limits or self._limits
        agent.when_idle = given.when_idle
        agent.when_failed = given.when_failed
        self._asked = name_of(self._model), endpoint_of(self._model)
        agent.make_left_open = session.makes_left_open
        return [*asides, *given.asides, *prepared, *([said] if said is not None else [])]

    def _notice_on_older(self) -> list[Turn]:
        """Say, once in a conversation, that older turns are not sent any more."""
        spoken = sum(isinstance(turn, UserTurn) for turn in self.turns) + 1
        if spoken <= self._options.sent_turns or self._has_notice(OLDER_LEFT_OUT):
            return []
        notice = (
            f"From here on only your last {self._options.sent_turns} messages, with what followed, are sent to the "
            "model (the setting sent_turns)."
        )
        return [NoticeTurn(content=notice, kind=OLDER_LEFT_OUT)]

    def _note_on_calls(self, run: Sequence[Turn]) -> NoticeTurn | None:
        """Say, once in a conversation of each model, that it seems unable to call tools and changed nothing. Blocking."""
        note = self._tool_use_history.note_on(run, *self._asked)
        if not note or self._has_notice(NO_CALL, f" {self._asked[0]} "):
            return None
        return NoticeTurn(content=f"{note} {why_no_tools(self._asked[1])}".strip(), kind=NO_CALL)

    def _has_notice(self, kind: str, words: str = "") -> bool:
        """Whether the conversation has a notice of this kind with these words in it."""
        return any(
            isinstance(turn, NoticeTurn) and turn.kind == kind and words in turn.content
            for turns in (self.turns, self.earlier())
            for turn in turns
        )

    async def _before_tool_call(self, context: HookContext) -> BeforeAnswer:
        # A stop leaves it to itself: a text that is stored, and whose editor never hears of it, looks like another's.
        await self.scope.wait(self._flush(), cancels=False)
        gate = self._spec.gate
        answer = gate(context) if gate is not None else None
        return await answer if isinstance(answer, Awaitable) else answer

    def _what_the_model_sees(self, turns: Sequence[Turn]) -> Sequence[Turn]:
        return context_window(turns, self._sent_turns)
