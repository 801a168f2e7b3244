"""The chat bar of the main screen: what is sent, picked and pressed in it goes to the conversation."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from textual import on

from tui.commands import slash
from tui.widgets.chat_bar import ChatBar
from tui.widgets.chat_input import ChatInput

if TYPE_CHECKING:
    from tui.app.host import Host
    from tui.chat.controller import ConversationController

OF_HOME = frozenset({"new", "persona", "undo", "redo"})
"""Commands that cannot be done before the home is read."""


class ChatPane(ChatBar):
    """The chat bar, connected.

    Args:
        host: the main screen.
        conversations: what is said.
        is_home_read: whether the home is read.
        run_slash: does a slash command, by its name and what stands behind it.
        offer_import: asks whether the file of a path that was pasted is to be imported.
        ascii_only: use no sign outside ASCII.
    """

    def __init__(
        self,
        host: Host,
        conversations: ConversationController,
        *,
        is_home_read: Callable[[], bool],
        run_slash: Callable[[str, str], object],
        offer_import: Callable[[str], Coroutine[Any, Any, None]],
        ascii_only: bool,
    ) -> None:
        super().__init__(ascii_only=ascii_only)
        self._host, self._conversations = host, conversations
        self._is_home_read, self._run_slash, self._offer_import = is_home_read, run_slash, offer_import

    @on(ChatBar.Submitted)
    def _send_message(self, event: ChatBar.Submitted) -> None:
        event.stop()
        chat, text = self._conversations, self._message_in(event.text)
        if text is None:
            return
        if event.mode == "asking" and chat.questions.may_answer and (question := chat.question) is not None:
            self._host.start(chat.questions.answer(question.id, text))
        else:
            self._host.start(chat.send(text))

    @on(ChatBar.FollowUp)
    def _queue_message(self, event: ChatBar.FollowUp) -> None:
        event.stop()
        if (text := self._message_in(event.text)) is not None:
            self._conversations.tasks.follow_up(text)

    def _message_in(self, written: str) -> str | None:
        """Return the message in a text; None for a command, which is done or, unknown, put back."""
        meant = slash.read(written)
        if isinstance(meant, str):
            return meant
        if isinstance(meant, slash.SlashCommand):
            if meant.name in OF_HOME and not self._is_home_read():
                self.restore_message(written)
                self._host.show_message("The personas are still loading.")
            else:
                self._run_slash(meant.name, meant.rest)
        else:
            self.restore_message(written)
            self._host.show_message(meant.trouble, error=True)
        return None

    @on(ChatBar.ApiKeyFound)
    def _warn_of_key(self, event: ChatBar.ApiKeyFound) -> None:
        event.stop()
        self._host.show_message(
            "That looks like an API key; it was not sent. /model takes it; Enter again sends it anyway.",
            error=True,
        )

    @on(ChatInput.PathPasted)
    def _take_path(self, event: ChatInput.PathPasted) -> None:
        event.stop()
        self._host.start(self._offer_import(event.text))

    @on(ChatBar.Picked)
    def _pick_answer(self, event: ChatBar.Picked) -> None:
        event.stop()
        self._conversations.questions.pick(event.key)

    @on(ChatBar.TakeBack)
    def _take_back_queued(self, event: ChatBar.TakeBack) -> None:
        event.stop()
        self._conversations.tasks.take_back(event.key, edit=event.edit)

    @on(ChatBar.StopPressed)
    def _stop_agent(self, event: ChatBar.StopPressed) -> None:
        event.stop()
        self._conversations.tasks.stop()

    @on(ChatBar.TaskModePressed)
    def _switch_task_mode(self, event: ChatBar.TaskModePressed) -> None:
        event.stop()
        self._conversations.tasks.toggle_task_mode()

    @on(ChatBar.ShowOutputPressed)
    def _show_panel(self, event: ChatBar.ShowOutputPressed) -> None:
        event.stop()
        self._conversations.panel_controller.panel_event("show_output")

    @on(ChatBar.Paged)
    def _scroll_output(self, event: ChatBar.Paged) -> None:
        event.stop()
        self._conversations.once_read(lambda: self._conversations.page(event.pages))
