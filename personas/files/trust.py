"""Which folders the person accepted as homes, and which homes may act unattended.

Kept outside any home, in a file beside the settings, so that no home can speak for itself.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from personas.errors import PersonaError
from personas.files.text_file import encode, expanded, read_regular, replace_file, storage_error


@dataclass
class _Known:
    accepted: dict[str, bool] = field(default_factory=dict)
    trusted: list[str] = field(default_factory=list)


def file_of(env: Mapping[str, str] = os.environ) -> Path:
    """Return the file that remembers: `homes.json` beside the settings (`$PERSONA_CONFIG`, else the platform's).

    Raises:
        StorageError: `$PERSONA_CONFIG` is in the folder of a user there is not.
    """
    if named := env.get("PERSONA_CONFIG"):
        return Path(os.path.realpath(expanded(named).parent)) / "homes.json"
    from platformdirs import user_config_path

    return Path(os.path.realpath(user_config_path("persona-editor", appauthor=False))) / "homes.json"


def remembered(folder: Path, env: Mapping[str, str] = os.environ) -> bool | None:
    """Return whether the person accepted `folder` as home; None if nobody asked yet."""
    return _read(file_of(env)).accepted.get(_key(folder))


def remember(folder: Path, accepted: bool, env: Mapping[str, str] = os.environ) -> None:
    """Keep what the person said when `folder` was offered as home.

    Raises:
        StorageError: the disk refused.
    """

    def note(known: _Known) -> None:
        known.accepted[_key(folder)] = accepted

    _update(file_of(env), note)


def is_trusted(home: Path, env: Mapping[str, str] = os.environ) -> bool:
    """Return whether things in `home` may run without the person at the keyboard."""
    return _key(home) in _read(file_of(env)).trusted


def trust(home: Path, env: Mapping[str, str] = os.environ) -> None:
    """Let things in `home` run without the person at the keyboard.

    Raises:
        StorageError: the disk refused.
    """

    def note(known: _Known) -> None:
        if _key(home) not in known.trusted:
            known.trusted.append(_key(home))

    _update(file_of(env), note)


def distrust(home: Path, env: Mapping[str, str] = os.environ) -> None:
    """Take trust back.

    Raises:
        StorageError: the disk refused.
    """

    def note(known: _Known) -> None:
        known.trusted = [key for key in known.trusted if key != _key(home)]

    _update(file_of(env), note)


def _key(folder: Path) -> str:
    return os.path.realpath(folder)


def _read(path: Path) -> _Known:
    """Read what is known; a missing or damaged file knows nothing."""
    try:
        stored = json.loads(read_regular(path, root=path.parent))
    except (FileNotFoundError, PersonaError, ValueError, RecursionError):
        return _Known()
    known = _Known()
    if isinstance(stored, dict):
        accepted, trusted = stored.get("accepted"), stored.get("trusted")
        if isinstance(accepted, dict):
            known.accepted = {key: value for key, value in accepted.items() if isinstance(value, bool)}
        if isinstance(trusted, list):
            known.trusted = [key for key in trusted if isinstance(key, str)]
    return known


def _update(path: Path, note: Callable[[_Known], None]) -> None:
    from personas.files.lock import hold

    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise storage_error(error, "create", path.parent) from None
    with hold(path.with_name("homes.lock"), wait=5, what="The list of homes"):
        known = _read(path)
        note(known)
        text = json.dumps({"accepted": known.accepted, "trusted": known.trusted}, indent=2) + "\n"
        replace_file(path, encode(text), root=path.parent)
