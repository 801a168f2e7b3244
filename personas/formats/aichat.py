"""`aichat`: a role of aichat, Markdown whose frontmatter says how it is run (`roles/NAME.md`)."""

from __future__ import annotations

import re

from personas.formats.common import losses
from personas.formats.frontmatter import read_header, split, with_frontmatter
from personas.formats.text import stem_of, text_of, without_blank_start
from personas.formats.toml_ready import toml_ready
from personas.formats.types import Exported, Format, Imported, ImportedPersona, Note, Source

_TABLE = "x.aichat"
_KEYS = frozenset({"model", "temperature", "top_p", "use_tools"})
_RULE = re.compile(r"^-{3,}[ \t]*$", re.MULTILINE)
_MARKS = {
    "__INPUT__": "aichat puts what the user says in its place",
    "### INPUT:": "aichat takes what follows for an example of a conversation",
}


def read(content: bytes, name: str) -> Imported:
    """Return the persona of a role; examples of conversations in it stay in its prompt."""
    header, body = split(text_of(content))
    fields, report = ({}, []) if header is None else read_header(header, _KEYS)
    kept, notes = toml_ready(fields, _TABLE)
    unknown = "aichat does not read it"
    report += [
        Note(one.field, one.went_to, one.why or ("" if one.field in _KEYS else unknown)) for one in notes
    ]
    why = "; ".join(f"{mark}: {what}" for mark, what in _MARKS.items() if mark in body)
    report.append(Note("body", "system_prompt", why))
    persona = ImportedPersona(
        name=stem_of(name),
        fields={"system_prompt": without_blank_start(body)},
        kept=kept,
        report=tuple(report),
    )
    return Imported((persona,))


def write(source: Source) -> Exported:
    """Return a role with the effective prompt of a persona.

    aichat takes what stands between the first two `---` for the frontmatter, wherever they are. So there is one always,
    and of a text from elsewhere two rules become `***`: aichat saves a role without a frontmatter where that is empty.
    """
    body, why = source.prompt, ""
    if not source.kept and len(_RULE.findall(body)) > 1:
        body, why = (
            _RULE.sub("***", body),
            "its lines of --- are *** there: aichat would lose what is above them",
        )
    marks = [f"{mark}: {what}" for mark, what in _MARKS.items() if mark in body and not source.kept]
    report = [
        Note("name", "the file's name"),
        Note("system_prompt", "the text", "; ".join([*([why] if why else []), *marks])),
        *(Note(f"{_TABLE}.{key}", key) for key in source.kept),
        *losses(source),
    ]
    if source.persona.description:
        report.append(Note("description", None, "the format has no description"))
    return Exported({f"{source.persona.id}.md": with_frontmatter(source.kept, body)}, tuple(report))


_FIELD = re.compile(rb"^(\w+):", re.MULTILINE)


def fits(content: bytes, name: str) -> bool:
    """Whether a Markdown file has a frontmatter of nothing but what a role says."""
    start = content[:20_000].removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n")
    header = start[4:].partition(b"\n---")[0] if start.startswith(b"---\n") else b""
    keys = {key.decode() for key in _FIELD.findall(header)}
    return name.endswith(".md") and bool(keys) and keys <= _KEYS


FORMATS = (Format(name="aichat", label="aichat role", suffix=".md", read=read, write=write, fits=fits),)
