"""Slash commands of the chat bar: parsing and completion. No widget."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from tui.commands.text_matching import fold

COMMANDS: dict[str, str] = {
    "actions": "scheduled, unattended work",
    "assets": "texts that the agent wrote",
    "bisect": "find the version that changed a verdict",
    "clear": "begin a new conversation",
    "compare": "two versions on the test inputs",
    "compiled": "the whole prompt, and each line's origin",
    "continue": "go on with the task that stopped",
    "copy": "test inputs to another persona",
    "coverage": "which pieces of the prompt the tests cover",
    "each": "a message to each marked persona's agent",
    "export": "the conversation as a file",
    "find": "text in all personas and the library",
    "help": "the keys",
    "library": "parts, traits, skills, guardrails, arcs",
    "measurements": "scores of the persona over time",
    "model": "choose or connect the agent's model",
    "move": "test inputs to another persona",
    "new": "make a persona",
    "persona": "open a persona",
    "quit": "leave the program",
    "redo": "redo the agent's last run",
    "replace": "text in all personas and the library",
    "review": "proposals: keep, edit or refuse each",
    "run": "run test inputs: all, or those you name",
    "settings": "the settings of the program",
    "stop": "stop the agent, or give up what waits",
    "talk": "talk to the persona itself, or to ID,ID",
    "task": "work until the job is done; alone: always",
    "unclear": "bring the cleared conversation back",
    "undo": "undo the agent's last run",
    "versions": "who changed what and when",
}
"""By name, what it does, short enough for one line of a small terminal."""

TALK_COMMANDS: dict[str, str] = {
    "clear": "begin a new conversation; /new does the same",
    "continue": "ask again who has not answered",
    "help": "the keys",
    "leave": "go back to the agent",
    "model": "choose or connect a model",
    "new": "begin a new conversation",
    "parallel": "all answer at once, or in turn",
    "persona": "open a persona",
    "quit": "leave the program",
    "settings": "the settings of the program",
    "stop": "stop the answer",
    "talk": "talk to another persona, or to several: ID,ID",
    "test": "make the last message a test input",
    "unclear": "bring the conversation before back",
}
"""The commands in a talk with a persona."""

TAKES_WORDS = frozenset(
    {
        "bisect",
        "compare",
        "continue",
        "each",
        "export",
        "find",
        "model",
        "persona",
        "replace",
        "run",
        "talk",
        "task",
    }
)
"""The commands that take an argument."""

TAKES_LINES = frozenset({"continue", "each", "task"})
"""The commands whose argument is a message of any number of lines."""

_MOST = 50


class SlashCommand(NamedTuple):
    """A command and its argument."""

    name: str
    rest: str


class UnknownCommand(NamedTuple):
    """A text that looks like a command and is none; `trouble` is the message to the person."""

    trouble: str


class Completion(NamedTuple):
    """One completion.

    Attributes:
        line: the whole text.
        head: the name to show, any text.
        meaning: the description, any text.
        more: whether an argument may follow.
    """

    line: str
    head: str
    meaning: str
    more: bool = False


def read(text: str, commands: Mapping[str, str] = COMMANDS) -> SlashCommand | UnknownCommand | str:
    """Parse a text from the chat bar: one of the `commands`, an unknown command, or a message.

    A message that begins with a slash has a blank before it, or a second slash, which is removed. A path
    (`/usr/bin is full`) and a text of several lines are messages, unless they begin with a command.
    """
    if text.startswith("//"):
        return text[1:]
    found = re.match(r"/([^\s/]*)(?=\s|\Z)", text)
    if found is None:
        return text
    word, rest = found[1], text[found.end() :].strip()
    name = word.casefold()
    several = "\n" in text.strip()
    if name in commands and not (several and name not in TAKES_LINES):
        return SlashCommand(name, rest)
    if several and name not in commands and not _nearest(name, commands):
        return text
    return UnknownCommand(_trouble(word, name, commands))


def as_typed(message: str, commands: Mapping[str, str] = COMMANDS) -> str:
    """Return a message escaped as one types it, so that `read` returns it and no command."""
    return message if read(message, commands) == message else f"/{message}"


def offers(
    text: str, personas: Mapping[str, str] | None = None, commands: Mapping[str, str] = COMMANDS
) -> list[Completion]:
    """Return the completions of a draft in order; none for a message.

    Args:
        text: what is written.
        personas: the names of the personas by id.
        commands: what there is to choose from.
    """
    if not text.startswith("/") or "\n" in text:
        return []
    word, blank, rest = text[1:].partition(" ")
    if blank:
        return _personas(word.casefold(), rest.strip(), personas or {})
    return [
        Completion(f"/{name}", f"/{name}", meaning, name in TAKES_WORDS)
        for name, meaning in commands.items()
        if name.startswith(word.casefold())
    ]


def _personas(command: str, start: str, personas: Mapping[str, str]) -> list[Completion]:
    if command not in ("persona", "talk"):
        return []
    before, comma, last = start.rpartition(",") if command == "talk" else ("", "", start)
    words = fold(last.strip())
    found = [
        Completion(f"/{command} {before}{comma}{key}", key, name)
        for key, name in personas.items()
        if key.casefold().startswith(words) or words in fold(name)
    ]
    return found[:_MOST]


def _nearest(name: str, commands: Mapping[str, str]) -> str:
    """Return the command that is most like `name`, empty where none is."""
    import difflib  # rarely needed

    begun = [command for command in commands if name and command.startswith(name)]
    return next(iter(begun or difflib.get_close_matches(name, commands, 1, 0.6)), "")


def _trouble(word: str, name: str, commands: Mapping[str, str]) -> str:
    if not name:
        return "Which command? Up and Down choose from the list. To send it as a message, put a blank before the slash."
    if name in commands:
        return f"/{name} must be alone on one line. To send it as a message, put a blank before the slash."
    shown = word if len(word) <= 40 else word[:39] + "…"
    nearest = _nearest(name, commands)
    return (
        f"There is no command /{shown}{f'; did you mean /{nearest}?' if nearest else '.'} "
        "To send it as a message, put a blank before it."
    )
