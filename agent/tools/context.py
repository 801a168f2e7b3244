"""The environment of tools: the persona, the author, how a write gets to the disk, and how results are phrased."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

from agent.core.cancellation import retrieve
from agent.core.tool import ToolContext, ToolOutput
from agent.core.tool_execution import NOT_RUN
from agent.transcript.user_edits import KnownPersona
from personas.conflict_marks import require_kept
from personas.document import LONGEST_WAIT
from personas.dry_run_store import DryRunStore
from personas.errors import BrokenFile, Conflict, PersonaError
from personas.persona import Persona
from personas.versions.authorship import REQUEST_LIMIT, Author
from personas.versions.merge import count, unified_diff

if TYPE_CHECKING:
    from personas.changes import Change
    from personas.store import Store
    from personas.versions.authorship import Undone

T = TypeVar("T")

NOTHING_CHANGED = "Cancelled while reading: nothing was changed."
"""The result of a call that only reads, when it is cut."""

LONGEST_DIFF = 4_000
"""Characters of a diff that go to the model; the whole diff stays in the details."""


WHOLE = 40_000_000
"""Characters of an output that is never cut: half of a prompt is worse than none, and a file has its own limit."""
ATTEMPTS = 8
"""How often a change is made again because somebody else wrote first."""
PAUSE = 0.02
"""Seconds between two looks whether it still does."""


SETTLES_WITHIN = 2.0
"""Seconds for which a stop waits for a write that has begun, so that its result says what was done."""


class NotWritten(PersonaError):
    """The call was cancelled before anything of it was written, and nothing will be."""

    def __init__(self) -> None:
        super().__init__(NOT_RUN)


class WriteQueue(Protocol):
    """Runs a blocking write in a thread, and to its end even if whoever waits for it is cancelled.

    Args:
        function: the write.
        then: called on the loop with what it returned, before anything else is written.
    """

    async def __call__(self, function: Callable[[], T], then: Callable[[T], object]) -> T: ...


async def write_in_thread(function: Callable[[], T], then: Callable[[T], object]) -> T:
    """Run a write as `WriteQueue` does, for a program in which nobody else writes."""
    writing = asyncio.ensure_future(asyncio.to_thread(function))

    def notify(done: asyncio.Future[T]) -> None:
        if not done.cancelled() and done.exception() is None:
            then(done.result())

    writing.add_done_callback(notify)
    return await asyncio.shield(writing)


class PendingWrite:
    """The writing of one tool call.

    Attributes:
        is_cancelled: whether the call was cancelled; nothing further is to be written then.
    """

    def __init__(self, writes: WriteQueue) -> None:
        self.is_cancelled = False
        self._writes = writes
        self._lock = threading.Lock()
        self._has_begun = self._is_off = False
        self._task: asyncio.Task[Any] | None = (
            None  # the call's own, which may be cancelled and not know it yet
        )

    def begin(self) -> None:
        """In the thread, right before the disk is changed: from now on it is done to the end.

        Raises:
            NotWritten: the call was cancelled before.
        """
        with self._lock:
            if self._is_off or (self._task is not None and self._task.cancelling()):
                raise NotWritten
            self._has_begun = True

    async def run(self, function: Callable[[], T], then: Callable[[T], object]) -> T:
        """Run a write, which calls `begin`, and return what it returns, also when cancelled after it has begun.

        Raises:
            NotWritten: the call was cancelled before that.
            Exception: what `function` raised.
        """
        self._has_begun = False
        self._task = asyncio.current_task()
        writing: asyncio.Task[T] = asyncio.create_task(self._write(function, then))
        writing.add_done_callback(retrieve)
        while True:
            try:
                return await asyncio.shield(writing)
            except asyncio.CancelledError:
                if self.is_cancelled or writing.cancelled():
                    raise  # cancelled twice: nobody waits for it any more, and it goes on by itself
                self.is_cancelled = True
                if self._call_off():
                    writing.cancel()
                    raise NotWritten from None

    async def _write(self, function: Callable[[], T], then: Callable[[T], object]) -> T:
        return await self._writes(function, then)

    def _call_off(self) -> bool:
        """Keep it from beginning; return whether that was in time."""
        with self._lock:
            self._is_off = not self._has_begun
            return self._is_off


class StaleText(Conflict):
    """The model wants to replace a text that was changed since it last read it.

    Args:
        message, base, ours, theirs: as in `Conflict`.
        quotes_text: whether the message has the text that is there now.
    """

    def __init__(self, message: str, *, base: str, ours: str, theirs: str, quotes_text: bool = False) -> None:
        super().__init__(message, base=base, ours=ours, theirs=theirs)
        self.quotes_text = quotes_text


@dataclass(frozen=True, slots=True)
class WriteResult:
    """What a tool has made of a persona.

    Attributes:
        persona: as it is then.
        unit: by what the change is undone, see `Author.run_id`.
    """

    persona: Persona
    unit: str | None


class JobControls(Protocol):
    """What the control tools act on: the job that runs."""

    async def ask_user(self, text: str, options: Sequence[str], ctx: ToolContext) -> str:
        """Put a question with its options to the person and return the answer, however long that takes."""

    def note_update(self, text: str) -> None:
        """Report something on the way."""

    async def become_task(self) -> str:
        """Make the job a task; return how to work on it."""


class OutputControls(Protocol):
    """Runs the persona's test inputs; what comes back is data for the model.

    Attributes:
        store: where the persona is read.
    """

    store: Store

    def asks_first(self, ids: Sequence[str]) -> bool:
        """Return whether a run of these inputs, all where none is named, is so large that the person is asked."""

    async def run(self, ids: Sequence[str], samples: int | None, version: int | str | None) -> Any:
        """Run what has no fresh output; return verdicts and outputs."""

    async def output(self, output_id: str) -> Any:
        """Return one stored output whole."""

    async def compare(self, a: int | str, b: int | str | None) -> Any:
        """Compare two versions, running what is missing."""


@dataclass
class ToolEnvironment:
    """What the tools of one session act on: one persona, who acts, and how a write is made.

    A text that is to be replaced as a whole must be the one the model last read or wrote; one it never read may be
    replaced, but not what somebody writes there during the call.

    Attributes:
        store: where the persona lives.
        persona_id: which one; tools cannot reach another.
        session_id: whose session writes, for the versions.
        unit: changes are undone together under this name instead of run by run, None: run by run.
        request: what the person asked for in this run, for the versions.
        on_change: called after each write with what it made, before anybody else of the program writes; also of a write
            that ends after its call was given up.
        writes: how a write gets its turn and its thread.
        seen: what the model has seen of the persona.
        on_keep: called when the agent asks for its output to stay.
        job: what the control tools act on.
        outputs: what the tools on outputs act on.
    """

    store: Store
    persona_id: str
    session_id: str | None = None
    unit: str | None = None
    request: str = ""
    on_change: Callable[[WriteResult], None] = field(default=lambda _written: None)
    writes: WriteQueue = write_in_thread
    seen: KnownPersona = field(default_factory=KnownPersona)
    on_keep: Callable[[], None] = field(default=lambda: None)
    job: JobControls = field(default=cast("JobControls", None))
    outputs: OutputControls | None = None

    async def read(self) -> Persona:
        """Return the persona as it is on disk now.

        Raises:
            BrokenFile: its file was damaged meanwhile.
            PersonaError: it is gone, or the disk refuses.
        """
        return await asyncio.to_thread(self._read)

    def _read(self) -> Persona:
        """`read`, blocking."""
        persona = self.store.get(self.persona_id)
        if (error := persona.error) is not None:
            raise BrokenFile(f"The persona's file is broken: {error.message}", error.line, error.column)
        return persona

    def author(self, ctx: ToolContext) -> Author:
        """Return who a change of this call is by: one unit per run."""
        return Author(
            "agent",
            session_id=ctx.session_id or self.session_id,
            run_id=self.unit or ctx.run_id,
            request=self.request[:REQUEST_LIMIT] or None,
        )

    async def wait_unlocked(self) -> None:
        """Wait until no other program writes the persona; what waits in the store for that cannot be called off.

        Raises:
            Busy: one has been writing it for seconds.
        """
        clock = asyncio.get_running_loop().time
        end = clock() + LONGEST_WAIT
        while (pid := await asyncio.to_thread(self.store.writer, self.persona_id)) is not None:
            if clock() >= end:
                raise self.store.file(self.persona_id).busy(pid)
            await asyncio.sleep(PAUSE)

    async def write(
        self,
        change: Change,
        ctx: ToolContext,
        reason: str,
        *,
        check: Callable[[Persona], None] = lambda _persona: None,
    ) -> tuple[Persona, Persona]:
        """Make one change on fresh data; return the persona before and after it.

        Args:
            change: what to do.
            ctx: of the call.
            reason: for the log.
            check: called in a thread with the very persona that would be changed; raises where it must not be.

        Raises:
            NotWritten: cancelled before anything was written. Cancelled later it is done to the end.
            Busy: another program has been writing it for seconds.
            Conflict: somebody kept writing between our reading and our writing.
            PersonaError: the value, the file or `check` does not allow it.
        """
        by = self.author(ctx)

        def make(writing: PendingWrite) -> tuple[Persona, Persona]:
            before = self._read()
            check(before)
            if before.note is not None:
                require_kept(before.texts, DryRunStore(self.store).change(self.persona_id, change).texts)
            writing.begin()
            return before, self.store.change(
                self.persona_id, change, revision=before.revision, by=by, reason=reason
            )

        return await self._write(make, lambda pair: WriteResult(pair[1], by.run_id))

    async def change_documents(
        self,
        function: Callable[[Author], dict[str, Any]],
        ctx: ToolContext,
        *,
        check: Callable[[Persona], None] = lambda _persona: None,
        subject: str = "the library",
    ) -> dict[str, Any]:
        """Make a change of any document, as a part of the run's unit of undo; return what the function returns.

        Args:
            function: makes the change in a thread, by the author it is given; its result names the document by `id`.
            ctx: of the call.
            check: as in `write`.
            subject: what is changed, for the log of the persona.

        Raises:
            PersonaError: as `write`.
        """
        by = self.author(ctx)

        def make(writing: PendingWrite) -> tuple[dict[str, Any], Persona | None]:
            check(self._read())
            writing.begin()
            done = function(by)
            if done["id"] == self.persona_id:
                return done, self._read()
            with suppress(PersonaError):  # it is done, and can be undone from where it was done
                self.store.note_unit(self.persona_id, by=by, subject=subject, reason=f"agent: {subject}")
            return done, None

        made = await self._write(
            make, lambda made: WriteResult(made[1], by.run_id) if made[1] is not None else None
        )
        return made[0]

    async def undo(self, ctx: ToolContext) -> tuple[Persona, Undone]:
        """Undo the last unit; return the persona before it, and what was undone.

        Raises:
            NothingToUndo: no unit is left.
            PersonaError: as `write`.
        """
        by = self.author(ctx)

        def make(writing: PendingWrite) -> tuple[Persona, Undone]:
            before = self._read()
            writing.begin()
            return before, self.store.undo(self.persona_id, by=by)

        return await self._write(make, lambda pair: WriteResult(pair[1].persona, by.run_id), attempts=1)

    async def _write(
        self,
        make: Callable[[PendingWrite], T],
        written: Callable[[T], WriteResult | None],
        attempts: int = ATTEMPTS,
    ) -> T:
        """Make a blocking write once nobody else writes, and call `on_change`; return what it returned."""
        writing = PendingWrite(self.writes)

        def notify(made: T) -> None:
            if (what := written(made)) is not None:
                self.on_change(what)

        # A change touches its own value only, so it may be made again on what somebody else has just written.
        while True:
            attempts -= 1
            try:
                await self.wait_unlocked()
            except asyncio.CancelledError:
                raise NotWritten from None
            try:
                return await writing.run(lambda: make(writing), notify)
            except Conflict as error:
                if isinstance(error, StaleText) or not attempts or writing.is_cancelled:
                    raise


def as_json(value: Any) -> str:
    """Return JSON text for the model, non-ASCII kept as it is (lone surrogates escaped)."""
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace").decode("utf-8")


def confirm(sentence: str, old: str, new: str) -> ToolOutput:
    """Return the result of a write: one sentence and the diff, with the counts for the screen."""
    if old == new:
        return ToolOutput(
            output=f"{sentence} It was already so; nothing was written.", details={"added": 0, "removed": 0}
        )
    diff = unified_diff(old, new, "before", "after")
    added, removed = count(old, new)
    shown = (
        diff
        if len(diff) <= LONGEST_DIFF
        else diff[:LONGEST_DIFF] + f"\n… ({len(diff) - LONGEST_DIFF} more characters)"
    )
    return ToolOutput(
        output=f"{sentence}\n{shown}", details={"diff": diff, "added": added, "removed": removed}
    )


def fail(error: Exception, *, reader: str) -> ToolOutput:
    """Return an error result in words the model can act on; `reader` is the tool that reads what it is about."""
    advice = ""
    if isinstance(error, StaleText) and error.quotes_text:
        advice = " Make your change to what is there now."
    elif isinstance(error, Conflict):
        advice = f" Read it again with {reader}, then make your change to what is there now."
    return ToolOutput(output=f"{error}{advice}", is_error=True)
