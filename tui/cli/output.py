"""What commands write to stdout: harmless text for people, escaped JSON for programs."""

from __future__ import annotations

import json
import sys
from typing import Any

from tui.sanitise import sanitise


def say(text: str = "", *, end: str = "\n") -> None:
    """Write text for a person: sanitised, whether or not stdout is a terminal."""
    sys.stdout.write(sanitise(text) + end)


def emit(value: Any, *, indent: int | None = None) -> None:
    """Write one JSON document on a line of its own; everything but plain ASCII is escaped."""
    sys.stdout.write(json.dumps(value, ensure_ascii=True, indent=indent) + "\n")


def columns(rows: list[tuple[str, ...]]) -> list[str]:
    """Return the rows as lines with aligned columns, by what the terminal shows of each text."""
    from rich.cells import cell_len

    clean = [[" ".join(sanitise(cell).split()) for cell in row] for row in rows]
    widths = [max(cell_len(row[index]) for row in clean) for index in range(len(clean[0]))] if clean else []
    return [
        "  ".join(
            cell + " " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=True)
        ).rstrip()
        for row in clean
    ]
