"""What other programs write over a document's file. Blocking."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from personas.errors import PersonaError
from personas.files.text_file import sha256

if TYPE_CHECKING:
    from personas.store import Store


def know(store: Store, persona_id: str) -> None:
    """Store the text that a persona's file holds now, so that what others write over it is a version.

    For whoever shows a text; the first one is version 0. Where the disk refuses, or another process writes for long,
    nothing is stored.
    """
    with contextlib.suppress(PersonaError):
        file = store.file(persona_id)
        content = file.read()
        if file.log(content).last_sha != sha256(content):
            with file.lock():
                file.know(file.read())
