"""A conversation as a file for people (Markdown) or programs (JSON)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from personas.errors import PersonaError
from personas.files.text_file import expanded
from tui.terminal.sanitise import sanitise

if TYPE_CHECKING:
    from agent.chat.chat import Chat
    from agent.core.turns import Turn


_FENCE = r" {0,3}(`{3,}|~{3,})(.*)"
_BEYOND = r"[^\n -~]"


def export_conversation(chat: Chat, name: str) -> Path:
    """Write a conversation to a new file and return its path; blocking.

    Args:
        chat: the conversation.
        name: the file; its ending chooses the format, Markdown where it names none. Empty, or the word for a format
            (`md`, `markdown`, `json`): a file named by the persona's id, and numbered where there is one already.

    Raises:
        PersonaError: nothing was said yet, there is such a file already, the disk refuses, or `~` stands for nobody.
    """
    turns = [*chat.earlier(), *chat.turns]
    if not as_markdown(turns).strip():
        raise PersonaError("There is nothing to export: the conversation is empty.")
    word = name.casefold() or "md"
    ending = word if word in FORMATS else "md" if word == "markdown" else ""
    stem = f"{chat.persona_id}-conversation"
    paths = (
        (Path(f"{stem}{f'-{number}' if number > 1 else ''}.{ending}") for number in count(1))
        if ending
        else iter([expanded(name)])
    )
    path = next(paths)
    text = FORMATS.get(path.suffix[1:], as_markdown)(turns)
    while True:
        try:
            with path.open("x", encoding="utf-8", errors="backslashreplace") as file:
                file.write(text)
            return path.resolve()
        except FileExistsError:
            if not ending:
                raise PersonaError(f"There is a {path} already; export to another name.") from None
            path = next(paths)
        except (OSError, ValueError) as error:  # a name with a NUL is no OSError
            raise PersonaError(
                f"Not exported to {path}: {getattr(error, 'strerror', None) or error}."
            ) from None


def as_markdown(turns: Sequence[Turn]) -> str:
    """Return the turns as Markdown that is harmless to print; empty where nothing was said."""
    return sanitise("\n".join(text for turn in turns if (text := _markdown(turn))))


def as_json(turns: Sequence[Turn]) -> str:
    """Return the turns as a JSON array, each as in a session file, with every control character escaped."""
    from agent.transcript.turn_records import to_record

    return _spelled(json.dumps([to_record(turn) for turn in turns], indent=2, ensure_ascii=False)) + "\n"


FORMATS: dict[str, Callable[[Sequence[Turn]], str]] = {"md": as_markdown, "json": as_json}
"""By the ending of a file what writes a conversation to it."""


def _spelled(document: str) -> str:
    r"""Return JSON with the controls that it allows to stand raw (DEL, C1, bidi) spelled, as `\u009b`."""
    return re.sub(
        _BEYOND, lambda found: found[0] if sanitise(found[0]) == found[0] else _escape(found[0]), document
    )


def _escape(character: str) -> str:
    return json.dumps(character)[1:-1] if ord(character) > 0xFF else f"\\u{ord(character):04x}"


def _markdown(turn: Turn) -> str:
    match turn.type:
        case "user":
            return f"## You\n\n{_closed(turn.content)}\n"  # type: ignore[union-attr]
        case "assistant_text":
            return f"## Agent\n\n{_closed(turn.content)}\n"  # type: ignore[union-attr]
        case "tool_call":
            return f"**{turn.tool_name}**\n\n{_fenced(_input(turn))}\n"  # type: ignore[union-attr]
        case "tool_result":
            return f"{_fenced(turn.output)}\n"  # type: ignore[union-attr]
        case "notice" if not turn.is_nudge:  # type: ignore[union-attr]
            return f"*{turn.content}*\n"  # type: ignore[union-attr]
    return ""


def _input(turn: object) -> str:
    from agent.core.turns import thaw

    return json.dumps(thaw(turn.input), indent=2, ensure_ascii=False)  # type: ignore[attr-defined]


def _fenced(text: str) -> str:
    """Return text in a fence longer than any in it."""
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{fence}\n{text}\n{fence}"


def _closed(text: str) -> str:
    """Return Markdown whose last fence is closed: else the turns below would be code too."""
    fence = ""
    for line in text.split("\n"):
        found = re.match(_FENCE, line)
        if not fence and found and not ("`" in found[2] and found[1][0] == "`"):
            fence = found[1]
        elif fence and found and found[1].startswith(fence) and not found[2].strip():
            fence = ""
    return f"{text}\n{fence}" if fence else text
