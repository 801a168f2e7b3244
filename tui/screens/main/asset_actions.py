"""What the agent left behind for the open persona: its assets, to be opened in an editor, and its measurements."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

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
        from tui.external_editor.launcher import edit_asset
        from tui.screens.dialogs.picker import Pick
        from tui.widgets.virtual_list import Row

        if (opened := self._opened()) is None:
            return
        home, persona_id = opened
        found = {one.name: one for one in await asyncio.to_thread(list_assets, home, persona_id)}
        if not found:
            self._host.show_message("No assets yet: ask the agent to write something down.")
            return
        rows = [
            Row(one.name, one.name, tail=f"{one.size} B, {one.at[:16].replace('T', ' ')}")
            for one in found.values()
        ]
        name = await self._host.ask(
            Pick(f"Assets of {persona_id}: Enter opens one in your editor", rows, filter=True)
        )
        if name is not None:
            await edit_asset(self._host.program, home, found[name])

    async def _measurements(self) -> None:
        from personas.measurements import dimensions, read_measurements
        from tui.screens.dialogs.picker import Pick
        from tui.widgets.virtual_list import Row

        if (opened := self._opened()) is None:
            return
        home, persona_id = opened
        found = {
            one.name: one for one in dimensions(await asyncio.to_thread(read_measurements, home, persona_id))
        }
        if not found:
            self._host.show_message("No measurements yet: ask the agent to score the persona.")
            return
        rows = []
        for name, last, spread, count, when, line in (one.row for one in found.values()):
            rows.append(
                Row(
                    name,
                    f"{last} ({spread}), {count} times, last {when}",
                    head=name,
                    tail=line,
                    head_cells=12,
                )
            )
        at = ""
        while (at := await self._host.ask(Pick(f"Measurements of {persona_id}", rows, at=at))) is not None:
            single = [
                Row(
                    str(number),
                    one.notes,
                    head=f"{one.time[:16].replace('T', ' ')}  {one.score:g}",
                    tail=one.source,
                )
                for number, one in enumerate(reversed(found[at].measurements))
            ]
            await self._host.ask(Pick(at, single))
