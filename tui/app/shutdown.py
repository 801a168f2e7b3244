"""The end of the program, by command, by a signal, by a lost terminal or by a fault: what is typed is saved first."""

from __future__ import annotations

import asyncio
import logging
import threading
import traceback
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from personas.errors import PersonaError

if TYPE_CHECKING:
    from tui.app.app import PersonaApp
    from tui.app.signals import Guard
    from tui.document.controller import DocumentController

log = logging.getLogger(__name__)

T = TypeVar("T")

SETTLE = 0.4
"""Seconds that runs get to stop when the program ends."""

SAVE_WITHIN = 2.0
"""Seconds that saving and stopping get after a signal: what the home does not have by then is written elsewhere."""

FILES_WITHIN = 0.3
"""Seconds that the files get after a signal to take what the home has kept: else the next start stores it."""

THREADS_WITHIN = 0.3
"""Seconds that threads get, when everything is saved, to end what else they do."""

NOTE_WITHIN = 2.0
"""Seconds that a disk gets to take the log of a fault before the fault is told without it."""


async def load(function: Callable[..., T], *arguments: Any) -> T:
    """Run what loads modules and changes nothing, in a thread that the end of the program does not wait for."""
    done: Future[T] = Future()

    def work() -> None:
        try:
            done.set_result(function(*arguments))
        except BaseException as error:  # noqa: BLE001 - raised where it is waited for
            done.set_exception(error)

    threading.Thread(target=copy_context().run, args=(work,), name="loading", daemon=True).start()
    return await asyncio.wrap_future(done)


