"""Which conversations have a log of tasks, told by the names of files alone."""

from __future__ import annotations

from personas.files.current_sessions import is_session_id
from personas.files.home import Home

SUFFIX = ".tasks.journal"
"""How the name of a log ends; what is before it is the conversation's id."""


def sessions_with_tasks(home: Home) -> list[str]:
    """Return the ids of the conversations that have a log of tasks; none where the folder cannot be read."""
    try:
        names = [path.name for path in home.inside(home.sessions).iterdir() if path.name.endswith(SUFFIX)]
    except OSError:
        return []
    ids = [name.removesuffix(SUFFIX) for name in names]
    return [session_id for session_id in ids if is_session_id(session_id)]
