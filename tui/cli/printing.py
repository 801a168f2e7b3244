"""Writing to stdout: sanitised text for people, escaped JSON for programs."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Sequence
from typing import Any, TextIO

from tui.terminal.sanitise import one_line, sanitise

LONGEST_CELL = 100
"""Terminal cells of one entry of a table; the last of a row is whole where stdout is no terminal."""
LONGEST_LINE = 2_000
"""Cells of a text from outside that is printed in one line."""


def print_text(text: str = "", *, end: str = "\n") -> None:
    """Write text for a person: sanitised, whether or not stdout is a terminal."""
    sys.stdout.write(sanitise(text) + end)


def print_as_it_is(content: bytes) -> None:
    """Write what other programs read, byte for byte; sanitised where stdout is a terminal."""
    raw = getattr(sys.stdout, "buffer", None)
    if raw is None or sys.stdout.isatty():
        print_text(content.decode(), end="")
        return
    sys.stdout.flush()
    raw.write(content)


def print_json(value: Any, *, indent: int | None = None) -> None:
    """Write one JSON document on a line of its own; everything but plain ASCII is escaped."""
    import json  # imported here because the screen starts without it

    sys.stdout.write(json.dumps(value, ensure_ascii=True, indent=indent) + "\n")


def print_diff(diff: str, *, names: bool = True) -> None:
    """Write a unified diff for a person, with the names of both texts or without."""
    from tui.terminal.diff_view import diff_lines

    print_text("\n".join(diff_lines(diff.removesuffix("\n"), names=names)))


def columns(rows: list[tuple[str, ...]]) -> list[str]:
    """Return the rows as lines with aligned columns, by what the terminal shows of each text."""
    from rich.cells import cell_len

    longest = LONGEST_CELL if sys.stdout.isatty() else sys.maxsize
    clean = [
        [*(one_line(cell, LONGEST_CELL) for cell in row[:-1]), one_line(row[-1], longest)] for row in rows
    ]
    widths = [max(cell_len(row[index]) for row in clean) for index in range(len(clean[0]))] if clean else []
    return [
        "  ".join(
            cell + " " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=True)
        ).rstrip()
        for row in clean
    ]


def summarise(problems: Sequence[str], most: int = 3) -> list[str]:
    """Return the first problems, and one line for the rest of them."""
    shown = list(problems[:most])
    if len(problems) > most:
        shown.append(f"{len(problems) - most} more things in this conversation could not be read.")
    return shown


def drop(stream: TextIO) -> None:
    """Discard the buffer of a stream that cannot be written, so that nothing raises at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    with contextlib.suppress(OSError, ValueError):  # a stream without a descriptor buffers nothing
        os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


class ClosedOutput:
    """A stdout that was closed before the program began: every write raises."""

    encoding = "utf-8"

    def write(self, _text: str) -> int:
        """Raise what a closed pipe raises."""
        raise BrokenPipeError

    def flush(self) -> None:
        """Nothing is buffered."""

    def isatty(self) -> bool:
        """It is no terminal."""
        return False

    def fileno(self) -> int:
        """It has no descriptor.

        Raises:
            OSError: always.
        """
        raise OSError("stdout is closed")
