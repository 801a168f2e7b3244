"""The open session of a chat: reads it again when others wrote to it, and keeps what its model knows of the persona.

Also the calls in it that an earlier program left open, and what becomes of them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from threading import RLock
from typing import Any

from agent.core.agent import Agent
from agent.core.events import AgentEnd
from agent.core.redaction import text_of
from agent.core.turns import ToolCallTurn, ToolResultTurn, Turn
from agent.tools.context import ToolEnvironment
from agent.transcript.session_log import Session
from agent.transcript.session_store import (
    is_held,
    open_session,
    session_lock,
    size_of,
    size_on_disk,
    start_session,
)
from agent.transcript.user_edits import KnownPersona, PersonaSnapshot, user_edit_turn
from personas.about import read_about
from personas.errors import BrokenFile, Busy, InvalidValue, OutsideHome, PersonaError, StorageError
from personas.persona import Persona, broken_file
from personas.store import Store

Mark = tuple[str | None, int]
"""By what one sees that others wrote: the conversation that is the current one, and the bytes of its file."""

_NOT_SAVED = "the conversation cannot be saved"


class ChatSession:
    """The current session of a persona, and the agent that talks in it.

    Args:
        store: where the persona lives.
        persona_id: whose session.
        agent: gets the conversation, and is recorded.
        env: gets what the model has seen of the persona.
        on_settle: called with a call that was left open, and the result it gets outside of a run.
        may_write: asked before anything of a run is recorded; None: it always may be.

    Attributes:
        problems: what is wrong with the conversation, one sentence each.
        mark: of it when it was last read or written here.
        makes_left_open: whether calls of `left_open` that never started are made in this run.
        sent_turns: how many of the person's turns the model is sent: so many are read, where there are so many.
        own_about: what the person's own settings say the personas are for; empty: what the home says of it holds.
    """

    def __init__(
        self,
        store: Store,
        persona_id: str,
        agent: Agent,
        env: ToolEnvironment,
        *,
        on_settle: Callable[[ToolCallTurn, ToolResultTurn], None],
        may_write: Callable[[], Awaitable[bool]] | None = None,
    ) -> None:
        self.problems: list[str] = []
        self.mark: Mark = (None, -1)
        self.makes_left_open = False
        self.sent_turns = 1
        self.own_about = ""
        self._read_for = 0  # how many of the person's turns were asked for when it was read
        self._store = store
        self._persona_id = persona_id
        self._agent = agent
        self._env = env
        self._on_settle = on_settle
        self._may_write = may_write
        self._session: Session | None = None
        self._snapshot: PersonaSnapshot | None = None  # of the persona when this run began
        self._detach: Callable[[], None] | None = None
        self._disk_error: PersonaError | None = None  # what the disk said last in this run
        self._reading = (
            RLock()
        )  # of who opens or leaves a session: a message may come while a screen reads again
        self._is_held = False  # by a run

    @property
    def id(self) -> str | None:
        """The conversation's id, None before the first message."""
        return self._session.id if self._session else self._store.session_of(self._persona_id)

    @property
    def left_open(self) -> Sequence[ToolCallTurn]:
        """The calls that had no result when the conversation was read."""
        return self._session.left_open if self._session else ()

    @property
    def was_cut(self) -> bool:
        """Whether the program that answered last ended, or was left, in the middle of it."""
        session = self._session
        return session is not None and session.was_cut and not is_held(self._store, session.id)

    @property
    def turns_on_disk(self) -> list[Turn]:
        """The conversation as its log has it: a call that still waits for its answer has no result."""
        made_up = self._session.stand_ins if self._session else ()
        return [turn for turn in self._agent.turns if turn.id not in made_up]

    @property
    def persona_name(self) -> str:
        """The persona's name when the session began."""
        return self._env.seen.name

    @property
    def about(self) -> str:
        """What the personas are for, as it was said when the session began; empty where nobody said."""
        return self._env.seen.about or ""

    @property
    def about_by_owner(self) -> bool:
        """Whether the person's own settings said so, and not a file of the home."""
        return self._env.seen.about_by_owner

    @property
    def failure(self) -> PersonaError | None:
        """Why the log cannot be written, None where it has everything."""
        return self._session.failure if self._session is not None else None

    @property
    def jobs(self) -> Sequence[tuple[str, Mapping[str, Any]]]:
        """The records of jobs in what was read or written of the conversation, each with the turn it stands after."""
        return tuple(self._session.jobs) if self._session else ()

    @property
    def log(self) -> Session:
        """The log of the conversation that is open, for who holds it."""
        assert self._session is not None
        return self._session

    def mark_on_disk(self) -> Mark:
        """Return the mark as it is now: another than `mark` when others wrote, or began another conversation."""
        session_id = self._store.session_of(self._persona_id)
        if session_id is None and self._session is not None:
            session_id = self._session.id
        return session_id, size_on_disk(self._store, session_id)

    # -- reading it ------------------------------------------------------------------------------------

    def load(self) -> None:
        """Read the end of the current session, if the persona has one. Blocking; while a run holds it nothing is read.

        A session that cannot be used is said in `problems`; the next message then begins a new one. Where the disk
        still refuses what was said in the present one, that one stays.

        Raises:
            PersonaError: the persona is unknown, or the disk refuses; the present one stays.
        """
        self._store.get(self._persona_id)
        with self._reading:
            if self._is_held or self._refusal() is not None:
                return
            session_id = self._store.session_of(self._persona_id)
            session, problem = None, ""
            try:
                session = self._opened(session_id) if session_id is not None else None
            except (BrokenFile, InvalidValue, OutsideHome) as error:
                problem = f"The last conversation cannot be opened: {error} A new one begins."
            self.close()
            if session is not None:
                self._adopt(session)
            elif problem:
                self.problems, self.mark = [problem], self.mark_on_disk()

    def finish_writing(self) -> None:
        """Make sure that the disk has all of the present session, which then can be left. Blocking; idle only.

        Raises:
            StorageError: it still refuses what was said in it.
        """
        with self._reading:
            if (refusal := self._refusal()) is not None:
                raise StorageError(
                    f"This conversation stays open, not all of it could be saved yet: {refusal}"
                )

    def _refusal(self) -> PersonaError | None:
        """Try once more to write what the disk refused of the present session; return why it still has not all."""
        session = self._session
        if session is not None and session.has_unwritten:
            try:
                with session_lock(self._store, session.id):
                    session.write_left()
            except PersonaError as error:
                return error
            if session.has_unwritten:
                return session.failure
        return None

    def earlier(self) -> list[Turn]:
        """Return the turns before those the agent has, read from the disk when first asked for.

        Raises:
            PersonaError: they cannot be read.
        """
        return self._session.earlier() if self._session else []

    def begin_anew(self) -> str:
        """Begin a new session, link it and return its id; the old one stays on disk. Idle only.

        Raises:
            Busy: a run holds the old one.
            StorageError: the disk still refuses what was said in the old one.
            PersonaError: the persona is unknown, or the disk refuses.
        """
        with self._reading:
            if self._is_held:
                raise Busy("The agent is at work; stop it first.")
            self.finish_writing()
            session_id = start_session(self._store, self._persona_id)
            session = self._opened(session_id)
            self.close()
            self._adopt(session)
            return session_id

    def close(self) -> None:
        """Close the session's file and forget what was read, after one more try to write all of it. Blocking.

        Idle only.
        """
        with self._reading:
            self._refusal()
            self.detach()
            self._session = None
            self._agent.turns = ()
            self._agent.session_id = None
            self._env.seen, self._snapshot = KnownPersona(), None
            self.problems, self.mark = [], (None, -1)

    def _opened(self, session_id: str) -> Session:
        def fail(error: PersonaError) -> None:
            if self._session is session:  # a slow disk may say it when another conversation goes on
                self._fail(error)

        session = open_session(self._store, self._persona_id, session_id, fail, user_turns=self.sent_turns)
        return session

    def _adopt(self, session: Session) -> None:
        self._session, self._read_for = session, self.sent_turns
        self.mark = session.id, size_of(session)
        self._agent.session_id = self._env.session_id = session.id
        self._agent.turns = session.recent
        self._detach = session.attach(self._agent, self._may_write)
        self._env.seen = KnownPersona.load(self._store, session.id)
        self.problems = list(session.problems)

    def detach(self) -> None:
        """Record nothing more: on the disk the conversation stays as it is now."""
        if self._detach is not None:
            self._detach()
        self._detach = None
        if self._session is not None:
            self._session.close()

    def _fail(self, error: PersonaError) -> None:
        """The log cannot be written: stop, so that nothing happens that is not kept."""
        self._disk_error = error
        self._agent.abort(f"{_NOT_SAVED}: {error}")

    # -- one run ---------------------------------------------------------------------------------------

    def open_run(self, held: ExitStack) -> Persona:
        """Take the session's lock until `held` ends, and catch up with what others wrote; return the persona.

        Raises:
            Busy: another process is talking in this session.
            BrokenFile: the persona's file cannot be read.
            PersonaError: no such persona, or the disk refuses.
        """
        persona = self._store.get(self._persona_id)
        if (error := persona.error) is not None:
            raise broken_file(self._persona_id, error, is_readable=bool(persona.revision))
        with self._reading:
            self._disk_error, self._is_held = (
                None,
                False,
            )  # a run that was cancelled as it began let nothing go
            self._hold(held)
            self._is_held = True
            held.callback(self._let_go)
        with suppress(PersonaError):  # no message waits for a disk that refuses
            self._store.fix_version(self._persona_id)
        if not self._env.seen.name:
            self._env.seen.name = persona.name
        if self._env.seen.about is None:
            self._env.seen.about = self._read_about()
            self._env.seen.about_by_owner = bool(self.own_about)
        return persona

    def _read_about(self) -> str:
        try:
            return self.own_about or read_about(self._store.home)
        except PersonaError as error:
            self.problems.append(text_of(error))
            return ""

    def _let_go(self) -> None:
        self._is_held = False

    def _hold(self, held: ExitStack) -> None:
        """Lock the current session until `held` ends, read again where others wrote to it or more of it is sent now.

        What is read again may be another session, which others began, or none that can be opened: never is one
        written into under the lock of another.
        """
        while True:
            if self._session is None:
                self.load()  # others may have begun one
            if self._session is None:
                problems = self.problems
                self.begin_anew()
                self.problems = problems + self.problems
            session = self._session
            assert session is not None
            with ExitStack() as lock:
                lock.enter_context(session_lock(self._store, session.id))
                session.write_left()
                is_old = self.mark_on_disk() != self.mark or self.sent_turns > self._read_for
                if is_old and not session.has_unwritten:
                    self.load()
                if self._session is not None and self._session.id == session.id:
                    held.enter_context(lock.pop_all())
                    return

    def user_edits(self, persona: Persona) -> list[Turn]:
        """Return the turn that tells the agent what others changed in the persona since it last knew; none for nothing."""
        seen, session = self._env.seen, self._session
        assert session is not None
        self._snapshot = snapshot = PersonaSnapshot(self._store, persona)
        edits = snapshot.edits(seen, session.id) if seen.revision else []
        if not edits:
            return []
        turn, is_complete = user_edit_turn(edits)
        if is_complete:
            seen.refresh(persona)
        return [turn]

    def close_run(self) -> None:
        """Remember what the agent has seen."""
        session = self._session
        assert session is not None
        self.mark = session.id, -1 if self._detach is None else size_of(session)
        self.save_known()

    def why_not_saved(self, end: AgentEnd) -> PersonaError | None:
        """Return why the log has not all of a run that ended, or why that was stopped; None where neither is so.

        That the disk refused something for a moment, and has it now, is no reason.
        """
        if end.reason.startswith(_NOT_SAVED) or isinstance(
            self._disk_error, InvalidValue
        ):  # which is never tried again
            return self._disk_error
        return self.failure

    def save_known(self) -> None:
        """Remember what the agent has seen of the persona, so that only what others change is reported to it later.

        What they change while it works is reported with the next message, unless it has read it.
        """
        session, seen = self._session, self._env.seen
        if session is None:
            return
        for note in (self._refresh_known, partial(seen.save, self._store, session.id)):
            try:
                note()
            except PersonaError as error:
                # Forgetting costs one more reading; it must not turn a finished run into a failed one.
                self.problems.append(text_of(error))

    def _refresh_known(self) -> None:
        """Let what the agent heard of in this run count as known; all of it where it has read what was changed since."""
        session, seen, snapshot = self._session, self._env.seen, self._snapshot
        if session is None or snapshot is None:
            return
        seen.revision, seen.mark = snapshot.persona.revision, snapshot.mark
        now = PersonaSnapshot(self._store, self._store.get(self._persona_id))
        if (edits := now.edits(seen, session.id)) and now.is_known(edits, seen):
            seen.revision, seen.mark, self._snapshot = now.persona.revision, now.mark, now

    # -- calls that were left open ---------------------------------------------------------------------

    def settle(self, result: ToolResultTurn, *, makes_left_open: bool = False) -> None:
        """Answer a call of `left_open`; only from `RunSpec.prepare`.

        Args:
            result: of that call.
            makes_left_open: the calls beside it that never started are made in this run; else they never will be.

        Raises:
            InvalidValue: it is not open any more.
        """
        if self._session is not None:
            left = tuple(self._session.left_open)
            if makes_left_open:
                self.reopen(but=result.tool_use_id)
            self._session.settle(result)
            self._agent.turns = self._session.recent
            self.notify_settled(left)  # those beside it may have theirs now, too

    def reopen(self, *, but: str = "") -> None:
        """Have the calls of `left_open` that never started made in this run; only from `RunSpec.prepare`.

        Args:
            but: wire id of a call that is answered otherwise.
        """
        if self._session is not None:
            self._session.reopen_unstarted(but=but)
            self._agent.turns = self._session.recent
            self.makes_left_open = True

    def notify_settled(self, calls: Sequence[ToolCallTurn]) -> None:
        """Tell which results calls that were left open have now."""
        results = {turn.tool_use_id: turn for turn in self._agent.turns if isinstance(turn, ToolResultTurn)}
        for call in calls:
            if (result := results.get(call.tool_use_id)) is not None:
                self._on_settle(call, result)
