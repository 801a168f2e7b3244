"""A store in which changes are made in memory only: what something would write, without writing it."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from personas.applied import applied
from personas.changes import Change
from personas.errors import UnknownPersona
from personas.persona import Persona
from personas.store import Store


class DryRunStore(Store):
    """Reads what is stored, and keeps each change for itself; what is read afterwards is still what is stored.

    Args:
        store: what is read.

    Attributes:
        contents: before and after, by persona or document.
    """

    def __init__(self, store: Store) -> None:
        super().__init__(store.home)
        self.contents: dict[str, tuple[bytes, bytes]] = {}

    @property
    def texts(self) -> dict[str, tuple[str, str]]:
        """The texts before and after, by persona or document."""
        files = {key: self.file(key) for key in self.contents}
        return {
            key: (files[key].text(before), files[key].text(after))
            for key, (before, after) in self.contents.items()
        }

    def change(self, persona_id: str, change: Change, **_given: Any) -> Persona:
        """Apply a change to the content as it would be by then."""
        file = self.file(persona_id)
        if persona_id not in self.contents:
            content = b""
            with suppress(UnknownPersona):
                content = self._content(file)
            self.contents[persona_id] = (content, content)
        before, now = self.contents[persona_id]
        after, _ = applied(file, now, change)
        self.contents[persona_id] = (before, after)
        return self._read(persona_id, after)

    def create(self, name: str, **given: Any) -> Persona:
        """Begin a persona without a text."""
        self.contents[given["persona_id"]] = (b"", b"")
        return Persona(id=given["persona_id"], name=name)

    def delete(self, persona_id: str, **_given: Any) -> int | None:
        """Leave a persona without a text."""
        self.contents[persona_id] = (self._content(self.file(persona_id)), b"")
        return None

    def current_version(self, persona_id: str) -> int:
        """Return 0: nothing is written."""
        return 0
