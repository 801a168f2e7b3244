"""The log of runs: one journal for each action, `state/actions/<id>.jsonl` of the home.

Beside it stands when somebody last looked for due work, and when the person last saw what became of runs. A log that is long is archived when a run begins, and the one that was archived before is deleted. Records of one run
are folded in their order. One that the table of transitions does not allow changes nothing: of two programs that end a
run, the first one has the say.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields
from datetime import datetime
from pathlib import Path
from typing import Any

from agent.actions.times import from_stamp, stamp
from agent.core.model import Usage
from personas.actions.document import Action
from personas.actions.states import ENDED, ActionState, move
from personas.errors import InvalidValue, PersonaError
from personas.files.current_sessions import is_session_id
from personas.files.file_stamp import stamp_of
from personas.files.home import Home
from personas.files.journal import Journal
from personas.files.lock import hold
from personas.files.text_file import encode, read_regular, replace_file, storage_error
from personas.library.documents import is_name

BEGIN, CHANGE = "begin", "change"
CANCELLED = "cancelled by the person"
BUSY = "persona busy"
"""Why a run waits for other work of the agent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionRun:
    """One run of an action. Times are stored times, see `times`.

    Attributes:
        id: of the run; `persona reply` takes it.
        action_id: of the action.
        revision: hash of the action's document when the run began.
        state: see `ActionState`.
        due: the due time it is for; None: somebody ran it by hand.
        started_at, ended_at: when it began to work, and when it was over.
        why: why it waits, failed, was interrupted or cancelled.
        session_id: the agent's conversation, in kind `agent`.
        output: what came of it, as text.
        versions: numbers of the versions of the persona that it wrote, or names of its proposals.
        usage: tokens.
        cost: US dollars, None where the price is unknown.
    """

    id: str
    action_id: str
    revision: str = ""
    state: ActionState = ActionState.RUNNING
    due: str | None = None
    started_at: str | None = None
    ended_at: str | None = None
    why: str = ""
    session_id: str | None = None
    output: str = ""
    versions: tuple[int | str, ...] = ()
    usage: Usage = field(default_factory=Usage)
    cost: float | None = None

    @property
    def is_over(self) -> bool:
        """Whether it has ended."""
        return self.state in ENDED

    @property
    def asks(self) -> bool:
        """Whether it waits for an answer of the person."""
        return self.state is ActionState.WAITING and self.session_id is not None and self.why != BUSY

    def to_record(self) -> dict[str, Any]:
        """Return it as `persona action runs --json` prints it: without action and revision, which the caller knows."""
        record = {**asdict(self), "state": str(self.state), "usage": self.usage.to_record()}
        record["versions"] = list(self.versions)
        return {key: one for key, one in record.items() if key not in ("action_id", "revision")}


LONGEST = 1024 * 1024
"""Bytes of a log, beyond which it is archived; the one archived before is deleted then, with its runs."""

_DEAREST = 1e9  # dollars: JSON also holds what is not a number to count with
_BEGUN = frozenset({"revision", "state", "due", "started_at", "why"})
_CHANGED = frozenset(one.name for one in fields(ActionRun)) - {"id", "action_id", "revision", "due"}
_TYPES: dict[str, Any] = {
    **dict.fromkeys(("due", "started_at", "ended_at", "session_id"), str | None),
    "usage": dict,
    "versions": list,
    "cost": float | int | None,
}


def begin(
    home: Home,
    action: Action,
    run_id: str,
    *,
    now: datetime,
    due: datetime | None = None,
    state: ActionState = ActionState.RUNNING,
    why: str = "",
) -> ActionRun:
    """Begin a run and return it; one that has begun already is returned as it is.

    Args:
        home, action: what is run.
        run_id: a new id, or that of the run that goes on.
        now: the time.
        due: the due time it is for.
        state: `scheduled` or `waiting` where it cannot begin yet.
        why: why it waits.

    Raises:
        StorageError, OutsideHome: the journal cannot be written.
    """
    known = _by_id(home, action.id).get(run_id)
    if known is not None:
        return known
    started = stamp(now) if state is ActionState.RUNNING else None
    values = {
        "revision": action.revision,
        "state": str(state),
        "due": due and stamp(due),
        "started_at": started,
        "why": why,
    }
    _append(home, action.id, {"type": BEGIN, "run": run_id, "at": stamp(now), **values})
    return _by_id(home, action.id)[run_id]


