"""Changes to a TOML text that touch nothing else: text in, text out.

Each function finds the characters to replace, replaces them, and lets the guard compare data and text before
it returns. All raise `BrokenFile` where the given text is not TOML, `InvalidValue` where TOML cannot hold the
value, and `EditRefused` where the change cannot be made alone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from personas.errors import EditRefused
from personas.toml.guard import Splice, apply, check, same_data, with_value, without_value
from personas.toml.inline import change_value, insert_entries, move_entry, remove_entries, reordered
from personas.toml.layout import (
    assignment,
    deletions,
    inline_element,
    insert_key,
    insert_lines,
    is_below_comment,
    is_spaced,
    place_of_new_table,
    removal_of_sections,
    section_end,
    section_start,
    table_lines,
)
from personas.toml.nodes import (
    Array,
    InlineTable,
    KeyPath,
    Node,
    Scalar,
    ScannedText,
    Section,
    Table,
    TableArray,
    child_of,
)
from personas.toml.parse import parse
from personas.toml.render import plain
from personas.toml.scanner import locate, scan

__all__ = [
    "KeyPath",
    "append_table",
    "append_tables",
    "locate",
    "move_table",
    "parse",
    "remove_key",
    "remove_table",
    "remove_tables",
    "rewrite_last",
    "set_value",
    "written_elements",
]


def set_value(text: str, path: KeyPath, value: Any) -> str:
    """Return the text with one value set; the same text if it has that value already.

    A missing key is inserted behind the keys of its table, a missing table is created. Arrays and tables
    change element by element, so that comments in them stay.

    Args:
        path: where; an array's index must exist.
        value: str, int, float, bool, date, time, datetime, list or dict.
    """
    value = plain(value)
    top = parse(text)
    _refuse_empty(path)
    document = scan(text)
    node = document.find(path)
    if node is None:
        return _insert_value(document, top, path, value)
    current = _value_at(top, path)
    if same_data(current, value):
        return text
    if isinstance(node, Scalar):
        changes = change_value(document, node, current, value)
        return _checked(text, changes, [with_value(top, path, value)])
    if not _fits(node, value):
        raise EditRefused(f"{_name(path)} is written as a table and cannot become a single value.")
    change_lines = _set_table if isinstance(node, Table) else _set_elements
    return change_lines(text, path, current, value)


def remove_key(text: str, path: KeyPath) -> str:
    """Return the text without a key, its value and the comment on its line.

    A table goes with its header, its keys, the tables in it and the comments that touch them.
    """
    return _remove(text, path, with_comments=False)


def remove_table(text: str, path: KeyPath) -> str:
    """Return the text without an element of an array, or a table, and the comments that touch it.

    Comments an empty line away stay.

    Args:
        path: ends with the element's index.
    """
    return _remove(text, path, with_comments=True)


def remove_tables(text: str, path: KeyPath, indexes: Collection[int]) -> str:
    """The same for several elements of an array, in one go where each has headers of its own.

    Args:
        path: of the array.
        indexes: of the elements, which are there.
    """
    document = scan(text)
    array = document.find(path)
    if not isinstance(array, TableArray):
        for index in sorted(indexes, reverse=True):
            text = remove_table(text, (*path, index))
        return text
    top = parse(text)
    left = [item for index, item in enumerate(_value_at(top, path)) if index not in indexes]
    expected = [with_value(top, path, left)] if left else without_value(top, path)
    sections = [section for index in indexes for section in array.elements[index].sections()]
    return _checked(text, deletions(document, removal_of_sections(document, sections)), expected)


def append_table(text: str, path: KeyPath, table: dict[str, Any]) -> str:
    """Return the text with one more element in an array of tables, written as the others are.

    Args:
        path: of the array; it need not exist.
        table: the element; tables inside it are written in braces.
    """
    return append_tables(text, path, [table])


def append_tables(text: str, path: KeyPath, tables: Sequence[dict[str, Any]]) -> str:
    """The same for several elements, at least one, in one go."""
    tables = [plain(table) for table in tables]
    top = parse(text)
    _refuse_empty(path)
    document = scan(text)
    node = document.find(path)
    if node is None:
        plans = _plan_first_element(document, path, tables[0])
        text = _first_accepted(text, plans, [with_value(top, path, tables[:1])])
        return append_tables(text, path, tables[1:]) if tables[1:] else text
    current = _value_at(top, path)
    if not isinstance(current, list):
        raise EditRefused(f"{_name(path)} is not an array.")
    expected = [with_value(top, path, [*current, *tables])]
    if isinstance(node, Array):
        sources = [inline_element(document, node, table) for table in tables]
        changes = insert_entries(text, node, len(node.entries), sources, document.newline)
        return _checked(text, changes, expected)
    assert isinstance(node, TableArray)
    sections = node.elements[-1].sections()
    plan = _new_tables(document, path, tables, section_end(document, sections[-1]), sections[0])
    return _checked(text, plan, expected)


def written_elements(text: str, path: KeyPath, indexes: Iterable[int]) -> list[str]:
    """Return the lines of elements of an array, with the comments that touch them; empty where they stand in braces.

    Args:
        path: of the array.
        indexes: of the elements.
    """
    document = scan(text)
    nodes = [document.find((*path, index)) for index in indexes]
    runs = [_runs(document, node.sections()) if isinstance(node, Table) else [] for node in nodes]
    return ["\n".join(text[start:end] for start, end in one).replace("\r\n", "\n") for one in runs]


def rewrite_last(text: str, path: KeyPath, written: Sequence[str]) -> str:
    """Return the text with its last elements in an array written in other lines that say the same, comments and all.

    Args:
        path: of the array.
        written: for each of the last elements its lines, see `written_elements`; empty leaves it. Where the array stands
            in braces, or the lines do not say the same here, the text stays as it is.
    """
    document = scan(text)
    array = document.find(path)
    if not isinstance(array, TableArray):
        return text
    changes = []
    for element, lines in zip(array.elements[-len(written) :], written, strict=True):
        start, end = _runs(document, element.sections())[0]
        if lines:
            changes.append(Splice(start, end, lines.replace("\n", document.newline)))
    try:
        return _checked(text, changes, [parse(text)])
    except EditRefused:
        return text


def move_table(text: str, path: KeyPath, new_index: int) -> str:
    """Return the text with an element of an array moved to another place among its siblings.

    Args:
        path: ends with the element's index.
        new_index: the 0-based index it has afterwards.
    """
    top = parse(text)
    _refuse_empty(path)
    document = scan(text)
    array, index = document.find(path[:-1]), path[-1]
    if not isinstance(index, int) or child_of(array, index) is None or child_of(array, new_index) is None:
        raise _missing(path if child_of(array, index) is None else (*path[:-1], new_index))
    if index == new_index:
        return text
    elements = _value_at(top, path[:-1])
    moved = [elements[i] for i in reordered(len(elements), index, new_index)]
    if isinstance(array, TableArray):
        plans = [_move_element(document, array, index, new_index)]
    else:
        assert isinstance(array, Array)
        plans = [move_entry(text, array, index, new_index, with_comments=keep) for keep in (True, False)]
    return _first_accepted(text, plans, [with_value(top, path[:-1], moved)])


def _checked(text: str, changes: Iterable[Splice], expected: Sequence[Any]) -> str:
    changes = list(changes)
    result = apply(text, changes)
    check(text, result, expected, changes)
    return result


def _first_accepted(text: str, plans: Sequence[list[Splice]], expected: Sequence[Any]) -> str:
    """Return the outcome of the first plan the guard accepts; the last one's refusal if it accepts none."""
    for plan in plans[:-1]:
        try:
            return _checked(text, plan, expected)
        except EditRefused:
            continue
    return _checked(text, plans[-1], expected)


