"""Texts a person typed that cannot be stored in the persona's file: kept in the home's `state/` until they can be.

The memory of the program says what is kept; `write_down` makes the disk say the same, and is called again where
the disk refused. Each program keeps its own files, locked while it runs: what a program left that has ended is taken
over by the next that opens the persona, what belongs to one that runs is left to it. What is read back may come from
a stranger: it is read as text and nothing is done by it.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from personas.errors import PersonaError, StorageError
from personas.files.home import Home
from personas.files.lock import hold, holder
from personas.files.text_file import encode, read_regular, remove_file, replace_file
from personas.files.unsaved_texts import beginning, file_name, kept_names, new_writer, writer_of
from tui.drafts.blob_store import TextRecord

PROMPT = "prompt"
TEST = "test:"
"""With the id of a test input, the name of its content."""
_LARGEST = 32 * 1024 * 1024
_MOST = 200
"""Files that are looked at for one persona."""

_Key = tuple[str, str]
"""A persona's id and a field: `prompt`, `test:` and the id of a test input, `set:` and a field of the settings."""


@dataclass(frozen=True, slots=True)
class Unsaved:
    """A text that is not in its file.

    Attributes:
        base: the stored text it grew from.
        text: what the person typed.
        file: the whole file as it was read last, empty where that is not known.
        sent: an earlier state of it that was being stored: the file holds that, or what was there before it.
    """

    base: str
    text: str
    file: str = field(default="", compare=False, repr=False)
    sent: str | None = field(default=None, compare=False, repr=False)

    def grown_from(self, stored: str) -> str:
        """Return what it grew from where `stored` is in its file now."""
        return stored if stored == self.sent else self.base


