"""Finding and replacing in all personas and the library, on the screen."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from personas.errors import InvalidValue
from tui.commands.registry import sentence
from tui.screens.main.persona_actions import NOT_READ
from tui.widgets.prompt_pane import PromptPane

if TYPE_CHECKING:
    from asyncio import Task

    from agent.search.find import Hit
    from agent.search.replace import Left, Replacement
    from personas.persona import Persona
    from personas.store import Store
    from tui.app.host import Host
    from tui.document.controller import DocumentController
    from tui.screens.dialogs.search_results import SearchResults
    from tui.screens.main.layout import PaneLayout
    from tui.screens.main.output_viewing import OutputViewing
    from tui.screens.main.persona_view import PersonaView

MOST = 1_000
"""Lines that are shown at most."""


class SearchActions:
    """Finds text and goes to it; replaces text once its diffs were seen.

    Args:
        host: the main screen.
        view: shows the open persona.
        panes: of the main screen.
        viewing: shows outputs.
    """

    def __init__(self, host: Host, view: PersonaView, panes: PaneLayout, viewing: OutputViewing) -> None:
        self._host, self._view, self._panes, self._viewing = host, view, panes, viewing

    def action_find_everywhere(self) -> None:
        self._host.start(self.find(""))

    def action_replace_everywhere(self) -> None:
        self._host.start(self.replace())

    @property
    def _documents(self) -> DocumentController | None:
        if self._view.documents is None:
            self._host.show_message(NOT_READ)
        return self._view.documents

    async def find_in_prompt(self) -> bool:
        """Find in the text of the prompt, if the person is in it; return whether that is so."""
        is_there = self._panes.here == "prompt" and self._panes.over_prompt is None
        if is_there:
            await self._panes.widget(PromptPane).find()
        return is_there

    # -- finding --------------------------------------------------------------------------------------------

    async def find(self, text: str) -> None:
        """Show where a text stands, and go where the person chooses; without a text ask for it."""
        from tui.screens.dialogs.search_results import SearchResults
        from tui.screens.dialogs.text_prompt import AskLine

        if (documents := self._documents) is None:
            return
        if not text:
            question = "Find in all personas and the library"
            text = await self._host.ask(AskLine(question, exact=True, wanted="Enter a text to find."))
        if not text:
            return
        await documents.flush()
        hits: list[Hit] = []
        reading: Task[None] | None = None

        def search(is_regex: bool) -> None:
            nonlocal reading
            if reading is not None:
                reading.cancel()
            hits.clear()
            reading = self._host.start(self._read(dialog, documents, text, is_regex, hits))

        dialog = SearchResults(text, search, lambda key: _in_full(hits[int(key)]) if hits else "")
        key = await self._host.ask(dialog)
        if reading is not None:
            reading.cancel()
        if key is not None:
            await self._go(documents, hits[int(key)])

    async def _read(
        self, dialog: SearchResults, documents: DocumentController, text: str, is_regex: bool, hits: list[Hit]
    ) -> None:
        """Show in a dialog what is found."""
        from tui.widgets.virtual_list import Row

        try:
            hits[:] = await documents.workspace.call(_find, documents.workspace.store, text, is_regex)
        except InvalidValue as error:
            dialog.refuse(str(error))
        width = max((len(hit.id) for hit in hits), default=0)
        dialog.show_rows(
            [
                Row(str(at), hit.shown, hit.id, _place(hit), head_cells=min(width, 20))
                for at, hit in enumerate(hits)
            ]
        )
        if len(hits) == MOST:
            dialog.show_notification(f"The first {MOST:,} lines are shown.")

    async def _go(self, documents: DocumentController, hit: Hit) -> None:
        """Show the place where something was found."""
        from personas.library_document import parse_key
        from personas.texts import PROMPT

        if "/" in hit.id:
            self._host.open_library(*parse_key(hit.id))
            return
        self._host.leave_talk()
        if documents.id != hit.id:
            await self._view.open_persona(hit.id)
        if documents.id != hit.id:
            return  # it cannot be read, which is told
        if hit.where == PROMPT:
            self._panes.action_go("prompt")
            self._panes.widget(PromptPane).editor.move_cursor((hit.line - 1, hit.column))
            return
        input_id = hit.where.partition(" ")[2]
        self._panes.action_go("tests")
        self._view.select_test_input(input_id)
        if hit.output_id:
            self._viewing.open(input_id, output_id=hit.output_id)

    # -- replacing ------------------------------------------------------------------------------------------

    async def replace(self, old: str = "") -> None:
        """Ask what is to be replaced, where it is not given, and by what; show every change, and write them if the person keeps them."""
        from agent.search.replace import reason
        from tui.screens.dialogs.proposal import ShowProposal
        from tui.screens.dialogs.text_prompt import AskLine

        if (documents := self._documents) is None:
            return
        question = "Replace in all personas and the library"
        wanted = "Enter a text to find."
        if not (old := old or await self._host.ask(AskLine(question, exact=True, wanted=wanted)) or ""):
            return
        new = await self._host.ask(
            AskLine(f"Replace {old} by", hint="empty: remove it", exact=True, wanted="")
        )
        if new is None:
            return
        await documents.flush()
        call, store = documents.workspace.call, documents.workspace.store
        found, left = await call(_preview, store, old, new)
        if not found:
            self._host.show_message(f"Not found: {old}")
            return
        title = f"Replace {old} by {new or 'nothing'} in {_many(len(found))}"
        diff = "".join(one.diff for one in found)
        if await self._host.ask(ShowProposal(title, diff)) == "keep":
            await self._write(documents, found, left, reason(old, new))

    async def _write(
        self, documents: DocumentController, found: list[Replacement], left: Left, reason: str
    ) -> None:
        from agent.search.replace import write

        await documents.flush()
        store = documents.workspace.store

        def write_all() -> tuple[list[str], Left, Persona | None]:
            done, more = write(store, found, reason)
            return done, [*left, *more], store.get(documents.id) if documents.id in done else None

        def take(written: tuple[list[str], Left, Persona | None]) -> None:
            if written[2] is not None:
                documents.take(written[2])

        done, left, shown = await documents.workspace.write_then(write_all, take)
        if left:
            reasons = " ".join(f"{key}: {why}" for key, why in left)
            self._host.show_message(f"Skipped: {reasons}", error=True)
        if done:
            where = "outside of the editors" if shown is not None else f"in {done[0]}"
            back = sentence("edit.undo", self._host.keymap, f" {{}} {where} undoes it.")
            self._host.show_message(f"Replaced in {_many(len(done))}.{back}")


def _find(store: Store, text: str, is_regex: bool) -> list[Hit]:
    from agent.search.find import Search
    from agent.search.pattern import Pattern

    return list(islice(Search(store, Pattern(text, is_regex, any_case=True)).hits(), MOST))


def _preview(store: Store, old: str, new: str) -> tuple[list[Replacement], Left]:
    from agent.search.pattern import Pattern
    from agent.search.replace import all_keys, preview

    return preview(store, Pattern(old), new, all_keys(store))


def _place(hit: Hit) -> str:
    return f"{hit.where}:{hit.line}"


def _in_full(hit: Hit) -> str:
    return f"{hit.id} · {_place(hit)}\n{hit.text.strip()}"


def _many(number: int) -> str:
    return f"{number} document{'' if number == 1 else 's'}"
