"""The settings while the program runs: as the file and the start say, and what was changed or pasted since."""

from __future__ import annotations

import os
from collections.abc import Mapping
from threading import RLock
from typing import TYPE_CHECKING, Any, NamedTuple

from personas.files.file_stamp import stamp_of
from tui.settings.schema import (
    DEFAULT_MODEL,
    OFFLINE,
    LoadedSettings,
    Settings,
    check_values,
    load_settings,
    of_looks,
    unset_setting,
    write_settings,
)
from tui.settings.validation import CONNECTING

if TYPE_CHECKING:
    from pathlib import Path

    from agent.core.model import Model
    from tui.settings.model_factory import Connection


NO_MODEL = "none"
"""What the agent's model is called while there can be none."""


class NamedServer(NamedTuple):
    """A server and a model that the person named, as typed, and a key for them; empty for what is not known yet."""

    server: str = ""
    model: str = ""
    key: str = ""

    def __repr__(self) -> str:
        return f"Named(server={self.server!r}, model={self.model!r})"


class LiveSettings:
    """The person's settings, and the connection they lead to.

    Args:
        loaded: the settings as they were read.
        model_flag: what `--model` says; empty for nothing.
        env: the environment.
    """

    def __init__(
        self, loaded: LoadedSettings, *, model_flag: str = "", env: Mapping[str, str] | None = None
    ) -> None:
        self._loaded = loaded
        self._flag = model_flag
        self._env = os.environ if env is None else env
        self._here: dict[str, Any] = {}
        self._key = ""
        self._pasted_only = False
        self.new = not loaded.exists
        self.named = NamedServer()
        """What was named last and is not in use: asked again, the person goes on from there."""
        self._changing = RLock()  # by whichever thread
        self._stamp: object = ...  # of the file that was read; not known of the one at the start

    @property
    def settings(self) -> Settings:
        """The settings as they hold now."""
        return self._loaded.settings._replace(**self._here) if self._here else self._loaded.settings

    @property
    def path(self) -> Path:
        """The settings file."""
        return self._loaded.path

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is wrong in the settings, each with its line and what comes of it."""
        return self._loaded.warnings

    @property
    def explicit(self) -> bool:
        """Whether the person named a model, a server or a key by any way."""
        named = any(name in self._loaded.sources for name in ("model", "base_url"))
        return named or bool(self._here or self._key) or not self.connection().offline

    def source(self, name: str) -> str:
        """Return where a setting's value comes from, for people; "default" where nobody set it."""
        return "this session" if name in self._here else self._loaded.sources.get(name, "default")

    def overruled(self, name: str) -> str:
        """Return what holds over the file for this setting, empty for nothing."""
        source = self.source(name)
        return "" if source in ("default", "the file") else source

    # -- changing -----------------------------------------------------------------------------------------

    def read_again(self) -> None:
        """Take the file as it is now; where that cannot be used, what held before holds. Blocking."""
        with self._changing:
            server = self.settings.base_url
            self._stamp = stamp_of(self.path)  # first: what is written while it is read is read once more
            self._loaded = load_settings(self._env, model=self._flag or None).after(self._loaded)
            self._server_was(server)

    def look(self) -> bool:
        """Take the file if it was changed elsewhere; return whether something holds, or is wrong, by it now. Blocking."""
        with self._changing:
            if stamp_of(self.path) == self._stamp:
                return False
            before = self.settings, self._loaded.wrong
            self.read_again()
            return before != (self.settings, self._loaded.wrong)

    def _server_was(self, before: str) -> None:
        """Drop the key that was given for a server, once another one is set: it goes to no other."""
        if self.settings.base_url != before:
            self._key, self._pasted_only = "", False

    def store(self, values: Mapping[str, Any]) -> None:
        """Write settings to the file, everything else in it left alone, and take them. Blocking.

        Raises:
            PersonaError: a value is none for its setting, the file is not TOML, or the disk refuses.
        """
        check_values(values)  # says what is wrong before anything is written
        with self._changing:
            server = self.settings.base_url
            write_settings(self.path, values)
            self.read_again()
            for name, value in values.items():
                self._here.pop(name, None)
                if (
                    getattr(self._loaded.settings, name) != value
                ):  # the environment says otherwise; the person is here
                    self._here[name] = value
            self._server_was(server)

    def unset(self, name: str) -> None:
        """Take a setting out of the file and forget what was chosen since the start: what else there is holds. Blocking.

        Raises:
            PersonaError: the file is not TOML, or the disk refuses.
        """
        with self._changing:
            server = self.settings.base_url
            unset_setting(self.path, name)
            self.read_again()
            self._here.pop(name, None)
            self._server_was(server)

    def use(self, where: Connection) -> None:
        """Have the model, the server and the key of a connection hold until the program ends."""
        from tui.settings.model_factory import PASTED

        if where.base_url != self.settings.base_url:
            self._key, self._pasted_only = "", True
        if where.source == PASTED:
            self._key = where.api_key
        self._here = {"model": where.model, "base_url": where.base_url}

    def use_model(self, name: str) -> None:
        """Have another model on the same connection until the program ends."""
        self._here["model"] = name

    # -- the model ----------------------------------------------------------------------------------------

    def connection(self, name: str = "") -> Connection:
        """Return how to reach the agent's model, or another one by name on the same connection."""
        return self._connect(self.settings._replace(model=name) if name else self.settings, self._key)

    def other(self, *, model: str = "", base_url: str | None = None, key: str = "") -> Connection:
        """Return a connection that is not in use yet.

        Args:
            model: its name; empty for the one that is set, unless that is the offline one.
            base_url: its server, "" for Anthropic's own; None for the one that is set.
            key: a key for it; empty for the one there is. A key goes to no other server than it was given for:
                with another `base_url` there is none.

        Raises:
            ConfigError: other settings of the agent cannot be used, so that no model helps.
        """
        self._loaded.check(but={*of_looks(), *CONNECTING})
        set_model = self.settings.model if self.settings.model != OFFLINE else ""
        settings = self.settings._replace(
            model=model or set_model or DEFAULT_MODEL,
            base_url=self.settings.base_url if base_url is None else base_url,
        )
        if base_url is None or base_url == self.settings.base_url:
            return self._connect(settings, key or self._key)
        return self._connect(settings, key, pasted_only=True)

    def _connect(self, settings: Settings, key: str, *, pasted_only: bool | None = None) -> Connection:
        from tui.settings.model_factory import connection

        if self._pasted_only if pasted_only is None else pasted_only:
            settings = settings._replace(api_key_command="", api_key_in_keyring=False, api_key_env="")
            return connection(settings, {}, pasted_key=key)
        return connection(settings, self._env, pasted_key=key)

    def name_model(self) -> str:
        """Return the name of the agent's model; `none` where the settings have to be fixed first."""
        unusable = self._loaded.unusable
        return NO_MODEL if unusable and unusable.difference(self._spared()) else self.connection().model

    def _spared(self, name: str = "") -> set[str]:
        """Return the settings without which the agent can do, if it uses the model `name`."""
        offline = (name or self.settings.model) == OFFLINE
        return {*of_looks(), *self._here, *({"model"} if name else ()), *(CONNECTING if offline else ())}

    def make_model(self, name: str = "") -> Model:
        """Return the agent's model, or another one by name on the same connection; may block.

        Raises:
            ConfigError: settings of the agent cannot be used, or the key command or the keyring failed.
        """
        from tui.settings.model_factory import build_model

        self._loaded.check(but=self._spared(name))
        return build_model(self.connection(name))
