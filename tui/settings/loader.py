"""The settings file read and judged: what of it can be used, and everything that is wrong in it, with its line."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, get_origin, get_type_hints

from personas.errors import PersonaError
from tui.settings.validation import KEYS, RENAMED, TYPES, WORKER, Rules, allowed, faults, faults_in_file

LARGEST_FILE = 1024 * 1024


class ConfigError(PersonaError):
    """The settings say something that cannot be used."""


class BrokenSettings(ConfigError):
    """The settings file cannot be read or is no TOML, and so cannot be changed."""


class SettingError(NamedTuple):
    """One thing that is wrong in the settings.

    Attributes:
        sentence: what it is, and what may stand there, without its full stop and without any key.
        line: the line of the file; 0 where it stands in none.
        where: what comes before the sentence: the file and the line, or empty where the sentence says it.
        setting: the setting that has no value by it; empty for the whole file; None where nothing is lost.
    """

    sentence: str
    line: int = 0
    where: str = ""
    setting: str | None = None

    def __str__(self) -> str:
        return f"{self.where}{self.sentence}"


def read_bytes(path: Path) -> bytes | None:
    """Return what a file holds, None when there is none; never waits on a pipe, never reads more than 1 MB.

    Raises:
        BrokenSettings: it is no regular file, larger, or cannot be read.
    """
    if not os.path.lexists(path):
        return None
    from personas.files.text_file import read_regular

    try:
        # It may be a link to wherever the person keeps such files.
        return read_regular(path, root=Path(os.path.realpath(path)).parent, limit=LARGEST_FILE)
    except FileNotFoundError:
        return None
    except PersonaError as error:
        raise BrokenSettings(str(error)) from None


def read_text(path: Path) -> str | None:
    """Return the file's text with the line ends it has, None when there is no file.

    Raises:
        BrokenSettings: it cannot be read, or is not UTF-8.
    """
    if (content := read_bytes(path)) is None:
        return None
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise BrokenSettings(f"{path}:{line}: this is not UTF-8 text; save the file as UTF-8") from None


def read_values(
    path: Path, settings: type, all_rules: Callable[[], Mapping[str, Rules]]
) -> tuple[dict[str, Any] | None, list[SettingError]]:
    """Read the settings file.

    Args:
        path: the file.
        settings: the class whose fields are the settings.
        all_rules: returns what their values may be.

    Returns:
        By setting, the values that can be used, None where there is no file; and all that is wrong, in the order of
        the lines.
    """
    try:
        text = read_text(path)
        if text is None:
            return None, []
        found = _parse(text, path)
    except BrokenSettings as error:
        return {}, [SettingError(str(error), setting="")]
    known, wrong = _judge(found, text, path, settings, all_rules())
    return known, sorted(wrong, key=lambda one: one.line)


def refuse_broken(text: str, path: Path) -> None:
    """Say where a file that is to be changed is no TOML, and that it stays as it is.

    Raises:
        BrokenSettings: it is none.
    """
    from tui.settings.source_locations import find_break

    if (broken := find_break(text)) is not None:
        line = f" line {broken[0]}" if broken[0] else ""
        raise BrokenSettings(f"{path.name}{line}: {broken[1]}; nothing was stored.")


def _parse(text: str, path: Path) -> dict[str, Any]:
    try:
        import tomllib  # only where there is a file: what reads TOML is a hundredth of the start

        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        from tui.settings.source_locations import find_break

        line, what = find_break(text) or (None, str(error))
        raise BrokenSettings(f"{path}:{f'{line}:' if line else ''} {what}; fix it or move it away") from None


def _judge(
    found: Mapping[str, Any], text: str, path: Path, settings: type, rules: Mapping[str, Rules]
) -> tuple[dict[str, Any], list[SettingError]]:
    """Return the values that can be used, and what is wrong with the others."""
    from tui.settings.source_locations import KeyLines
    from tui.terminal.secrets import redact

    line_of = KeyLines(text).of
    hints = get_type_hints(settings)
    known: dict[str, Any] = {}
    wrong: list[SettingError] = []

    def warn(place: Collection[str], sentence: str, setting: str | None = None) -> None:
        line = line_of(*place)
        wrong.append(SettingError(redact(sentence), line, f"{path}:{line}: ", setting))

    for key, value in found.items():
        name = RENAMED.get(key, key)
        if name != key:
            warn((key,), f"{key} was renamed to {name}; rename it there")
            if name in found:  # what is set under the new name holds
                continue
        if name not in hints:
            warn((key,), _ignored(key))
            continue
        if isinstance(value, dict):
            value, odd = _sorted_out(name, value)
            for place, sentence in odd:
                warn((key, place), sentence)
        kind = get_origin(hints[name]) or hints[name]
        if kind is float and type(value) is int:
            try:
                value = float(value)
            except OverflowError:
                value = float("inf")
        if type(value) is not kind:
            warn((key,), f"{key} must be {allowed(rules[name]) or TYPES[kind]}", name)
            continue
        found_wrong = [*faults(name, rules[name], value)] or [*faults_in_file(name, rules[name], value)]
        for keys, sentence in found_wrong:
            warn((key, *keys[1:]), sentence, name)
        if not found_wrong:
            known[name] = value
    return known, wrong


def _sorted_out(name: str, table: dict[str, Any]) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """Return what holds of a table, and what of it means nothing: the name in the table and a sentence."""
    if name == "keys":
        from tui.commands.keymap import check_keys

        return check_keys(table)
    if name == "worker":
        return table, [
            (key, f"unknown setting 'worker.{key}' is ignored") for key in table if key not in WORKER
        ]
    return table, [*_unknown_tools(table)] if name == "approval_of" else []


def _ignored(key: str) -> str:
    """Say that a key of the file is no setting, and of one that holds a secret where that belongs."""
    if key.casefold().replace("-", "_") in KEYS:
        return (
            f"API keys are not allowed in this file; {key} is ignored. Remove it, and set api_key_env to the name of "
            "its variable, or api_key_command to a command that prints it"
        )
    return f"unknown setting {key!r} is ignored"


def _unknown_tools(named: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the names that no tool has, each with what is wrong: a rule about them would hold for nothing."""
    from difflib import get_close_matches

    from agent.tools import registered, tool_names

    for name in named:
        if registered(name) is None:
            near = get_close_matches(name, tool_names(), n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            yield name, f"there is no tool {name!r}; the rule is ignored{hint}"
