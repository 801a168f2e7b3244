"""What an unsaved change of a document does to the personas that use it: their test inputs on before and after."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from tui.document.library_slots import as_typed, document_of
from tui.outputs.controller import NO_MODEL
from tui.screens.dialogs.comparison import ShowComparison
from tui.screens.library.blast_radius import ShowBlastRadius

if TYPE_CHECKING:
    from agent.outputs.blast_radius import BlastRadius, Touched
    from tui.app.host import Host
    from tui.document.controller import DocumentController
    from tui.outputs.controller import OutputsController


class LibraryTrial:
    """Tries the open document as it is typed.

    Args:
        host: the main screen.
        documents: has the open document.
        outputs: runs test inputs.
    """

    def __init__(self, host: Host, documents: DocumentController, outputs: OutputsController) -> None:
        self._host, self._documents, self._outputs = host, documents, outputs

    async def show(self) -> bool:
        """Run and show the tests of all who use it, before and after; return whether it is to be saved."""
        document = self._documents.document
        read = document_of(document.persona) if document is not None else None
        if document is None or read is None or document.broken:
            return False
        if not document.dirty:
            self._host.show_message("Everything is saved. Change something first, then try it.")
            return False
        from agent.outputs.blast_radius import BlastRadius

        changed = as_typed(read, lambda slot_id: document.slot(slot_id).text)

        def prepare() -> BlastRadius:
            evaluator = self._outputs.evaluator
            return BlastRadius(evaluator, changed, fixed=evaluator.is_connected)

        radius = await asyncio.to_thread(prepare)
        if not radius.persona_ids:
            self._host.show_message("This changes the prompt of no persona.")
            return False
        dialog = ShowBlastRadius(document.id.replace("/", " "), self._compare, self._outputs.stop)
        self._host.start(self._fill(dialog, radius))
        return bool(await self._host.ask(dialog))

    async def _fill(self, dialog: ShowBlastRadius, radius: BlastRadius) -> None:
        """Show what is known, run what is missing, and show what comes of it."""
        dialog.show_report(await asyncio.to_thread(radius.report))
        outputs = self._outputs
        if not radius.missing:
            return
        if not outputs.evaluator.is_connected:
            dialog.show_sentence(f"{radius.missing} outputs are missing. {NO_MODEL}")
            return

        def show_progress() -> None:
            if (progress := outputs.progress) is not None:
                dialog.show_sentence(f"Running: {' · '.join(progress.parts)}")

        end_observing = outputs.observe(show_progress)
        try:
            await outputs.perform(radius.run, lambda: radius.missing, radius.estimate())
        finally:
            end_observing()
            dialog.show_report(await asyncio.to_thread(radius.report))

    def _compare(self, touched: Touched) -> None:
        """Show the outputs of one persona side by side."""
        dialog = ShowComparison(f"Comparison: {touched.title}", ("as it is", "as you typed it"))
        self._host.program.push_screen(dialog)
        dialog.show_comparison(touched.comparison)
