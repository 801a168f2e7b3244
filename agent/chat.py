"""A persona, its current session, a model and the tools, put together: what commands and screens talk to.

One run at a time writes to a session; the lock is held for the run, so that a screen may stay open while a
script talks about the same persona, and each sees what the other did.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial

from agent.agent import Agent
from agent.assignment import NUDGE, PLAIN, Assignment
from agent.events import AgentEnd, Event, Outcome
from agent.hand_edits import Seen, hand_edit_turn, text_of_revision, with_hand_edits
from agent.limits import Limits
from agent.messages import limit_history
from agent.models.base import Model, ThinkingLevel
from agent.models.retry import RetryPolicy
from agent.models.shortened import Shortened
from agent.prompt import system_prompt
from agent.session import Session
from agent.stored import open_session, session_lock, size_of, start_session
from agent.tool import BeforeAnswer, HookContext
from agent.tools import chat_tools
from agent.tools.base import Desk
from agent.turns import NoticeTurn, ToolCallTurn, ToolResultTurn, Turn, UserTurn
from personas.errors import BrokenFile, Busy, InvalidValue, OutsideHome, PersonaError
from personas.persona import Persona
from personas.store import Store

Listener = Callable[[Event], Awaitable[None] | None]

HISTORY_CUT = "history"
"""Kind of the notice that older turns are not sent any more."""


@dataclass(frozen=True, slots=True)
class ChatOptions:
    """What the person's settings say about a conversation.

    Attributes:
        history_turns: how many of the last user turns, with what follows them, go to the model.
        thinking: how much the model thinks.
        max_tokens: the longest answer, None for the model's own limit.
        retries: further attempts at a request that failed.
        max_steps: model answers in one run.
        max_seconds: duration of one run.
    """

    history_turns: int = 40
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
        on_change: called with the persona after each write by a tool.
        on_keep: called when the agent asks for its output to stay.
    """

    def __init__(
        self,
        store: Store,
        persona_id: str,
        model: Model,
        *,
        options: ChatOptions = ChatOptions(),
        flush: Callable[[], Awaitable[None]] = _nothing_to_flush,
        on_change: Callable[[Persona], None] = lambda _persona: None,
        on_keep: Callable[[], None] = lambda: None,
    ) -> None:
        self.persona_id = persona_id
        self.problems: list[str] = []
        self._store = store
        self._flush = flush
        self._desk = Desk(store, persona_id, on_change=on_change)
        self._session: Session | None = None
        self._seen = Seen()
        self._size = -1
        self._detach: Callable[[], None] = _nothing
        self._running = False
        self._failure: PersonaError | None = None
        self._stop: Callable[[], None] | None = None
        self._assignment = PLAIN
        self.tools = chat_tools(self._desk, on_keep=on_keep)
        self._model = model
        self._agent = Agent(
            model=Shortened(model),
            tools=self.tools,
            transform_context=self._what_the_model_sees,
            before_tool_call=self._before_tool_call,
        )
        self.set_options(options)

    # -- what there is ---------------------------------------------------------------------------------

    @property
    def session_id(self) -> str | None:
        """The current conversation's id, None before the first message."""
        return self._session.id if self._session else self._store.session_of(self.persona_id)

    @property
    def turns(self) -> Sequence[Turn]:
        """The conversation so far, as far as it is loaded."""
        return self._agent.turns

    @property
    def store(self) -> Store:
        """Where the persona lives."""
        return self._store

    @property
    def model(self) -> Model:
        """Where the next run's tokens come from."""
        return self._model

    @property
    def left_open(self) -> Sequence[ToolCallTurn]:
        """The calls that had no result when the conversation was read."""
        return self._session.left_open if self._session else ()

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
        self._agent.model = Shortened(model)

    def set_options(self, options: ChatOptions) -> None:
        """Go by other settings from the next run on."""
        self._options = options
        self._limits = Limits(max_steps=options.max_steps, max_duration=options.max_seconds)
        self._agent.thinking = options.thinking
        self._agent.limits = self._limits
        self._agent.max_tokens = options.max_tokens
        self._agent.retry = RetryPolicy(retries=options.retries)

    # -- the session -----------------------------------------------------------------------------------

    def load(self) -> None:
        """Read the end of the current session, if the persona has one. Blocking; idle only.

        A session that cannot be used is said in `problems`; the next message then begins a new one.

        Raises:
            PersonaError: the persona is unknown, or the disk refuses.
        """
        self._store.get(self.persona_id)
        self._forget()
        session_id = self._store.session_of(self.persona_id)
        if session_id is None:
            return
        try:
            self._adopt(open_session(self._store, self.persona_id, session_id, self._on_failure))
        except (BrokenFile, InvalidValue, OutsideHome) as error:
            self.problems = [f"The last conversation cannot be opened: {error} A new one begins."]

    def earlier(self) -> list[Turn]:
        """Return the turns before those in `turns`, read from the disk when first asked for."""
        return self._session.earlier() if self._session else []

    def clear(self) -> str:
        """Begin a new session, link it and return its id; the old one stays on disk. Idle only."""
        session_id = start_session(self._store, self.persona_id)
        self._forget()
        self._adopt(open_session(self._store, self.persona_id, session_id, self._on_failure))
        return session_id

    async def close(self) -> None:
        """Close what is kept open for a next message: the session's file, the model's connections. Idle only."""
        self._forget()
        close = getattr(self._model, "close", None)
        if close is not None:
            await close()

    def _forget(self) -> None:
        self._detach()
        self._detach = _nothing
        if self._session is not None:
            self._session.close()
        self._session = None
        self._agent.turns = ()
        self._agent.session_id = None
        self._seen = Seen()
        self._desk.seen_prompt = None
        self.problems = []

    def _adopt(self, session: Session) -> None:
        self._session = session
        self._size = size_of(session)
        self._agent.session_id = self._desk.session_id = session.id
        self._agent.turns = session.recent
        self._detach = session.attach(self._agent)
        self._seen = Seen.load(self._store, session.id)
        self._desk.seen_prompt = self._seen.prompt
        self.problems = list(session.problems)

    def _on_failure(self, error: PersonaError) -> None:
        """The log cannot be written: stop, so that nothing happens that is not kept."""
        self._failure = error
        self._agent.abort(f"the conversation cannot be saved: {error}")

    # -- talking ---------------------------------------------------------------------------------------

    async def send(self, said: str | UserTurn | None, assignment: Assignment = PLAIN) -> AgentEnd:
        """Say something; return when the agent is idle again.

        Args:
            said: the person's words; None goes on from where the conversation stands.
            assignment: what this run is given beyond the conversation.

        Raises:
            Busy: another process is talking in this session.
            BrokenFile: the persona's file cannot be read; its line and column are in the message.
            PersonaError: no such persona, or the disk refuses; what was said before is on disk.
        """
        if self._running:
            raise Busy("The agent is at work; steer it or stop it first.")
        self._running = True
        self._failure = None
        self._stop = None
        self._assignment = assignment
        try:
            with ExitStack() as held:
                asides = await asyncio.to_thread(self._open_run, held)
                if assignment.prepare is not None:
                    await assignment.prepare()
                prompts = self._assigned(said, asides)
                await self._flush()
                if self._stop is not None:  # asked for before there was a run to stop
                    asyncio.get_running_loop().call_soon(self._stop)
                end = await self._agent.prompt(prompts)
                await asyncio.to_thread(self._close_run)
            if self._failure is not None:
                raise self._failure
            return end
        finally:
            self._running = False

    def steer(self, text: str) -> None:
        """Say something while the agent works; it hears it after the tool it is running."""
        self._agent.steer(text)

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

    def park(self) -> None:
        """End the run in memory only: on the disk it stays as it is now, waiting, as after a crash."""
        self._detach()
        self._detach = _nothing
        self._agent.abort("left waiting")

    def settle(self, result: ToolResultTurn) -> None:
        """Answer a call of `left_open`; only from an assignment's `prepare`.

        Raises:
            InvalidValue: it is not open any more.
        """
        if self._session is not None:
            self._session.settle(result)
            self._agent.turns = self._session.recent

    def begin_call(self, call: ToolCallTurn) -> None:
        """Note in the log that a call of `left_open` is about to act."""
        if self._session is not None:
            self._session.begin_left_open(call)

    # -- one run ---------------------------------------------------------------------------------------

    def _open_run(self, held: ExitStack) -> list[Turn]:
        """Take the session's lock, catch up with what others wrote, and return what goes before the words."""
        persona = self._store.get(self.persona_id)
        if (error := persona.error) is not None:
            raise BrokenFile(
                f"The persona {self.persona_id} is broken: {error.message}; mend it with `persona edit "
                f"{self.persona_id}`",
                error.line,
                error.column,
            )
        if self._session is None:
            self.clear()
        session = self._session
        assert session is not None
        held.enter_context(session_lock(self._store, session.id))
        if size_of(session) != self._size:
            self.load()
        if not self._seen.name:
            self._seen.name = persona.name
        return self._asides(persona)

    def _assigned(self, said: str | UserTurn | None, asides: Sequence[Turn]) -> list[Turn]:
        """Make the agent ready for this run and return the turns to prompt with."""
        given, agent = self._assignment, self._agent
        agent.system_prompt = system_prompt(self.persona_id, self._seen.name) + given.instructions
        agent.tools = (*self.tools, *given.tools)
        agent.limits = given.limits or self._limits
        agent.when_idle = given.when_idle
        self._desk.unit = given.unit
        words = UserTurn(content=said) if isinstance(said, str) else said
        return [*asides, *given.asides, *([words] if words is not None else [])]

    def _asides(self, persona: Persona) -> list[Turn]:
        """What goes before the person's words: that older turns are left out, what they changed by hand."""
        asides: list[Turn] = []
        spoken = sum(isinstance(turn, UserTurn) for turn in self.turns) + 1
        told = any(isinstance(turn, NoticeTurn) and turn.kind == HISTORY_CUT for turn in self.turns)
        if spoken > self._options.history_turns and not told:
            notice = (
                f"From here on the model is sent your last {self._options.history_turns} messages only "
                "(the setting history_turns)."
            )
            asides.append(NoticeTurn(content=notice, kind=HISTORY_CUT))
        if self._seen.revision and self._seen.revision != persona.revision:
            old = text_of_revision(self._store, self.persona_id, self._seen.revision)
            turn, tells_all = hand_edit_turn(old, self._store.text(self.persona_id))
            asides.append(turn)
            if tells_all and self._desk.seen_prompt is not None:
                self._desk.seen_prompt = persona.system_prompt
        return asides

    def _close_run(self) -> None:
        """Remember what the agent has seen."""
        session = self._session
        assert session is not None
        parked = self._detach is _nothing
        self._size = -1 if parked else size_of(session)
        self.note_seen()

    def note_seen(self) -> None:
        """Remember what the agent has seen of the persona, so that only what others change is told it later."""
        session = self._session
        if session is None:
            return
        try:
            self._seen.revision = self._store.get(self.persona_id).revision
            self._seen.prompt = self._desk.seen_prompt
            self._seen.save(self._store, session.id)
        except PersonaError as error:
            # Forgetting costs one more reading; it must not turn a finished run into a failed one.
            self.problems.append(str(error))

    async def _before_tool_call(self, context: HookContext) -> BeforeAnswer:
        await self._flush()
        gate = self._assignment.gate
        answer = gate(context) if gate is not None else None
        return await answer if isinstance(answer, Awaitable) else answer

    def _what_the_model_sees(self, turns: Sequence[Turn]) -> list[Turn]:
        return [
            UserTurn(content=turn.content) if isinstance(turn, NoticeTurn) and turn.kind == NUDGE else turn
            for turn in with_hand_edits(limit_history(turns, self._options.history_turns))
        ]


def _nothing() -> None:
    pass
