"""The drafts database: text a person typed that is not saved or sent, and messages that are in no conversation yet.

One SQLite file in the person's own state folder, for all homes and all running programs. Every function blocks:
call it in a thread. What an ended program left is found by `orphans` and `unsent`; it is offered to the person and
never sent by itself. Texts are read as text, whatever they say.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from personas.errors import StorageError
from personas.files.ownership import is_foreign
from personas.files.process import is_running, process_start
from tui.drafts.draft import Draft, OutboxMessage

T = TypeVar("T")

DATABASE = "drafts.db"
BUSY_TIMEOUT = 5.0
"""Seconds to wait for another program that writes at the same moment."""

_SCHEMA = """
CREATE TABLE IF NOT EXISTS programs (
    owner   TEXT PRIMARY KEY,
    pid     INTEGER NOT NULL,
    started TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS drafts (
    id       INTEGER PRIMARY KEY,
    home     TEXT NOT NULL,
    document TEXT NOT NULL,
    slot     TEXT NOT NULL,
    owner    TEXT NOT NULL,
    status   TEXT NOT NULL,
    base     TEXT NOT NULL,
    text     TEXT NOT NULL,
    file     TEXT NOT NULL,
    sending  TEXT,
    updated  REAL NOT NULL,
    UNIQUE (home, document, slot, owner, status)
);
CREATE TABLE IF NOT EXISTS outbox (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    home     TEXT NOT NULL,
    persona  TEXT NOT NULL,
    session  TEXT NOT NULL,
    turn_id  TEXT NOT NULL,
    text     TEXT NOT NULL,
    status   TEXT NOT NULL,
    owner    TEXT NOT NULL,
    UNIQUE (home, turn_id)
);
"""
"""`status` and `file` of a draft are what an older program filled: always `open` and empty by now."""
_DISCARDED_TO_STASH = """
UPDATE OR IGNORE drafts SET status = 'open', slot = 'stash:' || id, base = strftime('%Y-%m-%dT%H:%M:%fZ', updated, 'unixepoch')
WHERE status = 'discarded'
"""
"""An older program kept what the person discarded with a status of its own."""
_DRAFT = "id, document, slot, base, text, sending, updated"
_MESSAGE = "persona, turn_id, text, session, status, position"


class DraftStore:
    """The drafts and the outbox of one home, as one running program keeps them.

    Args:
        home: the home's folder.
        folder: where the database lies; None for the person's own state folder.

    Every method but `close` raises `StorageError` where the disk refuses.
    """

    def __init__(self, home: Path, folder: Path | None = None) -> None:
        self._home = os.path.realpath(home)
        self._folder = folder
        self._owner = secrets.token_hex(8)
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._file: tuple[int, int] | None = None
        self._has_ended = False
        self.replaced = 0
        """How often another file took the place of the database: what was stored before is not in that."""
        self.warning = ""
        """Why the database that was there is not used, as a sentence for the person; empty where it is."""

    # -- drafts -----------------------------------------------------------------------------------------

    def save(
        self,
        document: str,
        slot: str,
        text: str,
        *,
        base: str = "",
        sending: str | None = None,
    ) -> None:
        """Store the draft of a slot in place of the one that this program had there. For the values, see `Draft`."""
        self._save(self._owner, document, slot, base, text, sending)

    def _save(self, owner: str, document: str, slot: str, *values: str | None) -> None:
        self._run(
            lambda db: db.execute(
                "INSERT INTO drafts (home, document, slot, owner, status, base, text, file, sending, updated) "
                "VALUES (?, ?, ?, ?, 'open', ?, ?, '', ?, ?) "
                "ON CONFLICT (home, document, slot, owner, status) DO UPDATE SET "
                "base = excluded.base, text = excluded.text, "
                "sending = excluded.sending, updated = excluded.updated",
                (self._home, document, slot, owner, *map(_storable, values), time.time()),
            )
        )

    def delete(self, document: str, slot: str) -> None:
        """Remove this program's draft of a slot: it is saved, sent, or not wanted."""
        self._run(
            lambda db: db.execute(
                "DELETE FROM drafts WHERE home = ? AND document = ? AND slot = ? AND owner = ?",
                (self._home, document, slot, self._owner),
            )
        )

    def own(self) -> list[Draft]:
        """Return the open drafts that this program stored or adopted, newest first."""
        return self._drafts("owner = ?", (self._owner,), None)

    def orphans(self, document: str | None = None) -> list[Draft]:
        """Return the open drafts that ended programs left, of one document or of all, newest first."""
        return self._drafts(_ORPHANED, (self._owner,), document)

    def all_open(self) -> list[Draft]:
        """Return the open drafts of every program, also of those that run, newest first."""
        return self._drafts("1", (), None)

    def adopt(self, draft: Draft) -> bool:
        """Make an orphan this program's own draft.

        Returns:
            False where another program was faster, or this program has a draft in that slot already; an orphan
            of the second kind is to be merged by the caller, then removed by `drop`.
        """

        def claim(db: sqlite3.Connection) -> bool:
            with suppress(sqlite3.IntegrityError):
                done = db.execute(
                    f"UPDATE drafts SET owner = ? WHERE id = ? AND {_ORPHANED}",
                    (self._owner, draft.id, self._owner),
                )
                return done.rowcount == 1
            return False

        return self._run(claim)

    def drop(self, draft: Draft) -> bool:
        """Remove exactly this draft, unless its text changed since; returns whether it was there."""
        return self._run(
            lambda db: (
                db.execute("DELETE FROM drafts WHERE id = ? AND text = ?", (draft.id, draft.text)).rowcount
                == 1
            )
        )

    def release(self, document: str, slots: Iterable[str]) -> None:
        """Give this program's drafts in these slots up: they are like what an ended program left."""
        owner = secrets.token_hex(8)
        self._run(
            lambda db: db.executemany(
                "UPDATE drafts SET owner = ? WHERE home = ? AND document = ? AND slot = ? AND owner = ?",
                [(owner, self._home, document, slot, self._owner) for slot in slots],
            )
        )

    def leave(self, document: str, slot: str, text: str, *, base: str) -> None:
        """Store a draft as one that an ended program left: it was found elsewhere."""
        self._save(secrets.token_hex(8), document, slot, base, text, None)

    def _drafts(self, where: str, values: tuple[Any, ...], document: str | None) -> list[Draft]:
        of_document, named = ("", ()) if document is None else (" AND document = ?", (document,))
        rows = self._run(
            lambda db: db.execute(
                f"SELECT {_DRAFT} FROM drafts WHERE home = ? AND {where}{of_document} "
                "ORDER BY updated DESC, id DESC",
                (self._home, *values, *named),
            ).fetchall()
        )
        return [Draft(*row) for row in rows]

    # -- outbox -----------------------------------------------------------------------------------------

    def put_in_outbox(self, message: OutboxMessage) -> None:
        """Store a message that was sent, or what changed in one: its persona, session or status."""
        self._put_in_outbox(message, self._owner)

    def leave_message(self, message: OutboxMessage) -> None:
        """Store a message as one that an ended program left: it was found elsewhere."""
        self._put_in_outbox(message, secrets.token_hex(8))

    def _put_in_outbox(self, message: OutboxMessage, owner: str) -> None:
        self._run(
            lambda db: db.execute(
                "INSERT INTO outbox (home, persona, session, turn_id, text, status, owner) "
                "VALUES (?, ?, ?, ?, ?, ?, ?) "
                "ON CONFLICT (home, turn_id) DO UPDATE SET persona = excluded.persona, "
                "session = excluded.session, text = excluded.text, status = excluded.status, owner = excluded.owner",
                (
                    self._home,
                    *map(_storable, (message.persona, message.session, message.turn_id, message.text)),
                    message.status,
                    owner,
                ),
            )
        )

    def remove_from_outbox(self, *turn_ids: str) -> None:
        """Remove messages: they are in a conversation's log, or went back to the person."""
        self._run(
            lambda db: db.executemany(
                "DELETE FROM outbox WHERE home = ? AND turn_id = ?", [(self._home, key) for key in turn_ids]
            )
        )

    def outbox(self) -> list[OutboxMessage]:
        """Return this program's messages that have not arrived, in the order of sending."""
        return self._messages("owner = ?")

    def unsent(self) -> list[OutboxMessage]:
        """Return the messages that ended programs left in the outbox, in the order of sending."""
        return self._messages(_ORPHANED)

    def adopt_message(self, message: OutboxMessage) -> bool:
        """Make a message that `unsent` gave this program's own; False where another program was faster."""
        return self._run(
            lambda db: (
                db.execute(
                    f"UPDATE outbox SET owner = ? WHERE home = ? AND position = ? AND {_ORPHANED}",
                    (self._owner, self._home, message.position, self._owner),
                ).rowcount
                == 1
            )
        )

    def _messages(self, where: str) -> list[OutboxMessage]:
        rows = self._run(
            lambda db: db.execute(
                f"SELECT {_MESSAGE} FROM outbox WHERE home = ? AND {where} ORDER BY position",
                (self._home, self._owner),
            ).fetchall()
        )
        return [OutboxMessage(*row) for row in rows]

    # -- the file ---------------------------------------------------------------------------------------

    def close(self) -> None:
        """The program ends: what it leaves is for the next one."""
        with self._lock, suppress(sqlite3.Error):
            self._has_ended = True
            if (connection := self._connection) is not None:
                self._connection = None
                with connection:
                    connection.execute("DELETE FROM programs WHERE owner = ?", (self._owner,))
                connection.close()

    def _run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Do some work in one transaction. A database that turns out to be damaged is set aside, and a new one begun."""
        with self._lock:
            for again in (True, False):
                try:
                    connection = self._opened()
                    with connection:
                        return work(connection)
                except sqlite3.OperationalError as error:  # full, read-only, locked for long
                    raise StorageError(f"The drafts cannot be stored in {self.path}: {error}.") from None
                except sqlite3.DatabaseError as error:
                    if not again:
                        raise StorageError(f"The drafts cannot be stored in {self.path}: {error}.") from None
                    self._set_aside("is damaged")
                except OSError as error:
                    reason = error.strerror or type(error).__name__
                    raise StorageError(f"The drafts cannot be stored in {self.path}: {reason}.") from None
        raise AssertionError

    @property
    def path(self) -> Path:
        """The database file."""
        if self._folder is None:
            from platformdirs import user_state_path

            self._folder = user_state_path("persona-editor", appauthor=False)
        return self._folder / DATABASE

    def _opened(self) -> sqlite3.Connection:
        path = self.path
        if self._connection is not None:
            if _file_id(path) == self._file:
                return self._connection
            self._leave_file()
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if is_foreign(path):
            self._set_aside("is not yours alone")
        with suppress(FileExistsError):
            # Before SQLite does: its own files take over these permissions.
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600))
        connection = sqlite3.connect(path, timeout=BUSY_TIMEOUT, check_same_thread=False)
        try:
            connection.create_function("is_running", 2, is_running)
            connection.execute("PRAGMA journal_mode = WAL")
            connection.executescript(_SCHEMA)
            with connection:
                connection.execute(_DISCARDED_TO_STASH)
                connection.execute("DELETE FROM programs WHERE NOT is_running(pid, started)")
                if not self._has_ended:  # a write that comes after the end is for the next program too
                    connection.execute(
                        "INSERT INTO programs VALUES (?, ?, ?)",
                        (self._owner, os.getpid(), process_start(os.getpid())),
                    )
        except BaseException:
            connection.close()
            raise
        self._connection, self._file = connection, _file_id(path)
        return connection

    def _leave_file(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
            self.replaced += 1

    def _set_aside(self, why: str) -> None:
        """Give a database that cannot be used another name, under which nothing writes over it."""
        self._leave_file()
        path = self.path
        aside = path.with_name(f"unreadable-{secrets.token_hex(4)}-{path.name}")
        for ending in ("", "-wal", "-shm"):
            with suppress(FileNotFoundError):
                path.with_name(path.name + ending).rename(aside.with_name(aside.name + ending))
        self.warning = f"The file with unsaved text {why}, and is not used. It is kept in {aside}."


_ORPHANED = "owner <> ? AND owner NOT IN (SELECT owner FROM programs WHERE is_running(pid, started))"
"""SQL: a row of another program that has ended."""


def _file_id(path: Path) -> tuple[int, int] | None:
    """Return what tells a file from all others; None where there is none."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


def _storable(text: str | None) -> str | None:
    """Return a text that UTF-8 can say: half characters are replaced."""
    return None if text is None else text.encode("utf-8", "replace").decode("utf-8")
