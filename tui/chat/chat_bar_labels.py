"""The labels of the chat bar's buttons and the placeholder of its input. No widget."""

from __future__ import annotations

from typing import Literal

Mode = Literal["idle", "running", "asking"]

HINT = "Ask for a change…"
WORKING = "Add something while it works…"
TASK_SIGNS = {False: ("○", "●"), True: ("[ ]", "[x]")}
"""The signs of a switch that is off and on; True: in ASCII."""


def action_label(mode: Mode, *, begins_tasks: bool, continues: bool, steers: bool) -> str:
    """Return the label of the button that sends.

    Args:
        mode: what sending does.
        begins_tasks: what is sent begins a task.
        continues: if the input is empty, the button continues a task.
        steers: the draft steers the running task, whatever the mode.
    """
    if steers:
        return "Send"
    idle = "Continue" if continues else "Start task" if begins_tasks else "Send"
    return {"idle": idle, "running": "Stop", "asking": "Reply"}[mode]


def toggle_label(word: str, on: bool, *, ascii_only: bool) -> str:
    """Return the label of a switch, that for task mode or another."""
    return f"{TASK_SIGNS[ascii_only][on]} {word}"


def placeholder(mode: Mode, hint: str, question: str, *, working: str, ascii_only: bool) -> str:
    """Return the placeholder of the input; a question is shown as it is."""
    if mode == "asking" and question:
        return question
    text = {"idle": hint, "running": working, "asking": "Your answer…"}[mode]
    return text.replace("…", "...") if ascii_only else text
