"""The chat bar of a talk with personas themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from textual import on

from tui.commands import slash
from tui.widgets.chat_bar import ChatBar

if TYPE_CHECKING:
    from tui.app.host import Host
    from tui.chat.persona_talk import PersonaTalk
    from tui.screens.main.talk import RunSlash


class TalkBar(ChatBar):
    """The chat bar of a talk.

    Args:
        host: the main screen.
        send: sends a message.
        run_slash: does a slash command, by its name and what stands behind it.
        talk: the talk.
        page: scrolls the panel.
        ascii_only: use no sign outside ASCII.
    """

    def __init__(
        self,
        host: Host,
        talk: PersonaTalk,
        run_slash: RunSlash,
        page: Callable[[int], None],
        *,
        ascii_only: bool,
    ) -> None:
        super().__init__(
            ascii_only=ascii_only, switch="at once", while_working="Wait for the answer, or stop it…"
        )
        self._host, self._talk, self._slash, self._page = host, talk, run_slash, page

    @on(ChatBar.Submitted)
    def _send_message(self, event: ChatBar.Submitted) -> None:
        event.stop()
        meant = slash.read(event.text, slash.TALK_COMMANDS)
        if isinstance(meant, str):
            self._host.start(self._talk.send(meant))
        elif isinstance(meant, slash.SlashCommand):
            self._host.start(self._slash(meant.name, meant.rest))
        else:
            self.restore_message(event.text)
            self._host.show_message(meant.trouble, error=True)

    @on(ChatBar.FollowUp)
    def _wait(self, event: ChatBar.FollowUp) -> None:
        event.stop()
        self._host.start(self._talk.send(event.text))  # it comes back: somebody is answering

    @on(ChatBar.ApiKeyFound)
    def _warn_of_key(self, event: ChatBar.ApiKeyFound) -> None:
        event.stop()
        self._host.show_message(
            "That looks like an API key; it was not sent. Enter again sends it anyway.", error=True
        )

    @on(ChatBar.StopPressed)
    def _stop_answer(self, event: ChatBar.StopPressed) -> None:
        event.stop()
        self._talk.stop()

    @on(ChatBar.TaskModePressed)
    def _switch_at_once(self, event: ChatBar.TaskModePressed) -> None:
        event.stop()
        self._talk.toggle_at_once()

    @on(ChatBar.Paged)
    def _scroll(self, event: ChatBar.Paged) -> None:
        event.stop()
        self._page(event.pages)
