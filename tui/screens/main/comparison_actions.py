"""Comparing two versions of the open persona on its test inputs: what is missing is run, and comes in."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from personas.errors import PersonaError
from tui.document import version_names
from tui.outputs.controller import NO_MODEL

if TYPE_CHECKING:
    from agent.outputs.comparison import Comparison
    from agent.outputs.evaluation import Evaluation
    from agent.outputs.runner import PlannedSample
    from personas.store import Store
    from tui.app.host import Host
    from tui.chat.controller import ConversationController
    from tui.outputs.controller import OutputsController
    from tui.screens.dialogs.comparison import ShowComparison
    from tui.screens.main.persona_view import PersonaView
    from tui.widgets.conversation import ConversationView


class Prepared(NamedTuple):
    """Two versions that can be compared; `names` are for the person."""

    names: tuple[str, str]
    evaluations: Sequence[Evaluation]

    @property
    def trials(self) -> dict[tuple[int, str], PlannedSample]:
        """The first output of each input that there is none of yet, by side (0 or 1) and input."""
        return {
            (side, trial.test_input.id): trial
            for side, evaluation in enumerate(self.evaluations)
            for trial in reversed(evaluation.plan.trials)
        }

    def compare(self) -> Comparison:
        """Compare what there is of both. Judges all outputs."""
        from agent.outputs.comparison import compare_evaluations

        return compare_evaluations(self.names, self.evaluations, [one.report() for one in self.evaluations])


class ComparisonActions:
    """Opens the comparison of two versions.

    Args:
        host: the main screen.
        view: shows the open persona.
        outputs: what runs and holds its outputs.
        conversations: the persona's conversation, whose runs changed its prompt.
        turns: gives its turns in the panel.
    """

    def __init__(
        self,
        host: Host,
        view: PersonaView,
        outputs: OutputsController,
        conversations: ConversationController,
        turns: Callable[[], ConversationView],
    ) -> None:
        self._host, self._view, self._outputs = host, view, outputs
        self._chat, self._turns = conversations, turns

    def action_compare_versions(self) -> None:
        self._host.start(self.compare())

    def compare_read_run(self) -> bool:
        """Show what the run did that is being read; False where that has not changed the prompt."""
        view = self._turns()
        if not view.reads_prompt_change:
            return False
        self.compare_run(view.turns_up_from_cursor())
        return True

    def compare_run(self, turn_ids: Sequence[str]) -> None:
        """Show what the agent's run of a turn did to the outputs; for the arguments, see `unit_of_turn`."""
        current, documents = self._chat.current, self._view.documents
        session_id = current.chat.session_id if current is not None and current.chat is not None else None
        if documents is not None and documents.id is not None and session_id is not None:
            store = documents.workspace.store
            self._host.start(self._compare_run(store, documents.id, session_id, turn_ids))

    async def _compare_run(
        self, store: Store, persona_id: str, session_id: str, turn_ids: Sequence[str]
    ) -> None:
        found = await asyncio.to_thread(_around_run, store, persona_id, session_id, turn_ids)
        if found is None:
            self._host.show_message("The agent's run of this turn changed nothing.")
        else:
            await self.compare(*found)

    async def compare(self, a: str | int | None = None, b: str | int | None = None) -> None:
        """Show two versions side by side: by default the one before the agent's last run, and now.

        When that is closed, what still runs goes on.
        """
        from tui.screens.dialogs.comparison import ShowComparison

        documents = self._view.documents
        if documents is None or documents.id is None:
            self._host.show_message("Open a persona first.")
            return
        dialog = ShowComparison(f"Comparison: {self._view.name_of(documents.id)}", stop=self._outputs.stop)
        self._host.start(self._fill(dialog, documents.id, a, b))
        await self._host.ask(dialog)

    async def _fill(
        self, dialog: ShowComparison, persona_id: str, a: str | int | None, b: str | int | None
    ) -> None:
        assert self._view.documents is not None
        await self._view.documents.flush()
        try:
            prepared = await asyncio.to_thread(self._prepare, persona_id, a, b)
            found = await asyncio.to_thread(prepared.compare)
        except PersonaError as error:
            dialog.dismiss(None)
            self._host.show_message(str(error), error=True)
            return
        dialog.show_names(prepared.names)
        dialog.show_comparison(found)
        if not (missing := len(prepared.trials)):
            return
        if self._outputs.evaluator.is_connected:
            await self._run(dialog, prepared, found)
        else:
            many = f"{missing} output{'' if missing == 1 else 's'}"
            dialog.show_sentence(f"{many} missing: {NO_MODEL} Of older ones: {found.finding.sentence}.")

    async def _run(self, dialog: ShowComparison, prepared: Prepared, found: Comparison) -> None:
        """Run what is missing, and show it as it comes."""
        outputs, news = self._outputs, asyncio.Event()
        running = self._host.start(outputs.evaluate(prepared.evaluations))
        running.add_done_callback(lambda _: news.set())
        end_observing = outputs.observe(news.set)
        made = 0
        while not running.done() and dialog.is_open:
            await news.wait()
            news.clear()
            if outputs.stored is not None and made != (made := len(outputs.stored.outputs)):
                found = await asyncio.to_thread(prepared.compare)
            if (progress := outputs.progress) is not None:
                arriving = {key: outputs.streamed(trial) for key, trial in prepared.trials.items()}
                dialog.show_comparison(found, arriving, " · ".join(progress.parts))
        end_observing()
        await running
        dialog.show_comparison(await asyncio.to_thread(prepared.compare))

    def _prepare(self, persona_id: str, a: str | int | None, b: str | int | None) -> Prepared:
        """Read both versions, and what is stored of them. Blocking.

        Raises:
            PersonaError: the persona is broken, or there is no such version.
        """
        from agent.outputs.comparison import version_variants
        from agent.outputs.variant import read_runnable

        evaluator = self._outputs.evaluator
        store = evaluator.store
        persona = read_runnable(store, persona_id)
        variants = version_variants(evaluator, persona, a, b, fixed=evaluator.is_connected)
        judge_model = evaluator.judge_name(persona, variants[1])  # one judge for both
        log, current, now = (
            store.log(persona_id),
            store.current_version(persona_id),
            version_names.local_now(),
        )
        before, after = (
            version_names.heading(log, variant.version, current, now, before=is_first)
            for variant, is_first in zip(variants, (True, False), strict=True)
        )
        stored = self._outputs.all_stored
        evaluations = [
            evaluator.evaluation(persona, one, judge_model=judge_model, stored=stored) for one in variants
        ]
        return Prepared((before, after), evaluations)


def _around_run(
    store: Store, persona_id: str, session_id: str, turn_ids: Sequence[str]
) -> tuple[int, int | None] | None:
    """Return the versions before and after the run of a turn, None for the text as it is now. Reads the disk.

    Raises:
        PersonaError: it cannot be read.
    """
    from agent.outputs.comparison import around_unit
    from agent.transcript.run_index import unit_of_turn

    unit = unit_of_turn(store, persona_id, session_id, turn_ids)
    found = around_unit(store.log(persona_id), unit) if unit else None
    if found is None:
        return None
    return found[0], None if found[1] == store.current_version(persona_id) else found[1]
