"""One message to the agents of many personas: a job each, some at a time. What each changes is a proposal."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from agent.core.turns import new_id
from personas.errors import Busy, PersonaError
from personas.versions.undo import run_together

if TYPE_CHECKING:
    from tui.chat.conversations import ConversationManager


class Broadcast:
    """The message on its way: what is kept of all that it leads to is one unit of undo.

    Args:
        conversations: the conversations.
        persona_ids: whose agents get it.
        text: the message.
        on_change: called when it is further.

    Attributes:
        to_come: the personas whose jobs are not begun yet.
        failed: those for which it failed, each with the reason.
        proposed: those for which something is proposed.
        answered: those whose agent has only answered.
    """

    def __init__(
        self,
        conversations: ConversationManager,
        persona_ids: Sequence[str],
        text: str,
        on_change: Callable[[], object],
    ) -> None:
        self._conversations, self._ids, self._text, self._on_change = (
            conversations,
            persona_ids,
            text,
            on_change,
        )
        self._message_id = new_id("message")
        self._at_work: list[str] = []
        self.to_come = [*persona_ids]
        self.failed: dict[str, str] = {}
        self.proposed: list[str] = []
        self.answered: list[str] = []

    @property
    def parts(self) -> list[str]:
        """How far it is, in words."""
        asking = sum(
            (conversation := self._conversations.known(one)) is not None and conversation.question is not None
            for one in self._at_work
        )
        counts = {
            "done": len(self._ids) - len(self.to_come) - len(self._at_work) - len(self.failed),
            "failed": len(self.failed),
            "waiting for you": asking,
            "at work": len(self._at_work) - asking,
            "to come": len(self.to_come),
        }
        summary = ", ".join(f"{count} {word}" for word, count in counts.items() if count)
        return [f"Message to {len(self._ids)} personas", summary]

    async def run(self) -> None:
        """Have every job run to its end."""
        await asyncio.gather(*map(self._one, self._ids))

    def stop(self) -> None:
        """Begin no further job, and stop those at work."""
        self.to_come.clear()
        for persona_id in self._at_work:
            self._conversations.runner.stop(persona_id, "stopped by you")
        self._on_change()

    async def _one(self, persona_id: str) -> None:
        async with self._conversations.runner.turn(persona_id):
            if persona_id not in self.to_come:
                return  # it was stopped
            self.to_come.remove(persona_id)
            self._at_work.append(persona_id)
            self._on_change()
            try:
                has_proposed = await self._send(persona_id)
                (self.proposed if has_proposed else self.answered).append(persona_id)
            except PersonaError as error:
                self.failed[persona_id] = str(error)
            self._at_work.remove(persona_id)
        self._on_change()

    async def _send(self, persona_id: str) -> bool:
        """Run one job to its end; return whether it proposes something.

        Raises:
            PersonaError: it failed, was stopped, or could not begin.
        """
        conversation = await self._conversations.open(persona_id)
        if conversation.running or conversation.question is not None:
            raise Busy("The agent is at work, or waits for an answer.")
        job_id = run_together(self._message_id, persona_id)
        self._conversations.send(conversation, self._text, proposes=True, job_id=job_id)
        end = await self._conversations.over(conversation)
        if conversation.failure or end is None:
            raise PersonaError(conversation.failure)
        if end.outcome in ("failed", "cancelled"):
            raise PersonaError(end.error.message if end.error is not None else "It was stopped.")
        chat = conversation.chat
        return chat is not None and await asyncio.to_thread(lambda: chat.proposal) is not None
