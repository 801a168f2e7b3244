"""The scanner: where in a TOML text every key, value and table stands, as character spans.

Knows nothing of changing the text. It relies on `parse` having accepted the text before.
"""

from __future__ import annotations

import re
import tomllib

from personas.errors import BrokenFile
from personas.toml.nodes import (
    Array,
    InlineTable,
    KeyPath,
    Scalar,
    ScannedText,
    Section,
    Span,
    Table,
    TableArray,
    TomlEntry,
)
from personas.toml.parse import BOM, line_and_column, parse

__all__ = ["KeyPath", "ScannedText", "Span", "locate", "parse", "scan"]


def locate(text: str, path: KeyPath) -> Span | None:
    """Return where the value at a path stands, or None where there is none.

    Raises:
        BrokenFile: the text cannot be scanned.
    """
    document = scan(text)
    node = document.find(path)
    return None if node is None else document.span(node)


def scan(text: str) -> ScannedText:
    """Return the places of everything in a TOML text.

    Raises:
        BrokenFile: the text is not TOML. Not every fault is noticed: call `parse` first.
    """
    lines = text.count("\n")
    newline = "\r\n" if lines and text.count("\r\n") * 2 > lines else "\n"
    sections = _Scanner(text).read_sections()
    root = Table(section=sections[0])
    for section in sections:
        table = _open_section(text, root, section)
        for entry in section.entries:
            _place_entry(text, table, entry)
    return ScannedText(text, root, sections, newline)


_SPACE = re.compile(r"[ \t\r\n]++")
_BLANKS = re.compile(r"[ \t]*+")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]++")
_BASIC = re.compile(r'"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+"')
_LITERAL = re.compile(r"'[^'\n]*+'")
_BASIC_BLOCK = re.compile(r'"""[^"\\]*+(?:(?:\\[\s\S]|"{1,2}(?!"))[^"\\]*+)*+"{3,5}')
_LITERAL_BLOCK = re.compile(r"'''[^']*+(?:'{1,2}(?!')[^']*+)*+'{3,5}")
_PLAIN = re.compile(r"(?:\d{4}-\d{2}-\d{2} (?=\d))?[^\s,\[\]{}#\"'=]++")
_USUAL_LINE = re.compile(
    r"""([A-Za-z0-9_-]++)[ \t]*+=[ \t]*+("[^"\\\n]*+"(?!")|'[^'\n]*+'(?!')|[^\s,\[\]{}#"'=]++)"""
    r"[ \t]*+(?:#[^\n]*+)?(?:\r?\n|\Z)"
)
_STRINGS = (('"""', _BASIC_BLOCK), ("'''", _LITERAL_BLOCK), ('"', _BASIC), ("'", _LITERAL))


