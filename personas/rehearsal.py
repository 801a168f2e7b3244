"""A store in which changes are made in memory only: what something would write, without writing it."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from personas.changes import Change
from personas.errors import UnknownPersona
from personas.files.text_file import encode
from personas.persona import Persona
from personas.store import Store


class Rehearsal(Store):
    """Reads what is stored, and keeps each change for itself; what is read afterwards is still what is stored.

    Args:
        store: what is read.

    Attributes:
        texts: before and after, by persona or document.
    """

    def __init__(self, store: Store) -> None:
        super().__init__(store.home)
        self.texts: dict[str, tuple[str, str]] = {}

    def change(self, persona_id: str, change: Change, **_given: Any) -> Persona:
        """Apply a change to the text as it would be by then."""
        if persona_id not in self.texts:
            text = ""
            with suppress(UnknownPersona):
                text = self.text(persona_id)
            self.texts[persona_id] = (text, text)
        before, after = self.texts[persona_id]
        self.texts[persona_id] = (before, change.apply(after))
        return self._read(persona_id, encode(self.texts[persona_id][1]))

    def create(self, name: str, **given: Any) -> Persona:
        """Begin a persona without a text."""
        self.texts[given["persona_id"]] = ("", "")
        return Persona(id=given["persona_id"], name=name)

    def delete(self, persona_id: str, **_given: Any) -> int | None:
        """Leave a persona without a text."""
        self.texts[persona_id] = (self.text(persona_id), "")
        return None

    def current_version(self, persona_id: str) -> int:
        """Return 0: nothing is written."""
        return 0
