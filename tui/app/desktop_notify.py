"""What is sent to the terminal to tell somebody who looks elsewhere what has happened. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from tui.terminal.sanitise import one_line

if TYPE_CHECKING:
    from tui.terminal.capabilities import Capabilities

BELL = "\x07"
BY_777 = ("rxvt", "foot")
"""Beginnings of `TERM` of terminals that know OSC 777 and not OSC 9."""


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
