"""The open persona on the screen: opened and left, and shown as its document says."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from tui.app.notifications import OF_BROKEN
from tui.commands.registry import Keymap
from tui.document.banner import banner_of
from tui.drafts.chat_drafts import below
from tui.drafts.draft import INPUT, PROMPT
from tui.terminal.visible_controls import is_editable
from tui.widgets.persona_fields import SettingsPane
from tui.widgets.persona_list import PersonaEntry, PersonaList
from tui.widgets.plain_text import content
from tui.widgets.prompt_pane import PromptPane
from tui.widgets.test_input_list import TestInputList

if TYPE_CHECKING:
    from personas.files.home import Home
    from personas.versions.undo import Direction
    from tui.app.host import Host
    from tui.chat.controller import ConversationController
    from tui.document.composition import CompositionController
    from tui.document.controller import DocumentController
    from tui.document.document import OpenDocument
    from tui.document.merge import MergeConflict
    from tui.document.text_slot import TextSlot
    from tui.outputs.controller import OutputsController
    from tui.screens.main.layout import PaneLayout
    from tui.screens.main.persona_catalog import PersonaCatalog
    from tui.widgets.chat_bar import ChatBar


class PersonaView:
    """What shows the open document: a `DocumentView`.

    Args:
        host: the main screen.
        panes: its panes.
        chat_bar: where text goes whose persona does not come.
        conversations: the persona's conversation is shown with it.
        catalog: the list of personas.
        outputs: what the persona answered.
        composition: what it is made of.
        state_changed: called when the document, or how it is saved, changed.
    """

    def __init__(
        self,
        host: Host,
        panes: PaneLayout,
        chat_bar: ChatBar,
        conversations: ConversationController,
        catalog: PersonaCatalog,
        outputs: OutputsController,
        composition: CompositionController,
        state_changed: Callable[[], None],
    ) -> None:
        self._host, self._panes, self._chat_bar, self._catalog = host, panes, chat_bar, catalog
        self._conversations, self._outputs, self._composition = conversations, outputs, composition
        self._state_changed = state_changed
        self._prompt = panes.widget(PromptPane)
        self._tests = panes.widget(TestInputList)
        self._settings = panes.widget(SettingsPane)
        self._personas = panes.widget(PersonaList)
        self.documents: DocumentController | None = None
        self.wanted: str | None = None
        """The persona to show first, once the home is read."""
        self.refused = ""
        """What was said last of letters that could not be typed."""

    @property
    def home(self) -> Home | None:
        """The home, None where it is not open yet."""
        return self.documents.workspace.store.home if self.documents is not None else None

    # -- opening ------------------------------------------------------------------------------------------

    async def open_persona(
        self, persona_id: str, *, stay: bool = False, made: OpenDocument | None = None
    ) -> None:
        """Show a persona and its conversation at once, and read them; where that fails, show what was open before.

        Args:
            persona_id: the persona.
            stay: the list of personas keeps the focus it has.
            made: the document in which the person has typed since the persona was asked to be made.
        """
        if (documents := self.documents) is None:
            self.wanted = persona_id
            return
        reading = documents.open(persona_id, made)
        self._focus_opened(stay)
        showing = self._conversations.show(persona_id, reading)
        if not await reading:
            await self._show_conversation()
        await showing

    def _focus_opened(self, stay: bool) -> None:
        in_list = self._panes.here == "personas"
        if not (in_list and stay):
            if in_list or self._panes.nothing_focused:
                self._host.focus_chat()
            self._panes.leave_front("personas")

    async def _show_conversation(self) -> None:
        """Show the conversation of the persona that is open, whichever that is by now."""
        documents = self.documents
        if documents is None or documents.id == (self._conversations.shown_id or None):
            return
        if documents.id is not None:
            await self._conversations.show(documents.id)
        elif documents.document is None:
            self._conversations.show_none()
            self._conversations.settled.set()

    def open_new(self, *, stay: bool = False) -> Callable[[str | None], Coroutine[Any, Any, None]]:
        """Show an empty persona at once, since one is being made: what is typed from now on is for that one.

        Returns:
            To be awaited with the id that it got, or with None where it could not be made.
        """
        documents = self.documents
        assert documents is not None
        before, document = documents.document, documents.open_new()
        self._focus_opened(stay)
        self._conversations.show_none()

        async def end(persona_id: str | None) -> None:
            is_open = documents.document is document
            if persona_id is not None:
                await (
                    self.open_persona(persona_id, stay=stay, made=document)
                    if is_open
                    else self._catalog.read()
                )
            elif is_open:
                self._conversations.settled.set()  # what was sent comes back
                await asyncio.sleep(0)
                documents.show_again(before)
                await self._show_conversation()
            if persona_id is None or not is_open:
                self.return_typed_text(document)

        return end

    def return_typed_text(self, document: OpenDocument | None) -> None:
        """Put what was typed for a persona that does not come into the chat bar."""
        if document is None or not (typed := document.take_early_input().get(PROMPT, "")):
            return
        self._chat_bar.set_draft(below(self._chat_bar.draft, typed))
        self.show_message("That could not be opened. Your text is in the chat bar.", error=True)

    def open_beside(self, *persona_ids: str) -> None:
        """Personas are to be deleted: where one of them is open, show the one next to it that is left."""
        if self.documents is None or (open_id := self.documents.id) not in persona_ids:
            return
        ids = list(self._personas.entries)
        before = ids[: ids.index(open_id)] if open_id in ids else []
        place = len([key for key in before if key not in persona_ids])
        others = [key for key in ids if key not in persona_ids]
        if others:
            self.start(self.open_persona(others[min(place, len(others) - 1)], stay=True))

    def close_deleted(self, *persona_ids: str) -> None:
        """Personas were deleted: show none of them any more."""
        for persona_id in persona_ids:
            self._conversations.forget(persona_id)
        if self.documents is not None and self.documents.id in persona_ids:
            self.documents.close()

    # -- what the document asks ---------------------------------------------------------------------------

    @property
    def keymap(self) -> Keymap:
        """The person's own keys."""
        return self._host.keymap

    def show_message(self, message: str, *, error: bool = False) -> None:
        """Show a message for a moment."""
        self._host.show_message(message, error=error)

    def start(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Run something beside the screen."""
        return self._host.start(work)

    def name_of(self, persona_id: str) -> str:
        """Return what a persona is called, told apart from others of the same name."""
        return self._personas.name_of(persona_id)

    async def choose(self, conflict: MergeConflict, ours: str, theirs: str, notice: str = "") -> str | None:
        """Let the person choose between two texts; `told`: what was said of it, which goes."""
        from tui.screens.dialogs.conflict import ConflictDialog

        self._host.program.take_back(lambda message: message == content(notice).plain)
        chosen: str | None = await self._host.ask(ConflictDialog(conflict, ours=ours, theirs=theirs))
        return chosen

    # -- what the document tells --------------------------------------------------------------------------

    def document_opened(self, document: OpenDocument | None) -> None:
        """Another document is open, or none: show it anew."""
        self.refused = ""
        self._host.leave_talk()
        if document is None:
            self._prompt.editor.show("", read_only=True)
        else:
            self._bind_prompt(document)
        self._show_lists(document)

    def document_read(self, document: OpenDocument, *, keep_cursor: bool) -> None:
        """The open document, which was empty, is read: show its texts; with `keep_cursor` where it stands."""
        if keep_cursor:
            self._prompt.editor.slot_changed(None)
            self._prompt.editor.end_flash()
        else:
            self._bind_prompt(document)
        self._show_lists(document)

    @property
    def _is_over(self) -> bool:
        """Whether the screen is being taken down: the last writes may still tell what they stored."""
        return not self._host.program.is_running

    def _bind_prompt(self, document: OpenDocument) -> None:
        self._prompt.editor.bind(document.prompt, read_only=document.broken and not document.prompt.dirty)

    def _show_lists(self, document: OpenDocument | None) -> None:
        persona = document.persona if document is not None else None
        self._outputs.show(persona)
        self._composition.show(persona)
        self._tests.show(document, fresh=True)
        self._settings.show(document, fresh=True)

    def document_changed(self, document: OpenDocument, *, by_agent: bool, elsewhere: bool) -> None:
        """The open document is another now: show its lists and fields; its slots show their texts themselves."""
        if self._is_over:
            return
        self.refused = ""
        if not document.broken:
            self._prompt.editor.read_only = not is_editable(document.prompt.text)
        self._outputs.show(document.persona)
        self._composition.show(document.persona)
        was_gone = self._tests.is_gone
        self._tests.show(document, elsewhere=elsewhere and not document.broken)
        if self._tests.is_gone and not was_gone:
            who = "The agent" if by_agent else "Another program"
            self.show_message(
                f"{who} deleted the test input {self._tests.shown}, which you were editing. "
                "What you type now becomes a new one.",
                error=True,
            )
        self._settings.show(document)

    def input_renamed(self, slot: TextSlot, old: str) -> None:
        """What was typed in a test input that was deleted is stored as a new one."""
        self._tests.renamed(old, slot.id.removeprefix(INPUT))

    def select_test_input(self, input_id: str) -> None:
        """Put the cursor of the test inputs on this one."""
        self._tests.rows.select(input_id)

    def list_changed(self) -> None:
        """What the list of personas shows changed."""
        self.start(self._catalog.read())

    def stepped(self, operation: Direction, run_id: str | None) -> None:
        """The store took a step back or forth."""
        self._conversations.activity.stepped(operation, run_id)

    def show_state(self) -> None:
        """Show whose prompt this is, how it is saved, and what keys do."""
        if self._is_over:
            return
        documents = self.documents
        persona, name, banner = documents.persona if documents else None, "", ""
        if documents is not None and persona is not None:
            name, banner = persona.name, banner_of(documents, self._host.keymap, "prompt")
            if persona.error is None:
                self._host.program.take_back(lambda message: OF_BROKEN in message.casefold())
            self._personas.show_entries([PersonaEntry.of(persona)])
        elif documents is not None and documents.id:
            name = self.name_of(documents.id)
        self._prompt.show_state(name, documents.state if documents else "", banner)
        self._state_changed()
