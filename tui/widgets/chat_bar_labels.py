"""The words in the chat bar: on its buttons, and in the empty input. Pure."""

from __future__ import annotations

from typing import Literal

Mode = Literal["idle", "running", "asking"]

HINT = "Ask for a change…"
TASK_SIGNS = {False: ("○", "●"), True: ("[ ]", "[x]")}
"""By whether only ASCII is to be used: the signs that messages begin no tasks, and that they do."""


def act_word(mode: Mode, *, begins_tasks: bool, continues: bool, steers: bool) -> str:
    """Return what stands on the button that sends.

    Args:
        mode: what sending does.
        begins_tasks: what is sent begins a task.
        continues: with nothing written, the button goes on with a task.
        steers: whatever the mode, what is written is said to the task that runs.
    """
    if steers:
        return "Send"
    idle = "Continue" if continues else "Start task" if begins_tasks else "Send"
    return {"idle": idle, "running": "Stop", "asking": "Reply"}[mode]


def switch_word(on: bool, *, ascii_only: bool) -> str:
    """Return what stands on the switch for tasks."""
    return f"{TASK_SIGNS[ascii_only][on]} task"


def placeholder(mode: Mode, hint: str, question: str, *, ascii_only: bool) -> str:
    """Return what the empty input says; the words of a question stay as they are."""
    if mode == "asking" and question:
        return question
    steer = "Add something while it works…"
    told = {"idle": hint, "running": steer, "asking": "Your answer…"}[mode]
    return told.replace("…", "...") if ascii_only else told
