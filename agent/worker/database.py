"""The database of a home's queue: SQLite in the person's own state folder, or a PostgreSQL that several hosts share.

DBOS unpickles a row that says it is pickled, which runs whatever code its writer chose. So a database that somebody else
could have written to is refused before DBOS opens it, and in this process DBOS cannot unpickle at all.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
from collections.abc import Mapping
from pathlib import Path

# Before its import, which reads them: this is nobody's cloud, and no variable of another program is meant.
for _name in [name for name in os.environ if name.startswith("DBOS_")]:
    del os.environ[_name]
logging.getLogger("dbos").addHandler(logging.NullHandler())  # else it writes to stderr

import sqlalchemy as sa  # noqa: E402
from dbos import _serialization  # noqa: E402

from personas.errors import InvalidValue, PersonaError, StorageError  # noqa: E402
from personas.files.ownership import is_foreign  # noqa: E402

SERIALIZER = _serialization.DBOSPortableJSON
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")


class Untrusted(PersonaError):
    """The database cannot be used: somebody else could have written to it."""


def _refuse_objects(_self: object, _text: str) -> object:
    raise Untrusted("The worker's database holds a row that is not JSON; nothing of it was run.")


_serialization.DefaultSerializer.deserialize = _refuse_objects  # type: ignore[assignment]


def name_of_home(root: Path, named: str = "") -> str:
    """Return the name under which a home's runs are known to all its workers.

    Args:
        root: its folder.
        named: what the settings say; empty takes one made of the folder's path, which holds on this machine only.

    Raises:
        InvalidValue: the settings say something that is no name.
    """
    if not named:
        return hashlib.sha256(os.path.realpath(root).encode()).hexdigest()[:16]
    if not _NAME.fullmatch(named):
        raise InvalidValue("worker.home must be a short name of a-z, 0-9, _ and -")
    return named


class Database:
    """Where the queue of one home lies.

    Args:
        url: a PostgreSQL's address, as in `postgresql://host/name`; empty: a file in `folder`.
        home_name: the home's name.
        folder: the person's own folder for state; made when it is missing.

    Raises:
        Untrusted: it is not the person's own.
        InvalidValue: the address cannot be used.
        StorageError: it cannot be opened.
    """

    def __init__(self, url: str, home_name: str, folder: Path) -> None:
        self.schema: str | None = None
        if not url:
            self.url = f"sqlite:///{_own_file(folder, home_name)}"
            self._engine = sa.create_engine(self.url, connect_args={"timeout": 5})
        else:
            if not url.startswith(("postgresql://", "postgres://")):
                raise InvalidValue("worker.database must be an address like postgresql://host/name")
            try:
                address = sa.make_url(url).set(drivername="postgresql+psycopg")
            except (sa.exc.ArgumentError, ValueError):
                raise InvalidValue("worker.database must be an address like postgresql://host/name") from None
            self.url = address.render_as_string(hide_password=False)
            self.schema = f"persona_{home_name.replace('-', '_')}"
            self._engine = sa.create_engine(address, pool_pre_ping=True)
        self.refuse_objects()
        if not self.schema:  # so that a worker that is stopped over a write keeps nobody from reading
            self.rows("PRAGMA journal_mode = WAL")

    def refuse_objects(self) -> None:
        """Look for rows that are not marked as JSON, before DBOS reads them.

        Raises:
            Untrusted: there is one.
            StorageError: the database cannot be read.
        """
        try:
            tables = sa.inspect(self._engine)
            for table in tables.get_table_names(schema=self.schema):
                if not any(one["name"] == "serialization" for one in tables.get_columns(table, self.schema)):
                    continue
                where = f"serialization <> '{SERIALIZER.name()}'"
                if self.rows(f"SELECT 1 FROM {self.table(table)} WHERE {where} LIMIT 1"):
                    raise Untrusted(
                        f"The worker's database {self} holds a row that is not JSON, which this program does not write; "
                        "nothing of it was run. Move it away to begin anew."
                    )
        except sa.exc.DatabaseError as error:
            reason = (str(error.orig).splitlines() or ["no reason is given"])[0]
            raise StorageError(f"The worker's database {self} cannot be read: {reason}") from None

    def table(self, name: str) -> str:
        """Return how SQL names a table."""
        quoted = '"' + name.replace('"', '""') + '"'
        return f'"{self.schema}".{quoted}' if self.schema else quoted

    def rows(self, sql: str, **values: object) -> list[Mapping[str, object]]:
        """Run one statement and return the rows it gives."""
        with self._engine.begin() as connection:
            found = connection.execute(sa.text(sql), values)
            return [dict(row) for row in found.mappings()] if found.returns_rows else []

    def close(self) -> None:
        """Let go of it."""
        self._engine.dispose()

    def __str__(self) -> str:
        return sa.make_url(self.url).render_as_string(hide_password=True)


def _own_file(folder: Path, home_name: str) -> Path:
    """Return the file of a home's queue, in a folder that is the person's alone."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = folder / f"{home_name}.db"
        if is_foreign(folder, folder=True) or is_foreign(path):
            raise Untrusted(
                f"{path} is not yours alone; the worker keeps its queue only where nobody else may write."
            )
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600))
    except OSError as error:
        raise StorageError(f"The worker's queue cannot be kept in {folder}: {error.strerror}.") from None
    return path
