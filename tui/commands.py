"""The one list of what a person can do: bindings, footer, help and palette are made from it.

A command's `id` is what a keymap names; its `action` is a method `action_…` of the main screen or of the
widget that `where` names.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from textual.binding import Binding

Where = Literal["anywhere", "prompt", "personas", "tests", "chat", "output"]

HEADINGS: dict[Where, str] = {
    "anywhere": "Anywhere",
    "chat": "Chat bar",
    "output": "Reading the agent's output (Ctrl+O, Ctrl+O)",
    "prompt": "Prompt and test input editors",
    "personas": "Persona list",
    "tests": "Test inputs",
}


@dataclass(frozen=True, slots=True)
class Command:
    """One thing a person can do.

    Attributes:
        id: stable name, for the keymap.
        title: what it does, as the palette says it.
        keys: default keys, separated by commas; empty for palette only.
        action: the action's name, with arguments where it needs them.
        where: which part of the screen the keys work in.
        short: the word in the footer; empty keeps it out of the footer.
        priority: whether the key is taken before the focused widget sees it.
        palette: whether the palette offers it.
    """

    id: str
    title: str
    keys: str
    action: str
    where: Where = "anywhere"
    short: str = ""
    priority: bool = True
    palette: bool = True


COMMANDS: tuple[Command, ...] = (
    Command("persona.switch", "Switch persona", "ctrl+p,f2", "switch_persona", short="personas"),
    Command("persona.news", "Next persona with news", "ctrl+n", "next_news"),
    Command("output.toggle", "Show the agent's output, read it, hide it", "ctrl+o", "output", short="output"),
    Command("output.pin", "Keep the agent's output on the screen", "", "pin_output"),
    Command("conversation.find", "Find in the conversation", "ctrl+f", "find"),
    Command("conversation.clear", "Clear the conversation", "", "clear_conversation"),
    Command("conversation.unclear", "Bring the cleared conversation back", "", "unclear_conversation"),
    Command("chat.recall", "Recall a sent message", "ctrl+r", "recall"),
    Command("editor.external", "Edit in $EDITOR", "ctrl+g", "external_editor", short="$EDITOR"),
    Command("edit.undo", "Undo", "ctrl+z", "undo", priority=False, short="undo"),
    Command("edit.redo", "Redo", "ctrl+y", "redo", priority=False),
    Command("agent.undo", "Undo the agent's last run", "f8", "undo_agent", short="undo agent"),
    Command("agent.redo", "Redo the agent's last run", "f9", "redo_agent"),
    Command("help", "Help", "f1", "help", short="help"),
    Command("pane.prompt", "Go to the system prompt", "f3", "go('prompt')"),
    Command("pane.tests", "Go to the test inputs", "f4", "go('tests')"),
    Command("pane.settings", "Go to the persona's settings", "", "go('settings')"),
    Command("pane.personas", "Go to the persona list", "", "go('personas')"),
    Command("edit.compare", "Show what the last change did", "f5", "compare"),
    Command("pane.next", "Next pane", "tab", "next_pane", palette=False),
    Command("pane.previous", "Previous pane", "shift+tab", "previous_pane", palette=False),
    Command("stop", "Stop the agent", "", "stop_agent"),
    Command("task.mode", "Task mode: let the agent work until the job is done, or not", "", "task_mode"),
    Command("task.continue", "Continue the task that stopped", "", "continue_task"),
    Command("back", "Close, stop, or go back to the chat bar", "escape", "back", palette=False),
    Command("copy", "Copy, stop, clear the draft, or quit", "ctrl+c", "copy_or_stop", palette=False),
    Command("pane.narrower", "Make this pane narrower", "f6", "resize_pane(-1)"),
    Command("pane.wider", "Make this pane wider", "f7", "resize_pane(1)"),
    Command("pane.alone", "Show the prompt alone, or all panes again", "f12", "prompt_alone"),
    Command("pane.personas.hide", "Hide or show the persona list", "", "hide_pane('personas')"),
    Command("pane.side.hide", "Hide or show test inputs and settings", "", "hide_pane('side')"),
    Command("redraw", "Draw the screen again", "ctrl+l", "redraw"),
    Command("model", "Choose or connect the agent's model", "", "choose_model"),
    Command("settings", "Settings of the program", "", "program_settings"),
    Command("quit", "Quit", "", "leave"),
    Command("list.new", "New persona", "n", "new", where="personas", short="new", priority=False),
    Command("list.copy", "Duplicate", "c", "duplicate", where="personas", short="copy", priority=False),
    Command("list.rename", "Rename", "r", "rename", where="personas", short="rename", priority=False),
    Command("list.delete", "Delete", "x,delete", "delete", where="personas", short="delete", priority=False),
    Command("list.restore", "Bring back a deleted persona", "u", "restore", where="personas", priority=False,
            short="restore"),
    Command("list.mark", "Mark, for copying or deleting several", "space", "mark", where="personas",
            priority=False),
    Command("list.filter", "Filter", "slash", "filter", where="personas", short="filter", priority=False),
    Command("tests.new", "New test input", "n", "new", where="tests", short="new", priority=False),
    Command("tests.copy", "Duplicate", "c", "duplicate", where="tests", short="copy", priority=False),
    Command("tests.edit", "Edit", "enter,e", "edit", where="tests", short="edit", priority=False),
    Command("tests.delete", "Delete", "x,delete", "delete", where="tests", short="delete", priority=False),
    Command("tests.mark", "Mark, for copying or deleting several", "space", "mark", where="tests",
            priority=False),
    Command("tests.up", "Move up", "K,shift+up", "move(-1)", where="tests", short="move", priority=False),
    Command("tests.down", "Move down", "J,shift+down", "move(1)", where="tests", priority=False),
)  # fmt: skip

# Keys the chat bar and the editors handle themselves; listed here so that the help has them.
TOLD_ONLY: tuple[tuple[Where, str, str], ...] = (
    ("chat", "enter", "Send; steer while it works; reply"),
    ("chat", "ctrl+j", "New line (Shift+Enter, Alt+Enter)"),
    ("chat", "up, down", "Messages you sent before; Up takes back what is queued"),
    ("chat", "1, 2, up, down", "When it asks: pick an answer, Enter gives it"),
    ("chat", "pageup, pagedown", "Scroll the agent's output"),
    ("chat", "/", "Commands, with Tab to complete"),
    ("output", "j, k", "Next and previous turn"),
    ("output", "enter, d", "Open or close it: input, output, diff"),
    ("output", "y", "Copy it"),
    ("output", "u", "Undo the agent's last run"),
    ("output", "/, n, N", "Find, next, previous"),
    ("output", "end", "Follow the end again"),
    ("prompt", "ctrl+z, ctrl+y", "Undo, redo; the agent's runs among them"),
    ("personas", "j, k, enter", "Down, up, open"),
    ("personas", "● ? ✓ !", "At work, waits for you, done and not seen, failed or stopped"),
    ("tests", "j, k", "Down, up"),
)


Keymap = Mapping[str, str]
"""By a command's id, its keys in place of the default ones, separated by commas; empty for none."""

