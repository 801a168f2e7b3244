"""Making, changing and deleting actions through the `Store`: each is a change with a version, undone like others."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any

from personas.action_document import StoredAction, action_ids, key_of
from personas.actions.document import Action, read_action
from personas.changes import NAME_LIMIT, ReplaceText, require_line
from personas.errors import Conflict, InvalidValue, PersonaError
from personas.files.slug import free_id, slug
from personas.files.text_file import sha256
from personas.folder import unknown_persona
from personas.library_changes import TextChange
from personas.store import Store
from personas.toml.edit import remove_key, set_value
from personas.toml.parse import parse
from personas.versions.authorship import USER, Author, Version

KEYS = (
    *(
        "title",
        "description",
        "persona",
        "kind",
        "instructions",
        "expected_output",
        "priority",
        "schedule",
        "at",
    ),
    *("timezone", "catch_up", "window", "enabled", "edits", "report", "limits"),
)
"""The keys of an action, in the order in which they are written. Values are TOML's; `at` a datetime, `limits` a dict."""


def get_action(store: Store, action_id: str) -> Action:
    """Return an action, with `error` set when its file is broken.

    Raises:
        UnknownPersona: there is none; the message names the nearest ids.
        InvalidValue: it can be no id.
    """
    found = store.get(key_of(action_id))
    if isinstance(found, StoredAction):
        return found.action
    from personas.action_document import find_action, unknown_action

    broken = find_action(store.home, action_id)  # which cannot be read at all, and says why
    if broken is None:
        raise unknown_action(store.home, key_of(action_id))
    return broken


def create_action(store: Store, values: Mapping[str, Any], *, by: Author = USER, reason: str = "") -> Action:
    """Make an action with an id from its title, and return it. Nobody has approved it.

    Args:
        store: the store.
        values: by key, see `KEYS`; title and persona are needed.
        by, reason: for the log.

    Raises:
        InvalidValue: a value cannot be.
        UnknownPersona: there is no such persona.
    """
    change = _set_values(store, values)
    text = change.apply("")
    _check("new", text)
    title = str(values.get("title", ""))
    require_line(title, "A title", NAME_LIMIT)
    taken = {*action_ids(store.home), *_ids_with_versions(store)}
    while True:
        action_id = free_id(slug(title, fallback="action"), taken.__contains__)
        with contextlib.suppress(Conflict):  # another process took it just now
            made = store.change(
                key_of(action_id),
                ReplaceText(text),
                revision=sha256(b""),
                by=by,
                reason=reason or "created",
                own_unit=True,
            )
            assert isinstance(made, StoredAction)
            return made.action
        taken.add(action_id)


def update_action(
    store: Store,
    action_id: str,
    values: Mapping[str, Any],
    *,
    by: Author = USER,
    reason: str = "",
    revision: str | None = None,
) -> Action:
    """Set the given keys of an action and return it; None as a value takes a key away. It needs approval anew.

    Raises:
        InvalidValue: a value cannot be; nothing is changed.
        UnknownPersona: there is no such action, or no such persona.
        Conflict: the action is no longer at `revision`.
    """
    get_action(store, action_id)
    change = _set_values(store, values)
    _check(action_id, change.apply(store.text(key_of(action_id))))
    changed = store.change(key_of(action_id), change, revision=revision, by=by, reason=reason)
    assert isinstance(changed, StoredAction)
    return changed.action


def delete_action(store: Store, action_id: str, *, by: Author = USER) -> None:
    """Delete an action; its versions stay, and undo brings it back.

    Raises:
        UnknownPersona: there is none.
    """
    get_action(store, action_id)
    store.change(key_of(action_id), ReplaceText(""), revision=None, by=by, reason="deleted", own_unit=True)


def deleted_actions(store: Store) -> list[tuple[str, Version]]:
    """Return the ids of actions that were deleted, each with its last version, newest first; undo brings one back."""
    found = []
    for action_id in _ids_with_versions(store) - set(action_ids(store.home)):
        with contextlib.suppress(PersonaError):
            found += [(action_id, one) for one in store.recent_versions(key_of(action_id), 1)[:1]]
    return sorted(found, key=lambda one: one[1].at, reverse=True)


def _set_values(store: Store, values: Mapping[str, Any]) -> TextChange:
    unknown = values.keys() - set(KEYS)
    if unknown:
        raise InvalidValue(f"An action has no {min(unknown)!r}; it has {', '.join(KEYS)}.")
    persona = values.get("persona")
    if persona is not None and persona not in store.ids():
        raise unknown_persona(store.home, str(persona), has_versions=False)
    keys = [key for key in KEYS if key in values]

    def edit(text: str) -> str:
        for key in keys:
            if values[key] is not None:
                text = set_value(text, (key,), values[key])
            elif key in parse(text):
                text = remove_key(text, (key,))
        return text

    return TextChange("action", f"{', '.join(keys)} set", edit)


def _check(action_id: str, text: str) -> None:
    error = read_action(action_id, text.encode()).error
    if error is not None:
        raise InvalidValue(f"The action is not valid: {error.message}.")


def _ids_with_versions(store: Store) -> set[str]:
    folder = store.home.versions / ".library" / "action"
    return {path.name for path in folder.iterdir()} if folder.is_dir() else set()
