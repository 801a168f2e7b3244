"""The question or approval that the open persona's task waits with: showing it, and answering it."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

from personas.errors import InvalidValue, PersonaError
from tui.commands.slash import as_typed

if TYPE_CHECKING:
    from tui.chat.chat_bar_drafts import ChatBarDrafts
    from tui.chat.context import ChatContext
    from tui.chat.conversation_state import Conversation
    from tui.chat.panel_controller import PanelController
    from tui.drafts.outbox import OutgoingMessage

REFUSAL = "no, "
"""What stands in the draft before the reason of a no."""


class QuestionController:
    """Shows what the open persona's task asks, in panel and chat bar, and gives it the person's answer."""

    def __init__(self, context: ChatContext, panel: PanelController, drafts: ChatBarDrafts) -> None:
        self._context = context
        self._panel = panel
        self._drafts = drafts
        self._asked: str | None = None

    def leave(self) -> None:
        """Another conversation is about to be shown: its question is asked anew."""
        self._asked = None
        if self._panel.panel_view is not None:
            self._panel.panel_view.ask(None)

    def show(self, *, mine: bool = False) -> None:
        """Bring panel and chat bar in line with what is asked; `mine`: the draft was begun for it."""
        question = self._context.question
        key = question.id if question is not None else None
        if key != self._asked and self._panel.panel_view is not None:
            if self._asked is not None:
                self._panel.machine.ask_closed(self._asked)
            self._asked = key
            if self._context.bar.draft == REFUSAL:
                self._context.bar.set_draft("")  # there is nothing to refuse any more
            self._panel.panel_view.ask(question)
            if key is not None:
                self._panel.machine.ask_opened(key)
        if question is not None:
            self._context.bar.set_mode(
                *("asking", question.text),
                asked=question.id,
                options=bool(question.options),
                mine=mine,
                live=self._context.running,
            )
        else:
            self._context.bar.set_mode("running" if self._context.running else "idle")

    def pick(self, key: str) -> None:
        """A key of the empty chat bar, for the options."""
        if self._panel.panel_view is not None:
            self._panel.panel_view.press(key)

    def ask_reason(self) -> bool:
        """Ask in the chat bar why the open approval is refused; return False where the draft is for something else."""
        question = self._context.question
        if question is None or question.approval is None or self._context.bar.mode != "asking":
            return False
        self._context.bar.set_draft(f"{REFUSAL}{self._context.bar.draft}")
        self._context.screen.focus_chat()
        assert self._panel.panel_view is not None
        self._panel.panel_view.ask_reason()
        return True

    @property
    def can_pick(self) -> bool:
        """Whether a digit picks an answer now: it may be given, and nothing is written that Enter would send."""
        return (
            self.may_answer
            and bool(self._context.question and self._context.question.options)
            and not self._context.bar.draft
        )

    def scroll_question(self, pages: int) -> bool:
        """Scroll the question, if it is longer than its room; return whether it was."""
        return (
            self._context.question is not None
            and self._panel.panel_view is not None
            and self._panel.panel_view.scroll_question(pages)
        )

    @property
    def may_answer(self) -> bool:
        """Whether the question has been on the screen long enough for what is sent to be its answer."""
        return (
            self._context.question is not None
            and self._panel.panel_view is not None
            and self._panel.panel_view.may_answer
        )

    def answer(self, question_id: str, text: str) -> Coroutine[Any, Any, None]:
        """Answer the question; an answer that is not taken comes back into the draft it was written in."""
        question = self._context.question
        message = self._drafts.sent(
            "" if question is not None and text in question.options else as_typed(text)
        )
        return self._answer(self._context.conversation, message, question_id, text)

    async def _answer(
        self, conversation: Conversation | None, message: OutgoingMessage, question_id: str, text: str
    ) -> None:
        with self._drafts.on_its_way(message):
            conversations, question = (
                self._context.conversations,
                conversation.question if conversation is not None else None,
            )
            if (
                conversation is None
                or conversations is None
                or question is None
                or question.id != question_id
            ):
                self._context.screen.show_message("That question is no longer open.")
                return
            message.is_answer = True
            from agent.jobs.approval_policy import NotTrusted

            try:
                await self._context.flush()
                try:
                    await conversations.answer(conversation, text, question_id)
                except NotTrusted:
                    if not await self._trust(conversation):
                        return
                    await conversations.answer(conversation, text, question_id)
                self._drafts.outbox.end(message)
            except PersonaError as error:
                self._context.screen.show_message(str(error), error=not isinstance(error, InvalidValue))
                await conversations.look(conversation)
                message.is_answer = (
                    conversation.question is not None and conversation.question.id == question_id
                )
        self._context.sync()

    async def _trust(self, conversation: Conversation) -> bool:
        """Ask whether what was found in this home counts; remember a yes."""
        from personas.files import trust

        assert conversation.chat is not None
        root = conversation.chat.store.home.root
        is_trusted = await self._context.screen.confirm(
            "Trust this folder?",
            f"{root}\n\nThe task that asks was found there and not started by this program. Say yes only if the folder "
            "is yours or you know where it comes from. You will not be asked again.",
            action="Trust it",
            keep="Not now",
            danger=True,
        )
        if is_trusted:
            await asyncio.to_thread(trust.trust, root)
        return is_trusted
