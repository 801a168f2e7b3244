"""Test inputs in files that people have: one a line, CSV, JSON Lines; and the JSON Lines that are exported. Pure."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePath
from typing import Any, NamedTuple

from personas.errors import InvalidValue
from personas.formats.json_file import load_json
from personas.formats.types import Unreadable

CONTENT = ("content", "input", "prompt", "question", "message", "text", "query")
"""What the column with the texts is called where nobody says it, the first one that is there."""
_KEPT = ("id", "expect", "samples", "min_pass")
_DELIMITERS = ",;\t"
_ENDINGS = {
    "": "",
    "txt": "",
    "md": "",
    "csv": "CSV",
    "tsv": "CSV",
    "json": "JSON",
    "jsonl": "JSON",
    "ndjson": "JSON",
}
"""What a file is by its name's ending; empty: its text says it."""


class InputsRead(NamedTuple):
    """What a file says.

    Attributes:
        tables: a table of a test input each, as it stands in a persona's file; where none is given without an `id`.
        kind: `lines`, `CSV` or `JSON Lines`.
        notes: what was left out, a sentence each.
    """

    tables: list[dict[str, Any]]
    kind: str
    notes: tuple[str, ...] = ()


def read_inputs(text: str, *, name: str = "", column: str = "") -> InputsRead:
    """Return the test inputs that a text holds.

    Args:
        text: of the file; its line ends are LF.
        name: of the file, whose ending says what it is; empty: its text does.
        column: the column, or key, with what is sent; empty: one of `CONTENT`, or the whole line.

    Raises:
        InvalidValue: it cannot be read, and the message names the line; or the file is of another kind.
    """
    kind = _ENDINGS.get(PurePath(name).suffix.lower().removeprefix(".") or name)
    if kind is None:
        raise InvalidValue(
            "test inputs come from .txt or .md (one a line), .csv, .tsv, .json or .jsonl, or from - (stdin); "
            "`persona import` makes personas of the files of other programs, with the test inputs in them."
        )
    if kind == "JSON" or (not kind and _is_json(text)):
        return _collected(_json_records(text), "JSON Lines", column)
    if kind or column or _is_csv(text):
        return _collected(_csv_records(text, column), "CSV", column)
    return read_lines(text)


def read_lines(text: str) -> InputsRead:
    """Return a test input for each line that is not blank."""
    lines = [line.strip() for line in text.split("\n")]
    return InputsRead([{"content": line} for line in lines if line], "lines")


def write_inputs(tables: Iterable[Mapping[str, Any]], *, ascii_only: bool = False) -> str:
    """Return test inputs as JSON Lines that `read_inputs` gives back; a date becomes its text.

    Args:
        tables: each as it stands in a persona's file.
        ascii_only: everything but ASCII is escaped.

    Raises:
        InvalidValue: one holds a number that JSON cannot say.
    """
    try:
        lines = [json.dumps(table, ensure_ascii=ascii_only, allow_nan=False, default=str) for table in tables]
    except ValueError:
        raise InvalidValue("A test input has an infinite number, which JSON cannot represent.") from None
    return "".join(f"{line}\n" for line in lines)


def _is_json(text: str) -> bool:
    """Whether a text is meant as JSON: a list, or an object on each line."""
    try:
        if text.lstrip().startswith("["):
            return isinstance(load_json(text), list)
        lines = [line for line in text.split("\n") if line.strip()]
        return bool(lines) and all(isinstance(load_json(line), dict) for line in lines)
    except Unreadable:
        return False


def _is_csv(text: str) -> bool:
    """Whether the first line names a column with texts beside others, and each row has as many."""
    header = text.lstrip("\n").partition("\n")[0]
    if not any(sign in header for sign in _DELIMITERS):
        return False
    try:
        first, *rows = [row for row in _rows(text) if row]
    except csv.Error:
        return False
    is_header = _column(first) is not None and all(name == name.strip() for name in first)
    return is_header and bool(rows) and all(len(row) == len(first) for row in rows)


def _rows(text: str) -> Any:
    """Return a reader of the rows of CSV."""
    header = text.lstrip("\n").partition("\n")[0]
    return csv.reader(io.StringIO(text), delimiter=max(_DELIMITERS, key=header.count), strict=True)


def _column(names: Iterable[str]) -> str | None:
    """Return the name of the column with the texts, as the file writes it."""
    known = {name.strip().lower(): name for name in reversed([*names])}
    return next((known[name] for name in CONTENT if name in known), None)


