"""The settings: flags, then environment, then `config.toml`. The class is the manual.

A home never holds settings: endpoints, keys and commands come only from the person's own file,
environment and flags.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any, NamedTuple, get_type_hints

from tui.settings.loader import ConfigError as ConfigError
from tui.settings.loader import SettingError, read_bytes, read_text, read_values, refuse_broken
from tui.settings.validation import LEVELS, RENAMED, Rules, fault_of_key, faults, faults_in_file

APP = "persona-editor"
DEFAULT_MODEL = "claude-sonnet-5-5"
OFFLINE = "offline"
_EMPTY: dict[str, str] = {}  # nobody changes a table of the settings in place


class Settings(NamedTuple):
    """Everything a person can set. Each field is a key of `config.toml`, with rules of what its value may be."""

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

    thinking: Annotated[str, Rules(choices=LEVELS)] = "off"
    """How much the model thinks before it answers: off, minimal, low, medium, high, max."""

    max_tokens: Annotated[int, Rules(least=0)] = 0
    """The longest answer, in tokens. 0: as long as the model allows."""

    sent_turns: Annotated[int, Rules(above=0)] = 40
    """How many of your messages, with what followed them, go to the model."""

    retries: Annotated[int, Rules(least=0)] = 4
    """How often a failed request is tried again by itself, where that makes sense."""

    max_steps: Annotated[int, Rules(above=0)] = 50
    """After how many answers of the model a run stops by itself. A task counts them over all that it asks, and anew when
    you have it continue; likewise its minutes, tokens and dollars."""

    max_minutes: Annotated[float, Rules(above=0)] = 30.0
    """After how many minutes a run stops by itself."""

    approval: Annotated[str, Rules(choices=("auto", "ask-destructive", "ask-all"))] = "auto"
    """When the agent asks before it acts: auto (never, every edit can be undone), ask-destructive (before it replaces
    the whole prompt, overwrites or deletes a test input, or undoes a change), ask-all (before every change)."""

    approval_of: dict[str, str] = _EMPTY
    """By tool, whatever `approval` says: ask, allow or deny. A table: `[approval_of]`, `undo = "ask"`. An ask here is
    stronger than an "always" you once answered."""

    tasks_at_once: Annotated[int, Rules(above=0)] = 10
    """How many tasks may be at work at one time, each about another persona."""

    task_tokens: Annotated[int, Rules(least=0)] = 0
    """After how many tokens, in and out, a task stops by itself. 0: no budget."""

    task_dollars: Annotated[float, Rules(least=0)] = 0.0
    """At what cost a task stops by itself, where prices are known. 0: no budget. What it may spend on running test inputs is
    counted apart, up to the same amount."""

    task_pause: Annotated[float, Rules(least=0)] = 0.2
    """The least seconds between the starts of two requests of a task."""

    tasks_begin_themselves: bool = False
    """Whether the agent may turn a message into a task that goes on until the work is done."""

    jobs: Annotated[int, Rules(above=0)] = 4
    """How many requests are sent at once when test inputs are run (`--jobs`); not the agent's jobs."""

    confirm_dollars: Annotated[float, Rules(least=0)] = 1.0
    """Above what cost a run of test inputs asks first, where prices are known."""

    confirm_requests: Annotated[int, Rules(least=0)] = 500
    """Above how many requests it asks first where prices are unknown."""

    judge_model: str = ""
    """The model that judges the rubrics of test inputs. Empty: the one that is tried; a persona's `[judge]` beats this."""

    macro_user: str = "User"
    """What `{{user}}` stands for in a prompt and its test inputs when they are run."""

    macro_char: str = ""
    """What `{{char}}` stands for. Empty: the persona's name."""

    outputs_kept: Annotated[int, Rules(least=0)] = 100
    """How many outputs of a test input stay when there are many; older ones go, but for those you keep, the newest of the
    prompt as it is, and those of the baseline. 0: all stay."""

    runs_unasked: Annotated[int, Rules(least=0)] = 3
    """How many test inputs the agent may run without asking, outside of a task."""

    worker: dict[str, str] = _EMPTY
    """Where `persona worker` keeps its queue. A table: `[worker]`, `database = "postgresql://host/name"` for workers on several
    hosts (without it: a file of this machine), and `home = "team"`, the name under which they all know the home."""

    worker_while_open: bool = False
    """Whether the program runs approved actions when they are due while it is open, as `persona worker` does; from the next
    start on."""

    about: str = ""
    """What your personas are for, told to the agent when a conversation begins. Empty: what `about.md` in the home says,
    or nothing."""

    panel_seconds: Annotated[float, Rules(least=0, looks=True)] = 5.0
    """After how many seconds without anything new the agent's panel goes away."""

    reading_rate: Annotated[float, Rules(least=0, looks=True)] = 0.0
    """How many characters you read in a second: the panel then stays as much longer as what is new in it takes to read.
    0: it does not; 20 is a quiet pace."""

    theme: Annotated[str, Rules(looks=True)] = ""
    """The colours: dark, light, or the name of a theme such as nord or gruvbox. Empty: dark."""

    colours: Annotated[str, Rules(choices=("auto", "16", "none"), looks=True)] = "auto"
    """How many colours are sent: what the terminal takes (auto; none where NO_COLOR is set), 16, none."""

    glyphs: Annotated[str, Rules(choices=("auto", "ascii"), looks=True)] = "auto"
    """The signs that are drawn: ascii, or auto (ASCII only where the terminal takes no UTF-8)."""

    mouse: Annotated[bool, Rules(looks=True)] = True
    """Whether the program takes the mouse. Off: the terminal's own selection works."""

    calm: Annotated[str, Rules(choices=("auto", "always", "never"), looks=True)] = "auto"
    """No animation, fewer frames, a slower activity line: always, never, or auto (over SSH and inside tmux)."""

    repaint: Annotated[str, Rules(choices=("changed", "all"), looks=True)] = "changed"
    """What goes to the terminal: only what looks different (changed), or all that was drawn again (all)."""

    notify: Annotated[str, Rules(choices=("never", "bell", "desktop"), looks=True)] = "never"
    """How you hear, while the terminal is not in front, that a long run is over and how it ended, and at once that a task
    waits for your answer: never, bell, desktop."""

    notify_after: Annotated[float, Rules(least=0, looks=True)] = 20.0
    """How many seconds a run must have taken for its end to be told; a question does not wait for that."""

    keys: Annotated[dict[str, str], Rules(looks=True)] = _EMPTY
    """Other keys for commands, by the command's name. A table: `[keys]`, `"output.toggle" = "f10"`; "" for none."""


