"""A conversation as plain lines, for `persona history`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from agent.core.turns import (
    AssistantTextTurn,
    CustomTurn,
    NoticeTurn,
    ThinkingTurn,
    ToolCallTurn,
    ToolResultTurn,
    Turn,
    UserTurn,
    thaw,
)


def transcript(turns: Iterable[Turn]) -> Iterator[str]:
    """Yield the conversation as text, one or more lines a turn; not sanitised."""
    for turn in turns:
        match turn:
            case UserTurn():
                yield f"you: {turn.content}"
            case AssistantTextTurn():
                yield turn.content + (" [interrupted]" if turn.interrupted else "")
            case ThinkingTurn():
                yield "[thinking]"
            case ToolCallTurn():
                yield f"> {turn.tool_name} {json.dumps(thaw(turn.input), ensure_ascii=False)}"
            case ToolResultTurn():
                mark = "error: " if turn.is_error else ""
                yield "  " + (mark + turn.output).replace("\n", "\n  ")
            case NoticeTurn() if not turn.is_nudge:
                yield f"({turn.content})"
            case NoticeTurn():
                pass  # meant for the model
            case CustomTurn(type="hand_edit"):
                yield "(the file was changed by hand)"
            case _:
                yield f"[{turn.type}]"
