"""What commands and editors ask about the open persona: undo, save, compare, write back, discard, edit elsewhere."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from tui.commands.registry import sentence
from tui.drafts.draft import FIELD
from tui.widgets.persona_fields import CHOICES, FIELDS, NOT_SET, SettingsPane
from tui.widgets.prompt_pane import PromptPane
from tui.widgets.test_input_list import TestInputList

if TYPE_CHECKING:
    from tui.app.host import Host
    from tui.chat.controller import ConversationController
    from tui.document.controller import DocumentController
    from tui.document.text_slot import TextSlot
    from tui.document.undo import Operation
    from tui.screens.main.layout import PaneLayout
    from tui.screens.main.persona_view import PersonaView
    from tui.widgets.text.document_editor import DocumentEditor

NOT_READ = "The persona is still loading."

BROKEN = "This cannot be edited: the file is broken. Fix it first."


class PersonaActions:
    """The commands on the open persona, and what happens in its editors.

    Args:
        host: the main screen.
        view: shows the open persona.
        panes: its panes.
        conversations: the persona's conversation.
        show_proposal: shows a proposal for it, where one waits, and returns whether one does.
    """

    def __init__(
        self,
        host: Host,
        view: PersonaView,
        panes: PaneLayout,
        conversations: ConversationController,
        show_proposal: Callable[[], Awaitable[bool]],
    ) -> None:
        self._host, self._view, self._conversations = host, view, conversations
        self._show_proposal = show_proposal
        self._prompt = panes.widget(PromptPane).editor
        self._tests = panes.widget(TestInputList)
        self._settings = panes.widget(SettingsPane)

    @property
    def _documents(self) -> DocumentController | None:
        return self._view.documents

    # -- undo ---------------------------------------------------------------------------------------------

    def action_undo(self) -> None:
        self._step("undo")

    def action_redo(self) -> None:
        self._step("redo")

    def _step(self, operation: Operation) -> None:
        """Undo or redo what is typed in the field of the settings that has the focus, else the last stored unit."""
        if (documents := self._documents) is not None:
            field = self._settings.focused_field
            if not (field and self._settings.step(field, operation)):
                self._host.start(documents.undo.step(operation))

    def undo_exhausted(self, event: DocumentEditor.UndoExhausted) -> None:
        """An editor has nothing more to undo or redo: the store may have."""
        if (documents := self._documents) is None:
            return
        if event.untouched:  # what was done before it was shown, the store knows
            self._host.start(documents.undo.step(event.operation, record=False))
        else:
            documents.undo.show_nothing_to_undo(event.operation)

    def redo_dropped(self, event: DocumentEditor.RedoDropped) -> None:
        """Typing ended what could be redone in an editor: it is kept as a version."""
        if (documents := self._documents) is not None and documents.id is not None:
            work = documents.workspace.keep_text(documents.id, event.editor.slot.id, event.text, "undone")
            self._host.start(work)

    def action_undo_agent(self) -> None:
        if (documents := self._documents) is not None:
            self._host.start(documents.undo.step("undo", only="agent"))

    def action_redo_agent(self) -> None:
        if (documents := self._documents) is not None:
            self._host.start(documents.undo.step("redo", only="agent"))

    # -- test inputs ----------------------------------------------------------------------------------------

    def action_send_inputs(self, operation: str) -> None:
        """Move or copy test inputs to another persona: the marked ones, else the one under the cursor of their list."""
        self._tests.action_send(operation)

    # -- saving ---------------------------------------------------------------------------------------------

    def save_now(self, slot: TextSlot) -> None:
        """The person left what shows this text."""
        if (documents := self._documents) is not None:
            documents.saver.save_now(slot)

    def refuse_in_prompt(self) -> None:
        """A letter was typed that the prompt cannot take: say why, once."""
        if self._documents is not None and (document := self._documents.document) is not None:
            self._refuse(BROKEN if document.broken else self._read_only_message(), True)

    def refuse_in_input(self, typed: bool) -> None:
        """A key asked for what cannot be done with test inputs: say why; of letters that are typed, once."""
        if self._documents is None:
            self._refuse(NOT_READ, typed)
            return
        document = self._documents.document
        if document is None:
            self._refuse("Open a persona first.", typed)
        elif document.persona is None:
            self._refuse(NOT_READ, typed)
        elif document.broken:
            self._refuse(BROKEN, typed)
        elif self._tests.shown is None:
            how = sentence("tests.new", self._host.keymap, " {} in the list makes one.")
            self._refuse(f"No test input is open.{how}", typed)
        elif typed and self._tests.editor.read_only:
            self._refuse(self._read_only_message(), True)

    def _refuse(self, why: str, typed: bool) -> None:
        if not typed or why != self._view.refused:
            self._host.show_message(why, error=True)
        self._view.refused = why if typed else self._view.refused

    def _read_only_message(self) -> str:
        """Return what is said of a text that the editor cannot give back as it was."""
        how = sentence("editor.external", self._host.keymap, " {} opens the file in your editor.")
        return (
            f"This text cannot be edited here: it contains characters the editor uses as placeholders.{how}"
        )

    async def choose_setting(self, field: str) -> None:
        """Let the person choose what a field holds, and store it; what is stored is shown, whatever it is."""
        from tui.screens.dialogs.picker import Picker
        from tui.widgets.virtual_list import Row

        documents = self._documents
        if documents is None:
            return
        persona_id, now = documents.id, self._settings.slot(field).text
        title = next(f"{title}: {hint}" for name, title, hint in FIELDS if name == field)
        rows = [Row(value, value or NOT_SET, current=value == now) for value in ("", *CHOICES[field])]
        if now and now not in CHOICES[field]:
            title = f"{title.partition(':')[0]}: {now} is none of these"
        chosen = await self._host.ask(Picker(title, rows, at=now))
        if chosen is not None and chosen != now and documents.id == persona_id:
            slot = documents.document.slot(FIELD + field) if documents.document is not None else None
            if slot is not None:
                slot.take(chosen, slot.base)
                documents.saver.save_now(slot)
                await documents.saver.queue.settled()

    # -- looking closer ----------------------------------------------------------------------------------

    def action_compare(self) -> None:
        self._host.start(self._compare())

    async def _compare(self) -> None:
        """Show both texts of a conflict, else a proposal that waits, else what the last change did."""
        from tui.screens.dialogs.diff import ShowDiff

        documents = self._documents
        if documents is None or documents.persona is None:
            return
        content = self._tests.editor
        if content.conflict is not None and (content.has_focus or documents.state != "conflict"):
            await documents.resolve(content.slot)
            return
        if documents.state == "conflict":
            await documents.resolve(self._prompt.slot)
            return
        if documents.state == "gone":
            await self._write_back()
            return
        if await documents.resolve_git_conflict() or await self._show_proposal():
            return
        await documents.flush()
        title, diff = await documents.last_change()
        if not diff:
            self._host.show_message(title)
            return
        await self._host.ask(ShowDiff(title, diff))

    def action_write_back(self) -> None:
        self._host.start(self._write_back())

    async def _write_back(self) -> None:
        """Offer to write a file back that is gone; else open a persona that only kept text is left of."""
        from tui.screens.dialogs.confirm import Confirm

        documents = self._documents
        if documents is None:
            return
        if documents.state != "gone":
            if not (left := await documents.recovery.without_file()):
                self._host.show_message("No missing file has unsaved text.")
                return
            await self._view.open_persona(left[0])
        if (
            documents.persona is not None
            and documents.state == "gone"
            and await self._host.ask(
                Confirm(
                    "Restore the file?",
                    f"The file of {documents.persona.name} is missing: it was deleted or moved outside this program. "
                    "It is restored with your unsaved text, which is kept until then.",
                    action="Restore",
                    keep="Not now",
                )
            )
        ):
            await documents.write_back()
            if documents.id is not None and documents.state != "gone" and self._conversations.current is None:
                await self._conversations.show(documents.id)  # without a file there was none

    def action_discard_unsaved(self) -> None:
        self._host.start(self._discard_unsaved())

    async def _discard_unsaved(self) -> None:
        """Ask, and show what is stored instead of what could not be saved."""
        from tui.screens.dialogs.confirm import Confirm

        documents = self._documents
        if documents is None or documents.persona is None:
            return
        persona = documents.persona
        texts = await documents.recovery.unsaved_texts()
        if not texts:
            self._host.show_message("There is no unsaved text.")
            return
        back = "Up in the chat bar brings it back."
        drafts, discarded, was_gone = self._conversations.drafts, [], documents.state == "gone"

        def stash(text: str) -> None:
            discarded.append(text)
            drafts.stash(persona.id, text)

        if (
            not await self._host.ask(
                Confirm(
                    "Discard unsaved text?",
                    f"What you typed in {persona.name} ({', '.join(texts)}) has not been saved. {back}",
                    action="Discard",
                    keep="Keep it",
                    danger=True,
                )
            )
            or documents.id != persona.id
            or not await documents.recovery.discard(stash)
        ):
            return
        if was_gone and documents.id in (None, persona.id):
            await documents.forget(persona.id)
            self._view.open_beside(persona.id)
            await asyncio.sleep(0)
            self._view.close_deleted(persona.id)
            for text in discarded:
                drafts.stash(documents.id or persona.id, text)  # where the person is now
        self._host.show_message(f"Discarded. {back}")

    def action_external_editor(self) -> None:
        if (bar := self._host.program.main.bar).input.has_focus:
            bar.input.after_typing(lambda: self._host.start(self._edit_draft()))
        else:
            self._host.start(self._edit_file())

    async def _edit_draft(self) -> None:
        from tui.screens.editor_launcher import edit_draft

        await self._conversations.settled.wait()  # in the first moments the home is still being read
        await edit_draft(self._host.program)

    async def _edit_file(self) -> None:
        from tui.screens.editor_launcher import edit_file

        await self._conversations.settled.wait()  # in the first moments the home is still being read
        documents = self._documents
        if documents is not None and documents.id is not None:
            await edit_file(self._host.program, documents)
