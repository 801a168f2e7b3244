"""Changing the documents of the library and the links to them, each through `Store.change`: with versions and undo."""

from __future__ import annotations

import builtins
import contextlib
import secrets
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from personas.changes import (
    NAME_LIMIT,
    Change,
    ReplaceText,
    SetDescription,
    SetName,
    SetPrompt,
    SetSummary,
    SetTags,
    require_line,
)
from personas.errors import InvalidValue, OutsideHome, PersonaError
from personas.files.text_file import sha256, storage_error
from personas.library.assembly import linked
from personas.library.documents import (
    CHOICES,
    FIELDS,
    PART_TYPES,
    Kind,
    LibraryDocument,
    is_name,
    read_document,
)
from personas.library.folders import SKILL_FILE, Library, folder_of, move_beside_skill, path_of, read_all
from personas.library.folders import names as file_names
from personas.library_changes import (
    TextChange,
    add_stage,
    link,
    remove_stage,
    rename_reference,
    rename_stage,
    set_key,
    set_skill_key,
    set_stage,
    set_stage_part,
    unlink,
)
from personas.library_document import NOT_A_NAME, RENAMED_TO, parse_key, unknown_document
from personas.persona import Persona
from personas.store import Store
from personas.versions.authorship import USER, Author, Version

_NOTHING = sha256(b"")


class InUse(PersonaError):
    """A document that is used is not deleted."""


@dataclass(frozen=True, slots=True)
class User:
    """A persona, or a stage of an arc, that names a document."""

    kind: str
    name: str
    stage: str | None = None

    def to_record(self) -> dict[str, str]:
        """Return it as a JSON object."""
        stage = {} if self.stage is None else {"stage": self.stage}
        return {"kind": self.kind, "name": self.name, **stage}

    @property
    def key(self) -> str:
        """The key of its document: a persona's id, or `arc/NAME`."""
        return self.name if self.kind == "persona" else f"{self.kind}/{self.name}"


