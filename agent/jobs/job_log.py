"""The log of a job: its state folded from the records, and writing them while it runs."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any, Literal, Protocol

from pydantic import ValidationError

from agent.core.turns import JOB, utc_now
from agent.jobs.job import Job
from agent.transcript.job_records import FRAME, Event, JobRecords, all_jobs
from personas.errors import PersonaError

log = logging.getLogger(__name__)

_IMPLIED = frozenset({"id", "status", "persona_id", "session_id"})
"""Fields that are not among the changes of a record: they stand in its frame, or follow from the events and the log."""

_ENDINGS = {
    "completed": "completed",
    "failed": "error",
    "refused": "error",
    "limit": "limit",
    "truncated": "limit",
}
"""What the outcome of a run makes of its job, where the job itself could not say it any more."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A place in the conversation where a step of a task began, or where a task stopped.

    Attributes:
        kind: which of them.
        after: the turn it stands after.
        job: as it was there; a task that went on after a limit has more than one ending.
    """

    kind: Literal["step", "ending"]
    after: str
    job: Job


def fold(found: JobRecords, persona_id: str, session_id: str) -> Job | None:
    """Return what a job is by its records, None where they make none. Pure.

    One that is neither waiting nor ended is at work, or nobody works on it any more: see `recovery`.
    """
    states = list(_states(found.records, persona_id, session_id))
    if not states:
        return None
    last, job = states[-1]
    if last["event"] not in ("ended", "asked", "answered") and found.run_end is not None:
        outcome = _ENDINGS.get(str(found.run_end.get("outcome")), "interrupted")
        if outcome == "completed" and job.kind == "task":
            return job  # the call that completed it has the summary
        return _validated({**job.to_record(), "status": outcome})
    return job


def past(
    records: Iterable[tuple[str, Mapping[str, Any]]], persona_id: str, session_id: str
) -> tuple[list[Job], list[Mark]]:
    """Return all jobs of a log as they are by their records, oldest first, and the marks of the tasks among them."""
    jobs, marks = [], []
    for placed in all_jobs(records).values():
        places = {id(record): after for after, record in placed}
        states = list(_states([record for _, record in placed], persona_id, session_id))
        for record, job in states:
            if job.kind != "task":
                continue
            if record["event"] == "step":
                marks.append(Mark("step", places[id(record)], job))
            elif record["event"] == "ended" and job.status != "interrupted":
                marks.append(Mark("ending", places[id(record)], job))
        if states:
            jobs.append(states[-1][1])
    return jobs, [mark for mark in marks if mark.after]


def _states(
    records: Iterable[Mapping[str, Any]], persona_id: str, session_id: str
) -> Iterable[tuple[Mapping[str, Any], Job]]:
    """Yield each record that can be believed, with what the job was by then."""
    known: dict[str, Any] = {"persona_id": persona_id, "session_id": session_id, "original_prompt": ""}
    for record in records:
        changes = {
            name: value for name, value in record.items() if name not in FRAME and name not in _IMPLIED
        }
        if record["event"] == "step" and not _is_later(record.get("step_count"), known.get("step_count", 0)):
            continue
        merged = {**known, **changes, "id": record["id"]}
        job = _validated({**merged, "status": _status_after(record, merged)})
        if job is not None:
            known = merged
            yield record, job


def _status_after(record: Mapping[str, Any], merged: Mapping[str, Any]) -> Any:
    """The status of a job after one of its events."""
    match record["event"]:
        case "ended":
            return record.get("outcome")
        case "asked" | "answered":
            pending = merged.get("pending")
            is_approval = isinstance(pending, dict) and pending.get("approval") is not None
            return "waiting_approval" if is_approval else "waiting_user"
        case "started":
            return "running"
        case _:
            return "thinking"


def _is_later(step: object, before: object) -> bool:
    return type(step) is int and type(before) is int and step > before


def _validated(fields: Mapping[str, Any]) -> Job | None:
    try:
        return Job.model_validate(fields)
    except (ValidationError, RecursionError):
        return None


_DEFAULTS = {
    name: value
    for name, value in Job(persona_id="", session_id="", original_prompt="").to_record().items()
    if name not in ("id", "started_at")
}
"""The defaults of a new job, which its first record need not have."""


class EventLog(Protocol):
    """Where a kind of job keeps its records; the agent's jobs keep them in the `Session`."""

    def note_job(self, record: dict[str, Any]) -> None:
        """Append a record about a job."""

    def make_lasting(self) -> None:
        """Wait until everything written is on the disk."""


class JobLog:
    """The records of one job in its own log, each with what changed since the one before.

    Args:
        log_of: returns the log.
        known: the job as an earlier program left it, whose lasting facts the log has; None for a new one.
    """

    def __init__(self, log_of: Callable[[], EventLog], known: Job | None = None) -> None:
        self._log_of = log_of
        self._written: dict[str, Any] = _DEFAULTS
        self._has_started = known is not None
        self._lock = Lock()  # several threads compare with what was written last
        if known is not None:
            lasting = ("kind", "original_prompt", "prompt_turn_id", "started_at")
            self._written = {name: value for name, value in known.to_record().items() if name in lasting}

    def write(self, event: Event, job: Job, *, sync: bool = False, **frame: Any) -> None:
        """Append an event, behind `started` where that is not in the log; with `sync` it is lasting when this returns.

        Args:
            event: what happened.
            job: as it is then.
            sync: whether to wait for the disk.
            frame: further fields of the event, see `FRAME`.

        Raises:
            PersonaError: the disk refused.
        """
        if event != "started" and not self._has_started:  # the disk refused that
            self.write("started", job)
        fields = {name: value for name, value in job.to_record().items() if name not in _IMPLIED}
        with self._lock:
            changed = {
                name: value for name, value in fields.items() if self._written.get(name, self) != value
            }
            self._log_of().note_job(
                {
                    "type": JOB,
                    "id": job.id,
                    "event": event,
                    "created_at": utc_now(),
                    **frame,
                    **changed,
                    "kind": job.kind,
                    **({"left": job.left} if job.left else {}),
                }
            )
            self._written, self._has_started = fields, True
        if sync:
            try:
                self._log_of().make_lasting()
            except PersonaError:
                self._written = {}  # perhaps the disk has none of it: all of it is written again
                raise

    def write_quietly(self, event: Event, job: Job, *, sync: bool = False, **frame: Any) -> None:
        """`write`, where a disk that refuses must not end the run, or there is no one to raise to."""
        try:
            self.write(event, job, sync=sync, **frame)
        except PersonaError as error:
            log.warning("what became of a job could not be written: %s", error)
