"""`prompts-csv`: many prompts as CSV with the columns `act` and `prompt`, as the collection awesome-chatgpt-prompts has them."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace

from personas.formats.text import one_line, text_of
from personas.formats.toml_ready import toml_ready
from personas.formats.types import Format, Imported, ImportedPersona, Note, Unreadable

_TABLE = "x.prompts-csv"
_LONGEST = 2**31 - 1


def read(content: bytes, name: str) -> Imported:
    """Return the personas of a file: one for each row, of equal rows the first."""
    csv.field_size_limit(_LONGEST)
    rows = csv.reader(io.StringIO(text_of(content), newline=""), strict=True)
    personas: list[ImportedPersona] = []
    lost: list[Note] = []  # rows that are no persona, told with the next one that is
    acts: dict[str, int] = {}
    seen: dict[tuple[str, str], int] = {}
    try:
        header = [one.strip().lower() for one in next(rows, [])]
        if "act" not in header or "prompt" not in header or len(set(header)) < len(header):
            raise Unreadable("its first row must name the columns, two of them act and prompt", 1)
        line = rows.line_num + 1
        for row in rows:
            cells = {**dict(zip(header, row, strict=False)), **_beyond(row[len(header) :])}
            act, prompt = one_line(cells.pop("act", "")), cells.pop("prompt", "")
            if not prompt.strip():
                lost += [Note(f"line {line}", None, "the row has no prompt")] if any(row) else []
            elif known := seen.get((act, prompt)):
                lost.append(Note(f"line {line}", None, f"the same act and prompt as in line {known}"))
            else:
                seen[act, prompt] = line
                why = f"line {acts[act]} has this act too" if act in acts else ""
                acts.setdefault(act, line)
                kept, notes = toml_ready({key: value for key, value in cells.items() if value}, _TABLE)
                report = [Note("act", "name", why), Note("prompt", "system_prompt"), *notes, *lost]
                fields = {"system_prompt": prompt}
                personas.append(
                    ImportedPersona(
                        name=act or f"Prompt {line}", fields=fields, kept=kept, report=tuple(report)
                    )
                )
                lost = []
            line = rows.line_num + 1
    except csv.Error as error:
        raise Unreadable(f"it is not CSV: {error}", rows.line_num) from None
    if personas and lost:
        personas[-1] = replace(personas[-1], report=(*personas[-1].report, *lost))
    return Imported(tuple(personas))


def _beyond(cells: list[str]) -> dict[str, str]:
    """Return the cells of a row that no column has, by names of their own."""
    return {f"column {number}": cell for number, cell in enumerate(cells, 1)}


_HEADER = re.compile(rb'(?:\xef\xbb\xbf)?[\w ",]*\bact"? *,[^\n]*\bprompt\b', re.IGNORECASE)


def fits(content: bytes, name: str) -> bool:
    """Whether a CSV file begins with the columns act and prompt."""
    return name.lower().endswith(".csv") and _HEADER.match(content[:1000]) is not None


FORMATS = (
    Format(
        name="prompts-csv",
        label="CSV of many prompts (act, prompt)",
        suffix=".csv",
        read=read,
        fits=fits,
    ),
)
