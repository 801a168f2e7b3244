"""What every command has: the global options, and what is made from them. It does without what reads a command line."""

from __future__ import annotations

import sys
from functools import cached_property
from typing import TYPE_CHECKING

from personas.errors import PersonaError

if TYPE_CHECKING:
    from personas.store import Store
    from tui.settings.schema import LoadedSettings, Settings


class Invocation:
    """The global options, and what commands need from them, made when first used."""

    def __init__(
        self, home_flag: str | None = None, model_flag: str | None = None, debug: bool = False
    ) -> None:
        self.home_flag, self.model_flag, self.debug = home_flag, model_flag, debug

    @cached_property
    def loaded(self) -> LoadedSettings:
        """The settings with their warnings, which are not printed."""
        from tui.settings.schema import load_settings

        return load_settings(model=self.model_flag)

    @cached_property
    def config(self) -> LoadedSettings:
        """The settings for a screen; warnings go to stderr once."""
        self._print_warnings()
        return self.loaded

    @cached_property
    def agent_settings(self) -> Settings:
        """The settings for a conversation; warnings go to stderr once.

        Raises:
            ConfigError: a setting that the agent needs is invalid.
        """
        from tui.settings.schema import OFFLINE, of_looks
        from tui.settings.validation import CONNECTING

        settings = self.loaded.settings
        self.loaded.check(but={*of_looks(), *(CONNECTING if settings.model == OFFLINE else ())})
        self._print_warnings()
        return settings

    def _print_warnings(self) -> None:
        from tui.cli.stderr import print_error

        for warning in self.loaded.warnings:
            print_error(warning)

    def has_file(self, word: str) -> bool:
        """Return whether the home has a file for this id, without loading the store."""
        from personas.files.home import Home

        if not word or word.startswith(".") or any(sign in word for sign in "/\\\0"):
            return False
        try:
            return (Home.find(self.home_flag).home.personas / f"{word}.toml").is_file()
        except (OSError, PersonaError, ValueError):
            return False

    @cached_property
    def store(self) -> Store:
        """The store of the home, which is created if it does not exist.

        A current folder with personas in it that nobody was asked about is only mentioned, on stderr.
        """
        from personas.files.home import Home, open_home
        from personas.store import Store

        found = Home.find(self.home_flag)
        if found.offer is not None and sys.stderr.isatty():
            from tui.cli.stderr import print_error

            print_error(f"this folder holds personas; to use them: persona --home {found.offer} …")
        return Store(open_home(found.home.root))
