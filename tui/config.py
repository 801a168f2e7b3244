"""The settings: flags, then environment, then `config.toml`. The class is the manual.

A home never holds settings: endpoints, keys and commands come only from the person's own file,
environment and flags.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, get_origin, get_type_hints

from personas.errors import PersonaError

APP = "persona-editor"
DEFAULT_MODEL = "claude-sonnet-5-5"
OFFLINE = "offline"
LARGEST_FILE = 1024 * 1024

CHOICES: Mapping[str, tuple[str, ...]] = {
    "thinking": ("off", "minimal", "low", "medium", "high", "max"),
    "calm": ("auto", "always", "never"),
    "approval": ("auto", "ask-destructive", "ask-all"),
    "notify": ("never", "bell", "desktop"),
}
"""What the settings that name one of a few things may be."""


class ConfigError(PersonaError):
    """The settings file says something that cannot be used."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything a person can set. Each field is a key of `config.toml`."""

    model: str = ""
    """The agent's model. Empty: Claude Sonnet when a key or server is set, else the offline model."""

    base_url: str = ""
    """A server that speaks the Messages API, with or without `/v1` at its end."""

    api_key_env: str = ""
    """The environment variable that holds the key. Empty: ANTHROPIC_API_KEY, ANTHROPIC_AUTH_TOKEN."""

    api_key_command: str = ""
    """A command whose output is the key, for example of a password manager."""

    api_key_in_keyring: bool = False
    """Whether the key lies in the system's keyring, where the program puts it when you paste one and say so."""

    thinking: str = "off"
    """How much the model thinks before it answers: off, minimal, low, medium, high, max."""

    max_tokens: int = 0
    """The longest answer, in tokens. 0: the model's own limit."""

    history_turns: int = 40
    """How many of your messages, with what followed them, go to the model."""

    retries: int = 4
    """How often a failed request is tried again by itself, where that makes sense."""

    max_steps: int = 50
    """After how many answers of the model a run stops by itself."""

    max_minutes: float = 30.0
    """After how many minutes a run stops by itself."""

    approval: str = "auto"
    """When the agent asks before it acts: auto (never, every edit can be undone), ask-destructive, ask-all."""

    approval_of: dict[str, str] = field(default_factory=dict)
    """By tool, whatever `approval` says: ask, allow or deny. A table: `[approval_of]`, `undo = "ask"`."""

    tasks_at_once: int = 10
    """How many tasks may be at work at one time, each about another persona."""

    task_tokens: int = 0
    """After how many tokens, in and out, a task stops by itself. 0: no budget."""

    task_dollars: float = 0.0
    """At what cost a task stops by itself, where prices are known. 0: no budget."""

    task_pause: float = 0.2
    """The least seconds between the starts of two requests of a task."""

    tasks_begin_themselves: bool = False
    """Whether the agent may turn a message into a task that goes on until the work is done."""

    panel_seconds: float = 5.0
    """After how many seconds without news the agent's panel goes away."""

    theme: str = ""
    """The colours: dark, light, or the name of a theme such as nord or gruvbox. Empty: dark."""

    mouse: bool = True
    """Whether the program takes the mouse. Off: the terminal's own selection works."""

    calm: str = "auto"
    """No animation, no blink, slow spinner: always, never, or auto (over SSH and inside tmux)."""

    notify: str = "never"
    """How you hear of the end of a long run while the terminal is not in front: never, bell, desktop."""

    notify_after: float = 20.0
    """How many seconds a run must have taken for that."""

    keys: dict[str, str] = field(default_factory=dict)
    """Other keys for commands, by the command's name. A table: `[keys]`, `"output.toggle" = "f10"`; "" for none."""

    def __post_init__(self) -> None:
        for name, choices in CHOICES.items():
            _check_choice(name, getattr(self, name), choices)
        for tool, choice in self.approval_of.items():
            _check_choice(f"approval_of.{tool}", choice, ("ask", "allow", "deny"))
        for name in (
            *("max_tokens", "retries", "panel_seconds", "notify_after"),
            *("task_tokens", "task_dollars", "task_pause"),
        ):
            if getattr(self, name) < 0:
                raise ConfigError(f"{name} must not be negative")
        for name in ("history_turns", "max_steps", "max_minutes", "tasks_at_once"):
            if getattr(self, name) <= 0:
                raise ConfigError(f"{name} must be above 0")


