"""The main screen: it makes the panes, the chat bar and their controllers, opens the home, and wires them.

What is open and saved is `tui.document`, what is said is `tui.chat`; here is what both look like.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable, Coroutine
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.events import ScreenResume
from textual.geometry import Size
from textual.reactive import Reactive
from textual.screen import ModalScreen, Screen
from textual.widget import Widget
from textual.widgets import TextArea

from personas.errors import InvalidValue, PersonaError
from tui.app.notifications import begin_operation
from tui.app.shutdown import load
from tui.chat.chat_bar_labels import HINT
from tui.chat.controller import ConversationController
from tui.commands.footer_keys import FocusArea, FooterState, keys_now
from tui.commands.registry import Keymap, bindings
from tui.document.composition import CompositionController
from tui.document.document import OpenDocument
from tui.outputs.controller import OutputsController
from tui.screens.main.actions_entry import ActionsEntry
from tui.screens.main.asset_actions import AssetActions
from tui.screens.main.broadcast_actions import BroadcastActions
from tui.screens.main.chat_actions import ChatActions
from tui.screens.main.chat_pane import ChatPane
from tui.screens.main.comparison_actions import ComparisonActions
from tui.screens.main.composition_actions import CompositionActions
from tui.screens.main.layout import PaneLayout
from tui.screens.main.library_actions import LibraryActions
from tui.screens.main.output_actions import OutputActions
from tui.screens.main.output_viewing import OutputViewing
from tui.screens.main.panel_reading import PanelReading
from tui.screens.main.persona_actions import PersonaActions
from tui.screens.main.persona_catalog import PersonaCatalog
from tui.screens.main.persona_commands import PersonaCommands
from tui.screens.main.persona_panes import PersonaPanes
from tui.screens.main.persona_view import PersonaView
from tui.screens.main.program_actions import ProgramActions
from tui.screens.main.prompt_checks import PromptChecks
from tui.screens.main.search_actions import SearchActions
from tui.screens.main.talk import TalkActions
from tui.screens.too_small import is_click, is_too_small, is_unseen
from tui.screens.version_actions import VersionActions
from tui.terminal.textual_compat.ordered_keys import OrderedKeys
from tui.terminal.textual_compat.screen_hooks import ScreenHooks
from tui.widgets.composition_pane import CompositionPane
from tui.widgets.footer import KeyLine
from tui.widgets.pane_tabs import PaneTabs
from tui.widgets.persona_fields import SettingsPane
from tui.widgets.persona_list import PersonaEntry, PersonaList
from tui.widgets.prompt_pane import PromptPane
from tui.widgets.run_strip import RunStrip
from tui.widgets.test_input_list import TestInputList

if TYPE_CHECKING:
    from personas.library.documents import Kind
    from personas.persona import Persona
    from tui.app.app import PersonaApp
    from tui.app.ui_state import UiState
    from tui.document.async_store import AsyncStore
    from tui.document.controller import DocumentController
    from tui.screens.main.conversation_panel import ConversationPanel
    from tui.widgets.chat_bar import ChatBar
    from tui.widgets.conversation import ConversationView

LOOK_EVERY = 1.0
"""Seconds between two looks for changes from outside."""


class MainScreen(ScreenHooks, Screen[None]):
    """Everything on one screen.

    Args:
        program: the app.
        persona_id: the persona to begin with; None for the one open last.
        first: the same as it was read before the start; None where it was not.
    """

    DEFAULT_CSS = Path(__file__).with_suffix(".tcss").read_text(encoding="utf-8")

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("anywhere")]

    AUTO_FOCUS = ""  # what has the keys is decided here

    focused: Reactive[Widget | None] = Reactive(None, repaint=False)
    """What has the keys. Textual would paint the whole screen anew; who gets or loses them paints itself."""

    def __init__(
        self, program: PersonaApp, persona_id: str | None = None, first: Persona | None = None
    ) -> None:
        super().__init__()
        self.program = program
        self._first_read = first
        self._early_input = OpenDocument(first.id if first is not None else "")
        self._tasks: set[asyncio.Task[Any]] = set()
        self._again: dict[Callable[[], Coroutine[Any, Any, Any]], asyncio.Task[Any]] = {}
        self._first: Callable[[], Coroutine[Any, Any, None]] | None = None
        self._last: str | None = None
        self._laid_out_for: Size | None = None
        self._stored_state: UiState | None = None
        self._storing_state = asyncio.Lock()
        self.panel: ConversationPanel | None = None
        self.chat_actions: ChatActions
        self.version_actions: VersionActions
        self.actions: ActionsEntry
        self.outputs: OutputsController
        self.conversation = ConversationController(
            self, lambda: self.outputs.evaluator, program.shutdown.note_fault
        )
        self.chat_bar = ChatPane(
            self,
            self.conversation,
            is_home_read=lambda: self.documents is not None,
            run_slash=lambda name, rest: self.start(self.chat_actions.run_slash(name, rest)),
            offer_import=self._offer_import,
            ascii_only=program.capabilities.ascii_only,
        )
        self.panes = PaneLayout(
            self, self, lambda: self.bar, laid_out=self._laid_out, front_changed=self.show_badges
        )
        self.tests = self.panes.widget(TestInputList)
        self.settings = self.style_first = self.panes.widget(SettingsPane)
        self.composition_pane = self.panes.widget(CompositionPane)
        self.personas = self.panes.widget(PersonaList)
        self.prompt_pane = self.panes.widget(PromptPane)
        self.prompt = self.prompt_pane.editor
        self.catalog = PersonaCatalog(self, self.personas)
        self.outputs = OutputsController(
            self,
            flush=self._store_typed,
            make_evaluator=program.evaluator,
            settings=lambda: program.settings,
        )
        self.composition = CompositionController(self, self.outputs)
        self.view = PersonaView(
            self,
            self.panes,
            self.chat_bar,
            self.conversation,
            self.catalog,
            self.outputs,
            self.composition,
            self.show_badges,
        )
        self.composition_actions = CompositionActions(
            self, self.panes, self.view, self.composition, self.outputs, self.show_badges
        )
        self.view.wanted = persona_id
        self.output_viewing = OutputViewing(self, self.panes, self.view, self.outputs)
        self.persona_commands = PersonaCommands(self, self.view, self.catalog, self._at_work)
        self.persona_actions = PersonaActions(
            self, self.view, self.panes, self.conversation, lambda: self.version_actions.show_proposal()
        )
        self.talk = TalkActions(
            self,
            self,
            self.view,
            self.outputs,
            self.personas,
            self.persona_commands,
            run_slash=lambda name, rest: self.chat_actions.run_slash(name, rest),
        )
        self.program_actions = ProgramActions(
            self,
            self.conversation,
            lambda: self.bar,
            self.panes,
            self.catalog,
            self.view,
            self.talk,
            self.output_viewing,
            self.composition_actions,
            self.outputs,
            lambda: self.actions,
            self.run_action,
        )
        self.comparison_actions = ComparisonActions(
            self, self.view, self.outputs, self.conversation, lambda: self.turns
        )
        self.checks = PromptChecks(
            self, self.view, self.panes, self.chat_bar, self.outputs, self._store_typed
        )
        self.output_actions = OutputActions(
            self,
            self.outputs,
            self.panes,
            self.conversation,
            self.output_viewing,
            self.comparison_actions.compare_read_run,
        )
        self.version_actions = VersionActions(
            self,
            lambda: self.documents,
            self.outputs,
            self.comparison_actions.compare,
            lambda version: self.checks.bisect(good=version),
        )
        self.actions = ActionsEntry(
            self,
            self.view,
            self.output_actions.strip,
            self.conversation,
            self.version_actions,
        )
        self.many = BroadcastActions(
            self, self.conversation, self.chat_bar, self.personas, self.output_actions, self.version_actions
        )
        self.library = LibraryActions(self, self.view, self.outputs)
        self.asset_actions = AssetActions(self, self.view)
        self.search_actions = SearchActions(self, self.view, self.panes, self.output_viewing)
        self.chat_actions = ChatActions(
            self,
            self.conversation,
            self.chat_bar,
            self.personas,
            self.catalog,
            self.view,
            self.persona_actions,
            self.persona_commands,
            self.program_actions,
            self.talk,
            self.version_actions,
            self.comparison_actions,
            self.checks,
            self.output_actions,
            self.library,
            self.composition_actions,
            self.asset_actions,
            self.search_actions,
            self.actions,
            self.many,
        )
        self.panel_reading = PanelReading(
            self,
            self.conversation,
            lambda: self.turns,
            self.chat_bar,
            self.view,
            self.chat_actions.find_in_conversation,
        )
        # Textual looks an action up on the screen that has its key: there are those of its parts.
        parts = (
            self.panes,
            self.persona_actions,
            self.program_actions,
            self.chat_actions,
            self.talk,
            self.version_actions,
            self.comparison_actions,
            self.panel_reading,
            self.checks,
            self.output_actions,
            self.library,
            self.composition_actions,
            self.asset_actions,
            self.search_actions,
            self.actions,
            self.many,
        )
        for part in parts:
            for name in dir(part):
                if name.startswith("action_"):
                    setattr(self, name, getattr(part, name))

    @property
    def documents(self) -> DocumentController | None:
        """What is open; None before the home is read."""
        return self.view.documents

    @property
    def bar(self) -> ChatBar:
        """The bar in which is written: the agent's, or that of a talk with a persona."""
        return self.talk.bar if self.talk.is_open and self.talk.bar is not None else self.chat_bar

    @property
    def turns(self) -> ConversationView:
        """The turns in the agent's panel, once that is there."""
        assert self.panel is not None
        return self.panel.conversation

    @property
    def talk_draft(self) -> str:
        """What is written in the bar of a talk with a persona and not sent."""
        return self.talk.bar.unsent if self.talk.bar is not None else ""

    def compose(self) -> ComposeResult:
        self.panes.lay_out(restyle=False)
        with Vertical(id="stage"):
            if not self.panes.is_wide:
                yield self.panes.tabs
            yield PersonaPanes(
                self,
                self.panes,
                self.view,
                self.persona_actions,
                self.persona_commands,
                self.output_viewing,
                self.composition_actions,
            )
        yield self.output_actions.strip
        yield self.chat_bar
        yield KeyLine()

    # -- beginning ----------------------------------------------------------------------------------------

    def on_mount(self) -> None:
        self.chat_bar.set_hint(HINT)
        self.chat_bar.input.knows_sent = self.conversation.settled.is_set
        self.chat_bar.commands.find = self.chat_actions.find_offers
        if (first := self._first_read) is not None:  # it is opened in a moment
            self._early_input.take(first)
        self.view.document_opened(self._early_input)
        self.prompt_pane.show_state(first.name if first else "", "saved" if first else "reading", "")
        self.focus_chat()
        self.program.keys.begin()
        self.call_after_refresh(self._start_up)

    def _start_up(self) -> None:
        # Returns nothing: a task returned here would be awaited by the screen's own message loop.
        self.start(self._begin())

    async def _begin(self) -> None:
        """After the first paint: open the home, list the personas, show one, then read the rest."""
        if not gc.isenabled():
            gc.freeze()  # what was loaded for the screen stays: no collection has to look through it again
            gc.enable()
        store = await self.program.open_home()
        if store is None:
            return
        from tui.document.async_store import AsyncStore
        from tui.document.controller import DocumentController
        from tui.drafts.store import DraftStore

        workspace, drafts = AsyncStore(store), DraftStore(store.home.root, self.program.state_folder)
        self.catalog.begin(workspace)
        self.outputs.begin(store)
        self.composition.begin(store.home)
        self._first = partial(
            self._show_first, DocumentController(self.view, workspace, drafts, self._early_input)
        )
        await self._try_first()
        # Also where that failed: what was sent meanwhile is not waited for any more. It comes back.
        self.conversation.settled.set()
        self.view.show_state()
        self.set_interval(LOOK_EVERY, self._look)
        self.start(self._welcome())
        if self.documents is not None:
            await self._read_rest()
        if (settings := self.program.settings).worker_while_open:
            from tui.app.worker_process import run_worker_process

            show = partial(self.show_message, error=True)
            self.start(run_worker_process(store.home.root, settings.model, show))

    async def _read_rest(self) -> None:
        await self._isolated(self.catalog.read())
        await self.conversation.find_tasks()
        await self.program.prepare_model()

    async def _try_first(self, *, again: bool = False) -> None:
        """Show what comes first; where the disk does not say which personas there are, each look tries `again`."""
        assert self._first is not None
        try:
            await self._first()
        except PersonaError as error:
            if not again:
                self.show_message(f"{error} It will be tried again.", error=True)
        except Exception as error:  # noqa: BLE001 - as in `_isolated`
            if not again:
                await self.program.shutdown.show_fault(error)

    async def _show_first(self, documents: DocumentController) -> None:
        """Show the persona to begin with, and its conversation; until the documents are set it can be tried again."""
        try:
            ids = await documents.workspace.ids()
            self.personas.show_ids(ids)
        finally:  # also where the personas are not read
            if self._last is None:  # once: what is written since is remembered
                self._last = await self.conversation.drafts.recall(
                    documents, self._recall_state(documents.workspace)
                )
        last = self._last
        kept = [] if last in ids else await documents.recovery.without_file()
        first = self.view.wanted or (last if last in [*ids, *kept] else ids[0] if ids else None)
        self.view.documents = documents
        self.tests.leave = documents.saver.save_now
        await self._isolated(self._show_opened(documents, first))

    async def _recall_state(self, workspace: AsyncStore) -> str | None:
        """Stand as was remembered; return which persona was open, empty for none, None where nothing is known."""
        from tui.app import ui_state

        if (state := await workspace.call(ui_state.load, workspace.store.home)) is None:
            return None
        self.panes.take_layouts(state.layouts)
        return state.persona_id

    async def remember(self) -> None:
        """Store drafts and outbox, and how the screen stands in the home, if that changed: its disk may hang."""
        from tui.app import ui_state

        await self.conversation.drafts.store()
        if (documents := self.documents) is None:
            return
        async with self._storing_state:  # a later state is never overwritten by an earlier one
            shown = self.conversation.shown_id or self.conversation.drafts.first_owner
            state = ui_state.UiState(shown, self.panes.layouts)
            if state != self._stored_state:
                self._stored_state = state
                await documents.workspace.call(ui_state.save, documents.workspace.store.home, state)

    async def _show_opened(self, documents: DocumentController, first: str | None) -> None:
        if first is not None:
            reading = documents.open(first, self._early_input)
            showing = self.conversation.show(first, reading)
            await reading
        else:
            documents.close()
            self.view.return_typed_text(self._early_input)
        panel = await load(self._load_panel)
        with self.program.batch_update():  # laid out and painted once
            await self.query_one("#stage").mount(panel)
            await self.settings.fill()
            await self.composition_pane.fill()
            self.composition_actions.refresh()
        self.panel = panel
        self.conversation.begin(panel)
        if first is not None:
            await showing
            if documents.id is None:  # it could not be read
                self.conversation.show_none()

    def _load_panel(self) -> ConversationPanel:
        from tui.screens.main.conversation_panel import ConversationPanel

        return ConversationPanel(
            self,
            self.conversation,
            self.panes,
            self.program.capabilities,
            self.comparison_actions.compare_run,
        )

    async def _welcome(self) -> None:
        """Say what is odd about the settings; greet whoever starts for the first time."""
        preferences = self.program.preferences
        if preferences is None:
            return
        self.program.show_settings_warnings()
        await self.show_left_texts()
        if (
            not self.conversation.drafts.first_time or preferences.warnings
        ):  # what is wrong is told, and comes first
            return
        connecting = self.chat_actions.connecting(preferences)
        knows_much = not preferences.new or preferences.explicit
        if knows_much or self.program.has_typed or not self.is_active:
            connecting.greet_in_a_line()
        else:
            await connecting.greet()

    async def show_left_texts(self) -> None:
        """Say where text is that no home took when an earlier program ended, until the person has dealt with it."""
        from tui.app.emergency_save import find_saved_texts, recovery_message

        if left := recovery_message(await asyncio.to_thread(find_saved_texts)):
            self.show_message(left[:1].upper() + left[1:], error=True)

    @property
    def is_reading(self) -> bool:
        """Whether the home, or what is open, is being read."""
        return self.documents is None or self.documents.state == "reading"

    def return_early_input(self) -> None:
        """The program ends: what was typed before the home was read goes into the chat bar."""
        if self.documents is None:
            self.view.return_typed_text(self._early_input)

    # -- looking for changes ------------------------------------------------------------------------------

    def _look(self) -> None:
        self.conversation.tick()
        self.start_once(self.remember)
        self.outputs.look()
        self.composition.look()
        self.output_actions.show()  # ages
        self.start_once(self.program.look_at_settings)
        self.start_once(self.actions.look)
        self.start_once(self._look_outside if self.documents is not None else self._try_first_again)

    async def _try_first_again(self) -> None:
        await self._try_first(again=True)
        if self.documents is not None:
            self.view.show_state()
            await self._read_rest()

    async def _look_outside(self) -> None:
        assert self.documents is not None
        if await self.documents.look():
            await self.catalog.read()

    async def _store_typed(self) -> None:
        """Store unsaved text of the open persona.

        Raises:
            InvalidValue: it cannot be stored.
        """
        if (documents := self.documents) is None:
            return
        await documents.flush()
        if documents.id in documents.not_saved():
            raise InvalidValue("Your text is not saved yet, so nothing was run.")

    async def on_unmount(self) -> None:
        self.talk.stop()
        await self.actions.close()
        await self.outputs.close()
        await self.conversation.drafts.close()

    # -- what the parts ask (`Host`) ------------------------------------------------------------------------

    @property
    def keymap(self) -> Keymap:
        """The person's own keys."""
        return self.program.settings.keys

    def show_message(self, message: str, *, error: bool = False) -> None:
        """Show a message for a moment."""
        self.program.show_message(message, error=error)

    def show_run_end(self, message: str) -> None:
        """Show how a run ended, in the strip."""
        self.output_actions.strip.show_end(message)

    async def ask(self, dialog: ModalScreen[Any]) -> Any:
        """Show a dialog and return its answer, None when it was closed."""
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.app.push_screen(dialog, lambda result: None if answer.done() else answer.set_result(result))
        return await answer

    def start(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Run `work` beside the screen; a fault in it is told and kept, and ends nothing."""
        task = asyncio.create_task(self._isolated(work, asyncio.current_task() in self._tasks))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(lambda _: work.close())  # one that is cancelled before it began
        return task

    async def _isolated(self, work: Coroutine[Any, Any, Any], is_part: bool = True) -> Any:
        if not is_part:  # of what is under way; a widget that one put there is none
            begin_operation()
        try:
            return await work
        except PersonaError as error:
            self.show_message(str(error), error=True)
        except Exception as error:  # noqa: BLE001 - one fault must not take unsaved text down with it
            await self.program.shutdown.show_fault(error)
        return None

    def start_once(self, work: Callable[[], Coroutine[Any, Any, Any]]) -> None:
        """Run what is done again and again, unless the last time is still under way: it may wait for a disk that hangs."""
        if (last := self._again.get(work)) is None or last.done():
            self._again[work] = self.start(work())

    def _at_work(self, *persona_ids: str) -> bool:
        """Whether the agent works, or waits for an answer, about one of these personas."""
        badges = self.conversation.badges
        return any(badges.get(persona_id) in ("working", "waiting") for persona_id in persona_ids)

    def note_persona(self, persona: Persona) -> None:
        """Another persona than the open one changed."""
        self.personas.show_entries([PersonaEntry.of(persona)])

    def name_of(self, persona_id: str) -> str:
        """Return what a persona is called, told apart from others of the same name."""
        return self.personas.name_of(persona_id)

    def open_library(self, kind: Kind | None = None, name: str = "") -> None:
        """Show the library, and with a name that document in its editor."""
        self.library.open_library(kind, name)

    # -- focus and size -------------------------------------------------------------------------------------

    async def confirm(
        self,
        question: str,
        text: str,
        *,
        action: str,
        keep: str,
        danger: bool = False,
        reading: Coroutine[Any, Any, str | None] | None = None,
    ) -> bool:
        """Ask the person whether something is to be done; for the arguments, see `Confirm` and `ChatView`."""
        from tui.screens.dialogs.confirm import Confirm

        asked = Confirm(question, text, action=action, keep=keep, danger=danger)
        explained = self.start(asked.explain_later(reading)) if reading is not None else None
        return bool(await self.ask(asked)) and (explained is None or bool(await explained))

    async def ask_for_home(self, folder: Path) -> bool | None:
        """Ask whether a folder is to be the home; None where that was not answered."""
        from tui.screens.dialogs.confirm import Confirm

        what = (
            f"{folder}\n\nIt holds personas. Using it as home lets the agent talk about them, and change them when you ask. "
            "You will not be asked again."
        )
        question = "Use the personas in this folder?"
        answer: bool | None = await self.ask(
            Confirm(question, what, action="Use this folder", keep="Use my own")
        )
        return answer

    async def _offer_import(self, pasted: str) -> None:
        from tui.screens.main.import_offer import ImportOffer

        await ImportOffer(self, self.chat_bar, self.view).offer(pasted)

    def focus_chat(self) -> None:
        """Give the keys to the chat bar, that of the talk while there is one."""
        self.conversation.panel_controller.end_reading()
        self.set_focus(self.bar.input)  # at once: what is typed behind the key goes there

    def agent_bar_shown(self, shown: bool) -> None:
        """Show the agent's chat bar, or the bar of a talk stands there, and its panel goes."""
        self.chat_bar.display = shown
        if not shown and self.panel is not None:
            self.conversation.panel_controller.panel_event("dismiss")

    def leave_talk(self) -> None:
        """End the talk with a persona, if there is one."""
        self.talk.leave()

    def on_resize(self, event: events.Resize) -> None:
        if event.size == self._laid_out_for:  # Textual says it three times at the start
            event.prevent_default()
            return
        self._laid_out_for = event.size
        self.panes.lay_out()
        self.call_after_refresh(self.program.place_messages)

    def _laid_out(self) -> None:
        self.program.show_messages_when_seen()
        if not is_too_small(self.app.size) and (self.focused is None or not self.focused.is_on_screen):
            self.call_after_refresh(self._keep_focus)

    def _keep_focus(self) -> None:
        if self.conversation.panel_controller.reading or self.talk.reading:
            return  # the turns have the keys, and keep them whatever else happens
        if self.is_current and (self.focused is None or not self.focused.display):
            self.focus_chat()

    def moves_focus(self, widget: Widget, avoiding: list[Widget] | None) -> bool:
        # A list beside a field that vanishes would take letters for commands.
        if self.focused is not widget or avoiding or not isinstance(widget, OrderedKeys):
            return True
        if not self.has_class("-too-small") and not _is_there(widget):  # else it is out of sight only
            self.focus_chat()
        return False

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        if self.focused is not None:
            self.talk.stop_reading()
            self.conversation.panel_controller.keys_moved()  # reading is the state in which no widget has the keys
        self.conversation.panel_controller.show_way_back()
        self.panes.focus_moved()
        self.call_later(self.show_keys)

    def on_screen_resume(self, event: ScreenResume) -> None:
        # Comes before the handler of the base class, which styles every widget anew: they were styled a moment ago.
        if self.stack_updates == 0:
            event.refresh_styles = False
        if self.query(KeyLine):  # not before everything is there
            self.show_keys()
            self._keep_focus()
            self.program.show_messages_when_seen()

    def on_screen_suspend(self) -> None:
        self.show_keys()

    def ignores(self, event: events.Event) -> bool:
        """Whether a key or a paste is for what is not seen, the terminal being too small.

        A text that is begun then would be no answer to a question that nobody sees, and a digit would pick one.
        """
        if not isinstance(event, events.Key | events.Paste) or not self._is_hidden:
            return False
        types = self.focused is self.bar.input and self.bar.mode != "asking"
        return is_unseen(event, self.keymap, types=types)

    @property
    def _is_hidden(self) -> bool:
        """Whether the terminal is too small for it."""
        return self.is_current and is_too_small(self.app.size)

    def lets_through(self, event: events.Event) -> bool:
        if is_click(event) and self._is_hidden:
            return False
        # Whether a press is in the panel, on the bar or away from both is decided for the whole screen, on mouse
        # down: clicks do not come up from buttons and several other widgets.
        if isinstance(event, events.MouseDown) and not event.is_forwarded:
            self._pressed_at(int(event.screen_x), int(event.screen_y))
        return True

    def _pressed_at(self, x: int, y: int) -> None:
        """The mouse went down: on the chat bar or the keys below it, or away from them; the panel tells of it itself."""
        if self.panel is None or self.panel.contains_screen(x, y):
            return
        if self.chat_bar.contains_screen(x, y) or self.query_one("#keys").region.contains(x, y):
            self.conversation.panel_controller.clicked_chat_bar()
        else:
            self.conversation.panel_controller.clicked_away()

    # -- what is pressed --------------------------------------------------------------------------------------

    def on_key(self, event: events.Key) -> None:
        self.talk.take_key(event)
        self.panel_reading.take_key(event)

    @on(TextArea.Changed)
    def _draft_changed(self, event: TextArea.Changed) -> None:
        if event.text_area is self.bar.input:
            event.stop()
            self.chat_actions.draft_changed(self.bar)

    @on(PaneTabs.Chosen)
    def _tab_chosen(self, event: PaneTabs.Chosen) -> None:
        event.stop()
        self.panes.action_go(event.pane)

    @on(PaneTabs.NotePressed)
    def _name_pressed(self, event: PaneTabs.NotePressed) -> None:
        event.stop()
        self.program_actions.action_switch_persona()

    @on(RunStrip.StopPressed)
    def _stop_runs(self, event: RunStrip.StopPressed) -> None:
        event.stop()
        if not self.outputs.stop() and self.conversation.broadcast is not None:
            self.conversation.broadcast.stop()

    @on(RunStrip.NotePressed)
    def _actions_pressed(self, event: RunStrip.NotePressed) -> None:
        event.stop()
        self.actions.action_actions()

    @on(KeyLine.NotePressed)
    def _note_pressed(self, event: KeyLine.NotePressed) -> None:
        event.stop()
        self.chat_actions.action_choose_model()

    # -- what is shown ----------------------------------------------------------------------------------------

    def show_badges(self) -> None:
        """Show which personas have news, and what keys do now."""
        persona = self.documents.persona if self.documents is not None else None
        self.personas.show_badges(self.documents.id if self.documents else None, self.conversation.badges)
        self.panes.tabs.show(
            self.panes.front, self.panes.tab_marks, persona.name if persona is not None else ""
        )
        self.show_keys()

    def show_keys(self) -> None:
        """Show in the last line what keys do where the focus is; under a dialog, which says what its keys do, none.

        Where panes do not stand side by side, their keys need the room of what was spent.
        """
        now, note = self.situation, (self.talk.talk if self.talk.is_open else self.conversation).note
        if self.has_class("-narrow") and now.place not in ("chat", "commands"):
            note = note.partition(" · ")[0]
        self.query_one(KeyLine).show(keys_now(now, self.keymap) if self.is_active else (), note)

    @property
    def situation(self) -> FooterState:
        """What the meaning of keys depends on now."""
        conversation, bar = self.conversation, self.bar
        question = conversation.question if bar is self.chat_bar else None
        if self.talk.reading:
            area: FocusArea = "talk"
        elif conversation.panel_controller.reading:
            area = "output"
        elif self.focused is not None and bar in self.focused.ancestors_with_self:
            area = "commands" if bar.commands.display else "chat"
        else:
            area = self.panes.focus_area
        return FooterState(
            area,
            self.program_actions.escape_meaning()[0],
            bar.shown_mode,
            bool(bar.draft.strip()),
            len(question.options) if question is not None and not bar.draft else 0,
            "pinned" if self.talk.is_open else conversation.panel.state.value,
            question is not None,
            bar is self.chat_bar and bar.mode == "running",
            area != "chat" or bar.input.undoes,
            bar is not self.chat_bar,
        )


def _is_there(widget: Widget) -> bool:
    shown = all(node.display for node in widget.ancestors_with_self if isinstance(node, Widget))
    return shown and widget.focusable
