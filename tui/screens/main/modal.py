"""How the main screen asks: dialogs, one at a time for what the person asked for in lists and commands."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

from textual.screen import Screen

from tui.widgets.plain_text import content

if TYPE_CHECKING:
    from tui.document.merge import Clash
    from tui.screens.dialogs.base import Dialog
    from tui.screens.main.screen import MainScreen
else:
    MainScreen = Any


class Asking(Screen[None]):
    """Dialogs over the main screen."""

    _before_dialog: asyncio.Task[Any] | None = None

    @property
    def _main(self) -> MainScreen:
        return self  # type: ignore[return-value]

    def lead(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Do what leads elsewhere: what is pressed from now on waits until it is there."""
        task = self._main.start(work)
        self._main.program.ways.begin(task)
        return task

    def led_nowhere(self) -> None:
        """What the person asked for is not done, which is told: what was typed for it comes back."""
        self._main.program.ways.fail()

    def lists_go_on(self) -> None:
        """Rows are being deleted: what is pressed on them meanwhile is for what is seen, not for the rows that come up."""
        self._main.program.ways.lists_go_on()

    async def ask(self, dialog: Dialog[Any], *, leads: bool = True) -> Any:
        """Show a dialog and return its answer, None when it was closed.

        What is pressed behind an answer waits until the task that asks is done with it, or asks on; not where it does
        not lead anywhere (`leads`).
        """
        ways, task = self._main.program.ways, asyncio.current_task()
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        if leads:
            ways.arrive(dialog)
            dialog.leads = lambda: ways.begin(task)
        self.app.push_screen(dialog, lambda result: None if answer.done() else answer.set_result(result))
        try:
            return await answer
        finally:
            self._asked()

    async def alone(self, deed: Coroutine[Any, Any, Any]) -> Any:
        """Do what waits for the disk before it asks something; return what it gives, None where it is not begun.

        On a slow disk its key may be pressed again, or another's: two dialogs would lie one over the other, and the
        lower one would not know what was written in the upper. So none begins before the last one has its answer.
        """
        if self._before_dialog is not None:
            deed.close()
            self._main.tell("Not begun: what you asked for before still waits for the disk.")
            self.led_nowhere()
            return None
        self._before_dialog = asyncio.current_task()
        try:
            return await deed
        finally:
            self._asked()

    def _asked(self) -> None:
        if self._before_dialog is asyncio.current_task():
            self._before_dialog = None

    async def choose(self, clash: Clash, ours: str, theirs: str, told: str = "") -> str | None:
        """Let the person choose between two texts; `told`: what was said of it, which goes."""
        from tui.screens.dialogs.conflict import ChooseText

        self._main.program.take_back(lambda message: message == content(told).plain)
        chosen: str | None = await self.ask(ChooseText(clash, ours=ours, theirs=theirs))
        return chosen
