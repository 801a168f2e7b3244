"""The full-screen program: settings, model, clipboard and the end of it. What is seen is the main screen."""

from __future__ import annotations

import asyncio
import os
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import App
from textual.binding import BindingType
from textual.screen import Screen

from personas.errors import PersonaError
from tui import graphemes
from tui.capabilities import detect
from tui.commands import textual_keymap
from tui.config import Settings
from tui.widgets.literal import content

if TYPE_CHECKING:
    from agent.models.base import Model
    from personas.store import Store
    from tui.models import Connection
    from tui.preferences import Preferences
    from tui.signals import Guard

CONNECTING = ("model", "base_url", "api_key_env", "api_key_command", "api_key_in_keyring")
"""The settings that lead to a model."""

SETTLE = 0.4
"""Seconds that runs get to stop when the program ends."""


class PersonaApp(App[int]):
    """The program.

    Args:
        open_store: opens the home; may block and raise `PersonaError`.
        settings: the person's settings.
        make_model: makes the agent's model by name ("" for the one the settings name); may block.
        name_model: says what that model is called before it is made.
        persona_id: the persona to begin with; None for the first.
        find_offer: finds a folder with personas that nobody was asked about yet, to be offered as home.
        accept: remembers the answer to that offer; `open_store` then goes by it.
        config_path: where the settings are, to be named to the person.
        preferences: the settings as they can be changed while the program runs; None where they cannot.
        env: the environment.
    """

    TITLE = "persona"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = []

    def __init__(
        self,
        open_store: Callable[[], Store],
        *,
        make_model: Callable[[str], Model],
        name_model: Callable[[], str],
        settings: Settings | None = None,
        persona_id: str | None = None,
        find_offer: Callable[[], Path | None] = lambda: None,
        accept: Callable[[bool], object] | None = None,
        config_path: Path | None = None,
        preferences: Preferences | None = None,
        env: dict[str, str] | None = None,
    ) -> None:
        super().__init__()
        graphemes.install()
        self.preferences = preferences
        self.settings = settings or (preferences.settings if preferences else Settings())
        self.model_name = ""
        self.config_path = config_path
        self.fault_log: Path | None = None
        self.failure = ""
        self.guard: Guard | None = None
        self._env = dict(os.environ) if env is None else env
        self.capabilities = detect(
            self._env,
            calm=self.settings.calm,  # type: ignore[arg-type]  # checked when the settings were read
        )
        self._open_store = open_store
        self._make_model = make_model
        self._model: Model | None = None
        self._persona_id = persona_id
        self._name_model = name_model
        self._find_offer, self._accept = find_offer, accept
        self._leaving = False

    def get_default_screen(self) -> Screen[Any]:
        from tui.screens.main import MainScreen

        return MainScreen(self._persona_id)

    @property
    def main(self) -> Any:
        """The main screen."""
        return self.screen_stack[0]

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """The loop the program runs in."""
        assert self._loop is not None
        return self._loop

    def on_mount(self) -> None:
        self.set_keymap(textual_keymap(self.settings.keys))
        self._show_theme()
        if self.capabilities.ascii_only and (driver := self._driver) is not None:
            from tui.ascii import in_ascii

            write = driver.write
            driver.write = lambda data: write(in_ascii(data))  # type: ignore[method-assign]
        if self.capabilities.calm:
            self.animation_level = "none"
        if self.guard is not None:
            self.guard.start()

    # -- home and model -----------------------------------------------------------------------------------

    async def open_home(self) -> Store | None:
        """Open the home, offering the current folder once; ends the program where that fails."""
        try:
            self.model_name, offer = await asyncio.to_thread(lambda: (self._name_model(), self._find_offer()))
            if offer is not None and self._accept is not None:
                await self._ask_about(offer)
            return await asyncio.to_thread(self._open_store)
        except PersonaError as error:
            self.failure = str(error)
            self.exit(1, return_code=1)
            return None

    async def _ask_about(self, folder: Path) -> None:
        from tui.screens.confirm import Confirm

        assert self._accept is not None
        answer = await self.main.ask(
            Confirm(
                "Use the personas in this folder?",
                f"{folder}\n\nIt holds personas. Using it as home lets the agent talk about them, and change "
                "them when you ask. You will not be asked again.",
                deed="Use this folder",
                keep="Use my own",
            )
        )
        if answer is not None:
            await asyncio.to_thread(self._accept, answer)

    def model(self) -> Model:
        """Return the agent's model, made when first asked for; may block then."""
        if self._model is None:
            self._model = self._make_model("")
            self.model_name = self._model.name
        return self._model

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
        self._model, self.model_name = model, model.name
        self.main.conversing.use_model(model)

    async def apply_settings(self) -> None:
        """Have the settings as they are now hold, as far as that goes without a new start.

        Raises:
            PersonaError: the model they name cannot be used; everything else holds then.
        """
        if self.preferences is None:
            return
        before, self.settings = self.settings, self.preferences.settings
        self._show_theme()
        self.set_keymap(textual_keymap(self.settings.keys))
        self.capabilities = detect(self._env, calm=self.settings.calm)  # type: ignore[arg-type]
        self.animation_level = "none" if self.capabilities.calm else "full"
        if self.settings.mouse != before.mouse:
            self._take_mouse(self.settings.mouse)
        self.main.conversing.use_settings(self.settings)
        self.main.show_keys()
        if any(getattr(before, name) != getattr(self.settings, name) for name in CONNECTING):
            self._take_model(await asyncio.to_thread(self.preferences.make_model))

    def _show_theme(self) -> None:
        theme = {"dark": "textual-dark", "light": "textual-light", "": "textual-dark"}.get(
            self.settings.theme, self.settings.theme
        )
        if theme in self.available_themes:
            self.theme = theme

    def _take_mouse(self, wanted: bool) -> None:
        """Take the mouse or leave it to the terminal; where the driver cannot, it holds from the next start."""
        name = "_enable_mouse_support" if wanted else "_disable_mouse_support"
        if (switch := getattr(self._driver, name, None)) is not None:
            self._driver._mouse = True  # type: ignore[union-attr]  # else it does neither
            switch()

    # -- what is shown for a moment ---------------------------------------------------------------------

    def tell(self, message: str, *, error: bool = False) -> None:
        """Show a message for a moment; any text, shown literally."""
        self.notify(
            content(message[:500]).plain,
            severity="error" if error else "information",
            timeout=8 if error else 4,
            markup=False,
        )

    def copy(self, text: str) -> None:
        """Copy a text as well as this terminal allows."""
        self.main.start(self._copy(text))

    async def _copy(self, text: str) -> None:
        from tui.clipboard import copy

        driver = self._driver
        sequences: list[str] = []
        copied = await asyncio.to_thread(
            copy,
            text,
            write=sequences.append if driver is not None else None,
            remote=self.capabilities.remote,
            tmux=self.capabilities.tmux,
            screen=self.capabilities.screen,
        )
        if driver is not None:
            for sequence in sequences:
                driver.write(sequence)
            driver.flush()
        self._clipboard = text
        self.tell(copied.message)

    def copy_to_clipboard(self, text: str) -> None:
        """What Textual's own widgets call."""
        self.copy(text)

    def redraw(self) -> None:
        """Send the whole screen again."""
        if self._driver is not None:
            self._driver.write("\x1b[2J")
        self.refresh(repaint=True, layout=True)

    def run_ended(self, persona_id: str = "", seconds: float = 0.0) -> None:
        """An agent's run is over: tell the person who looks elsewhere, if they want that."""
        from tui.notifying import announcement

        settings, driver = self.settings, self._driver
        if driver is None or self.app_focus or seconds < settings.notify_after:
            return
        sequence = announcement(
            settings.notify, f"The agent is done with {persona_id}.", self._env, self.capabilities
        )
        if sequence:
            driver.write(sequence)
            driver.flush()

    # -- focus of the terminal ----------------------------------------------------------------------------

    def on_app_focus(self) -> None:
        self.main.conversing.focus_changed(True)

    def on_app_blur(self) -> None:
        self.main.conversing.focus_changed(False)

    # -- the end ------------------------------------------------------------------------------------------

    def leave_by_signal(self, code: int) -> None:
        """Save and end; called in the loop by the guard."""
        self._leave_task = asyncio.ensure_future(self.leave(code))

    async def leave(self, code: int) -> None:
        """Save what can be saved, stop the runs, and end the program with `code`."""
        if self._leaving:
            return
        self._leaving = True
        main = self.main
        try:
            if main.editing is not None:
                await main.editing.flush()
                await main.conversing.remember()
        except PersonaError:
            pass  # said on the screen already where there still is one
        await main.conversing.stop_all(SETTLE)
        self.exit(code, return_code=code)

    def note_fault(self, error: BaseException) -> None:
        """Write a fault, without secrets, to a log file."""
        from tui.cli.complaints import redact

        text = "".join(traceback.format_exception(error))
        self.fault_log = write_fault(redact(text))

    def _handle_exception(self, error: Exception) -> None:
        # What Textual would print is a traceback with local variables, and those hold people's texts.
        if not self.failure:
            self.note_fault(error)
            self.failure = f"unexpected {type(error).__name__}: {error}"
            self._save_what_is_typed()
        super()._handle_exception(error)

    def _save_what_is_typed(self) -> None:
        try:
            if self.main.editing is not None:
                self.main.editing.save_at_once()
        except Exception as error:  # noqa: BLE001 - the first fault may have broken what this needs
            self.log(error)

    def _print_error_renderables(self) -> None:
        self._exit_renderables.clear()


def write_fault(text: str) -> Path | None:
    """Write a traceback where only this person can read it; None if that is not possible."""
    try:
        from platformdirs import user_state_path

        path = user_state_path("persona-editor", appauthor=False) / "fault.log"
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with open(path, "w", encoding="utf-8", errors="backslashreplace", opener=_private) as file:
            file.write(text)
    except OSError:
        return None
    return path


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
