"""Assets: texts that the agent leaves behind for a persona, `assets/<persona>/<name>.<kind>`. None is ever overwritten."""

from __future__ import annotations

import contextlib
import os
import stat
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, get_args

from personas.errors import InvalidValue, OutsideHome
from personas.files.home import Home
from personas.files.slug import is_id, slug
from personas.files.text_file import encode, read_regular, readable, replace_file, storage_error

AssetKind = Literal["md", "txt", "toml", "json", "code"]
KINDS: tuple[str, ...] = get_args(AssetKind)
SIZE_LIMIT = 4 * 1024 * 1024
"""Most bytes of an asset that the agent makes."""


@dataclass(frozen=True, slots=True)
class Asset:
    """One asset.

    Attributes:
        persona: the id of the persona it was made for.
        name: the file's name, as `plan.md`.
        size: in bytes.
        at: when it was written, UTC, ISO 8601.
        path: where it lies.
    """

    persona: str
    name: str
    size: int
    at: str
    path: Path

    def to_record(self) -> dict[str, str | int]:
        """Return it as a JSON object."""
        return {"persona": self.persona, "name": self.name, "size": self.size, "at": self.at}


def add_asset(home: Home, persona_id: str, name: str, kind: AssetKind, content: str) -> str:
    """Write an asset and return its file's name; where the name is taken, a further version with a number.

    Args:
        home: the home.
        persona_id: for whom.
        name: any text; what a file cannot be called by is left out.
        kind: the ending.
        content: the whole text.

    Raises:
        InvalidValue: the text is too long, or holds what cannot be stored.
        OutsideHome: the folder leads out of the home.
        StorageError: the disk refused.
    """
    written = encode(content)
    if len(written) > SIZE_LIMIT:
        raise InvalidValue(f"An asset may have {SIZE_LIMIT // (1024 * 1024)} MB at most.")
    folder = _folder(home, persona_id)
    try:
        folder.mkdir(0o700, exist_ok=True)
    except OSError as error:
        raise storage_error(error, "create", folder) from None
    stem = slug(name.removesuffix(f".{kind}"), fallback="asset")
    number = 1
    while True:
        file = f"{stem}.{kind}" if number == 1 else f"{stem}-{number}.{kind}"
        number += 1
        if os.path.lexists(folder / file):
            continue  # the text need not be written to see that
        with contextlib.suppress(FileExistsError):  # another process took it just now
            replace_file(folder / file, written, root=home.root, exclusive=True)
            return file


def list_assets(home: Home, persona_id: str | None = None) -> list[Asset]:
    """Return the assets of a persona, or of all, by name. Only regular files count; links are left out.

    Raises:
        OutsideHome: the id is no plain file name, or the folder leads out of the home.
        StorageError: the disk refused.
    """
    if persona_id is None:
        names = sorted(
            entry.name for entry in _entries(home.inside(home.assets)) if entry.is_dir(follow_symlinks=False)
        )
        return [asset for name in names if is_id(name) for asset in list_assets(home, name)]
    found = []
    for entry in _entries(_folder(home, persona_id)):
        if Path(entry.name).suffix.removeprefix(".") in KINDS and not entry.name.startswith("."):
            with contextlib.suppress(FileNotFoundError):
                status = entry.stat(follow_symlinks=False)
                if stat.S_ISREG(status.st_mode):
                    at = datetime.fromtimestamp(status.st_mtime, UTC).isoformat(timespec="seconds")
                    at = at.removesuffix("+00:00") + "Z"
                    found.append(Asset(persona_id, entry.name, status.st_size, at, Path(entry.path)))
    return sorted(found, key=lambda asset: asset.name)


def find_asset(home: Home, persona_id: str, name: str) -> Asset:
    """Return an asset by its file's name, or by that without its ending where that means one.

    Raises:
        InvalidValue: there is none, or several are meant.
        OutsideHome, StorageError: see `list_assets`.
    """
    assets = list_assets(home, persona_id)
    meant = [one for one in assets if one.name == name] or [
        one for one in assets if one.name.rpartition(".")[0] == name
    ]
    if len(meant) == 1:
        return meant[0]
    names = ", ".join(one.name for one in (meant or assets)) or "none"
    raise InvalidValue(
        f"{persona_id} has {'several assets' if meant else 'no asset'} {name!r}; there are: {names}."
    )


def read_asset(home: Home, asset: Asset) -> bytes:
    """Return an asset's bytes.

    Raises:
        OutsideHome: it is no regular file, or outside of the home.
        StorageError: it is gone, or the disk refuses.
    """
    try:
        return read_regular(asset.path, root=home.root)
    except FileNotFoundError as error:
        raise storage_error(error, "read", asset.path) from None


def asset_text(home: Home, asset: Asset) -> str:
    """Return an asset's text for showing. Raises as `read_asset`."""
    return readable(read_asset(home, asset))


def _folder(home: Home, persona_id: str) -> Path:
    if not is_id(persona_id):
        raise OutsideHome(f"{persona_id!r} cannot be a persona's id: an id is a plain file name.")
    return home.inside(home.assets / persona_id)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise storage_error(error, "read", folder) from None
