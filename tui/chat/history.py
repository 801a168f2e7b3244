"""What was said before, or elsewhere: older turns of the conversation, a new conversation, and the way back from one."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING

from personas.errors import PersonaError
from tui.commands.slash import as_typed

if TYPE_CHECKING:
    from agent.chat.chat import Chat
    from tui.chat.activity_line import ActivityLine
    from tui.chat.chat_bar_drafts import ChatBarDrafts
    from tui.chat.context import ChatContext
    from tui.chat.conversation_state import Conversation
    from tui.chat.panel_controller import PanelController


class ConversationHistory:
    """Shows the open conversation's turns, older ones and other programs' among them, and changes conversations.

    Args:
        show_own: shows the conversation of the open persona where none is open.

    Attributes:
        watched: the id of the conversation of a run at work that is shown while none is open; empty for none.
    """

    def __init__(
        self,
        context: ChatContext,
        panel: PanelController,
        drafts: ChatBarDrafts,
        activity: ActivityLine,
        show_own: Callable[[], Awaitable[None]],
    ) -> None:
        self._context = context
        self._panel = panel
        self._drafts = drafts
        self._activity = activity
        self._show_own = show_own
        self.watched = ""
        self._watched_size = -1
        self.catching_up = False
        self._looking_back = asyncio.Lock()

    def show(self, conversation: Conversation, just_sent: Iterable[str] = ()) -> None:
        """Show the turns of a conversation; `just_sent`: what was sent while it was being read."""
        self._panel.view.load(conversation.with_marks([*(conversation.older or ()), *conversation.earlier]))
        for event in tuple(conversation.events):
            self._panel.view.feed(event)
            if event.type == "turn_end":
                for mark in conversation.marks.get(event.turn.id, ()):  # type: ignore[union-attr]
                    self._panel.view.end_turn(mark)
        if conversation.chat is not None:
            for problem in conversation.chat.problems:
                self._panel.view.add_notice(problem)
        if note := conversation.cut_short():
            self._panel.view.add_notice(note)
        turns = [*conversation.earlier, *(conversation.chat.turns if conversation.chat else ())]
        said = [(t.created_at, as_typed(t.content)) for t in turns if t.type == "user"]  # type: ignore[union-attr]
        self._drafts.show_sent(said, just_sent)

    async def load_older(self) -> None:
        """Show the turns from before those that were read, where there are any; the view stays where it stands."""
        conversation = self._context.conversation
        if conversation is None or conversation.chat is None:
            return
        async with self._looking_back:  # whoever comes second waits for what is being read
            if conversation.older is not None:
                return
            session_id = conversation.chat.session_id
            older = tuple(await asyncio.to_thread(conversation.chat.earlier))
            if self._context.conversations is not None:
                await self._context.conversations.mark_found(conversation, older)
            if conversation.chat.session_id != session_id:
                return  # another conversation is shown by now
            conversation.older = older
            if older and conversation is self._context.conversation:
                stood = self._panel.view.view_state()
                self.show(conversation)
                self._panel.view.restore_view_state(stood)

    async def catch_up(self) -> None:
        """Show what another program has said in the open conversation, or asks there, or what a watched run did."""
        conversation = self._context.conversation
        if self._context.conversations is None or self.catching_up:
            return
        self.catching_up = True
        try:
            if conversation is None:
                await self._catch_up_with_run()
            elif (
                await self._context.conversations.catch_up(conversation)
                and conversation is self._context.conversation
                and not conversation.running
            ):
                stood = self._panel.view.view_state()
                self.show(conversation)
                self._panel.view.restore_view_state(stood)
                self._context.sync()
        finally:
            self.catching_up = False

    async def watch(self, session_id: str) -> None:
        """Show the conversation of a run at work, and from then on what it does, as it is stored."""
        self.watched, self._watched_size = session_id, -1
        self._panel.view.when_empty = "The run has said nothing yet."
        self._panel.machine.show_output()
        self._context.sync()
        await self.catch_up()

    async def _catch_up_with_run(self) -> None:
        from agent.transcript.session_store import read_recent, size_on_disk

        session_id, persona_id, document = self.watched, self._context.shown, self._context.document
        if not session_id or persona_id is None or document is None:
            return
        store = document.workspace.store
        size = await asyncio.to_thread(size_on_disk, store, session_id)
        if size == self._watched_size:
            return
        try:
            turns = await asyncio.to_thread(read_recent, store, persona_id, session_id)
        except PersonaError as error:
            self._context.screen.show_message(str(error), error=True)
            turns = []
        if session_id == self.watched:
            self._watched_size = size
            stood = self._panel.view.view_state()
            self._panel.view.load(turns)
            self._panel.view.restore_view_state(stood)

    def show_no_conversation(self) -> None:
        """Say why there is no conversation."""
        if self.watched:
            self._context.screen.show_message(
                "You are viewing another run; /unclear goes back to your conversation."
            )
            return
        unread = "The conversation could not be opened. Fix the problem first."
        self._context.screen.show_message(unread if self._context.shown else "Open a persona first.")

    async def clear(self) -> None:
        """Begin a new conversation after asking once; `unclear` brings the old one back."""
        if self._context.settled.is_set() and not self._can_clear():
            return
        is_wanted = await self._context.screen.confirm(
            "Begin a new conversation?",
            "/unclear brings this one back.",
            action="Clear",
            keep="Keep",
            reading=self._read_for_clear(),
        )
        if not is_wanted or (conversation := self._context.conversation) is None or conversation.chat is None:
            return
        await asyncio.to_thread(conversation.chat.clear)
        conversation.older = None
        conversation.earlier, conversation.events = (), []
        conversation.task = None
        if conversation is self._context.conversation:
            self._panel.view.clear()
            self._activity.trace.clear()
            self._panel.machine.reset()
            self._context.screen.show_message("A new conversation begins. /unclear brings the old one back.")
        self._context.sync()

    def _can_clear(self) -> bool:
        """Whether there is a conversation to leave; where there is none, say why."""
        conversation = self._context.conversation
        if conversation is None or conversation.chat is None:
            self.show_no_conversation()
        elif conversation.running:
            self._context.screen.show_message("Stop the agent first.")
        elif not conversation.chat.turns:
            self._context.screen.show_message("The conversation is empty.")
        else:
            return True
        return False

    async def _read_for_clear(self) -> str | None:
        """Return what to say of a task that stays behind; None where nothing can be cleared."""
        await self._context.settled.wait()
        conversation = self._context.conversation
        if not self._can_clear() or conversation is None or conversation.chat is None:
            return None
        left = await self._leave_task(conversation.chat)
        return f"{left} /unclear brings it back." if left else left

    async def _leave_task(self, chat: Chat) -> str | None:
        """Return what is said of a task that stays behind in the open conversation; None, told, where it waits."""
        from agent.jobs.recovery import JobWaits, leave_task

        try:
            return await asyncio.to_thread(leave_task, chat.store, chat.persona_id)
        except JobWaits:
            self._context.screen.show_message(
                "The task waits for your answer; give it, or stop the task first."
            )
            return None

    async def unclear(self) -> None:
        """Go to the conversation before the open one, from the first to the last: nothing said is out of reach."""
        from agent.transcript.session_store import other_conversations

        await self._context.settled.wait()
        if self.watched:
            await self._show_own()
            self._panel.machine.show_output()
            self._context.sync()
            return
        conversation = self._context.conversation
        if (
            conversation is None
            or conversation.chat is None
            or self._context.conversations is None
            or self._context.document is None
        ):
            self.show_no_conversation()
            return
        if conversation.running:
            self._context.screen.show_message("Stop the agent first.")
            return
        chat, workspace = conversation.chat, self._context.document.workspace
        older, younger = await asyncio.to_thread(
            other_conversations, workspace.store, conversation.persona_id
        )
        if not older and not younger:
            self._context.screen.show_message("There is no other conversation about this persona.")
            return
        if (left := await self._leave_task(chat)) is None or conversation.running:
            return
        has_way_back = bool(chat.turns)
        await self._go_to(conversation, (older or younger)[-1])
        count = len(older) + len(younger) + has_way_back
        where = len(older) or count
        message = (
            f"This is conversation {where} of {count}; /unclear leads to the others." if count > 1 else ""
        )
        if conversation is self._context.conversation:
            self._show_reached(conversation)
            if message := f"{left} {message}".strip():
                self._context.screen.show_message(message)
        self._context.sync()

    async def _go_to(self, conversation: Conversation, session_id: str) -> None:
        """Make another conversation about the persona the current one, and read it."""
        chat, document, conversations = conversation.chat, self._context.document, self._context.conversations
        assert chat is not None and document is not None and conversations is not None
        await asyncio.to_thread(chat.session.finish_writing)
        workspace = document.workspace
        await workspace.write(workspace.store.link_session, conversation.persona_id, session_id)
        await asyncio.to_thread(chat.load)
        conversation.older, conversation.earlier, conversation.events = None, tuple(chat.turns), []
        conversation.marks.clear()
        await conversations.look(conversation)
        conversation.earlier = conversation.turns_now()
        await conversations.mark_found(conversation, conversation.earlier)

    def _show_reached(self, conversation: Conversation) -> None:
        self.show(conversation)
        self._activity.trace.clear()
        self._panel.machine.show_output()

    async def open(self, session_id: str) -> None:
        """Go to a conversation about the open persona; `unclear` leads back."""
        await self._context.settled.wait()
        conversation = self._context.conversation
        if conversation is None or conversation.chat is None:
            self.show_no_conversation()
        elif conversation.running:
            self._context.screen.show_message("Stop the agent first.")
        elif (left := await self._leave_task(conversation.chat)) is not None:
            if conversation.chat.session_id != session_id:
                await self._go_to(conversation, session_id)
            if conversation is self._context.conversation:
                self._show_reached(conversation)
                self._context.screen.show_message(
                    f"{left} /unclear leads to the other conversations.".strip()
                )
            self._context.sync()
