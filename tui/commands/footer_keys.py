"""The key hints of the footer, by where the focus is and what each key does there now. No widget."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from tui.commands.registry import COMMANDS, NO_KEYMAP, Keymap, Where, first_key, key_name, keys_of

FocusArea = Literal[
    "chat",
    "commands",
    "output",
    "talk",
    "prompt",
    "find",
    "tests",
    "composition",
    "compiled",
    "outputs",
    "personas",
    "filter",
    "settings",
    "anywhere",
]
Key = tuple[str, str]


class FooterState(NamedTuple):
    """The state that the key hints depend on.

    Attributes:
        place: where the focus is; `commands` is the chat bar with its list of commands open.
        escape: what Esc does, in a word; empty for nothing.
        mode: what sending does: idle, running or asking.
        has_draft: whether something is written in the chat bar.
        options: how many answers a digit can pick from now.
        panel: whether the agent's output is hidden, shown for a while, or pinned.
        asking: whether a question is open: the output stays then.
        queues: whether a draft can be queued, whatever Enter does.
        undoes: whether undo has an effect.
        talks: whether the chat bar is that of a talk with a persona.
    """

    place: FocusArea
    escape: str = ""
    mode: Literal["idle", "running", "asking"] = "idle"
    has_draft: bool = False
    options: int = 0
    panel: Literal["hidden", "visible", "pinned"] = "hidden"
    asking: bool = False
    queues: bool = False
    undoes: bool = True
    talks: bool = False


def keys_now(now: FooterState, keymap: Keymap = NO_KEYMAP) -> list[Key]:
    """Return (key, word) pairs, the most important first: a narrow footer drops the last ones."""
    keys = [(key, now.escape)] if now.escape and (key := first_key("back", keymap)) else []
    output = [(key, _output_word(now))] if (key := first_key("output.toggle", keymap)) else []
    own: list[Key] = []  # further keys of this part of the screen
    if now.place == "output":
        keys += [*output, *_picking(now)]
        own = _reading("output", keymap)
    elif now.place == "talk":
        keys += _reading("talk", keymap)
    elif now.place in ("chat", "commands"):
        keys += [*_chat(now), *(output if now.talks else [])]
    elif now.place == "filter":
        keys += [("Enter", "to the list")]
    elif now.place == "find":
        keys += [("Enter", "next, replace")]
        keys += [(key, "other field")] if (key := first_key("conversation.find", keymap)) else []
        keys += _commands("find", keymap)
    elif now.place == "settings":
        keys += [("Enter", "save")]
        own = [("Up Down", "fields")]
    elif now.place == "compiled":
        keys += [("Enter", "where it is from")]
    elif now.place in ("personas", "tests", "composition", "outputs"):
        if now.place in ("personas", "composition") and (key := first_key("rows.open", keymap)):
            keys.append((key, "open"))
        own = _commands(now.place, keymap)
        if now.place in ("tests", "outputs") and (key := first_key("inputs.run", keymap)):
            keys.append((key, "run"))
    tab = [(key, _tab_word(now))] if (key := first_key("pane.next", keymap)) else []
    if now.place == "commands":  # Tab completes a command there
        keys[1:1] = tab
        tab = []
    anywhere = dict(_commands("anywhere", keymap))
    anywhere.update(output)
    undo, help_, agent = (first_key(name, keymap) for name in ("edit.undo", "help", "agent.undo"))
    if not now.undoes:
        anywhere.pop(undo, None)
    for group in (
        _pick(anywhere, undo, help_),
        own,
        _pick(anywhere, agent),
        tab,
        list(anywhere.items()),
    ):
        shown = {key for key, _ in keys}
        keys += [(key, word) for key, word in group if key not in shown]
    return keys


def _pick(keys: Mapping[str, str], *wanted: str) -> list[Key]:
    return [(key, keys[key]) for key in wanted if key in keys]


def _commands(where: Where, keymap: Keymap) -> list[Key]:
    """Return the footer hints of the registry for one part of the screen."""
    return [
        (key_name(keys[0]), command.short)
        for command in COMMANDS
        if command.where == where and command.short and (keys := keys_of(command, keymap))
    ]


def _reading(where: Where, keymap: Keymap) -> list[Key]:
    """Return the hints while the output, or a talk, has the focus; next and previous share one."""
    before = first_key(f"{where}.previous", keymap)
    return [
        (f"{key} {before}".strip() if word in ("turns", "messages") else key, word)
        for key, word in _commands(where, keymap)
    ]


def _chat(now: FooterState) -> list[Key]:
    if now.place == "commands":
        return [("Enter", "use"), ("Up Down", "choose")]
    if now.has_draft:
        return [("Enter", {"idle": "send", "running": "steer", "asking": "reply"}[now.mode])]
    return _picking(now) + ([("Enter", "answer")] if now.options else [])


def _picking(now: FooterState) -> list[Key]:
    last = min(now.options, 9)
    return [("1" if last == 1 else f"1-{last}", "pick")] if last else []


def _tab_word(now: FooterState) -> str:
    if now.place == "commands":
        return "complete"
    can_queue = now.queues or now.mode == "running"
    return "queue" if now.place == "chat" and can_queue and now.has_draft else "panes"


def _output_word(now: FooterState) -> str:
    if now.place == "talk":
        return "back"
    if now.place == "output":
        return "back" if now.asking else "hide"
    return {"hidden": "output", "visible": "pin", "pinned": "read"}[now.panel]
