"""`markdown`: plain Markdown. `AGENTS.md` and its like become one part of a persona, other files its prompt.

In a file of the person's own an export lives between two markers; the rest of the file stays byte for byte. In the file that
a persona was imported from, it takes the place of the text: a hash of that is kept.
"""

from __future__ import annotations

import re
from hashlib import sha256
from typing import Any

from personas.formats.claude import KEYS
from personas.formats.common import losses, take_texts
from personas.formats.frontmatter import Split, read_header, split, with_frontmatter
from personas.formats.text import ended, folder_of, hyphened, stem_of, text_of, without_blank_start
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

_PARTS = {
    "AGENTS": "context",
    "CLAUDE": "context",
    "GEMINI": "context",
    "SOUL": "soul",
    "IDENTITY": "identity",
}
"""Files known by their names, without `.md`, and the types of the parts that they become."""
_BEGIN = "<!-- persona-editor: {} -->"
_END = "<!-- persona-editor: end -->"
_WHOLE = re.compile(r"<!-- persona-editor: .* -->\n(?P<text>(?s:.*))<!-- persona-editor: end -->\n?\Z")


def read(content: bytes, name: str) -> Imported:
    """Return the text of a file as a part, where its name says what it is, else as a prompt."""
    header, body = _split(text_of(content))
    fields, report = ({}, list[Note]()) if header is None else read_header(header, KEYS)
    if (ours := _WHOLE.match(body)) and _END not in ours["text"]:
        body = ours["text"]
    if not body.strip():
        raise Unreadable("it has no text")
    stem = stem_of(name)
    kind = _PARTS.get(stem)
    fallback = stem if kind is None else _title(body) or folder_of(name).strip(".") or stem
    display, texts, kept, notes = take_texts(fields, "x.markdown.header", fallback=fallback)
    table: dict[str, Any] = {"source_hash": _hash(body)}
    if header is not None:
        said = {key: fields[key] for key in ("name", "description") if isinstance(fields.get(key), str)}
        table["header"] = {**said, **kept}
    documents: tuple[NewDocument, ...] = ()
    if kind is None:
        texts["system_prompt"] = body
        notes.append(Note("text", "system_prompt"))
    else:
        table["file"] = name.rpartition("/")[2]
        documents = (NewDocument("part", stem.lower(), {"type": kind, "content": body}),)
        notes.append(Note("text", f"part {stem.lower()}"))
    persona = ImportedPersona(
        name=display, fields=texts, kept=table, documents=documents, report=(*report, *notes)
    )
    return Imported((persona,))


def _split(text: str) -> Split:
    header, body = split(text)
    return Split(header, body if header is None else without_blank_start(body))


def _title(text: str) -> str:
    """Return the heading that a text begins with, empty where it has none, or one that only says a file's name."""
    found = re.match(r"\s*# +(.{1,80})\n", text)
    title = "" if found is None else found[1].strip("# \t")
    return "" if title.partition(".md")[0].upper() in _PARTS else title


def _hash(text: str) -> str:
    return sha256(text.strip().encode()).hexdigest()


def write(source: Source) -> Exported:
    """Return the effective prompt of a persona between its markers, under the frontmatter that its file had."""
    persona, header = source.persona, source.kept.get("header")
    if _END in source.prompt:
        raise Unreadable(f"the prompt holds {_END!r}, which would end it")
    block = f"{_BEGIN.format(persona.id)}\n{ended(source.prompt)}{_END}\n"
    report = [Note("system_prompt", "the text"), *losses(source)]
    if isinstance(header, dict):
        now = {"name": persona.name, "description": persona.description}
        fields = {key: now.get(key, value) for key, value in header.items()}
        content = with_frontmatter(fields, block)
    else:
        content = block.encode()
        if persona.description:
            report.append(Note("description", None, "plain Markdown has nothing but the text"))
    file = source.kept.get("file")
    name = (
        file
        if isinstance(file, str) and re.fullmatch(r"\w+\.md", file)
        else f"{hyphened(persona.name, persona.id)}.md"
    )
    came_from = source.kept.get("source_hash")
    return Exported({name: content}, tuple(report), came_from if isinstance(came_from, str) else "")


def with_block(there: bytes, exported: Exported) -> tuple[bytes, str]:
    """Return a file that is there with the block of an export, and where in it that is.

    It takes the place of the one of the same persona, or of the text that the persona was imported from; else it goes to
    the end.

    Raises:
        Unreadable: the block in the file has no end, or the file is not UTF-8.
    """
    text = text_of(there)
    new = b"\r\n" if b"\r\n" in there else b"\n"
    content = next(iter(exported.files.values()))
    block = content[content.index(b"<!-- persona-editor: ") :].replace(b"\n", new)
    first, last = block.split(new, 1)[0], _END.encode()
    start = there.find(first)
    if start < 0 and _hash(body := _split(text).body) == exported.came_from:
        above = there.splitlines(keepends=True)[: text[: len(text) - len(body)].count("\n")]
        return b"".join(above) + block, "in place of the text that the persona was imported from"
    if start < 0:
        gap = b"" if not there else new if there.endswith(b"\n") else new + new
        return there + gap + block, "at the end of its text"
    end = there.find(last, start)
    if end < 0:
        raise Unreadable(f"its part {first.decode()} has no end; put {_END} behind it")
    return there[:start] + block.rstrip(b"\r\n") + there[end + len(last) :], ""


def fits(_content: bytes, name: str) -> bool:
    """Whether a file has one of the names that say what it is."""
    return name.endswith(".md") and stem_of(name) in _PARTS


FORMATS = (
    Format(
        name="markdown",
        label="Markdown, such as AGENTS.md or SOUL.md",
        suffix=".md",
        read=read,
        write=write,
        fits=fits,
        merge=with_block,
    ),
)
