"""Importing: what a file of another program holds becomes personas and documents of the library, as one unit of undo.

First all of it is planned and checked; then it is written, and where that fails, what was written is put back.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from personas.changes import ReplaceContent, ReplaceText, SetPrompt
from personas.dry_run_store import DryRunStore
from personas.errors import InvalidValue, PersonaError, StorageError
from personas.files.slug import free_id, slug
from personas.files.text_file import read_regular, sha256
from personas.folder import require_beside, taken_ids
from personas.formats.registry import format_named, format_of, formats
from personas.formats.secrets import seen_in
from personas.formats.text import SIZE_LIMIT, one_line, plain_text
from personas.formats.types import Format, ImportedPersona, NewDocument, Note, Unreadable
from personas.library.documents import FIELDS, Kind
from personas.library.folders import path_of, read_all
from personas.library_changes import TextChange, link
from personas.library_store import LibraryStore
from personas.persona import read_persona
from personas.prompt_file import KEY, fault_of
from personas.store import Store
from personas.toml import edit as toml_edit
from personas.toml.new_file import new_text
from personas.toml.parse import parse
from personas.versions.authorship import USER
from personas.versions.undo import IMPORT

_TOP = ("name", "description", "tags", "summary", "system_prompt")
_FOLDERS = frozenset({".claude", ".codex", ".gemini"})
"""Hidden folders that are looked into."""
_NAME_LENGTH = 200
_AGAIN = "the library has this text already; a change of it counts for each persona that links it"


@dataclass(frozen=True, slots=True)
class ParsedImport:
    """What a file holds, read and not yet written.

    Attributes:
        source: the file, as the person names it.
        format: of which it is.
        personas: at least one.
    """

    source: str
    format: Format
    personas: tuple[ImportedPersona, ...]


@dataclass(frozen=True, slots=True)
class ImportedFile:
    """One persona that was imported, or would be.

    Attributes:
        source, format: where it comes from.
        id: the persona's.
        report: where each field of the source went.
        documents: keys of what it links of the library, made by the import or used again.
    """

    source: str
    format: str
    id: str
    report: tuple[Note, ...]
    documents: tuple[str, ...] = ()

    def to_record(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        report = [note.to_record() for note in self.report]
        return {"source": self.source, "format": self.format, "id": self.id, "report": report}


def files_in(folder: Path, wanted: str | None = None) -> Iterator[Path]:
    """Yield the files in a folder and below it that a format may know by their endings; most hidden folders are left out.

    Args:
        folder: which; what in it cannot be read is passed over.
        wanted: the format's name; None: any.
    """
    known = {one.suffix for one in formats() if one.read is not None and wanted in (None, one.name)}
    suffixes = (*known, ".yml") if ".yaml" in known else tuple(known)
    for at, folders, names in os.walk(folder):
        folders[:] = sorted(
            one for one in folders if one in _FOLDERS or (one[0] not in "._" and one != "node_modules")
        )
        yield from (Path(at, name) for name in sorted(names) if name.endswith(suffixes))


def read_path(path: Path, wanted: str | None = None) -> ParsedImport | None:
    """Read a file of another program; None where no format knows it.

    Args:
        path: the file.
        wanted: the format's name; None: the one that knows the file.

    Raises:
        Unreadable: it is of a format, and not as that wants it.
        InvalidValue: there is no such format, or it is only written.
        StorageError, OutsideHome: it cannot be read.
    """
    form = None if wanted is None else format_named(wanted)
    real = Path(os.path.realpath(path))
    try:
        content = read_regular(real, root=real.parent, limit=SIZE_LIMIT)
    except FileNotFoundError:
        raise StorageError(f"There is no file {path}.") from None
    name = plain_text(f"{real.parent.name}/{path.name}")
    form = form or format_of(content, name)
    if form is None:
        return None
    if form.read is None:
        raise InvalidValue(f"The format {form.name} is only written, not read.")
    personas = form.read(content, name).personas
    if not personas:
        raise Unreadable("it holds no persona")
    return ParsedImport(str(path), form, personas)


class Importer:
    """Imports into one home. What one importer imports is one unit of undo.

    Args:
        store: of the home.
        reserved: ids that are not to be used, see `Store.create`.
        is_trial: nothing is written.
    """

    def __init__(self, store: Store, *, reserved: Collection[str] = (), is_trial: bool = False) -> None:
        self._store = store
        self._library = LibraryStore(store)
        self._unit = f"{IMPORT}{secrets.token_hex(8)}"
        self._taken = {*taken_ids(store.home), *reserved}
        self._known: dict[Kind, dict[tuple[Any, ...], str]] = {}
        self._is_trial = is_trial

    def add(self, found: ParsedImport, *, name: str | None = None) -> list[ImportedFile]:
        """Make a new persona of each that a file holds; where one cannot be made, none is.

        Args:
            found: what the file holds.
            name: the display name, instead of the one the file says.

        Raises:
            InvalidValue: a name is given, and the file holds several personas.
            PersonaError: why nothing was written.
        """
        if name is not None and len(found.personas) > 1:
            raise InvalidValue(f"It holds {len(found.personas)} personas; --name takes a file with one.")
        done: list[ImportedFile] = []
        undo: list[Any] = []
        try:
            for one in found.personas:
                display = _display(one, name)
                persona_id = self._free_id(display)
                links = self._documents(persona_id, one.documents)
                text = _text_of(display, one, found.format.table, links)
                self._write_documents(links, found, undo)
                if not self._is_trial:
                    reason = f"imported from {_file_name(found)}"
                    self._store.make(persona_id, text, by=USER, reason=reason, unit=self._unit)
                    undo.append(partial(self._store.delete, persona_id, by=USER))
                self._taken.add(persona_id)
                done.append(_done(found, one, persona_id, links, name))
        except BaseException:
            self._put_back(undo)
            raise
        return done

    def link(self, found: ParsedImport, *, name: str | None = None) -> ImportedFile:
        """Make a persona whose prompt stays in the file: name and description are the file's, and nothing else is copied.

        Args:
            found: what the file holds.
            name: the display name, instead of the one the file says.

        Raises:
            InvalidValue: the file is not in the home, or cannot have a prompt, or is that of a persona already.
            PersonaError: why nothing was written.
        """
        root, one = self._store.home.root, found.personas[0]
        path = Path(os.path.realpath(Path(found.source).parent)) / Path(found.source).name
        if not path.is_relative_to(root):
            raise InvalidValue(
                f"Only a file in the home can be linked, and that is {root}; name another one with --home, or import it "
                "without --link."
            )
        fields = {KEY: path.relative_to(root).as_posix()}
        if fault := fault_of(fields):
            raise InvalidValue(f"It cannot be linked: {fault}.")
        require_beside(self._store.home, path)
        for known in self._store.list():
            its = known.system_prompt_file
            if its and os.path.realpath(root / its) == os.path.realpath(path):
                raise InvalidValue(f"The persona {known.id} has its prompt there already.")
        display = _display(one, name)
        persona_id = self._free_id(display)
        about = {key: one.fields[key] for key in ("description",) if one.fields.get(key)}
        if not self._is_trial:
            text = new_text({"name": display, **about, **fields})
            reason = f"linked to {fields[KEY]}"
            self._store.make(persona_id, text, by=USER, reason=reason, unit=self._unit)
        self._taken.add(persona_id)
        report = [
            note
            if note.went_to in ("name", *about) or note.field == "frontmatter"
            else Note(note.field, fields[KEY])
            for note in one.report
        ]
        return ImportedFile(found.source, found.format.name, persona_id, tuple(report))

    def change(self, found: ParsedImport, persona_id: str, *, name: str | None = None) -> ImportedFile:
        """Give a persona that is there the texts and test inputs of the one that a file holds, as one version.

        Test inputs of the same id are replaced, others stay; links are added. The name stays, unless one is given, and the
        description where the file brings documents and no prompt.

        Raises:
            InvalidValue: the file holds several personas.
            PersonaError: why nothing was written.
        """
        if len(found.personas) > 1:
            raise InvalidValue(f"It holds {len(found.personas)} personas; --into takes a file with one.")
        (one,) = found.personas
        own_prompt, own = self._store.get(persona_id).system_prompt, parse(self._store.text(persona_id))
        links = self._documents(persona_id, one.documents)
        undo: list[Any] = []

        def edit(text: str) -> str:
            return _changed(text, name, one, found.format.table, links)

        reason = f"imported from {_file_name(found)}"
        made = DryRunStore(self._store)  # refused, nothing is made
        made.change(persona_id, TextChange("texts", reason, edit))
        if prompt := one.fields.get("system_prompt"):
            made.change(persona_id, SetPrompt(prompt))
        before, after = made.contents[persona_id]
        try:
            self._write_documents(links, found, undo)
            if not self._is_trial:
                self._store.change(
                    persona_id,
                    ReplaceContent(after, "texts", reason),
                    revision=sha256(before),
                    by=USER,
                    reason=reason,
                    own_unit=True,
                    unit=self._unit,
                )
        except BaseException:
            self._put_back(undo)
            raise
        left = {"name": "the persona has its own"} if name is None else {}
        if _is_of_documents(one):
            left["description"] = "the persona has its own"
        done = _done(found, one, persona_id, links, name, left)
        places = _replaced({**own, "system_prompt": own_prompt}, one, found.format.table, left)
        notes = [Note(place, place, "what the persona had there is replaced") for place in places]
        return replace(done, report=(*done.report, *notes))

    def _free_id(self, display: str) -> str:
        return free_id(slug(display, fallback="persona"), lambda wanted: wanted in self._taken)

    # -- documents of the library -----------------------------------------------------------------------

    def _documents(self, persona_id: str, documents: Collection[NewDocument]) -> dict[str, _Link]:
        """Return the links of a persona by key; a document of equal content is used again."""
        links: dict[str, _Link] = {}
        for one in documents:
            known = self._documents_of(one.kind)
            content = _content(one.kind, one.fields)
            name, is_new = known.get(content), False
            if name is None:
                wanted, is_new = (
                    slug(f"{slug(persona_id, fallback='persona')}-{one.name}", fallback=one.kind),
                    True,
                )
                name = free_id(wanted, partial(self._is_there, one.kind))
                known[content] = name
            links.setdefault(f"{one.kind}/{name}", _Link(one, name, is_new))
        return links

    def _documents_of(self, kind: Kind) -> dict[tuple[Any, ...], str]:
        if kind not in self._known:
            whole = [one for one in read_all(self._store.home, kind) if one.error is None]
            keys = FIELDS[kind]
            self._known[kind] = {
                _content(kind, {key: getattr(one, key) for key in keys}): one.name for one in reversed(whole)
            }
        return self._known[kind]

    def _is_there(self, kind: Kind, name: str) -> bool:
        return name in self._known[kind].values() or path_of(self._store.home, kind, name) is not None

    def _write_documents(self, links: Mapping[str, _Link], found: ParsedImport, undo: list[Any]) -> None:
        for key, one in links.items():
            if one.is_new and not self._is_trial:
                kind, reason = one.document.kind, f"imported from {_file_name(found)}"
                self._library.create(kind, one.name, one.document.fields, reason=reason, unit=self._unit)
                gone = partial(
                    self._store.change, key, ReplaceText(""), revision=None, by=USER, unit=self._unit
                )
                undo.append(gone)

    def _put_back(self, undo: list[Any]) -> None:
        for step in reversed(undo):
            with contextlib.suppress(
                PersonaError
            ):  # what the disk does not take back stays, and is not linked
                step()
        self._known.clear()


@dataclass(frozen=True, slots=True)
class _Link:
    """A link to a document that an import makes, or that is there already."""

    document: NewDocument
    name: str
    is_new: bool

    def change(self) -> TextChange:
        return link(self.document.kind, self.name, order=self.document.order)


def _content(kind: Kind, fields: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return what a document says, to be compared."""
    values = (fields.get(key) or "" for key in FIELDS[kind])
    return tuple(value if isinstance(value, str) else tuple(value) for value in values)


