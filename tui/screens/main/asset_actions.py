"""What the agent left behind for the open persona: its assets, to be opened in an editor, and its measurements."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from tui.document.version_names import local_now, when

if TYPE_CHECKING:
    from personas.files.home import Home
    from tui.app.host import Host
    from tui.screens.main.persona_view import PersonaView


class AssetActions:
    """Shows assets and measurements.

    Args:
        host: the main screen.
        view: shows the open persona.
    """

    def __init__(self, host: Host, view: PersonaView) -> None:
        self._host, self._view = host, view

    def action_assets(self) -> None:
        self._host.start(self._assets())

    def action_measurements(self) -> None:
        self._host.start(self._measurements())

    def _opened(self) -> tuple[Home, str] | None:
        """Return the home and what is open of it; None, with a word on it, where nothing is."""
        documents = self._view.documents
        if documents is None or documents.id is None:
            self._host.show_message("Open a persona first.")
            return None
        return documents.workspace.store.home, documents.id

    async def _assets(self) -> None:
        from personas.assets import list_assets
        from tui.screens.dialogs.picker import Picker
        from tui.screens.editor_launcher import edit_asset
        from tui.widgets.virtual_list import Row

        if (opened := self._opened()) is None:
            return
        home, persona_id = opened
        found = {one.name: one for one in await asyncio.to_thread(list_assets, home, persona_id)}
        if not found:
            self._host.show_message("No assets yet: ask the agent to write something down.")
            return
        now = local_now()
        rows = [Row(name, name, tail=f"{one.size} B, {when(one.at, now)}") for name, one in found.items()]
        title = f"Assets of {self._view.name_of(persona_id)}, to open in your editor"
        name = await self._host.ask(Picker(title, rows, filter=True))
        if name is not None:
            await edit_asset(self._host.program, home, found[name])

    async def _measurements(self) -> None:
        from personas.measurements import dimensions, read_measurements, sparkline
        from tui.screens.dialogs.picker import Picker
        from tui.widgets.virtual_list import Row

        if (opened := self._opened()) is None:
            return
        home, persona_id = opened
        measured = await asyncio.to_thread(read_measurements, home, persona_id)
        found = {one.name: one for one in dimensions(measured)}
        if not found:
            self._host.show_message("No measurements yet: ask the agent to score the persona.")
            return
        rows = []
        for name, one in found.items():
            scores = [single.score for single in one.measurements]
            text = f"{scores[-1]:g} ({min(scores):g} to {max(scores):g})"
            rows.append(Row(name, text, head=name, tail=sparkline(scores, 20), head_cells=20))
        title, at, now = f"Measurements of {self._view.name_of(persona_id)}", "", local_now()
        while (at := await self._host.ask(Picker(title, rows, at=at))) is not None:
            newest_first = [
                Row(str(number), one.notes, head=f"{one.score:g}", tail=when(one.time, now), head_cells=5)
                for number, one in enumerate(reversed(found[at].measurements))
            ]
            await self._host.ask(Picker(at, newest_first))
