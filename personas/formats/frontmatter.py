"""Frontmatter: the YAML between two lines of `---` at the top of a Markdown file, and the body behind it. Pure.

Real collections hold much that is no valid YAML, mostly a text with a colon in it that is not quoted. What strict YAML
refuses is read line by line, and the report says so.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from personas.files.frontmatter import frontmatter_span
from personas.formats.secrets import is_secret
from personas.formats.types import Note, Unreadable
from personas.formats.yaml_file import dump_yaml, load_yaml

_MOST_KEYS = 100
"""Keys of a frontmatter that is read line by line."""
_PAIR = re.compile(r"""\s*(?:- +)?["']?(?P<key>[\w.-]+)["']?:(?:\s+(?P<value>.*))?""")
_KEY = re.compile(r"(?P<key>[A-Za-z_][\w-]*):(?:[ \t]+(?P<value>.*)|[ \t]*)\Z")


class Split(NamedTuple):
    """A text taken apart; `header` is None where it has no frontmatter."""

    header: str | None
    body: str


def split(text: str) -> Split:
    """Take a text apart at its frontmatter; one whose frontmatter has no end has none."""
    start, end, body = frontmatter_span(text)
    return Split(text[start:end] if body else None, text[body:])


def read_header(header: str, keys: Collection[str] = ()) -> tuple[dict[str, Any], list[Note]]:
    """Return the fields of a frontmatter, and what a person should know of how they were read.

    Args:
        header: the text between its lines.
        keys: that the format knows; where the frontmatter is no YAML, they alone end a description.

    Raises:
        Unreadable: it holds a list, or not even lines with keys.
    """
    try:
        fields = load_yaml(header, first_line=2)
    except Unreadable as error:
        header, left_out = _without_secrets(header)
        fields = _read_lines(header, keys)
        if not 0 < len(fields) <= _MOST_KEYS:
            raise
        why = f"read line by line, since {str(error).removesuffix('.')}"
        return fields, [Note("frontmatter", "its keys", why), *left_out]
    if fields is None:
        return {}, []
    if not isinstance(fields, dict):
        raise Unreadable("the frontmatter has no keys", 2)
    return fields, []


def _without_secrets(header: str) -> tuple[str, list[Note]]:
    """Return a frontmatter without the lines of a secret and what is indented below them, and a note for each."""
    kept, notes, inside = list[str](), list[Note](), -1
    for number, line in enumerate(header.split("\n"), 2):
        indent = len(line) - len(line.lstrip())
        if inside >= 0 and line.strip() and indent > inside:
            continue
        inside, found = -1, _PAIR.fullmatch(line)
        if found and (why := is_secret(found["key"], (found["value"] or "").strip() or "x")):
            notes.append(Note(f"line {number}: {found['key']}", None, why))
            inside = indent
        else:
            kept.append(line)
    return "\n".join(kept), notes


def _read_lines(header: str, keys: Collection[str]) -> dict[str, Any]:
    chunks: list[tuple[str, list[str]]] = []
    for line in header.split("\n"):
        found = _KEY.match(line)
        in_text = bool(chunks) and chunks[-1][0] == "description"
        if found and found["key"] not in dict(chunks) and (found["key"] in keys or not in_text):
            chunks.append((found["key"], [found["value"] or ""]))
        elif chunks:
            chunks[-1][1].append(line)
    return {key: _value_of(key, lines) for key, lines in chunks[: _MOST_KEYS + 1]}


def _value_of(key: str, lines: list[str]) -> Any:
    """Return what one key says: as YAML where it is that by itself, else as the text that stands there."""
    text = "\n".join(lines).strip()
    try:
        alone = load_yaml(f"{key}: " + "\n".join(lines))
    except Unreadable:
        return text
    return alone[key] if isinstance(alone, dict) and list(alone) == [key] else text


def with_frontmatter(fields: Mapping[str, Any], body: str) -> bytes:
    """Return a file with these fields above a body, which stays as it is."""
    return f"---\n{dump_yaml(dict(fields), blocks=False)}---\n\n{body}".encode()
