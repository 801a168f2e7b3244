"""The persona that the program begins with, read before the screen is drawn. Its text is there at the first paint."""

from __future__ import annotations

from pathlib import Path

from personas.errors import PersonaError
from personas.files.home import open_home
from personas.files.slug import is_id
from personas.files.text_file import read_regular
from personas.folder import stems, with_prompt_file
from personas.persona import Persona, read_persona
from tui.app.ui_state import UiState, load


def read_first(root: Path, wanted: str | None) -> Persona | None:
    """Return the persona that is shown first; None where that is not known yet or its file cannot be read.

    Whatever is wrong is told when the persona is opened.

    Args:
        root: the home; what is missing of it is created.
        wanted: the id that the person asked for; None for the one that was open last, or the first.
    """
    try:
        home = open_home(root)
        persona_id = wanted or (load(home) or UiState()).persona_id or next(filter(is_id, stems(home)), "")
        if not is_id(persona_id):
            return None
        content = read_regular(home.personas / f"{persona_id}.toml", root=home.root)
        persona = read_persona(persona_id, with_prompt_file(home, content))
    except (OSError, PersonaError):
        return None
    return persona if persona.error is None else None
