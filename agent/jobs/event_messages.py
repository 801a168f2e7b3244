"""What a run's events say of its task. Pure."""

from __future__ import annotations

from typing import Any

from agent.core.events import AgentEnd, ToolEnd
from agent.jobs.job import Status
from agent.tools.control import CONTROL
from agent.tools.preview import HARMLESS


def ending_of(end: AgentEnd, summary: str | None, *, is_stopped: bool) -> tuple[Status, dict[str, Any]]:
    """Return what a run's outcome makes of its task, and what else changes of it.

    Args:
        end: of the run.
        summary: what `task_complete` said, None where it was not called.
        is_stopped: whether the person stopped it. Whatever else cuts a run off is the end of the program, after which
            the task can be gone on with.
    """
    match end.outcome:
        case "completed":
            return "completed", {"summary": summary}
        case "failed":
            return "error", {"error_message": end.error.message if end.error else "The run failed."}
        case "refused":
            return "error", {"error_message": "The model refused to answer."}
        case "truncated" | "limit":
            return "limit", {}
        case _ if is_stopped:
            return "cancelled", {}
        case _:
            return "interrupted", {"ended_at": None}


def has_written(event: ToolEnd) -> bool:
    """Return whether a call that went well changed something."""
    if event.call.tool_name in CONTROL | HARMLESS:
        return False
    details = event.details or {}
    return any(details.get(name) != 0 for name in ("added", "removed"))
