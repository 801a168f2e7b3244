"""The settings: flags, then environment, then `config.toml`. The class is the manual.

A home never holds settings: endpoints, keys and commands come only from the person's own file,
environment and flags.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, get_origin, get_type_hints

from personas.errors import PersonaError
from tui.settings_rules import (
    ABOVE_ZERO,
    CHOICES,
    KEYS,
    NOT_NEGATIVE,
    TYPES,
    allowed,
    fault_of_server,
    faults,
)

APP = "persona-editor"
DEFAULT_MODEL = "claude-sonnet-5-5"
OFFLINE = "offline"
LARGEST_FILE = 1024 * 1024

RENAMED: Mapping[str, str] = {"history_turns": "sent_turns"}
"""Settings by the names they once had: understood in the file, with a warning that names the new one."""


class ConfigError(PersonaError):
    """The settings file says something that cannot be used."""


class BrokenSettings(ConfigError):
    """The settings file is no TOML, and so cannot be changed."""


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
    """Whether the key lies in the system's keyring, where the program puts it when you paste one and say so; turned
    off in the program, the key is taken out again."""

    thinking: str = "off"
    """How much the model thinks before it answers: off, minimal, low, medium, high, max."""

    max_tokens: int = 0
    """The longest answer, in tokens. 0: the model's own limit."""

    sent_turns: int = 40
    """How many of your messages, with what followed them, go to the model."""

    retries: int = 4
    """How often a failed request is tried again by itself, where that makes sense."""

    max_steps: int = 50
    """After how many answers of the model a run stops by itself. A task counts them over all that it asks, and anew when
    you have it continue; likewise its minutes, tokens and dollars."""

    max_minutes: float = 30.0
    """After how many minutes a run stops by itself."""

    approval: str = "auto"
    """When the agent asks before it acts: auto (never, every edit can be undone), ask-destructive (before it replaces
    the whole prompt, overwrites or deletes a test input, or undoes a change), ask-all (before every change)."""

    approval_of: dict[str, str] = field(default_factory=dict)
    """By tool, whatever `approval` says: ask, allow or deny. A table: `[approval_of]`, `undo = "ask"`. An ask here is
    stronger than an "always" you once answered."""

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

    reading_rate: float = 0.0
    """How many characters you read in a second: the panel then stays as much longer as what is new in it takes to read.
    0: it does not; 20 is a quiet pace."""

    theme: str = ""
    """The colours: dark, light, or the name of a theme such as nord or gruvbox. Empty: dark."""

    colours: str = "auto"
    """How many colours are sent: what the terminal takes (auto; none where NO_COLOR is set), 16, none."""

    glyphs: str = "auto"
    """The signs that are drawn: ascii, or auto (ASCII only where the terminal takes no UTF-8)."""

    mouse: bool = True
    """Whether the program takes the mouse. Off: the terminal's own selection works."""

    calm: str = "auto"
    """No animation, fewer frames, a slower activity line: always, never, or auto (over SSH and inside tmux)."""

    repaint: str = "changed"
    """What goes to the terminal: only what looks different (changed), or all that was drawn again (all)."""

    notify: str = "never"
    """How you hear, while the terminal is not in front, that a long run is over and how it ended, and at once that a task
    waits for your answer: never, bell, desktop."""

    notify_after: float = 20.0
    """How many seconds a run must have taken for its end to be told; a question does not wait for that."""

    keys: dict[str, str] = field(default_factory=dict)
    """Other keys for commands, by the command's name. A table: `[keys]`, `"output.toggle" = "f10"`; "" for none."""

    def __post_init__(self) -> None:
        # Not `base_url`: what the environment says of it is told when the model is reached for.
        for name in (*CHOICES, *NOT_NEGATIVE, *ABOVE_ZERO, "approval_of", "api_key_env"):
            for _, sentence in faults(name, getattr(self, name)):
                raise ConfigError(sentence)


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
        ConfigError: the file is not TOML, or values are none for their settings; the message has the line of each.
    """
    env = os.environ if env is None else env
    path = config_path(env)
    text = _read(path)
    values: dict[str, Any] = {}
    warnings: list[str] = []
    if text is not None:
        values, warnings = _checked(_parse(text, path), text, path)
    settings = Settings(**values)
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


def check_values(values: Mapping[str, Any]) -> None:
    """Refuse values, by setting and of the right type, that the settings file may not hold.

    Raises:
        ConfigError: one of them is none for its setting; the message says what would be.
    """
    Settings(**values)
    if fault := fault_of_server(values.get("base_url", "")):
        raise ConfigError(fault)


def write_settings(path: Path, values: Mapping[str, Any]) -> None:
    """Set keys of the settings file, leaving everything else in it as it is; makes the file if need be.

    Raises:
        PersonaError: the file is not TOML, or the disk refuses.
    """
    from personas.toml_edit import set_value

    text = _read(path) or ""
    _refuse_broken(text, path)
    for key, value in values.items():
        text = set_value(text, (key,), value)
    _write(path, text)


def unset_setting(path: Path, name: str) -> None:
    """Take a setting out of the file, so that its default holds again; comments stay, also the one on its line.

    Raises:
        PersonaError: the file is not TOML, or the disk refuses.
    """
    from personas.toml_edit import locate, remove_key

    text = before = _read(path) or ""
    _refuse_broken(text, path)
    for key in (name, *(old for old, new in RENAMED.items() if new == name)):
        if (place := locate(text, (key,))) is None:
            continue
        beside = text[place.end :].partition("\n")[0].strip()
        start, newline = text.rfind("\n", 0, place.start) + 1, "\r\n" if "\r\n" in text else "\n"
        text = remove_key(text, (key,))
        if beside.startswith("#"):
            text = f"{text[:start]}{beside}{newline}{text[start:]}"
    if text != before:
        _write(path, text)


def _refuse_broken(text: str, path: Path) -> None:
    """Say where a file that is to be changed is no TOML, and that it stays as it is."""
    from tui.settings_lines import find_break

    if (broken := find_break(text)) is not None:
        line = f" line {broken[0]}" if broken[0] else ""
        raise BrokenSettings(f"{path.name}{line}: {broken[1]}; nothing was stored.")


def _write(path: Path, text: str) -> None:
    from personas.textfile import BOM, encode, replace_file

    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        bom = path.exists() and path.read_bytes().startswith(BOM)
    except OSError as error:
        raise ConfigError(f"cannot make {path.parent}: {error.strerror}") from None
    replace_file(path, encode(text, bom=bom), root=Path(os.path.realpath(path.parent)))


def _read(path: Path) -> str | None:
    """Return the file's text, or None when there is no file."""
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise ConfigError(f"{path} is larger than 1 MB; it does not look like a settings file")
        return path.read_bytes().decode("utf-8-sig")  # with the line ends it has
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{path}:{line}: this is not UTF-8 text; save the file as UTF-8") from None
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror}") from None


