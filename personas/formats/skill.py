"""`skill`: an Agent Skill (`NAME/SKILL.md`). Its text is loaded on demand, so it becomes a skill of the library, never a prompt."""

from __future__ import annotations

from personas.formats.common import named_and_described, take_texts
from personas.formats.frontmatter import read_header, split, with_frontmatter
from personas.formats.text import folder_of, stem_of, text_of, without_blank_start
from personas.formats.types import (
    Exported,
    Format,
    Imported,
    ImportedPersona,
    NewDocument,
    Note,
    Source,
    Unreadable,
)

_KEYS = frozenset({"name", "description", "license", "compatibility", "metadata", "allowed-tools"})
_BESIDE = ("scripts/", "references/", "assets/")
LONGEST_DESCRIPTION = 1024


def read(content: bytes, name: str) -> Imported:
    """Return a persona that has the skill of a file."""
    header, body = split(text_of(content))
    if header is None:
        raise Unreadable("it has no frontmatter, the lines between two `---` that name a skill")
    fields, report = read_header(header, _KEYS)
    display, texts, kept, notes = take_texts(fields, "x.skill", fallback=folder_of(name) or stem_of(name))
    text = without_blank_start(body)
    description = texts.get("description", "")
    skill = NewDocument("skill", "", {"description": description, "content": text})
    notes.append(Note("body", "skill "))
    if any(folder in text for folder in _BESIDE):
        notes.append(
            Note("files beside it", None, "only SKILL.md is read; scripts and references stay where they are")
        )
    persona = ImportedPersona(
        name=display, fields=texts, kept=kept, documents=(skill,), report=(*report, *notes)
    )
    return Imported((persona,))


def write(source: Source) -> Exported:
    """Return a skill: the one that a persona without a prompt has, else its effective prompt."""
    fields, report = named_and_described(source)
    own = source.documents if not source.persona.system_prompt.strip() else ()
    if len(own) == 1 and own[0].kind == "skill":
        text = own[0].content
        report = tuple(note for note in report if note.field != "links")
    else:
        text = source.prompt
    if len(str(fields["description"])) > LONGEST_DESCRIPTION:
        why = f"longer than the {LONGEST_DESCRIPTION} characters that the format allows; shorten it"
        report = (*report, Note("description", "description", why))
    return Exported({f"{fields['name']}/SKILL.md": with_frontmatter(fields, text)}, report)


def fits(content: bytes, name: str) -> bool:
    """Whether a file is called as a skill is, and has a frontmatter."""
    return name.rpartition("/")[2].lower() == "skill.md" and b"---" in content[:8]


FORMATS = (Format(name="skill", label="Agent Skill", suffix=".md", read=read, write=write, fits=fits),)
