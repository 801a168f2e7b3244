"""The terminal as the operating system has it: whether it is there, and its modes."""

from __future__ import annotations

import os
import select
from typing import Any


def has_terminal(files: tuple[int, int] = (0, 2)) -> bool:
    """Return whether input and output are a terminal."""
    return all(os.isatty(number) for number in files)


def is_gone(number: int) -> bool:
    """Return whether the other side of a terminal, given as a file number, is closed."""
    if not hasattr(select, "poll"):
        return False
    poll = select.poll()
    try:
        poll.register(number, 0)  # hang-ups are told without asking for anything
        found = poll.poll(0)
    except (OSError, ValueError):
        return True
    return any(event & (select.POLLHUP | select.POLLERR | select.POLLNVAL) for _, event in found)


def terminal_modes(number: int) -> list[Any] | None:
    """Return the modes of a terminal, given as a file number, as `termios.tcsetattr` takes them; None for none."""
    try:
        import termios
    except ImportError:  # Windows
        return None
    try:
        return termios.tcgetattr(number)
    except (termios.error, OSError, ValueError):
        return None
