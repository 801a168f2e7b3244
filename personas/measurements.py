"""Measurements of a persona, `measurements/<persona>.jsonl`: scores in dimensions, over time; and how they look as text."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from personas.errors import InvalidValue, OutsideHome
from personas.files.home import Home
from personas.files.journal import Journal
from personas.files.slug import is_id

DIMENSION_LIMIT = 100
_LEVELS = "▁▂▃▄▅▆▇█"
_FIELDS = ("dimension", "score", "notes", "source", "time")


@dataclass(frozen=True, slots=True)
class Measurement:
    """One score.

    Attributes:
        dimension: what was measured, one line.
        score: a finite number; the scale is the person's.
        notes: why, in words.
        source: who or what measured.
        time: UTC, ISO 8601.
    """

    dimension: str
    score: float
    notes: str
    source: str
    time: str

    def to_record(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Dimension:
    """The measurements of one dimension, at least one, oldest first."""

    name: str
    measurements: Sequence[Measurement]

    @property
    def last(self) -> Measurement:
        """The newest."""
        return self.measurements[-1]

    @property
    def row(self) -> tuple[str, ...]:
        """Cells for a table: name, newest score, lowest to highest, how many, when the last was, a sparkline."""
        scores = [one.score for one in self.measurements]
        spread = f"{min(scores):g} to {max(scores):g}"
        when = self.last.time[:16].replace("T", " ")
        return self.name, f"{scores[-1]:g}", spread, str(len(scores)), when, sparkline(scores)


HEADINGS = ("dimension", "last", "range", "count", "time", "")
"""Over the cells of `Dimension.row`."""


def add_measurement(home: Home, persona_id: str, measurement: Measurement) -> None:
    """Append a measurement; it is on the disk when this returns.

    Raises:
        InvalidValue: the dimension has no words or is too long, or the score is no finite number.
        OutsideHome: the id is no plain file name, or the file is none of the home's.
        StorageError: the disk refused.
    """
    dimension = " ".join(measurement.dimension.split())
    if not dimension or len(dimension) > DIMENSION_LIMIT:
        raise InvalidValue(f"A dimension has a name of 1 to {DIMENSION_LIMIT} characters.")
    if not math.isfinite(measurement.score):
        raise InvalidValue("A score is a finite number.")
    with _journal(home, persona_id) as journal:
        journal.append({**measurement.to_record(), "dimension": dimension}, sync=True)


def read_measurements(home: Home, persona_id: str) -> list[Measurement]:
    """Return the measurements of a persona, oldest first; lines that hold none are left out.

    Raises:
        OutsideHome: the id is no plain file name, or the file is none of the home's.
        StorageError: the disk refused.
    """
    return [
        one
        for record in _journal(home, persona_id).read().records
        if (one := _measurement(record)) is not None
    ]


def dimensions(measurements: Sequence[Measurement]) -> list[Dimension]:
    """Return the measurements by dimension, the one measured last first."""
    found: dict[str, list[Measurement]] = {}
    for one in measurements:
        kept = found.pop(one.dimension, [])
        found[one.dimension] = [*kept, one]
    return [Dimension(name, kept) for name, kept in reversed(found.items())]


def sparkline(scores: Sequence[float], width: int = 30) -> str:
    """Return the newest scores as bars of eight heights, from the lowest to the highest of them."""
    shown = scores[-width:]
    low, high = min(shown), max(shown)
    if low == high:
        return _LEVELS[3] * len(shown)
    steps = len(_LEVELS) - 1
    return "".join(_LEVELS[round((score / 2 - low / 2) / (high / 2 - low / 2) * steps)] for score in shown)


def as_csv(measurements: Sequence[Measurement]) -> str:
    """Return the measurements as CSV with a line of headings."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_FIELDS)
    writer.writerows([getattr(one, name) for name in _FIELDS] for one in measurements)
    return out.getvalue()


def _journal(home: Home, persona_id: str) -> Journal:
    if not is_id(persona_id):
        raise OutsideHome(f"{persona_id!r} cannot be a persona's id: an id is a plain file name.")
    return Journal(home.inside(home.measurements) / f"{persona_id}.jsonl")


def _measurement(record: dict[str, Any]) -> Measurement | None:
    dimension, score = record.get("dimension"), record.get("score")
    if not isinstance(dimension, str) or isinstance(score, bool) or not isinstance(score, int | float):
        return None
    try:
        number = float(score)
    except OverflowError:
        return None
    if not math.isfinite(number):
        return None
    notes, source, time = (str(record.get(name) or "") for name in ("notes", "source", "time"))
    return Measurement(dimension, number, notes, source, time)
