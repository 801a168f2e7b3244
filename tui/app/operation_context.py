"""Which operation an error belongs to: a dialog shows no error but that of the operation which opened it."""

from __future__ import annotations

from contextvars import ContextVar

_operation: ContextVar[object | None] = ContextVar("operation", default=None)


def begin_operation() -> None:
    """An operation begins in this task; tasks that it begins are part of it."""
    _operation.set(object())


def current_operation() -> object | None:
    """Return the operation that is under way here; None outside of all."""
    return _operation.get()
