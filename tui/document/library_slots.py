"""The text slots of a document of the library, and the change that stores one of them. No widget.

Its content (of a trait the instruction) is the slot that a persona's system prompt is; the other keys are fields.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from personas.errors import InvalidValue
from personas.library.documents import FIELDS, Kind, LibraryDocument
from personas.library.folders import SKILL_FILE, path_of
from personas.library_changes import TextChange, set_key, set_skill_key
from personas.library_document import StoredDocument, parse_key
from personas.library_store import check_fields
from personas.toml import edit as toml_edit
from personas.toml.parse import parse
from tui.document.text_slot import FIELD, PROMPT

if TYPE_CHECKING:
    from personas.files.home import Home
    from personas.persona import Persona

STAGE_FIELDS = ("description", "condition", "parts")
"""The keys of a stage that are fields."""


def text_key(kind: Kind) -> str:
    """Return the key whose value is the text of a document; empty for an arc, which has stages."""
    return {"trait": "instruction", "arc": ""}.get(kind, "content")


def field_keys(kind: Kind) -> tuple[str, ...]:
    """Return the keys of a document that are fields."""
    return tuple(key for key in FIELDS[kind] if key not in (text_key(kind), "stages"))


def stage_slot(stage: str, key: str) -> str:
    """Return the id of the slot of a stage's value."""
    return f"{FIELD}stages/{stage}/{key}"


def texts_of(persona: Persona) -> dict[str, str]:
    """Return the stored text of each slot, by slot id; nothing where nothing could be read."""
    if not isinstance(persona, StoredDocument):
        return {}
    document = persona.document
    return {
        PROMPT: document.text,
        **{FIELD + key: _shown(getattr(document, key)) for key in field_keys(document.kind)},
        **{
            stage_slot(stage.name, key): _shown(getattr(stage, key))
            for stage in document.stages
            for key in STAGE_FIELDS
        },
    }


def change_of(home: Home, key: str, slot_id: str, text: str) -> TextChange:
    """Return the change that stores the text of a slot.

    Raises:
        ValueError: the text is no value for this field; the message says so.
    """
    kind, name = parse_key(key)
    if slot_id.startswith(FIELD + "stages/"):
        stage, _, field = slot_id.removeprefix(FIELD + "stages/").rpartition("/")
        return _change_of_stage(stage, field, _words(text) if field == "parts" else text)
    field = text_key(kind) if slot_id == PROMPT else slot_id.removeprefix(FIELD)
    value: Any = _words(text) if field == "tags" else text
    try:
        check_fields(kind, {field: value})
    except InvalidValue as error:
        raise ValueError(str(error)) from None
    path = path_of(home, kind, name)
    in_skill_file = path is not None and path.name == SKILL_FILE
    change = set_skill_key(field, value) if in_skill_file else set_key(kind, field, value)
    return replace(change, typed=slot_id == PROMPT)


def _change_of_stage(stage: str, field: str, value: str | list[str]) -> TextChange:
    def edit(text: str) -> str:
        stages = parse(text).get("stages")
        for at, one in enumerate(stages if isinstance(stages, list) else []):
            if isinstance(one, dict) and one.get("name") == stage:
                return (
                    toml_edit.set_value(text, ("stages", at, field), value) if value or field in one else text
                )
        raise InvalidValue(f"There is no stage {stage!r} any more.")

    return TextChange(f"stage {stage}", f"{field} of stage {stage} set", edit)


def _shown(value: str | tuple[str, ...]) -> str:
    return value if isinstance(value, str) else ", ".join(value)


def _words(text: str) -> list[str]:
    return list(dict.fromkeys(word for word in (part.strip() for part in text.split(",")) if word))


def without_file(key: str, text: str) -> StoredDocument:
    """Return a document whose file is gone, as far as it is known: its text."""
    kind, name = parse_key(key)
    known = LibraryDocument(kind=kind, name=name, content=text, instruction=text)
    return StoredDocument(id=key, name=key, document=known)


def document_of(persona: Persona | None) -> LibraryDocument | None:
    """Return what could be read of a document; None where nothing could."""
    return persona.document if isinstance(persona, StoredDocument) else None
