"""Saved approvals: tools allowed for good, or for one task. Stored beside the settings, never in a home."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from personas.errors import PersonaError
from personas.files import trust
from personas.files.json_file import edit_json, read_json

log = logging.getLogger(__name__)

MOST_TASKS = 200
"""So many tasks keep their grants; of more, those granted first are forgotten: they ask again."""

Grants = dict[str, list[str]]


class SavedApprovals:
    """What was allowed, home by home.

    Args:
        path: the file of what is allowed for good, the one for tasks lies beside it; None keeps both in memory only.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._here: set[tuple[str, str]] = set()
        self._tasks: Grants = {}

    @classmethod
    def of_person(cls) -> SavedApprovals:
        """Return the grants of whoever runs the program."""
        return cls(trust.file_of(os.environ).with_name("grants.json"))

    # -- for good --------------------------------------------------------------------------------------

    def has(self, home: Path, tool_name: str) -> bool:
        """Return whether calls of a tool are always allowed in a home."""
        key = (os.path.realpath(home), tool_name)
        return key in self._here or tool_name in _read(self._path).get(key[0], [])

    def add(self, home: Path, tool_name: str) -> None:
        """Allow a tool in a home from now on.

        Raises:
            StorageError: it holds for this program, but could not be stored.
        """
        key = (os.path.realpath(home), tool_name)
        self._here.add(key)
        with _editing(self._path) as known:
            known[key[0]] = sorted({*known.get(key[0], []), tool_name})
        if self._path is not None:
            self._here.discard(key)  # it is in the file, out of which another program may take it

    def always(self, home: Path) -> list[str]:
        """Return the names of the tools that are always allowed in a home."""
        key = os.path.realpath(home)
        return sorted(
            {*_read(self._path).get(key, []), *(name for place, name in self._here if place == key)}
        )

    def forget(self, home: Path) -> None:
        """Take back everything that was allowed in a home, for good and for tasks.

        Raises:
            StorageError: the disk refused.
        """
        place = os.path.realpath(home)
        self._here = {key for key in self._here if key[0] != place}
        self._tasks = {key: names for key, names in self._tasks.items() if _home_of(key) != place}
        for path in (self._path, self._tasks_path):
            if any(_home_of(key) == place for key in _read(path)):
                with _editing(path) as known:
                    for key in [key for key in known if _home_of(key) == place]:
                        del known[key]

    # -- for one task ----------------------------------------------------------------------------------

    def of_task(self, home: Path, session_id: str, task_id: str) -> frozenset[str]:
        """Return the tools that are allowed for the rest of a task."""
        key = _key(home, session_id, task_id)
        return frozenset([*self._tasks.get(key, []), *_read(self._tasks_path).get(key, [])])

    def add_for_task(self, home: Path, session_id: str, task_id: str, tool_name: str) -> None:
        """Allow a tool until a task is over, in whatever program it goes on.

        Raises:
            StorageError: it holds for this program, but could not be stored.
        """
        key = _key(home, session_id, task_id)
        self._tasks[key] = sorted({*self._tasks.get(key, []), tool_name})
        with _editing(self._tasks_path) as known:
            known[key] = sorted({*known.pop(key, []), tool_name})
            for oldest in list(known)[:-MOST_TASKS]:
                del known[oldest]

    def end_task(self, home: Path, session_id: str, task_id: str) -> None:
        """A task is over: what was allowed for it is forgotten. Where the disk refuses it stays, and means nothing."""
        key = _key(home, session_id, task_id)
        self._tasks.pop(key, None)
        try:
            if key in _read(self._tasks_path):
                with _editing(self._tasks_path) as known:
                    known.pop(key, None)
        except PersonaError as error:
            log.warning("what was allowed for a task could not be struck out: %s", error)

    @property
    def _tasks_path(self) -> Path | None:
        return self._path.with_name("task-grants.json") if self._path is not None else None


class JobApprovals:
    """What is allowed to the task that runs. All methods are blocking; they belong in a thread.

    Args:
        grants: of the person.
        home: the home it works in.
        is_trusted: whether what an earlier program was told about this task still counts in its home.
    """

    def __init__(self, grants: SavedApprovals, home: Path, is_trusted: Callable[[Path], bool]) -> None:
        self._grants = grants
        self._home = home
        self._is_trusted = is_trusted
        self._names: frozenset[str] = frozenset()

    def has(self, tool_name: str, *, for_good: bool = True) -> bool:
        """Return whether a tool need not be asked for; `for_good`: whether what is always allowed counts."""
        return tool_name in self._names or (for_good and self._grants.has(self._home, tool_name))

    def take_up(self, session_id: str, task_id: str) -> None:
        """An earlier program began the task: learn what was allowed then."""
        if self._is_trusted(self._home):
            self._names |= self._grants.of_task(self._home, session_id, task_id)

    def allow(self, session_id: str, task_id: str, tool_name: str, *, always: bool) -> None:
        """Allow a tool for this task, or for good.

        Raises:
            StorageError: it holds for this program, but could not be stored.
        """
        if always:
            self._grants.add(self._home, tool_name)
        else:
            self._names |= {tool_name}
            self._grants.add_for_task(self._home, session_id, task_id, tool_name)

    def end(self, session_id: str, task_id: str) -> None:
        """The task is over."""
        if self._names:
            self._grants.end_task(self._home, session_id, task_id)


@contextmanager
def _editing(path: Path | None) -> Iterator[Grants]:
    """Give what one of the files holds, to be changed, and write it; without a file, what is changed is nothing."""
    if path is None:
        yield {}
        return
    with edit_json(path, lock="grants.lock", what="The list of grants") as stored:
        grants = _valid(stored)
        yield grants
        stored.clear()
        stored.update(grants)


def _key(home: Path, session_id: str, task_id: str) -> str:
    return json.dumps([os.path.realpath(home), session_id, task_id])


def _home_of(key: str) -> str:
    """The home in a key of either file."""
    if not key.startswith("["):
        return key
    try:
        parts = json.loads(key)
    except (ValueError, RecursionError):
        return key
    return str(parts[0]) if parts else key


def _read(path: Path | None) -> Grants:
    """What is stored; a missing or damaged file grants nothing."""
    return {} if path is None else _valid(read_json(path))


def _valid(stored: Mapping[str, object]) -> Grants:
    return {
        key: [name for name in names if isinstance(name, str)]
        for key, names in stored.items()
        if isinstance(names, list)
    }