class LibraryStore:
    """The library of a home, to be read and changed. Every method may raise what `Store` raises.

    Args:
        store: of the home.
        by: who makes the changes.
        is_read_only: nothing is to be stored; who calls sees to it.
    """

    def __init__(self, store: Store, *, by: Author = USER, is_read_only: bool = False) -> None:
        self.store = store
        self.is_read_only = is_read_only
        self._by = by

    # -- reading --------------------------------------------------------------------------------------

    def get(self, kind: Kind, name: str) -> LibraryDocument:
        """Return a document, broken ones too.

        Raises:
            UnknownPersona: there is none; the message names those that look like it.
        """
        parse_key(f"{kind}/{name}")
        document = Library(self.store.home).get((kind, name))
        if document is None:
            raise unknown_document(self.store.home, f"{kind}/{name}")
        return document

    def list(
        self, kind: Kind, *, type: str | None = None, tags: Collection[str] = ()
    ) -> builtins.list[LibraryDocument]:
        """Return the documents of a kind, broken ones too; with `type` or `tags` those of the type that have all tags."""
        return [
            one
            for one in read_all(self.store.home, kind)
            if (type is None or type in (one.type, one.trait_type)) and set(tags) <= set(one.tags)
        ]

    def users(self, kind: Kind, name: str) -> builtins.list[User]:
        """Return who names a document; it need not exist."""
        return self.all_users().get(f"{kind}/{name}", [])

    def all_users(self) -> dict[str, builtins.list[User]]:
        """Return who names each document, by its key, in one look at all personas and arcs."""
        found: dict[str, builtins.list[User]] = {}
        for persona in self.store.list():
            for kind, names in linked(persona).items():
                for name in dict.fromkeys(names):
                    found.setdefault(f"{kind}/{name}", []).append(User("persona", persona.id))
        for arc in read_all(self.store.home, "arc"):
            for stage in arc.stages:
                for name in dict.fromkeys(stage.parts):
                    found.setdefault(f"part/{name}", []).append(User("arc", arc.name, stage.name))
        return found

    def touched(self, kind: Kind, name: str) -> builtins.list[str]:
        """Return the ids of the personas that a document is a part of, by a link or by their arc, sorted."""
        return touched(self.all_users(), f"{kind}/{name}")

    def is_shared(self, kind: Kind, name: str) -> bool:
        """Whether a document has more than one user, or is a part of more than one persona."""
        return is_shared(self.all_users(), f"{kind}/{name}")

    def changed(self, key: str, summary: str) -> dict[str, Any]:
        """Return what a command or a tool answers that has changed a persona or a document.

        Args:
            key: a persona's id, or `KIND/NAME`.
            summary: what was done, in a few words.
        """
        content = self.store.file(key).read_if_there() or b""
        record = {"id": key, "revision": sha256(content), "version": self.store.current_version(key)}
        if "/" not in key:
            return {**record, "summary": summary, "warnings": []}
        kind, name = parse_key(key)
        library = Library(self.store.home)
        document = library.get((kind, name))
        warnings = builtins.list(document.warnings) if document is not None else []
        for stage in document.stages if document is not None else ():
            gone = [part for part in stage.parts if library.get(("part", part)) is None]
            warnings += [f"there is no part {part} for the stage {stage.name}" for part in gone]
        users = self.all_users()
        personas = touched(users, key)
        said = f"{summary}; a part of {', '.join(personas)}" if personas else summary
        named = [user.to_record() for user in users.get(key, ())]
        return {**record, "summary": said, "warnings": warnings, "users": named, "personas": personas}

    # -- documents ------------------------------------------------------------------------------------

    def create(
        self, kind: Kind, name: str, fields: Mapping[str, Any], *, reason: str = "created", unit: str = ""
    ) -> builtins.list[str]:
        """Make a document and return what the person should look at.

        Args:
            kind, name: of the document.
            fields: values by key.
            reason, unit: see `Store.change`.

        Raises:
            InvalidValue: the name is taken or none, or a value cannot be.
        """
        parse_key(f"{kind}/{name}")
        warnings = check_fields(kind, fields)
        self._require_free(kind, name)
        text = ""
        for key in FIELDS[kind]:
            if fields.get(key):
                text = set_key(kind, key, fields[key]).apply(text)
        text = text or 'description = ""\n'  # an empty file is none
        self._change(kind, name, ReplaceText(text), reason=reason, revision=_NOTHING, unit=unit)
        return warnings

    def update(
        self, kind: Kind, name: str, fields: Mapping[str, Any], *, revision: str | None = None
    ) -> builtins.list[str]:
        """Set the given keys of a document and return what the person should look at; other keys stay.

        Raises:
            InvalidValue: a value cannot be.
            Conflict: the document is no longer at `revision`.
        """
        self.get(kind, name)
        warnings = check_fields(kind, fields)
        self._change(kind, name, self._update(kind, name, fields), revision=revision)
        return warnings

    def preview(self, kind: Kind, name: str, fields: Mapping[str, Any]) -> LibraryDocument:
        """Return a document as `update` would make it; nothing is stored.

        Raises:
            InvalidValue: a value cannot be.
        """
        self.get(kind, name)
        check_fields(kind, fields)
        text = self._update(kind, name, fields).apply(self.store.text(f"{kind}/{name}"))
        return read_document(kind, name, text.encode(), is_skill_file=self._in_skill_file(kind, name))

    def rename(self, kind: Kind, old: str, new: str) -> builtins.list[User]:
        """Rename a document and let everyone who names it name it so, as one unit of undo; return who does.

        Where one file cannot be changed, all are put back. A rename that was cut off by the end of the process is
        carried on by the next one of the same names.

        Raises:
            InvalidValue: the new name is taken, or none.
            EditRefused: a reference cannot be changed alone; nothing is changed.
        """
        self.get(kind, old)
        parse_key(f"{kind}/{new}")
        home, old_key, new_key = self.store.home, f"{kind}/{old}", f"{kind}/{new}"
        users = self.users(kind, old)
        change = rename_reference(kind, old, new)
        for user in users:
            change.apply(self.store.text(user.key))  # refused for one of them, nothing is changed
        text = self.store.text(old_key)
        source, target = (folder_of(home, kind) / name for name in (old, new))
        in_skill_file = self._in_skill_file(kind, old)
        if in_skill_file:
            text = set_skill_key("name", new).apply(text)
        begun = self._begun_rename(old, new_key, text)
        if begun is None:
            self._require_free(kind, new)
            unit = "" if self._by.run_id else f"rename:{secrets.token_hex(8)}"
            changes: builtins.list[tuple[str, Change, str]] = [
                (new_key, ReplaceText(text), f"renamed from {old}")
            ]
            if in_skill_file:
                _make_empty(home.inside(target))
        else:
            unit, changes = begun.unit, []
        changes += [(key, change, "") for key in dict.fromkeys(user.key for user in users)]
        self.change_all([*changes, (old_key, ReplaceText(""), f"{RENAMED_TO}{new}")], unit)
        if in_skill_file and source.is_dir():
            move_beside_skill(home, old, new)
        return users

    def copy(self, kind: Kind, name: str, new: str) -> None:
        """Make a document with the text of another one; other files beside a `SKILL.md` are not copied.

        Raises:
            InvalidValue: the new name is taken, or none.
        """
        self.get(kind, name)
        parse_key(f"{kind}/{new}")
        self._require_free(kind, new)
        text, path = self.store.text(f"{kind}/{name}"), path_of(self.store.home, kind, name)
        if path is not None and path.name == SKILL_FILE:
            text = set_skill_key("name", new).apply(text)
            try:
                path.parent.with_name(new).mkdir(exist_ok=True)
            except OSError as error:
                raise storage_error(error, "create", path.parent.with_name(new)) from None
        self._change(kind, new, ReplaceText(text), reason=f"copied from {name}", revision=_NOTHING)

    def deleted(self, kind: Kind) -> builtins.list[tuple[str, Version]]:
        """Return the names of documents that are gone and can be brought back, each with its last version, newest first."""
        folder, there = self.store.home.versions / ".library" / kind, set(file_names(self.store.home, kind))
        found = []
        for name in sorted(one.name for one in folder.iterdir()) if folder.is_dir() else ():
            if name not in there and is_name(name):
                with contextlib.suppress(PersonaError):
                    found += [(name, one) for one in self.store.recent_versions(f"{kind}/{name}", 1)[:1]]
        return sorted(found, key=lambda one: one[1].at, reverse=True)

    def bring_back(self, kind: Kind, name: str) -> None:
        """Make a document that is gone what it was before, see `deleted`."""
        key = f"{kind}/{name}"
        versions = [one.number for one in self.store.log(key) if one.role != "kept"]
        self.store.restore(key, versions[1] if len(versions) > 1 else 0, by=self._by)

    def delete(self, kind: Kind, name: str, *, force: bool = False) -> None:
        """Delete a document; undo brings it back.

        Raises:
            InUse: it is used, or other files lie beside a `SKILL.md`, and `force` is not given.
        """
        self.get(kind, name)
        users = self.users(kind, name)
        if users and not force:
            named = ", ".join(dict.fromkeys(user.key for user in users))
            raise InUse(f"The {kind} {name} is used by {named}; --force deletes it anyway.")
        path = path_of(self.store.home, kind, name)
        if path is not None and path.name == SKILL_FILE and not force and len(_files_in(path.parent)) > 1:
            raise InUse(f"Other files lie in {path.parent}; --force deletes SKILL.md and leaves them.")
        self._change(kind, name, ReplaceText(""), reason="deleted")

    # -- personas -------------------------------------------------------------------------------------

    def create_persona(self, name: str, fields: Mapping[str, Any]) -> None:
        """Make a persona with the id `name`.

        Raises:
            InvalidValue: the name is taken or none, or a value cannot be.
        """
        if not is_name(name):
            raise InvalidValue(NOT_A_NAME.format(name))
        change = _persona_change(fields)
        change.apply("")  # refused, nothing is made
        self.store.create(fields.get("display_name") or name, persona_id=name)
        self.store.change(name, change, revision=None, by=self._by, reason="created")

    def persona(self, persona_id: str) -> Persona:
        """Return a persona, broken ones too.

        Raises:
            OutsideHome: it is no id; the key of a document, which the store would take too, is none either.
        """
        if "/" in persona_id:
            raise OutsideHome(f"{persona_id!r} cannot be a persona's id: an id is a plain file name.")
        return self.store.get(persona_id)

    def update_persona(self, name: str, fields: Mapping[str, Any]) -> None:
        """Set the given keys of a persona, see `PERSONA_FIELDS`.

        Raises:
            InvalidValue: a value cannot be.
        """
        self._change_persona(name, _persona_change(fields))

    def delete_persona(self, name: str) -> None:
        """Delete a persona; `persona restore` brings it back."""
        self.store.delete(self.persona(name).id, by=self._by)

    # -- links ----------------------------------------------------------------------------------------

    def link(
        self,
        persona_id: str,
        kind: Kind,
        name: str,
        *,
        order: int | None = None,
        priority: int | None = None,
        stage: str | None = None,
    ) -> Persona:
        """Link a document to a persona; of an arc, `stage` is where the persona is on it.

        Raises:
            InvalidValue: it is linked already, or the arc has no such stage.
        """
        document = self.get(kind, name)
        if stage is not None:
            _require_stage(document, stage)
        change = link(kind, name, order=order, priority=priority, stage=stage or "")
        return self._change_persona(persona_id, change)

    def unlink(self, persona_id: str, kind: Kind, name: str) -> Persona:
        """Take a link away; the document need not exist.

        Raises:
            InvalidValue: it is not linked.
        """
        return self._change_persona(persona_id, unlink(kind, name))

    def set_stage(self, persona_id: str, wanted: str) -> str:
        """Put a persona on a stage of its arc and return the stage.

        Args:
            persona_id: whose.
            wanted: the stage's name, `advance` for the next one, `reset` for the first one.

        Raises:
            InvalidValue: the persona has no arc, the arc no such stage, or the last one is reached.
        """
        persona = self.persona(persona_id)
        if persona.arc is None:
            raise InvalidValue(
                f"{persona_id} is on no arc; link one with `persona link {persona_id} arc NAME`."
            )
        arc = self.get("arc", persona.arc.name)
        stages = [stage.name for stage in arc.stages]
        if not stages:
            raise InvalidValue(f"The arc {arc.name} has no stages.")
        stage = wanted
        if wanted == "reset":
            stage = stages[0]
        elif wanted == "advance":
            now = persona.arc.stage or stages[0]
            _require_stage(arc, now)
            if now == stages[-1]:
                raise InvalidValue(f"{persona_id} is on the last stage of {arc.name}, {now}.")
            stage = stages[stages.index(now) + 1]
        _require_stage(arc, stage)
        self.store.change(persona_id, set_stage(stage), revision=persona.revision, by=self._by)
        return stage

    # -- stages of arcs -------------------------------------------------------------------------------

    def add_stage(
        self, arc: str, stage: str, *, description: str = "", condition: str = "", parts: Sequence[str] = ()
    ) -> None:
        """Add a stage to an arc, behind the others.

        Raises:
            InvalidValue: there is one of that name already.
        """
        fields = {"name": stage, "description": description, "condition": condition, "parts": [*parts]}
        check_fields("arc", {"stages": [fields]})
        self._change_arc(arc, add_stage(fields))

    def remove_stage(self, arc: str, stage: str) -> None:
        """Take a stage of an arc away.

        Raises:
            InvalidValue: there is none of that name.
        """
        self._change_arc(arc, remove_stage(stage))

    def rename_stage(self, arc: str, stage: str, new: str) -> None:
        """Rename a stage, and let every persona that is on it be on it still, as one unit of undo.

        Raises:
            InvalidValue: there is no such stage, or already one of the new name.
        """
        on_it = [
            one.id for one in self.store.list() if one.arc and (one.arc.name, one.arc.stage) == (arc, stage)
        ]
        self.get("arc", arc)
        changes = [(f"arc/{arc}", rename_stage(stage, new)), *((one, set_stage(new)) for one in on_it)]
        reason = f"stage {stage} renamed to {new}"
        self.change_all([(key, change, reason) for key, change in changes], f"rename:{secrets.token_hex(8)}")

    def add_stage_part(self, arc: str, stage: str, part: str) -> None:
        """Add a part to a stage.

        Raises:
            InvalidValue: the stage has it already, or there is no such stage.
        """
        self.get("part", part)
        self._change_arc(arc, set_stage_part(stage, part, is_there=True))

    def remove_stage_part(self, arc: str, stage: str, part: str) -> None:
        """Take a part away from a stage; the part need not exist.

        Raises:
            InvalidValue: the stage does not have it, or there is no such stage.
        """
        self._change_arc(arc, set_stage_part(stage, part, is_there=False))

    # -- several documents ----------------------------------------------------------------------------

    def change_all(self, changes: Sequence[tuple[str, Change, str]], unit: str) -> None:
        """Make changes of several documents, each with its reason, as one unit; where one fails, put the others back.

        Args:
            changes: key of the document, change, reason.
            unit: key of the unit of undo.
        """
        done: builtins.list[tuple[str, str, str]] = []
        try:
            for key, change, reason in changes:
                content = self.store.file(key).read_if_there() or b""
                before = self.store.text(key) if content else ""
                changed = self.store.change(
                    key,
                    change,
                    revision=sha256(content),
                    by=self._by,
                    reason=reason,
                    own_unit=True,
                    unit=unit,
                )
                done.append((key, before, changed.revision))
        except BaseException:
            for key, before, revision in reversed(done):
                with contextlib.suppress(PersonaError):  # one that was changed meanwhile stays as it is
                    self.store.change(
                        key, ReplaceText(before), revision=revision, by=self._by, own_unit=True, unit=unit
                    )
            raise

    # -- inside ---------------------------------------------------------------------------------------

    def _change_persona(self, persona_id: str, change: Change) -> Persona:
        return self.store.change(self.persona(persona_id).id, change, revision=None, by=self._by)

    def _change(
        self,
        kind: Kind,
        name: str,
        change: Any,
        *,
        reason: str = "",
        revision: str | None = None,
        unit: str = "",
    ) -> None:
        self.store.change(
            f"{kind}/{name}", change, revision=revision, by=self._by, reason=reason, own_unit=True, unit=unit
        )

    def _begun_rename(self, old: str, new_key: str, text: str) -> Version | None:
        """Return the first change of a rename that was cut off: the document is there by its new name too, untouched."""
        content = self.store.file(new_key).read_if_there()
        last = next(iter(self.store.recent_versions(new_key, 1)), None) if content else None
        if last is None or last.reason != f"renamed from {old}" or last.sha != sha256(content or b""):
            return None
        return last if self.store.text(new_key) == text else None

    def _update(self, kind: Kind, name: str, fields: Mapping[str, Any]) -> TextChange:
        set_one = set_skill_key if self._in_skill_file(kind, name) else partial(set_key, kind)

        def edit(text: str) -> str:
            for key, value in fields.items():
                text = set_one(key, value).apply(text)
            return text

        keys = ", ".join(fields)
        return TextChange(keys, f"{keys} set", edit)

    def _in_skill_file(self, kind: Kind, name: str) -> bool:
        path = path_of(self.store.home, kind, name)
        return path is not None and path.name == SKILL_FILE

    def _change_arc(self, arc: str, change: TextChange) -> None:
        self.get("arc", arc)
        self._change("arc", arc, change)

    def _require_free(self, kind: Kind, name: str) -> None:
        if path_of(self.store.home, kind, name) is not None:
            raise InvalidValue(f"There is already {'an' if kind == 'arc' else 'a'} {kind} called {name}.")


