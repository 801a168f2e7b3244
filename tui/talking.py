"""The conversations of the personas that were opened: their runs go on while another persona is on the screen."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from personas.errors import PersonaError

if TYPE_CHECKING:
    from agent.chat import Chat
    from agent.events import AgentEnd, Event
    from agent.models.base import Model, Usage
    from agent.turns import Turn

MakeChat = Callable[["Talk"], "Chat"]


@dataclass
class Talk:
    """One persona's conversation.

    Attributes:
        persona_id: whose.
        chat: the conversation itself, None until it was read.
        news: whether something was said that has not been on the screen.
        run_id: the run that is active, or the last one.
        older: turns from before those that were read at first, once somebody looked for them.
        earlier: the turns before that run; with `events` they are all that is to be shown.
        events: the events of that run.
        usage: tokens since the program started, summed.
        cost: US dollars since then, as far as prices are known; None where they are not.
        started: when the run began, monotonic seconds.
        sent: the message that opened it.
        failure: why the last message could not be sent; empty when it could.
    """

    persona_id: str
    chat: Chat | None = None
    news: bool = False
    run_id: str | None = None
    older: tuple[Turn, ...] | None = None
    earlier: tuple[Turn, ...] = ()
    events: list[Event] = field(default_factory=list)
    usage: Usage | None = None
    cost: float | None = None
    started: float = 0.0
    sent: str = ""
    failure: str = ""
    _run: asyncio.Task[None] | None = None

    @property
    def running(self) -> bool:
        """Whether the agent works on this persona."""
        return self._run is not None and not self._run.done()

    def add_step(self, usage: Usage, model: Model) -> None:
        """Count what one request took."""
        from agent.models.prices import cost

        self.usage = usage if self.usage is None else self.usage + usage
        price = cost(model.name, usage, model.endpoint)
        if price is not None:
            self.cost = (self.cost or 0.0) + price


class Talks:
    """All conversations of this program.

    Args:
        make_chat: makes the conversation of a persona; may block, runs in a thread.
        on_event: called with every event of every run.
        on_end: called when a run is over, with its end, or None where it failed to begin (`Talk.failure`).
    """

    def __init__(
        self,
        make_chat: MakeChat,
        *,
        on_event: Callable[[Talk, Event], None],
        on_end: Callable[[Talk, AgentEnd | None], None],
    ) -> None:
        self._make_chat = make_chat
        self._on_event = on_event
        self._on_end = on_end
        self._talks: dict[str, Talk] = {}
        self._opening = asyncio.Lock()

    def known(self, persona_id: str | None) -> Talk | None:
        """Return the conversation if it was opened before."""
        return self._talks.get(persona_id) if persona_id is not None else None

    @property
    def marked(self) -> set[str]:
        """The ids with a running agent or unseen turns."""
        return {talk.persona_id for talk in self._talks.values() if talk.running or talk.news}

    @property
    def running(self) -> list[Talk]:
        """The conversations in which the agent works."""
        return [talk for talk in self._talks.values() if talk.running]

    async def open(self, persona_id: str) -> Talk:
        """Return a persona's conversation, read from disk the first time.

        Raises:
            PersonaError: its session cannot be read.
        """
        async with self._opening:
            talk = self._talks.get(persona_id)
            if talk is None:
                talk = Talk(persona_id)
                chat = await asyncio.to_thread(self._load, talk)
                chat.subscribe(lambda event: self._hear(talk, event))
                talk.chat = chat
                talk.earlier = tuple(chat.turns)
                self._talks[persona_id] = talk
            return talk

    def _load(self, talk: Talk) -> Chat:
        chat = self._make_chat(talk)
        chat.load()
        return chat

    def use_model(self, model: Model) -> None:
        """Use another model in every conversation from its next run on."""
        for talk in self._talks.values():
            if talk.chat is not None:
                talk.chat.set_model(model)

    def forget(self, persona_id: str) -> None:
        """The persona is gone."""
        talk = self._talks.pop(persona_id, None)
        if talk is not None and talk.chat is not None and talk.running:
            talk.chat.abort("the persona was deleted")

    def _hear(self, talk: Talk, event: Event) -> None:
        if event.type == "agent_start":
            talk.run_id = event.run_id
            talk.events.clear()
        talk.events.append(event)
        self._on_event(talk, event)

    def send(self, talk: Talk, text: str) -> None:
        """Start a run, or steer the one that is active."""
        if talk.chat is None:
            return
        if talk.running:
            talk.chat.steer(text)
            return
        talk.earlier = tuple(talk.chat.turns)
        talk.events.clear()
        talk.failure, talk.sent, talk.started = "", text, time.monotonic()
        talk._run = asyncio.create_task(self._send(talk, text))

    async def _send(self, talk: Talk, text: str) -> None:
        assert talk.chat is not None
        end: AgentEnd | None = None
        try:
            end = await talk.chat.send(text)
        except PersonaError as error:
            talk.failure = str(error)
        except Exception as error:  # noqa: BLE001 - a fault in a run must not take the screen down
            talk.failure = f"The run failed unexpectedly ({type(error).__name__}: {error})."
        # The task is done a moment later; what is told now must already see it so.
        talk._run = None
        self._on_end(talk, end)

    async def stop_all(self, seconds: float) -> None:
        """Stop every run and wait for them to settle, at most so long."""
        runs = []
        for talk in self.running:
            if talk.chat is not None and talk._run is not None:
                talk.chat.abort("the program was left")
                runs.append(talk._run)
        if runs:
            await asyncio.wait(runs, timeout=seconds)
