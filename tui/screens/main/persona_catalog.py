"""Which personas there are and what the list shows of them; a file is read again only when it changed."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from personas.errors import PersonaError
from personas.files.file_stamp import Stamp, stamp_of
from tui.widgets.persona_list import PersonaEntry, PersonaList

if TYPE_CHECKING:
    from personas.store import Store
    from tui.app.host import Host
    from tui.document.async_store import AsyncStore

FIRST, MOST = 64, 1024
"""Files read in the first go, and the most in one."""


class PersonaCatalog:
    """Keeps the list of personas as the home has them, read in the background.

    Args:
        host: the main screen.
        personas: the pane that shows them.
    """

    def __init__(self, host: Host, personas: PersonaList) -> None:
        self._host, self._personas = host, personas
        self._workspace: AsyncStore | None = None
        self._reader: CatalogReader | None = None
        self._reading: asyncio.Task[Any] | None = None
        self._named = asyncio.Event()  # the names of all personas are read, as far as they can be

    def begin(self, workspace: AsyncStore) -> None:
        """The home is open."""
        self._workspace, self._reader = workspace, CatalogReader(workspace.store)

    @property
    def names_are_read(self) -> bool:
        """Whether it is known what each persona is called."""
        return self._named.is_set()

    def known_name(self, persona_id: str) -> str:
        """Return the name of a persona as far as it is read; else its id."""
        entry = self._personas.entries.get(persona_id)
        return entry.name if entry is not None else persona_id

    async def read(self) -> None:
        """Read which personas there are, then each of them, a few at a time."""
        if self._workspace is None:
            return
        if self._reading is not None:
            self._reading.cancel()
        ids = await self._workspace.ids()
        self._personas.show_ids(ids)
        self._named.clear()
        self._reading = self._host.start(self._read_entries(ids))

    async def _read_entries(self, ids: list[str]) -> None:
        assert self._workspace is not None and self._reader is not None
        call = self._workspace.call
        try:
            for portion in portions(await call(self._reader.changed, ids)):
                self._personas.show_entries(await call(self._reader.read, portion))
        finally:
            if self._reading is asyncio.current_task():
                self._named.set()
                if self._personas.on_entries_changed is not None:
                    self._personas.on_entries_changed()


class CatalogReader:
    """Reads what the list shows of a store's personas. Blocking."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._read: dict[
            str, list[Stamp | None]
        ] = {}  # of the persona's file, and of the one that has its prompt
        self._prompt_files: dict[str, str] = {}

    def changed(self, ids: Sequence[str]) -> list[str]:
        """Return those whose file is not as it was when it was last read here."""
        self._read = {key: self._read[key] for key in ids if key in self._read}
        return [key for key in ids if key not in self._read or self._read[key] != self._stamps(key)]

    def read(self, ids: Sequence[str]) -> list[PersonaEntry]:
        """Return what the list shows of these."""
        found = []
        for persona_id in ids:
            self._read[persona_id] = self._stamps(persona_id)
            try:
                persona = self._store.get(persona_id)
                found.append(PersonaEntry.of(persona))
                self._prompt_files[persona_id] = persona.system_prompt_file  # a new one: it is read once more
            except PersonaError as error:
                found.append(PersonaEntry(persona_id, persona_id, error=str(error)))
        return found

    def _stamps(self, persona_id: str) -> list[Stamp | None]:
        try:
            path = self._store.path(persona_id)
        except PersonaError:
            return []
        beside = self._prompt_files.get(persona_id)
        return [stamp_of(path), *([stamp_of(self._store.home.root / beside)] if beside else [])]


def portions(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    """Cut a list into portions that grow, so that the first come soon and many come quickly."""
    start, size = 0, FIRST
    while start < len(ids):
        yield ids[start : start + size]
        start += size
        size = min(MOST, size * 2)