PERSONA_FIELDS: Mapping[str, Callable[[Any], Change]] = {
    "display_name": SetName,
    "description": SetDescription,
    "summary": SetSummary,
    "detail": SetPrompt,
    "tags": SetTags,
}
"""The keys of a persona, and the change that sets each of them."""


def _persona_change(fields: Mapping[str, Any]) -> TextChange:
    def edit(text: str) -> str:
        for key, value in fields.items():
            text = PERSONA_FIELDS[key](value).apply(text)
        return text

    keys = ", ".join(fields)
    return TextChange(keys or "nothing", f"{keys} set", edit)


def touched(users: Mapping[str, Sequence[User]], key: str) -> list[str]:
    """Return the ids of the personas that a document is a part of, sorted; `users` is what `all_users` gave."""
    named = users.get(key, ())
    personas = {user.name for user in named if user.kind == "persona"}
    for user in named:
        if user.kind == "arc":
            personas.update(touched(users, user.key))
    return sorted(personas)


def is_shared(users: Mapping[str, Sequence[User]], key: str) -> bool:
    """Whether a document has more than one user, or is a part of more than one persona."""
    return len({user.key for user in users.get(key, ())}) > 1 or len(touched(users, key)) > 1


def check_fields(kind: Kind, fields: Mapping[str, Any]) -> list[str]:
    """Return what the person should look at in values for a document.

    Raises:
        InvalidValue: the documents of the kind have no such key, or the value cannot be.
    """
    for key, value in fields.items():
        if key not in FIELDS[kind]:
            raise InvalidValue(f"A {kind} has no {key}; it has {', '.join(FIELDS[kind])}.")
        if isinstance(value, str) and "\0" in value:
            raise InvalidValue(f"{key} must not hold the character NUL.")
        if key == "stages":
            stages = [stage["name"] for stage in value]
            for stage in stages:
                require_line(stage, "A stage's name", NAME_LIMIT)
                if stages.count(stage) > 1:
                    raise InvalidValue(f"Two stages have the name {stage!r}.")
        if key in ("severity", "trait_type") and value and value not in CHOICES[key]:
            raise InvalidValue(f"{key} must be one of {', '.join(CHOICES[key])}, not {value!r}.")
        if key == "type" or key == "tags":
            for word in [value] if isinstance(value, str) else value:
                require_line(word, f"A {'type' if key == 'type' else 'tag'}", NAME_LIMIT)
    kind_of_part = fields.get("type")
    if kind_of_part and kind_of_part not in PART_TYPES:
        return [f"{kind_of_part!r} is none of the types {', '.join(PART_TYPES)}"]
    return []


def _files_in(folder: Path) -> list[Path]:
    try:
        return [*folder.iterdir()]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise storage_error(error, "read", folder) from None


def _make_empty(folder: Path) -> None:
    """Make the folder that a `SKILL.md` is to get, unless it is there and empty."""
    if _files_in(folder):
        raise InvalidValue(f"{folder} has files in it already; choose another name, or move them away.")
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise storage_error(error, "create", folder) from None


def _require_stage(arc: LibraryDocument, stage: str) -> None:
    names: Sequence[str] = [one.name for one in arc.stages]
    if stage not in names:
        raise InvalidValue(
            f"The arc {arc.name} has no stage {stage!r}; there is {', '.join(names) or 'none'}."
        )
