"""`claude`: a subagent of Claude Code, Markdown with frontmatter (`.claude/agents/NAME.md`)."""

from __future__ import annotations

from typing import Any

from personas.formats.frontmatter import read_header, split, with_frontmatter
from personas.formats.notes import losses, take_text
from personas.formats.text import hyphened, one_line, stem_of, text_of, without_blank_start
from personas.formats.toml_ready import toml_ready
from personas.formats.types import Exported, Format, Imported, ImportedPersona, Note, Source, Unreadable

_TABLE = "x.claude"
_KEYS = frozenset(
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
    fields, report = read_header(header, _KEYS)
    persona_name, fields, kept, notes = take_texts(fields, _TABLE, fallback=stem_of(name))
    prompt = without_blank_start(body)
    persona = ImportedPersona(
        name=persona_name,
        fields={**fields, "system_prompt": prompt},
        kept=kept,
        report=(*report, *notes, Note("body", "system_prompt")),
    )
    return Imported((persona,))


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


def write(source: Source) -> Exported:
    """Return a subagent with the effective prompt of a persona."""
    fields, report = named_and_described(source)
    name = hyphened(source.persona.name, source.persona.id)
    return Exported({f"{name}.md": with_frontmatter(fields, source.prompt)}, report)


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
