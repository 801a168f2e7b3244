"""A talk with personas themselves on the main screen: its panel and its bar stand where the agent's are else."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import cached_property
from typing import TYPE_CHECKING, Any

from textual import events
from textual.screen import Screen

from tui.commands import slash
from tui.commands.registry import command_of, sentence
from tui.commands.text_matching import fold
from tui.terminal.sanitise import one_line

if TYPE_CHECKING:
    from tui.app.host import Host
    from tui.chat.persona_talk import PersonaTalk
    from tui.outputs.controller import OutputsController
    from tui.screens.main.persona_commands import PersonaCommands
    from tui.screens.main.persona_view import PersonaView
    from tui.screens.main.talk_bar import TalkBar
    from tui.widgets.persona_list import PersonaList
    from tui.widgets.talk_panel import TalkPanel

RunSlash = Callable[[str, str], Coroutine[Any, Any, None]]


class TalkActions:
    """Opens and ends talks, and what commands do in one.

    Args:
        host: the main screen.
        screen: the same, where panel and bar are mounted.
        view: shows the open persona.
        outputs: knows what asks the models.
        personas: the list of personas.
        persona_commands: makes test inputs.
        run_slash: does a slash command that is none of a talk.
    """

    def __init__(
        self,
        host: Host,
        screen: Screen[Any],
        view: PersonaView,
        outputs: OutputsController,
        personas: PersonaList,
        persona_commands: PersonaCommands,
        run_slash: RunSlash,
    ) -> None:
        self._host, self._screen, self._view, self._outputs = host, screen, view, outputs
        self._personas, self._persona_commands, self._run_slash = personas, persona_commands, run_slash
        self.bar: TalkBar | None = None
        self._panel: TalkPanel | None = None
        self.reading = False

    @cached_property
    def talk(self) -> PersonaTalk:
        """The talk; what it is made of is loaded with the first one."""
        from tui.chat.persona_talk import PersonaTalk

        return PersonaTalk(
            self._host,
            lambda: self._view.documents,
            lambda: self._outputs.evaluator,
            changed=self._show,
            restore_message=self._restore_message,
        )

    @property
    def is_open(self) -> bool:
        """Whether there is a talk."""
        return self.bar is not None and self.talk.is_open

    @property
    def answering(self) -> bool:
        """Whether somebody is answering in the talk."""
        return self.is_open and self.talk.answering

    def stop(self) -> None:
        """Stop the answers that are arriving."""
        if self.is_open:
            self.talk.stop()

    # -- opening and leaving --------------------------------------------------------------------------------

    def action_talk(self) -> None:
        self._host.start(self.open(""))

    def action_talk_to_several(self) -> None:
        self._host.start(self._choose())

    async def _choose(self) -> None:
        from tui.screens.dialogs.picker import PickSeveral
        from tui.widgets.virtual_list import Row

        open_id = self._view.documents.id if self._view.documents is not None else None
        rows = [Row(key, entry.name, current=key == open_id) for key, entry in self._personas.entries.items()]
        if ids := await self._host.ask(PickSeveral("Talk to several personas", rows, at=open_id or "")):
            await self._open(ids)

    async def open(self, words: str) -> None:
        """Talk to the personas of these ids or names, with commas between them; to the open one where none is named."""
        if not words.strip():
            documents = self._view.documents
            if documents is None or documents.id is None:
                self._host.show_message("Open a persona first.")
            else:
                await self._open([documents.id])
            return
        entries, ids = self._personas.entries, []
        for word in filter(None, map(str.strip, words.split(","))):
            named = [key for key, entry in entries.items() if fold(entry.name) == fold(word)]
            found = [word] if word in entries else named
            if len(found) != 1:
                why = "Several personas are called" if found else "No persona is called"
                self._host.show_message(f"{why} {one_line(word, 60)}.", error=True)
                return
            ids += found
        await self._open(list(dict.fromkeys(ids)))

    async def _open(self, ids: list[str]) -> None:
        if self._panel is None:
            await self._mount()
        self.talk.open(ids)
        self._host.focus_chat()

    async def _mount(self) -> None:
        from tui.screens.main.talk_bar import TalkBar
        from tui.widgets.conversation import Glyphs
        from tui.widgets.talk_panel import TalkPanel

        terminal = self._host.program.capabilities
        self._panel = self.talk.view = TalkPanel(
            frames_per_second=terminal.frames_per_second,
            glyphs=Glyphs(ascii_only=terminal.ascii_only),
            press=lambda name: self._host.start(self.run_slash(name, "")),
        )
        self.bar = TalkBar(
            self._host, self.talk, self.run_slash, self._panel.page, ascii_only=terminal.ascii_only
        )
        self.bar.display = False
        await self._screen.mount(self._panel, self.bar, after="#stage")
        self.bar.commands.find = self._offers

    def leave(self) -> None:
        """Go back to the agent."""
        if self.is_open:
            self.talk.leave()
            self._host.focus_chat()

    # -- what is shown --------------------------------------------------------------------------------------

    def _show(self) -> None:
        """Bring panel, bar and keys in line with the talk."""
        panel, bar, talk = self._panel, self.bar, self.talk
        if panel is None or bar is None or not self._host.program.is_running:
            return
        panel.set_class(talk.is_open, "-open")
        bar.display = talk.is_open
        self._host.agent_bar_shown(not talk.is_open)
        if talk.is_open:
            names = ", ".join(one_line(self._personas.name_of(key), 40) for key in talk.ids)
            several = len(talk.ids) > 1
            how = f" · {'at once' if talk.at_once else 'in turn'}" if several else ""
            panel.set_title(f"Talk to {names}{how}")
            bar.set_mode("running" if talk.answering else "idle")
            bar.set_hint(f"Talk to {names}…", can_continue=bool(talk.unanswered) and not talk.answering)
            bar.offers_switch = several
            bar.set_task_mode(talk.at_once)
        elif self.reading:
            self.stop_reading()
        self._host.show_keys()

    def _restore_message(self, text: str) -> None:
        if self.bar is not None:
            self.bar.restore_message(slash.as_typed(text, slash.TALK_COMMANDS))

    def _offers(self, text: str) -> list[slash.Completion]:
        names = {key: entry.name for key, entry in self._personas.entries.items()}
        return slash.offers(text, names, slash.TALK_COMMANDS)

    # -- commands -------------------------------------------------------------------------------------------

    def escape_meaning(self) -> tuple[str, Callable[[], object]]:
        """Return what Esc does in a talk where nobody answers, as a word and what does it."""
        if self.reading or self.bar is None or self._screen.focused is not self.bar.input:
            return "chat", self._host.focus_chat
        return "leave", self.leave

    async def run_slash(self, name: str, rest: str) -> None:
        """Do what a slash command of a talk says."""
        match name:
            case "clear" | "new":
                self.talk.clear()
            case "unclear":
                self.talk.unclear()
            case "continue":
                self.talk.ask_again()
            case "parallel":
                self.talk.toggle_at_once()
            case "stop":
                self.talk.stop()
            case "test":
                self.action_talk_test_input()
            case "leave":
                self.leave()
            case _:
                await self._run_slash(name, rest)

    def action_talk_test_input(self) -> None:
        if not self.is_open or self._panel is None:
            self._host.show_message("There is no talk; /talk begins one.")
        else:
            self._host.start(self._make_test_input())

    async def _make_test_input(self) -> None:
        """Make the message under the cursor, else the last one, a test input of the open persona."""
        persona = self._view.documents.persona if self._view.documents is not None else None
        if persona is None or self._panel is None:
            self._host.show_message("Open a persona first.")
        elif (change := self.talk.test_input(self._panel.chosen, persona.id)) is None:
            self._host.show_message("Nothing was said yet.")
        elif made := await self._persona_commands.add_test_input(persona, change):
            back = sentence("edit.undo", self._host.keymap, " {} undoes it.")
            self._host.show_message(
                f"Test input {one_line(made, 60)} of {one_line(persona.name, 60)} is made.{back}"
            )

    # -- reading --------------------------------------------------------------------------------------------

    def cycle_reading(self) -> None:
        """Give the keys to the panel, or back to the bar."""
        if self.reading:
            self._host.focus_chat()
        elif self._panel is not None and self._panel.is_laid_out:
            self.reading = True
            self._screen.set_focus(None)
            if self._panel.chosen is None:
                self._panel.reading.start_reading()
            self._host.show_keys()

    def stop_reading(self) -> None:
        """The keys go elsewhere."""
        self.reading = False
        if self._panel is not None:
            self._panel.stop_reading()

    def take_key(self, event: events.Key) -> None:
        """Take a key that no widget has."""
        if self.reading and (pressed := command_of("talk", event.key, self._host.keymap)):
            event.stop()
            event.prevent_default()
            self.action_in_talk(pressed.partition(".")[2])

    def action_in_talk(self, what: str) -> None:
        """Do what a key does while a talk is read, by the last part of its command's id."""
        panel = self._panel
        assert panel is not None
        keys: dict[str, Callable[[], object]] = {
            "next": lambda: panel.reading.move_cursor(1),
            "previous": lambda: panel.reading.move_cursor(-1),
            "first": panel.reading.cursor_home,
            "last": panel.reading.cursor_end,
            "left": lambda: panel.read_column(-1),
            "right": lambda: panel.read_column(1),
            "copy": lambda: self._host.program.copy(panel.reading.cursor_text()),
            "test": self.action_talk_test_input,
            "page_up": lambda: panel.page(-1),
            "page_down": lambda: panel.page(1),
        }
        keys[what]()
