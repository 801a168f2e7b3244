"""The commands one types into the chat bar. Pure."""

from __future__ import annotations

from collections.abc import Sequence

COMMANDS: dict[str, str] = {
    "clear": "begin a new conversation",
    "continue": "go on with the task that stopped: /continue, /continue but keep the name",
    "export": "write the conversation to a file: /export notes.md, or .json",
    "help": "the keys",
    "model": "choose or connect the agent's model: /model, /model claude-sonnet-5-5, /model offline",
    "new": "make a persona",
    "persona": "open a persona: /persona optimist",
    "quit": "leave",
    "redo": "redo the agent's last run",
    "settings": "the settings of the program",
    "stop": "stop the agent, or give up the task that waits",
    "task": "let it work until the job is done: /task make five test inputs; alone: for every message",
    "unclear": "bring the cleared conversation back",
    "undo": "undo the agent's last run",
}


def parse(text: str) -> tuple[str, str] | None:
    """Return (command, rest) when `text` is a command; None for a message, `/` at its start or not."""
    line = text.strip()
    if not line.startswith("/") or "\n" in line:
        return None
    name, _, rest = line[1:].partition(" ")
    return (name, rest.strip()) if name in COMMANDS else None


def complete(text: str, persona_ids: Sequence[str]) -> str:
    """Return what could follow `text`, empty where nothing is certain."""
    if not text.startswith("/") or "\n" in text or len(text) < 2:
        return ""
    name, space, rest = text[1:].partition(" ")
    if not space:
        return _only(name, list(COMMANDS))
    return _only(rest, persona_ids) if name == "persona" and rest else ""


def _only(start: str, words: Sequence[str]) -> str:
    found = [word for word in words if word.startswith(start)]
    return found[0][len(start) :] if found else ""