@cache
def all_rules() -> Mapping[str, Rules]:
    """Return by setting what its value may be. Read from the class when first asked, which is after the first paint."""
    hints = get_type_hints(Settings, include_extras=True)
    return {name: next(iter(getattr(hint, "__metadata__", ())), Rules()) for name, hint in hints.items()}


@cache
def of_looks() -> frozenset[str]:
    """Return the settings of the screen."""
    return frozenset(name for name, rules in all_rules().items() if rules.looks)


class LoadedSettings(NamedTuple):
    """The settings as they hold, where they come from, and what is wrong.

    Attributes:
        settings: with the default of each setting whose value cannot be used.
        wrong: everything that is wrong, in the order of the file's lines.
        sources: by setting, what it comes from where that is not the default: `the file`, a variable's name or
            `--model`.
        unusable: the settings that somebody set and that have no value by it; "" stands for the whole file.
    """

    settings: Settings
    path: Path
    wrong: tuple[SettingError, ...] = ()
    exists: bool = False
    sources: Mapping[str, str] = {}
    unusable: frozenset[str] = frozenset()

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is wrong, each with its line and what comes of it."""
        return tuple(f"{one}{self._outcome(one)}" for one in self.wrong)

    def _outcome(self, wrong: SettingError) -> str:
        if wrong.setting is None:
            return ""
        if wrong.setting not in self.unusable:
            return "; the previous value is kept"
        if wrong.setting in of_looks():
            return "; the default is used"
        return "; the agent is disabled until this is fixed"

    def check(self, but: Collection[str] = ()) -> None:
        """Refuse to go on with settings that somebody set and that cannot be used.

        Args:
            but: settings that are not needed.

        Raises:
            ConfigError: there are such; it tells first of those that are needed, then of all else that is wrong.
        """
        needed = self.unusable.difference(but)
        if needed:
            first, *others = sorted(self.wrong, key=lambda one: one.setting not in needed)
            more = "".join(f"; {f'line {one.line}: ' if one.line else ''}{one.sentence}" for one in others)
            raise ConfigError(f"{first}{more}")

    def after(self, before: LoadedSettings) -> LoadedSettings:
        """Return these settings; a setting whose value in the file cannot be used keeps its value of `before`."""
        if "" in before.unusable:
            return self
        if "" in self.unusable:
            return self._replace(settings=before.settings, sources=before.sources, unusable=before.unusable)
        kept = self.unusable - before.unusable
        sources = {name: before.sources[name] for name in kept if name in before.sources}
        return self._replace(
            settings=self.settings._replace(**{name: getattr(before.settings, name) for name in kept}),
            sources={**self.sources, **sources},
            unusable=self.unusable & before.unusable,
        )


def config_path(env: Mapping[str, str] | None = None) -> Path:
    """Return the settings file: `$PERSONA_CONFIG`, else `config.toml` in the platform's config folder."""
    env = os.environ if env is None else env
    if named := env.get("PERSONA_CONFIG"):
        from personas.files.text_file import expanded

        return expanded(named)
    import platformdirs

    return Path(platformdirs.user_config_dir(APP, appauthor=False)) / "config.toml"


