"""A message to the agents of the marked personas: whom it is for, how far it is, and what came of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui.commands.registry import sentence

if TYPE_CHECKING:
    from tui.app.host import Host
    from tui.chat.controller import ConversationController
    from tui.screens.main.output_actions import OutputActions
    from tui.screens.version_actions import VersionActions
    from tui.widgets.chat_bar import ChatBar
    from tui.widgets.persona_list import PersonaList


class BroadcastActions:
    """Sends one message to many.

    Args:
        host: the main screen.
        conversations: what is said.
        chat_bar: where it may be written.
        personas: the list with the marks.
        outputs: shows how far it is, in the strip.
        versions: shows the proposals.
    """

    def __init__(
        self,
        host: Host,
        conversations: ConversationController,
        chat_bar: ChatBar,
        personas: PersonaList,
        outputs: OutputActions,
        versions: VersionActions,
    ) -> None:
        self._host, self._chat, self._chat_bar, self._personas = host, conversations, chat_bar, personas
        self._outputs, self._versions = outputs, versions

    def action_message_marked(self) -> None:
        self._host.start(self.send(""))

    async def send(self, text: str) -> None:
        """Send a message to the agents of the marked personas; an empty one is asked for first."""
        from tui.screens.dialogs.text_prompt import AskText

        if not (ids := self._personas.rows.marked):
            marks = sentence("list.mark", self._host.keymap, ": {} there marks one")
            self._host.show_message(f"Mark the personas it is for in their list{marks}.")
            self._give_back(text)
            return
        many = f"{len(ids)} persona{'' if len(ids) == 1 else 's'}"
        if not (
            text := text or await self._host.ask(AskText(f"Message to the agents of {many}, for review"))
        ):
            return
        self._personas.rows.clear_marks()
        if (done := await self._chat.send_to_each(ids, text, self._outputs.show)) is None:
            self._give_back(text)
            return
        failed = ", ".join(self._personas.name_of(one) for one in done.failed)
        message = f"{len(done.proposed)} of {many} have a proposal" + (
            ": /review shows them" if done.proposed else ""
        )
        if answered := len(done.answered):
            message += f". {answered} answered without one; \u2713 in the list marks them"
        self._outputs.strip.show_end(f"{message}. Failed: {failed}" if failed else message)
        await self._versions.look()

    def _give_back(self, text: str) -> None:
        if text:
            self._chat_bar.restore_message(f"/each {text}")
