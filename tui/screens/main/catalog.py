"""Which personas there are and what the list shows of them; a file is read again only when it changed. Blocking."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from personas.errors import PersonaError
from personas.files.file_stamp import Stamp, stamp_of
from tui.widgets.persona_list import PersonaEntry

if TYPE_CHECKING:
    from personas.store import Store

FIRST, MOST = 64, 1024
"""Files read in the first go, and the most in one."""


class Listing:
    """Reads the list of a store's personas."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._read: dict[str, Stamp | None] = {}

    def changed(self, ids: Sequence[str]) -> list[str]:
        """Return those whose file is not as it was when it was last read here."""
        self._read = {key: self._read[key] for key in ids if key in self._read}
        return [key for key in ids if key not in self._read or self._read[key] != self._stamp(key)]

    def read(self, ids: Sequence[str]) -> list[PersonaEntry]:
        """Return what the list shows of these."""
        found = []
        for persona_id in ids:
            self._read[persona_id] = self._stamp(persona_id)
            try:
                found.append(PersonaEntry.of(self._store.get(persona_id)))
            except PersonaError as error:
                found.append(PersonaEntry(persona_id, persona_id, error=str(error)))
        return found

    def _stamp(self, persona_id: str) -> Stamp | None:
        try:
            return stamp_of(self._store.path(persona_id))
        except PersonaError:
            return None


def portions(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    """Cut a list into portions that grow, so that the first come soon and many come quickly."""
    start, size = 0, FIRST
    while start < len(ids):
        yield ids[start : start + size]
        start += size
        size = min(MOST, size * 2)
