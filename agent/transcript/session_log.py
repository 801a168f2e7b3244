"""One stored conversation: an append-only log of what happened, safe to read whatever is in it.

The log is the truth. Its first line is the header; then come turns, and between them what else happened
(`run_start`, `started`, `step_end`, `run_end`, `job`), one record a line.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent.core.events import (
    AgentEnd,
    AgentStart,
    Event,
    StepEnd,
    ToolEnd,
    ToolProgress,
    ToolStart,
    TurnDelta,
    TurnEnd,
    TurnStart,
)
from agent.core.repair import NEVER_RAN, missing_results, unanswered_calls
from agent.core.turns import (
    NoticeTurn,
    ToolCallTurn,
    ToolResultTurn,
    Turn,
    UserTurn,
    new_id,
    utc_now,
)
from agent.transcript.job_records import is_asking, is_job_record
from agent.transcript.session_records import field_text, run_end, to_turn, without_repeats
from agent.transcript.turn_records import as_json, to_record
from personas.errors import BrokenFile, InvalidValue, PersonaError
from personas.files.journal import Journal, Problem

if TYPE_CHECKING:
    from agent.core.agent import Agent

VERSION = 1
_UNWRITTEN = (TurnStart, TurnDelta, ToolProgress, ToolEnd)
"""The events at which nobody writes anything."""
RECENT = 100
"""Turns that are read when a session is opened; the rest is read when it is asked for."""


class Session:
    """A conversation and its file.

    Only one process may write to it; who does holds the lock, which is not this class's business.

    Attributes:
        id: of the session; the file's stem.
        persona_id: whose conversation it is.
        created_at: UTC, ISO 8601.
        path: the file.
        problems: what could not be read, one sentence each.
        was_cut: whether the last run had no end in the log when the conversation was opened: it is still under way
            elsewhere, or the program ended in the middle of it.
        left_open: calls the log has no result for, as it was when the conversation was opened.
        jobs: the records of jobs that were read or written so far, each with the turn it stands after.
        on_failure: called with why a record cannot be written, in the thread that writes it, and on the loop with why the
            disk did not keep a step or a run. It is not called with what `sync` returns.
    """

    def __init__(
        self, path: Path, persona_id: str, created_at: str, *, on_failure: Callable[[PersonaError], None]
    ) -> None:
        self.path = path
        self.id = path.stem
        self.persona_id = persona_id
        self.created_at = created_at
        self.problems: list[str] = []
        self.left_open: list[ToolCallTurn] = []
        self.jobs: list[tuple[str, dict[str, Any]]] = []
        self.was_cut = False
        self._unwritable: PersonaError | None = None
        self._unsynced: PersonaError | None = None
        self.on_failure = on_failure
        self._journal = Journal(path)
        self._recent: list[Turn] = []
        self._earlier: list[Turn] | None = []  # None: not read yet
        self._unsaved: list[dict[str, Any]] = []
        self._stand_ins: set[str] = set()  # ids of results made up at opening
        self._started_at_launch = False

    # Opening

    @classmethod
    def create(
        cls,
        folder: Path,
        persona_id: str,
        *,
        session_id: str | None = None,
        on_failure: Callable[[PersonaError], None] = lambda _error: None,
    ) -> Session:
        """Start a conversation: a new file with its header in an existing folder.

        Raises:
            InvalidValue: the id is taken, or no file name.
            StorageError: the disk refused.
        """
        session_id = session_id or new_id("session")
        path = folder / f"{session_id}.jsonl"
        if path.parent != folder or path.stem != session_id:
            raise InvalidValue(f"{session_id!r} is not an id for a session.")
        if path.exists() or path.is_symlink():
            raise InvalidValue(f"There is already a session {session_id}.")
        session = cls(path, persona_id, utc_now(), on_failure=on_failure)
        header = {
            "type": "session",
            "version": VERSION,
            "id": session.id,
            "persona_id": persona_id,
            "created_at": session.created_at,
        }
        session._journal.append(header, sync=True)
        return session

    @classmethod
    def open(
        cls,
        path: Path,
        *,
        tail: int = RECENT,
        user_turns: int = 1,
        persona_id: str | None = None,
        on_failure: Callable[[PersonaError], None] = lambda _error: None,
    ) -> Session:
        """Open a stored conversation; read its last `tail` turns or more, back to a user turn.

        A call that a crash left without a result is answered in memory at once, in the log with the first
        record written. Opening writes nothing.

        Args:
            path: the file.
            tail: how many turns to read now; the others are read when asked for.
            user_turns: how many of the user's are to be among them.
            persona_id: whose session it must be, if that matters.
            on_failure: called when a record cannot be written.

        Raises:
            BrokenFile: there is no session in this file, or one of a newer program.
            InvalidValue: it is another persona's.
            PersonaError: it cannot be read at all.
        """
        header = Journal(path).first()
        problems = []
        if header is None or header.get("type") != "session":
            if not path.exists():
                raise BrokenFile(f"There is no session {path.stem}.")
            problems.append("The session has no header; what can be read of it is shown.")
            header = {}
        version = header.get("version", VERSION)
        if type(version) is int and version > VERSION:
            raise BrokenFile(f"The session {path.stem} was written by a newer version of this program.")
        owner = field_text(header, "persona_id")
        if persona_id is not None and owner != persona_id:
            if owner:
                raise InvalidValue(f"The session {path.stem} belongs to another persona.")
            owner = persona_id
        if header and header.get("id") != path.stem:
            problems.append("The session's header names another session.")
        session = cls(path, owner, field_text(header, "created_at"), on_failure=on_failure)
        session.problems = problems
        session._read_tail(max(1, tail), user_turns)
        return session

    def _read_tail(self, tail: int, user_turns: int) -> None:
        """Read backwards until enough turns are there and a user turn begins them."""
        spoken = 0
        found: list[Turn] = []
        problems: list[str] = []
        started: set[str] = set()
        self._earlier = []
        bounds: list[str] = []
        jobs: list[dict[str, Any]] = []  # since the turn read last, newest first
        for item in self._journal.backwards():
            if isinstance(item, Problem):
                problems.append(f"Line {item.line} from the end: {item.why}.".replace("Line -", "Line "))
                continue
            if item.get("type") in ("run_start", "run_end"):
                bounds.append(str(item["type"]))
            if item.get("type") == "started":
                started.add(field_text(item, "tool_use_id"))
            if is_job_record(item):
                jobs.append(item)
            turn = to_turn(item, problems)
            if turn is None:
                continue
            self.jobs += [(turn.id, record) for record in jobs]
            jobs.clear()
            found.append(turn)
            spoken += isinstance(turn, UserTurn)
            if len(found) >= tail and spoken >= user_turns and isinstance(turn, UserTurn):
                self._earlier = None
                break
        self.jobs += [("", record) for record in jobs]
        self.jobs.reverse()
        # A notice behind it says what became of it, as when a task that waited is given up.
        self.was_cut = bounds[:1] == ["run_start"] and not isinstance(found[0] if found else None, NoticeTurn)
        self._recent = without_repeats(reversed(found), problems)
        self.problems.extend(reversed(problems))
        self.left_open = unanswered_calls(self._recent)
        for result in missing_results(self._recent, started):
            self._recent.append(result)
            self._unsaved.append(to_record(result))
            self._stand_ins.add(result.id)

    # Reading

    @property
    def recent(self) -> list[Turn]:
        """The turns read when the session was opened, repaired, and those added since."""
        return self._recent

    def earlier(self) -> list[Turn]:
        """Return the turns before the recent ones; they are read from the file the first time.

        Raises:
            PersonaError: it cannot be read.
        """
        if self._earlier is None:
            problems: list[str] = []
            turns: list[Turn] = []
            self.jobs = []
            for record in self._journal.read().records:
                if is_job_record(record):
                    self.jobs.append((turns[-1].id if turns else "", record))
                elif (turn := to_turn(record, problems)) is not None:
                    turns.append(turn)
            first = self._recent[0].id
            whole = without_repeats(turns, problems)
            index = next((at for at, turn in enumerate(whole) if turn.id == first), 0)
            self._earlier = whole[:index]
        return self._earlier

    @property
    def turns(self) -> list[Turn]:
        """The whole conversation, repaired; see `earlier`."""
        return self.earlier() + self._recent

    @property
    def stand_ins(self) -> frozenset[str]:
        """The ids of results that were made up for calls a crash left open, as long as the log has none of them."""
        return frozenset(record["id"] for record in self._unsaved if record.get("id") in self._stand_ins)

    # Writing

    def record(self, event: Event) -> Awaitable[None] | None:
        """Write what an event adds to the log: a listener for `Agent.subscribe`.

        At the end of a step and of a run the log is forced to the disk, in a thread. Between runs the file is closed.
        """
        if isinstance(event, TurnEnd):
            self.add(event.turn)
        elif isinstance(event, ToolStart):
            if not self._started_at_launch:
                self.started(event.call)
        elif isinstance(event, AgentStart):
            self.was_cut = False
            self._write({"type": "run_start", "run_id": event.run_id, "created_at": utc_now()})
        elif isinstance(event, StepEnd):
            self._write(
                {
                    "type": "step_end",
                    "run_id": event.run_id,
                    "created_at": utc_now(),
                    "step": event.step,
                    "stop_reason": event.stop_reason,
                    "usage": event.usage.to_record(),
                }
            )
            return self._sync_aside()
        elif isinstance(event, AgentEnd):
            self._write(run_end(event))
            return self._sync_aside(close=True)
        return None

    def add(self, turn: Turn) -> None:
        """Add one turn to the conversation and its log."""
        self._recent.append(turn)
        self._write(to_record(turn))

    def note_job(self, record: dict[str, Any]) -> None:
        """Append a record about a job, in any thread.

        Raises:
            PersonaError: the disk refused; the record is not written later.
        """
        self._journal.append(record)
        self.jobs.append((self._recent[-1].id if self._recent else "", record))

    @property
    def is_asking(self) -> bool:
        """Whether a job waits for an answer: what it asked has no result."""
        return is_asking(self.jobs, [call.tool_use_id for call in self.left_open])

    def settle(self, result: ToolResultTurn) -> None:
        """Give a call that was left open its real result, in place of the one that says what a crash left.

        Raises:
            InvalidValue: no such call is open any more.
        """
        if all(call.tool_use_id != result.tool_use_id for call in self.left_open):
            raise InvalidValue("The conversation has moved on; this question no longer waits for an answer.")
        self.left_open = [call for call in self.left_open if call.tool_use_id != result.tool_use_id]
        record = to_record(result)
        for index in range(len(self._recent) - 1, -1, -1):
            turn = self._recent[index]
            if isinstance(turn, ToolResultTurn) and turn.tool_use_id == result.tool_use_id:
                self._recent[index] = result
                self._unsaved = [record if one.get("id") == turn.id else one for one in self._unsaved]
                break
        if record not in self._unsaved:
            self._unsaved.append(record)
        self._write(self._unsaved.pop())

    def reopen_unstarted(self, *, but: str = "") -> None:
        """Take back what stands for the results of left calls that never started: they are going to be made.

        Args:
            but: wire id of a call that is settled otherwise.
        """
        taken = {
            turn.id
            for turn in self._recent
            if isinstance(turn, ToolResultTurn)
            and (turn.id in self._stand_ins and turn.output == NEVER_RAN and turn.tool_use_id != but)
        }
        self._recent = [turn for turn in self._recent if turn.id not in taken]
        self._unsaved = [record for record in self._unsaved if record.get("id") not in taken]

    def started(self, call: ToolCallTurn, changed: Mapping[str, Any] | None = None) -> None:
        """Note that a call is about to act; `changed` is its input where a hook changed the model's."""
        record: dict[str, Any] = {"type": "started", "tool_use_id": call.tool_use_id, "created_at": utc_now()}
        if changed is not None:
            record["ran_with"] = as_json(changed)
        self._write(record)

    def attach(
        self, agent: Agent, may_write: Callable[[], Awaitable[bool]] | None = None
    ) -> Callable[[], None]:
        """Record everything `agent` does, and `started` right before a call acts; return what ends that.

        The agent's own `on_launch` is called first. `may_write` is asked at each event at which somebody writes; nobody
        hears of that before it has answered.
        """
        inner = agent.on_launch
        attached = True

        def note_started(call: ToolCallTurn, changed: Mapping[str, Any] | None) -> None:
            if inner is not None:
                inner(call, changed)
            if attached:
                self.started(call, changed)

        async def record_if_allowed(event: Event) -> None:
            if may_write is None or isinstance(event, _UNWRITTEN) or not await may_write():
                return
            if (writing := self.record(event)) is not None:
                await writing

        self._started_at_launch = True
        agent.on_launch = note_started
        unsubscribe = agent.subscribe(self.record if may_write is None else record_if_allowed, first=True)

        def detach() -> None:
            nonlocal attached
            attached = False
            unsubscribe()
            if agent.on_launch is note_started:
                agent.on_launch = inner
                self._started_at_launch = False

        return detach

    def make_lasting(self) -> None:
        """Wait until everything written is on the disk.

        Raises:
            PersonaError: the disk refused.
        """
        self._journal.sync()

    def sync(self, *, close: bool = False) -> PersonaError | None:
        """Wait until everything written is on the disk, in any thread; return what the disk says instead.

        `close`: close the file as well; a later record opens it again.
        """
        try:
            self._journal.sync(close=close)
        except PersonaError as error:
            self._unsynced = error
        else:
            self._unsynced = None
        return self._unsynced

    async def _sync_aside(self, *, close: bool = False) -> None:
        """`sync` in a thread. A failure is reported on the loop, also when nobody waits for the disk any more."""
        writing = asyncio.get_running_loop().run_in_executor(None, partial(self.sync, close=close))
        writing.add_done_callback(self._report_failure)
        await asyncio.wait([writing])

    def _report_failure(self, writing: asyncio.Future[PersonaError | None]) -> None:
        if not writing.cancelled() and (error := writing.result()) is not None:
            self.on_failure(error)

    def close(self) -> None:
        """Close the file; a later record opens it again."""
        self._journal.close()

    @property
    def failure(self) -> PersonaError | None:
        """Why the last record could not be written, or the disk did not keep what was; None once everything is."""
        return self._unwritable or self._unsynced

    @property
    def has_unwritten(self) -> bool:
        """Whether something that was said or done is only in memory: the disk refused it."""
        return any(record.get("id") not in self._stand_ins for record in self._unsaved)

    def write_left(self) -> None:
        """Try again to write what could not be written before; under the session's lock."""
        if self.has_unwritten:
            self._write_all()

    def _write(self, record: dict[str, Any]) -> None:
        """Append a record after those that could not be written before."""
        self._unsaved.append(record)
        self._write_all()

    def _write_all(self) -> None:
        failure: PersonaError | None = None
        while self._unsaved:
            record = self._unsaved[0]
            try:
                self._journal.append(record)
            except InvalidValue as error:  # this record can never be written; those after it can
                failure = error
            except PersonaError as error:
                failure = error
                break
            else:
                self._close_left_open(record)
            self._unsaved.pop(0)
        self._unwritable = failure
        if failure is not None:
            self.on_failure(failure)

    def _close_left_open(self, written: Mapping[str, Any]) -> None:
        """A call whose stand-in is in the log has its result for good: the first result in a log counts."""
        if written.get("id") in self._stand_ins:
            answered = written.get("tool_use_id")
            self.left_open = [call for call in self.left_open if call.tool_use_id != answered]
