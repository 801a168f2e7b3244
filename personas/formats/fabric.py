"""`fabric`: a pattern of fabric, a folder with `system.md` in it, which is all prompt."""

from __future__ import annotations

from personas.formats.common import losses
from personas.formats.text import folder_of, hyphened, stem_of, text_of
from personas.formats.types import Exported, Format, Imported, ImportedPersona, Note, Source, Unreadable


def read(content: bytes, name: str) -> Imported:
    """Return the pattern of a file; its name is that of its folder."""
    text = text_of(content)
    if not text.strip():
        raise Unreadable("the pattern is empty")
    pattern = folder_of(name) or stem_of(name)
    report = (Note("folder", "name"), Note("text", "system_prompt"))
    return Imported((ImportedPersona(name=pattern, fields={"system_prompt": text}, report=report),))


def write(source: Source) -> Exported:
    """Return a pattern for the folder of a person's own patterns."""
    persona = source.persona
    kept = (
        persona.name if hyphened(persona.name.replace("_", "-"), "") == persona.name.replace("_", "-") else ""
    )
    name = kept or hyphened(persona.name, persona.id)
    report = [Note("system_prompt", "the text"), *losses(source)]
    if persona.description:
        report.append(Note("description", None, "the format has nothing but the text"))
    return Exported({f"{name}/system.md": source.prompt.encode()}, tuple(report))


def fits(_content: bytes, name: str) -> bool:
    """Whether a file is called as a pattern is."""
    return name.endswith("/system.md")


FORMATS = (Format(name="fabric", label="fabric pattern", suffix=".md", read=read, write=write, fits=fits),)
