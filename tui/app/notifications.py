"""What is told for a moment at the top of the screen: how many rows it takes, what gives way to it, and which operation it belongs to.

A dialog shows no error but that of the operation which opened it.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextvars import ContextVar
from typing import TYPE_CHECKING

from textual.content import Content

if TYPE_CHECKING:
    from textual.geometry import Size
    from textual.notifications import Notification

LOW = 20
"""Rows of a terminal below which one error is shown at a time, and wider."""
WIDEST = 60
SHARE, LOW_SHARE = 0.5, 0.9
"""How much of the columns a message takes at most; the second stands in `screen.tcss` for `-low` too."""
FRAME_ROWS, FRAME_COLUMNS = 3, 3
"""What stands around a text: its padding, and the margin or the border beside it."""
BETWEEN = 1
"""Rows that stay free above the chat bar."""
OF_BROKEN = "the file is broken"
"""What is told of a broken file says this, and is over once the file is fixed."""

_operation: ContextVar[object | None] = ContextVar("operation", default=None)


def begin_operation() -> None:
    """An operation begins in this task; tasks that it begins are part of it."""
    _operation.set(object())


def current_operation() -> object | None:
    """Return the operation that is under way here; None outside of all."""
    return _operation.get()


def messages_to_dismiss(
    earlier: Iterable[Notification], new: Notification, size: Size | None, above: int = 0
) -> list[Notification]:
    """Return which messages go when a new one comes, so that all that stay are on the screen as a whole.

    What was only said is true for a moment and goes. What went wrong stays beside the new one where there is room, the
    latest first.

    Args:
        earlier: the messages on the screen, the oldest first.
        size: of the terminal; None while it shows none of them, so that there is room for all.
        above: rows of it above the chat bar, which grows with what is written there.
    """
    room = above - BETWEEN - rows_of(new, size) if size is not None else 0
    going = []
    for one in reversed(list(earlier)):
        rows = rows_of(one, size) if size is not None else 0
        replaced = size is not None and size.height < LOW and new.severity == "error"
        if one.severity != "error" or one.message == new.message or replaced or rows > room:
            going.append(one)
        else:
            room -= rows
    return going


def rows_below(notifications: Iterable[Notification], size: Size, above: int, head: int) -> int:
    """Return how many rows further down messages stand so that they do not cover the first `head` rows: 0 for none.

    Where there is not room for all of `told` below those, they are covered for a moment: no message is cut for them.
    """
    down = max(0, head - 1)  # each message leaves a row free above it
    return down if down + sum(rows_of(one, size) for one in notifications) + BETWEEN <= above else 0


def rows_of(one: Notification, size: Size) -> int:
    """Return the rows a message takes, with those that stay free around its text."""
    share = LOW_SHARE if size.height < LOW else SHARE
    columns = min(WIDEST, int(size.width * share)) - FRAME_COLUMNS
    return len(Content(one.message).wrap(max(1, columns))) + FRAME_ROWS
