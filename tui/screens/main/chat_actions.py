"""The commands on the conversation: those of the registry, and those that begin with a slash in the chat bar."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from tui.commands import slash
from tui.commands.registry import sentence
from tui.commands.text_matching import fold, words_of

if TYPE_CHECKING:
    from tui.app.host import Host
    from tui.chat.controller import ConversationController
    from tui.screens.dialogs.connect_controller import ConnectController
    from tui.screens.dialogs.picker import Picker
    from tui.screens.main.actions_entry import ActionsEntry
    from tui.screens.main.asset_actions import AssetActions
    from tui.screens.main.broadcast_actions import BroadcastActions
    from tui.screens.main.comparison_actions import ComparisonActions
    from tui.screens.main.composition_actions import CompositionActions
    from tui.screens.main.library_actions import LibraryActions
    from tui.screens.main.output_actions import OutputActions
    from tui.screens.main.persona_actions import PersonaActions
    from tui.screens.main.persona_catalog import PersonaCatalog
    from tui.screens.main.persona_commands import PersonaCommands
    from tui.screens.main.persona_view import PersonaView
    from tui.screens.main.program_actions import ProgramActions
    from tui.screens.main.prompt_checks import PromptChecks
    from tui.screens.main.search_actions import SearchActions
    from tui.screens.main.talk import TalkActions
    from tui.screens.version_actions import VersionActions
    from tui.settings.live_settings import LiveSettings
    from tui.widgets.chat_bar import ChatBar
    from tui.widgets.persona_list import PersonaList


class ChatActions:
    """What commands do with the conversation; a slash command may do anything.

    Args:
        host: the main screen.
        conversations: what is said.
        chat_bar: where it is written.
        personas: the list of personas.
        catalog: whether their names are read.
        view: shows the open persona.
        persona: the commands on the open persona.
        persona_commands: the commands of the list of personas.
        program: the commands on the program.
        talk: a talk with a persona.
        versions: the timeline.
        comparison: compares versions.
        checks: bisect and coverage.
        outputs: the commands on outputs.
        library: the library.
        composition: the compiled prompt.
        assets: what the agent left behind.
        search: finding and replacing everywhere.
        actions: work that is done while nobody watches.
        many: messages to many personas.
    """

    def __init__(
        self,
        host: Host,
        conversations: ConversationController,
        chat_bar: ChatBar,
        personas: PersonaList,
        catalog: PersonaCatalog,
        view: PersonaView,
        persona: PersonaActions,
        persona_commands: PersonaCommands,
        program: ProgramActions,
        talk: TalkActions,
        versions: VersionActions,
        comparison: ComparisonActions,
        checks: PromptChecks,
        outputs: OutputActions,
        library: LibraryActions,
        composition: CompositionActions,
        assets: AssetActions,
        search: SearchActions,
        actions: ActionsEntry,
        many: BroadcastActions,
    ) -> None:
        self._host, self._chat, self._chat_bar = host, conversations, chat_bar
        self._personas, self._catalog, self._view = personas, catalog, view
        self._persona, self._persona_commands, self._program = persona, persona_commands, program
        self._talk = talk
        self._versions, self._comparison = versions, comparison
        self._checks = checks
        self._outputs = outputs
        self._library = library
        self._composition, self._assets, self._search = composition, assets, search
        self._actions, self._many = actions, many
        self._shown_for = (False, False)
        """Whether commands are offered, and whether anything is written, when the keys were shown last."""

    def draft_changed(self, bar: ChatBar) -> None:
        """Something was written in the chat bar, or in that of a talk."""
        self._chat.panel_controller.interacted()
        if (now := (bar.commands.display, bool(bar.draft))) != self._shown_for:
            self._shown_for = now
            self._host.show_keys()

    def find_offers(self, text: str) -> list[slash.Completion]:
        """Return what a text in the chat bar could become."""
        if not text.startswith(("/persona ", "/talk ")):
            return slash.offers(text)
        return slash.offers(text, {key: entry.name for key, entry in self._personas.entries.items()})

    # -- commands -----------------------------------------------------------------------------------------

    def action_output(self) -> None:
        if self._talk.is_open:
            self._talk.cycle_reading()
        else:
            self._chat.once_read(self._chat.panel_controller.cycle_output)

    def action_pin_output(self) -> None:
        self._talk.leave()
        self._chat.once_read(lambda: self._chat.panel_controller.panel_event("show_output"))

    def action_enlarge_output(self) -> None:
        self._talk.leave()
        self._chat.once_read(self._chat.panel_controller.enlarge)

    def action_clear_conversation(self) -> None:
        self._host.start(self._chat.history.clear())

    def action_unclear_conversation(self) -> None:
        self._host.start(self._chat.history.unclear())

    def action_export_conversation(self) -> None:
        self._host.start(self._export(""))

    def action_new_persona(self) -> None:
        self._host.start(self.run_slash("new", ""))

    async def action_find(self) -> None:
        # Waits for the field, so that what is typed behind the key goes there.
        if not await self._search.find_in_prompt():
            self.find_in_conversation()

    def find_in_conversation(self) -> None:
        """Ask what to look for, and read the conversation where it is found."""
        self._talk.leave()
        self._host.start(self._find())

    async def _find(self) -> None:
        from tui.screens.dialogs.text_prompt import AskLine

        text = await self._host.ask(
            AskLine("Find in the conversation", exact=True, wanted="Enter a text to find.")
        )
        if not text:
            return
        found = await self._chat.find(text)
        if not found:
            self._host.show_message(f"Not found in the conversation: {text}")
            return
        keymap = self._host.keymap
        on = sentence("output.find_next", keymap, " {} goes to the next.")
        back = sentence("output.find_previous", keymap, " {} goes to the one before.")
        self._host.show_message(f"{found} found.{on}{back}")

    def action_recall(self) -> None:
        self._talk.leave()
        self._host.start(self._recall())

    async def _recall(self) -> None:
        from tui.screens.dialogs.picker import Picker

        sent = self._chat.sent_messages()
        if not sent and self._chat.settled.is_set():
            self._host.show_message("Nothing was sent yet.")
            return
        question = Picker("Recall a message", None, filter=True)
        self._host.start(self._read_sent(question))
        key = await self._host.ask(question)
        if key is not None:
            self._chat_bar.input.recall(self._chat.sent_messages()[int(key)])
            self._host.focus_chat()

    async def _read_sent(self, question: Picker) -> None:
        """Show in a question what was sent, once the conversation is read."""
        from tui.widgets.virtual_list import Row

        await self._chat.settled.wait()
        question.show_rows([Row(str(place), text) for place, text in enumerate(self._chat.sent_messages())])
        if not self._chat.sent_messages():
            question.dismiss(None)
            self._host.show_message("Nothing was sent yet.")

    def action_choose_model(self) -> None:
        self._host.start(self._choose_model())

    async def _choose_model(self, name: str = "") -> None:
        from tui.screens.dialogs.text_prompt import AskLine
        from tui.terminal.secrets import is_key

        program = self._host.program
        if not name and program.preferences is not None:
            await self.connecting(program.preferences).choose()
            return
        if is_key(name) and program.preferences is not None:
            await self.connecting(program.preferences).take_key(name.strip())
            return
        if not name:
            name = await self._host.ask(AskLine("The agent's model", text=program.model_name))
        if name and name != program.model_name:
            await program.use_model(name)
            known = program.preferences
            lacking = known is not None and known.connection().lacks_key
            note = " There is no key for it yet: /model takes one you paste." if lacking else ""
            self._host.show_message(f"{self._chat.from_when}: {program.model_name}.{note}")

    def connecting(self, preferences: LiveSettings) -> ConnectController:
        from tui.screens.dialogs.connect_controller import ConnectController

        return ConnectController(self._host, preferences, self._chat, lambda: self._view.home)

    async def run_slash(self, name: str, rest: str) -> None:
        """Do what a slash command says."""
        match name:
            case "clear":
                await self._chat.history.clear()
            case "unclear":
                await self._chat.history.unclear()
            case "model":
                await self._choose_model(rest)
            case "task" if rest:
                await self._begin_task(rest)
            case "task":
                self._chat.tasks.toggle_task_mode()
            case "continue":
                await self._chat.tasks.resume(rest)
            case "stop":
                self._chat.tasks.stop()
            case "undo":
                self._persona.action_undo_agent()
            case "redo":
                self._persona.action_redo_agent()
            case "move" | "copy":
                self._persona.action_send_inputs(f"{name}_to")
            case "run":
                self._outputs.run(rest.split())
            case "settings":
                self._program.action_program_settings()
            case "versions":
                self._versions.action_versions()
            case "compare":
                await self._compare(rest)
            case "help":
                self._program.action_help()
            case "quit":
                self._program.action_leave()
            case "new":
                await self._persona_commands.on_persona("new", None)
            case "persona":
                await self._open_named(rest)
            case "export":
                await self._export(rest)
            case "find":
                await self._search.find(rest)
            case "replace":
                await self._search.replace(rest)
            case "talk":
                await self._talk.open(rest)
            case "bisect":
                await self._checks.bisect(rest)
            case "library":
                self._library.action_library()
            case "compiled":
                self._composition.action_compiled()
            case "actions":
                self._actions.action_actions()
            case "assets":
                self._assets.action_assets()
            case "measurements":
                self._assets.action_measurements()
            case "each":
                await self._many.send(rest)
            case "review":
                await self._versions.review()
            case "coverage":
                await self._checks.coverage()

    async def _open_named(self, words: str) -> None:
        """Open the persona of this id or name; where several may be meant, or none is, let the person choose."""
        entries = self._personas.entries
        name = fold(" ".join(words.split()))
        found = [key for key, entry in entries.items() if name == fold(" ".join(entry.name.split()))]
        if words and words not in entries and not self._catalog.names_are_read:
            self._program.action_switch_persona(words, choose=True)
        elif words and (words in entries or len(found) == 1):
            await self._view.open_persona(words if words in entries else found[0])
        elif not words or any(entry.matches(words_of(words)) for entry in entries.values()):
            self._program.action_switch_persona(words)
        else:
            self._host.show_message(f"No persona is called {words}.", error=True)

    async def _compare(self, words: str) -> None:
        """Compare the versions that are named, each by its number or its name; by default the last edit and now."""
        import shlex

        try:
            named = shlex.split(words)
        except ValueError:
            named = words.split()
        if len(named) > 2:
            self._host.show_message(
                "/compare takes at most two versions; put a name of several words in quotes.", error=True
            )
        else:
            await self._comparison.compare(*named)

    async def _begin_task(self, text: str) -> None:
        """Begin a task with these words, unless one is at work."""
        if self._chat.running or self._chat.question is not None:
            self._chat_bar.restore_message(f"/task {text}")
            self._host.show_message("A task about this persona is at work; wait for it or stop it first.")
        else:
            await self._chat.send(text, kind="task")

    async def _export(self, name: str) -> None:
        from tui.chat.export import export_conversation

        await self._chat.settled.wait()
        conversation = self._chat.current
        if conversation is None or conversation.chat is None:
            self._chat.history.show_no_conversation()
            return
        path = await asyncio.to_thread(export_conversation, conversation.chat, name)
        self._host.show_message(f"The conversation is in {path}.")
