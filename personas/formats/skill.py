"""`skill`: an Agent Skill (`NAME/SKILL.md`). Its text is loaded on demand, so it becomes a skill of the library, never a prompt."""

from __future__ import annotations

from personas.formats.common import named_and_described, prompt_of, take_texts
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
    """Return a skill: the one that the persona was imported as, and below it what its prompt has more; else that prompt."""
    fields, report = named_and_described(source)
    persona, skills = source.persona, [one for one in source.documents if one.kind == "skill"]
    if len(skills) == 1 and (
        not persona.system_prompt.strip() or skills[0].description == persona.description
    ):
        others = [one for one in source.documents if one.kind != "skill"]
        more = prompt_of(source, others)
        text = f"{skills[0].content.rstrip()}\n\n{more}" if more.strip() else skills[0].content
        report = report if others else tuple(note for note in report if note.field != "links")
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
