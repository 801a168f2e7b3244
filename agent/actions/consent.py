"""Consent to unattended work: which actions of which home the person approved, kept in their own folder, never in a home.

An approval is of the very bytes of a document: whatever changes in it, it counts no more.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from agent.actions.times import from_stamp, stamp
from personas.actions.document import Action
from personas.errors import InvalidValue
from personas.files import trust
from personas.files.home import Home
from personas.files.json_file import edit_json, read_json
from personas.files.slug import command


@dataclass(frozen=True, slots=True)
class Approval:
    """The person's word that an action may run while nobody watches.

    Attributes:
        hash: SHA-256 (hex) of the document's bytes, see `Action.revision`.
        at: since when; due times count from then.
        again_at: when the person last approved the same bytes again, which also lets a backlog begin that would cost
            more than `confirm_dollars`.
    """

    hash: str
    at: datetime
    again_at: datetime | None = None


def approve(home: Home, actions: Iterable[Action], *, now: datetime) -> None:
    """Approve actions as they were read, all or none.

    Raises:
        InvalidValue: one of them is broken.
        StorageError: the disk refused.
    """
    actions = list(actions)
    for action in actions:
        require_whole(action)
    with _editing() as known:
        stored = _of_home(known, home)
        for action in actions:
            before = _approval(stored.get(action.id))
            if before is not None and before.hash == action.revision:
                stored[action.id]["again_at"] = stamp(now)
            else:
                stored[action.id] = {"hash": action.revision, "at": stamp(now)}
        known[_key(home)] = stored


def require_whole(action: Action) -> None:
    """Check that an action can be approved.

    Raises:
        InvalidValue: it is broken.
    """
    if action.error is not None:
        fix = command("action edit", action.id)
        raise InvalidValue(f"The action {action.id} is broken: {action.error.message}; fix it with `{fix}`.")


def cancel(home: Home, action_id: str) -> None:
    """Take an action off its schedule until it is approved again. Its runs are stopped by `run_log.cancel_runs`.

    Raises:
        StorageError: the disk refused.
    """
    with _editing() as known:
        known[_key(home)] = {**_of_home(known, home), action_id: {"cancelled": True}}


def forget(home: Home) -> None:
    """Take back all approvals of a home.

    Raises:
        StorageError: the disk refused.
    """
    if _key(home) in read_json(_file()):
        with _editing() as known:
            known.pop(_key(home), None)


def approval_of(home: Home, action: Action) -> Approval | None:
    """Return the approval of an action as it was read; None where the person has not approved these bytes."""
    found = _approval(_of_home(read_json(_file()), home).get(action.id))
    return found if found is not None and found.hash == action.revision else None


def is_cancelled(home: Home, action: Action) -> bool:
    """Whether the person cancelled an action and has not approved it since."""
    stored = _of_home(read_json(_file()), home).get(action.id)
    return isinstance(stored, dict) and stored.get("cancelled") is True


def refusal_reason(home: Home, action: Action) -> str:
    """Return why an action may not run unattended, and what to do about it; empty where it may."""
    approve_it = f"`{command('action approve', action.id)}`"
    if action.error is not None:
        return f"broken: {action.error.message}"
    if not os.path.lexists(home.personas / f"{action.persona}.toml"):
        return f"there is no persona {action.persona}"
    if not action.enabled:
        return "not enabled"
    if approval_of(home, action) is None:
        stored = _of_home(read_json(_file()), home).get(action.id)
        if _approval(stored) is not None:
            return f"changed since it was approved: {approve_it}"
        return f"cancelled: {approve_it}" if stored else f"not approved: {approve_it}"
    if not trust.is_trusted(home.root):
        return "the home is not trusted: `persona trust`"
    return ""


def may_run_unattended(home: Home, action: Action) -> bool:
    """Whether an action may run while nobody watches: approved as it is, enabled, not broken, its persona there, in a trusted home."""
    return not refusal_reason(home, action)


def _file() -> Path:
    return trust.file_of(os.environ).with_name("actions.json")


def _editing() -> Any:
    return edit_json(_file(), lock="actions.lock", what="The list of approved actions")


def _key(home: Home) -> str:
    return str(home.root)


def _of_home(known: Mapping[str, Any], home: Home) -> dict[str, Any]:
    stored = known.get(_key(home))
    return dict(stored) if isinstance(stored, dict) else {}


def _approval(stored: Any) -> Approval | None:
    """Return an approval as it is stored; what is damaged is none."""
    if not isinstance(stored, dict) or not isinstance(stored.get("hash"), str):
        return None
    at, again = from_stamp(stored.get("at")), from_stamp(stored.get("again_at"))
    return None if at is None else Approval(stored["hash"], at, again)
