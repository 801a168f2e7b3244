"""The task about the open persona: going on with it, stopping it, and what is queued for it."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

from tui.chat.view import Queued
from tui.commands.slash import as_typed

if TYPE_CHECKING:
    from tui.chat.chat_bar_drafts import ChatBarDrafts
    from tui.chat.context import ChatContext
    from tui.chat.conversation_state import Conversation
    from tui.chat.history import ConversationHistory
    from tui.chat.panel_controller import PanelController
    from tui.drafts.outbox import OutgoingMessage


class TaskController:
    """Continues and stops the open persona's task, and keeps its queue in the chat bar.

    Attributes:
        task_mode: whether what is sent begins a task that goes on until the work is done.
    """

    def __init__(
        self,
        context: ChatContext,
        panel: PanelController,
        drafts: ChatBarDrafts,
        history: ConversationHistory,
    ) -> None:
        self._context = context
        self._panel = panel
        self._drafts = drafts
        self._history = history
        self.task_mode = False

    @property
    def can_stop(self) -> bool:
        """Whether there is something to stop at once: a task at work, or one that waits, wherever it began."""
        return self._context.can_stop

    def resume(self, text: str = "") -> Coroutine[Any, Any, None]:
        """Go on with the task that a limit stopped or that was interrupted."""
        return self._resume(
            self._context.conversation, self._drafts.sent(f"/continue {text}" if text else ""), text
        )

    async def _resume(self, conversation: Conversation | None, message: OutgoingMessage, text: str) -> None:
        with self._drafts.on_its_way(message):
            conversations = self._context.conversations
            if conversation is None or conversations is None:
                self._history.show_no_conversation()
                return
            if conversation.running or conversation.task is None or not conversation.task.can_continue:
                self._context.screen.show_message("There is no task to continue.")
                return
            self._panel.machine.user_sent()
            self._panel.view.follow()
            await self._context.flush()
            if conversation.running:  # asked for twice
                message.typed = as_typed(text)
                return
            if conversation.task.kind == "task":
                conversations.resume(conversation, text, turn_id=message.turn_id)
            else:
                from agent.jobs.recovery import CONTINUE

                conversations.send(
                    conversation, text or CONTINUE, typed=message.typed, turn_id=message.turn_id
                )
            self._drafts.outbox.end(message)
        self._context.sync()

    def stop(self) -> None:
        """Stop the task about the open persona, at once; one that does not run here is closed after asking."""
        conversation = self._context.conversation
        if conversation is None or self._context.conversations is None:
            return
        if conversation.running:
            self._context.conversations.stop(conversation)
            self._context.sync()
        elif conversation.task is not None and conversation.task.is_working:
            self._context.screen.show_message("Another program works on this task; it can be stopped there.")
        elif conversation.task is not None and not conversation.task.is_over:
            self._context.screen.start(self._give_up(conversation))

    async def _give_up(self, conversation: Conversation) -> None:
        if self._context.conversations is None or not await self._context.screen.confirm(
            "Give this task up?", "What it did stays and can be undone.", action="Give up", keep="Keep it"
        ):
            return
        await self._context.conversations.give_up(conversation)
        if conversation is self._context.conversation:
            self._history.show(conversation)
            self._context.sync()

    def toggle_task_mode(self) -> None:
        """Let messages begin tasks, or plain runs again."""
        self.task_mode = not self.task_mode
        self._context.screen.show_message(
            "Task mode: the agent works until the job is done." if self.task_mode else "Task mode is off."
        )
        self._context.sync()

    @property
    def can_continue(self) -> bool:
        """Whether a task that a limit stopped or that was interrupted can be gone on with."""
        conversation = self._context.conversation
        return (
            conversation is not None
            and conversation.task is not None
            and conversation.task.can_continue
            and not conversation.running
        )

    def hint(self, usual: str) -> str:
        """Return what the empty chat bar says."""
        if self._history.watched:
            return "Viewing another run. Messages go to your conversation…"
        task = self._context.conversation.task if self._context.conversation is not None else None
        if task is not None and self.can_continue:
            why = "The task was interrupted" if task.status == "interrupted" else "It stopped at a limit"
            return f"{why}. /continue goes on with it."
        if task is not None and task.is_working and not self._context.running:
            return "Another program is at work on this persona…"
        return "Give it a task; it works until it is done…" if self.task_mode else usual

    # -- what is queued ---------------------------------------------------------------------------------

    def give_queue_back(self) -> None:
        """What was queued for a found task that cannot go on any more comes back into the draft."""
        conversation = self._context.conversation
        if (
            conversation is None
            or conversation.chat is None
            or conversation.running
            or conversation.question is not None
            or not conversation.queued
        ):
            return
        turns = conversation.chat.withdraw_all()
        conversation.undelivered.clear()
        self._context.bar.restore_message(as_typed("\n".join(turn.content for turn in turns)))

    def show_queued(self) -> None:
        queued = self._context.conversation.queued if self._context.conversation is not None else []
        self._context.bar.set_queued([Queued(turn.id, turn.content, later) for turn, later in queued])

    def follow_up(self, text: str) -> None:
        """Queue a message for when the run is over."""
        conversation = self._context.conversation
        if (
            conversation is not None
            and conversation.chat is not None
            and (conversation.running or conversation.question is not None)
        ):
            conversation.chat.follow_up(text)
            self._context.sync()
        else:
            self._context.bar.restore_message(as_typed(text))

    def take_back(self, key: str, *, edit: bool) -> None:
        """Take a queued message back: into the draft to be edited, or for good."""
        turn = self._context.conversation.take_back(key) if self._context.conversation is not None else None
        if turn is None:
            self._context.screen.show_message("It was already delivered.")
        elif edit:
            self._context.bar.restore_message(as_typed(turn.content))
        self._context.sync()