NO_KEYMAP: Keymap = {}
UNBOUND = "unbound."
"""What stands for the key of a command that has none, so that a keymap can give it one: no terminal sends it."""


def keys_of(command: Command, keymap: Keymap = NO_KEYMAP) -> list[str]:
    """Return the keys of a command."""
    return [key for key in keymap.get(command.id, command.keys).split(",") if key]


def first_key(command_id: str, keymap: Keymap = NO_KEYMAP) -> str:
    """Return the first key of a command as people write it, empty for none."""
    keys = keys_of(next(command for command in COMMANDS if command.id == command_id), keymap)
    return key_name(keys[0]) if keys else ""


def bindings(where: Where) -> list[Binding]:
    """Return the bindings of one part of the screen, on the default keys; their ids are the commands' ids."""
    from textual.binding import Binding

    return [
        Binding(
            command.keys or UNBOUND + command.id,
            command.action,
            command.title,
            show=bool(command.short),
            priority=command.priority,
            id=command.id,
        )
        for command in COMMANDS
        if command.where == where
    ]


def textual_keymap(keymap: Keymap) -> dict[str, str]:
    """Return a keymap as Textual takes it: there, an empty text would leave the default keys."""
    return {command_id: keys or UNBOUND + command_id for command_id, keys in keymap.items()}


READING = [
    ("j k", "turns"),
    ("Enter", "open"),
    ("y", "copy"),
    ("u", "undo"),
    ("/", "find"),
    ("End", "follow"),
]
"""What the footer shows while the output is read."""


def footer(where: Where, keymap: Keymap = NO_KEYMAP) -> list[tuple[str, str]]:
    """Return (key, word) of what the footer shows in one part of the screen."""
    if where == "output":
        return READING
    return [
        (key_name(keys[0]), command.short)
        for command in COMMANDS
        if command.where == where and command.short and (keys := keys_of(command, keymap))
    ]


def help_rows(keymap: Keymap = NO_KEYMAP) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return for each part of the screen its heading and (keys, what they do)."""
    rows: list[tuple[str, list[tuple[str, str]]]] = []
    for where, heading in HEADINGS.items():
        lines = [
            (" ".join(key_name(key) for key in keys), command.title)
            for command in COMMANDS
            if command.where == where and (keys := keys_of(command, keymap))
        ]
        lines += [
            (" ".join(key_name(key.strip()) for key in keys.split(",")), title)
            for place, keys, title in TOLD_ONLY
            if place == where
        ]
        rows.append((heading, lines))
    return rows


def palette() -> list[Command]:
    """Return the commands the palette offers, in order."""
    return [command for command in COMMANDS if command.palette and command.where == "anywhere"]


def key_name(key: str) -> str:
    """Return a key as people write it: `ctrl+p` is `Ctrl+P`, `slash` is `/`."""
    special = {"slash": "/", "escape": "Esc", "pageup": "PgUp", "pagedown": "PgDn", "delete": "Del"}
    if key in special:
        return special[key]
    if len(key) == 1:
        return key
    return "+".join(part.upper() if len(part) == 1 else part.capitalize() for part in key.split("+"))
