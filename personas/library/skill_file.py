"""`SKILL.md`, the open format of skills: frontmatter with name and description, then the content. Pure.

Of the frontmatter, which is YAML, only the texts at its top are read; all else in it is kept unchanged.
"""

from __future__ import annotations

import json
import re

from personas.files.frontmatter import frontmatter_span

_KEY = re.compile(r"(?P<key>[A-Za-z_][\w-]*):(?:[ \t]+(?P<value>.*))?\Z")
_BLOCK = re.compile(r"(?P<style>[|>])[+-]?\d?[ \t]*(?:#.*)?\Z")
_COMMENT = re.compile(r"(?:^|(?<![ \t])[ \t]+)#.*\Z")  # blanks are looked at once, however many there are


def read_skill_file(text: str) -> tuple[dict[str, str], str]:
    """Return the texts of the frontmatter, and the content; without frontmatter, all of it is content."""
    text = text.replace("\r\n", "\n")
    start, end, body = frontmatter_span(text)
    if not body:
        return {}, text
    fields: dict[str, str] = {}
    lines = text[start:end].split("\n")
    for at, line in enumerate(lines):
        if key := _KEY.match(line):
            rest = _indented(lines[at + 1 :])
            fields.setdefault(key["key"], _value((key["value"] or "").strip(), rest))
    return fields, text[body:]


def line_of_key(fields: str, key: str) -> tuple[int, int]:
    """Return the span of a key with its value, both at the end where it is not there."""
    lines, start = re.findall(r".*\n|.+", fields), 0  # a line ends as in `read_skill_file`, at nothing else
    for at, line in enumerate(lines):
        found = _KEY.match(line.rstrip("\r\n"))
        if found and found["key"] == key:
            return start, start + len(line) + sum(len(more) for more in _indented(lines[at + 1 :]))
        start += len(line)
    return start, start


def _indented(lines: list[str]) -> list[str]:
    """Return the lines that belong to the value of the key above them."""
    found = []
    for line in lines:
        if line.strip() and not line[0].isspace():
            break
        found.append(line)
    while found and not found[-1].strip():
        found.pop()
    return found


def _value(first: str, rest: list[str]) -> str:
    if block := _BLOCK.match(first):
        indent = min((len(line) - len(line.lstrip()) for line in rest if line.strip()), default=0)
        lines = [line[indent:] for line in rest]
        return _folded(lines) if block["style"] == ">" else "\n".join(lines)
    text = _folded([first, *(line.strip() for line in rest)])
    if text.startswith('"') and (end := re.match(r'"(?:[^"\\]|\\.)*"', text)):
        try:
            return str(json.loads(end[0], strict=False))
        except ValueError:  # an escape that JSON does not have
            return end[0][1:-1]
    if text.startswith("'") and (end := re.match(r"'(?:[^']|'')*'", text)):
        return end[0][1:-1].replace("''", "'")
    return _COMMENT.sub("", text)


def _folded(lines: list[str]) -> str:
    """Return lines as one; empty ones stand for line ends."""
    return re.sub(r"(?<!\n)\n(?!\n)", " ", "\n".join(lines)).replace("\n\n", "\n").strip()
