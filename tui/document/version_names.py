"""What versions are called on the screen: who made the change and when, not their numbers. Pure but for the clock."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from tui.terminal.sanitise import one_line

if TYPE_CHECKING:
    from personas.versions.authorship import Author, Version

WHO = {"user": "you", "agent": "the agent", "external": "outside", "restore": "you", "import": "an import"}
_EDITS = {
    "user": "your edit",
    "agent": "the agent's edit",
    "external": "the edit outside",
    "import": "the import",
}


def local_now() -> datetime:
    """Return the time in the person's zone."""
    return datetime.now().astimezone()


def author_name(by: Author) -> str:
    """Return who made a change, as a word for the person."""
    return WHO.get(by.kind, by.kind)


def when(at: str, now: datetime) -> str:
    """Return a stored time as `14:02` of today, else with its date, else with its year.

    Args:
        at: UTC ISO 8601; what is no time is shown as it is.
        now: aware, in the person's zone.
    """
    try:
        local = datetime.fromisoformat(at).astimezone(now.tzinfo)
    except (ValueError, OverflowError):
        return one_line(at, 16)
    if local.date() == now.date():
        return f"{local:%H:%M}"
    return f"{local.day} {local:%b %H:%M}" if local.year == now.year else f"{local.day} {local:%b %Y}"


def heading(versions: Sequence[Version], number: int, current: int, now: datetime, *, before: bool) -> str:
    """Return what a text is called above a comparison: its name, `now`, `before the agent's edit of 14:02`.

    Args:
        versions: of the persona, in any order.
        number: of the version whose text it is; 0 is the first text.
        current: of the text as it is now.
        now: aware, in the person's zone.
        before: whether it is called after the change that came next, else after the one that led to it.
    """
    version = next((one for one in versions if one.number == number), None)
    if version is not None and version.name:
        return f"“{one_line(version.name, 40)}”"
    if number == current:
        return "now"
    changes = [one for one in versions if one.number > number and one.role != "kept"]
    if changes and (before or version is None):
        return f"before {_edit(min(changes, key=lambda one: one.number), now)}"
    return "the first text" if version is None else f"after {_edit(version, now)}"


def _edit(version: Version, now: datetime) -> str:
    what = _EDITS.get(version.by.kind, f"the edit by {one_line(author_name(version.by), 30)}")
    if version.role in ("undo", "redo"):
        what = f"the {version.role}"
    return f"{what} of {when(version.at, now)}"


def reason_of(version: Version) -> str:
    """Return why a change was made: the request that led to it, else what was said of it, else what it changed."""
    shown = version.note[0] if version.reason == version.note[1] else version.reason
    return version.by.request or shown or version.reason
