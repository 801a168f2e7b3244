"""A conversation as a file for people (Markdown) or programs (JSON)."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from personas.errors import PersonaError
from tui.sanitise import sanitise

if TYPE_CHECKING:
    from agent.chat import Chat
    from agent.turns import Turn


_BEYOND = re.compile(r"[^\n -~]")

FORMATS = {"md": "md", "markdown": "md", "json": "json"}
"""By a word that names a format alone, the ending of its file."""


def export_conversation(chat: Chat, name: str) -> Path:
    """Write a conversation to a new file and return its path; blocking.

    Args:
        chat: the conversation.
        name: the file; JSON when it ends so. Empty, or the word for a format (`md`, `markdown`, `json`): a file
            named by the persona's id.

    Raises:
        PersonaError: there is such a file already, or the disk refuses.
    """
    ending = FORMATS.get(name.casefold(), "" if name else "md")
    path = Path(f"{chat.persona_id}-conversation.{ending}" if ending else name).expanduser()
    text = conversation_text([*chat.earlier(), *chat.turns], as_json=path.suffix == ".json")
    try:
        with path.open("x", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
    except OSError as error:
        raise PersonaError(f"Not exported to {path}: {error.strerror}.") from None
    return path.resolve()


def conversation_text(turns: Sequence[Turn], *, as_json: bool) -> str:
    """Return the turns as one text: JSON as they are, its controls escaped; Markdown harmless to print."""
    if as_json:
        from agent.turns import to_record

        return _spelled(json.dumps([to_record(turn) for turn in turns], indent=2, ensure_ascii=False)) + "\n"
    return sanitise("\n".join(text for turn in turns if (text := _markdown(turn))))


def _spelled(document: str) -> str:
    r"""Return JSON with the controls that it allows to stand raw (DEL, C1, bidi) spelled, as `\u009b`."""
    return _BEYOND.sub(
        lambda found: found[0] if sanitise(found[0]) == found[0] else _escape(found[0]), document
    )


def _escape(character: str) -> str:
    return json.dumps(character)[1:-1] if ord(character) > 0xFF else f"\\u{ord(character):04x}"


def _markdown(turn: Turn) -> str:
    match turn.type:
        case "user":
            return f"## You\n\n{turn.content}\n"  # type: ignore[union-attr]
        case "assistant_text":
            return f"## Agent\n\n{turn.content}\n"  # type: ignore[union-attr]
        case "tool_call":
            return f"**{turn.tool_name}**\n\n{_fenced(_input(turn))}\n"  # type: ignore[union-attr]
        case "tool_result":
            return f"{_fenced(turn.output)}\n"  # type: ignore[union-attr]
        case "notice" if not turn.is_nudge:  # type: ignore[union-attr]
            return f"*{turn.content}*\n"  # type: ignore[union-attr]
    return ""


def _input(turn: object) -> str:
    from agent.turns import thaw

    return json.dumps(thaw(turn.input), indent=2, ensure_ascii=False)  # type: ignore[attr-defined]


def _fenced(text: str) -> str:
    """Return text in a fence longer than any in it."""
    longest = max((len(run) for run in text.split("\n") if set(run) == {"`"}), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{text}\n{fence}"
