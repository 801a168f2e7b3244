"""Starting the full-screen program in this terminal. It does without what reads a command line."""

from __future__ import annotations

import gc
import os
import shutil
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from personas.errors import PersonaError
from tui.app.signals import Guard
from tui.terminal.tty import has_terminal, is_gone

if TYPE_CHECKING:
    from personas.files.home import HomeChoice
    from personas.persona import Persona
    from personas.store import Store
    from tui.app.app import PersonaApp
    from tui.cli.invocation import Invocation


def has_screen() -> bool:
    """Whether this terminal can show a full-screen program."""
    return has_terminal() and os.environ.get("TERM") != "dumb"


def run_program(invocation: Invocation, persona_id: str | None = None) -> int:
    """Run the program; return its exit code.

    Raises:
        PersonaError: it could not begin, or failed.
    """
    gc.disable()  # until the first paint little garbage is made; the main screen enables it again
    from tui.app.app import PersonaApp
    from tui.screens.main.screen import MainScreen
    from tui.settings.live_settings import LiveSettings

    preferences = LiveSettings(invocation.config, model_flag=invocation.model_flag or "")
    home_choice = _HomeChoice(invocation)
    app = PersonaApp(
        home_choice.open,
        MainScreen,
        make_model=preferences.make_model,
        name_model=preferences.name_model,
        persona_id=persona_id,
        first=home_choice.read_first(persona_id),
        find_offer=home_choice.find_offer,
        accept=home_choice.accept,
        config_path=preferences.path,
        preferences=preferences,
    )
    return run_in_terminal(app)


def run_in_terminal(app: PersonaApp) -> int:
    """Run a full-screen program in this terminal, which is restored whatever happens; return the exit code.

    Raises:
        PersonaError: it could not begin, or failed.
    """
    from tui.cli.logging_setup import set_up
    from tui.terminal.textual_compat import input_parser, nonblocking_writer

    set_up()
    input_parser.install()
    nonblocking_writer.install()
    guard = Guard(app.shutdown.by_signal, last_words=lambda: app.shutdown.closing_message)
    app.shutdown.guard = guard
    _collect_rarely()
    try:
        # Measured as the driver does. Textual's other measure differs without a size, and then it repaints for ever.
        code = app.run(mouse=app.settings.mouse, size=shutil.get_terminal_size())
    finally:
        guard.stop()
    if is_gone(0):
        _forget_terminal()
    if app.shutdown.failure:
        raise PersonaError(app.shutdown.closing_message)
    if app.shutdown.last_words:
        from tui.cli.stderr import print_error

        print_error(app.shutdown.last_words)
    return guard.code or code or app.return_code or 0


def _forget_terminal() -> None:
    """Redirect output of a terminal that is gone, so that printing does not change the exit code."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for number in (1, 2):
        if os.isatty(number) or is_gone(number):
            os.dup2(nowhere, number)
    os.close(nowhere)


def _collect_rarely() -> None:
    """Collect garbage less often: most objects stay, and each collection delays a frame.

    Measured: 15 % less CPU while an answer streams.
    """
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


class _HomeChoice:
    """Finds the home when it is first needed, and opens its store."""

    def __init__(self, invocation: Invocation) -> None:
        self._invocation = invocation
        self._root: Path | None = None

    @cached_property
    def _found(self) -> HomeChoice:
        from personas.files.home import Home

        return Home.find(self._invocation.home_flag)

    def find_offer(self) -> Path | None:
        """Return the current folder if it could be the home and nobody was asked yet."""
        return self._found.offer

    def read_first(self, wanted: str | None) -> Persona | None:
        """Return the persona to begin with; None where the person has yet to say which home to use."""
        from tui.app.first_persona import read_first

        return read_first(self._found.home.root, wanted) if self._found.offer is None else None

    def accept(self, answer: bool) -> None:
        """Remember whether the current folder is to be the home, and use it if so."""
        from personas.files import trust

        folder = self._found.offer
        assert folder is not None
        trust.remember(folder, answer)
        if answer:
            self._root = folder

    def open(self) -> Store:
        """Return the store; may raise `PersonaError`."""
        from personas.files.home import open_home
        from personas.store import Store
        from tui.cli.logging_setup import log_to

        if self._root is None and "store" in self._invocation.__dict__:  # made already, to look an id up
            store = self._invocation.store
        else:
            store = Store(open_home(self._root or self._found.home.root))
        log_to(store.home)
        return store