def _set_table(text: str, path: KeyPath, old: dict[str, Any], new: dict[str, Any]) -> str:
    for key, value in new.items():
        node = scan(text).find((*path, key))
        if node is not None and not _fits(node, value):
            text = remove_key(text, (*path, key))
        text = set_value(text, (*path, key), value)
    for key in old:
        if key not in new:
            text = remove_key(text, (*path, key))
    if scan(text).find(path) is None:  # it was there only through its keys
        text = set_value(text, path, new)
    return _refuse_unequal(text, path, new)


def _fits(node: Node, value: Any) -> bool:
    """Whether a value can take a node's place: what is written under headers stays under headers."""
    if isinstance(node, TableArray):
        return isinstance(value, list) and all(isinstance(item, dict) for item in value)
    return isinstance(node, Scalar) or isinstance(value, dict)


def _set_elements(text: str, path: KeyPath, old: list[Any], new: list[Any]) -> str:
    for index in range(len(old) - 1, len(new) - 1, -1):
        text = remove_table(text, (*path, index))
    for index, value in enumerate(new):
        known = index < len(old)
        text = set_value(text, (*path, index), value) if known else append_table(text, path, value)
    if not new:  # the last header is gone, and the array with it
        text = set_value(text, path, [])
    return _refuse_unequal(text, path, new)


