"""The text slots of a document of the library or of an action, and the change that stores one of them. No widget.

Its content (of a trait the instruction, of an action the whole file) is the slot that a persona's system prompt is; the
other keys are fields.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from personas.action_document import StoredAction, key_of, read_stored
from personas.changes import ReplaceText
from personas.errors import InvalidValue
from personas.library.documents import FIELDS, Kind, LibraryDocument, Stage
from personas.library.folders import SKILL_FILE, path_of
from personas.library_changes import set_key, set_skill_key, set_stage_value
from personas.library_document import StoredDocument, parse_key
from personas.library_store import check_fields
from tui.drafts.draft import FIELD, PROMPT

if TYPE_CHECKING:
    from personas.changes import Change
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
    if isinstance(persona, StoredAction):
        return {PROMPT: persona.text}
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


def change_of(home: Home, key: str, slot_id: str, text: str) -> Change:
    """Return the change that stores the text of a slot.

    Raises:
        ValueError: the text is no value for this field, or no action; the message says so.
    """
    if is_action(key):
        if (error := read_stored(key, text.encode()).error) is not None or not text:
            message = (
                f"{error.message}{f' (line {error.line})' if error.line else ''}" if error else "it is empty"
            )
            raise ValueError(f"Not saved: {message}. What you type is kept.")
        return ReplaceText(text)
    kind, name = parse_key(key)
    if slot_id.startswith(FIELD + "stages/"):
        stage, _, field = slot_id.removeprefix(FIELD + "stages/").rpartition("/")
        return set_stage_value(stage, field, _words(text) if field == "parts" else text)
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


def _shown(value: str | tuple[str, ...]) -> str:
    return value if isinstance(value, str) else ", ".join(value)


def _words(text: str) -> list[str]:
    return list(dict.fromkeys(word for word in (part.strip() for part in text.split(",")) if word))


def as_typed(read: LibraryDocument, text_of: Callable[[str], str]) -> LibraryDocument:
    """Return a document as it is typed; `text_of` gives the text of a slot by its id."""
    keys = (text_key(read.kind), *field_keys(read.kind))
    texts = {key: text_of(PROMPT if key == keys[0] else FIELD + key) for key in filter(None, keys)}
    typed = {key: tuple(_words(text)) if key == "tags" else text for key, text in texts.items()}
    stages = tuple(
        Stage(
            name=one.name,
            description=text_of(stage_slot(one.name, "description")),
            condition=text_of(stage_slot(one.name, "condition")),
            parts=tuple(_words(text_of(stage_slot(one.name, "parts")))),
        )
        for one in read.stages
    )
    return replace(read, **typed, stages=stages)  # type: ignore[arg-type]


def is_action(key: str) -> bool:
    """Whether a key is that of an action."""
    return key.startswith(key_of(""))


def without_file(key: str, text: str) -> Persona:
    """Return a document whose file is gone, as far as it is known: its text."""
    if is_action(key):
        return read_stored(key, text.encode())
    kind, name = parse_key(key)
    known = LibraryDocument(kind=kind, name=name, content=text, instruction=text)
    return StoredDocument(id=key, name=key, document=known)


def document_of(persona: Persona | None) -> LibraryDocument | None:
    """Return what could be read of a document; None where nothing could."""
    return persona.document if isinstance(persona, StoredDocument) else None
