"""Undo and redo of what is stored: the last unit, the agent's last run, or the run of one turn.

What is typed in an editor is undone there, by the editor's own undo.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Literal

from personas.errors import Conflict, NothingToUndo, PersonaError
from personas.versions.undo import NOTHING
from tui.commands.registry import sentence
from tui.document.merge import MergeConflict, merge_texts
from tui.terminal.diff_view import shown_counts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tui.document.open_documents import OpenDocuments

Operation = Literal["undo", "redo"]
NOW = "As it is now"
"""What the text is called that stands there while another is offered."""


class StoreUndo:
    """Undoes and redoes units of the store for the open document."""

    def __init__(self, controller: OpenDocuments) -> None:
        self._controller = controller
        self._view = controller.view
        self._workspace = controller.workspace
        self._turn = asyncio.Lock()

    async def step(self, operation: Operation, *, only: str | None = None, record: bool = True) -> None:
        """Undo or redo a unit: the last one, `only="agent"` the agent's last run.

        `record`: an editor can take that back as a step of its own; not where its undo led here.
        """
        async with self._turn:
            if (persona_id := self._controller.id) is None:
                keymap, template = self._view.keymap, " {} in the list of personas brings back a deleted one."
                how = "" if only else sentence("list.restore", keymap, template)
                self._view.show_message(f"Open a persona first.{how}")
                return
            try:
                await self._step(persona_id, operation, only, record)
            except NothingToUndo:
                whose = "of the agent's " if only == "agent" else ""
                self.show_nothing_to_undo(operation, whose)

    def show_nothing_to_undo(self, operation: Operation, whose: str = "") -> None:
        """Say that nothing is left to undo or redo; `whose`: of the agent's."""
        if (persona_id := self._controller.id) is not None:
            self._view.show_message(
                f"There is nothing {whose}to {operation} in {self._view.name_of(persona_id)}."
            )

    async def undo_turn(self, session_id: str, turn_ids: Sequence[str]) -> None:
        """Undo what the run of a turn changed, whatever was done since.

        Args:
            session_id: of the conversation.
            turn_ids: the turn, and those before it, nearest first: one that is no part of what is stored is of the
                run of the one before.
        """
        from agent.transcript.run_index import unit_of_turn

        async with self._turn:
            if (persona_id := self._controller.id) is None:
                return
            call, store = self._workspace.call, self._workspace.store
            unit = await call(unit_of_turn, store, persona_id, session_id, turn_ids)
            if not unit:
                self._view.show_message("The agent's run of this turn changed nothing.")
                return
            try:
                await self._step(persona_id, "undo", unit, True)
            except NothingToUndo:
                self._view.show_message("The agent's run of this turn is undone already.")

    async def _step(self, persona_id: str, operation: Operation, only: str | None, record: bool) -> None:
        """Store what is typed, then have the store take a step, and show that.

        Raises:
            NothingToUndo: no unit is left.
        """
        await self._controller.flush()
        await self._workspace.settled()
        if self._controller.id != persona_id:
            return
        try:
            done = await self._workspace.undo(persona_id, operation, only=only)
        except NothingToUndo:
            raise
        except Conflict as error:
            self._view.start(self._choose(operation, persona_id, error))
            return
        except PersonaError as error:
            self._view.show_message(str(error), error=True)
            return
        self._view.stepped(operation, done.run_id)
        also = f"; also in {done.others}" if done.also else ""
        self._view.show_message(f"{_done(operation)}: {shown_counts(done.summary)}{also}")
        for name, why in done.left:
            self._view.show_message(f"Skipped: {name}: {why}", error=True)
        if done.persona.revision == NOTHING:  # what made the persona is undone
            self._controller.close()
            return
        self._controller.take(done.persona, record=record)

    async def _choose(self, operation: Operation, persona_id: str, conflict: Conflict) -> None:
        """What was written since touches the unit: show both, and store what the person chooses.

        What is written while the person chooses is merged, or shown again.
        """
        from tui.document.merge import spoils
        from tui.document.store_merged import save_file
        from tui.document.value_conflict import in_one_value

        call, view, store = self._workspace.call, self._view, self._workspace.store
        said, file = _done(operation), store.file(persona_id)
        merged = await call(merge_texts, conflict.base, conflict.ours, conflict.theirs)
        if not isinstance(merged, MergeConflict) or len(file.paths_now()) > 1:
            view.show_message(str(conflict), error=True)
            return
        while isinstance(merged, MergeConflict):
            shown = await call(in_one_value, merged)
            wanted = "Before that change" if operation == "undo" else "After that change"
            chosen = await view.choose(shown.conflict, wanted, NOW)
            try:
                text = merged.theirs if chosen is None else await call(shown.whole, chosen)
                if text == merged.theirs:
                    view.show_message(f"Nothing was {said.lower()}.")
                    return
                if await call(spoils, text, merged.ours, merged.theirs):
                    view.show_message(f"Not {said.lower()}: the merged file would not be valid.", error=True)
                    return
                reason = f"{said.lower()} by hand"
                done = await self._workspace.write(
                    save_file, store, persona_id, file.path, merged.theirs, text, reason
                )
            except PersonaError as error:
                view.show_message(str(error), error=True)
                return
            if not isinstance(done, MergeConflict):
                self._controller.take(done.persona)
                return
            merged = done


def _done(operation: Operation) -> str:
    return "Undone" if operation == "undo" else "Redone"
