"""Which folders the person accepted as homes, and which homes may act unattended.

Kept outside any home, in a file beside the settings, so that no home can speak for itself.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from personas.files.json_file import edit_json, read_json
from personas.files.text_file import expanded


class _Known:
    def __init__(self, accepted: dict[str, bool], trusted: list[str]) -> None:
        self.accepted = accepted
        self.trusted = trusted


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
    return _known(read_json(file_of(env))).accepted.get(_key(folder))


def remember(folder: Path, accepted: bool, env: Mapping[str, str] = os.environ) -> None:
    """Keep what the person said when `folder` was offered as home.

    Raises:
        StorageError: the disk refused.
    """
    with _editing(env) as known:
        known.accepted[_key(folder)] = accepted


def is_trusted(home: Path, env: Mapping[str, str] = os.environ) -> bool:
    """Return whether things in `home` may run without the person at the keyboard."""
    return _key(home) in _known(read_json(file_of(env))).trusted


def trust(home: Path, env: Mapping[str, str] = os.environ) -> None:
    """Let things in `home` run without the person at the keyboard.

    Raises:
        StorageError: the disk refused.
    """
    with _editing(env) as known:
        if _key(home) not in known.trusted:
            known.trusted.append(_key(home))


def distrust(home: Path, env: Mapping[str, str] = os.environ) -> None:
    """Take trust back.

    Raises:
        StorageError: the disk refused.
    """
    with _editing(env) as known:
        known.trusted = [key for key in known.trusted if key != _key(home)]


def _key(folder: Path) -> str:
    return os.path.realpath(folder)


def _known(stored: Mapping[str, object]) -> _Known:
    """What a file says; what is damaged in it says nothing."""
    accepted, trusted = stored.get("accepted"), stored.get("trusted")
    return _Known(
        {key: value for key, value in accepted.items() if isinstance(value, bool)}
        if isinstance(accepted, dict)
        else {},
        [key for key in trusted if isinstance(key, str)] if isinstance(trusted, list) else [],
    )


@contextmanager
def _editing(env: Mapping[str, str]) -> Iterator[_Known]:
    """Give what is known, to be changed, and write it."""
    with edit_json(file_of(env), lock="homes.lock", what="The list of homes") as stored:
        known = _known(stored)
        yield known
        stored.clear()
        stored.update(vars(known))
