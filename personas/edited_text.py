"""The diff between two texts of a persona as people edit it: decoded values, not their TOML source."""

from __future__ import annotations

import re

from personas.errors import BrokenFile
from personas.lines import split_lines
from personas.toml.nodes import Section, TomlEntry
from personas.toml.parse import parse
from personas.toml.scanner import scan
from personas.versions.merge import unified_diff

_LEFT_OUT = "…"
"""Stands in the rest of the file where a text was."""
_OF_A_TEXT = re.compile(r"[+-]\s*(?:\[\[?[\w.-]+\]\]?|[\w.-]+\s*=\s*…)?\s*")
"""A line of the rest that comes and goes with a text."""
_HEADING = re.compile(r"^==> (.+\.(?:md|markdown|mdc|txt))\n", re.MULTILINE | re.IGNORECASE)
"""Stands above the text of a prompt's file, see `Document.text`."""


def edited_diff(before: str, after: str, from_name: str = "before", to_name: str = "after") -> str:
    """Return a unified diff of the texts in two documents, each named in its headings; empty for equal ones.

    Nothing that changes is left out: what else differs stands as the file has it, and so does everything where a file
    cannot be read, or differs only in how TOML writes the same.

    Args:
        before, after: as `Document.text` shows them.
        from_name, to_name: what the diff calls them.
    """
    (old, old_beside), (new, new_beside) = _files(before), _files(after)
    diff = _diff_of_first(old, new, from_name, to_name)
    beside = "".join(
        _hunks(*_whole_lines(old_beside.get(name, ""), new_beside.get(name, "")), name)
        for name in {**old_beside, **new_beside}
    )
    return (diff or f"--- {from_name}\n+++ {to_name}\n") + beside if beside else diff


def _files(text: str) -> tuple[str, dict[str, str]]:
    """Return the text of a document's first file, and of the file with its prompt by its name."""
    if not text.startswith("==> "):
        return text, {}
    first, *beside = _HEADING.split(text.partition("\n")[2], 1)
    return first, dict([beside]) if beside else {}


def _diff_of_first(before: str, after: str, from_name: str, to_name: str) -> str:
    try:
        (old, old_rest), (new, new_rest) = _texts(before), _texts(after)
    except BrokenFile:
        return unified_diff(before, after, from_name, to_name)
    if [title for title in old if title in new] != [title for title in new if title in old]:
        return unified_diff(before, after, from_name, to_name)  # something was moved
    hunks = [
        _hunks(*_whole_lines(old.get(title, ""), new.get(title, "")), title)
        for title in dict.fromkeys([*new, *old])
    ]
    rest = _hunks(old_rest, new_rest, "the file")
    if not all(_OF_A_TEXT.fullmatch(line) for line in split_lines(rest) if line[:1] in ("+", "-")):
        hunks.append(rest)
    if not any(hunks):
        return unified_diff(before, after, from_name, to_name)
    return "".join([f"--- {from_name}\n+++ {to_name}\n", *hunks])


def _texts(toml: str) -> tuple[dict[str, str], str]:
    """Return the texts of a file by what they are called, and the file without them.

    Raises:
        BrokenFile: it is not TOML, or two texts have one name.
    """
    parse(toml)
    texts: dict[str, str] = {}
    rest: list[str] = []
    at = 0
    counted: dict[tuple[str, ...], int] = {}
    for section in scan(toml).sections:
        counted[section.keys] = number = counted.get(section.keys, 0) + 1
        own = {
            entry.keys: parse(f"v = {source}")["v"]
            for entry in section.entries
            if (source := toml[entry.value.start : entry.value.end])[:1] in ("'", '"')
        }
        for entry in section.entries:
            if entry.keys not in own:
                continue
            rest += [toml[at : entry.value.start], _LEFT_OUT]
            at = entry.value.end
            if entry.keys == ("id",) and ("content",) in own:
                continue  # it names the content
            title = _title(section, entry, str(own.get(("id",), number)))
            if title in texts:
                raise BrokenFile(f"there are two of {title}")
            texts[title] = own[entry.keys]
    return texts, "".join([*rest, toml[at:]])


def _title(section: Section, entry: TomlEntry, which: str) -> str:
    """Return what a text is called; `which`: of the elements of an array."""
    key = ".".join(entry.keys).replace("_", " ")
    if section.keys == ("test_inputs",):
        title = f"test input {which}{'' if key == 'content' else f' {key}'}"
    elif section.keys:
        title = f"{'.'.join(section.keys)} {which if section.is_element else ''} {key}"
    else:
        title = key
    return " ".join(title.split())


def _whole_lines(old: str, new: str) -> tuple[str, str]:
    """Return two texts that end in a newline, unless that is where they differ."""
    if old and new and old.endswith("\n") != new.endswith("\n"):
        return old, new
    return tuple(text if not text or text.endswith("\n") else f"{text}\n" for text in (old, new))  # type: ignore[return-value]


def _hunks(old: str, new: str, title: str) -> str:
    lines = split_lines(unified_diff(old, new))[2:]
    return "".join(f"{line.rstrip()} {title}\n" if line.startswith("@@ ") else line for line in lines)
