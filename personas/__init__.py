"""The documents: persona files, where they lie, how they are edited, stored and undone.

Knows nothing of agents or screens. Other programs take a persona with `load`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import os

    from personas.loading import LoadedPersona

__all__ = ["load"]


def load(persona_id: str, home: str | os.PathLike[str] | None = None) -> LoadedPersona:
    """Return a persona with its effective prompt (`prompt`) and its model settings (`model`).

    Args:
        persona_id: the stem of its file.
        home: the folder it lives in; None: `$PERSONA_HOME`, else where the program looks.

    Raises:
        UnknownPersona: there is none.
        BrokenFile: its file is broken.
    """
    from personas import loading

    return loading.load(persona_id, home)
