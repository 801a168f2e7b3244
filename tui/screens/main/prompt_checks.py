"""Which version turned a verdict, and what each piece of the prompt is good for: asked, run, and shown."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from personas.errors import InvalidValue
from tui.commands.registry import sentence
from tui.outputs.controller import NO_MODEL
from tui.outputs.findings import ASCII_SIGNS, SIGNS, summary
from tui.widgets.prompt_pane import PromptPane
from tui.widgets.test_input_list import TestInputList

if TYPE_CHECKING:
    from agent.outputs.bisect_run import Bisected
    from agent.outputs.coverage import CoverageRun
    from agent.outputs.evaluator import Evaluator
    from personas.persona import Persona
    from tui.app.host import Host
    from tui.outputs.controller import OutputsController
    from tui.screens.main.layout import PaneLayout
    from tui.screens.main.persona_view import PersonaView
    from tui.widgets.chat_bar import ChatBar


class PromptChecks:
    """The commands `bisect` and `coverage`.

    Args:
        host: the main screen.
        view: shows the open persona.
        panes: its panes.
        chat_bar: while something is written there, no dialog comes between.
        outputs: runs the test inputs.
        flush: stores unsaved text.
    """

    def __init__(
        self,
        host: Host,
        view: PersonaView,
        panes: PaneLayout,
        chat_bar: ChatBar,
        outputs: OutputsController,
        flush: Callable[[], Coroutine[Any, Any, None]],
    ) -> None:
        self._host, self._view, self._chat_bar = host, view, chat_bar
        self._outputs, self._flush = outputs, flush
        self._tests, self._prompt = panes.widget(TestInputList), panes.widget(PromptPane)

    # -- bisect -------------------------------------------------------------------------------------------

    def action_bisect(self) -> None:
        self._host.start(self.bisect())

    async def bisect(self, input_id: str = "", *, good: int | str | None = None) -> None:
        """Find the version that turned the verdict of a test input, and show it.

        Args:
            input_id: which; empty: the one whose row has the cursor, else the person chooses.
            good: a version from before it turned; None: the first that has passed so far.
        """
        from agent.outputs.bisect_run import BisectRun
        from agent.outputs.variant import chosen_inputs

        if (persona := self._outputs.persona) is None:
            self._host.show_message("Open a persona first.")
            return
        if not (input_id or (input_id := await self._choose(persona) or "")):
            return
        evaluator, persona = await self._ready(persona)
        if not evaluator.is_connected:
            raise InvalidValue(NO_MODEL)
        [test_input] = chosen_inputs(persona, [input_id])
        stored = self._outputs.all_stored
        search = await asyncio.to_thread(
            BisectRun, evaluator, persona, test_input, good=good, fixed=True, stored=stored
        )
        if not search.most:
            self._host.show_message("All versions have the same prompt; there is nothing to search.")
            return
        found = await self._outputs.perform(
            search.run, lambda: search.most, search.estimate(), name=f"Bisect of {input_id}"
        )
        if found is not None:
            await self._show(persona, input_id, found)

    async def _choose(self, persona: Persona) -> str | None:
        from tui.screens.dialogs.picker import Picker
        from tui.widgets.virtual_list import Row

        inputs = [one for one in persona.test_inputs if one.expect]
        here = self._tests.rows.key or ""
        if not inputs:
            self._host.show_message("No test input has a pass/fail verdict yet. Add an expectation first.")
            return None
        if len(inputs) == 1:
            return inputs[0].id
        if self._tests.rows.has_focus and any(one.id == here for one in inputs):
            return here
        rows = [Row(one.id, one.id, one.content) for one in inputs]
        chosen: str | None = await self._host.ask(Picker("The verdict of which test input?", rows, at=here))
        return chosen

    async def _show(self, persona: Persona, input_id: str, found: Bisected) -> None:
        from tui.screens.dialogs.bisected import ShowBisected

        if self._chat_bar.draft or self._prompt.editor.has_focus or len(self._host.program.screen_stack) > 1:
            self._host.show_message(f"Bisect of {input_id}: {found.sentence}. /bisect {input_id} shows it.")
            return
        if await self._host.ask(ShowBisected(f"{persona.name} · bisect of {input_id}", found)):
            await self._revert(persona.id, found)

    async def _revert(self, persona_id: str, found: Bisected) -> None:
        from agent.outputs.bisect_run import left_places, revert

        documents = self._view.documents
        assert documents is not None  # a persona was open
        await self._flush()
        store = documents.workspace.store
        persona, left = await documents.workspace.write(revert, store, persona_id, found)
        documents.take(persona)
        message = f"Version {found.bad} is reverted{left_places(left)}."
        self._host.show_message(
            sentence("edit.undo", self._host.keymap, f"{message} {{}} undoes it.", message)
        )

    # -- coverage -----------------------------------------------------------------------------------------

    def action_coverage(self) -> None:
        self._host.start(self.coverage())

    async def coverage(self) -> None:
        """Find what each piece of the prompt is good for, and show it beside the prompt."""
        if (persona := self._outputs.persona) is None:
            self._host.show_message("Open a persona first.")
            return
        evaluator, persona = await self._ready(persona)
        covering = await asyncio.to_thread(self._prepare, evaluator, persona)
        if not covering.pieces:
            self._host.show_message("The prompt has no pieces to remove.")
            return
        if covering.missing and not covering.evaluations[0].inputs:
            raise InvalidValue(NO_MODEL)
        reports = await self._outputs.evaluate(covering.evaluations, name="Coverage")
        if reports is None:
            return
        found = await asyncio.to_thread(covering.found, reports)
        if self._outputs.persona is not None and self._outputs.persona.id == persona.id:
            ascii_only = self._host.program.capabilities.ascii_only
            self._prompt.show_coverage(found, ASCII_SIGNS if ascii_only else SIGNS)
        left_out = f" {', '.join(covering.missing)}: left out. {NO_MODEL}" if covering.missing else ""
        trouble = f" Something could not be run: {found.error}" if found.error else ""
        self._host.show_message(summary(found.pieces) + left_out + trouble, error=bool(trouble))

    def _prepare(self, evaluator: Evaluator, persona: Persona) -> CoverageRun:
        from agent.outputs.coverage import CoverageRun

        variant = evaluator.variant(persona, fixed=evaluator.is_connected)
        return CoverageRun(evaluator, persona, variant, persona.test_inputs, stored=self._outputs.all_stored)

    async def _ready(self, persona: Persona) -> tuple[Evaluator, Persona]:
        """Store what is typed; return what runs, and the persona as it is stored."""
        from agent.outputs.variant import read_runnable

        await self._flush()

        def read() -> tuple[Evaluator, Persona]:
            evaluator = self._outputs.evaluator
            return evaluator, read_runnable(evaluator.store, persona.id)

        return await asyncio.to_thread(read)
