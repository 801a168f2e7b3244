"""Exporting: a persona of a home as the files of another program. What is there already is never replaced whole."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from personas.compiled import Options
from personas.errors import InvalidValue, PersonaError, StorageError
from personas.files.text_file import read_regular, replace_file, storage_error
from personas.formats.registry import format_named, formats
from personas.formats.text import SIZE_LIMIT
from personas.formats.types import Exported, Note, Source
from personas.library.folders import Library
from personas.persona import broken_file
from personas.store import Store
from personas.toml.parse import parse

_SIGNS = frozenset({"source_hash", "file", "copies", "is_text", "is_template"})
"""Keys in `[x.FORMAT]` that say how a file was written, and nothing of the persona."""


def export(
    store: Store,
    persona_id: str,
    form: str,
    *,
    overrides: Mapping[str, str] | None = None,
    image: bytes | None = None,
) -> Exported:
    """Return the files of a persona in a format. Nothing is written.

    Args:
        store: of the home.
        persona_id: whose.
        form: the format's name.
        overrides: parts that take the place of the persona's, by type.
        image: a PNG to write into.

    Raises:
        InvalidValue: there is no such format, it is only read, or an override cannot be; or what an import kept in
            `[x.FORMAT]` was changed by hand and makes no sense.
        Unreadable: the format cannot say this persona.
        BrokenFile: the persona is broken.
    """
    wanted = format_named(form)
    if wanted.write is None:
        raise InvalidValue(f"The format {form} is only read, not written.")
    persona = store.get(persona_id)
    if persona.error is not None:
        raise broken_file(persona.id, persona.error, is_readable=bool(persona.revision))
    library, options = Library(store.home), Options(overrides=overrides or {})
    assembled = options.assemble(persona, library)
    fields = parse(store.text(persona_id))
    tables = fields.get("x")
    kept = tables.get(wanted.table) if isinstance(tables, dict) else None
    source = Source(
        persona=persona,
        prompt=assembled.text,
        fields=fields,
        kept=kept if isinstance(kept, dict) else {},
        documents=tuple(one.document for one in assembled.pieces if one.document is not None),
        image=image,
    )
    try:
        exported = wanted.write(source)
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        if not source.kept:
            raise
        raise InvalidValue(
            f"The table [x.{wanted.table}] of {persona_id} has values that the format {form} cannot hold; fix or remove them."
        ) from error
    return replace(exported, report=(*exported.report, *_left_out(tables, wanted.table)))


def _left_out(tables: Any, table: str) -> Iterator[Note]:
    """Yield a note for each thing that was kept of a file of another format than that of a table."""
    for name in sorted({one.table for one in formats()} - {table}):
        kept = tables.get(name) if isinstance(tables, dict) else None
        for key, value in kept.items() if isinstance(kept, dict) else ():
            keys = value if key == "header" and isinstance(value, dict) else ()
            for path in [f"{key}.{one}" for one in keys if one not in ("name", "description")] or [key]:
                if path not in _SIGNS and (path != "header" or not keys):
                    yield Note(f"x.{name}.{path}", None, "kept from a file of another format")


def read_image(path: Path) -> bytes:
    """Return the bytes of a picture.

    Raises:
        StorageError, OutsideHome: it cannot be read.
    """
    real = path.resolve()
    try:
        return read_regular(real, root=real.parent, limit=SIZE_LIMIT)
    except FileNotFoundError:
        raise StorageError(f"There is no file {path}.") from None


def write_files(exported: Exported, form: str, out: Path, *, into: bool = False) -> dict[Path, str]:
    """Write the files of an export and return where they are, and of one that was there where in it the export stands.

    Args:
        exported: one file, or several.
        form: the format's name; one that can be put into a file that is there is, and all else in that stays.
        out: of one file its path, or a folder that is there; of several the folder, which is made.
        into: it is a folder, there or not.

    Raises:
        InvalidValue: something is there already; nothing is written.
        Unreadable: it cannot be put into the file that is there.
        StorageError, OutsideHome: it cannot be written.
    """
    merge = format_named(form).merge
    is_one = len(exported.files) == 1 and not into and not out.is_dir()
    places = [out] if is_one else [out / name for name in exported.files]
    for place in places:
        if os.path.lexists(place) and merge is None:
            raise InvalidValue(f"{place} already exists; choose another --out, or remove it first.")
    paths, made = dict.fromkeys([place.resolve() for place in places], ""), list[Path]()
    try:
        for path, content in zip(paths, exported.files.values(), strict=True):
            path.parent.mkdir(parents=True, exist_ok=True)
            if merge is not None and path.exists():
                there = read_regular(path, root=path.parent, limit=SIZE_LIMIT)
                check = partial(_require, path, there)
                merged, paths[path] = merge(there, exported)
                replace_file(path, merged, root=path.parent, check=check)
            else:
                replace_file(path, content, root=path.parent, exclusive=True)
                made.append(path)
    except (PersonaError, OSError) as error:
        for one in made:
            one.unlink(missing_ok=True)
        if isinstance(error, FileExistsError):
            raise InvalidValue(f"{path} already exists; choose another --out.") from None
        raise storage_error(error, "write", path) if isinstance(error, OSError) else error from None
    return paths


def _require(path: Path, there: bytes) -> None:
    if read_regular(path, root=path.parent, limit=SIZE_LIMIT) != there:
        raise StorageError(f"Another program has just changed {path}; nothing was written. Try again.")
