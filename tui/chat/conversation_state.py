"""One persona's conversation as the screen has it: what was said, what is queued, and what its task is."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tui.chat.activity import Activity, WorkTime
from tui.drafts.draft import OutboxMessage

if TYPE_CHECKING:
    from agent.chat.chat import Chat
    from agent.chat.live_session import Mark
    from agent.core.events import Event
    from agent.core.model import Model, Usage
    from agent.core.turns import CustomTurn, Turn, UserTurn
    from agent.jobs.job import Job, Question


@dataclass
class Conversation:
    """One persona's conversation.

    Attributes:
        persona_id: whose.
        chat: the conversation itself, None until it was read.
        task: its last task as it is now, None when none is known.
        news: whether something was said that has not been on the screen.
        run_id: the run that is active, or the last one.
        older: turns from before those that were read at first, once somebody looked for them.
        earlier: the turns before that run; with `events` they are all that is to be shown.
        events: the events of that run.
        marks: steps and endings, by the id of the turn they stand after.
        activity: what the run is at.
        spent: by conversation, what it took since the program started: tokens, and US dollars as far as prices are
            known, None where they are not.
        time: how long the run, or the task it goes on with, has worked, on the monotonic clock.
        sent: what was typed to open it, until the conversation has it.
        sent_id: the id of that turn.
        heard: whether the conversation has that.
        model: what answers in the run that is active, or answered in the last one.
        failure: why the last message could not be sent; empty when it could.
        kept: where the view stood when another persona was opened.
        pinned: whether the panel was pinned then.
        beginning: whether something is about to run.
        reread: whether `earlier` has other turns than before the run began.
        mark_read: of the conversation on disk when others' words were read from it, None before.
        undelivered: by id, what was queued and is not in the conversation yet; see `outbox`.
    """

    persona_id: str
    chat: Chat | None = None
    task: Job | None = None
    news: bool = False
    run_id: str | None = None
    older: tuple[Turn, ...] | None = None
    earlier: tuple[Turn, ...] = ()
    events: list[Event] = field(default_factory=list)
    marks: dict[str, list[CustomTurn]] = field(default_factory=dict)
    activity: Activity = field(default_factory=Activity)
    spent: dict[str, tuple[Usage, float | None]] = field(default_factory=dict)
    time: WorkTime = field(default_factory=WorkTime)
    sent: str = ""
    sent_id: str = ""
    heard: bool = True
    model: Model | None = None
    failure: str = ""
    kept: object | None = None
    pinned: bool = False
    beginning: bool = False
    reread: bool = False
    mark_read: Mark | None = None
    undelivered: dict[str, str] = field(default_factory=dict)
    _run: asyncio.Task[None] | None = None

    @property
    def running(self) -> bool:
        """Whether a task about this persona is at work, or waits, in this program."""
        return self.beginning or (self._run is not None and not self._run.done())

    @property
    def question(self) -> Question | None:
        """What it waits for the person to answer; None for nothing."""
        task = self.task
        if task is None or not task.is_waiting or task.pending is None or task.pending.answer is not None:
            return None
        return task.pending

    @property
    def unit_id(self) -> str | None:
        """By what the agent's changes in the run that is active, or the last one, are undone."""
        return (self.chat.unit if self.chat is not None else None) or self.run_id

    @property
    def _session_id(self) -> str:
        # Not `chat.session_id`, which looks on the disk where nothing was said yet: this is asked at every key.
        return (self.chat.session.mark[0] if self.chat is not None else None) or ""

    @property
    def usage(self) -> Usage | None:
        """The tokens that the open conversation took since the program started; None for none."""
        return self.spent[self._session_id][0] if self._session_id in self.spent else None

    @property
    def cost(self) -> float | None:
        """The US dollars it took since then, as far as prices are known."""
        return self.spent[self._session_id][1] if self._session_id in self.spent else None

    @property
    def queued(self) -> list[tuple[UserTurn, bool]]:
        """What was said and is not delivered yet, each with whether it waits until the agent is done."""
        if self.chat is None:
            return []
        soon, later = self.chat.queued
        return [*((turn, False) for turn in soon), *((turn, True) for turn in later)]

    def outbox(self) -> list[OutboxMessage]:
        """Return what the person said and the conversation does not have yet, in the order of sending."""
        queued = {turn.id: turn.content for turn, _ in self.queued}
        left = {key: text for key, text in self.undelivered.items() if key not in queued}
        if left and (
            self.chat is None or self.chat.session.failure is None
        ):  # else its log may not have them
            for turn_id in {turn.id for turn in self.shown}.intersection(left):
                del left[turn_id]
        self.undelivered = {**left, **queued}
        where, session_id = self.persona_id, self._session_id
        waiting = [OutboxMessage(where, *item, session_id, "queued") for item in self.undelivered.items()]
        if self.sent and not self.heard:
            return [OutboxMessage(where, self.sent_id, self.sent, session_id), *waiting]
        return waiting

    def take_back(self, turn_id: str) -> UserTurn | None:
        """Take a queued message back; None when it was delivered already."""
        turn = self.chat.withdraw(turn_id) if self.chat is not None else None
        if turn is not None:
            self.undelivered.pop(turn_id, None)
        return turn

    @property
    def shown(self) -> list[Turn]:
        """The turns that are to be shown, but for the older ones."""
        ended = [event.turn for event in self.events if event.type == "turn_end"]  # type: ignore[union-attr]
        return [*self.earlier, *ended]

    def cut_short(self) -> str:
        """Return what to say of an answer, or a task, in the middle of which a program ended; empty for nothing."""
        task = self.task
        if self.running or self.chat is None:
            return ""
        if task is not None and task.status == "interrupted":
            from agent.jobs.messages import where_it_was

            where = where_it_was(task)
            return f"The program ended while this task was {where}. /continue goes on with it, /stop gives it up."
        if self.chat.session.was_cut and (task is None or task.is_over):
            return "The program ended during this answer; the unfinished part was not kept."
        return ""

    def turns_now(self) -> tuple[Turn, ...]:
        """Return the conversation as it is: a call that waits, or is at work elsewhere, has no result yet."""
        if self.chat is None:
            return ()
        is_open = self.question is not None or (self.task is not None and self.task.is_working)
        return tuple(self.chat.session.turns_on_disk if is_open else self.chat.turns)

    def with_marks(self, turns: Iterable[Turn]) -> list[Turn]:
        """Return turns with the marks that stand between them."""
        shown: list[Turn] = []
        for turn in turns:
            shown.append(turn)
            shown += self.marks.get(turn.id, ())
        return shown

    def mark(self, mark: CustomTurn) -> bool:
        """Put a mark after the last turn; return whether there was one."""
        turns = self.chat.turns if self.chat is not None else ()
        if turns:
            self.marks.setdefault(turns[-1].id, []).append(mark)
        return bool(turns)

    def add_step(self, usage: Usage) -> None:
        """Count what one request took, at the price of the model that answered it."""
        from agent.models.prices import cost

        before, dollars = self.usage, self.cost
        price = cost(self.model.name, usage, self.model.endpoint) if self.model is not None else None
        if price is not None:
            dollars = (dollars or 0.0) + price
        self.spent[self._session_id] = (usage if before is None else before + usage, dollars)
