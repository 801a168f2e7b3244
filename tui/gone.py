"""The file of an open persona is not there: when that is believed, and how it is written back.

Editors and version control take a file away for a moment and put another in its place.
"""

from __future__ import annotations

from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING

from personas.errors import PersonaError, UnknownPersona
from personas.textfile import encode, replace_file

if TYPE_CHECKING:
    from personas.persona import Persona
    from personas.store import Store

BELIEVED_AFTER = 2.0
"""Seconds for which a file that is not there may still come back."""
clock = monotonic


class Absence:
    """Whether the file of the open persona is there, and what it held when it was read last."""

    def __init__(self) -> None:
        self._since: float | None = None
        self._text: str | None = None

    @property
    def noted(self) -> bool:
        """Whether it was not there at the last look."""
        return self._since is not None

    @property
    def believed(self) -> bool:
        """Whether it is gone for good, as far as one can tell."""
        return self._since is not None and clock() - self._since >= BELIEVED_AFTER

    def note(self, *, known: bool = False) -> None:
        """It is not there; `known` where there is no need to wait."""
        if self._since is None or known:
            self._since = clock() - (BELIEVED_AFTER if known else 0)

    def end(self) -> None:
        """It is there."""
        self._since = None

    def read(self, store: Store, persona_id: str) -> None:
        """Remember what the file holds now. Blocking."""
        with suppress(PersonaError):
            self._text = store.text(persona_id)

    @property
    def text(self) -> str:
        """What the file held when it was read last, empty where that is not known."""
        return self._text or ""

    def forget(self, text: str = "") -> None:
        """Another persona is open; `text` is what its file held, where that is known already."""
        self._since, self._text = None, text or None

    def write_back(self, store: Store, persona: Persona) -> None:
        """Write the file again as it was: from its versions, else as it was read last, else with name and prompt.

        Where a file is there again, it stays as it is. Blocking.

        Raises:
            PersonaError: the disk refuses.
        """
        from personas.authorship import USER
        from personas.changes import SetName, SetPrompt

        path = store.path(persona.id)
        if path.exists():
            return
        try:
            versions = store.log(persona.id)
        except UnknownPersona:  # nothing was ever changed in it
            versions = []
        same = [version for version in versions if version.sha == persona.revision]
        if same or (versions and self._text is None):
            store.restore(persona.id, (same or versions)[0].number, by=USER)
            return
        text = self._text
        if text is None:
            text = SetPrompt(persona.system_prompt).apply(SetName(persona.name).apply(""))
        with suppress(FileExistsError):
            replace_file(path, encode(text), root=store.home.root, exclusive=True)
