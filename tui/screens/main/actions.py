"""What the commands do on the main screen: one `action_…` for each, named in `tui.commands`.

Those on the open persona are in `main_persona`, those on the conversation in `main_chat`.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from textual import on
from textual.screen import Screen

from tui.commands.registry import first_key
from tui.widgets.persona_list import PersonaList
from tui.widgets.test_input_list import TestInputs
from tui.widgets.text.selection import selected_text
from tui.widgets.virtual_list import RowList

if TYPE_CHECKING:
    from tui.screens.main.screen import MainScreen
else:
    MainScreen = Any

QUIT_WITHIN = 2.0
"""Seconds within which a second Ctrl+C quits."""


class MainActions(Screen[None]):
    """The commands; `MainScreen` is these and the screen they work on."""

    _last_quit_key = float("-inf")

    @property
    def _screen(self) -> MainScreen:
        return self  # type: ignore[return-value]

    # -- leaving and stopping ----------------------------------------------------------------------------

    def escape_meaning(self) -> tuple[str, Any]:
        """Return what Esc does now, as a word and a deed; ("", None) for nothing."""
        screen = self._screen
        if screen.personas.filter_open:
            return "close filter", screen.personas.close_filter
        if screen.chat_bar.commands.display:
            return "close list", screen.chat_bar.close_commands
        if screen.conversing.tasks.can_stop:
            return "stop", screen.conversing.tasks.stop
        for pane in (screen.personas, screen.tests):
            if pane.rows.has_focus and pane.rows.marked:
                return "clear the marks", pane.rows.clear_marks
        if screen.conversing.panel_controller.reading:
            return "chat", screen.conversing.panel_controller.stop_reading
        if not screen.conversing.bar_focused:
            return "chat", screen.focus_chat
        if screen.conversing.panel_controller.panel_shown and not screen.conversing.panel.asking:
            return "hide output", screen.conversing.panel_controller.escape_panel
        return "", None

    def action_back(self) -> None:
        _, deed = self.escape_meaning()
        if deed is not None:
            deed()
        self._screen.show_keys()

    def action_stop_agent(self) -> None:
        self._screen.conversing.tasks.stop()

    def action_task_mode(self) -> None:
        self._screen.conversing.tasks.toggle_task_mode()

    def action_continue_task(self) -> None:
        self._screen.start(self._screen.conversing.tasks.resume())

    def action_copy_or_stop(self) -> None:
        if self._screen.conversing.bar_focused:
            self._screen.chat_bar.input.after_typing(self._copy_or_stop)
        else:
            self._copy_or_stop()

    def _copy_or_stop(self) -> None:
        screen = self._screen
        if text := selected_text(screen):
            screen.program.copy(text)
        elif screen.conversing.tasks.can_stop:
            screen.conversing.tasks.stop()
        elif screen.conversing.drafts.clear_draft():
            screen.tell("The draft is put away; Up brings it back.")
        elif time.monotonic() - self._last_quit_key < QUIT_WITHIN:
            self.action_leave()
        else:
            self._last_quit_key = time.monotonic()
            key = first_key("copy", screen.program.settings.keys)
            screen.tell(f"Press {key} again to quit." if key else "Once more quits.")

    def action_leave(self) -> None:
        self._screen.again(self._leave)  # who presses on is asked once

    async def _leave(self, agreed: Mapping[str, str] | None = None) -> None:
        """Save, ask if something would be lost, and end.

        `agreed`: the agent is done, for which the person wanted to wait, and had agreed to lose these texts.
        """
        screen = self._screen
        nowhere = await self._save_before_leaving()
        known = agreed is not None and nowhere.items() <= agreed.items()
        if not known and not await self._may_leave():
            return
        if working := screen.conversing.runs.working:
            from tui.screens.dialogs.quit_dialog import Leaving

            choice = await screen.ask(Leaving(working))
            screen.conversing.runs.when_idle = None
            if choice == "wait":
                screen.conversing.runs.when_idle = lambda: self._leave_now_idle(nowhere)
                screen.tell("The program ends when the agent is done.")
                if not screen.conversing.runs.working:
                    screen.conversing.runs.when_idle()
            screen.show_keys()  # they tell whether the program is to end
            if choice != "stop":
                return
            screen.conversing.runs.stop_working()
        await screen.program.leave(0, given_up=nowhere)

    def _leave_now_idle(self, agreed: Mapping[str, str]) -> None:
        self._screen.conversing.runs.when_idle = None
        self._screen.start(self._leave(agreed))

    async def _save_before_leaving(self) -> dict[str, str]:
        """Save what can be saved; return what no disk took, by what it is. A fault does not keep anyone from leaving."""
        screen = self._screen
        if (editing := screen.editing) is None:
            return {}
        try:
            await editing.flush()
        except Exception as error:  # noqa: BLE001 - whatever it is, the program can be left
            await screen.program.tell_fault(error)
        await editing.write_drafts()
        return editing.nowhere_else()

    async def _may_leave(self) -> bool:
        """Ask where something is not in its file; return whether the program may end."""
        from tui.screens.dialogs.confirm import Confirm

        screen = self._screen
        if (editing := screen.editing) is None:
            return True
        lost = editing.would_lose()
        entries, left = screen.personas.entries, lost or editing.not_saved()
        names = ", ".join(entries[key].name if key in entries else key for key in left)
        return not left or bool(
            await screen.ask(
                Confirm(
                    "Quit and lose what is not saved?" if lost else "Quit with text that is not in its file?",
                    f"What you typed in {names} could not be saved."
                    + ("" if lost else " It is kept and offered at the next start."),
                    deed="Quit",
                    keep="Stay",
                    danger=bool(lost),
                )
            )
        )

    # -- personas, commands, help -----------------------------------------------------------------------

    def action_switch_persona(self, query: str = "", *, choose: bool = False) -> None:
        self._screen.start(self._switch(query, choose))

    async def _switch(self, query: str, choose: bool) -> None:
        from tui.screens.dialogs.command_palette import Switcher

        screen = self._screen
        persona = screen.editing.persona if screen.editing else None
        personas = screen.personas
        dialog = Switcher(
            list(personas.entries.values()),
            screen.conversing.badges,
            persona.id if persona else None,
            [(t.id, t.content) for t in persona.test_inputs] if persona else [],
            query,
            is_read=screen.names_are_read,
            choose=choose,
        )
        personas.on_entries_changed = lambda: dialog.show_entries(
            list(personas.entries.values()), screen.names_are_read
        )
        try:
            picked = await screen.ask(dialog)
        finally:
            personas.on_entries_changed = None
        if picked is None:
            return
        if picked.kind == "persona":
            await screen.open_persona(picked.key)
        elif picked.kind == "test":
            screen.action_go("tests")
            screen.tests.rows.select(picked.key)
        else:
            await self.run_action(picked.key)

    def action_next_news(self) -> None:
        screen = self._screen
        ids = list(screen.personas.entries)
        current = screen.editing.id if screen.editing else None
        start = ids.index(current) + 1 if current in ids else 0
        for key in [*ids[start:], *ids[:start]]:
            if key in screen.conversing.badges and key != current:
                screen.start(screen.open_persona(key))
                return
        screen.tell("No other persona has unread activity.")

    def action_help(self) -> None:
        from tui.screens.dialogs.help import Help

        program = self._screen.program
        self.app.push_screen(Help(program.model_name, str(program.config_path or "config.toml")))

    def action_program_settings(self) -> None:
        from tui.screens.dialogs.settings import ProgramSettings

        screen = self._screen
        if (preferences := screen.program.preferences) is None:
            screen.tell("The settings cannot be changed here.")
            return
        self.app.push_screen(ProgramSettings(preferences))

    def action_redraw(self) -> None:
        self._screen.program.redraw()

    # -- deeds in lists ------------------------------------------------------------------------------------

    @on(TestInputs.OperationRequested)
    def _test_deed(self, event: TestInputs.OperationRequested) -> None:
        if (deeds := self._screen.deeds) is not None:
            self._screen.start(self._with_marks(deeds.on_test_input, event, event.input_id))

    @on(PersonaList.OperationRequested)
    def _persona_deed(self, event: PersonaList.OperationRequested) -> None:
        if (deeds := self._screen.deeds) is not None:
            self._screen.start(self._with_marks(deeds.on_persona, event, event.persona_id))

    async def _with_marks(
        self,
        deed: Any,
        event: TestInputs.OperationRequested | PersonaList.OperationRequested,
        key: str | None,
    ) -> None:
        """Do a deed; what is done to all that is marked clears the marks."""
        screen = self._screen
        rows = screen.tests.rows if isinstance(event, TestInputs.OperationRequested) else screen.personas.rows
        if event.marked and event.operation in ("delete", "duplicate"):
            if await deed(event.operation, key, event.marked):
                rows.clear_marks()
        else:
            await deed(event.operation, key)

    @on(RowList.Marked)
    def _marks_changed(self, event: RowList.Marked) -> None:
        event.stop()
        self._screen.show_keys()

    @on(PersonaList.Opened)
    def _opened(self, event: PersonaList.Opened) -> None:
        self._screen.start(self._screen.open_persona(event.persona_id))