def load_settings(env: Mapping[str, str] | None = None, *, model: str | None = None) -> LoadedSettings:
    """Read the settings file and lay the environment and the `--model` flag over it.

    What cannot be used is told in the result, and keeps no other setting from holding.
    """
    env = os.environ if env is None else env
    path = config_path(env)
    found, wrong = read_values(path, Settings, all_rules)
    values = dict(found or {})
    sources = dict.fromkeys(values, "the file")
    unusable = {one.setting for one in wrong if one.setting is not None}
    for name, value, source in (
        ("model", env.get("PERSONA_MODEL"), "$PERSONA_MODEL"),
        ("base_url", env.get("ANTHROPIC_BASE_URL"), "$ANTHROPIC_BASE_URL"),
        ("model", model, "--model"),
    ):
        if not value:
            continue
        if fault := fault_of_key(source, value):
            wrong.append(SettingError(fault, setting=name))
            unusable.add(name)
            continue
        values[name], sources[name] = value, source
        unusable.discard(name)
    return LoadedSettings(
        Settings(**values), path, tuple(wrong), found is not None, sources, frozenset(unusable)
    )


def check_values(values: Mapping[str, Any]) -> None:
    """Refuse values, by setting and of the right type, that the settings file may not hold.

    Raises:
        ConfigError: one of them is none for its setting; the message says what would be.
    """
    for name, value in values.items():
        rules = all_rules()[name]
        for _, sentence in (*faults(name, rules, value), *faults_in_file(name, rules, value)):
            raise ConfigError(sentence)


def write_settings(path: Path, values: Mapping[str, Any]) -> None:
    """Set keys of the settings file, leaving everything else in it as it is; makes the file if need be.

    Raises:
        PersonaError: the file is not TOML, or the disk refuses.
    """
    from personas.toml.edit import set_value

    text = read_text(path) or ""
    refuse_broken(text, path)
    for key, value in values.items():
        text = set_value(text, (key,), value)
    _write(path, text)


def unset_setting(path: Path, name: str) -> None:
    """Take a setting out of the file, so that its default holds again; comments stay, also the one on its line.

    Raises:
        PersonaError: the file is not TOML, or the disk refuses.
    """
    from personas.toml.edit import locate, remove_key

    text = before = read_text(path) or ""
    refuse_broken(text, path)
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


def _write(path: Path, text: str) -> None:
    from personas.files.text_file import BOM, encode, replace_file

    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"cannot make {path.parent}: {error.strerror}") from None
    bom = (read_bytes(path) or b"").startswith(BOM)
    replace_file(path, encode(text, bom=bom), root=Path(os.path.realpath(path.parent)))
