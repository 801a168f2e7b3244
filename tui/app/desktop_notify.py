"""What is sent to the terminal to tell somebody who looks elsewhere that a run has ended, or waits for them. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from tui.terminal.sanitise import one_line

if TYPE_CHECKING:
    from agent.core.events import Outcome
    from tui.terminal.capabilities import Capabilities

BELL = "\x07"
BY_777 = ("rxvt", "foot")
"""Beginnings of `TERM` of terminals that know OSC 777 and not OSC 9."""


ENDS: Mapping[str, str] = {
    "failed": "The agent failed",
    "limit": "The agent stopped at a limit",
    "cancelled": "The agent was stopped",
    "refused": "The model refused",
}
LONGEST_NAME = 60


def ending(name: str, outcome: Outcome | None) -> str:
    """Return in one line how a run about the persona of this name ended; None: it failed to begin."""
    return f"{ENDS.get(outcome or 'failed', 'The agent is done')}: {one_line(name, LONGEST_NAME)}"


def asking(name: str) -> str:
    """Return in one line that a task about the persona of this name waits for an answer."""
    return f"The agent asks you: {one_line(name, LONGEST_NAME)}"


def announcement(how: str, text: str, env: Mapping[str, str], terminal: Capabilities) -> str:
    """Return what to send.

    Args:
        how: the setting: `never`, `bell` or `desktop`.
        text: what has happened, any text.
        env: the environment, for `TERM`.
        terminal: inside tmux the notification is handed on to the terminal around it, and the bell rings as well,
            since tmux hands nothing on unless it is allowed to.
    """
    if how == "bell":
        return BELL
    if how != "desktop":
        return ""
    said = one_line(text, 120).replace(";", ",")
    by_777 = env.get("TERM", "").startswith(BY_777)
    sequence = f"\x1b]777;notify;persona;{said}{BELL}" if by_777 else f"\x1b]9;{said}{BELL}"
    if terminal.tmux:
        return "\x1bPtmux;" + sequence.replace("\x1b", "\x1b\x1b") + "\x1b\\" + BELL
    return sequence
