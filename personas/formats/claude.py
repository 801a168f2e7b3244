"""`claude`: a subagent of Claude Code, Markdown with frontmatter (`.claude/agents/NAME.md`)."""

from __future__ import annotations

from personas.formats.common import named_and_described, take_texts
from personas.formats.frontmatter import read_header, split, with_frontmatter
from personas.formats.text import hyphened, stem_of, text_of, without_blank_start
from personas.formats.types import Exported, Format, Imported, ImportedPersona, Note, Source, Unreadable

_TABLE = "x.claude"
KEYS = frozenset(
    [
        "name",
        "description",
        "tools",
        "disallowedTools",
        "model",
        "permissionMode",
        "maxTurns",
        "skills",
        "mcpServers",
        "hooks",
        "memory",
        "background",
        "isolation",
        "color",
        "effort",
    ]
)


def read(content: bytes, name: str) -> Imported:
    """Return the subagent that a file holds."""
    header, body = split(text_of(content))
    if header is None:
        raise Unreadable("it has no frontmatter, the lines between two `---` that name a subagent")
    fields, report = read_header(header, KEYS)
    persona_name, fields, kept, notes = take_texts(fields, _TABLE, fallback=stem_of(name))
    prompt = without_blank_start(body)
    persona = ImportedPersona(
        name=persona_name,
        fields={**fields, "system_prompt": prompt},
        kept=kept,
        report=(*report, *notes, Note("body", "system_prompt")),
    )
    return Imported((persona,))


def write(source: Source) -> Exported:
    """Return a subagent with the effective prompt of a persona."""
    fields, report = named_and_described(source)
    name = hyphened(source.persona.name, source.persona.id)
    return Exported({f"{name}.md": with_frontmatter(fields, source.prompt)}, report)


def fits(content: bytes, name: str) -> bool:
    """Whether a file has a frontmatter with name and description, as a subagent must."""
    if not name.endswith((".md", ".mdc", ".markdown")) or not content[:8].lstrip(b"\xef\xbb\xbf").startswith(
        b"---"
    ):
        return False
    lines = content[:20_000].splitlines()
    return all(any(line.startswith(key) for line in lines) for key in (b"name:", b"description:"))


FORMATS = (
    Format(name="claude", label="Claude Code subagent", suffix=".md", read=read, write=write, fits=fits),
)
