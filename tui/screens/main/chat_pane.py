"""What chat bar and panel tell the main screen, and the commands on the conversation."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from textual import events, on
from textual.screen import Screen
from textual.widgets import TextArea

from tui.commands import slash
from tui.commands.fuzzy import fold, words_of
from tui.commands.registry import command_of, sentence
from tui.widgets.chat_bar import ChatBar
from tui.widgets.footer import KeyLine

if TYPE_CHECKING:
    from personas.versions.undo import Direction
    from tui.chat.controller import ConversationController
    from tui.screens.dialogs.picker import Pick
    from tui.screens.main.screen import MainScreen
    from tui.widgets.agent_panel import AgentPanel
    from tui.widgets.conversation import ConversationView
    from tui.widgets.question_box import QuestionBox
else:
    MainScreen = Any


OF_HOME = frozenset({"new", "persona", "undo", "redo"})
"""Commands that cannot be done before the home is read."""

DIGITS = frozenset("0123456789")


class ChatActions(Screen[None]):
    """The conversation's side of the main screen."""

    _written = (False, False)
    """Whether commands are offered, and whether anything is written, when the keys were shown last."""

    @property
    def _chat(self) -> ConversationController:
        return self.conversing  # type: ignore[attr-defined, no-any-return]

    @property
    def _all(self) -> MainScreen:
        return self  # type: ignore[return-value]

    # -- the chat bar -------------------------------------------------------------------------------------

    @on(ChatBar.Submitted)
    def _submitted(self, event: ChatBar.Submitted) -> None:
        event.stop()
        text = self._message_in(event.text)
        if text is None:
            return
        if (
            event.mode == "asking"
            and self._chat.questions.may_answer
            and (question := self._chat.question) is not None
        ):
            self._all.start(self._chat.questions.answer(question.id, text))
        else:
            self._all.start(self._chat.send(text))

    @on(ChatBar.ApiKeyFound)
    def _key_found(self, event: ChatBar.ApiKeyFound) -> None:
        event.stop()
        self._all.tell(
            "That looks like an API key: it was not sent. /model takes it; Enter again sends it all the same.",
            error=True,
        )

    def _message_in(self, written: str) -> str | None:
        """Return the message in a text from the chat bar; None for a command, which is done or, unknown, put back."""
        meant = slash.read(written)
        if isinstance(meant, str):
            return meant
        if isinstance(meant, slash.SlashCommand):
            if self._all.editing is None and meant.name in OF_HOME:
                self._all.chat_bar.put_back(written)
                self._all.tell("The personas are still being read.")
            else:
                self._all.start(self._run_slash(meant.name, meant.rest))
        else:
            self._all.chat_bar.put_back(written)
            self._all.tell(meant.trouble, error=True)
        return None

    @on(ChatBar.Picked)
    def _picked(self, event: ChatBar.Picked) -> None:
        event.stop()
        self._chat.questions.pick(event.key)

    @on(ChatBar.TakeBack)
    def _take_back(self, event: ChatBar.TakeBack) -> None:
        event.stop()
        self._chat.tasks.take_back(event.key, edit=event.edit)

    @on(ChatBar.FollowUp)
    def _follow_up(self, event: ChatBar.FollowUp) -> None:
        event.stop()
        if (text := self._message_in(event.text)) is not None:
            self._chat.tasks.follow_up(text)

    @on(ChatBar.StopPressed)
    def _stop_pressed(self, event: ChatBar.StopPressed) -> None:
        event.stop()
        self._chat.tasks.stop()

    @on(ChatBar.TaskModePressed)
    def _task_mode_pressed(self, event: ChatBar.TaskModePressed) -> None:
        event.stop()
        self._chat.tasks.toggle_task_mode()

    @on(ChatBar.ShowOutputPressed)
    def _show_output(self, event: ChatBar.ShowOutputPressed) -> None:
        event.stop()
        self._chat.panel_controller.panel_event("show_output")

    @on(ChatBar.Paged)
    def _paged(self, event: ChatBar.Paged) -> None:
        event.stop()
        if pages := event.pages:
            self._chat.once_read(lambda: self._page(pages))
        else:
            self._page(0)

    def _page(self, pages: int) -> None:
        shown = self._chat.panel_controller.panel_shown
        if not pages:
            if shown:
                self._chat.view.follow()
                self._chat.panel_controller.interacted()
            return
        if self._chat.questions.scroll_question(pages):
            return
        if shown:
            self._chat.view.page(pages)
            self._chat.panel_controller.interacted()
        else:
            self._chat.panel_controller.panel_event("show_output")

    @on(TextArea.Changed)
    def _typed(self, event: TextArea.Changed) -> None:
        if event.text_area is self._all.chat_bar.input:
            event.stop()
            self._chat.panel_controller.interacted()
            bar = self._all.chat_bar
            if (now := (bar.commands.display, bool(bar.draft))) != self._written:
                self._written = now
                self._all.show_keys()

    def find_offers(self, text: str) -> list[slash.Offer]:
        """Return what a text in the chat bar could become."""
        if not text.startswith("/persona "):
            return slash.offers(text)
        return slash.offers(text, {key: entry.name for key, entry in self._all.personas.entries.items()})

    @on(KeyLine.NotePressed)
    def _note_pressed(self, event: KeyLine.NotePressed) -> None:
        event.stop()
        self.action_choose_model()

    # -- the panel ----------------------------------------------------------------------------------------

    # Named, not decorated: the panel's modules are loaded only after the first paint.

    def on_agent_panel_dismiss_pressed(self, event: AgentPanel.DismissPressed) -> None:
        event.stop()
        self._chat.panel_controller.panel_event("dismiss")

    def on_agent_panel_enlarge_pressed(self, event: AgentPanel.EnlargePressed) -> None:
        event.stop()
        self._chat.panel_controller.enlarge()

    def on_agent_panel_resized(self, event: AgentPanel.Resized) -> None:
        event.stop()
        self._chat.panel_controller.cover_again()

    def on_question_box_answered(self, event: QuestionBox.Answered) -> None:
        event.stop()
        if not (event.text == "no" and self._chat.questions.ask_reason()):
            self._all.start(self._chat.questions.answer(event.question_id, event.text))

    def on_agent_panel_pressed(self, event: AgentPanel.Pressed) -> None:
        event.stop()
        self._chat.panel_controller.panel_event("clicked_inside")

    def on_agent_panel_hovered(self, event: AgentPanel.Hovered) -> None:
        event.stop()
        self._chat.panel_controller.hovered()

    def on_conversation_view_grown(self, event: ConversationView.Grown) -> None:
        event.stop()
        self._chat.panel_controller.grown(event.characters)

    def on_entry_scroll_view_followed(self, event: ConversationView.Followed) -> None:
        event.stop()
        self._chat.panel_controller.followed()

    def on_entry_scroll_view_scrolled(self, event: ConversationView.Scrolled) -> None:
        event.stop()
        if not event.view.following:  # at the end it goes on with what comes: that is nobody's doing
            self._chat.panel_controller.interacted()
        if event.view.scroll_offset.y == 0:
            self._all.start(self._chat.history.load_older())

    def _forward_event(self, event: events.Event) -> None:
        # Whether a press is in the panel, on the bar or away from both is decided for the whole screen, on mouse
        # down: clicks do not come up from buttons and several other widgets.
        if isinstance(event, events.MouseDown) and not event.is_forwarded:
            self._chat.panel_controller.mouse_down(int(event.screen_x), int(event.screen_y))
        super()._forward_event(event)

    def stepped(self, operation: Direction, run_id: str | None) -> None:
        """The store took a step back or forth."""
        self._chat.activity.stepped(operation, run_id)

    # -- commands -----------------------------------------------------------------------------------------

    def action_output(self) -> None:
        self._chat.once_read(self._chat.panel_controller.cycle_output)

    def action_pin_output(self) -> None:
        self._chat.once_read(lambda: self._chat.panel_controller.panel_event("show_output"))

    def action_enlarge_output(self) -> None:
        self._chat.once_read(self._chat.panel_controller.enlarge)

    def action_clear_conversation(self) -> None:
        self._all.start(self._chat.history.clear())

    def action_unclear_conversation(self) -> None:
        self._all.start(self._chat.history.unclear())

    def action_export_conversation(self) -> None:
        self._all.start(self._export(""))

    def action_new_persona(self) -> None:
        self._all.start(self._run_slash("new", ""))

    def action_find(self) -> None:
        self._all.start(self._find())

    async def _find(self) -> None:
        from tui.screens.dialogs.text_prompt import AskLine

        text = await self._all.ask(
            AskLine("Find in the conversation", exact=True, wanted="Write what to look for.")
        )
        if not text:
            return
        await self._chat.settled.wait()
        was_reading = self._chat.panel_controller.reading
        await self._chat.history.load_older()  # all that was ever said is looked through
        if not was_reading:
            self._chat.panel_controller.start_reading()  # before the search, which goes to what it finds
        found = self._chat.view.search(text)
        if not found:
            if not was_reading:
                self._chat.panel_controller.end_reading()
            self._all.tell(f"Not found in the conversation: {text}")
            return
        keymap = self._all.keymap
        on = sentence("output.find_next", keymap, " {} goes to the next.")
        back = sentence("output.find_previous", keymap, " {} goes to the one before.")
        self._all.tell(f"{found} found.{on}{back}")

    def action_recall(self) -> None:
        self._all.start(self._recall())

    async def _recall(self) -> None:
        from tui.screens.dialogs.picker import Pick

        sent = self._chat.sent_messages()
        if not sent and self._chat.settled.is_set():
            self._all.tell("Nothing was sent yet.")
            return
        question = Pick("Recall a message", None, filter=True)
        self._all.start(self._read_sent(question))
        key = await self._all.ask(question)
        if key is not None:
            self._all.chat_bar.input.recall(self._chat.sent_messages()[int(key)])
            self._all.focus_chat()

    async def _read_sent(self, question: Pick) -> None:
        """Show in a question what was sent, once the conversation is read."""
        from tui.widgets.virtual_list import Row

        await self._chat.settled.wait()
        question.show_rows([Row(str(place), text) for place, text in enumerate(self._chat.sent_messages())])
        if not self._chat.sent_messages():
            question.dismiss(None)
            self._all.tell("Nothing was sent yet.")

    def action_choose_model(self) -> None:
        self._all.start(self._choose_model())

    async def _choose_model(self, name: str = "") -> None:
        from tui.screens.dialogs.text_prompt import AskLine
        from tui.terminal.secrets import is_key

        program = self._all.program
        if not name and program.preferences is not None:
            from tui.screens.dialogs.connect_controller import Connecting

            await Connecting(self._all, program.preferences).choose()
            return
        if is_key(name) and program.preferences is not None:
            from tui.screens.dialogs.connect_controller import Connecting

            await Connecting(self._all, program.preferences).take_key(name.strip())
            return
        if not name:
            name = await self._all.ask(AskLine("The agent's model", text=program.model_name))
        if name and name != program.model_name:
            await program.use_model(name)
            known = program.preferences
            lacking = known is not None and known.connection().lacks_key
            note = " There is no key for it yet: /model takes one you paste." if lacking else ""
            self._all.tell(f"{self._chat.from_when}: {program.model_name}.{note}")

    async def _run_slash(self, name: str, rest: str) -> None:
        """Do what a slash command says."""
        screen = self._all
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
                screen.action_undo_agent()
            case "redo":
                screen.action_redo_agent()
            case "settings":
                screen.action_program_settings()
            case "help":
                screen.action_help()
            case "quit":
                screen.action_leave()
            case "new" if screen.deeds is not None:
                await screen.deeds.on_persona("new", None)
            case "persona":
                await self._open_named(rest)
            case "export":
                await self._export(rest)

    async def _open_named(self, words: str) -> None:
        """Open the persona of this id or name; where several may be meant, or none is, let the person choose."""
        screen = self._all
        entries = screen.personas.entries
        name = fold(" ".join(words.split()))
        found = [key for key, entry in entries.items() if name == fold(" ".join(entry.name.split()))]
        if words and words not in entries and not screen.names_are_read:
            screen.action_switch_persona(words, choose=True)
        elif words and (words in entries or len(found) == 1):
            await screen.open_persona(words if words in entries else found[0])
        elif not words or any(entry.matches(words_of(words)) for entry in entries.values()):
            screen.action_switch_persona(words)
        else:
            screen.tell(f"No persona is called {words}.", error=True)

    async def _begin_task(self, text: str) -> None:
        """Begin a task with these words, unless one is at work."""
        if self._chat.running or self._chat.question is not None:
            self._all.chat_bar.put_back(f"/task {text}")
            self._all.tell("A task about this persona is at work; wait for it or stop it first.")
        else:
            await self._chat.send(text, kind="task")

    async def _export(self, name: str) -> None:
        import asyncio

        from tui.chat.export import export_conversation

        await self._chat.settled.wait()
        talk = self._chat.talk
        if talk is None or talk.chat is None:
            self._chat.history.tell_none()
            return
        path = await asyncio.to_thread(export_conversation, talk.chat, name)
        self._all.tell(f"The conversation is in {path}.")

    # -- reading mode ----------------------------------------------------------------------------------

    def on_key(self, event: events.Key) -> None:
        if not self._chat.panel_controller.reading:
            return
        pressed = command_of("output", event.key, self._all.program.settings.keys)
        if event.character in DIGITS and self._chat.questions.can_pick:
            # The answer is given where the keys of the question are: Enter opens a turn here.
            event.stop()
            event.prevent_default()
            self._chat.panel_controller.stop_reading()
            self._all.chat_bar.input.take_digit(event.character)
        elif pressed:
            event.stop()
            event.prevent_default()
            self.action_read(pressed.partition(".")[2])
            self._chat.panel_controller.interacted()

    def action_read(self, what: str) -> None:
        """Do what a key does while the output is read, by the last part of its command's id."""
        view = self._chat.view
        deeds: dict[str, Callable[[], Any]] = {
            "next": lambda: view.move_cursor(1),
            "previous": lambda: view.move_cursor(-1),
            "first": lambda: self._all.start(self._read_first()),
            "open": view.toggle,
            "copy": lambda: self._all.program.copy(view.cursor_text()),
            "undo": self._undo_turn,
            "find": self.action_find,
            "find_next": lambda: view.search_step(1),
            "find_previous": lambda: view.search_step(-1),
            "follow": view.cursor_end,
            "full": self._chat.panel_controller.enlarge,
            "page_up": lambda: view.page(-1),
            "page_down": lambda: view.page(1),
        }
        deeds[what]()

    async def _read_first(self) -> None:
        await self._chat.history.load_older()
        self._chat.view.cursor_home()

    def _undo_turn(self) -> None:
        """Undo what the run of the turn under the cursor changed."""
        talk, editing = self._chat.talk, self._all.editing
        session_id = talk.chat.session_id if talk is not None and talk.chat is not None else None
        if editing is not None and session_id is not None:
            self._all.start(editing.undo.undo_turn(session_id, self._chat.view.turns_up_from_cursor()))
