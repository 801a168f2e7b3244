"""Counts edits over a checkout of the official toml-test suite: `python -m tests.personas.toml_corpus DIR`.

Every valid document this Python's tomllib accepts is edited in all the ways a persona file is. The exit code is
1 if an edit was refused, or went through and is wrong, or a document tomllib refuses raised anything but
BrokenFile.
"""

from __future__ import annotations

import sys
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

from personas.errors import BrokenFile, EditRefused
from personas.toml.edit import append_table, move_table, remove_key, remove_table, set_value
from personas.toml.guard import same_data
from personas.toml.scanner import KeyPath, locate, parse

HARD_STRING = 'It\'s """hard""" \\ to\tquote:\n\r\n\x07 \N{SLIGHTLY SMILING FACE}"\n'


def main(folder: Path) -> int:
    """Print the figures; return the exit code."""
    tried: Counter[str] = Counter()
    refused: Counter[str] = Counter()
    accepted = unread = broken = 0
    for path in sorted(folder.rglob("*.toml")):
        try:
            text = path.read_bytes().decode("utf-8")
        except UnicodeDecodeError:
            unread += 1
            continue
        if not _is_accepted(text):
            broken += 1
            for edit in (lambda text=text: parse(text), lambda text=text: set_value(text, ("name",), "x")):
                try:
                    edit()
                except BrokenFile:
                    continue
                refused["accepted what tomllib refuses"] += 1
            continue
        accepted += 1
        for name, edit in edits_of(text):
            tried[name] += 1
            try:
                edit()
            except (EditRefused, AssertionError) as error:
                refused[name] += 1
                print(f"{path.relative_to(folder)}: {name}: {type(error).__name__}: {error}")
    print(f"{accepted} documents accepted by tomllib, {broken} refused by it, {unread} not UTF-8")
    for name, count in tried.items():
        print(f"{count:6} {name}, {refused[name]} refused")
    print(f"{tried.total():6} edits, {refused.total()} refusals")
    return 1 if refused else 0


def edits_of(text: str) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield a name and a call for each edit worth trying on a document; a call raises if it went wrong."""
    top = parse(text)
    for path, value in leaves(top):
        yield "locate a value", lambda path=path: _check_located(text, path)
        yield "set the same value", lambda path=path, value=value: _check_same(text, path, value)
        for other in (another(value), HARD_STRING):
            yield f"set {type(other).__name__}", lambda path=path, other=other: _check_set(text, path, other)
        yield "remove a value", lambda path=path: _remove(text, path)
    for path, value in arrays(top):
        more = {"id": "x"} if value and isinstance(value[-1], dict) else "one more"
        yield "extend an array", lambda path=path, new=[*value, more]: _check_set(text, path, new)
        if value:
            yield (
                "shorten an array",
                lambda path=path, value=value: _check_set(text, path, value[:-1] or [value[0]]),
            )
    for path, value in arrays(top):
        if value and all(isinstance(item, dict) for item in value):
            yield "append an element", lambda path=path: append_table(text, path, {"id": HARD_STRING})
            yield "remove an element", lambda path=path: remove_table(text, (*path, 0))
            yield (
                "move an element",
                lambda path=path, value=value: move_table(text, (*path, 0), len(value) - 1),
            )
    for path in tables(top):
        yield "insert a key", lambda path=path: _check_set(text, (*path, "brand new"), HARD_STRING)
        yield "insert a table", lambda path=path: _check_set(text, (*path, "brand new", "deeper"), 1)
        yield "insert an array", lambda path=path: append_table(text, (*path, "brand new"), {"id": "x"})
    if "name" not in top:
        yield "insert name", lambda: _check_set(text, ("name",), "A name")
    if "test_inputs" not in top:
        yield "append and remove a test input", lambda: _check_appended(text)


def leaves(value: Any, path: KeyPath = ()) -> Iterator[tuple[KeyPath, Any]]:
    """Yield everything that is neither table nor array."""
    if isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for part, inner in items:
            yield from leaves(inner, (*path, part))
    else:
        yield path, value


def arrays(value: Any, path: KeyPath = ()) -> Iterator[tuple[KeyPath, list[Any]]]:
    """Yield all arrays."""
    if isinstance(value, list):
        yield path, value
    if isinstance(value, dict | list):
        for part, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from arrays(inner, (*path, part))


def tables(value: Any, path: KeyPath = ()) -> Iterator[KeyPath]:
    """Yield the paths of all tables but the top one."""
    if isinstance(value, dict) and path:
        yield path
    if isinstance(value, dict | list):
        for part, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from tables(inner, (*path, part))


def another(value: Any) -> Any:
    """Return a different value of the same type."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, str):
        return value + " and more"
    if isinstance(value, int):
        return value + 1
    if isinstance(value, float):
        return 0.5 if value != 0.5 else 1e300
    if isinstance(value, datetime):
        return value.replace(microsecond=1000)
    if isinstance(value, date):
        return value.replace(day=value.day % 2 + 1)
    assert isinstance(value, time)
    return time(1, 2, 3, 4000)


def value_at(top: Any, path: KeyPath) -> Any:
    """Return what lies at a path."""
    for part in path:
        top = top[part]
    return top


def _is_accepted(text: str) -> bool:
    try:
        tomllib.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        return False
    return True


def _check_located(text: str, path: KeyPath) -> None:
    span = locate(text, path)
    assert span is not None
    source = text[span.start : span.end]
    assert same_data(tomllib.loads(f"x = {source}")["x"], value_at(parse(text), path))


def _check_same(text: str, path: KeyPath, value: Any) -> None:
    assert set_value(text, path, value) == text


def _check_set(text: str, path: KeyPath, value: Any) -> None:
    result = set_value(text, path, value)
    assert same_data(value_at(parse(result), path), value)


def _remove(text: str, path: KeyPath) -> None:
    if isinstance(path[-1], int):
        remove_table(text, path)
    else:
        remove_key(text, path)


def _check_appended(text: str) -> None:
    longer = append_table(text, ("test_inputs",), {"id": "sum", "content": HARD_STRING})
    assert same_data(parse(remove_table(longer, ("test_inputs", 0))), parse(text))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m tests.personas.toml_corpus DIR")
    sys.exit(main(Path(sys.argv[1])))
