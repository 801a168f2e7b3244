"""A document of the library as a `Document`: its files, its key `KIND/NAME`, and what to say where there is none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from personas.document import Document
from personas.errors import InvalidValue, OutsideHome, PersonaError, UnknownPersona
from personas.files.home import Home
from personas.files.text_file import sha256
from personas.library.documents import KINDS, Kind, LibraryDocument, is_name, read_document
from personas.library.folders import SKILL_FILE, files_of, folder_of, move_beside_skill, names, path_of
from personas.persona import Persona


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredDocument(Persona):
    """A document as `Store` returns it: of what a persona has only id (its key), name, revision and error."""

    document: LibraryDocument


RENAMED_TO = "renamed to "
"""How the reason of a change begins that renames a document."""

NOT_A_NAME = "{!r} cannot be a name: a name has lower-case letters, digits and hyphens, 64 at most."


def parse_key(key: str) -> tuple[Kind, str]:
    """Return kind and name out of the key of a document.

    Raises:
        InvalidValue: the name can be none.
        OutsideHome: there is no such kind.
    """
    kind, _, name = key.partition("/")
    for known in KINDS:
        if kind == known and is_name(name):
            return known, name
    if kind in KINDS:
        raise InvalidValue(NOT_A_NAME.format(name))
    raise OutsideHome(f"{key!r} names no document: it is KIND/NAME, and a kind is one of {', '.join(KINDS)}.")


def library_document(
    home: Home,
    key: str,
    *,
    now: Callable[[], datetime],
    make: Callable[..., Document] = Document,
) -> Document:
    """Return a document with its versions, by `make`; it need not exist.

    Raises:
        InvalidValue, OutsideHome: the key is none, see `parse_key`.
    """
    kind, name = parse_key(key)
    paths = files_of(home, kind, name)

    def is_broken(content: bytes) -> bool:
        found = _read(document, content)
        return found is not None and found.error is not None

    document = make(
        home,
        key,
        paths,
        now=now,
        subject=f"The {kind} {name}",
        is_broken=is_broken,
        is_optional=True,
    )
    return document


def read_stored(document: Document, content: bytes) -> Persona:
    """Return what a content holds; of an empty one, which is no document, only the key."""
    found, key, revision = _read(document, content), document.key, sha256(content)
    if found is None:
        return Persona(id=key, name=key, revision=revision)
    return StoredDocument(id=key, name=key, revision=revision, error=found.error, document=found)


def _read(document: Document, content: bytes) -> LibraryDocument | None:
    kind, name = parse_key(document.key)
    for at, file in enumerate(document.unpack(content).values()):
        if file:
            return read_document(kind, name, file, is_skill_file=at == 1)
    return None


def unknown_document(home: Home, key: str) -> PersonaError:
    """Return the error for a key without a document, with the names that look like it."""
    from difflib import get_close_matches

    kind, name = parse_key(key)
    near = get_close_matches(name, names(home, kind), n=3)
    hint = f"did you mean {' or '.join(near)}?" if near else f"`persona {kind} list` shows all of them."
    return UnknownPersona(f"There is no {kind} {name!r}; {hint}")


def follow_rename(home: Home, skill: Document, unit: str) -> None:
    """After a step over a unit that renamed a skill, move what lies beside a `SKILL.md` to where that is now.

    Args:
        home: the home.
        skill: the document that the unit stepped over.
        unit: key of the unit.

    Raises:
        StorageError: the disk refused.
    """
    _, old = parse_key(skill.key)
    for version in skill.log(skill.read_if_there()).versions.values():
        if version.unit == unit and version.reason.startswith(RENAMED_TO):
            new = version.reason.removeprefix(RENAMED_TO)
            for gone, there in ((old, new), (new, old)):
                path = path_of(home, "skill", there)
                is_left = path_of(home, "skill", gone) is None and (folder_of(home, "skill") / gone).is_dir()
                if is_left and path is not None and path.name == SKILL_FILE:
                    move_beside_skill(home, gone, there)
            return