class UnsavedTexts:
    """The unsaved texts of one home, as one program keeps them.

    Args:
        home: the home.
        on_its_way: what the program is storing just now.
    """

    def __init__(self, home: Home, on_its_way: Mapping[_Key, str] = MappingProxyType({})) -> None:
        self._home = home
        self._on_its_way = on_its_way
        self._writer = new_writer()
        self._held: dict[_Key, Unsaved | None] = {}
        self._on_disk: dict[_Key, Unsaved | None] = {}
        self._copied: dict[_Key, Path] = {}  # files of others that could not be taken over, only read
        self._thrown: dict[str, dict[str, Unsaved]] = {}
        self.more: set[str] = set()
        """Personas of which ended programs left several texts of one field: see `rest`."""
        self._writing = threading.RLock()
        self._lock = ExitStack()
        self._locked = False

    # -- what is kept, in memory ------------------------------------------------------------------------

    def hold(self, persona_id: str, field: str, base: str, text: str, file: str = "") -> None:
        """Keep a text; it is on the disk after the next `write_down`.

        `file`: the persona's whole file as it was read last; empty where that is not known.
        """
        before = self._held.get((persona_id, field))
        known = file or (before.file if before is not None else "")
        sent = self._on_its_way.get((persona_id, field))
        if sent is None and before is not None and before.base == base:
            sent = before.sent  # whether that arrived nobody said
        self._held[persona_id, field] = Unsaved(base, text, known, sent)

    def renew(self, persona_id: str, file: str) -> None:
        """The persona's whole file is so now: what is kept of it goes with that, on the disk after `write_down`."""
        for name, value in self.all_held(persona_id).items():
            self._held[persona_id, name] = replace(value, file=file)

    def let_go(self, persona_id: str, field: str, text: str | None = None) -> None:
        """The text is settled: saved, or not wanted any more. With `text` only if that is what is kept."""
        held = self._held.get((persona_id, field))
        if held is not None and text in (None, held.text):
            self._held[persona_id, field] = None

    def held(self, persona_id: str, field: str = PROMPT) -> Unsaved | None:
        """Return what this program keeps."""
        return self._held.get((persona_id, field))

    def all_held(self, persona_id: str) -> dict[str, Unsaved]:
        """Return everything this program keeps of a persona, by field."""
        return {
            key[1]: value
            for key, value in list(self._held.items())
            if key[0] == persona_id and value is not None
        }

    @property
    def ids(self) -> list[str]:
        """The personas that this program keeps a text of."""
        return list(dict.fromkeys(key[0] for key, value in list(self._held.items()) if value is not None))

    @property
    def due(self) -> bool:
        """Whether the disk does not say yet what is kept."""
        return any(not _same(self._on_disk.get(key), value) for key, value in list(self._held.items()))

    def at_risk(self, persona_id: str) -> bool:
        """Whether a text of this persona is nowhere but in memory."""
        return any(
            key[0] == persona_id and value is not None and not self._has_text(key, value)
            for key, value in list(self._held.items())
        )

    def _has_text(self, key: _Key, value: Unsaved) -> bool:
        """Whether the disk has this text, whatever it says that it grew from."""
        written = self._on_disk.get(key)
        return written is not None and written.text == value.text

    def nowhere_else(self) -> list[tuple[str, str, str]]:
        """Return the texts that are nowhere but in memory, each with its persona's id and its field."""
        held = list(self._held.items())
        return [
            (*key, value.text) for key, value in held if value is not None and not self._has_text(key, value)
        ]

    def look_after(self) -> None:
        """Look whether the disk still has what was written there; what it has not is due again. Blocking."""
        for key in [key for key, value in list(self._on_disk.items()) if value]:
            if not os.path.lexists(self._path(key)):
                del self._on_disk[key]

    def forget(self, persona_id: str) -> None:
        """The persona was deleted, and what was kept of it went with it."""
        for key in [key for key in list(self._held) if key[0] == persona_id]:
            if _same(self._on_disk.get(key), self._held[key]):
                del self._held[key]
            self._on_disk.pop(key, None)

    def doubt(self, persona_id: str) -> None:
        """What the disk has of this persona may have been taken away: write it down anew."""
        for key in [key for key, value in list(self._on_disk.items()) if key[0] == persona_id and value]:
            del self._on_disk[key]

    # -- thrown away ------------------------------------------------------------------------------------

    def throw_away(self, persona_id: str) -> None:
        """Keep the texts of a persona no longer; the last ones thrown away can be taken back."""
        if texts := self.all_held(persona_id):
            self._thrown[persona_id] = texts
            for name, value in texts.items():
                self.let_go(persona_id, name, value.text)

    def write_thrown(self, persona_id: str) -> None:
        """Have the disk say what was thrown away; where it refuses, the memory of this program does. Blocking."""
        if texts := self._thrown.get(persona_id):
            values = {name: [value.base, value.text, value.file] for name, value in texts.items()}
            record = self._thrown_record(persona_id)
            with record.alone():
                record.write({"persona_id": persona_id, "texts": values}, record.read())
        self.write_down()

    def thrown_away(self, persona_id: str) -> dict[str, Unsaved]:
        """Return what was thrown away last of a persona, by field. Blocking."""
        if persona_id in self._thrown:
            return self._thrown[persona_id]
        record = self._thrown_record(persona_id)
        with record.alone():
            stored = record.read().record
        if stored is None or stored.get("persona_id") != persona_id:
            return {}
        texts = stored.get("texts")
        return {
            _storable(name): Unsaved(*(_storable(part) for part in parts))
            for name, parts in (texts.items() if isinstance(texts, dict) else ())
            if isinstance(parts, list)
            and len(parts) == 3
            and all(isinstance(part, str) for part in parts[:2])
        }

    def end_thrown(self, persona_id: str) -> None:
        """What was thrown away is kept again, or not wanted any more. Blocking."""
        self._thrown.pop(persona_id, None)
        self._thrown_record(persona_id).remove()

    def _thrown_record(self, persona_id: str) -> TextRecord:
        return TextRecord(self._home, f"thrown-{beginning(persona_id).removeprefix('unsaved-')}away")

    # -- the disk; blocking -----------------------------------------------------------------------------

    def write_down(self) -> str:
        """Make the disk say what is kept now; return what it refused as a sentence, empty for nothing."""
        refused = ""
        with self._writing:
            for key, value in list(self._held.items()):
                if _same(self._on_disk.get(key), value):
                    continue
                try:
                    self._write(key, value)
                except (OSError, PersonaError) as error:
                    refused = str(error)
                else:
                    self._on_disk[key] = value
        return refused

    def _write(self, key: _Key, value: Unsaved | None) -> None:
        path = self._path(key)
        if value is None:
            with suppress(FileNotFoundError):
                remove_file(path, root=self._home.root)
        else:
            self._claim()
            # The typed text counts; the file it can be written back into is left out where there is no room.
            written = value.file and self._written(path, key, value)
            if not written and not self._written(path, key, replace(value, file="")):
                raise PersonaError("What is not saved is too large to be kept.")
        if (copied := self._copied.pop(key, None)) is not None:
            with suppress(OSError, PersonaError):
                remove_file(copied, root=self._home.root)

    def _written(self, path: Path, key: _Key, value: Unsaved) -> bool:
        record = {"persona_id": key[0], "field": key[1], "base": value.base, "text": value.text}
        if value.sent is not None:
            record["sent"] = value.sent
        if value.file:
            record["file"] = value.file
        content = encode(json.dumps(record) + "\n")
        if len(content) > _LARGEST:
            return False
        try:
            replace_file(path, content, root=self._home.root)
        except StorageError:
            if not value.file:
                raise
            return False
        return True

    def _path(self, key: _Key) -> Path:
        return self._home.state / file_name(*key, self._writer)

    def _claim(self) -> None:
        """Let others see that what carries this program's mark is not left over."""
        if not self._locked:
            self._locked = True
            with suppress(PersonaError):  # without a lock others may take a text over, and none is lost
                self._lock.enter_context(hold(_lock_path(self._home, self._writer)))

    def close(self) -> None:
        """The program ends: what is left is for the next one. Blocking."""
        with self._writing:
            if self._locked:
                with suppress(OSError):
                    _lock_path(self._home, self._writer).unlink(missing_ok=True)
            self._lock.close()
            self._locked = False

    def find(self, persona_id: str) -> dict[str, Unsaved]:
        """Return what is kept of a persona by field, also what programs left that have ended.

        Not for a persona that is being typed in: what is taken over must be shown before anything else is held.
        """
        with self._writing:
            self.more.discard(persona_id)
            for left in self._left(beginning(persona_id)):
                key = left.persona_id, left.field
                if key[0] != persona_id or self._copied.get(key) == left.path:
                    continue
                if self._held.get(key) is None:
                    self._take_over(key, left)
                else:
                    self.more.add(persona_id)
        return self.all_held(persona_id)

    def _take_over(self, key: _Key, left: Left) -> None:
        """Keep from now on what an ended program kept, unless another one is faster."""
        self._claim()
        try:
            os.replace(left.path, self._path(key))  # noqa: PTH105
        except FileNotFoundError:
            return
        except OSError:
            self._copied[key] = left.path
        self._held[key] = self._on_disk[key] = left.unsaved

    def rest(self, persona_id: str) -> list[Left]:
        """Return what ended programs left of a persona and `find` had no room for: settled, it is to be dropped."""
        self.more.discard(persona_id)
        copied = set(self._copied.values())
        return [
            left
            for left in self._left(beginning(persona_id))
            if left.persona_id == persona_id and left.path not in copied
        ]

    def drop(self, left: Left) -> None:
        """Remove a text that `rest` gave and that is settled."""
        with suppress(OSError, PersonaError):
            remove_file(left.path, root=self._home.root)

    def find_ids(self) -> list[str]:
        """Return the ids of all personas that a text is kept of, also by programs that have ended."""
        return list(dict.fromkeys([*self.ids, *(left.persona_id for left in self._left(beginning()))]))

    def _left(self, start: str) -> list[Left]:
        """Read the files whose names begin so and that no running program keeps."""
        at_work = {self._writer: True}
        found = []
        for left in read_kept(self._home, start):
            if left.writer not in at_work:
                at_work[left.writer] = bool(left.writer) and _is_at_work(self._home, left.writer)
            if not at_work[left.writer]:
                found.append(left)
        return found


