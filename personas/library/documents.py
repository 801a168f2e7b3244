"""What a document of the library is, and reading one from its bytes.

Like a persona, a document is read as far as it makes sense; what is wrong with it is in its `error`, never raised.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from personas.conflict_marks import conflict_in
from personas.errors import BrokenFile, PersonaError
from personas.fields import Fields, FileError, as_file_error, first_fault
from personas.files.text_file import decode, sha256
from personas.library.skill_file import read_skill_file
from personas.toml.parse import parse

Kind = Literal["part", "trait", "skill", "guardrail", "arc"]
KINDS: tuple[Kind, ...] = ("part", "trait", "skill", "guardrail", "arc")

FIELDS: dict[Kind, tuple[str, ...]] = {
    "part": ("type", "description", "summary", "content", "tags"),
    "trait": ("trait_type", "description", "instruction", "tags"),
    "skill": ("description", "content", "tags"),
    "guardrail": ("description", "content", "severity", "tags"),
    "arc": ("description", "summary", "stages"),
}
"""The keys of the documents of a kind."""

PART_TYPES = (
    *(
        "system",
        "agent",
        "soul",
        "identity",
        "skill",
        "specialization",
        "tone",
        "goal",
        "context",
        "protocol",
    ),
    *("backstory", "motivation", "voice", "archetype", "flaw", "relationship"),
)
TRAIT_TYPES = ("personality", "cognitive", "emotional", "social", "behavioral")
SEVERITIES = ("low", "medium", "high", "critical")
CHOICES = {"type": PART_TYPES, "trait_type": TRAIT_TYPES, "severity": SEVERITIES}
"""What the values of some keys may be."""

_TEXTS = ("summary", "content", "instruction", "stages")
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")


def is_name(name: str) -> bool:
    """Whether a text can be the name of a document: lower-case letters, digits and hyphens, at most 64."""
    return _NAME.fullmatch(name) is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """A stage of an arc.

    Attributes:
        condition: when the next one begins; read by the agent that uses it, never evaluated here.
        parts: names of parts that take the place of the persona's own of the same types.
    """

    name: str
    description: str = ""
    condition: str = ""
    parts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LibraryDocument:
    """One document of the library; which fields it has is in `FIELDS`.

    Attributes:
        name: unique within its kind, the key of every reference.
        type: of a part, one of `PART_TYPES` or another word.
        revision: SHA-256 (hex) of its bytes, empty where they cannot be read.
        error: set when it is broken; the other fields then hold what could be read.
        warnings: what the person should look at in a document that is not broken.
    """

    kind: Kind
    name: str
    type: str = ""
    trait_type: str = ""
    description: str = ""
    summary: str = ""
    content: str = ""
    instruction: str = ""
    severity: str = ""
    tags: tuple[str, ...] = ()
    stages: tuple[Stage, ...] = ()
    revision: str = ""
    error: FileError | None = None
    warnings: tuple[str, ...] = ()

    def to_record(self, *, is_whole: bool = True) -> dict[str, Any]:
        """Return it as a JSON object; not whole, it has no texts, as in a list."""
        fields = {**asdict(self), "error": self.error and self.error._asdict()}
        keys = [key for key in FIELDS[self.kind] if is_whole or key not in _TEXTS]
        more = [*(["revision"] if is_whole else []), "error", "warnings"]
        return {"name": self.name, **{key: fields[key] for key in (*keys, *more)}}

    @property
    def text(self) -> str:
        """What it says in detail."""
        return self.instruction if self.kind == "trait" else self.content


def read_document(kind: Kind, name: str, content: bytes, *, is_skill_file: bool = False) -> LibraryDocument:
    """Return the document a file holds; faults become its `error`, never an exception.

    Args:
        kind, name: of the document.
        content: the file's bytes.
        is_skill_file: whether the file is a `SKILL.md`.
    """
    revision = sha256(content)
    try:
        text = decode(content).text
        conflict = conflict_in(text)
        if is_skill_file:
            fields, body = read_skill_file(text)
            said = (
                () if fields.get("name", name) == name else (f"its frontmatter names it {fields['name']!r}",)
            )
            document = LibraryDocument(
                kind=kind,
                name=name,
                description=fields.get("description", ""),
                content=body,
                revision=revision,
            )
            return replace(
                document, warnings=said, error=None if conflict is None else as_file_error(conflict)
            )
        top = parse(text)
    except BrokenFile as error:
        return broken_document(kind, name, error, revision=revision)
    reader = _LibraryFields(top)
    keys: dict[str, Any] = {key: reader.value(key) for key in FIELDS[kind]}
    warnings = tuple(
        f"{key} is {keys[key]!r}, none of {', '.join(CHOICES[key])}" if keys[key] else f"it has no {key}"
        for key in FIELDS[kind]
        if key in CHOICES and keys[key] not in CHOICES[key] and (keys[key] or key != "severity")
    )
    fault = first_fault(text, reader.faults) if reader.faults else None
    return LibraryDocument(kind=kind, name=name, **keys, revision=revision, error=fault, warnings=warnings)


def broken_document(kind: Kind, name: str, error: PersonaError, *, revision: str = "") -> LibraryDocument:
    """Return the document of a file of which nothing can be read."""
    return LibraryDocument(kind=kind, name=name, revision=revision, error=as_file_error(error))


class _LibraryFields(Fields):
    def value(self, key: str) -> Any:
        if key == "stages":
            return self.stages()
        return self.texts(key) if key == "tags" else self.text(key)

    def stages(self) -> tuple[Stage, ...]:
        found: dict[str, Stage] = {}
        for path, table in self.tables("stages"):
            reader = Fields(table)
            name = reader.text("name")
            stage = Stage(
                name=name,
                description=reader.text("description"),
                condition=reader.text("condition"),
                parts=reader.texts("parts"),
            )
            self.faults += [((*path, *where), message) for where, message in reader.faults]
            if name in found:
                self.note((*path, "name"), f"two stages have the name {name[:60]!r}")
            elif name:
                found[name] = stage
            elif table.get("name", "") == "":
                self.note(path, f"stage {int(path[1]) + 1} has no name")
        return tuple(found.values())