def change(home: Home, action_id: str, run_id: str, *, now: datetime, **values: Any) -> ActionRun:
    """Change a run and return it as it is then.

    A move to `running` sets `started_at` once; a state in which a run is over sets `ended_at`.

    Args:
        home, action_id, run_id: which one.
        now: the time.
        values: fields of `ActionRun` by name.

    Raises:
        InvalidValue: there is no such run, or it may not go from its state to the new one, as where it was cancelled
                meanwhile.
        StorageError, OutsideHome: the journal cannot be written.
    """
    run = _by_id(home, action_id).get(run_id)
    if run is None:
        raise InvalidValue(f"The action {action_id} has no run {run_id!r}.")
    record = {
        **values,
        **({"state": str(values["state"])} if "state" in values else {}),
        **({"usage": values["usage"].to_record()} if "usage" in values else {}),
        **({"versions": list(values["versions"])} if "versions" in values else {}),
    }
    record = {"type": CHANGE, "run": run_id, "at": stamp(now), **record}
    move(run.state, ActionState(record.get("state", run.state)))
    _append(home, action_id, record)
    return _by_id(home, action_id)[run_id]


def end(
    home: Home, action_id: str, run_id: str, state: ActionState, *, now: datetime, **values: Any
) -> ActionRun:
    """End a run: `change` to a state in which it is over."""
    return change(home, action_id, run_id, now=now, state=state, **values)


def cancel_runs(home: Home, action_id: str, *, now: datetime) -> list[ActionRun]:
    """Cancel the runs of an action that are not over, and return them; whoever works on one finds it cancelled."""
    return [
        end(home, action_id, run.id, ActionState.CANCELLED, now=now, why=CANCELLED)
        for run in runs(home, action_id)
        if not run.is_over
    ]


def runs(home: Home, action_id: str) -> list[ActionRun]:
    """Return the runs of an action, newest first.

    Raises:
        StorageError, OutsideHome: they cannot be read.
    """
    return list(reversed(_by_id(home, action_id).values()))


def find_run(home: Home, run_id: str, action_id: str | None = None) -> ActionRun | None:
    """Return a run by its id, whatever its action where that is not known.

    Raises:
        StorageError, OutsideHome: the runs cannot be read.
    """
    if action_id is not None:
        return _by_id(home, action_id).get(run_id)
    found = (_by_id(home, name).get(run_id) for name in _names(home))
    return next((run for run in found if run is not None), None)


def _names(home: Home) -> list[str]:
    """Return the ids of the actions that have a log."""
    try:
        names = sorted(path.stem for path in _folder(home).glob("*.jsonl"))
    except OSError as error:
        raise storage_error(error, "read", _folder(home)) from None
    return [name for name in names if is_name(name)]


def note_look(home: Home, now: datetime) -> None:
    """Note that somebody has looked for due work, once all that was found is enqueued.

    Raises:
        StorageError, OutsideHome: it cannot be stored.
    """
    _note_time(home, "looked", now)


def last_look(home: Home) -> datetime | None:
    """Return when somebody last looked for due work; None: nobody has, as far as is known."""
    return _noted_time(home, "looked")


def note_seen(home: Home, now: datetime) -> None:
    """Note that the person has seen what became of all runs until now.

    Raises:
        StorageError, OutsideHome: it cannot be stored.
    """
    _note_time(home, "seen", now)


@dataclass(frozen=True, slots=True)
class Unseen:
    """How many runs the person has not seen, by what became of them."""

    waiting: int = 0
    finished: int = 0
    failed: int = 0


def unseen(home: Home) -> Unseen:
    """Return how many runs ended since the person last saw them, and how many wait for their answer.

    Raises:
        StorageError, OutsideHome: they cannot be read.
    """
    since, counts = _noted_time(home, "seen"), dict.fromkeys(ActionState, 0)
    for name in _names(home):
        for run in runs(home, name):
            ended = from_stamp(run.ended_at)
            if run.asks or (ended is not None and (since is None or ended > since)):
                counts[run.state] += 1
    failed = counts[ActionState.FAILED] + counts[ActionState.INTERRUPTED]
    return Unseen(counts[ActionState.WAITING], counts[ActionState.COMPLETED], failed)


