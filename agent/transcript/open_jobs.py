"""Which personas have an open job, read from the ends of their sessions' logs. Quick to load and to run."""

from __future__ import annotations

from agent.transcript.job_records import last_job
from agent.transcript.older_task_log import sessions_with_older_logs
from personas.errors import PersonaError
from personas.files.current_sessions import current_sessions
from personas.files.home import Home
from personas.files.journal import Journal


def personas_with_open_jobs(home: Home) -> list[str]:
    """Return the ids of the personas whose current conversation has a job that is not over; what cannot be read has none.

    One whose tasks an earlier version of the program wrote counts until they are carried over.
    """
    try:
        sessions = home.inside(home.sessions)
    except PersonaError:
        return []
    older = set(sessions_with_older_logs(home))
    found = []
    for persona_id, session_id in current_sessions(home).items():
        try:
            is_open = session_id in older or last_job(
                Journal(sessions / f"{session_id}.jsonl"), only_open=True
            )
        except PersonaError:
            continue
        if is_open:
            found.append(persona_id)
    return found