def _refuse_unequal(text: str, path: KeyPath, value: Any) -> str:
    """Return the text if several edits together gave the value."""
    if scan(text).find(path) is None or not same_data(_value_at(parse(text), path), value):
        raise EditRefused(f"{_name(path)} could not be changed as a whole; change its keys one by one.")
    return text


def _insert_value(document: ScannedText, top: dict[str, Any], path: KeyPath, value: Any) -> str:
    """Insert what is missing at the path, from the deepest table that is there."""
    text = document.text
    tables, rest = _existing(document, path)
    container, names = tables[-1], tuple(str(part) for part in rest)
    if not isinstance(container, Table | InlineTable):
        raise EditRefused(f"{_name(path[: len(path) - len(rest)])} is not a table.")
    expected = [with_value(top, path, value)]
    if isinstance(container, InlineTable):
        entry = assignment(document, names[:1], _nested(names[1:], value))
        changes = insert_entries(text, container, len(container.entries), [entry], document.newline)
        return _checked(text, changes, expected)
    if container.section is None and container.dotted:
        return _checked(text, _plan_dotted(document, container, names, value), expected)
    if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        for item in value:
            text = append_table(text, path, item)
        return text
    if isinstance(value, dict):
        plans = [_plan_table(document, tables, path, value)]
    elif len(names) > 1:
        plans = [_plan_table(document, tables, path[:-1], {names[-1]: value})]
    elif container.section is None:
        return _checked(text, _plan_super_table(document, container, path, value), expected)
    else:
        plans = []
    if container.section is not None:
        entry = assignment(document, names, value, container.section)
        plans.append([insert_key(document, container.section, entry)])
    return _first_accepted(text, plans, expected)


def _existing(document: ScannedText, path: KeyPath) -> tuple[list[Node], KeyPath]:
    """Return the nodes along a path as far as they exist, from the root on, and the rest of the path."""
    nodes: list[Node] = [document.root]
    for depth, part in enumerate(path):
        child = child_of(nodes[-1], part)
        if child is None:
            if any(isinstance(missing, int) for missing in path[depth:]):
                raise _missing(path)
            return nodes, path[depth:]
        nodes.append(child)
    return nodes, ()


def _plan_table(
    document: ScannedText, nodes: list[Node], path: KeyPath, table: dict[str, Any], *, element: bool = False
) -> list[Splice]:
    """Write a table whose name is new."""
    ancestors = [node for node in nodes if isinstance(node, Table)]
    at = place_of_new_table(document, ancestors, element=element)
    return _new_tables(document, path, [table], at, None, element=element)


def _new_tables(
    document: ScannedText,
    path: KeyPath,
    tables: Sequence[dict[str, Any]],
    at: int,
    like: Section | None,
    *,
    element: bool = True,
) -> list[Splice]:
    names = [part for part in path if isinstance(part, str)]
    spaced = is_spaced(document, like)
    below_comment = is_below_comment(document, at)  # which would seem to belong to the new table
    lines: list[str] = []
    for table in tables:
        lines += [""] if spaced and lines else []
        lines += table_lines(document, names, table, element=element, like=like)
    blank_after = spaced and like is None
    return [insert_lines(document, at, lines, blank_before=spaced or below_comment, blank_after=blank_after)]


def _plan_super_table(document: ScannedText, table: Table, path: KeyPath, value: Any) -> list[Splice]:
    """Give a table that only has deeper headers a header of its own, above the first of them."""
    first = table.sections()[0]
    names = [part for part in path[:-1] if isinstance(part, str)]
    lines = table_lines(document, names, {str(path[-1]): value}, element=False, like=first)
    spaced = is_spaced(document)
    return [insert_lines(document, section_start(document, first), lines, blank_after=spaced)]


