"""Key bindings from `[keys]` of the settings: checking them and making the keymap. No widget."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tui.commands.registry import BY_ID, COMMANDS, IN_DIALOGS, Command, Where, key_name, keys_of
from tui.terminal.sanitise import sanitise

RESERVED: Mapping[str, str] = {
    "ctrl+b": "tmux takes it for itself",
    "ctrl+h": "terminals send it for Backspace",
    "ctrl+i": "terminals send it for Tab",
    "ctrl+m": "terminals send it for Enter",
    "ctrl+left_square_bracket": "terminals send it for Esc",
    "ctrl+s": "it stops the terminal's output (flow control)",
    "ctrl+q": "it starts the terminal's output again (flow control)",
    "ctrl+j": "it is the new line in the chat bar",
}
"""Keys that no command can have, with the reason."""

NAMED = frozenset(
    [
        "up",
        "down",
        "left",
        "right",
        "home",
        "end",
        "pageup",
        "pagedown",
        "insert",
        "delete",
        "backspace",
        "enter",
        "tab",
        "escape",
        "space",
    ]
) | {f"f{number}" for number in range(1, 25)}

SIGNS: Mapping[str, str] = {
    "/": "slash", "\\": "backslash", "[": "left_square_bracket", "]": "right_square_bracket",
    "-": "minus", "_": "underscore", ".": "full_stop", ",": "comma", ";": "semicolon", ":": "colon",
    "?": "question_mark", "!": "exclamation_mark", "@": "at", "#": "number_sign", "*": "asterisk",
    "=": "equals_sign", "<": "less_than_sign", ">": "greater_than_sign", "^": "circumflex_accent",
    " ": "space", "esc": "escape", "pgup": "pageup", "pgdn": "pagedown", "pgdown": "pagedown", "del": "delete",
    "return": "enter",
}  # fmt: skip
"""Names of keys as people write them, with Textual's names."""

EDITING_KEYS = frozenset(
    ["up", "down", "left", "right", "home", "end", "backspace", "enter", "space", "delete"]
)
"""Keys needed for editing text: no command that works everywhere can have them."""


