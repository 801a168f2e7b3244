"""Where new lines and tables go in a TOML text, and which lines belong to one: the layout of its sections."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from personas.toml.guard import Splice
from personas.toml.nodes import Array, InlineTable, ScannedText, Section, Table, TomlEntry
from personas.toml.parse import BOM
from personas.toml.render import render_key, render_value


def comments_above(text: str, line_start: int, floor: int) -> int:
    """Return where the comment lines directly above a line start, going no further up than `floor`."""
    while line_start > floor:
        above = text.rfind("\n", floor, line_start - 1) + 1
        above = above or floor
        if not text[above:line_start].lstrip(" \t").startswith("#") or not starts_line(text, above):
            break
        line_start = above
    return line_start


def starts_line(text: str, offset: int) -> bool:
    """Whether a line starts at an offset."""
    return offset == 0 or text[offset - 1] in "\n\ufeff"


def section_start(document: ScannedText, section: Section) -> int:
    """Return where a section starts, with the comment lines directly above its header."""
    return comments_above(document.text, section.line_start, section.floor)


def section_end(document: ScannedText, section: Section) -> int:
    """Return where a section ends: behind its last line and the comment lines directly below it.

    Comment lines that touch the next header belong to that header.
    """
    text, pos = document.text, section.content_end
    limit = len(text)
    if section.order + 1 < len(document.sections):
        limit = section_start(document, document.sections[section.order + 1])
    while pos < limit:
        stop = text.find("\n", pos) + 1 or len(text)
        if not text[pos:stop].lstrip(" \t").startswith("#"):
            break
        pos = stop
    return pos


def insert_lines(
    document: ScannedText, at: int, lines: list[str], *, blank_before: bool = False, blank_after: bool = False
) -> Splice:
    """Put lines at the start of a line or at the text's end; a missing final newline stays missing.

    Args:
        blank_before: whether an empty line must separate them from a line above.
        blank_after: the same for a line below.
    """
    text, newline = document.text, document.newline
    body = newline.join(lines)
    above = _line_above(text, at)
    if blank_before and above.strip():
        body = newline + body
    if at < len(text):
        below = text[at : text.find("\n", at) + 1 or len(text)]
        return Splice(at, at, body + newline + (newline if blank_after and below.strip() else ""))
    return Splice(at, at, newline + body if above and not above.endswith("\n") else body + newline)


def insert_key(document: ScannedText, section: Section, source: str) -> Splice:
    """Put a `key = value` behind a section's own lines.

    Args:
        source: the line without its indentation.
    """
    text = document.text
    if section.entries or section.order:
        return insert_lines(
            document, section_end(document, section), [_entry_indent(document, section) + source]
        )
    if len(document.sections) == 1:
        return insert_lines(document, len(text), [source])
    return insert_lines(document, section_start(document, document.sections[1]), [source], blank_after=True)


def assignment(document: ScannedText, keys: Iterable[str], value: Any, section: Section | None = None) -> str:
    """Return `key = value`, spaced as in the section, else as in the rest of the file."""
    candidates = section.entries if section is not None and section.entries else _any_entries(document)
    equals = _equals_of(document, candidates)
    return ".".join(map(render_key, keys)) + equals + render_value(value, document.newline)


def inline_element(document: ScannedText, array: Array, table: dict[str, Any]) -> str:
    """Return a table in braces, spaced as the last one in the array."""
    last = array.entries[-1].value if array.entries else None
    if not isinstance(last, InlineTable) or not last.entries or not table:
        return render_value(table, document.newline)
    equals = _equals_of(document, last.entries)
    padding = " " if document.text[last.start + 1] in " \t" else ""
    pairs = (render_key(key) + equals + render_value(value, document.newline) for key, value in table.items())
    return f"{{{padding}{', '.join(pairs)}{padding}}}"


def table_lines(
    document: ScannedText, names: Iterable[str], table: dict[str, Any], *, element: bool, like: Section | None
) -> list[str]:
    """Return the lines of a new table, header first.

    Args:
        element: whether it is an element of an array of tables.
        like: the section whose indentation and spacing it takes on.
    """
    header = ".".join(map(render_key, names))
    outer = inner = ""
    if like is not None and like.order:
        outer = document.text[like.line_start : like.start]
        inner = _entry_indent(document, like)
    first = f"{outer}[[{header}]]" if element else f"{outer}[{header}]"
    return [first, *(inner + assignment(document, (key,), value, like) for key, value in table.items())]


def is_spaced(document: ScannedText, like: Section | None = None) -> bool:
    """Whether an empty line stands above the section `like`, or above any section if there is no such."""
    text = document.text
    top = len(text) - len(text.lstrip(f"{BOM} \t\r\n"))
    sections = [like] if like is not None else document.sections[1:]
    starts = [section_start(document, section) for section in sections]
    starts = [start for start in starts if start > top]
    return not starts or any(not _line_above(text, start).strip() for start in starts)


def is_below_comment(document: ScannedText, at: int) -> bool:
    """Whether the line above a line start is a comment."""
    return _line_above(document.text, at).lstrip(" \t").startswith("#")


def place_of_new_table(document: ScannedText, ancestors: list[Table], *, element: bool) -> int:
    """Return where the first table of a name goes.

    Args:
        ancestors: the tables it lies in, outermost (the root) first; those not there yet left out.
        element: whether it is an element of an array of tables.
    """
    for table in reversed(ancestors[1:]):
        sections = table.sections()
        if sections:
            return section_end(document, sections[-1])
    if not element:
        for section in document.sections[1:]:
            if section.is_element:
                return _place_before(document, section)
    filled = len(document.text.rstrip(" \t\r\n"))
    return document.text.find("\n", filled) + 1 or len(document.text)


def removal_of_sections(document: ScannedText, sections: Iterable[Section]) -> list[tuple[int, int]]:
    """Return the characters to drop with some sections: their comments and the empty lines above too."""
    text, spans = document.text, []
    for section in sections:
        start, end = section_start(document, section), section_end(document, section)
        kept = text[section.floor : start].rstrip(" \t\r\n")
        after_kept = section.floor + len(kept)
        if kept:
            after_kept = text.index("\n", after_kept) + 1
        if after_kept == len(BOM) * text.startswith(BOM):  # at the top: drop the empty lines below instead
            rest = text[end:]
            skipped = len(rest) - len(rest.lstrip(" \t\r\n"))
            end = text.rfind("\n", end, end + skipped) + 1 or end
        spans.append((min(after_kept, start), end))
    return spans


def deletions(document: ScannedText, spans: Iterable[tuple[int, int]]) -> list[Splice]:
    """Return the removal of whole lines; touching spans become one, a missing final newline stays missing."""
    text = document.text
    merged: list[list[int]] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(end, merged[-1][1])
        else:
            merged.append([start, end])
    if merged and merged[-1][1] == len(text) and not text.endswith("\n"):
        start = merged[-1][0]
        if text.endswith("\r\n", 0, start):
            merged[-1][0] = start - 2
        elif text.endswith("\n", 0, start):
            merged[-1][0] = start - 1
    return [Splice(start, end, "") for start, end in merged]


def _place_before(document: ScannedText, section: Section) -> int:
    """Return the end of the section above, or the section's own start if nothing is above."""
    above = document.sections[section.order - 1]
    if above.entries or above.order:
        return section_end(document, above)
    return section_start(document, section)


def _entry_indent(document: ScannedText, section: Section) -> str:
    if section.entries:
        return document.text[section.entries[-1].line_start : section.entries[-1].start]
    return document.text[section.line_start : section.start]


def _equals_of(document: ScannedText, entries: list[TomlEntry]) -> str:
    """Return the equals sign with the blanks the last entry has around it."""
    if not entries:
        return " = "
    before, _, after = document.text[entries[-1].key_end : entries[-1].value.start].partition("=")
    return f"{' ' if before else ''}={' ' if after else ''}"


def _any_entries(document: ScannedText) -> list[TomlEntry]:
    return next((section.entries for section in document.sections if section.entries), [])


def _line_above(text: str, at: int) -> str:
    """Return the line that ends at an offset, with its newline if it has one."""
    return text[text.rfind("\n", 0, max(at - 1, 0)) + 1 : at].removeprefix(BOM)
