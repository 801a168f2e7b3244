"""The main screen: panes, the agent's panel over them, the chat bar below, and where keys lead.

What is open and saved is `tui.document`, what is said is `tui.chat`; here is what both look like.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Coroutine
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.events import ScreenResume

from personas.errors import PersonaError
from tui.app.notifications import OF_BROKEN
from tui.app.operation_context import begin_deed
from tui.app.shutdown import load
from tui.chat.controller import ConversationController
from tui.commands.footer_keys import FocusArea, FooterState, keys_now
from tui.commands.registry import Keymap, bindings, first_key
from tui.document.document import Document
from tui.document.text_slot import PROMPT
from tui.drafts.chat_drafts import below
from tui.screens.dialogs.too_small import TooSmall
from tui.screens.main.actions import MainActions
from tui.screens.main.chat_pane import ChatActions
from tui.screens.main.layout import PANES, PaneLayout
from tui.screens.main.persona_pane import PersonaActions
from tui.widgets.chat_bar import ChatBar
from tui.widgets.chat_bar_labels import HINT
from tui.widgets.footer import KeyLine
from tui.widgets.pane_tabs import PaneTabs
from tui.widgets.persona_fields import SettingsPane
from tui.widgets.persona_list import PersonaEntry, PersonaList, sign_of
from tui.widgets.plain_text import LiteralStatic, content
from tui.widgets.prompt_pane import PromptPane
from tui.widgets.test_input_list import TestInputs
from tui.widgets.text.document_editor import TextEditor

if TYPE_CHECKING:
    from personas.persona import Persona
    from tui.app.app import PersonaApp
    from tui.document.controller import DocumentController
    from tui.document.merge import Clash
    from tui.screens.dialogs.base import Dialog
    from tui.screens.main.catalog import Listing
    from tui.screens.main.persona_commands import Deeds
    from tui.terminal.capabilities import Capabilities
    from tui.widgets.agent_panel import AgentPanel

LOOK_EVERY = 1.0
"""Seconds between two looks for changes from outside."""


class MainScreen(TooSmall, MainActions, PersonaActions, ChatActions, PaneLayout):
    """Everything on one screen."""

    DEFAULT_CSS = Path(__file__).with_suffix(".tcss").read_text(encoding="utf-8")

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("anywhere")]

    AUTO_FOCUS = ""  # what has the keys is decided here

    def __init__(self, persona_id: str | None = None, first: Persona | None = None) -> None:
        super().__init__()
        self._wanted, self._read_before = persona_id, first
        self._typed_early = Document(first.id if first is not None else "")
        self._tasks: set[asyncio.Task[Any]] = set()
        self._again: dict[Callable[[], Coroutine[Any, Any, Any]], asyncio.Task[Any]] = {}
        self._reading: asyncio.Task[Any] | None = None
        self._named = asyncio.Event()  # the names of all personas are read, as far as they can be
        self._first: Callable[[], Coroutine[Any, Any, None]] | None = None
        self._last: str | None = None
        self.editing: DocumentController | None = None
        self._listing: Listing | None = None
        self.deeds: Deeds | None = None
        self.conversing = ConversationController(self)

    @property
    def program(self) -> PersonaApp:
        """The app, by its own type."""
        return self.app  # type: ignore[return-value]

    def compose(self) -> ComposeResult:
        self.lay_out(restyle=False)
        with Vertical(id="stage"):
            yield PaneTabs(list(PANES.items()))
            with Horizontal(id="panes"):
                yield PersonaList()
                yield PromptPane()
                with Vertical(id="side"):
                    yield TestInputs()
                    yield SettingsPane()
        yield ChatBar(ascii_only=self.program.capabilities.ascii_only)
        yield KeyLine()
        yield LiteralStatic("", id="too-small")

    # -- parts --------------------------------------------------------------------------------------------

    @cached_property
    def prompt(self) -> TextEditor:
        return self.query_one(PromptPane).editor

    @cached_property
    def tests(self) -> TestInputs:
        return self.query_one(TestInputs)

    @cached_property
    def settings(self) -> SettingsPane:
        return self.query_one(SettingsPane)

    @cached_property
    def personas(self) -> PersonaList:
        return self.query_one(PersonaList)

    @cached_property
    def chat_bar(self) -> ChatBar:
        return self.query_one(ChatBar)

    async def confirm(self, question: str, text: str, *, deed: str, keep: str, danger: bool = False) -> bool:
        """Ask the person whether something is to be done; for the arguments, see `Confirm`."""
        from tui.screens.dialogs.confirm import Confirm

        return bool(await self.ask(Confirm(question, text, deed=deed, keep=keep, danger=danger)))

    def focus_chat(self) -> None:
        """Give the keys to the chat bar."""
        self.conversing.panel_controller.end_reading()
        self.set_focus(self.chat_bar.input)  # at once: what is typed behind the key goes there

    def note_persona(self, persona: Persona) -> None:
        """Another persona than the open one changed."""
        self.personas.show_entries([PersonaEntry.of(persona)])

    async def on_unmount(self) -> None:
        await self.conversing.drafts.close()

    # -- beginning ----------------------------------------------------------------------------------------

    def _on_screen_resume(self, event: ScreenResume) -> None:
        # Comes before the handler of the base class, which styles every widget anew: they were styled a moment ago.
        if self.stack_updates == 0:
            event.refresh_styles = False
        if self.query(KeyLine):
            self.show_keys()

    def on_mount(self) -> None:
        self.chat_bar.set_hint(HINT)
        self.chat_bar.input.knows_sent = self.conversing.settled.is_set
        self.chat_bar.show_output_button(False)
        self.chat_bar.commands.find = self.find_offers
        if (first := self._read_before) is not None:  # it is opened in a moment
            self._typed_early.take(first)
        self.document_opened(self._typed_early)
        self.query_one(PromptPane).show_state(
            first.name if first else "", "saved" if first else "reading", ""
        )
        self.focus_chat()
        self.program.keys.begin()
        self.call_after_refresh(self._start_up)

    def _start_up(self) -> None:
        # Returns nothing: a task returned here would be awaited by the screen's own message loop.
        self.start(self._begin())

    def start(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Run `work` beside the screen; a fault in it is told and kept, and ends nothing."""
        task = asyncio.create_task(self._isolated(work, asyncio.current_task() in self._tasks))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(lambda _: work.close())  # one that is cancelled before it began
        return task

    async def _isolated(self, work: Coroutine[Any, Any, Any], is_part: bool = True) -> Any:
        if not is_part:  # of a deed that is under way; a widget that one put there is none
            begin_deed()
        try:
            return await work
        except PersonaError as error:
            self.tell(str(error), error=True)
        except Exception as error:  # noqa: BLE001 - one failed deed must not take unsaved text down with it
            await self.program.tell_fault(error)
        return None

    async def ask(self, dialog: Dialog[Any]) -> Any:
        """Show a dialog and return its answer, None when it was closed."""
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.app.push_screen(dialog, lambda result: None if answer.done() else answer.set_result(result))
        return await answer

    async def choose(self, clash: Clash, ours: str, theirs: str, told: str = "") -> str | None:
        """Let the person choose between two texts; `told`: what was said of it, which goes."""
        from tui.screens.dialogs.conflict import ChooseText

        self.program.take_back(lambda message: message == content(told).plain)
        chosen: str | None = await self.ask(ChooseText(clash, ours=ours, theirs=theirs))
        return chosen

    @property
    def is_reading(self) -> bool:
        """Whether the home, or what is open, is being read."""
        return self.editing is None or self.editing.state == "reading"

    def give_back_unread(self, document: Document | None = None) -> None:
        """Put what was typed for a persona that does not come, by default the first one, into the chat bar."""
        document = document or (self._typed_early if self.editing is None else None)
        if document is None or not (typed := document.take_typed_early().get(PROMPT, "")):
            return
        self.chat_bar.set_draft(below(self.chat_bar.draft, typed))
        self.tell("What you typed cannot go where you meant it: it stands in the chat bar.", error=True)

    async def _begin(self) -> None:
        """After the first paint: open the home, list the personas, show one, then read the rest."""
        if not gc.isenabled():
            gc.freeze()  # what was loaded for the screen stays: no collection has to look through it again
            gc.enable()
        store = await self.program.open_home()
        if store is None:
            return
        from tui.document.async_store import Workspace
        from tui.document.controller import DocumentController
        from tui.drafts.store import DraftStore
        from tui.screens.main.catalog import Listing
        from tui.screens.main.persona_commands import Deeds

        editing = DocumentController(
            self,
            Workspace(store),
            DraftStore(store.home.root, self.program.state_folder),
            self._typed_early,
        )
        self._listing = Listing(store)
        self._first = partial(self._show_first, editing, Deeds(self, editing))
        await self._try_first()
        # Also where that failed: what was sent meanwhile is not waited for any more. It comes back.
        self.conversing.settled.set()
        self.show_state()
        self.set_interval(LOOK_EVERY, self._look)
        self.start(self._welcome())
        if self.editing is not None:
            await self._read_rest()

    async def _read_rest(self) -> None:
        await self._isolated(self.read_list())
        await self.conversing.find_tasks()
        await self.program.prepare_model()

    async def _try_first(self, *, again: bool = False) -> None:
        """Show what comes first; where the disk does not say which personas there are, each look tries `again`."""
        assert self._first is not None
        try:
            await self._first()
        except PersonaError as error:
            if not again:
                self.tell(f"{error} This is tried again.", error=True)
        except Exception as error:  # noqa: BLE001 - as in `_isolated`
            if not again:
                await self.program.tell_fault(error)

    async def _show_first(self, editing: DocumentController, deeds: Deeds) -> None:
        """Show the persona to begin with, and its conversation; until `editing` is set it can be tried again."""
        try:
            ids = await editing.workspace.ids()
            self.personas.show_ids(ids)
        finally:  # also where the personas are not read
            if self._last is None:  # once: what is written since is remembered
                self._last = await self.conversing.drafts.recall(editing)
        last = self._last
        kept = [] if last in ids else await editing.recovery.without_file()
        first = self._wanted or (last if last in [*ids, *kept] else ids[0] if ids else None)
        self.editing, self.deeds = editing, deeds
        self.tests.leave = editing.saver.save_now
        await self._isolated(self._show_opened(editing, first))

    async def _show_opened(self, editing: DocumentController, first: str | None) -> None:
        if first is not None:
            reading = editing.open(first, self._typed_early)
            showing = self.conversing.show(first, reading)
            await reading
        else:
            editing.close()
            self.give_back_unread(self._typed_early)
        panel = await load(_load_panel, self.program.capabilities)
        await self.query_one("#stage").mount(panel)
        await self.settings.fill()
        self.conversing.begin(panel)
        if first is not None:
            await showing
            if editing.id is None:  # it could not be read
                self.conversing.show_none()

    async def _welcome(self) -> None:
        """Say what is odd about the settings; greet whoever starts for the first time."""
        preferences = self.program.preferences
        if preferences is None:
            return
        self.program.tell_odd_settings()
        await self.tell_left_texts()
        if (
            not self.conversing.drafts.first_time or preferences.warnings
        ):  # what is wrong is told, and comes first
            return
        from tui.screens.dialogs.connect_controller import Connecting

        connecting = Connecting(self, preferences)
        knows_much = not preferences.new or preferences.explicit
        if knows_much or self.program.has_typed or not self.is_active:
            connecting.greet_in_a_line()
        else:
            await connecting.greet()

    async def tell_left_texts(self) -> None:
        """Say where text is that no home took when an earlier program ended, until the person has dealt with it."""
        from tui.app.emergency_save import left_texts, told_of

        if left := told_of(await asyncio.to_thread(left_texts)):
            self.tell(left[:1].upper() + left[1:], error=True)

    async def read_list(self) -> None:
        """Read which personas there are, then each of them, a few at a time."""
        if self.editing is None:
            return
        if self._reading is not None:
            self._reading.cancel()
        ids = await self.editing.workspace.ids()
        self.personas.show_ids(ids)
        self._named.clear()
        self._reading = self.start(self._read_entries(ids))

    async def _read_entries(self, ids: list[str]) -> None:
        from tui.screens.main.catalog import portions

        assert self.editing is not None and self._listing is not None
        call = self.editing.workspace.call
        try:
            for portion in portions(await call(self._listing.changed, ids)):
                self.personas.show_entries(await call(self._listing.read, portion))
        finally:
            if self._reading is asyncio.current_task():
                self._named.set()
                if self.personas.on_entries_changed is not None:
                    self.personas.on_entries_changed()

    @property
    def names_are_read(self) -> bool:
        """Whether it is known what each persona is called."""
        return self._named.is_set()

    def again(self, work: Callable[[], Coroutine[Any, Any, Any]]) -> None:
        """Run what is done again and again, unless the last time is still under way: it may wait for a disk that hangs."""
        if (last := self._again.get(work)) is None or last.done():
            self._again[work] = self.start(work())

    def _look(self) -> None:
        self.conversing.tick()
        self.again(self.program.look_at_settings)
        self.again(self._look_outside if self.editing is not None else self._try_first_again)

    async def _try_first_again(self) -> None:
        await self._try_first(again=True)
        if self.editing is not None:
            self.show_state()
            await self._read_rest()

    async def _look_outside(self) -> None:
        assert self.editing is not None
        if await self.editing.look():
            await self.read_list()

    # -- what editing and deeds need --------------------------------------------------------------------

    def tell(self, message: str, *, error: bool = False) -> None:
        """Say something for a moment."""
        self.program.tell(message, error=error)

    @property
    def keymap(self) -> Keymap:
        """The person's own keys."""
        return self.program.settings.keys

    def name_of(self, persona_id: str) -> str:
        """Return what a persona is called, told apart from others of the same name."""
        return self.personas.name_of(persona_id)

    def begin_with(self, persona_id: str) -> None:
        """Show this persona first, as soon as the home is read."""
        self._wanted = persona_id

    def known_name(self, persona_id: str) -> str:
        """Return the name of a persona as far as it is read; else its id."""
        persona = self.editing.persona if self.editing is not None else None
        if persona is not None and persona.id == persona_id:
            return persona.name
        entry = self.personas.entries.get(persona_id)
        return entry.name if entry is not None else persona_id

    def at_work(self, *persona_ids: str) -> bool:
        """Whether the agent works, or waits for an answer, about one of these personas."""
        badges = self.conversing.badges
        return any(badges.get(persona_id) in ("working", "waiting") for persona_id in persona_ids)

    def show_state(self) -> None:
        """Show whose prompt this is, how it is saved, and what keys do."""
        editing = self.editing
        persona = editing.persona if editing else None
        banner, keymap = "", self.program.settings.keys
        external = first_key("editor.external", keymap)
        if editing is not None and persona is not None:
            if editing.state == "gone":
                banner = "The file is gone. What you typed is kept."
                banner += _hint("offers to write the file back.", first_key("edit.compare", keymap))
            elif persona.error is not None:
                where = (
                    f" (line {persona.error.line}, column {persona.error.column})"
                    if persona.error.line
                    else ""
                )
                banner = f"{persona.error.message}{where}."
                if persona.revision:
                    banner += _hint("opens the file to mend it.", external)
                if self.prompt.unsaved or self.tests.editor.unsaved:
                    banner += " What you type is kept, and goes into the file once it is mended."
            elif editing.state == "conflict":
                banner = "This prompt was changed elsewhere in the same lines."
                banner += _hint("shows both to choose from.", first_key("edit.compare", keymap))
            elif editing.state == "failed":
                banner = f"Not saved: {editing.trouble}"
            elif persona.note is not None:
                banner = f"{persona.note.message} of the file."
            if persona.error is None:
                self.program.take_back(lambda told: OF_BROKEN in told.casefold())
            self.personas.show_entries([PersonaEntry.of(persona)])
        name = persona.name if persona else self.name_of(editing.id) if editing and editing.id else ""
        self.query_one(PromptPane).show_state(name, editing.state if editing else "", banner)
        self.show_badges()

    def show_badges(self) -> None:
        """Show which personas have news, and what keys do now."""
        badges = self.conversing.badges
        current = self.editing.id if self.editing else None
        self.personas.show_badges(current, badges)
        others = [badge for key, badge in badges.items() if key != current]
        count = str(len(self.tests.rows.rows) or "")
        self.query_one(PaneTabs).show(
            self.pane,
            {"tests": count, "personas": sign_of(others)},
            self.editing.persona.name if self.editing and self.editing.persona else "",
        )
        self.show_keys()

    def show_keys(self) -> None:
        """Show in the last line what keys do where the focus is; under a dialog, which says what its keys do, none."""
        keys = keys_now(self.situation, self.program.settings.keys) if self.is_active else ()
        self.query_one(KeyLine).show(keys, self.conversing.note)

    def on_screen_suspend(self) -> None:
        self.show_keys()

    @property
    def situation(self) -> FooterState:
        """What the meaning of keys depends on now."""
        conversing, bar = self.conversing, self.chat_bar
        return FooterState(
            self._place_of_keys(),
            self.escape_meaning()[0],
            bar.shown_mode,
            bool(bar.draft.strip()),
            len(conversing.question.options) if conversing.question is not None and not bar.draft else 0,
            conversing.panel.state.value,
            conversing.question is not None,
            bar.mode == "running",
            not conversing.bar_focused or bar.input.undoes,
        )

    def _place_of_keys(self) -> FocusArea:
        chain = self.focused.ancestors_with_self if self.focused else []
        if self.conversing.panel_controller.reading:
            return "output"
        if self.chat_bar in chain:
            return "commands" if self.chat_bar.commands.display else "chat"
        if self.personas in chain:
            return "personas" if self.personas.rows in chain else "filter"
        if self.tests.rows in chain:
            return "tests"
        return "settings" if self.settings in chain else "prompt"


def _hint(words: str, key: str) -> str:
    return f" {key} {words}" if key else ""


def _load_panel(terminal: Capabilities) -> AgentPanel:
    """Make the agent's panel for a terminal. Its modules, and those of tasks, are loaded here, after the first paint."""
    import agent.jobs.agent_jobs  # noqa: F401 - it takes a while, and is wanted in a moment
    import tui.chat.conversations  # noqa: F401 - the same
    from tui.widgets.agent_panel import AgentPanel
    from tui.widgets.conversation import Glyphs

    glyphs = Glyphs(ascii_only=terminal.ascii_only)
    return AgentPanel(frames_per_second=terminal.frames_per_second, glyphs=glyphs)