@dataclass(frozen=True, slots=True)
class Loaded:
    """The settings as they hold, where they come from, and what was odd about the file.

    Attributes:
        sources: by setting, what it comes from where that is not the default: `the file`, a variable's name or
            `--model`.
    """

    settings: Settings
    path: Path
    warnings: tuple[str, ...] = ()
    exists: bool = False
    sources: Mapping[str, str] = field(default_factory=dict)


def config_path(env: Mapping[str, str] | None = None) -> Path:
    """Return the settings file: `$PERSONA_CONFIG`, else `config.toml` in the platform's config folder."""
    env = os.environ if env is None else env
    if named := env.get("PERSONA_CONFIG"):
        return Path(named).expanduser()
    import platformdirs

    return Path(platformdirs.user_config_dir(APP, appauthor=False)) / "config.toml"


def load_settings(env: Mapping[str, str] | None = None, *, model: str | None = None) -> Loaded:
    """Read the settings file and lay the environment and the `--model` flag over it.

    Raises:
        ConfigError: the file is not TOML, or a value has the wrong type; the message has the line.
    """
    env = os.environ if env is None else env
    path = config_path(env)
    text = _read(path)
    values: dict[str, Any] = {}
    warnings: list[str] = []
    if text is not None:
        values, warnings = _checked(_parse(text, path), text, path)
    try:
        settings = Settings(**values)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from None
    over = [
        ("model", env.get("PERSONA_MODEL"), "$PERSONA_MODEL"),
        ("base_url", env.get("ANTHROPIC_BASE_URL"), "$ANTHROPIC_BASE_URL"),
        ("model", model, "--model"),
    ]
    sources = dict.fromkeys(values, "the file")
    for name, value, source in over:
        if value:
            settings = replace(settings, **{name: value})  # type: ignore[arg-type]  # both are texts
            sources[name] = source
    return Loaded(settings, path, tuple(warnings), text is not None, sources)


def write_settings(path: Path, values: Mapping[str, Any]) -> None:
    """Set keys of the settings file, leaving everything else in it as it is; makes the file if need be.

    Raises:
        PersonaError: the file is not TOML, or the disk refuses.
    """
    from personas.textfile import encode, replace_file
    from personas.toml_edit import set_value

    text = _read(path) or ""
    for key, value in values.items():
        text = set_value(text, (key,), value)
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"cannot make {path.parent}: {error.strerror}") from None
    replace_file(path, encode(text), root=Path(os.path.realpath(path.parent)))


def _read(path: Path) -> str | None:
    """Return the file's text, or None when there is no file."""
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise ConfigError(f"{path} is larger than 1 MB; it does not look like a settings file")
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        raise ConfigError(f"{path} is not UTF-8 text; save it as UTF-8") from None
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror}") from None


def _parse(text: str, path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: {error}; mend it or move it away") from None


def _checked(values: dict[str, Any], text: str, path: Path) -> tuple[dict[str, Any], list[str]]:
    """Return the known values with their types checked, and a warning for each unknown key."""
    hints = get_type_hints(Settings)
    known: dict[str, Any] = {}
    warnings = []
    for key, value in values.items():
        if key not in hints:
            warnings.append(f"{path}:{_line_of(text, key)}: unknown setting {key!r} is ignored")
            continue
        if key == "keys" and isinstance(value, dict):
            from tui.keymap import check_keys

            value, odd = check_keys(value)
            warnings += [f"{path}:{_line_of(text, name, 'keys')}: {what}" for name, what in odd]
        kind = get_origin(hints[key]) or hints[key]
        if kind is float and type(value) is int:
            value = float(value)
        if type(value) is not kind or (
            kind is dict and any(type(item) is not str for item in value.values())
        ):
            names = {
                str: "text",
                int: "a whole number",
                float: "a number",
                bool: "true or false",
                dict: "a table of texts",
            }
            raise ConfigError(f"{path}:{_line_of(text, key)}: {key} must be {names[kind]}")
        known[key] = value
    return known, warnings


def _line_of(text: str, key: str, table: str = "") -> int:
    """Return the 1-based line on which a key is set, at the top level or in a table, or 1."""
    first = _line_of(text, table) if table else 1
    for number, line in enumerate(text.splitlines(), 1):
        if number >= first and _bare(line).startswith(key):
            return number
    return first


def _bare(line: str) -> str:
    return line.lstrip().strip("[").replace('"', "").replace("'", "")


def _check_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise ConfigError(f"{name} must be one of {', '.join(choices)}, not {value!r}")
