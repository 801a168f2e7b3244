"""The end of the program, by command, by a signal, by a lost terminal or by a fault: what is typed is saved first."""

from __future__ import annotations

import asyncio
import traceback
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tui.appearance import Appearance

if TYPE_CHECKING:
    from tui.signals import Guard

SETTLE = 0.4
"""Seconds that runs get to stop when the program ends."""

SAVE_WITHIN = 2.0
"""Seconds that saving and stopping get after a signal: what the home does not have by then is written elsewhere."""


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
    _leaving = False

    @property
    def main(self) -> Any:
        """The main screen."""
        return self.screen_stack[0]

    async def action_quit(self) -> None:
        """Leave as by the command: saved, and asked where something would be lost."""
        self.main.action_leave()

    def leave_by_signal(self, code: int) -> None:
        """Save and end; called in the loop by the guard."""
        self.lending.ask_to_end(code - 128)
        self._leave_task = asyncio.ensure_future(self.leave(code))

    async def leave(self, code: int) -> None:
        """Save what can be saved, stop the runs, and end the program with `code`."""
        if not self.lending.ending:
            await self.lending.over()  # who writes in their editor is not cut short
        if self._leaving:
            return
        self._leaving = True
        # A disk that hangs: what it does not have goes elsewhere while there is time.
        with suppress(TimeoutError):
            async with asyncio.timeout(SAVE_WITHIN if code else None):
                await self._save()
        self._keep_elsewhere(with_unsaved=bool(code))  # who left by the command was asked about that
        self.exit(code, return_code=code)

    async def _save(self) -> None:
        main = self.main
        if main.editing is not None:
            await main.editing.last.save()
        await main.conversing.remember()  # before the runs stop: they may take longer than there is time
        await asyncio.gather(main.conversing.stop_all(SETTLE), self.lending.give_up())
        await main.conversing.remember(last=True)

    def note_fault(self, error: BaseException) -> None:
        """Write a fault, without secrets, to a log file."""
        from tui.last_resort import write_fault
        from tui.secret_text import redact

        text = "".join(traceback.format_exception(error))
        self.fault_log = write_fault(redact(text))

    def _handle_exception(self, error: Exception) -> None:
        # What Textual would print is a traceback with local variables, and those hold people's texts.
        if not self.failure:
            self.note_fault(error)
            self.failure = f"unexpected {type(error).__name__}: {error}"
            self._save_what_is_typed()
        super()._handle_exception(error)

    def _save_what_is_typed(self) -> None:
        for save in (self._save_at_once, lambda: self._keep_elsewhere(with_unsaved=True)):
            try:
                save()
            except Exception as error:  # noqa: BLE001 - the first fault may have broken what this needs
                self.log(error)

    def _save_at_once(self) -> None:
        main = self.main
        try:
            if main.editing is not None:
                main.editing.last.save_at_once()
        finally:
            main.conversing.remember_at_once()

    def _keep_elsewhere(self, *, with_unsaved: bool) -> None:
        """Write what the home does not have, and would be gone with the program, into a file outside of it.

        `with_unsaved`: also what belongs in the persona's file.
        """
        main = self.main
        texts: dict[str, str] = {}
        if with_unsaved and main.editing is not None:
            texts |= main.editing.last.nowhere()
        texts |= main.conversing.not_on_disk()
        for screen in self.screen_stack:
            if (keep_begun := getattr(screen, "keep_begun", None)) is not None and (text := keep_begun()):
                texts["begun in a dialog"] = text
        if texts:
            from tui.last_resort import write_texts

            path = write_texts(texts)
            where = f"is in {path}" if path is not None else "is nowhere: no disk took it"
            self.last_words = f"what could not be saved {where}"

    def _print_error_renderables(self) -> None:
        self._exit_renderables.clear()