def _parse(text: str, path: Path) -> dict[str, Any]:
    try:
        import tomllib  # only where there is a file: what reads TOML is a hundredth of the start

        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        from tui.settings_lines import find_break

        line, what = find_break(text) or (None, str(error))
        raise ConfigError(f"{path}:{f'{line}:' if line else ''} {what}; mend it or move it away") from None


def _checked(values: dict[str, Any], text: str, path: Path) -> tuple[dict[str, Any], list[str]]:
    """Return the known values, and a warning for each key that is unknown, renamed or may not stand there.

    Raises:
        ConfigError: values have the wrong type or are none for their settings; it tells of all of them.
    """
    from tui.settings_lines import Lines

    line_of = Lines(text).of
    hints = get_type_hints(Settings)
    known: dict[str, Any] = {}
    warnings = []
    wrong: list[tuple[int, str]] = []
    for key, value in values.items():
        name = RENAMED.get(key, key)
        if name != key:
            warnings.append(f"{path}:{line_of(key)}: {key} is called {name} now; rename it there")
            if name in values:  # what is set under the new name holds
                continue
        if name not in hints:
            warnings.append(f"{path}:{line_of(key)}: {_ignored(key)}")
            continue
        if name == "keys" and isinstance(value, dict):
            from tui.keymap import check_keys

            value, odd = check_keys(value)
            warnings += [f"{path}:{line_of(key, command)}: {what}" for command, what in odd]
        if name == "approval_of" and isinstance(value, dict):
            warnings += [f"{path}:{line_of(key, tool)}: {what}" for tool, what in _unknown_tools(value)]
        kind = get_origin(hints[name]) or hints[name]
        if kind is float and type(value) is int:
            value = float(value)
        if type(value) is not kind:
            wrong.append((line_of(key), f"{key} must be {allowed(name) or TYPES[kind]}"))
            continue
        known[name] = value
        wrong += [(line_of(key, *place[1:]), sentence) for place, sentence in faults(name, value)]
        if name == "base_url" and (fault := fault_of_server(value)):
            wrong.append((line_of(key), fault))
    if wrong:
        (line, first), *others = sorted(wrong)
        more = "".join(f"; line {line}: {sentence}" for line, sentence in others)
        raise ConfigError(f"{path}:{line}: {first}{more}")
    return known, warnings


def _ignored(key: str) -> str:
    """Say that a key of the file is no setting, and of one that holds a secret where that belongs."""
    if key.casefold().replace("-", "_") in KEYS:
        return (
            f"a key does not stand in this file, so {key} is ignored; take it out, and name its variable in "
            "api_key_env or a command that prints it in api_key_command"
        )
    return f"unknown setting {key!r} is ignored"


def _unknown_tools(named: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the names that no tool has, each with what is wrong: a rule about them would hold for nothing."""
    from difflib import get_close_matches

    from agent.tool_names import TOOL_NAMES

    found = []
    for name in named:
        if name not in TOOL_NAMES:
            near = get_close_matches(name, TOOL_NAMES, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            found.append((name, f"there is no tool {name!r}, so nothing is asked or denied for it{hint}"))
    return found
