"""The commands on the program: Esc and Ctrl+C, leaving, switching personas, help, settings."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

from tui.commands.registry import first_key
from tui.widgets.persona_list import PersonaList
from tui.widgets.prompt_pane import PromptPane
from tui.widgets.test_input_list import TestInputList
from tui.widgets.text.selection import selected_text

if TYPE_CHECKING:
    from tui.app.host import Host
    from tui.chat.controller import ConversationController
    from tui.outputs.controller import OutputsController
    from tui.screens.main.actions_entry import ActionsEntry
    from tui.screens.main.composition_actions import CompositionActions
    from tui.screens.main.layout import PaneLayout
    from tui.screens.main.output_viewing import OutputViewing
    from tui.screens.main.persona_catalog import PersonaCatalog
    from tui.screens.main.persona_view import PersonaView
    from tui.screens.main.talk import TalkActions
    from tui.widgets.chat_bar import ChatBar

QUIT_WITHIN = 2.0
"""Seconds within which a second Ctrl+C quits."""


class ProgramActions:
    """The commands that concern more than one pane.

    Args:
        host: the main screen.
        conversations: what is said.
        bar: gives the bar in which is written.
        panes: the panes.
        catalog: whether the names of personas are read.
        view: shows the open persona.
        talk: a talk with a persona.
        viewing: the output pane, which Esc closes.
        composition: the compiled prompt, which Esc closes.
        outputs: its test inputs may be run.
        actions: gives what runs actions.
        run_action: does the action of a command.
    """

    def __init__(
        self,
        host: Host,
        conversations: ConversationController,
        bar: Callable[[], ChatBar],
        panes: PaneLayout,
        catalog: PersonaCatalog,
        view: PersonaView,
        talk: TalkActions,
        viewing: OutputViewing,
        composition: CompositionActions,
        outputs: OutputsController,
        actions: Callable[[], ActionsEntry],
        run_action: Callable[[str], Awaitable[None]],
    ) -> None:
        self._host, self._chat, self._bar, self._talk = host, conversations, bar, talk
        self._panes, self._catalog, self._view, self._run_action = panes, catalog, view, run_action
        self._viewing, self._composition = viewing, composition
        self._outputs, self._actions = outputs, actions
        self._personas, self._tests = panes.widget(PersonaList), panes.widget(TestInputList)
        self._prompt = panes.widget(PromptPane)
        self._last_quit_key = float("-inf")

    # -- leaving and stopping ----------------------------------------------------------------------------

    def escape_meaning(self) -> tuple[str, Any]:
        """Return what Esc does now, as a word and what does it; ("", None) for nothing."""
        if self._personas.filter_open:
            return "close filter", self._personas.close_filter
        if self._bar().commands.display:
            return "close list", self._bar().close_commands
        if self._talk.answering:
            return "stop", self._talk.stop
        if not self._talk.is_open and self._chat.tasks.can_stop:
            return "stop", self._chat.tasks.stop
        if self._outputs.is_running:
            return "stop", self._outputs.stop
        if (broadcast := self._chat.broadcast) is not None:
            return "stop", broadcast.stop
        if self._actions().running:
            return "stop", self._actions().stop_last
        for pane in (self._personas, self._tests):
            if pane.rows.has_focus and pane.rows.marked:
                return "clear the marks", pane.rows.clear_marks
        if self._viewing.has_focus:
            return "close", self._viewing.leave
        if self._composition.has_focus:
            return "close", self._composition.close
        if self._prompt.is_finding and self._panes.here == "prompt":
            return "close", self._prompt.end_finding
        if self._talk.is_open:
            return self._talk.escape_meaning()
        if self._chat.panel_controller.reading:
            return "chat", self._chat.panel_controller.stop_reading
        if not self._bar().has_keys:
            return "chat", self._host.focus_chat
        if self._chat.panel_controller.panel_shown and not self._chat.panel.asking:
            return "hide output", self._chat.panel_controller.escape_panel
        return "", None

    def action_back(self) -> None:
        _, action = self.escape_meaning()
        if action is not None:
            action()
        self._host.show_keys()

    def action_stop_agent(self) -> None:
        self._chat.tasks.stop()

    def action_task_mode(self) -> None:
        self._chat.tasks.toggle_task_mode()

    def action_continue_task(self) -> None:
        self._host.start(self._chat.tasks.resume())

    def action_copy_or_stop(self) -> None:
        if self._panes.here == "chat" and not self._panes.nothing_focused:
            self._bar().input.after_typing(self._copy_or_stop)
        else:
            self._copy_or_stop()

    def _copy_or_stop(self) -> None:
        if text := selected_text(self._host.program.main):
            self._host.program.copy(text)
        elif self._talk.answering:
            self._talk.stop()
        elif not self._talk.is_open and self._chat.tasks.can_stop:
            self._chat.tasks.stop()
        elif self._outputs.stop():
            pass
        elif self._bar().input.stash() if self._talk.is_open else self._chat.drafts.clear_draft():
            self._host.show_message("Draft cleared; Up brings it back.")
        elif time.monotonic() - self._last_quit_key < QUIT_WITHIN:
            self.action_leave()
        else:
            self._last_quit_key = time.monotonic()
            key = first_key("copy", self._host.program.settings.keys)
            self._host.show_message(f"Press {key} again to quit." if key else "Press again to quit.")

    def action_leave(self) -> None:
        self._host.start_once(self._leave)  # who presses on is asked once

    async def _leave(self, agreed: Mapping[str, str] | None = None) -> None:
        """Save, ask if something would be lost, and end.

        `agreed`: the agent is done, for which the person wanted to wait, and had agreed to lose these texts.
        """
        nowhere = await self._save_before_leaving()
        known = agreed is not None and nowhere.items() <= agreed.items()
        if not known and not await self._may_leave():
            return
        if (running := self._actions().running) and not await self._host.confirm(
            "Quit and stop actions?",
            f"At work: {', '.join(running)}. What they did stays.",
            action="Quit",
            keep="Stay",
        ):
            return
        if working := self._chat.runs.working:
            from tui.screens.dialogs.quit_dialog import QuitDialog

            choice = await self._host.ask(QuitDialog(working))
            self._chat.runs.when_idle = None
            if choice == "wait":
                self._chat.runs.when_idle = lambda: self._leave_now_idle(nowhere)
                self._host.show_message("The program ends when the agent is done.")
                if not self._chat.runs.working:
                    self._chat.runs.when_idle()
            self._host.show_keys()  # they tell whether the program is to end
            if choice != "stop":
                return
            self._chat.runs.stop_working()
        await self._host.program.shutdown.leave(0, given_up=nowhere)

    def _leave_now_idle(self, agreed: Mapping[str, str]) -> None:
        self._chat.runs.when_idle = None
        self._host.start(self._leave(agreed))

    async def _save_before_leaving(self) -> dict[str, str]:
        """Save what can be saved; return what no disk took, by what it is. A fault does not keep anyone from leaving."""
        if (documents := self._view.documents) is None:
            return {}
        try:
            await documents.flush()
        except Exception as error:  # noqa: BLE001 - whatever it is, the program can be left
            await self._host.program.shutdown.show_fault(error)
        await documents.write_drafts()
        return documents.memory_only()

    async def _may_leave(self) -> bool:
        """Ask where something is not in its file; return whether the program may end."""
        from tui.screens.dialogs.confirm import Confirm

        if (documents := self._view.documents) is None:
            return True
        lost = documents.would_lose()
        entries, left = self._personas.entries, lost or documents.not_saved()
        names = ", ".join(entries[key].name if key in entries else key for key in left)
        return not left or bool(
            await self._host.ask(
                Confirm(
                    "Quit and lose unsaved text?" if lost else "Quit with unsaved text?",
                    f"What you typed in {names} could not be saved."
                    + ("" if lost else " It is kept and offered at the next start."),
                    action="Quit",
                    keep="Stay",
                    danger=bool(lost),
                )
            )
        )

    # -- personas, commands, help -----------------------------------------------------------------------

    def action_switch_persona(self, query: str = "", *, choose: bool = False) -> None:
        self._host.start(self._switch(query, choose))

    async def _switch(self, query: str, choose: bool) -> None:
        from tui.screens.dialogs.command_palette import CommandPaletteDialog

        persona = self._view.documents.persona if self._view.documents else None
        personas = self._personas
        dialog = CommandPaletteDialog(
            list(personas.entries.values()),
            self._chat.badges,
            persona.id if persona else None,
            [(t.id, t.content) for t in persona.test_inputs] if persona else [],
            query,
            is_read=self._catalog.names_are_read,
            choose=choose,
        )
        personas.on_entries_changed = lambda: dialog.show_entries(
            list(personas.entries.values()), self._catalog.names_are_read
        )
        try:
            picked = await self._host.ask(dialog)
        finally:
            personas.on_entries_changed = None
        if picked is None:
            return
        if picked.kind == "persona":
            await self._view.open_persona(picked.key)
        elif picked.kind == "test":
            self._panes.action_go("tests")
            self._tests.rows.select(picked.key)
        else:
            await self._run_action(picked.key)

    def action_next_news(self) -> None:
        ids = list(self._personas.entries)
        current = self._view.documents.id if self._view.documents else None
        start = ids.index(current) + 1 if current in ids else 0
        for key in [*ids[start:], *ids[:start]]:
            if key in self._chat.badges and key != current:
                self._host.start(self._view.open_persona(key))
                return
        self._host.show_message("No other persona has unread activity.")

    def action_help(self) -> None:
        from tui.screens.dialogs.help import Help

        program = self._host.program
        self._host.program.push_screen(Help(program.model_name, str(program.config_path or "config.toml")))

    def action_program_settings(self) -> None:
        from tui.screens.dialogs.settings import ProgramSettings

        if (preferences := self._host.program.preferences) is None:
            self._host.show_message("The settings cannot be changed here.")
            return
        self._host.program.push_screen(ProgramSettings(preferences))

    def action_redraw(self) -> None:
        self._host.program.redraw()
