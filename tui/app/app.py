"""The full-screen program: home, model, settings, messages and the clipboard. What is seen is the main screen."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual.binding import BindingType
from textual.events import Event, Key, Paste
from textual.notifications import Notification, Notify
from textual.screen import Screen
from textual.theme import Theme

from personas.errors import PersonaError
from tui.app.display import Display
from tui.app.notifications import current_operation, messages_to_dismiss, rows_below
from tui.app.shutdown import Shutdown
from tui.commands.registry import textual_keymap
from tui.external_editor.process import ExternalEditor
from tui.settings.schema import Settings
from tui.settings.validation import CONNECTING
from tui.terminal.palette import readable
from tui.terminal.sanitise import shortened
from tui.terminal.textual_compat import graphemes
from tui.terminal.textual_compat.diff_rendering import draw_from_front, paint_promptly
from tui.terminal.textual_compat.key_order import KeyQueue
from tui.terminal.textual_compat.terminal_app import TerminalApp
from tui.terminal.textual_compat.toasts import ToastRack, dismiss, notifications
from tui.widgets.plain_text import content

if TYPE_CHECKING:
    from agent.core.model import Model
    from agent.outputs.evaluator import Evaluator
    from agent.outputs.runner import RunEvent
    from personas.persona import Persona
    from personas.store import Store
    from tui.settings.live_settings import LiveSettings
    from tui.settings.model_factory import Connection
    from tui.terminal.capabilities import Capabilities


log = logging.getLogger(__name__)


MESSAGE_SECONDS, ERROR_SECONDS = 4.0, 8.0
"""How long a message is shown, and one that says what went wrong."""


class PersonaApp(TerminalApp, inherit_bindings=False):
    """The program.

    Args:
        open_store: opens the home; may block and raise `PersonaError`.
        make_screen: makes the main screen, for the persona to begin with and the same as it was read before.
        settings: the person's settings.
        make_model: makes the agent's model by name ("" for the one the settings name); may block.
        name_model: says what that model is called before it is made.
        persona_id: the persona to begin with; None for the first.
        first: the same as it was read before the start, to be shown at once; None where it was not.
        find_offer: finds a folder with personas that nobody was asked about yet, to be offered as home.
        accept: remembers the answer to that offer; `open_store` then goes by it.
        config_path: where the settings are, to be named to the person.
        preferences: the settings as they can be changed while the program runs; None where they cannot.
        env: the environment.
    """

    TITLE = "persona"
    state_folder: Path | None = None
    """Where unsaved text is kept; None for the person's own state folder."""
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = []

    def __init__(
        self,
        open_store: Callable[[], Store],
        make_screen: Callable[[PersonaApp, str | None, Persona | None], Screen[Any]],
        *,
        make_model: Callable[[str], Model],
        name_model: Callable[[], str],
        settings: Settings | None = None,
        persona_id: str | None = None,
        first: Persona | None = None,
        find_offer: Callable[[], Path | None] = lambda: None,
        accept: Callable[[bool], object] | None = None,
        config_path: Path | None = None,
        preferences: LiveSettings | None = None,
        env: dict[str, str] | None = None,
    ) -> None:
        self.external_editor = ExternalEditor()
        self.settings = settings or (preferences.settings if preferences else Settings())
        super().__init__()
        self._env = dict(os.environ) if env is None else env
        self.appearance = Display(self, self._env)
        self.shutdown = Shutdown(self)
        self.keys = KeyQueue(self, lambda: self.main.is_reading)
        graphemes.install()
        self.preferences = preferences
        self.model_name = ""
        self.config_path = config_path
        self._open_store, self._make_screen = open_store, make_screen
        self._make_model = make_model
        self._model: Model | None = None
        self._persona_id, self._first = persona_id, first
        self._name_model = name_model
        self._find_offer, self._accept = find_offer, accept
        self.has_typed = False
        self._looking = asyncio.Lock()
        self._unseen: list[Notification] = []
        self.last_error: tuple[object | None, str] | None = None
        """The error told last, and the operation that it belongs to."""

    def get_default_screen(self) -> Screen[Any]:
        if not self.capabilities.calm:
            paint_promptly()
        screen = self._make_screen(self, self._persona_id, self._first)
        if self.settings.repaint == "changed":
            draw_from_front(screen)
        return screen

    @property
    def main(self) -> Any:
        """The main screen."""
        return self.screen_stack[0]

    @property
    def capabilities(self) -> Capabilities:
        """What the terminal can do."""
        return self.appearance.capabilities

    def on_mount(self) -> None:
        self.set_keymap(textual_keymap(self.settings.keys))
        self.appearance.begin()
        if self.shutdown.guard is not None:
            self.shutdown.guard.start()

    # -- what Textual and the terminal ask ----------------------------------------------------------------

    async def action_quit(self) -> None:
        """Leave as by the command: saved, and asked where something would be lost."""
        self.main.action_leave()

    def failed(self, error: Exception) -> None:
        self.shutdown.by_fault(error)

    def get_theme(self, theme_name: str) -> Theme | None:
        theme = super().get_theme(theme_name)
        return None if theme is None else readable(theme)

    @property
    def sends_only_changes(self) -> bool:
        return self.settings.repaint == "changed"

    @property
    def is_lent(self) -> bool:
        return self.external_editor.has_terminal

    def written_in(self) -> tuple[type, ...]:
        from textual.widgets import Input, TextArea

        from tui.widgets.conversation.scroll_view import EntryScrollView

        return TextArea, Input, EntryScrollView

    # -- home and model -----------------------------------------------------------------------------------

    async def open_home(self) -> Store | None:
        """Open the home, offering the current folder once; where that fails, keep what was written meanwhile elsewhere and end the program."""
        try:
            self.model_name, offer = await asyncio.to_thread(lambda: (self._name_model(), self._find_offer()))
            if offer is not None and self._accept is not None:
                await self._ask_about(offer)
            return await asyncio.to_thread(self._open_store)
        except Exception as error:  # noqa: BLE001 - without a home nothing goes on, whatever it was
            await self.shutdown.without_home(error)
        return None

    async def _ask_about(self, folder: Path) -> None:
        assert self._accept is not None
        answer = await self.main.ask_for_home(folder)
        if answer is not None:
            await asyncio.to_thread(self._accept, answer)

    def connection(self) -> Connection:
        """Return how models are reached now."""
        if self.preferences is not None:
            return self.preferences.connection()
        from tui.settings.model_factory import connection

        return connection(self.settings, self._env)

    def evaluator(self, store: Store, on_event: Callable[[RunEvent], None]) -> Evaluator:
        """Return what runs and judges test inputs, by the settings and the connection as they are; may block."""
        from tui.settings.model_factory import evaluator

        return evaluator(store, self.settings, where=self.connection(), on_event=on_event)

    def model(self) -> Model:
        """Return the agent's model, made when first asked for; may block then."""
        if self._model is None:
            self._model = self._make_model("")
            self.model_name = self._model.name
        return self._model

    def new_model(self) -> Model:
        """Return a model like the agent's, for who closes it; may block."""
        return self._make_model("")

    async def prepare_model(self) -> None:
        """Load what the first request and the first answer need, so that they are as fast as the next ones."""
        await asyncio.to_thread(_load_for_messages)
        if (prepare := getattr(self._model, "prepare", None)) is not None:
            await prepare()

    async def use_model(self, name: str) -> None:
        """Use another model from now on.

        Raises:
            PersonaError: it cannot be used.
        """
        model = await asyncio.to_thread(self._make_model, name)
        if self.preferences is not None:
            self.preferences.use_model(name)
        self._take_model(model)

    def use_connection(self, where: Connection, model: Model) -> None:
        """Use a model, and reach others where it is, until the program ends."""
        assert self.preferences is not None
        self.preferences.use(where)
        self._take_model(model)

    def _take_model(self, model: Model) -> None:
        before, self._model, self.model_name = self._model, model, model.name
        self.main.conversation.use_model(model, before)
        self.main.outputs.settings_changed()

    async def apply_settings(self) -> None:
        """Have the settings as they are now hold, as far as that goes without a new start.

        Raises:
            PersonaError: the model they name cannot be used; everything else holds then.
        """
        if self.preferences is None:
            return
        before, self.settings = self.settings, self.preferences.settings
        self.set_keymap(textual_keymap(self.settings.keys))
        self.appearance.use_settings()
        if self.settings.mouse != before.mouse:
            self.take_mouse(self.settings.mouse)
        self.main.conversation.use_settings(self.settings)
        self.main.outputs.settings_changed()
        try:
            if any(getattr(before, name) != getattr(self.settings, name) for name in CONNECTING):
                self._take_model(await asyncio.to_thread(self.preferences.make_model))
        finally:
            if self._model is None:  # there could be none by what was wrong, or nobody has asked for it yet
                self.model_name = await asyncio.to_thread(self._name_model)
            self.main.show_keys()

    async def look_at_settings(self) -> None:
        """Have the settings file hold as it is now, where it was changed outside of the program, and tell of it."""
        preferences = self.preferences
        if (
            preferences is None or self.external_editor.has_terminal
        ):  # what is saved in the editor holds once that has ended
            return
        async with self._looking:
            if not await asyncio.to_thread(preferences.look):
                return
            try:
                await self.apply_settings()
            except PersonaError as error:
                self.show_message(str(error), error=True)
            else:
                self.show_settings_warnings(f"{preferences.path.name} changed; the new settings are in use.")
                await self.main.conversation.show_unread()
            for screen in self.screen_stack:
                if (show := getattr(screen, "show_settings", None)) is not None:
                    show()

    def show_settings_warnings(self, otherwise: str = "") -> None:
        """Say what is wrong in the settings; `otherwise`: what is told where nothing is."""
        if (preferences := self.preferences) is None:
            return
        if len(odd := preferences.warnings) > 1:
            where = preferences.path.name
            self.show_message(f"{len(odd)} problems in {where}: /settings shows them.", error=True)
        elif message := next(iter(odd), otherwise):
            self.show_message(message, error=bool(odd))

    # -- what is shown for a moment ---------------------------------------------------------------------

    def show_message(self, message: str, *, error: bool = False) -> None:
        """Show a message for a moment; any text, shown literally."""
        message = content(shortened(message, 500)).plain
        if error:
            log.warning("shown: %s", message)
            self.last_error = (current_operation(), message)
        self.notify(
            message,
            severity="error" if error else "information",
            timeout=ERROR_SECONDS if error else MESSAGE_SECONDS,
            markup=False,
        )

    def on_notify(self, event: Notify) -> None:
        # Comes before the handler of the base class, which shows it.
        new, hides = event.notification, self._hides_messages()
        earlier = self._unseen if hides else notifications(self)
        self._dismiss_notifications(
            messages_to_dismiss(earlier, new, None if hides else self.size, self._rows_for_messages())
        )
        if hides:
            self._unseen.append(new)
        self.place_messages(new)
        # What is told while the program ends finds no screen any more.
        screen = self.screen_stack[-1] if self.screen_stack else None
        if (show := getattr(screen, "show_notification", None)) is not None:
            show(new.message, error=new.severity == "error")  # in the dialog: nothing is to cover it

    def take_back(self, is_over: Callable[[str], bool]) -> None:
        """Show no longer what was told and is over."""
        self._dismiss_notifications(
            [one for one in [*notifications(self), *self._unseen] if is_over(one.message)]
        )

    def _dismiss_notifications(self, dismissed: Iterable[Notification]) -> None:
        for one in dismissed:
            dismiss(self, one)
            if one in self._unseen:
                self._unseen.remove(one)

    def _hides_messages(self) -> bool:
        """Whether what is told is not shown now, the terminal being too small. A dialog shows it when it is seen."""
        return len(self.screen_stack) == 1 and self.main.has_class("-too-small")

    def show_messages_when_seen(self) -> None:
        """Keep messages while they are not shown, however long that is, and show them then."""
        if self._hides_messages():
            self._unseen += [one for one in notifications(self) if one not in self._unseen]
        elif self._unseen and len(self.screen_stack) == 1:
            unseen = [*self._unseen]
            self._dismiss_notifications(unseen)
            for one in unseen:
                self.notify(one.message, severity=one.severity, timeout=one.timeout, markup=False)

    def _rows_for_messages(self) -> int:
        """Return the rows above the chat bar."""
        stages = self.screen_stack[0].query_children("#stage") if self.screen_stack else ()
        # Nothing stands anywhere before the first layout, and in a terminal that is too small.
        return next((stage.region.bottom for stage in stages), 0) or self.size.height

    def place_messages(self, *new: Notification) -> None:
        """Keep what is told, and is told now, off the chat bar and what stands above the prompt."""
        for screen in self.screen_stack[:1]:
            heads = [one.region.bottom for one in screen.query("#prompt-banner")]
            rows, head = self._rows_for_messages(), max(heads, default=0)
            down = rows_below([*notifications(self), *new], self.size, rows, head)
            for rack in screen.query_children(ToastRack):
                rack.styles.max_height = rows - down
                rack.styles.offset = (0, down)

    def copy(self, text: str) -> None:
        """Copy a text as well as this terminal allows."""
        self.main.start(self._copy(text))

    async def _copy(self, text: str) -> None:
        from tui.terminal.clipboard import copy

        sequences: list[str] = []
        copied = await asyncio.to_thread(
            copy,
            text,
            write=sequences.append if self.has_driver else None,
            remote=self.capabilities.remote,
            tmux=self.capabilities.tmux,
            screen=self.capabilities.screen,
        )
        self.send(*sequences)
        self.keep_copied(text)
        self.show_message(copied.message)

    def copy_to_clipboard(self, text: str) -> None:
        """What Textual's own widgets call."""
        self.copy(text)

    def announce(self, what: str) -> None:
        """Tell a person who looks elsewhere what has happened, if they want that."""
        from tui.app.desktop_notify import announcement

        if not self.app_focus and (
            sequence := announcement(self.settings.notify, what, self._env, self.capabilities)
        ):
            self.send(sequence)

    async def on_event(self, event: Event) -> None:
        if self.keys.is_there and self.screen_stack and not event.is_forwarded and self.screen.ignores(event):  # type: ignore[attr-defined]
            return
        if isinstance(event, Key | Paste) and not event.is_forwarded and self.screen_stack:
            self.has_typed = True
            self.main.conversation.panel_controller.key_pressed()  # whichever widget or dialog it is for: an error has been seen
            if (dismiss_for := getattr(self.screen, "dismiss_for", None)) is not None:
                dismiss_for(event)
        if not self.keys.hold(event):
            moves = self.keys.may_move(event)
            await super().on_event(event)
            if moves:
                self.keys.follow()

    # -- focus of the terminal ----------------------------------------------------------------------------

    def on_app_focus(self) -> None:
        self.main.conversation.panel_controller.focus_changed(True)

    def on_app_blur(self) -> None:
        self.main.conversation.panel_controller.focus_changed(False)


def _load_for_messages() -> None:
    from agent.core.model_requests import schema_of
    from agent.tools import REGISTRY
    from tui.widgets.conversation.markdown import load_parser

    load_parser()
    for spec in REGISTRY.values():
        schema_of(spec.input)
