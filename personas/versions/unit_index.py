"""The index of units of undo that changed several documents: one journal beside all versions."""

from __future__ import annotations

from personas.files.home import Home
from personas.files.journal import Journal

_FILE = "units.jsonl"


class UnitIndex:
    """Says in which documents a unit is to be undone. An entry may be there without the change, never the reverse.

    Args:
        home: the home.
    """

    def __init__(self, home: Home) -> None:
        self._home = home

    def add(self, unit: str, document: str) -> None:
        """Note that a unit is about to change a document.

        Raises:
            OutsideHome, StorageError: that cannot be written.
        """
        with Journal(self._home.inside(self._home.versions) / _FILE) as journal:
            journal.append({"unit": unit, "document": document})

    def documents(self, unit: str | None = None) -> list[str]:
        """Return the keys of the documents that a unit has changed, in the order in which it first did; None: any unit.

        Raises:
            OutsideHome, StorageError: that cannot be read.
        """
        records = Journal(self._home.inside(self._home.versions) / _FILE).read().records
        keys = [record.get("document") for record in records if unit in (None, record.get("unit"))]
        return list(dict.fromkeys(key for key in keys if isinstance(key, str)))
