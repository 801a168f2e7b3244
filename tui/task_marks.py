"""The marks of tasks between the turns on the screen: where a step begins, and how a task ended. They are in no file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from personas.errors import PersonaError
from tui.activity import ending_line

if TYPE_CHECKING:
    from agent.chat import Chat
    from agent.task import AgentTask
    from agent.turns import CustomTurn, Turn

STEP, ENDING = "task_step", "task_ending"
"""Their kinds, as `tui.widgets.conversation` knows them."""


def step_mark(number: int) -> CustomTurn:
    """Return the mark where a step of a task begins."""
    from agent.turns import CustomTurn

    return CustomTurn(type=STEP, fields={"text": f"step {number}"})


def ending_mark(chat: Chat, task: AgentTask) -> CustomTurn:
    """Return what the conversation says of a task that ended, with the diff of everything it did. Reads the disk."""
    from agent.turns import CustomTurn

    diff, added, removed = _diff_of(chat, task.id)
    return CustomTurn(
        type=ENDING,
        fields={
            "text": ending_line(task),
            "status": task.status,
            "summary": task.summary or "",
            "diff": diff,
            "added": added,
            "removed": removed,
        },
    )


def place_of_ending(task: AgentTask, turns: Sequence[Turn]) -> str | None:
    """Return the id of the turn with which a completed or stopped task ended; None where it cannot be told."""
    from agent.tools.control import TASK_COMPLETE
    from agent.turns import NoticeTurn, ToolCallTurn, ToolResultTurn

    stops = {"cancelled": "stopped", "limit": "limit"}
    begun, calls = False, set()
    for turn in turns:
        begun = begun or turn.id == task.prompt_turn_id
        if not begun:
            continue
        if isinstance(turn, ToolCallTurn) and turn.tool_name == TASK_COMPLETE:
            calls.add(turn.tool_use_id)
        elif isinstance(turn, ToolResultTurn) and turn.tool_use_id in calls:
            if task.status == "completed" and not turn.is_error:
                return turn.id
        elif isinstance(turn, NoticeTurn) and turn.kind and turn.kind == stops.get(task.status):
            return turn.id
    return None


def _diff_of(chat: Chat, unit: str) -> tuple[str, int, int]:
    """Return what all changes of a task did to the file together: a diff, lines added, lines removed."""
    from personas.merge import count, unified_diff

    store, persona_id = chat.store, chat.persona_id
    try:
        log = store.log(persona_id)  # newest first
        places = [place for place, version in enumerate(log) if version.by.run_id == unit]
        if not places:
            return "", 0, 0
        before = store.version_text(persona_id, log[places[-1]].number)
        newer = places[0] - 1
        after = store.text(persona_id) if newer < 0 else store.version_text(persona_id, log[newer].number)
    except PersonaError:
        return "", 0, 0
    return (unified_diff(before, after, "before", "after"), *count(before, after))
