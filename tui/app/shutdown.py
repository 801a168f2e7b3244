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

from textual.events import Paste

from tui.app.display import Appearance

if TYPE_CHECKING:
    from tui.app.signals import Guard

log = logging.getLogger(__name__)

T = TypeVar("T")

SETTLE = 0.4
"""Seconds that runs get to stop when the program ends."""

SAVE_WITHIN = 2.0
"""Seconds that saving and stopping get after a signal: what the home does not have by then is written elsewhere."""

ON_ITS_WAY = 0.2
"""Seconds that keys and a paste get after a signal to reach what they are for."""

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


class Ending(Appearance, inherit_bindings=False):
    """How the program ends."""

    fault_log: Path | None = None
    """Where the last fault is written down."""
    failure = ""
    """Why the program failed; empty where it did not."""
    guard: Guard | None = None
    """Watches for signals and a lost terminal."""
    last_words = ""
    """What to say when the terminal is back: where text is that the home could not take; empty for nothing."""
    _leaving: int | None = None  # with this code

    @property
    def main(self) -> Any:
        """The main screen."""
        return self.screen_stack[0]

    async def action_quit(self) -> None:
        """Leave as by the command: saved, and asked where something would be lost."""
        self.main.action_leave()

    def leave_by_signal(self, code: int) -> None:
        """Save and end; called in the loop by the guard."""
        self.external_editor.end(code - 128)
        self._leave_task = asyncio.ensure_future(self.leave(code))

    async def leave(self, code: int, *, given_up: Mapping[str, str] | None = None) -> None:
        """Save what can be saved, stop the runs, and end the program with `code`.

        A signal ends it also while it is already leaving by the command, which waits for a disk as long as it takes.

        Args:
            code: the exit code; 0 by the command.
            given_up: texts, by what they are, that no disk took and the person has agreed to lose.
        """
        if not self.external_editor.ending:
            await self.external_editor.closed()  # who writes in their editor is not cut short
        if self._leaving is not None and (self._leaving or not code):
            return
        self._leaving = code
        log.info("the program ends with code %d", code)
        if code:
            await self._take_what_came()
        self.main.return_typed_early()
        # A disk that hangs: what it does not have goes elsewhere while there is time.
        with suppress(TimeoutError):
            async with asyncio.timeout(SAVE_WITHIN if code else None):
                await self._save()
        if self._leaving != code:
            return  # a signal came meanwhile: that ends the program
        self._keep_elsewhere(given_up or {})
        if code and self.guard is not None and not self.failure:
            self._end_at_once(self.guard, code)
        self.exit(code, return_code=code)

    async def _take_what_came(self) -> None:
        """Let what was typed and pasted before the signal reach its place: of a paste, as far as it came."""
        from tui.terminal.textual_compat.input_parser import unfinished_paste

        paste = await unfinished_paste(lambda: self.guard is not None and self.guard.has_input)
        for _ in range(3):  # what the thread that reads has sent is a task of the loop before it is here
            await asyncio.sleep(0)
        if paste:
            self.post_message(Paste(paste))
        with suppress(TimeoutError):
            async with asyncio.timeout(ON_ITS_WAY):
                for part in (self, self.screen, self.focused) * 2:
                    if part is not None and part.is_running:
                        reached = asyncio.Event()
                        part.call_later(reached.set)
                        await reached.wait()

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
            if self._driver is not None:
                self._driver.stop_application_mode()
                self._driver.close()
        finally:
            for handler in logging.getLogger().handlers:
                handler.flush()
            guard.end(code)

    async def _save(self) -> None:
        """Save everything; a fault in one part is noted, and keeps nothing else from being saved, nor the end."""
        from tui.app.save_on_exit import save_before_exit, settle

        main, by_signal = self.main, bool(self._leaving)
        editing = main.documents
        self._note_begun()
        main.conversation.drafts.note()
        save = partial(save_before_exit, editing, FILES_WITHIN if by_signal else None)
        # Beside one another, and before the runs stop: either may take longer than there is time.
        await asyncio.gather(
            *map(self._try, [main.conversation.drafts.remember, *([save] if editing else [])])
        )
        for step in (
            lambda: asyncio.gather(main.conversation.stop_all(SETTLE), self.external_editor.give_up()),
            main.conversation.drafts.remember,
            partial(settle, editing) if editing and by_signal else partial(asyncio.sleep, 0),
        ):
            await self._try(step)

    async def _try(self, step: Callable[[], Awaitable[object]]) -> None:
        try:
            await step()
        except Exception as error:  # noqa: BLE001 - whatever it is, the program can be left
            await self._note_in_thread(error)
            if not self._leaving:  # what a signal ends keeps that signal's code
                self.failure = self.failure or f"unexpected {type(error).__name__}: {error}"

    def _note_begun(self) -> None:
        for screen in self.screen_stack:
            if (keep_begun := getattr(screen, "keep_begun", None)) is not None:
                keep_begun()

    async def tell_fault(self, error: Exception) -> None:
        """Say that something failed unexpectedly, and where the details are."""
        await self._note_in_thread(error)
        where = f"; details: {self.fault_log}" if self.fault_log else ""
        self.tell(f"That failed unexpectedly ({type(error).__name__}){where}", error=True)

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

    def _handle_exception(self, error: Exception) -> None:
        # What Textual would print is a traceback with local variables, and those hold people's texts.
        if not self.failure:
            self.failure = f"unexpected {type(error).__name__}: {error}"
            is_noted = self._within(NOTE_WITHIN, lambda: self.note_fault(error))
            if not (self._save_what_is_typed() and is_noted) and self.guard is not None:
                self.guard.end_soon(1)  # what hangs would be waited for
        super()._handle_exception(error)

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
                self.log(error)

        thread = threading.Thread(target=copy_context().run, args=(work,), name="last-saving", daemon=True)
        thread.start()
        thread.join(seconds)
        return not thread.is_alive()

    @property
    def told_at_the_end(self) -> str:
        """What is said when the terminal is back; empty for nothing."""
        details = f"details: {self.fault_log}" if self.failure and self.fault_log else ""
        return "; ".join(filter(None, (self.failure, details, self.last_words)))

    def _save_at_once(self) -> None:
        try:
            self._note_begun()
        finally:
            self.main.conversation.drafts.store_at_once()

    def _keep_elsewhere(self, given_up: Mapping[str, str]) -> None:
        """Write what the home does not have, and would be gone with the program, into a file outside of it.

        `given_up`: what the person has agreed to lose.
        """
        texts: dict[str, str] = {}
        self._note_begun()
        for find in (self._unsaved, self.main.conversation.drafts.nowhere_else):
            try:
                texts |= find()
            except Exception as error:  # noqa: BLE001 - the other texts are still to be kept
                self.log(error)
        texts = {what: text for what, text in texts.items() if given_up.get(what) != text}
        if texts:
            from tui.app.emergency_save import write_texts

            path = write_texts(texts)
            where = f"is in {path}" if path is not None else "is nowhere: no disk took it"
            self.last_words = f"what could not be saved {where}"

    def _unsaved(self) -> dict[str, str]:
        return {} if self.main.documents is None else self.main.documents.nowhere_else()

    def _print_error_renderables(self) -> None:
        self._exit_renderables.clear()
