"""Tasks on the screen, in tests: what the model says, what is shown, and waiting for what is asked."""

from __future__ import annotations

from typing import Any

from agent.models.scripted import ToolUse
from tests.support.program import Program
from tui.settings.schema import Settings

EDIT = ToolUse("edit_system_prompt", {"old": "second line", "new": "better line"})
ASK = ToolUse("ask_user", {"question": "Which [/] one?", "options": ["the first", "the second"]})
DONE = ToolUse("task_complete", {"summary": "All [b]done."})
QUICK = Settings(task_pause=0.0)
ASK_ALL = Settings(approval="ask-all", task_pause=0.0)


def texts(p: Program) -> list[str]:
    return [entry.text() for entry in p.main.conversation.view.layout_model.entries]


def label(p: Program) -> str:
    return str(p.main.chat_bar.query_one(".chat--act").label)  # type: ignore[attr-defined]


def queued(p: Program) -> list[tuple[str, bool]]:
    return [(one.text, one.later) for one in p.main.chat_bar.queued.queued]


def box(p: Program) -> Any:
    assert p.main.conversation.panel_controller.panel_view is not None
    return p.main.conversation.panel_controller.panel_view.box


def badge(p: Program, persona_id: str) -> str:
    return next(row.tail for row in p.main.personas.rows.rows if row.key == persona_id)


def task(p: Program) -> Any:
    talk = p.main.conversation.current
    assert talk is not None
    return talk.task


async def asked(p: Program, *, seen: bool = True) -> Any:
    """Wait until something is asked, and (`seen`) until the time of grace is over."""
    await p.until(lambda: p.main.conversation.question is not None and box(p)._appeared is not None)
    box(p)._appeared = float("-inf") if seen else float("inf")
    return p.main.conversation.question


async def over(p: Program) -> None:
    await p.until(lambda: not p.main.conversation.running)


async def leave(p: Program) -> None:
    p.main.action_leave()
    await p.until(lambda: p.app.return_code == 0)
