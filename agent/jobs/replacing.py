"""A new task in the place of one that could have been continued: what is said of that, and what its log says then."""

from __future__ import annotations

from agent.core.turns import NoticeTurn
from agent.jobs.diff_message import has_changed
from agent.jobs.job import AgentTask
from agent.jobs.messages import replaced_notice
from agent.jobs.recovery import close_log, read_task, refuse_when_waiting
from agent.jobs.saved_approvals import Grants
from personas.errors import BrokenFile, InvalidValue, OutsideHome
from personas.store import Store


class Place:
    """The place a new task takes. All methods are blocking, and for who holds the conversation.

    Args:
        store: where both tasks work.
        grants: of the person.
    """

    def __init__(self, store: Store, grants: Grants) -> None:
        self._store = store
        self._grants = grants
        self._left: AgentTask | None = None  # the task that could be continued; None where the place is free

    def look(self, persona_id: str, session_id: str) -> None:
        """See what is in the place.

        Raises:
            TaskWaits: a task that waits for an answer.
            PersonaError: the disk refuses.
        """
        try:
            left = read_task(self._store, persona_id, is_held=True)
        except (BrokenFile, InvalidValue, OutsideHome):
            left = None  # it is in a conversation that cannot be opened
        refuse_when_waiting(left)
        is_here = left is not None and left.can_continue and left.session_id == session_id
        self._left = left if is_here else None

    def notice(self) -> NoticeTurn | None:
        """Return what the conversation says of the task that stays behind, None where there is none, but a message.

        Raises:
            PersonaError: the disk refuses.
        """
        left = self._left
        if left is None or left.mode != "task":
            return None
        return replaced_notice(left, has_changed(self._store, left))

    def take(self, after: str) -> None:
        """Write that the task that was there is over, and forget what was allowed for it.

        Args:
            after: the turn after which the conversation says so; empty where it does not.

        Raises:
            PersonaError: the disk refuses.
        """
        left, self._left = self._left, None
        if left is not None:
            close_log(self._store, left, after)
            self._grants.end_task(self._store.home.root, left.session_id, left.id)
