"""Personas for other Python programs: read, with the prompt and the settings to ask a model with."""

from __future__ import annotations

import os
from dataclasses import dataclass, fields

from personas.compiled import Options
from personas.files.home import Home
from personas.files.text_file import expanded
from personas.library.folders import Library
from personas.persona import Persona, broken_file
from personas.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedPersona(Persona):
    """A persona whose file is sound.

    Attributes:
        prompt: its effective prompt: `system_prompt`, and what it links of the library.
    """

    prompt: str


def load(persona_id: str, home: str | os.PathLike[str] | None = None) -> LoadedPersona:
    """See `personas.load`."""
    where = Home.find().home if home is None else Home(expanded(os.fspath(home)))
    persona = Store(where).get(persona_id)
    if (fault := persona.error or persona.note) is not None:  # a note: marks of a merge in its texts
        raise broken_file(persona.id, fault, is_readable=bool(persona.revision))
    known = {one.name: getattr(persona, one.name) for one in fields(persona)}
    return LoadedPersona(**known, prompt=Options().assemble(persona, Library(where)).text)