def _display(one: ImportedPersona, name: str | None) -> str:
    return one_line(name or one.name)[:_NAME_LENGTH] or "Persona"


def _file_name(found: ParsedImport) -> str:
    return plain_text(Path(found.source).name)


def _is_of_documents(one: ImportedPersona) -> bool:
    """Whether a file brings documents of the library and no prompt."""
    return bool(one.documents) and not one.fields.get("system_prompt")


def _done(
    found: ParsedImport,
    one: ImportedPersona,
    persona_id: str,
    links: Mapping[str, _Link],
    name: str | None,
    left: Mapping[str, str] = MappingProxyType({}),
) -> ImportedFile:
    """Return what was done.

    Args:
        name: the name that was given instead of the file's.
        left: why what a field of the file went to was left as it is.
    """
    if name is not None:
        left = {**left, "name": f"it is called {name} here"}
    again = {key: _AGAIN for key, at in links.items() if not at.is_new}
    real = {f"{at.document.kind} {at.document.name}": key for key, at in links.items()}
    report = [
        Note(note.field, None, why)
        if (why := left.get(note.went_to or ""))
        else replace(
            note,
            went_to=(went_to := real.get(note.went_to or "", note.went_to)),
            why="; ".join(filter(None, (note.why, again.get(went_to or "")))),
        )
        for note in one.report
    ]
    words = {key: _said(value) for key, value in one.fields.items()}
    words |= {f"x.{found.format.table}.{key}": _said(value) for key, value in one.kept.items()}
    words |= {key: str(at.document.fields.get("content", "")) for key, at in links.items()}
    report += [
        Note(where, where, f"something in it looks like {what}; words are not changed")
        for where, text in words.items()
        for what in seen_in(text)
    ]
    return ImportedFile(found.source, found.format.name, persona_id, tuple(report), tuple(links))


