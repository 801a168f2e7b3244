"""An action as a `Document`: its file, its key `action/ID`, reading one or all, and what to say where there is none."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from personas.actions.document import Action, broken_action, read_action
from personas.document import Document
from personas.errors import BrokenFile, InvalidValue, OutsideHome, PersonaError, StorageError, UnknownPersona
from personas.files.home import Home
from personas.files.slug import shown_id
from personas.files.text_file import decode, sha256, storage_error
from personas.folder import read_file
from personas.library.documents import is_name
from personas.persona import Persona

_PREFIX = "action/"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredAction(Persona):
    """An action as `Store` returns it: of what a persona has only id (its key), name, revision and error.

    Attributes:
        action: what it says.
        text: the whole text of its file, also of a broken one; empty where it is not text.
    """

    action: Action
    text: str = ""


def key_of(action_id: str) -> str:
    """Return the key of an action in the store."""
    return _PREFIX + action_id


def action_document(home: Home, key: str, *, now: Callable[[], datetime]) -> Document:
    """Return an action with its versions; it need not exist.

    Raises:
        InvalidValue: its id can be none.
    """
    action_id = _id_of(key)
    return Document(
        home,
        key,
        (home.actions / f"{action_id}.toml",),
        now=now,
        subject=f"The action {action_id}",
        is_broken=lambda content: bool(content) and read_action(action_id, content).error is not None,
        is_optional=True,
    )


def read_stored(key: str, content: bytes) -> Persona:
    """Return what a content holds; of an empty one, which is no action, only the key."""
    revision = sha256(content)
    if not content:
        return Persona(id=key, name=key, revision=revision)
    action = read_action(_id_of(key), content)
    try:
        text = decode(content).text
    except BrokenFile:
        text = ""
    return StoredAction(
        id=key, name=action.title, revision=revision, error=action.error, action=action, text=text
    )


def unknown_action(home: Home, key: str) -> PersonaError:
    """Return the error for a key without an action, with the ids that look like it."""
    from difflib import get_close_matches

    near = get_close_matches(_id_of(key), action_ids(home), n=3)
    hint = f"did you mean {' or '.join(near)}?" if near else "`persona action list` shows all of them."
    return UnknownPersona(f"There is no action {_id_of(key)!r}; {hint}")


def action_ids(home: Home) -> list[str]:
    """Return the stems of all files of actions, sorted; also of those that no action may have.

    Raises:
        OutsideHome: the folder leads out of the home.
        StorageError: it cannot be read.
    """
    folder = home.inside(home.actions)
    try:
        with os.scandir(folder) as entries:
            return sorted(
                entry.name.removesuffix(".toml")
                for entry in entries
                if entry.name.endswith(".toml")
                and not entry.name.startswith(".")
                and not entry.is_dir(follow_symlinks=False)
            )
    except FileNotFoundError:
        return []
    except OSError as error:
        raise storage_error(error, "read", folder) from None


def find_action(home: Home, action_id: str) -> Action | None:
    """Return an action, None where there is none; whatever is wrong with it becomes its `error`."""
    if not is_name(action_id):
        wrong = OutsideHome(
            "an action's id has lower-case letters, digits and hyphens, 64 at most; rename the file"
        )
        return broken_action(shown_id(action_id), wrong)
    path = home.actions / f"{action_id}.toml"
    try:
        content = read_file(home, path)
    except FileNotFoundError:
        gone = StorageError(f"{path} is missing, or a symlink that leads nowhere.")
        return broken_action(action_id, gone) if os.path.lexists(path) else None
    except PersonaError as error:
        return broken_action(action_id, error)
    return read_action(action_id, content) if content else None


def read_actions(home: Home) -> list[Action]:
    """Return all actions in the order of `action_ids`, broken ones too.

    Raises:
        OutsideHome, StorageError: see `action_ids`.
    """
    found = (find_action(home, action_id) for action_id in action_ids(home))
    return [action for action in found if action is not None]


def _id_of(key: str) -> str:
    action_id = key.removeprefix(_PREFIX)
    if not is_name(action_id):
        raise InvalidValue(
            f"{action_id!r} cannot be an action's id: it has lower-case letters, digits and hyphens, 64 at most."
        )
    return action_id
