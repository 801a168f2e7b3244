"""The records of jobs in a session's log, read from its end. Plain data, quick to load.

A job record is an event in the life of a job with the fields that changed. No record has the status of the job: it follows
from the last event, and from how the run behind it ended.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from agent.core.turns import JOB
from personas.files.journal import Journal, Problem

Event = Literal[
    "started",  # the job has begun
    "asked",  # it waits for the person: `pending` has the question
    "answered",  # they have answered
    "resumed",  # it goes on, in this or another program
    "step",  # a further step begins
    "changed",  # something else about it has changed
    "ended",  # it stopped: `outcome` says as what
]
EVENTS: frozenset[str] = frozenset(get_args(Event))
OVER: frozenset[str] = frozenset({"completed", "cancelled", "error"})
"""The outcomes after which a job does not go on."""

FRAME = ("type", "id", "event", "created_at", "outcome", "after", "by")
"""Fields of the event itself; all others are of the job."""


@dataclass(frozen=True, slots=True)
class JobRecords:
    """What a log has of one job.

    Attributes:
        records: its records, oldest first.
        run_end: how the run behind the last of them ended, None where the log has no end of it.
    """

    records: tuple[Mapping[str, Any], ...]
    run_end: Mapping[str, Any] | None = None

    @property
    def is_over(self) -> bool:
        """Whether it has ended for good."""
        last = self.records[-1]
        return last["event"] == "ended" and last.get("outcome") in OVER

    @property
    def is_kept(self) -> bool:
        """Whether it is one to come back to: any but a message that never asked something."""
        return any(one.get("kind") != "chat" or one["event"] == "asked" for one in self.records)


def is_job_record(record: Mapping[str, Any]) -> bool:
    """Return whether a record is about a job."""
    return record.get("type") == JOB and isinstance(record.get("id"), str) and record.get("event") in EVENTS


def last_job(journal: Journal, *, only_open: bool = False) -> JobRecords | None:
    """Return what a log has of its last job to come back to, reading from its end no further than needed.

    A message takes no task away that could be continued: its records name the task it `left`, and once it is over that
    one is the last again.

    Args:
        journal: the session's log.
        only_open: whether a job that is over is of no interest; the last line of most logs answers that.

    Raises:
        PersonaError: the log cannot be read.
    """
    wanted: str | None = None
    records: list[Mapping[str, Any]] = []
    run_end: Mapping[str, Any] | None = (
        None  # of the run behind the job record that comes next, reading backwards
    )
    end_of_job: Mapping[str, Any] | None = None
    over: JobRecords | None = None
    starts = 0  # of runs that no job record was found for
    for record in journal.backwards():
        if isinstance(record, Problem):
            continue
        kind = record.get("type")
        if kind == "run_end":
            run_end = record
        if kind in ("run_start", "run_end") and wanted is None:
            if starts and over is None:
                return None  # a log of an earlier version: its runs are of no job
            starts += kind == "run_start"
        if not is_job_record(record):
            continue
        if record["id"] != wanted and ("by" in record or wanted is not None):
            run_end = None
            continue  # of another job: closed when this one took its place, or a message between
        if not records:
            wanted, end_of_job = record["id"], run_end
            if only_open and record.get("outcome") in OVER and not record.get("left"):
                return None
        run_end = None
        records.append(record)
        if record["event"] != "started":
            continue
        found = JobRecords(tuple(reversed(records)), end_of_job)
        if not found.is_over and found.is_kept:
            return found
        over = over or (found if found.is_kept else None)
        left = next((one["left"] for one in records if "left" in one), "")
        if not left or not isinstance(left, str):
            break
        wanted, records, end_of_job = left, [], None
    return None if only_open else over


def all_jobs(
    records: Iterable[tuple[str, Mapping[str, Any]]],
) -> dict[str, list[tuple[str, Mapping[str, Any]]]]:
    """Return the job records of a log by job, each with the turn it stands after, in the order of the log."""
    found: dict[str, list[tuple[str, Mapping[str, Any]]]] = {}
    for after, record in records:
        named = record.get("after")
        found.setdefault(record["id"], []).append((named if isinstance(named, str) else after, record))
    return found


def is_asking(records: Iterable[tuple[str, Mapping[str, Any]]], open_calls: Iterable[str]) -> bool:
    """Return whether the last job record is a question whose call is still open."""
    last = next((one for _, one in reversed(list(records))), None)
    pending = last.get("pending") if last is not None and last["event"] == "asked" else None
    return isinstance(pending, dict) and pending.get("tool_use_id") in set(open_calls)
