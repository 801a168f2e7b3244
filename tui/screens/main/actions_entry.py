"""The way from the main screen to the actions, what is said there of their runs, and the runs of this program."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from tui.screens.main.persona_actions import NOT_READ

if TYPE_CHECKING:
    from tui.app.host import Host
    from tui.chat.controller import ConversationController
    from tui.screens.actions.controller import ActionsController
    from tui.screens.actions.runner import ActionRunner
    from tui.screens.main.persona_view import PersonaView
    from tui.screens.version_actions import VersionActions
    from tui.widgets.run_strip import RunStrip


class ActionsEntry:
    """Opens the actions, and says in the strip what became of their runs.

    Args:
        host: the main screen.
        view: shows the open persona.
        strip: says what became of runs.
        conversation: shows conversations of the open persona.
        versions: shows proposals for it.
    """

    def __init__(
        self,
        host: Host,
        view: PersonaView,
        strip: RunStrip,
        conversation: ConversationController,
        versions: VersionActions,
    ) -> None:
        self._host, self._view, self._strip = host, view, strip
        self._conversation, self._versions = conversation, versions
        self.controller: ActionsController | None = None
        """What is open there; None before it is opened first."""
        self._runner: ActionRunner | None = None
        self._stamps: object = ()

    @property
    def running(self) -> list[str]:
        """The ids of the actions that are at work in this program."""
        return self._runner.running if self._runner is not None else []

    def stop_last(self) -> None:
        """Stop the run that was begun last."""
        if self._runner is not None:
            self._runner.stop_last()

    async def close(self) -> None:
        """Stop all runs of this program."""
        if self._runner is not None:
            await self._runner.close()

    def action_actions(self) -> None:
        if (documents := self._view.documents) is None:
            self._host.show_message(NOT_READ)
            return
        if self.controller is None:
            from tui.screens.actions.controller import ActionsController
            from tui.screens.actions.runner import ActionRunner

            self._runner = ActionRunner(self._host, documents.workspace.store, self._runs_changed)
            self.controller = ActionsController(
                self._host,
                documents,
                self._runner,
                self._view.open_persona,
                self._conversation,
                self._versions,
            )
        self.controller.open_actions()

    def _runs_changed(self) -> None:
        self._host.start_once(self.look)
        self._host.show_keys()

    async def look(self) -> None:
        """Say what became of runs since the person last saw them, of this program or another one."""
        if (documents := self._view.documents) is None:
            return
        home = documents.workspace.store.home
        counted = ""
        if await asyncio.to_thread((home.state / "actions").is_dir):
            from agent.actions import run_log

            stamps = (await asyncio.to_thread(run_log.stamps, home), self.running)
            if stamps == self._stamps:
                return
            self._stamps = stamps
            unseen = await asyncio.to_thread(run_log.unseen, home)
            counts = ((len(self.running), "at work"), (unseen.waiting, "waiting for you"),
                      (unseen.finished, "done"), (unseen.failed, "failed or stopped"))  # fmt: skip
            counted = ", ".join(f"{count} {word}" for count, word in counts if count)
        is_open = self.controller is not None and self.controller.is_open
        self._strip.show_note(f"Actions: {counted} · /actions" if counted and not is_open else "")
