"""The nodes of a scanned TOML text: values, entries, sections and tables, each with its character span."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from personas.toml.parse import line_and_column

KeyPath = tuple[str | int, ...]
"""Where a value lies: keys by name, elements of arrays by 0-based index."""


@dataclass(frozen=True, slots=True)
class Span:
    """Characters `start` to `end` (exclusive) of a text, and the 1-based position of the first."""

    start: int
    end: int
    line: int
    column: int


@dataclass(slots=True, eq=False)
class Scalar:
    """A string, number, boolean or date."""

    start: int
    end: int
    entry: TomlEntry | None = None


@dataclass(slots=True, eq=False)
class Array(Scalar):
    """`[…]`, with its elements as entries without a key."""

    entries: list[TomlEntry] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class InlineTable(Scalar):
    """`{…}`. `children` looks through dotted keys, `entries` are as written."""

    entries: list[TomlEntry] = field(default_factory=list)
    children: dict[str, Node] = field(default_factory=dict)


@dataclass(slots=True, eq=False)
class TomlEntry:
    """One `key = value`, or one element of an array.

    Attributes:
        start: offset of the key (of the value in an array).
        key_end: offset behind the key; equal to `start` in an array.
        keys: the key's parts; empty in an array.
        value: what follows.
        end: offset behind the value.
        comma: offset of the comma that follows inside brackets, or None.
        line_start: offset of the first character of its line, for an entry of a section.
        line_end: offset behind its line's newline (or the text's end), for an entry of a section.
        owner: the section or bracketed value it stands in.
    """

    start: int
    key_end: int
    keys: tuple[str, ...]
    value: Scalar
    end: int
    owner: Section | Array | InlineTable
    comma: int | None = None
    line_start: int = 0
    line_end: int = 0


@dataclass(slots=True, eq=False)
class Section:
    """A table header and the lines under it up to the next header; the first section has no header.

    Attributes:
        start: offset of the header's bracket.
        keys: the header's key.
        is_element: whether the header is `[[…]]`.
        floor: offset behind the last entry or header before this one; only blanks and comments follow it.
        line_start: offset of the first character of the header's line.
        header_end: offset behind the header line's newline.
        entries: its own `key = value` lines.
        order: 0-based position among the sections.
    """

    start: int
    keys: tuple[str, ...]
    is_element: bool
    floor: int
    line_start: int
    header_end: int
    order: int
    entries: list[TomlEntry] = field(default_factory=list)

    @property
    def content_end(self) -> int:
        """Offset behind the last entry's line, or behind the header's where there is none."""
        return self.entries[-1].line_end if self.entries else self.header_end


@dataclass(slots=True, eq=False)
class Table:
    """A table that is not written in braces.

    Attributes:
        children: what it holds.
        section: its own header and lines; None while only deeper headers or dotted keys speak of it.
        dotted: entries whose dotted keys lead through this table.
        prefix: the key parts that lead here from the section those entries stand in.
    """

    children: dict[str, Node] = field(default_factory=dict)
    section: Section | None = None
    dotted: list[TomlEntry] = field(default_factory=list)
    prefix: tuple[str, ...] = ()

    def sections(self) -> list[Section]:
        """Return its own section and all sections below it, in the order of the text."""
        return sorted(_sections_below(self), key=lambda section: section.order)


@dataclass(slots=True, eq=False)
class TableArray:
    """The elements of `[[…]]`."""

    elements: list[Table] = field(default_factory=list)

    def sections(self) -> list[Section]:
        """Return all sections of all elements, in the order of the text."""
        return sorted(_sections_below(self), key=lambda section: section.order)


Node = Scalar | Table | TableArray


@dataclass(slots=True, eq=False)
class ScannedText:
    """A scanned text.

    Attributes:
        text: the text.
        root: the top table; its section is the lines before the first header.
        sections: all sections in the order of the text, the root's first.
        newline: the line ending most lines have.
    """

    text: str
    root: Table
    sections: list[Section]
    newline: str

    def find(self, path: KeyPath) -> Node | None:
        """Return what stands at a path, or None."""
        node: Node | None = self.root
        for part in path:
            node = child_of(node, part)
            if node is None:
                return None
        return node

    def span(self, node: Node) -> Span:
        """Return a node's span: a value's own characters; a table from its first header or key on."""
        start, end = _extent(node)
        return Span(start, end, *line_and_column(self.text, start))


def child_of(node: Node | None, part: str | int) -> Node | None:
    """Return a node's child by key or by index, or None."""
    if isinstance(part, str):
        return node.children.get(part) if isinstance(node, Table | InlineTable) else None
    if isinstance(node, TableArray):
        return node.elements[part] if 0 <= part < len(node.elements) else None
    if isinstance(node, Array):
        return node.entries[part].value if 0 <= part < len(node.entries) else None
    return None


def _sections_below(node: Node) -> Iterator[Section]:
    if isinstance(node, TableArray):
        for element in node.elements:
            yield from _sections_below(element)
    elif isinstance(node, Table):
        if node.section is not None:
            yield node.section
        for child in node.children.values():
            yield from _sections_below(child)


def _extent(node: Node) -> tuple[int, int]:
    if isinstance(node, Scalar):
        return node.start, node.end
    sections = node.sections()
    starts = [section.start for section in sections]
    ends = [section.content_end for section in sections]
    if isinstance(node, Table) and node.dotted:
        starts.append(node.dotted[0].start)
        ends.append(node.dotted[-1].end)
    return (min(starts), max(ends)) if starts else (0, 0)