def _plan_dotted(document: ScannedText, table: Table, names: tuple[str, ...], value: Any) -> list[Splice]:
    """Add a key to a table that is written by dotted keys, the same way, behind the last of them."""
    last = table.dotted[-1]
    keys = (*table.prefix, *names)
    if not isinstance(last.owner, Section):
        index = last.owner.entries.index(last) + 1
        source = assignment(document, keys, value)
        return insert_entries(document.text, last.owner, index, [source], document.newline)
    indent = document.text[last.line_start : last.start]
    line = indent + assignment(document, keys, value, last.owner)
    return [insert_lines(document, last.line_end, [line])]


def _plan_first_element(document: ScannedText, path: KeyPath, table: dict[str, Any]) -> list[list[Splice]]:
    """Return the ways to write the first element of an array that is not there yet, the best first."""
    nodes, rest = _existing(document, path)
    container, names = nodes[-1], tuple(str(part) for part in rest)
    if isinstance(container, InlineTable):
        entry = assignment(document, names[:1], _nested(names[1:], [table]))
        return [insert_entries(document.text, container, len(container.entries), [entry], document.newline)]
    if not isinstance(container, Table):
        raise EditRefused(f"{_name(path[: len(path) - len(rest)])} is not a table.")
    plans = [_plan_table(document, nodes, path, table, element=True)]
    if container.dotted:
        plans.append(_plan_dotted(document, container, names, [table]))
    return plans


def _move_element(document: ScannedText, array: TableArray, index: int, new_index: int) -> list[Splice]:
    """Let the elements' texts change places; what lies between the places stays."""
    text, newline = document.text, document.newline
    places = [_runs(document, element.sections()) for element in array.elements]
    blocks = [newline.join(text[start:end] for start, end in runs) for runs in places]
    changes = []
    for runs, source in zip(places, reordered(len(blocks), index, new_index), strict=True):
        start, end = runs[0]
        if blocks[source] != text[start:end] or len(runs) > 1:
            changes.append(Splice(start, end, blocks[source]))
            changes += deletions(
                document, [(start, text.find("\n", end) + 1 or end) for start, end in runs[1:]]
            )
    return changes


def _runs(document: ScannedText, sections: list[Section]) -> list[tuple[int, int]]:
    """Return the stretches of text some sections fill, neighbours together, without the last newline."""
    runs: list[tuple[int, int]] = []
    last = -1
    for section in sections:
        start, end = section_start(document, section), section_end(document, section)
        if document.text.endswith("\n", start, end):
            end -= 2 if document.text.endswith("\r\n", start, end) else 1
        if runs and section.order == last + 1:
            start = runs.pop()[0]
        runs.append((start, end))
        last = section.order
    return runs


def _remove(text: str, path: KeyPath, *, with_comments: bool) -> str:
    top = parse(text)
    _refuse_empty(path)
    document = scan(text)
    node = document.find(path)
    if node is None:
        raise _missing(path)
    expected = without_value(top, path)
    if not isinstance(node, Scalar):
        spans = removal_of_sections(document, node.sections())
        dotted = node.dotted if isinstance(node, Table) else []
    else:
        assert node.entry is not None  # every value stands in an entry
        spans, dotted = [], [node.entry]
    changes: list[Splice] = []
    for entry in dotted:
        if isinstance(entry.owner, Section):
            spans.append((entry.line_start, entry.line_end))
        else:
            index = entry.owner.entries.index(entry)
            changes += remove_entries(text, entry.owner, index, index + 1, with_comments=with_comments)
    return _checked(text, changes + deletions(document, spans), expected)


def _value_at(top: Any, path: KeyPath) -> Any:
    for part in path:
        top = top[part]
    return top


def _nested(names: tuple[str, ...], value: Any) -> Any:
    for name in reversed(names):
        value = {name: value}
    return value


def _refuse_empty(path: KeyPath) -> None:
    if not path:
        raise EditRefused("A change needs the name of a key.")


def _missing(path: KeyPath) -> EditRefused:
    return EditRefused(f"The file has no {_name(path)}.")


def _name(path: KeyPath) -> str:
    """Return a path as a person writes it: test_inputs[2].content."""
    name = ""
    for part in path:
        name += f"[{part}]" if isinstance(part, int) else f".{part if part.isprintable() else repr(part)}"
    return name.removeprefix(".")