class _Scanner:
    """Cuts a text into sections and entries; each pattern takes a whole token, so long strings are cheap."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.pos = 1 if text.startswith(BOM) else 0

    def read_sections(self) -> list[Section]:
        section = Section(self.pos, (), False, self.pos, self.pos, self.pos, 0)
        sections = [section]
        floor = self.pos
        while True:
            line_start = self._skip_to_statement()
            if self.pos >= len(self.text):
                return sections
            if self.text[self.pos] == "[":
                section = self._read_header(floor, line_start, len(sections))
                sections.append(section)
                floor = section.header_end
            else:
                entry = self._read_usual_line(section) or self._read_line(section)
                entry.line_start, entry.line_end = line_start, self.pos
                floor = self.pos
                section.entries.append(entry)

    def _read_usual_line(self, section: Section) -> TomlEntry | None:
        """Read a line with a bare key and a short value in one go, or leave it to `_read_line`."""
        found = _USUAL_LINE.match(self.text, self.pos)
        if found is None:
            return None
        start, key_end = found.span(1)
        value_start, value_end = found.span(2)
        value = Scalar(value_start, value_end)
        value.entry = entry = TomlEntry(start, key_end, (found[1],), value, value_end, section)
        self.pos = found.end()
        return entry

    def _read_line(self, section: Section) -> TomlEntry:
        entry = self._read_entry(section)
        self._end_line()
        return entry

    def _fail(self) -> BrokenFile:
        return BrokenFile("This is not valid TOML", *line_and_column(self.text, self.pos))

    def _skip_to_statement(self) -> int:
        """Skip blanks, newlines and comments; return where the line of what follows starts."""
        text = self.text
        line_start = pos = self.pos
        while True:
            found = _SPACE.match(text, pos)
            if found:
                pos = found.end()
                line_start = max(line_start, text.rfind("\n", found.start(), pos) + 1)
            if not text.startswith("#", pos):
                break
            end = text.find("\n", pos)
            pos = len(text) if end < 0 else end
        self.pos = pos
        return line_start

    def _skip_blanks(self) -> None:
        found = _BLANKS.match(self.text, self.pos)
        if found:
            self.pos = found.end()

    def _end_line(self) -> int:
        """Skip a comment and the newline; return where the next line starts."""
        self._skip_blanks()
        text = self.text
        if text.startswith("#", self.pos):
            end = text.find("\n", self.pos)
            self.pos = len(text) if end < 0 else end
        if text.startswith("\r\n", self.pos):
            self.pos += 1
        if self.pos < len(text):
            if text[self.pos] != "\n":
                raise self._fail()
            self.pos += 1
        return self.pos

    def _expect(self, mark: str) -> None:
        if not self.text.startswith(mark, self.pos):
            raise self._fail()
        self.pos += len(mark)

    def _read_header(self, floor: int, line_start: int, order: int) -> Section:
        start = self.pos
        is_element = self.text.startswith("[[", start)
        self.pos += 2 if is_element else 1
        keys, _ = self._read_key()
        self._expect("]]" if is_element else "]")
        return Section(start, keys, is_element, floor, line_start, self._end_line(), order)

    def _read_key(self) -> tuple[tuple[str, ...], int]:
        """Read a dotted key with the blanks around it; return its parts and where the last part ends."""
        parts = []
        while True:
            self._skip_blanks()
            parts.append(self._read_key_part())
            end = self.pos
            self._skip_blanks()
            if not self.text.startswith(".", self.pos):
                return tuple(parts), end
            self.pos += 1

    def _read_key_part(self) -> str:
        for pattern in (_BARE_KEY, _BASIC, _LITERAL):
            found = pattern.match(self.text, self.pos)
            if found:
                self.pos = found.end()
                source = found[0]
                if pattern is _BARE_KEY:
                    return source
                return source[1:-1] if "\\" not in source or source[0] == "'" else _decode_key(source)
        raise self._fail()

    def _read_entry(self, owner: Section | InlineTable) -> TomlEntry:
        start = self.pos
        keys, key_end = self._read_key()
        self._expect("=")
        self._skip_blanks()
        value = self._read_value()
        entry = TomlEntry(start, key_end, keys, value, self.pos, owner)
        value.entry = entry
        return entry

    def _read_value(self) -> Scalar:
        text, start = self.text, self.pos
        mark = text[start : start + 1]
        if mark == "[":
            return self._read_array()
        if mark == "{":
            return self._read_inline_table()
        pattern = _PLAIN
        if mark in ('"', "'"):
            pattern = next(p for opening, p in _STRINGS if text.startswith(opening, start))
        found = pattern.match(text, start)
        if not found:
            raise self._fail()
        self.pos = found.end()
        return Scalar(start, self.pos)

    def _read_array(self) -> Array:
        array = Array(self.pos, self.pos)
        self.pos += 1
        while True:
            self._skip_to_statement()
            if self.text.startswith("]", self.pos):
                break
            start = self.pos
            value = self._read_value()
            entry = TomlEntry(start, start, (), value, self.pos, array)
            value.entry = entry
            array.entries.append(entry)
            if not self._read_comma(entry):
                break
        self._expect("]")
        array.end = self.pos
        return array

    def _read_inline_table(self) -> InlineTable:
        table = InlineTable(self.pos, self.pos)
        self.pos += 1
        while True:
            self._skip_to_statement()
            if self.text.startswith("}", self.pos):
                break
            entry = self._read_entry(table)
            table.entries.append(entry)
            _place_inline(table, entry)
            if not self._read_comma(entry):
                break
        self._expect("}")
        table.end = self.pos
        return table

    def _read_comma(self, entry: TomlEntry) -> bool:
        self._skip_to_statement()
        if not self.text.startswith(",", self.pos):
            return False
        entry.comma = self.pos
        self.pos += 1
        return True


def _decode_key(source: str) -> str:
    """Let tomllib undo the escapes of a quoted key."""
    try:
        return str(tomllib.loads(f"x = {source}")["x"])
    except ValueError as error:
        raise BrokenFile("A quoted key has an invalid escape") from error


def _place_inline(table: InlineTable, entry: TomlEntry) -> None:
    children = table.children
    for depth, part in enumerate(entry.keys[:-1]):
        inner = children.get(part)
        if not isinstance(inner, Table):
            inner = children[part] = Table(prefix=entry.keys[: depth + 1])
        inner.dotted.append(entry)
        children = inner.children
    children[entry.keys[-1]] = entry.value


def _open_section(text: str, root: Table, section: Section) -> Table:
    """Return the table a section belongs to, creating it and those above it."""
    if not section.keys:
        return root
    table = root
    for part in section.keys[:-1]:
        table = _inner_table(text, table, part, section.start)
    last = section.keys[-1]
    if section.is_element:
        group = table.children.setdefault(last, TableArray())
        if not isinstance(group, TableArray):
            raise _clash(text, section.start)
        group.elements.append(Table(section=section))
        return group.elements[-1]
    found = table.children.setdefault(last, Table())
    if not isinstance(found, Table) or found.section is not None or found.dotted:
        raise _clash(text, section.start)
    found.section = section
    return found


def _place_entry(text: str, table: Table, entry: TomlEntry) -> None:
    for depth, part in enumerate(entry.keys[:-1]):
        table = _inner_table(text, table, part, entry.start)
        table.prefix = entry.keys[: depth + 1]
        table.dotted.append(entry)
    if entry.keys[-1] in table.children:
        raise _clash(text, entry.start)
    table.children[entry.keys[-1]] = entry.value


def _inner_table(text: str, table: Table, part: str, offset: int) -> Table:
    found = table.children.setdefault(part, Table())
    if isinstance(found, TableArray):
        return found.elements[-1]
    if not isinstance(found, Table):
        raise _clash(text, offset)
    return found


def _clash(text: str, offset: int) -> BrokenFile:
    return BrokenFile("This key is defined twice", *line_and_column(text, offset))