def _replaced(
    own: Mapping[str, Any], one: ImportedPersona, form: str, left: Collection[str]
) -> Iterator[str]:
    """Yield the places of a persona that said something else before an imported one was put into it."""
    for key, value in one.fields.items():
        if key != "test_inputs" and key not in left and value and own.get(key) not in (None, "", [], value):
            yield key
    known = {table.get("id"): table for table in own.get("test_inputs", ())}
    for table in one.fields.get("test_inputs", ()):
        if known.get(table["id"], table) != table:
            yield f"test_inputs.{table['id']}"
    for key, value in own.get("x", {}).get(form, {}).items() if one.kept else ():
        if one.kept.get(key) != value:
            yield f"x.{form}.{key}"


def _said(value: Any) -> str:
    """Return the words in plain data."""
    if isinstance(value, Mapping):
        value = [*value.values()]
    return "\n".join(map(_said, value)) if isinstance(value, list | tuple) else str(value)


def _text_of(display: str, one: ImportedPersona, form: str, links: Mapping[str, _Link]) -> str:
    """Return the text of a new persona's file.

    Raises:
        InvalidValue: TOML, or a persona, cannot hold what the file says.
    """
    top = {"name": display, **{key: one.fields[key] for key in _TOP[1:] if one.fields.get(key)}}
    top.setdefault("system_prompt", "")
    for kind in ("trait", "skill", "guardrail"):
        if names := [at.name for at in links.values() if at.document.kind == kind]:
            top[f"{kind}s"] = names
    tables = {key: value for key, value in one.fields.items() if key not in _TOP}
    parts = [
        {"name": at.name, **({} if at.document.order is None else {"order": at.document.order})}
        for at in links.values()
        if at.document.kind == "part"
    ]
    fields = {
        **top,
        **tables,
        **({"parts": parts} if parts else {}),
        **({"x": {form: one.kept}} if one.kept else {}),
    }
    text = new_text(fields, in_braces=("test_inputs",))
    if (error := read_persona("it", text.encode()).error) is not None:
        raise InvalidValue(f"It cannot become a persona: {error.message}.")
    return text


def _changed(text: str, name: str | None, one: ImportedPersona, form: str, links: Mapping[str, _Link]) -> str:
    """Return a persona's file with the texts but the prompt, test inputs and links of an imported one."""
    if name is not None:
        text = toml_edit.set_value(text, ("name",), one_line(name)[:_NAME_LENGTH])
    for key, value in one.fields.items():
        is_left = key in ("test_inputs", "system_prompt") or (key == "description" and _is_of_documents(one))
        if value and not is_left:
            text = toml_edit.set_value(text, (key,), value)
    for table in one.fields.get("test_inputs") or ():
        ids = [known.get("id") for known in parse(text).get("test_inputs", [])]
        if table["id"] in ids:
            text = toml_edit.set_value(text, ("test_inputs", ids.index(table["id"])), table)
        else:
            text = toml_edit.append_table(text, ("test_inputs",), table)
    for at in links.values():
        with contextlib.suppress(InvalidValue):  # it is linked already
            text = at.change().apply(text)
    return toml_edit.set_value(text, ("x", form), one.kept) if one.kept else text
