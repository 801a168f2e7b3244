"""What formats say in their reports: a text that is taken, and what of a persona a file of one prompt does not have. Pure."""

from __future__ import annotations

from typing import Any

from personas.formats.text import plain_text
from personas.formats.types import Note, Source


def take_text(fields: dict[str, Any], key: str, went_to: str, notes: list[Note]) -> str:
    """Take a text out of the fields of a file and return it, empty where there is none; the notes say where it went.

    A number is its text; of nothing, a list or a mapping the note says that it is left out.
    """
    value = fields.pop(key, "")
    if isinstance(value, str):
        if value:
            notes.append(Note(key, went_to))
        return plain_text(value)
    if isinstance(value, bool | int | float):
        notes.append(Note(key, went_to, "it is no text; its text was taken"))
        return str(value)
    notes.append(Note(key, None, "it says nothing (null)" if value is None else "it is no text"))
    return ""


def losses(source: Source, *, but: tuple[str, ...] = ()) -> list[Note]:
    """Return a note for each thing of a persona that a file of one prompt does not have.

    Args:
        source: the persona.
        but: keys that the format does have.
    """
    compiled = Note("links", "the prompt", "parts, traits, skills and guardrails are written out in it")
    found = [compiled] if source.persona.is_linked else []
    if source.persona.arc is not None:
        found.append(Note("arc", None, "the format has no stages; the prompt is that of the present one"))
    whys = {
        "summary": "the format has no second description",
        "tags": "the format has no tags",
        "model": "which model tries it is a matter of this program",
        "judge": "which model judges it is a matter of this program",
        "test_inputs": "the format has no tests",
    }
    return [
        *found,
        *(Note(key, None, why) for key, why in whys.items() if source.fields.get(key) and key not in but),
    ]
