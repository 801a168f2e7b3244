"""Which personas have an open job, read from the ends of their sessions' logs. Quick to load and to run."""

from __future__ import annotations

from agent.transcript.job_records import JobRecords, last_job
from agent.transcript.older_task_log import sessions_with_older_logs
from personas.errors import PersonaError
from personas.files.current_sessions import current_sessions
from personas.files.home import Home
from personas.files.journal import Journal


def personas_with_open_jobs(home: Home) -> list[str]:
    """Return the ids of the personas whose current conversation has a job that is not over; see `open_job_records`."""
    return [*open_job_records(home)]


def open_job_records(home: Home) -> dict[str, tuple[str, JobRecords | None]]:
    """Return, by persona, the session of its current conversation and the records of the job there that is not over.

    What cannot be read has none. None instead of records: an earlier version of the program wrote the tasks, which count
    until they are carried over.
    """
    try:
        sessions = home.inside(home.sessions)
    except PersonaError:
        return {}
    older = set(sessions_with_older_logs(home))
    found: dict[str, tuple[str, JobRecords | None]] = {}
    for persona_id, session_id in current_sessions(home).items():
        try:
            if session_id in older:
                found[persona_id] = session_id, None
            elif records := last_job(Journal(sessions / f"{session_id}.jsonl"), only_open=True):
                found[persona_id] = session_id, records
        except PersonaError:
            continue
    return found