def stamps(home: Home) -> tuple[Any, ...]:
    """Return what is another value once something happened to an action or a run, without reading a file."""
    found = []
    for folder in (_folder(home), home.actions):
        with suppress(OSError), os.scandir(folder) as entries:
            found += sorted((one.path, stamp_of(Path(one.path))) for one in entries)
    return tuple(found)


def _note_time(home: Home, name: str, now: datetime) -> None:
    replace_file(_make_folder(home) / name, encode(stamp(now)), root=home.root)


def _noted_time(home: Home, name: str) -> datetime | None:
    try:
        return from_stamp(read_regular(_folder(home) / name, root=home.root, limit=100).decode("ascii"))
    except (FileNotFoundError, PersonaError, UnicodeDecodeError):
        return None


def _folder(home: Home) -> Path:
    return home.state / "actions"


def _make_folder(home: Home) -> Path:
    folder = home.inside(_folder(home))
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise storage_error(error, "create", folder) from None
    return folder


def _append(home: Home, action_id: str, record: dict[str, Any]) -> None:
    path = _make_folder(home) / f"{action_id}.jsonl"
    if record["type"] == BEGIN and _is_long(path):
        with (
            suppress(PersonaError),
            hold(home.locks / f"runs-{action_id}.lock", what=f"The log of {action_id}"),
        ):
            if _is_long(path):  # nobody else has archived it
                path.replace(path.with_suffix(".old"))
    with Journal(path) as journal:
        journal.append(record, sync=True)


def _is_long(path: Path) -> bool:
    found = stamp_of(path)
    return found is not None and found[1] > LONGEST


def _by_id(home: Home, action_id: str) -> dict[str, ActionRun]:
    """Return the runs of an action by id, oldest first."""
    home.inside(_folder(home))
    path, found = _folder(home) / f"{action_id}.jsonl", dict[str, dict[str, Any]]()
    newer = (
        Journal(path).read().records
    )  # first: archived meanwhile, its records come twice, which does no harm
    for record in (*Journal(path.with_suffix(".old")).read().records, *newer):
        with suppress(KeyError, TypeError, ValueError, InvalidValue):  # damaged, or not allowed
            run_id = record["run"]
            if record["type"] == BEGIN and run_id not in found and is_session_id(run_id):
                found[run_id] = _values(record, _BEGUN)
            elif record["type"] == CHANGE and run_id in found:
                found[run_id] = _changed(found[run_id], record)
    return {run_id: ActionRun(id=run_id, action_id=action_id, **values) for run_id, values in found.items()}


def _changed(before: dict[str, Any], record: dict[str, Any]) -> dict[str, Any]:
    """Return the values of a run after a record of change.

    Raises:
        InvalidValue: the table of transitions does not allow it.
        KeyError, TypeError, ValueError: the record is damaged.
    """
    values = {**before, **_values(record, _CHANGED)}
    state = values["state"] = move(before["state"], values["state"])
    if state is ActionState.RUNNING:
        values["started_at"] = before.get("started_at") or record["at"]
        values["ended_at"] = None
    elif state in ENDED:
        values["ended_at"] = record["at"]
    return values


def _values(record: dict[str, Any], keys: Collection[str]) -> dict[str, Any]:
    """Return the fields of a run in a record; the home may be a stranger's.

    Raises:
        TypeError, ValueError: a value cannot be.
    """
    values = {key: one for key, one in record.items() if key in keys}
    for key, one in values.items():
        if not isinstance(one, _TYPES.get(key, str)):
            raise TypeError(f"the {key} of a run has the wrong type")
    if "state" in values:
        values["state"] = ActionState(values["state"])
    if "usage" in values:
        values["usage"] = Usage(**values["usage"])
        _require(all(type(count) is int for count in asdict(values["usage"]).values()))
    if "versions" in values:
        values["versions"] = tuple(values["versions"])
        _require(all(isinstance(one, int | str) for one in values["versions"]))
    _require(abs(values.get("cost") or 0) < _DEAREST)
    _require(values.get("session_id") is None or is_session_id(values["session_id"]))
    return values


def _require(holds: bool) -> None:
    if not holds:
        raise ValueError("a value of a run cannot be")
