"""The open persona on the main screen: shown, undone, saved, compared, written back, thrown away, edited."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from textual import on
from textual.screen import Screen

from tui.commands.registry import sentence
from tui.document.text_slot import FIELD, INPUT
from tui.document.undo import Operation
from tui.terminal.visible_controls import is_editable
from tui.widgets.persona_fields import CHOICES, FIELDS, NOT_SET, SettingsPane
from tui.widgets.prompt_pane import Banner
from tui.widgets.test_input_list import TestInputs
from tui.widgets.text.document_editor import TextEditor

if TYPE_CHECKING:
    from tui.document.document import Document
    from tui.document.text_slot import TextSlot
    from tui.screens.main.screen import MainScreen
else:
    MainScreen = Any

NOT_READ = "That is still being read."

BROKEN = "the file is broken. Mend it first."


class PersonaActions(Screen[None]):
    """The open persona's side of the main screen."""

    _refused = ""  # what was said last of letters that could not be typed

    @property
    def _screen(self) -> MainScreen:
        return self  # type: ignore[return-value]

    # -- opening ------------------------------------------------------------------------------------------

    async def open_persona(
        self, persona_id: str, *, stay: bool = False, made: Document | None = None
    ) -> None:
        """Show a persona and its conversation at once, and read them; where that fails, show what was open before.

        Args:
            persona_id: the persona.
            stay: the list of personas keeps the focus it has.
            made: the document in which the person has typed since the persona was asked to be made.
        """
        screen = self._screen
        if (editing := screen.editing) is None:
            screen.begin_with(persona_id)
            return
        reading = editing.open(persona_id, made)
        self._focus_opened(stay)
        showing = screen.conversing.show(persona_id, reading)
        if not await reading:
            await self._show_conversation()
        await showing

    def _focus_opened(self, stay: bool) -> None:
        screen = self._screen
        in_list = screen.focused is not None and screen.personas in screen.focused.ancestors_with_self
        if not (in_list and stay):
            if screen.focused is None or in_list:
                screen.focus_chat()
            if screen.has_class("-narrow") and screen.pane == "personas":
                screen.show_pane("prompt")

    async def _show_conversation(self) -> None:
        """Show the conversation of the persona that is open, whichever that is by now."""
        screen = self._screen
        if screen.editing is None or screen.editing.id == (screen.conversing.shown_id or None):
            return
        if screen.editing.id is not None:
            await screen.conversing.show(screen.editing.id)
        elif screen.editing.document is None:
            screen.conversing.show_none()
            screen.conversing.settled.set()

    def open_new(self, *, stay: bool = False) -> Callable[[str | None], Coroutine[Any, Any, None]]:
        """Show an empty persona at once, since one is being made: what is typed from now on is for that one.

        Returns:
            To be awaited with the id that it got, or with None where it could not be made.
        """
        screen, editing = self._screen, self._screen.editing
        assert editing is not None
        before, document = editing.document, editing.open_new()
        self._focus_opened(stay)
        screen.conversing.show_none()

        async def end(persona_id: str | None) -> None:
            is_open = editing.document is document
            if persona_id is not None:
                await (
                    self.open_persona(persona_id, stay=stay, made=document) if is_open else screen.read_list()
                )
            elif is_open:
                screen.conversing.settled.set()  # what was sent comes back
                await asyncio.sleep(0)
                editing.show_again(before)
                await self._show_conversation()
            if persona_id is None or not is_open:
                screen.give_back_unread(document)

        return end

    def open_beside(self, *persona_ids: str) -> None:
        """Personas are to be deleted: where one of them is open, show the one next to it that is left."""
        screen = self._screen
        if screen.editing is None or screen.editing.id not in persona_ids:
            return
        ids = list(screen.personas.entries)
        before = ids[: ids.index(screen.editing.id)] if screen.editing.id in ids else []
        place = len([key for key in before if key not in persona_ids])
        others = [key for key in ids if key not in persona_ids]
        if others:
            screen.start(screen.open_persona(others[min(place, len(others) - 1)], stay=True))

    def gone(self, *persona_ids: str) -> None:
        """Personas were deleted: show none of them any more."""
        screen = self._screen
        for persona_id in persona_ids:
            screen.conversing.forget(persona_id)
        if screen.editing is not None and screen.editing.id in persona_ids:
            screen.editing.close()

    # -- what the document tells --------------------------------------------------------------------------

    def document_opened(self, document: Document | None) -> None:
        """Another document is open, or none: show it anew."""
        screen = self._screen
        self._refused = ""
        if document is None:
            screen.prompt.show("", read_only=True)
        else:
            screen.prompt.bind(document.prompt, read_only=document.broken and not document.prompt.dirty)
        screen.tests.show(document, fresh=True)
        screen.settings.show(document, fresh=True)

    def document_read(self, document: Document, *, keep_cursor: bool) -> None:
        """The open document, which was empty, is read: show its texts; with `keep_cursor` where it stands."""
        screen = self._screen
        if keep_cursor:
            screen.prompt.slot_changed(None)
            screen.prompt.end_flash()
        else:
            screen.prompt.bind(document.prompt, read_only=document.broken and not document.prompt.dirty)
        screen.tests.show(document, fresh=True)
        screen.settings.show(document, fresh=True)

    def document_changed(self, document: Document, *, by_agent: bool, elsewhere: bool) -> None:
        """The open document is another now: show its lists and fields; its slots show their texts themselves."""
        screen = self._screen
        self._refused = ""
        if not document.broken:
            screen.prompt.read_only = not is_editable(document.prompt.text)
        was_gone = screen.tests.is_gone
        screen.tests.show(document, elsewhere=elsewhere and not document.broken)
        if screen.tests.is_gone and not was_gone:
            who = "The agent" if by_agent else "Another program"
            screen.tell(
                f"{who} deleted the test input {screen.tests.shown} while you were in it. "
                "What you go on typing becomes a new one.",
                error=True,
            )
        screen.settings.show(document)

    def input_renamed(self, slot: TextSlot, old: str) -> None:
        """What was typed in a test input that was deleted is stored as a new one."""
        self._screen.tests.renamed(old, slot.id.removeprefix(INPUT))

    def select_test_input(self, input_id: str) -> None:
        """Put the cursor of the test inputs on this one."""
        self._screen.tests.rows.select(input_id)

    def list_changed(self) -> None:
        """What the list of personas shows changed."""
        self._screen.start(self._screen.read_list())

    # -- undo ---------------------------------------------------------------------------------------------

    def action_undo(self) -> None:
        self._step("undo")

    def action_redo(self) -> None:
        self._step("redo")

    def _step(self, operation: Operation) -> None:
        """Undo or redo what is typed in the field of the settings that has the focus, else the last stored unit."""
        screen = self._screen
        if (editing := screen.editing) is not None:
            field = screen.settings.focused_field
            if not (field and screen.settings.step(field, operation)):
                screen.start(editing.undo.step(operation))

    @on(TextEditor.UndoExhausted)
    def _undo_exhausted(self, event: TextEditor.UndoExhausted) -> None:
        event.stop()
        if (editing := self._screen.editing) is None:
            return
        if event.untouched:  # what was done before it was shown, the store knows
            self._screen.start(editing.undo.step(event.operation, record=False))
        else:
            editing.undo.tell_nothing(event.operation)

    @on(TextEditor.RedoDropped)
    def _redo_cut(self, event: TextEditor.RedoDropped) -> None:
        event.stop()
        if (editing := self._screen.editing) is not None and editing.id is not None:
            work = editing.workspace.keep_text(editing.id, event.editor.slot.id, event.text, "undone")
            self._screen.start(work)

    def action_undo_agent(self) -> None:
        if (editing := self._screen.editing) is not None:
            self._screen.start(editing.undo.step("undo", only="agent"))

    def action_redo_agent(self) -> None:
        if (editing := self._screen.editing) is not None:
            self._screen.start(editing.undo.step("redo", only="agent"))

    # -- saving ---------------------------------------------------------------------------------------------

    @on(TextEditor.Blurred)
    def _editor_left(self, event: TextEditor.Blurred) -> None:
        event.stop()
        if (editing := self._screen.editing) is not None:
            editing.saver.save_now(event.editor.slot)

    @on(SettingsPane.FieldBlurred)
    def _field_left(self, event: SettingsPane.FieldBlurred) -> None:
        if (editing := self._screen.editing) is not None:
            editing.saver.save_now(event.slot)

    @on(Banner.Changed)
    def _banner_changed(self, event: Banner.Changed) -> None:
        event.stop()
        self._screen.program.place_told()

    @on(TextEditor.Refused, "#prompt")
    def _refused_in_prompt(self, event: TextEditor.Refused) -> None:
        event.stop()
        screen = self._screen
        if screen.editing is not None and (document := screen.editing.document) is not None:
            self._refuse(
                f"Nothing can be typed here: {BROKEN}" if document.broken else self._cannot_hold(), True
            )

    @on(TestInputs.Refused)
    def _refused_in_input(self, event: TestInputs.Refused) -> None:
        """A key asked for what cannot be done with test inputs: say why; of letters that are typed, once."""
        screen = self._screen
        if screen.editing is None:
            self._refuse(NOT_READ, event.typed)
            return
        document = screen.editing.document
        if document is None:
            self._refuse("Open a persona first.", event.typed)
        elif document.persona is None:
            self._refuse(NOT_READ, event.typed)
        elif document.broken:
            self._refuse(
                f"Nothing can be {'typed' if event.typed else 'changed'} here: {BROKEN}", event.typed
            )
        elif screen.tests.shown is None:
            how = sentence("tests.new", screen.keymap, " {} in the list makes one.")
            self._refuse(f"There is no test input to type in.{how}", event.typed)
        elif event.typed and screen.tests.editor.read_only:
            self._refuse(self._cannot_hold(), True)

    def _refuse(self, why: str, typed: bool) -> None:
        if not typed or why != self._refused:
            self._screen.tell(why, error=True)
        self._refused = why if typed else self._refused

    def _cannot_hold(self) -> str:
        """Return what is said of a text that the editor cannot give back as it was."""
        how = sentence("editor.external", self._screen.keymap, " {} opens the file in your editor.")
        return f"Nothing can be typed here: this text holds signs that stand for hidden characters here.{how}"

    @on(SettingsPane.ChoiceRequested)
    def _setting_choice(self, event: SettingsPane.ChoiceRequested) -> None:
        self._screen.start(self._choose_setting(event.field))

    async def _choose_setting(self, field: str) -> None:
        """Let the person choose what a field holds, and store it; what is stored is shown, whatever it is."""
        from tui.screens.dialogs.picker import Pick
        from tui.widgets.virtual_list import Row

        screen, editing = self._screen, self._screen.editing
        if editing is None:
            return
        persona_id, now = editing.id, screen.settings.slot(field).text
        title = next(f"{title}: {hint}" for name, title, hint in FIELDS if name == field)
        rows = [Row(value, value or NOT_SET, current=value == now) for value in ("", *CHOICES[field])]
        if now and now not in CHOICES[field]:
            title = f"{title.partition(':')[0]}: {now} is none of these"
        chosen = await screen.ask(Pick(title, rows, at=now))
        if chosen is not None and chosen != now and editing.id == persona_id:
            slot = editing.document.slot(FIELD + field) if editing.document is not None else None
            if slot is not None:
                slot.take(chosen, slot.base)
                editing.saver.save_now(slot)
                await editing.saver.queue.settled()

    # -- looking closer ----------------------------------------------------------------------------------

    def action_compare(self) -> None:
        self._screen.start(self._compare())

    async def _compare(self) -> None:
        """Show both texts of a conflict, else what the last change did."""
        from tui.screens.dialogs.diff import ShowDiff

        screen = self._screen
        editing = screen.editing
        if editing is None or editing.persona is None:
            return
        content = screen.tests.editor
        if content.clash is not None and (content.has_focus or editing.state != "conflict"):
            await editing.resolve(content.slot)
            return
        if editing.state == "conflict":
            await editing.resolve(screen.prompt.slot)
            return
        if editing.state == "gone":
            await self._write_back()
            return
        await editing.flush()
        title, diff = await editing.last_change()
        if not diff:
            screen.tell(title)
            return
        await screen.ask(ShowDiff(title, diff))

    def action_write_back(self) -> None:
        self._screen.start(self._write_back())

    async def _write_back(self) -> None:
        """Offer to write a file back that is gone; else open a persona that only kept text is left of."""
        from tui.screens.dialogs.confirm import Confirm

        screen = self._screen
        editing = screen.editing
        if editing is None:
            return
        if editing.state != "gone":
            if not (left := await editing.recovery.without_file()):
                screen.tell("No file is gone that you typed something for.")
                return
            await screen.open_persona(left[0])
        if (
            editing.persona is not None
            and editing.state == "gone"
            and await screen.ask(
                Confirm(
                    "Write the file back?",
                    f"The file of {editing.persona.name} is gone: it was deleted or moved outside this program. "
                    "It is written as it was, and with what you typed. Until then your text is kept.",
                    deed="Write it back",
                    keep="Not now",
                )
            )
        ):
            await editing.write_back()
            if editing.id is not None and editing.state != "gone" and screen.conversing.talk is None:
                await screen.conversing.show(editing.id)  # without a file there was none

    def action_throw_away(self) -> None:
        self._screen.start(self._throw_away())

    async def _throw_away(self) -> None:
        """Ask, and show what is stored instead of what could not be saved."""
        from tui.screens.dialogs.confirm import Confirm

        screen = self._screen
        editing = screen.editing
        if editing is None or editing.persona is None:
            return
        persona = editing.persona
        texts = await editing.recovery.unsaved_texts()
        if not texts:
            screen.tell("Everything is saved.")
            return
        back = "“Take back what was thrown away” in the list of commands brings it back."
        if (
            not await screen.ask(
                Confirm(
                    "Throw away what is not saved?",
                    f"What you typed in {persona.name} ({', '.join(texts)}) is not in its file. {back}",
                    deed="Throw it away",
                    keep="Keep it",
                    danger=True,
                )
            )
            or editing.id != persona.id
            or not await editing.recovery.discard()
        ):
            return
        if editing.state == "gone" and editing.id == persona.id:
            await editing.forget(persona.id)
            screen.open_beside(persona.id)
            await asyncio.sleep(0)
            screen.gone(persona.id)
        screen.tell(f"Thrown away. {back}")

    def action_take_thrown_back(self) -> None:
        self._screen.start(self._take_thrown_back())

    async def _take_thrown_back(self) -> None:
        editing = self._screen.editing
        if editing is None:
            return
        if persona_id := await editing.recovery.take_back_discarded():
            if editing.id != persona_id:
                await self._screen.open_persona(persona_id)
        else:
            self._screen.tell("Nothing was thrown away, or something is not saved now: save that first.")

    def action_external_editor(self) -> None:
        screen = self._screen
        if screen.conversing.bar_focused:
            screen.chat_bar.input.after_typing(lambda: screen.start(self._edit_draft()))
        else:
            screen.start(self._edit_file())

    async def _edit_draft(self) -> None:
        from tui.external_editor.launcher import edit_draft

        screen = self._screen
        await screen.conversing.settled.wait()  # in the first moments the home is still being read
        await edit_draft(screen.program)

    async def _edit_file(self) -> None:
        from tui.external_editor.launcher import edit_file

        editing = self._screen.editing
        if editing is not None and editing.id is not None:
            await edit_file(self._screen.program, editing)
