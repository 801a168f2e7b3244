"""What the parts of the conversation controller share: which conversation is shown, and the screen it is shown on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent.jobs.job import Question
    from tui.chat.broadcast import Broadcast
    from tui.chat.conversation_state import Conversation
    from tui.chat.conversations import ConversationManager
    from tui.chat.view import BarView, ChatView
    from tui.document.controller import DocumentController


class ChatContext:
    """The state that the parts of a conversation controller share.

    Args:
        screen: the main screen.
        on_change: called when something changed that panel, chat bar or badges show.

    Attributes:
        document: the controller of the open persona; None until the home is open.
        conversations: all conversations; None until the panel is there.
        conversation: the conversation that is shown; None while there is none.
        shown: whose conversation is shown; None for nobody's.
        broadcast: the message to many personas that is on its way; None for none.
        settled: set while the conversation of the open persona is read, or there is none.
    """

    def __init__(self, screen: ChatView, on_change: Callable[[], None]) -> None:
        self.screen = screen
        self.sync = on_change
        self.document: DocumentController | None = None
        self.conversations: ConversationManager | None = None
        self.conversation: Conversation | None = None
        self.shown: str | None = None
        self.broadcast: Broadcast | None = None
        self.settled = asyncio.Event()

    @property
    def bar(self) -> BarView:
        """The chat bar."""
        return self.screen.chat_bar

    @property
    def shown_id(self) -> str:
        """Whose conversation is shown; empty for nobody's."""
        return self.shown or ""

    @property
    def running(self) -> bool:
        """Whether a task about the open persona is at work, or waits, in this program."""
        return self.conversation is not None and self.conversation.running

    @property
    def question(self) -> Question | None:
        """What the open persona's task waits for."""
        return self.conversation.question if self.conversation is not None else None

    @property
    def can_stop(self) -> bool:
        """Whether there is something to stop at once: a task at work, or one that waits, wherever it began."""
        return self.running or self.question is not None

    @property
    def is_over(self) -> bool:
        """Whether the screen is being taken down: tasks may still say how they ended."""
        return not self.screen.program.is_running

    async def flush(self) -> None:
        """Save what is typed: the agent works on what the person sees."""
        if self.document is not None:
            await self.document.flush()
