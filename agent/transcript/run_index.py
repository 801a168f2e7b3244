"""Which run of a stored conversation a turn belongs to, and the unit under which that run is undone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from agent.core.turns import JOB
from personas.files.journal import Journal
from personas.store import Store
from personas.versions.undo import key_of_run


@dataclass(frozen=True, slots=True)
class RunSpan:
    """A run in the log of a conversation.

    Attributes:
        id: of the run.
        begun, ended: when, UTC ISO 8601; a run whose end the log does not have was over when the next one began,
            `ended` is empty where there is none.
    """

    id: str
    begun: str
    ended: str = ""

    def holds(self, at: str, made_by: str) -> bool:
        """Whether a change is this run's: under its own name, or under that of a task while it was under way."""
        return made_by == self.id or (self.begun <= at and (not self.ended or at <= self.ended))


def run_of_turn(session: Path, turn_ids: Sequence[str]) -> RunSpan | None:
    """Return the run of the first of these turns that the conversation has; None where that is of no run.

    Reads the whole log; belongs in a thread.

    Raises:
        PersonaError: it cannot be read.
    """
    runs: dict[str, RunSpan | None] = {}  # by turn
    before: list[str] = []  # turns since the last run: what the person said opens the next one
    here: list[str] = []
    run: RunSpan | None = None
    for record in Journal(session).read().records:
        kind, at = record.get("type"), str(record.get("created_at", ""))
        if kind == JOB:
            continue
        if kind in ("run_start", "run_end") and run is not None:  # a kill may have cut the end
            runs.update(dict.fromkeys(here, RunSpan(run.id, run.begun, at)))
        if kind == "run_start":
            run = RunSpan(str(record.get("run_id", "")), at)
            here, before = before, []
            runs.update(dict.fromkeys(here, run))
        elif kind == "run_end":
            run, here = None, []
        elif isinstance(turn_id := record.get("id"), str):
            if run is None:
                before = [*before, turn_id] if kind == "user" else []
            else:
                here.append(turn_id)
            runs[turn_id] = run
    return next((runs[one] for one in turn_ids if one in runs), None)


def unit_of_turn(store: Store, persona_id: str, session_id: str, turn_ids: Sequence[str]) -> str:
    """Return under which key the store undoes what the run of a turn changed; empty where it changed nothing.

    What a task changed is undone together, in all of its runs. Reads the disk; belongs in a thread.

    Args:
        store: where the persona lives.
        persona_id: which one.
        session_id: of the conversation.
        turn_ids: as in `run_of_turn`.

    Raises:
        PersonaError: the persona is gone, or the disk refuses.
    """
    session = store.home.inside(store.home.sessions) / f"{session_id}.jsonl"
    if (run := run_of_turn(session, turn_ids)) is None:
        return ""
    made = [
        (version.at, version.by.run_id)
        for version in store.log(persona_id)
        if version.by.session_id == session_id and version.by.run_id
    ]
    names = [name for at, name in made if run.holds(at, name)]
    # Its own name is certain; a time may be that of another run, for times are of whole milliseconds and clocks are set.
    return key_of_run(session_id, run.id if run.id in names else names[0]) if names else ""
