"""The session a chat talks in: held open, read again when others wrote to it, with what its model has seen.

Also the calls in it that an earlier program left open, and what becomes of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack

from agent.agent import Agent
from agent.error_text import text_of
from agent.hand_edits import Look, Seen, hand_edit_turn
from agent.session import Session
from agent.stored import is_held, open_session, session_lock, size_of, size_on_disk, start_session
from agent.tools.base import Desk
from agent.turns import ToolCallTurn, ToolResultTurn, Turn
from personas.errors import BrokenFile, InvalidValue, OutsideHome, PersonaError
from personas.persona import Persona
from personas.store import Store


class ChatSession:
    """The current session of a persona, and the agent that talks in it.

    Args:
        store: where the persona lives.
        persona_id: whose session.
        agent: gets the conversation, and is recorded.
        desk: gets what the model has seen of the persona.
        on_settle: called with a call that was left open, and the result it gets outside of a run.

    Attributes:
        problems: what is wrong with the conversation, one sentence each.
        size: the bytes of its file when it was last read or written here; -1 when it never was.
        failure: why the log could not be written in the last run, None where it could.
        rest_is_made: whether the calls beside one that was settled are made in this run.
    """

    def __init__(
        self,
        store: Store,
        persona_id: str,
        agent: Agent,
        desk: Desk,
        *,
        on_settle: Callable[[ToolCallTurn, ToolResultTurn], None],
    ) -> None:
        self.problems: list[str] = []
        self.size = -1
        self.failure: PersonaError | None = None
        self.rest_is_made = False
        self._store = store
        self._persona_id = persona_id
        self._agent = agent
        self._desk = desk
        self._on_settle = on_settle
        self._session: Session | None = None
        self._look: Look | None = None  # what the agent is told of in this run
        self._detach: Callable[[], None] | None = None

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
        return self._desk.seen.name

    def size_on_disk(self) -> int:
        """Return the bytes of the conversation's file now; another number than `size` when others wrote to it.

        -2 when others began another conversation, which is the current one now.
        """
        current = self._store.session_of(self._persona_id)
        if self._session is not None and current not in (None, self._session.id):
            return -2
        return size_on_disk(self._store, self.id)

    # -- reading it ------------------------------------------------------------------------------------

    def load(self) -> None:
        """Read the end of the current session, if the persona has one. Blocking; idle only.

        A session that cannot be used is said in `problems`; the next message then begins a new one. Where the disk
        still refuses what was said in the present one, that one stays.

        Raises:
            PersonaError: the persona is unknown, or the disk refuses.
        """
        self._store.get(self._persona_id)
        if not self._can_give_up():
            return
        self.close()
        session_id = self._store.session_of(self._persona_id)
        if session_id is None:
            return
        try:
            self._adopt(session_id)
        except (BrokenFile, InvalidValue, OutsideHome) as error:
            self.problems = [f"The last conversation cannot be opened: {error} A new one begins."]

    def _can_give_up(self) -> bool:
        """Whether the disk has all of the present session; what it refused before is tried once more."""
        session = self._session
        if session is not None and session.has_unwritten:
            try:
                with session_lock(self._store, session.id):
                    session.write_left()
            except PersonaError:
                return False
        return session is None or not session.has_unwritten

    def earlier(self) -> list[Turn]:
        """Return the turns before those the agent has, read from the disk when first asked for.

        Raises:
            PersonaError: they cannot be read.
        """
        return self._session.earlier() if self._session else []

    def begin_anew(self) -> str:
        """Begin a new session, link it and return its id; the old one stays on disk. Idle only.

        Raises:
            PersonaError: the persona is unknown, or the disk refuses.
        """
        session_id = start_session(self._store, self._persona_id)
        self.close()
        self._adopt(session_id)
        return session_id

    def close(self) -> None:
        """Close the session's file and forget what was read. Idle only."""
        self.detach()
        if self._session is not None:
            self._session.close()
        self._session = None
        self._agent.turns = ()
        self._agent.session_id = None
        self._desk.seen, self._look = Seen(), None
        self.problems = []

    def _adopt(self, session_id: str) -> None:
        def fail(error: PersonaError) -> None:
            if self._session is session:  # a slow disk may say it when another conversation goes on
                self._fail(error)

        session = open_session(self._store, self._persona_id, session_id, fail)
        self._session = session
        self.size = size_of(session)
        self._agent.session_id = self._desk.session_id = session.id
        self._agent.turns = session.recent
        self._detach = session.attach(self._agent)
        self._desk.seen = Seen.load(self._store, session.id)
        self.problems = list(session.problems)

    def detach(self) -> None:
        """Record nothing more: on the disk the conversation stays as it is now."""
        if self._detach is not None:
            self._detach()
        self._detach = None

    def _fail(self, error: PersonaError) -> None:
        """The log cannot be written: stop, so that nothing happens that is not kept."""
        self.failure = error
        self._agent.abort(f"the conversation cannot be saved: {error}")

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
            raise BrokenFile(
                f"The persona {self._persona_id} is broken: {error.message}; mend it with `persona edit "
                f"{self._persona_id}`",
                error.line,
                error.column,
            )
        self._hold(held)
        if not self._desk.seen.name:
            self._desk.seen.name = persona.name
        return persona

    def _hold(self, held: ExitStack) -> None:
        """Lock the current session until `held` ends, read again where others wrote to it.

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
                if not session.has_unwritten and self.size_on_disk() != self.size:
                    self.load()
                if self._session is not None and self._session.id == session.id:
                    held.enter_context(lock.pop_all())
                    return

    def hand_edits(self, persona: Persona) -> list[Turn]:
        """Return the turn that tells what others changed of the persona since the agent was told; none for nothing."""
        seen, session = self._desk.seen, self._session
        assert session is not None
        self._look = look = Look(self._store, persona)
        edits = look.edits(seen, session.id) if seen.revision else []
        if not edits:
            return []
        turn, tells_all = hand_edit_turn(edits)
        if tells_all:
            seen.look_again(persona)
        return [turn]

    def close_run(self) -> None:
        """Remember what the agent has seen."""
        session = self._session
        assert session is not None
        self.size = -1 if self._detach is None else size_of(session)
        self.note_seen()

    def note_seen(self) -> None:
        """Remember what the agent has seen of the persona, so that only what others change is told it later.

        What they change while it works is told it with the next message, unless it has read it.
        """
        session, seen = self._session, self._desk.seen
        if session is None:
            return
        try:
            if (told := self._look) is not None:
                seen.revision, seen.mark = told.persona.revision, told.mark
                now = Look(self._store, self._store.get(self._persona_id))
                if (edits := now.edits(seen, session.id)) and now.is_known(edits, seen):
                    seen.revision, seen.mark, self._look = now.persona.revision, now.mark, now
            seen.save(self._store, session.id)
        except PersonaError as error:
            # Forgetting costs one more reading; it must not turn a finished run into a failed one.
            self.problems.append(text_of(error))

    # -- calls that were left open ---------------------------------------------------------------------

    def settle(self, result: ToolResultTurn, *, rest_is_made: bool = False) -> None:
        """Answer a call of `left_open`; only from an assignment's `prepare`.

        Args:
            result: of that call.
            rest_is_made: the calls beside it that never started are made in this run; else they never will be.

        Raises:
            InvalidValue: it is not open any more.
        """
        if self._session is not None:
            left = tuple(self._session.left_open)
            if rest_is_made:
                self._session.reopen_unstarted(but=result.tool_use_id)
            self.rest_is_made = rest_is_made
            self._session.settle(result)
            self._agent.turns = self._session.recent
            self.tell_settled(left)  # those beside it may have theirs now, too

    def tell_settled(self, calls: Sequence[ToolCallTurn]) -> None:
        """Tell which results calls that were left open have now."""
        results = {turn.tool_use_id: turn for turn in self._agent.turns if isinstance(turn, ToolResultTurn)}
        for call in calls:
            if (result := results.get(call.tool_use_id)) is not None:
                self._on_settle(call, result)

    def begin_call(self, call: ToolCallTurn) -> None:
        """Note in the log that a call of `left_open` is about to act."""
        if self._session is not None:
            self._session.begin_left_open(call)