def flatten(table: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """Return `[keys]` with dotted names, as TOML makes tables of `output.toggle = "f10"` without quotes."""
    flat: dict[str, Any] = {}
    for name, value in table.items():
        if isinstance(value, Mapping):
            flat |= flatten(value, f"{before}{name}.")
        else:
            flat[before + name] = value
    return flat


def check_keys(table: Mapping[str, Any]) -> tuple[dict[str, str], list[tuple[str, str]]]:
    """Return the keymap of a table of keys, and its problems as (name, sentence).

    The keymap has every command whose keys differ from the default ones, also those that lose a key to another command.
    Keys that cannot be used are left out.

    Args:
        table: by a command's id, its keys, separated by commas; or a list of keys.
    """
    chosen: dict[str, list[str]] = {}
    problems: list[tuple[str, str]] = []
    # Commands of all lists first: they win over those of one list.
    for name, value in sorted(flatten(table).items(), key=lambda item: not _in_all_lists(item[0])):
        keys, wrong = _keys_for(name, value, chosen)
        problems += [(name, f"[keys] {sentence}") for sentence in wrong]
        if keys is not None:
            chosen[name] = keys
    keymap = {name: ",".join(keys) for name, keys in chosen.items()}
    for command in COMMANDS:
        if command.id in chosen:
            continue
        keys = keys_of(command)
        lost = {key: owner for key in keys if (owner := _owner(key, command, chosen)) is not None}
        for key, owner in lost.items():
            problems.append((owner, f"[keys] {owner} takes {key_name(key)} from {command.id}"))
        if lost:
            keymap[command.id] = ",".join(key for key in keys if key not in lost)
    return keymap, problems


def _keys_for(name: str, value: Any, chosen: Mapping[str, list[str]]) -> tuple[list[str] | None, list[str]]:
    """Return the keys that a setting gives to a command, None for no change, and what is wrong with it."""
    command = BY_ID.get(name)
    if command is None:
        return None, [f"there is no command {name!r}; Help lists them{_did_you_mean(name)}"]
    wanted = [value] if isinstance(value, str) else value
    if not isinstance(wanted, list) or any(type(key) is not str for key in wanted):
        return None, [f"{name} must be a key, or keys separated by commas"]
    keys: list[str] = []
    wrong: list[str] = []
    for written in _split_keys(wanted):
        key = normal(written)
        if (reason := refusal(key, command)) and key not in keys_of(command):
            shown = key_name(key) if _is_a_key(key) else _sanitised_key(written)
            wrong.append(f"{name} cannot have {shown}: {reason}")
        elif owner := _owner(key, command, chosen) or _list_owner(key, command, chosen):
            wrong.append(f"{key_name(key)} is on {owner} already, so not on {name}")
        else:
            keys.append(key)
    is_unbound = not any(key.strip() for key in wanted)
    return (list(dict.fromkeys(keys)) if keys or is_unbound else None), wrong


def refusal(key: str, command: Command) -> str:
    """Return why a command cannot have a key, empty when it can."""
    if key in RESERVED:
        return RESERVED[key]
    *modifiers, last = key.split("+")
    if any(modifier not in ("ctrl", "shift", "alt") for modifier in modifiers):
        return "before + only ctrl, shift and alt are understood"
    if not _is_a_key(last):
        return "there is no such key"
    plain = not modifiers or modifiers == ["shift"]
    if (
        command.where in ("anywhere", "dialog", "prompt")
        and plain
        and (len(last) == 1 or last in EDITING_KEYS or last in SIGNS.values())
    ):
        return "it is needed for writing"
    return ""


def _is_a_key(key: str) -> bool:
    """Whether a key exists, with any modifiers: a named one or a visible character."""
    last = key.rpartition("+")[2] or key
    if last in NAMED or last in SIGNS.values():
        return True
    return len(last) == 1 and _is_visible(last)


def _is_visible(sign: str) -> bool:
    """Whether a character is visible by itself: no control, hidden or combining character."""
    if sign.isascii() or not sign.isprintable():
        return sign.isprintable()
    from unicodedata import category

    return not category(sign).startswith("M") and sanitise(sign) == sign


def _sanitised_key(written: str) -> str:
    """Return an invalid key as it can be shown safely."""
    from tui.terminal.secrets import redact

    shown = "".join(
        sign if _is_visible(sign) else f"<U+{ord(sign):04X}>" for sign in redact(written.strip(" "))
    )
    return shown if len(shown) <= 40 else shown[:39] + "…"


def normal(key: str) -> str:
    """Return a key as Textual names it: `Ctrl+P` is `ctrl+p`, `/` is `slash`; a capital letter stays one."""
    key = key.strip()
    if len(key) == 1:
        return SIGNS.get(key, key)
    *modifiers, last = [key[:-2], "+"] if key.endswith("++") else key.split("+")
    modifiers = [
        {"control": "ctrl", "option": "alt", "meta": "alt"}.get(m.lower(), m.lower()) for m in modifiers
    ]
    last = last if len(last) == 1 and not modifiers else last.lower()
    return "+".join([*modifiers, SIGNS.get(last, last)])


def _split_keys(wanted: list[str]) -> list[str]:
    """Return the single keys in texts of keys separated by commas; a comma by itself is the key."""
    return [key for text in wanted for key in ([","] if text == "," else text.split(",")) if key.strip()]


def _owner(key: str, command: Command, chosen: Mapping[str, list[str]]) -> str | None:
    """Return the command of the settings that has this key where `command` would use it too."""
    for other in COMMANDS:
        if (
            other.id != command.id
            and _overlaps(other.where, command.where)
            and key in chosen.get(other.id, ())
        ):
            return other.id
    return None


def _overlaps(owner: Where, other: Where) -> bool:
    """Whether commands of these two parts of the screen compete for a key."""
    if owner == other:
        return True
    if "anywhere" in (owner, other):
        return not IN_DIALOGS & {owner, other}
    if owner == "list":
        return other in ("personas", "tests", "program")
    return owner in IN_DIALOGS and other in IN_DIALOGS and "dialog" in (owner, other)


def _in_all_lists(name: str) -> bool:
    return name in BY_ID and BY_ID[name].where == "list"


def _list_owner(key: str, command: Command, chosen: Mapping[str, list[str]]) -> str | None:
    """Return the command of all lists that has this key, unless `command` has it by default."""
    if command.where == "list" or not _overlaps("list", command.where) or key in keys_of(command):
        return None
    for other in COMMANDS:
        if other.where == "list" and key in chosen.get(other.id, keys_of(other)):
            return other.id
    return None


def _did_you_mean(name: str) -> str:
    from difflib import get_close_matches

    close = get_close_matches(name, list(BY_ID), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""
