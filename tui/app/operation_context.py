"""Which deed an error belongs to: a dialog shows no other than that of the deed which opened it."""

from __future__ import annotations

from contextvars import ContextVar

_deed: ContextVar[object | None] = ContextVar("deed", default=None)


def begin_deed() -> None:
    """A deed begins in this task; tasks that it begins are part of it."""
    _deed.set(object())


def present_deed() -> object | None:
    """Return the deed that this is done for; None outside of all."""
    return _deed.get()
