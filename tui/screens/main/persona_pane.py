"""What is done to the open persona on the main screen: undone, saved, compared, written back, thrown away, edited."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textual import on
from textual.screen import Screen

from tui.terminal.sanitise import one_line
from tui.widgets.persona_fields import CHOICES, FIELDS, NOT_SET, SettingsPane
from tui.widgets.prompt_pane import Banner
from tui.widgets.test_input_list import TestInputs
from tui.widgets.text.document_editor import TextEditor

if TYPE_CHECKING:
    from personas.versions.undo import Retrace
    from tui.screens.main.screen import MainScreen
else:
    MainScreen = Any


class PersonaActions(Screen[None]):
    """The open persona's side of the main screen."""

    _opening: object = None  # what was asked for last

    @property
    def _screen(self) -> MainScreen:
        return self  # type: ignore[return-value]

    # -- opening ------------------------------------------------------------------------------------------

    async def open_persona(self, persona_id: str, *, stay: bool = False) -> None:
        """Show a persona and its conversation; with `stay` the list of personas keeps the focus it has.

        What is pressed meanwhile is for that persona, and waits until it is shown.
        """
        screen, ways = self._screen, self._screen.program.ways
        if (editing := screen.editing) is None or ways.is_left:
            return
        ways.begin()
        # What was typed so far is for the persona that the program began with.
        await screen.conversing.begun.wait()
        self._opening = mine = object()
        if not await editing.open(persona_id):
            if self._opening is mine:
                screen.led_nowhere()
            return  # else another was asked for meanwhile, and sees to the rest
        in_list = screen.focused is not None and screen.personas in screen.focused.ancestors_with_self
        if not (in_list and stay):
            if screen.focused is None or in_list:
                screen.focus_chat()
            if screen.has_class("-narrow") and screen.pane == "personas":
                screen.show_pane("prompt")
        await screen.conversing.show(persona_id)
        ways.arrive()

    def leave_opening(self) -> None:
        """The person does not wait any more for what they asked for: it opens nothing, and the chat bar has the keys."""
        self._opening = None
        if (editing := self._screen.editing) is not None:
            editing.open_no_more()
        self._screen.focus_chat()

    def gone(self, *persona_ids: str) -> None:
        """Personas were deleted: where one of them is open, show the one next to it that is left."""
        screen = self._screen
        for persona_id in persona_ids:
            screen.conversing.forget(persona_id)
        if screen.editing is None or screen.editing.id not in persona_ids:
            return
        ids = list(screen.personas.entries)
        before = ids[: ids.index(screen.editing.id)] if screen.editing.id in ids else []
        place = len([key for key in before if key not in persona_ids])
        others = [key for key in ids if key not in persona_ids]
        screen.editing.close()
        if others:
            screen.lead(screen.open_persona(others[min(place, len(others) - 1)], stay=True))

    # -- undo ---------------------------------------------------------------------------------------------

    def action_undo(self) -> None:
        self._step("undo")

    def action_redo(self) -> None:
        self._step("redo")

    def _step(self, operation: Retrace) -> None:
        """Undo or redo what is typed in the field of the settings that has the focus, else what was done last."""
        screen = self._screen
        if (editing := screen.editing) is not None:
            field = screen.settings.focused_field
            if not (field and screen.settings.step(field, operation)):
                screen.do(editing.walk(operation))

    def action_undo_agent(self) -> None:
        if (editing := self._screen.editing) is not None:
            self._screen.do(editing.walk_runs("undo"))

    def action_redo_agent(self) -> None:
        if (editing := self._screen.editing) is not None:
            self._screen.do(editing.walk_runs("redo"))

    # -- saving ---------------------------------------------------------------------------------------------

    @on(TextEditor.Edited, "#prompt")
    def _edited(self, event: TextEditor.Edited) -> None:
        event.stop()
        editing = self._screen.editing
        if (
            editing is not None
            and editing.id
            and editing.unsaved.held(editing.id)
            and not event.editor.unsaved
        ):
            self._screen.start(editing.save())  # typed away again: there is nothing to keep
        self._screen.show_state()

    @on(Banner.Changed)
    def _banner_changed(self, event: Banner.Changed) -> None:
        event.stop()
        self._screen.program.place_told()

    @on(TextEditor.Refused, "#prompt")
    def _refused(self, event: TextEditor.Refused) -> None:
        event.stop()
        if (editing := self._screen.editing) is not None:
            editing.refuse_key()
        else:
            self._screen.once_read("go('prompt')", lambda: None)  # says why there is nothing to type in

    @on(TestInputs.Refused)
    def _refused_input(self, event: TestInputs.Refused) -> None:
        if (editing := self._screen.editing) is not None:
            editing.inputs.refuse(typed=event.typed)

    @on(TextEditor.SaveWanted, "#prompt")
    def _save(self, event: TextEditor.SaveWanted) -> None:
        event.stop()
        if (editing := self._screen.editing) is not None:
            self._screen.start(editing.save())

    @on(SettingsPane.Changed)
    def _setting(self, event: SettingsPane.Changed) -> None:
        if (editing := self._screen.editing) is not None:
            self._screen.start(editing.fields.save(event.field))

    @on(SettingsPane.Paused)
    def _setting_paused(self, event: SettingsPane.Paused) -> None:
        if (editing := self._screen.editing) is not None:
            self._screen.start(editing.fields.keep(event.field))

    @on(SettingsPane.ChoiceWanted)
    def _setting_choice(self, event: SettingsPane.ChoiceWanted) -> None:
        self._screen.program.action_begins("choose")
        self._screen.lead(self._choose_setting(event.field))

    async def _choose_setting(self, field: str) -> None:
        """Let the person choose what a field holds, and store it; what is stored is shown, whatever it is."""
        from tui.screens.dialogs.picker import Pick
        from tui.widgets.virtual_list import Row

        screen, editing = self._screen, self._screen.editing
        if editing is None:
            return
        persona_id, now = editing.id, screen.settings.field(field).raw
        title = next(f"{title}: {hint}" for name, title, hint in FIELDS if name == field)
        rows = [Row(value, value or NOT_SET, current=value == now) for value in ("", *CHOICES[field])]
        if now and now not in CHOICES[field]:
            title = f"{title.partition(':')[0]}: {now} is none of these"
        chosen = await screen.ask(Pick(title, rows, at=now))
        if chosen is not None and chosen != now and editing.id == persona_id:
            screen.settings.field(field).raw = chosen
            await editing.fields.save(field)

    @on(SettingsPane.Met)
    def _setting_met(self, event: SettingsPane.Met) -> None:
        theirs = f"to “{one_line(event.theirs, 60)}”" if event.theirs else "and is empty there"
        self._screen.tell(
            f"{event.title} was changed elsewhere, {theirs}. Leaving the field saves what you typed; undo brings "
            "the other back.",
            error=True,
        )

    # -- looking closer ----------------------------------------------------------------------------------

    def action_compare(self) -> None:
        self._screen.lead(self._screen.alone(self._compare()))

    async def _compare(self) -> None:
        """Show both texts of a conflict, else what the last change did."""
        from tui.screens.dialogs.diff import ShowDiff

        screen = self._screen
        editing = screen.editing
        if editing is None or editing.persona is None:
            return
        content = screen.tests.editor
        if content.clash is not None and (content.has_focus or editing.state != "conflict"):
            await editing.inputs.choose()
            return
        if editing.state == "conflict":
            await editing.choose()
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
        self._screen.lead(self._screen.alone(self._write_back()))

    async def _write_back(self) -> None:
        """Offer to write a file back that is gone; else open a persona that only kept text is left of."""
        from tui.screens.dialogs.confirm import Confirm

        screen = self._screen
        editing = screen.editing
        if editing is None:
            return
        if editing.state != "gone":
            if not (left := await editing.giving.without_file()):
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
        self._screen.lead(self._screen.alone(self._throw_away()))

    async def _throw_away(self) -> None:
        """Ask, and show what is stored instead of what could not be saved."""
        from tui.screens.dialogs.confirm import Confirm

        screen = self._screen
        editing = screen.editing
        if editing is None or editing.persona is None:
            return
        persona = editing.persona
        texts = await editing.giving.unsaved_texts()
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
            or not await editing.giving.throw_away()
        ):
            return
        if editing.state == "gone" and editing.id == persona.id:
            editing.forget(persona.id)
            screen.gone(persona.id)
        screen.tell(f"Thrown away. {back}")

    def action_take_thrown_back(self) -> None:
        self._screen.lead(self._take_thrown_back())

    async def _take_thrown_back(self) -> None:
        editing = self._screen.editing
        if editing is None:
            return
        if persona_id := await editing.giving.take_back():
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