def _csv_records(text: str, column: str) -> list[tuple[str, Any]]:
    reader = _rows(text)
    records: list[tuple[str, Any]] = []
    header: list[str] = []
    lines, end = text.split("\n"), 0
    try:
        for row in reader:
            start, end = end, reader.line_num
            if not any(cell.strip() for cell in row):
                continue
            if header:
                if len(header) == 1 < len(row):  # what is no list of cells is a text with a comma
                    row = ["\n".join(lines[start:end])]
                if any(row[len(header) :]):
                    raise InvalidValue(
                        f"Line {end} has {len(row)} cells, and the first line {len(header)}; "
                        "put a text with a comma, semicolon or tab in double quotes."
                    )
                records.append(
                    (f"Line {reader.line_num}", dict(zip(header, map(str.strip, row), strict=False)))
                )
                continue
            header = [name.strip() for name in row]
            if not column and _column(header) is None:
                raise InvalidValue(f"Which column holds the texts? There is {', '.join(header)}.")
            if column and column not in header:
                raise InvalidValue(f"There is no column {column!r}; there is {', '.join(header)}.")
    except csv.Error as error:
        raise InvalidValue(f"Line {reader.line_num} is not CSV: {error}.") from None
    return records


def _json_records(text: str) -> list[tuple[str, Any]]:
    try:
        if text.lstrip().startswith("["):
            return [(f"Element {number}", one) for number, one in enumerate(load_json(text), 1)]
    except Unreadable:
        pass  # the lines may be lists, which is told of the first one
    records = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                records.append((f"Line {number}", load_json(line)))
            except Unreadable as error:
                why = str(error).removesuffix(" (line 1).").removesuffix(".")
                raise InvalidValue(f"Line {number} cannot be read: {why}.") from None
    return records


def _collected(records: Sequence[tuple[str, Any]], kind: str, column: str) -> InputsRead:
    tables, left_out, notes = list[dict[str, Any]](), dict[str, None](), Counter[str]()
    for place, record in records:
        if isinstance(record, str):
            record = {"content": record}
        if not isinstance(record, dict):
            raise InvalidValue(f"{place} is neither a text nor an object.")
        table = _without_nulls(record)
        if not column and isinstance(table.get("messages"), list):
            notes.update(_trim(table))
        elif column or kind == "CSV" or "content" not in table:
            found = column or _column(table) or ""
            keys = ("id",) if kind == "CSV" else _KEPT
            kept = {key: table[key] for key in keys if table.get(key, "") != ""}
            left_out |= dict.fromkeys(key for key in record if key not in (found, *keys))
            table = {**kept, "content": table.get(found, "")}
        if table.get("content") == "":
            notes["{} without a text"] += 1
            continue
        _check(table, place)
        tables.append(table)
    if records and not tables:
        raise InvalidValue(
            f"No text is in it; it has {', '.join(left_out) or 'nothing else'}. Name the column."
        )
    said = [f"Left out: {what.format(f'{count} of {len(records)}')}." for what, count in notes.items()]
    return InputsRead(tables, kind, (*said, *([f"Left out: {', '.join(left_out)}."] if left_out else [])))


def _trim(table: dict[str, Any]) -> list[str]:
    """Take away what comes before the first message of the user and behind the last one; return what that was."""
    messages = table["messages"]
    roles = [one.get("role") if isinstance(one, dict) else None for one in messages]
    first = next((at for at, role in enumerate(roles) if role not in ("system", "developer")), len(roles))
    last = next((at + 1 for at in range(len(roles) - 1, -1, -1) if roles[at] != "assistant"), 0)
    table["messages"] = messages[first:last]
    return [
        *(["the system message in {}"] if first else []),
        *(["the last answer in {}"] if last < len(roles) else []),
    ]


def _check(table: dict[str, Any], place: str) -> None:
    """Refuse what would break the file of a persona, or could not be sent."""
    from personas.test_inputs import read_fields

    if type(table.get("id")) is int:
        table["id"] = str(table["id"])
    for key in ("id", "content"):
        if key in table and not (isinstance(table[key], str) and table[key].strip()):
            raise InvalidValue(f"{place}: {key} is not text.")
    faults: list[str] = []
    read_fields(table, (), lambda _path, fault: faults.append(fault))
    if faults:
        raise InvalidValue(f"{place}: {faults[0]}.")


def _without_nulls(value: Any) -> Any:
    """Return a value as TOML can hold it; a key whose value is null is not there."""
    if isinstance(value, dict):
        return {key: _without_nulls(one) for key, one in value.items() if one is not None}
    return [_without_nulls(one) for one in value if one is not None] if isinstance(value, list) else value


def sent(table: Mapping[str, Any]) -> str:
    """Return what a test input sends; of a conversation the last message."""
    messages = table.get("messages")
    return str(messages[-1].get("content", "") if messages else table.get("content", ""))