@dataclass(frozen=True, slots=True)
class Left:
    """A kept text as it lies on the disk: where, who wrote it, whose it is, which field, and the text."""

    path: Path
    writer: str
    persona_id: str
    field: str
    unsaved: Unsaved


def read_kept(home: Home, start: str) -> list[Left]:
    """Read the kept texts whose files' names begin so, whoever keeps them; what is none is left out. Blocking."""
    found = []
    for name in kept_names(home, start)[:_MOST]:
        path = home.state / name
        try:
            stored: Any = json.loads(read_regular(path, root=home.root, limit=_LARGEST))
        except (OSError, PersonaError, ValueError, RecursionError):
            continue
        if not isinstance(stored, dict):
            continue
        values = (stored.get(part) for part in ("persona_id", "field", "base", "text", "file"))
        persona_id, field, base, text, file = (_storable(value) for value in values)
        writer = writer_of(name, persona_id, field)
        if writer is not None and persona_id:
            sent = _storable(stored["sent"]) if isinstance(stored.get("sent"), str) else None
            found.append(Left(path, writer, persona_id, field, Unsaved(base, text, file, sent)))
    return found


def _same(first: Unsaved | None, second: Unsaved | None) -> bool:
    if first is None or second is None:
        return first is second
    return (first, first.file, first.sent) == (second, second.file, second.sent)


def _lock_path(home: Home, writer: str) -> Path:
    return home.locks / f"writer-{writer}.lock"


def _is_at_work(home: Home, writer: str) -> bool:
    """Whether the program that keeps texts under this mark still runs."""
    path = _lock_path(home, writer)
    if not os.path.lexists(path):
        return False
    try:
        if holder(path) is not None:
            return True
        path.unlink(missing_ok=True)
    except (OSError, PersonaError):
        return False
    return False


def _storable(value: object) -> str:
    """Return a text that UTF-8 can say: half characters are replaced; anything else is empty."""
    return value.encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else ""