class Shutdown:
    """How a program ends: everything is saved first, and what no disk takes goes into a file elsewhere.

    Attributes:
        guard: watches for signals and a lost terminal; None in a test.
        failure: why the program failed; empty where it did not.
        fault_log: where the last fault is written down.
        last_words: what to say when the terminal is back: where text is that the home could not take; empty for nothing.
    """

    def __init__(self, app: PersonaApp) -> None:
        self._app = app
        self.guard: Guard | None = None
        self.failure = ""
        self.fault_log: Path | None = None
        self.last_words = ""
        self._leaving: int | None = None  # with this code

    def by_signal(self, code: int) -> None:
        """Save and end; called in the loop by the guard."""
        self._app.external_editor.end(code - 128)
        self._leave_task = asyncio.ensure_future(self.leave(code))

    async def leave(self, code: int, *, given_up: Mapping[str, str] | None = None) -> None:
        """Save what can be saved, stop the runs, and end the program with `code`.

        A signal ends it also while it is already leaving by the command, which waits for a disk as long as it takes.

        Args:
            code: the exit code; 0 by the command.
            given_up: texts, by what they are, that no disk took and the person has agreed to lose.
        """
        if not self._app.external_editor.ending:
            await self._app.external_editor.closed()  # who writes in their editor is not cut short
        if self._leaving is not None and (self._leaving or not code):
            return
        self._leaving = code
        log.info("the program ends with code %d", code)
        self._app.main.return_early_input()
        # A disk that hangs: what it does not have goes elsewhere while there is time.
        with suppress(TimeoutError):
            async with asyncio.timeout(SAVE_WITHIN if code else None):
                await self._save()
        if self._leaving != code:
            return  # a signal came meanwhile: that ends the program
        self._keep_elsewhere(given_up or {})
        if code and self.guard is not None and not self.failure:
            self._end_at_once(self.guard, code)
        self._app.exit(code, return_code=code)

    async def without_home(self, error: Exception) -> None:
        """The home cannot be opened: keep elsewhere what was written meanwhile, and end the program."""
        if isinstance(error, PersonaError):
            self.failure = str(error)
        else:
            await self._note_in_thread(error)
            self.failure = _unexpected(error)
        self._app.main.return_early_input()
        self._keep_elsewhere({})
        self._app.exit(1, return_code=1)

    def _end_at_once(self, guard: Guard, code: int) -> None:
        """All is saved: let threads end what they do, give the terminal back and end the process.

        To take down the screen first, and then Python with all that was loaded, takes longer than all of this.
        """
        executor = getattr(asyncio.get_running_loop(), "_default_executor", None)
        if executor is not None:
            waiting = threading.Thread(target=executor.shutdown, name="last-threads", daemon=True)
            waiting.start()
            waiting.join(THREADS_WITHIN)
        try:
            self._app.leave_terminal()
        finally:
            for handler in logging.getLogger().handlers:
                handler.flush()
            guard.end(code)

    async def _save(self) -> None:
        """Save everything; a fault in one part is noted, and keeps nothing else from being saved, nor the end."""
        main, by_signal = self._app.main, bool(self._leaving)
        editing = main.documents
        self._note_begun()
        main.conversation.drafts.note()
        save = partial(_save_documents, editing, FILES_WITHIN if by_signal else None)
        # Beside one another, and before the runs stop: either may take longer than there is time.
        await asyncio.gather(*map(self._try, [main.remember, *([save] if editing else [])]))
        for step in (
            lambda: asyncio.gather(main.conversation.stop_all(SETTLE), self._app.external_editor.give_up()),
            main.remember,
            partial(_settle, editing) if editing and by_signal else partial(asyncio.sleep, 0),
        ):
            await self._try(step)

    async def _try(self, step: Callable[[], Awaitable[object]]) -> None:
        try:
            await step()
        except Exception as error:  # noqa: BLE001 - whatever it is, the program can be left
            await self._note_in_thread(error)
            if not self._leaving:  # what a signal ends keeps that signal's code
                self.failure = self.failure or _unexpected(error)

    def _note_begun(self) -> None:
        for screen in self._app.screen_stack:
            if (keep_begun := getattr(screen, "keep_begun", None)) is not None:
                keep_begun()

    async def show_fault(self, error: Exception) -> None:
        """Say that something failed unexpectedly, and where the details are."""
        await self._note_in_thread(error)
        where = f"; details: {self.fault_log}" if self.fault_log else ""
        self._app.show_message(f"That failed unexpectedly ({type(error).__name__}){where}", error=True)

    async def _note_in_thread(self, error: Exception) -> None:
        self.fault_log = None
        with suppress(TimeoutError):
            await asyncio.wait_for(asyncio.to_thread(self.note_fault, error), NOTE_WITHIN)

    def note_fault(self, error: BaseException) -> None:
        """Write a fault, without secrets, to a log file. Blocking."""
        from tui.app.emergency_save import write_fault
        from tui.terminal.secrets import redact

        text = "".join(traceback.format_exception(error))
        log.error("unexpected: %s", text)
        self.fault_log = write_fault(redact(text))

    def by_fault(self, error: Exception) -> None:
        """The program fails: note why, and save what can be saved."""
        if not self.failure:
            self.failure = _unexpected(error)
            is_logged = self._within(NOTE_WITHIN, lambda: self.note_fault(error))
            if not (self._save_what_is_typed() and is_logged) and self.guard is not None:
                self.guard.end_soon(1)  # what hangs would be waited for

    def _save_what_is_typed(self) -> bool:
        """Save what can be saved although the program fails; return whether no disk hung."""
        is_saved = self._within(SAVE_WITHIN, self._save_at_once)
        is_kept = self._within(SAVE_WITHIN, lambda: self._keep_elsewhere({}))
        return is_saved and is_kept

    def _within(self, seconds: float, call: Callable[[], object]) -> bool:
        """Do something that blocks; return whether it came to an end, be it by a fault, in that time.

        It may look at widgets: the loop waits here as long.
        """

        def work() -> None:
            try:
                call()
            except Exception as error:  # noqa: BLE001 - the first fault may have broken what this needs
                self._app.log(error)

        thread = threading.Thread(target=copy_context().run, args=(work,), name="last-saving", daemon=True)
        thread.start()
        thread.join(seconds)
        return not thread.is_alive()

    @property
    def closing_message(self) -> str:
        """What is said when the terminal is back; empty for nothing."""
        details = f"details: {self.fault_log}" if self.failure and self.fault_log else ""
        return "; ".join(filter(None, (self.failure, details, self.last_words)))

    def _save_at_once(self) -> None:
        try:
            self._note_begun()
        finally:
            self._app.main.conversation.drafts.store_at_once()

    def _keep_elsewhere(self, given_up: Mapping[str, str]) -> None:
        """Write what the home does not have, and would be gone with the program, into a file outside of it.

        `given_up`: what the person has agreed to lose.
        """
        texts: dict[str, str] = {}
        self._note_begun()
        for find in (self._unsaved, self._app.main.conversation.drafts.memory_only):
            try:
                texts |= find()
            except Exception as error:  # noqa: BLE001 - the other texts are still to be kept
                self._app.log(error)
        texts = {what: text for what, text in texts.items() if given_up.get(what) != text}
        if texts:
            from tui.app.emergency_save import write_texts

            path = write_texts(texts)
            where = f"is in {path}" if path is not None else "could not be saved anywhere"
            self.last_words = f"unsaved text {where}"

    def _unsaved(self) -> dict[str, str]:
        return {} if self._app.main.documents is None else self._app.main.documents.memory_only()


def _unexpected(error: Exception) -> str:
    return f"unexpected {type(error).__name__}: {error}"


async def _save_documents(controller: DocumentController, within: float | None = None) -> None:
    """Store what can be stored of the documents, and keep the rest as drafts.

    An unexpected fault in the storing is raised at the end.

    Args:
        controller: of the documents.
        within: seconds that the files get to take what is kept as a draft already; None for as long as they take.
    """
    flushing = asyncio.ensure_future(controller.flush())
    flushing.add_done_callback(lambda done: done.cancelled() or done.exception())
    keeping = asyncio.ensure_future(load(controller.unsaved.write))  # in a thread that hangs with no other
    try:
        await asyncio.wait({keeping, flushing}, return_when=asyncio.FIRST_COMPLETED)
        is_kept = keeping.done() and not controller.unsaved.memory_only()
        await asyncio.wait({flushing}, timeout=within if is_kept else None)
    except asyncio.CancelledError:
        flushing.cancel()
        raise
    if flushing.done() or controller.unsaved.memory_only():
        await load(controller.unsaved.write)
    if flushing.done() and not flushing.cancelled():
        fault = flushing.exception()
        if fault is not None and not isinstance(fault, PersonaError):  # those are said on the screen already
            raise fault


async def _settle(controller: DocumentController) -> None:
    """Wait until nothing is being written, unless that is kept already, and leave what is to the next program."""
    if not controller.saver.queue:
        await controller.workspace.settled()
    await load(controller.unsaved.store.close)
