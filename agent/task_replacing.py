"""A new task in the place of one that could have been continued: what is said of that, and what its log says then."""

from __future__ import annotations

from agent.grants import Grants
from agent.task import AgentTask
from agent.task_diff import has_changed
from agent.task_found import close_log
from agent.task_words import replaced_notice
from agent.turns import NoticeTurn
from personas.store import Store


class Place:
    """The place a new task takes. All methods are blocking.

    Args:
        store: where both tasks work.
        left: the task that could be continued until now; None where the place is free.
        grants: of the person.
    """

    def __init__(self, store: Store, left: AgentTask | None, grants: Grants) -> None:
        self._store = store
        self._left = left
        self._grants = grants

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
        """Write that the task that was there is over, and forget what was allowed for it. Holds the conversation.

        Args:
            after: the turn after which the conversation says so; empty where it does not.

        Raises:
            PersonaError: the disk refuses.
        """
        left, self._left = self._left, None
        if left is not None:
            close_log(self._store, left, after)
            self._grants.end_task(self._store.home.root, left.session_id, left.id)
