"""The file of an open persona is not there: when that is believed, and how it is written back.

Editors and version control take a file away for a moment and put another in its place.
"""

from __future__ import annotations

from collections.abc import Coroutine
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING, Any

from personas.errors import PersonaError, UnknownPersona
from personas.textfile import encode, replace_file

if TYPE_CHECKING:
    from personas.persona import Persona
    from personas.store import Store
    from tui.workspace import Workspace

BELIEVED_AFTER = 2.0
"""Seconds for which a file that is not there may still come back."""
clock = monotonic


class Absence:
    """Whether the file of the open persona is there, and what it held when it was read last."""

    def __init__(self) -> None:
        self._since: float | None = None
        self._text: str | None = None
        self._reads = 0

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

    def read(self, workspace: Workspace, persona_id: str) -> Coroutine[Any, Any, None]:
        """Remember what the file of the open persona holds now, unless another is opened, or it is read anew, meanwhile."""
        self._reads += 1
        return self._read(workspace, persona_id, self._reads)

    async def _read(self, workspace: Workspace, persona_id: str, number: int) -> None:
        with suppress(PersonaError):
            text = await workspace.call(workspace.store.text, persona_id)
            if number == self._reads:
                self._text = text

    @property
    def text(self) -> str:
        """What the file held when it was read last, empty where that is not known."""
        return self._text or ""

    def forget(self, text: str = "") -> None:
        """Another persona is open; `text` is what its file held, where that is known already."""
        self._since, self._text = None, text or None
        self._reads += 1


def write_back(store: Store, persona: Persona, text: str) -> None:
    """Write the file again as it was: from its versions, else as it was read last, else with name and prompt.

    Where a file is there again, it stays as it is. Blocking.

    Args:
        store: where.
        persona: as it was.
        text: what its file held when it was read last, empty where that is not known.

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
    if same or (versions and not text):
        store.restore(persona.id, (same or versions)[0].number, by=USER)
        return
    text = text or SetPrompt(persona.system_prompt).apply(SetName(persona.name).apply(""))
    with suppress(FileExistsError):
        replace_file(path, encode(text), root=store.home.root, exclusive=True)
