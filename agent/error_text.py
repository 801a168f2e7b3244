"""What an exception says, also when the exception itself is broken."""

from __future__ import annotations


def text_of(error: BaseException) -> str:
    """Return `str(error)`, or "" where the exception cannot say anything. Never raises."""
    try:
        return str(error)
    except BaseException:  # noqa: BLE001 - an exception of foreign code whose __str__ raises
        return ""
