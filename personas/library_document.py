"""A document of the library as a `Document`: its files, its key `KIND/NAME`, and what to say where there is none."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from personas.document import Document, OpenInEditor
from personas.errors import InvalidValue, OutsideHome, PersonaError, UnknownPersona
from personas.files.home import Home
from personas.library.documents import KINDS, Kind, is_name, read_document
from personas.library.folders import files_of, names

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
    home: Home, key: str, *, now: Callable[[], datetime], editor: OpenInEditor | None = None
) -> Document:
    """Return a document with its versions; it need not exist.

    Raises:
        InvalidValue, OutsideHome: the key is none, see `parse_key`.
    """
    kind, name = parse_key(key)
    paths = files_of(home, kind, name)

    def is_broken(content: bytes) -> bool:
        for at, file in enumerate(document.unpack(content)):
            if file:
                return read_document(kind, name, file, is_skill_file=at == 1).error is not None
        return False

    document = Document(
        home,
        key,
        paths,
        now=now,
        subject=f"The {kind} {name}",
        is_broken=is_broken,
        editor=editor,
        is_optional=True,
    )
    return document


def unknown_document(home: Home, key: str) -> PersonaError:
    """Return the error for a key without a document, with the names that look like it."""
    from difflib import get_close_matches

    kind, name = parse_key(key)
    near = get_close_matches(name, names(home, kind), n=3)
    hint = f"did you mean {' or '.join(near)}?" if near else f"`persona {kind} list` shows all of them."
    return UnknownPersona(f"There is no {kind} {name!r}; {hint}")
