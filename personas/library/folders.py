"""The folders of the library: where a document lies, and reading one or all of a kind. Links out of the home are not followed."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from personas.errors import OutsideHome, PersonaError, StorageError
from personas.files.file_stamp import Stamp, stamp_of
from personas.files.home import Home
from personas.files.slug import shown_id
from personas.files.stamped_index import StampedIndex
from personas.files.text_file import read_regular, storage_error
from personas.library.documents import FIELDS, Kind, LibraryDocument, broken_document, is_name, read_document

SKILL_FILE = "SKILL.md"

_INDEXED = ("part", "trait", "guardrail")  # one file each, whose values are texts and lists of texts


class Library:
    """The documents of a home as they are now. Each is read when it is first asked for, and then remembered.

    Args:
        home: the home.
    """

    def __init__(self, home: Home) -> None:
        self._home = home
        self._known: dict[tuple[Kind, str], LibraryDocument | None] = {}

    def get(self, key: tuple[Kind, str], /) -> LibraryDocument | None:
        """Return a document by kind and name, broken ones too; None where there is none."""
        if key not in self._known:
            self._known[key] = read_file_of(self._home, *key) if is_name(key[1]) else None
        return self._known[key]

    @property
    def asked(self) -> list[tuple[Kind, str]]:
        """Kind and name of each document that was asked for, sorted."""
        return sorted(self._known)

    def sources(self) -> dict[str, str | None]:
        """Return the revision of each document that was asked for, None where there is none, by `KIND/NAME`."""
        return {
            f"{kind}/{name}": None if one is None else one.revision
            for (kind, name), one in sorted(self._known.items())
        }


def folder_of(home: Home, kind: Kind) -> Path:
    """Return the folder of a kind."""
    return home.library / f"{kind}s"


def files_of(home: Home, kind: Kind, name: str) -> tuple[Path, ...]:
    """Return where the file of a document may lie, the place that wins first."""
    folder = folder_of(home, kind)
    return (folder / f"{name}.toml", *([folder / name / SKILL_FILE] if kind == "skill" else []))


def path_of(home: Home, kind: Kind, name: str) -> Path | None:
    """Return the file of a document, None where there is none."""
    for path in files_of(home, kind, name):
        if path in home.instead:
            if home.instead[path] is not None:
                return path
        elif os.path.lexists(path) or (path.name == SKILL_FILE and path.parent.is_symlink()):
            return path
    return None


def move_beside_skill(home: Home, old: str, new: str) -> None:
    """Move what lies beside a `SKILL.md` from the folder of one name into that of another, over nothing that is there.

    Raises:
        OutsideHome: the folder leads out of the home.
        StorageError: the disk refused, or something of the same name is there; nothing is moved then.
    """
    source, target = (home.inside(folder_of(home, "skill") / name) for name in (old, new))
    try:
        target.mkdir(exist_ok=True)
        beside = [path for path in source.iterdir() if path.name != SKILL_FILE]
        for path in beside:
            if os.path.lexists(target / path.name):
                raise StorageError(
                    f"{target / path.name} is there already; what lies in {source} stays there."
                )
        for path in beside:
            path.rename(target / path.name)
        with contextlib.suppress(OSError):
            source.rmdir()  # where nothing is left in it
    except OSError as error:
        raise storage_error(error, "rename", source) from None


def read_file_of(home: Home, kind: Kind, name: str, *, folder: Path | None = None) -> LibraryDocument | None:
    """Return a document, None where there is none.

    Args:
        home, kind, name: which one.
        folder: the folder of the kind, where it is known to be inside the home.
    """
    path = path_of(home, kind, name)
    if path is None:
        return None
    is_skill_file = path.name == SKILL_FILE
    try:
        is_plain = path.parent == folder and not path.is_symlink()
        content = home.instead.get(path) or read_regular(path, root=path.parent if is_plain else home.root)
    except FileNotFoundError:
        gone = StorageError(f"{path} is missing, or a symlink that leads nowhere.")
        return broken_document(kind, name, gone)
    except PersonaError as error:
        return broken_document(kind, name, error)
    document = read_document(kind, name, content, is_skill_file=is_skill_file)
    if kind == "skill" and not is_skill_file and os.path.lexists(path.with_suffix("") / SKILL_FILE):
        ignored = f"{name}/{SKILL_FILE} is there too and not read: {name}.toml wins"
        return replace(document, warnings=(*document.warnings, ignored))
    return document


def names(home: Home, kind: Kind) -> list[str]:
    """Return the names of the files of a kind, sorted; also those that are none that a document may have.

    Raises:
        OutsideHome: the folder leads out of the home.
        StorageError: it cannot be read.
    """
    folder = home.inside(folder_of(home, kind))
    found = set()
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.startswith("."):
                    continue
                if entry.name.endswith(".toml") and not entry.is_dir(follow_symlinks=False):
                    found.add(entry.name.removesuffix(".toml"))
                elif kind == "skill" and (
                    entry.is_symlink() or os.path.lexists(folder / entry.name / SKILL_FILE)
                ):
                    found.add(entry.name)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise storage_error(error, "read", folder) from None
    for path, content in home.instead.items():
        if folder in path.parents:
            name = path.parent.name if path.name == SKILL_FILE else path.stem
            (found.discard if content is None else found.add)(name)
    return sorted(found)


def read_all(home: Home, kind: Kind) -> list[LibraryDocument]:
    """Return all documents of a kind in the order of `names`; a broken one has its `error`.

    Raises:
        OutsideHome, StorageError: see `names`.
    """
    folder = home.inside(folder_of(home, kind))
    index = _Index(home, kind)
    documents = []
    for name in names(home, kind):
        document: LibraryDocument | None
        if is_name(name):
            path = folder / f"{name}.toml"
            # Taken before reading: never newer than the text. What stands in for a file has none.
            stamp = None if path in home.instead else stamp_of(path)
            document = index.get(name, stamp)
            if document is None and (document := read_file_of(home, kind, name, folder=folder)) is not None:
                index.add(document, stamp)
        else:
            wrong = OutsideHome(
                f"a {kind}'s name has lower-case letters, digits and hyphens, 64 at most; rename it"
            )
            document = broken_document(kind, shown_id(name), wrong)
        if document is not None:  # it may be gone by now
            documents.append(document)
    index.keep(documents)
    return documents


class _Index:
    """What many documents of a kind say, so that a list reads only the files that have changed.

    Broken documents are not in it, nor arcs and skills.

    Args:
        home: the home.
        kind: of the documents.
    """

    def __init__(self, home: Home, kind: Kind) -> None:
        self._kind = kind
        self._index = StampedIndex(home.state / f"library-{kind}s.json") if kind in _INDEXED else None

    def get(self, name: str, stamp: Stamp | None) -> LibraryDocument | None:
        """Return a document whose file has not changed since it was stored; None: its file is to be read."""
        record = self._index.get(name, stamp) if self._index is not None else None
        if not isinstance(record, dict) or record.keys() != {*_stored_keys(self._kind)}:
            return None
        values: dict[str, Any] = {
            key: tuple(one) if isinstance(one, list) else one for key, one in record.items()
        }
        return LibraryDocument(kind=self._kind, name=name, **values)

    def add(self, document: LibraryDocument, stamp: Stamp | None) -> None:
        """Add a document that was read."""
        if self._index is not None and document.error is None:
            record = {key: getattr(document, key) for key in _stored_keys(self._kind)}
            self._index.add(document.name, stamp, record)

    def keep(self, documents: Sequence[LibraryDocument]) -> None:
        """Store what these documents say, where many of them had to be read."""
        if self._index is not None:
            self._index.keep([one.name for one in documents])


def _stored_keys(kind: Kind) -> tuple[str, ...]:
    return (*FIELDS[kind], "revision", "warnings")
