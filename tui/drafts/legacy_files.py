"""Unsaved and unsent text that an older program kept as files in a home: read once into the drafts database. Blocking.

The files come from a stranger, perhaps: they are read as text and nothing is done by them. A file whose texts are in
the database is removed; one that cannot be read is kept under another name; one that the disk does not give stays.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from personas.errors import PersonaError
from personas.files.home import Home
from personas.files.lock import holder
from personas.files.text_file import read_regular, remove_file, sha256
from tui.drafts.draft import OutboxMessage
from tui.drafts.store import DraftStore

_LARGEST = 128 * 1024 * 1024
"""Bytes of a file that is read."""
_MOST = 200
"""Files that are looked at."""
_NAME = re.compile(r"(unsaved-[0-9a-f]{20}-[0-9a-f]{12})(?:-([0-9a-f]{16}))?\.json")
_BESIDE = re.compile(r"(screen|unfinished|thrown-[0-9a-f]{20}-away)-[0-9a-f]{32}\.txt")
"""A long text that lay beside its file, named by what it holds."""
_MARK = "/file"
"""What stands in the file for such a text."""
_SLOTS = {"test": "input", "set": "field"}
"""What the kinds of slots were called, and are called now."""
_DIALOG = "test input of "


def import_chat_files(home: Home, store: DraftStore) -> list[str]:
    """Move drafts of chat bars and dialogs, and queued messages, into the database.

    Returns:
        What there is to say of what could not be read, in sentences.

    Raises:
        StorageError: the database refuses.
    """
    file = _File(home, "screen")
    for persona_id, text in _texts(file.record.get("drafts")):
        answers = dict(_texts(file.record.get("answers")))
        _leave(store, persona_id, "chat", text, base=answers.get(persona_id, ""))
    for persona_id, texts in _items(file.record.get("aside")):
        for text in texts if isinstance(texts, list) else ():
            _leave_stash(store, persona_id, text, "")
    for persona_id, stashes in _items(file.record.get("put_away")):
        for text, at in _pairs(stashes):
            _leave_stash(store, persona_id, text, at)
    for persona_id, queued in _items(file.record.get("queued")):
        session = _text(queued.get("session_id")) if isinstance(queued, dict) else ""
        for turn_id, text in _pairs(queued.get("turns")) if isinstance(queued, dict) else ():
            store.leave_message(OutboxMessage(persona_id, turn_id, text, session, "queued"))
    if file.record.keys() - {"persona_id", "layouts"}:
        file.remove()  # what else it holds was read before
    dialogs = _File(home, "unfinished")
    for name, text in _texts(dialogs.record):
        if name.startswith(_DIALOG):
            _leave(store, name.removeprefix(_DIALOG), "dialog:test input", text)
    dialogs.remove()
    return [*file.said, *dialogs.said]


def import_legacy_files(home: Home, store: DraftStore, persona_id: str = "") -> None:
    """Move the unsaved texts of a home, or of one persona, into the database; what cannot be read stays.

    Raises:
        StorageError: the database refuses.
    """
    start = f"unsaved-{_hash(persona_id)}-" if persona_id else "unsaved-"
    folders = [
        home.state,
        *([home.versions / persona_id / "unsaved"] if persona_id else []),
    ]  # of a deleted one
    for path in [path for folder in folders for path in _files(folder, start)][:_MOST]:
        record = _read(home, path)
        owner, field = _text(record.get("persona_id")), _text(record.get("field"))
        named = _NAME.fullmatch(path.name)
        if not owner or named is None or named[1] != f"unsaved-{_hash(owner)}-{_hash(field)[:12]}":
            continue
        if named[2] and path.parent == home.state and _is_running(home, named[2]):
            continue
        base, text = (_text(record.get(key)) for key in ("base", "text"))
        store.leave(owner, _slot(field), text, base=base)
        _remove(home, path)
    if persona_id and (home.state / f"thrown-{_hash(persona_id)}-away.json").exists():
        discarded = _File(home, f"thrown-{_hash(persona_id)}-away")
        if discarded.record.get("persona_id") == persona_id:
            for _, parts in _items(discarded.record.get("texts")):
                if isinstance(parts, list) and len(parts) == 3:
                    _leave_stash(store, persona_id, parts[1], "")
        discarded.remove()


class _File:
    """A JSON file of an older program, with the long texts beside it.

    Attributes:
        record: what it holds; None in place of a text that cannot be read.
        said: what could not be read and where it is now, in sentences.
    """

    def __init__(self, home: Home, name: str) -> None:
        self._home = home
        self.path = home.state / f"{name}.json"
        self.record: dict[str, Any] = {}
        self.said: list[str] = []
        self._is_blocked = False
        self._beside: list[Path] = []
        content = self._content(self.path, "What was remembered of this home")
        if content is None:
            return
        try:
            stored = json.loads(content)
            if not isinstance(stored, dict):
                raise ValueError
            self.record = self._resolve(stored)
        except (ValueError, RecursionError):
            self._set_aside(self.path, "What was remembered of this home")

    def remove(self) -> None:
        """Its texts are in the database: remove it, unless the disk did not give some of them."""
        if not self._is_blocked:
            for path in (self.path, *self._beside):
                _remove(self._home, path)

    def _content(self, path: Path, what: str) -> bytes | None:
        try:
            return read_regular(path, root=self._home.root, limit=_LARGEST)
        except FileNotFoundError:
            if path != self.path:
                self.said.append(f"{what} is missing: {path}")
        except (OSError, PersonaError) as error:
            self.said.append(str(error))
            self._is_blocked = True
        return None

    def _resolve(self, value: Any) -> Any:
        if isinstance(value, dict):
            name = value.get(_MARK) if len(value) == 1 else None
            if isinstance(name, str) and _BESIDE.fullmatch(name):
                return self._long_text(self.path.with_name(name))
            return {key: self._resolve(one) for key, one in value.items()}
        return [self._resolve(one) for one in value] if isinstance(value, list) else value

    def _long_text(self, path: Path) -> str | None:
        what = "A long text that was remembered"
        if (content := self._content(path, what)) is None:
            return None
        if not path.stem.endswith(f"-{sha256(content)[:32]}"):
            self._set_aside(path, what)
            return None
        self._beside.append(path)
        return content.decode("utf-8", "surrogatepass")

    def _set_aside(self, path: Path, what: str) -> None:
        """Give a file that cannot be read another name, under which nothing writes over it."""
        aside = path.with_name(f"unreadable-{secrets.token_hex(4)}-{path.name}")
        try:
            (self._home.inside(path.parent) / path.name).rename(aside)
            self.said.append(f"{what} could not be read. It is kept in {aside}.")
        except (OSError, PersonaError):
            self.said.append(f"{what} cannot be read: {path}")
            self._is_blocked = True


def _leave(store: DraftStore, document: str, slot: str, text: str, *, base: str = "") -> None:
    if text.strip():
        store.leave(document, slot, text, base=base)


def _leave_stash(store: DraftStore, persona_id: str, text: object, at: str) -> None:
    if text := _text(text):
        _leave(store, persona_id, f"stash:{_hash(text)[:16]}", text, base=at)


def _files(folder: Path, start: str) -> Iterator[Path]:
    with suppress(OSError):
        yield from sorted(path for path in folder.iterdir() if path.name.startswith(start))


def _read(home: Home, path: Path) -> dict[str, Any]:
    try:
        stored = json.loads(read_regular(path, root=home.root, limit=_LARGEST))
    except (OSError, PersonaError, ValueError, RecursionError):
        return {}
    return stored if isinstance(stored, dict) else {}


def _remove(home: Home, path: Path) -> None:
    with suppress(OSError, PersonaError):
        remove_file(path, root=home.root)


def _is_running(home: Home, writer: str) -> bool:
    """Whether the program that keeps texts under this name still runs."""
    path = home.locks / f"writer-{writer}.lock"
    with suppress(OSError, PersonaError):
        return path.exists() and holder(path) is not None
    return False


def _hash(text: str) -> str:
    return sha256(text.encode("utf-8", "replace"))[:20]


def _slot(field: str) -> str:
    kind, colon, name = field.partition(":")
    return f"{_SLOTS.get(kind, kind)}{colon}{name}"


def _items(stored: object) -> list[tuple[str, Any]]:
    return list(stored.items()) if isinstance(stored, dict) else []


def _texts(stored: object) -> list[tuple[str, str]]:
    return [(key, text) for key, text in _items(stored) if isinstance(text, str)]


def _pairs(stored: object) -> Iterator[tuple[str, str]]:
    for pair in stored if isinstance(stored, list) else ():
        if isinstance(pair, list) and len(pair) == 2 and all(isinstance(part, str) for part in pair):
            yield pair[0], pair[1]


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
