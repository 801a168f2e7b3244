"""What was said before, or elsewhere: older turns of the conversation, a new conversation, and the way back from one."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from tui.chat.labels import Trace
from tui.chat.questions import Tasking

if TYPE_CHECKING:
    from agent.chat.chat import Chat
    from personas.versions.undo import Direction
    from tui.screens.dialogs.confirm import Confirm
    from tui.screens.main.screen import MainScreen


BACK = "/unclear brings this one back."


class SaidBefore(Tasking):
    """What was said about the open persona before."""

    def __init__(self, screen: MainScreen) -> None:
        super().__init__(screen)
        self._trace = Trace()
        self._catching_up = False
        self._looking_back = asyncio.Lock()
        self.settled = asyncio.Event()
        """Set while the conversation of the open persona is read, or there is none."""

    def stepped(self, operation: Direction, run_id: str | None) -> None:
        """A unit of the open persona was undone or redone; `run_id`: the agent's run that it is, None for none."""
        self._trace.stepped(operation, run_id)
        self._show_activity()

    def greet(self, text: str) -> None:
        """Say a welcome above the chat bar, where it covers nothing, until the agent does something."""
        self._trace.greeting = text
        self._show_activity()

    async def load_older(self) -> None:
        """Show the turns from before those that were read, where there are any; the view stays where it stands."""
        talk = self._talk
        if talk is None or talk.chat is None:
            return
        async with self._looking_back:  # whoever comes second waits for what is being read
            if talk.older is not None:
                return
            session_id = talk.chat.session_id
            older = tuple(await asyncio.to_thread(talk.chat.earlier))
            if self._talks is not None:
                await self._talks.mark_found(talk, older)
            if talk.chat.session_id != session_id:
                return  # another conversation is shown by now
            talk.older = older
            if older and talk is self._talk:
                stood = self.view.view_state()
                self.show_talk(talk)
                self.view.restore_view_state(stood)

    async def catch_up(self) -> None:
        """Show what another program has said in the open conversation, or asks there."""
        talk = self._talk
        if talk is None or self._talks is None or self._catching_up:
            return
        self._catching_up = True
        try:
            if await self._talks.catch_up(talk) and talk is self._talk and not talk.running:
                stood = self.view.view_state()
                self.show_talk(talk)
                self.view.restore_view_state(stood)
                self.sync()
        finally:
            self._catching_up = False

    def tell_none(self) -> None:
        """Say why there is no conversation."""
        unread = "The conversation could not be opened: nothing can be done with it until that is mended."
        self._screen.tell(unread if self._shown else "Open a persona first.")

    async def clear(self) -> None:
        """Begin a new conversation after asking once; `unclear` brings the old one back."""
        from tui.screens.dialogs.confirm import Confirm

        if self.settled.is_set() and not self._can_clear():
            return
        asked = Confirm("Begin a new conversation?", BACK, deed="Clear", keep="Keep")
        reading = self._screen.start(self._read_for_clear(asked))
        if not await self._screen.ask(asked) or not await reading or (talk := self._talk) is None:
            return
        if talk.chat is None:
            return
        await asyncio.to_thread(talk.chat.clear)
        talk.older = None
        talk.earlier, talk.events = (), []
        talk.task = None
        if talk is self._talk:
            self.view.clear()
            self._trace.clear()
            self._panel.reset()
            self._screen.tell("A new conversation begins. /unclear brings the old one back.")
        self.sync()

    def _can_clear(self) -> bool:
        """Whether there is a conversation to leave; where there is none, say why."""
        talk = self._talk
        if talk is None or talk.chat is None:
            self.tell_none()
        elif talk.running:
            self._screen.tell("Stop the agent first.")
        elif not talk.chat.turns:
            self._screen.tell("The conversation is empty.")
        else:
            return True
        return False

    async def _read_for_clear(self, asked: Confirm) -> bool:
        """Say in the question what stays behind, once that is read; close it where nothing can be cleared."""
        left = None
        try:
            await self.settled.wait()
            talk = self._talk
            if self._can_clear() and talk is not None and talk.chat is not None:
                left = await self._leave_task(talk.chat)
        finally:
            if left is None:
                asked.dismiss(None)
        if left:
            asked.explain(f"{left} /unclear brings it back.")
        return left is not None

    async def _leave_task(self, chat: Chat) -> str | None:
        """Return what is said of a task that stays behind in the open conversation; None, told, where it waits."""
        from agent.jobs.recovery import JobWaits, leave_task

        try:
            return await asyncio.to_thread(leave_task, chat.store, chat.persona_id)
        except JobWaits:
            self._screen.tell("The task waits for your answer; give it, or stop the task first.")
            return None

    async def unclear(self) -> None:
        """Go to the conversation before the open one, from the first to the last: nothing said is out of reach."""
        from agent.transcript.session_store import other_conversations

        await self.settled.wait()
        talk = self._talk
        if talk is None or talk.chat is None or self._talks is None or self._editing is None:
            self.tell_none()
            return
        if talk.running:
            self._screen.tell("Stop the agent first.")
            return
        chat, workspace = talk.chat, self._editing.workspace
        older, younger = await asyncio.to_thread(other_conversations, workspace.store, talk.persona_id)
        if not older and not younger:
            self._screen.tell("There is no other conversation about this persona.")
            return
        if (left := await self._leave_task(chat)) is None or talk.running:
            return
        await asyncio.to_thread(chat.session.finish_writing)
        leads_back = bool(chat.turns)
        await workspace.write(workspace.store.link_session, talk.persona_id, (older or younger)[-1])
        await asyncio.to_thread(chat.load)
        talk.older, talk.earlier, talk.events = None, tuple(chat.turns), []
        talk.marks.clear()
        await self._talks.look(talk)
        talk.earlier = talk.turns_now()
        await self._talks.mark_found(talk, talk.earlier)
        count = len(older) + len(younger) + leads_back
        where = len(older) or count
        told = f"This is conversation {where} of {count}; /unclear leads to the others." if count > 1 else ""
        if talk is self._talk:
            self.show_talk(talk)
            self._trace.clear()
            self._panel.show_output()
            if told := f"{left} {told}".strip():
                self._screen.tell(told)
        self.sync()
