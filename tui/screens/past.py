"""What was said before, or elsewhere: older turns of the conversation, a new conversation, and the way back from one."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from tui.screens.running_note import Trace
from tui.screens.tasking import Tasking

if TYPE_CHECKING:
    from tui.screens.main import MainScreen


class Past(Tasking):
    """The past of the open persona's conversation."""

    def __init__(self, screen: MainScreen) -> None:
        super().__init__(screen)
        self._trace = Trace()
        self._catching_up = False
        self._cleared: dict[str, str | None] = {}

    async def load_older(self) -> None:
        """The person has come to the top: show the turns from before those that were read, where there are any."""
        talk = self._talk
        if talk is None or talk.chat is None or talk.older is not None:
            return
        talk.older = ()
        older = tuple(await asyncio.to_thread(talk.chat.earlier))
        if self._talks is not None:
            await self._talks.mark_found(talk, older)
        talk.older = older
        if talk.older and talk is self._talk:
            view, below = self.view, self.view.virtual_size.height - self.view.scroll_offset.y
            self.show_talk(talk)
            self._screen.call_after_refresh(lambda: view.scroll_to(y=view.virtual_size.height - below))

    async def catch_up(self) -> None:
        """Show what another program has said in the open conversation, or asks there."""
        talk = self._talk
        if talk is None or self._talks is None or self._catching_up:
            return
        self._catching_up = True
        try:
            if await self._talks.catch_up(talk) and talk is self._talk and not talk.running:
                stood = self.view.where()
                self.show_talk(talk)
                self.view.go_back(stood)
                self.sync()
        finally:
            self._catching_up = False

    async def clear(self) -> None:
        """Begin a new conversation after asking once; `unclear` brings the old one back."""
        from tui.screens.confirm import Confirm

        talk = self._talk
        if talk is None or talk.chat is None:
            return
        if talk.running:
            self._screen.tell("Stop the agent first.")
            return
        if not talk.chat.turns:
            self._screen.tell("The conversation is empty.")
            return
        from agent.task_found import TaskWaits, leave_task

        try:
            left = await asyncio.to_thread(leave_task, talk.chat.store, talk.persona_id)
        except TaskWaits:
            self._screen.tell("The task waits for your answer; give it, or stop the task first.")
            return
        told = f"{left} /unclear brings it back.".strip() if left else "The old one stays on disk."
        asked = Confirm("Begin a new conversation?", told, deed="Clear", keep="Keep")
        if not await self._screen.ask(asked):
            return
        before = talk.chat.session_id
        await asyncio.to_thread(talk.chat.clear)
        self._cleared[talk.persona_id] = before
        talk.older = None
        talk.earlier, talk.events = (), []
        talk.task = None
        if talk is self._talk:
            self.view.clear()
            self._trace.clear()
            self._panel.reset()
            self._screen.tell("A new conversation begins. /unclear brings the old one back.")
        self.sync()

    async def unclear(self) -> None:
        """Go on with the conversation that was cleared last."""
        talk = self._talk
        before = self._cleared.get(talk.persona_id) if talk is not None else None
        if talk is None or talk.chat is None or self._editing is None or before is None:
            self._screen.tell("No conversation was cleared since the program began.")
            return
        if talk.running:
            self._screen.tell("Stop the agent first.")
            return
        await self._editing.workspace.write(
            self._editing.workspace.store.link_session, talk.persona_id, before
        )
        await asyncio.to_thread(talk.chat.load)
        self._cleared.pop(talk.persona_id, None)
        talk.older, talk.earlier, talk.events = None, tuple(talk.chat.turns), []
        if self._talks is not None:
            await self._talks.look(talk)
            talk.earlier = talk.turns_now()
        if talk is self._talk:
            self.show_talk(talk)
            self._panel.show_output()
        self.sync()
