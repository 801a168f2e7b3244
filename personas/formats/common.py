"""What formats do alike: taking name, description and test inputs out of a file and giving them back, and what a file of one prompt loses. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Any

from personas.files.slug import free_id, slug
from personas.formats.text import hyphened, one_line, plain_text
from personas.formats.toml_ready import toml_ready
from personas.formats.types import Note, Source
from personas.library.assembly import assemble
from personas.library.documents import LibraryDocument
from personas.persona import PartLink

_ID_LENGTH = 24


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
        notes.append(Note(key, went_to, "it is not text; its text was taken"))
        return str(value)
    notes.append(Note(key, None, "it says nothing (null)" if value is None else "it is not text"))
    return ""


def take_texts(
    header: dict[str, Any], table: str, *, fallback: str
) -> tuple[str, dict[str, str], dict[str, Any], list[Note]]:
    """Return name, fields, what is kept, and the notes of a frontmatter with `name` and `description`.

    Args:
        header: its fields.
        table: which table it becomes beyond these two, such as `x.claude`.
        fallback: the name where it has none.
    """
    rest, fields, notes = dict(header), dict[str, str](), list[Note]()
    said = rest.get("name")
    name = one_line(take_text(rest, "name", "name", notes)) or fallback
    if isinstance(said, str) and hyphened(name, "") != said:
        rest["name"] = said  # as it stands, so that it can be given back
    if description := take_text(rest, "description", "description", notes):
        fields["description"] = description
    kept, more = toml_ready(rest, table)
    return name, fields, kept, [*notes, *more]


def named_and_described(source: Source) -> tuple[dict[str, Any], tuple[Note, ...]]:
    """Return the fields of a frontmatter with `name`, `description` and what was kept, and the report."""
    persona = source.persona
    name, kept = hyphened(persona.name, persona.id), dict(source.kept)
    known = kept.pop("name", None)
    if isinstance(known, str) and hyphened(one_line(known), "") == name:
        name = known
    description = persona.description or persona.summary or persona.name
    report = (
        Note("name", "name", "" if name == persona.name else f"as {name}"),
        Note(
            "description", "description", "" if persona.description else "taken from the summary, or the name"
        ),
        Note("system_prompt", "the text"),
        *(Note(f"x.{key}", key) for key in kept),
        *losses(source),
    )
    return {"name": name, "description": description, **kept}, report


def prompt_of(source: Source, documents: Iterable[LibraryDocument]) -> str:
    """Return the effective prompt of a persona as if these of its documents were all."""
    names: dict[str, list[str]] = {}
    for one in documents:
        names.setdefault(one.kind, []).append(one.name)
    persona = replace(
        source.persona,
        parts=tuple(PartLink(name=one) for one in names.get("part", ())),
        traits=tuple(names.get("trait", ())),
        skills=tuple(names.get("skill", ())),
        guardrails=tuple(names.get("guardrail", ())),
        arc=None,
    )
    return assemble(persona, {(one.kind, one.name): one for one in documents}).text


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


def input_id(words: str, taken: Collection[str]) -> str:
    """Return a short id for a test input, made of words, not among `taken`."""
    return free_id(slug(words, fallback="test", limit=_ID_LENGTH), taken.__contains__)


def as_inputs(contents: Collection[str]) -> list[dict[str, str]]:
    """Return a test input for each text that is not blank, once."""
    made: dict[str, dict[str, str]] = {}
    for content in contents:
        if content.strip() and content not in made:
            taken = [one["id"] for one in made.values()]
            made[content] = {"id": input_id(content, taken), "content": content}
    return list(made.values())
