"""What is asked for a new action: its title, its persona, what it begins with, and when it is due."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from agent.actions.summary import KIND
from agent.actions.templates import TEMPLATES
from agent.actions.times import zone_here
from personas.actions.schedule import check_cron, require_ahead
from personas.changes import NAME_LIMIT, require_line
from tui.screens.dialogs.picker import Picker
from tui.screens.dialogs.text_prompt import AskLine
from tui.widgets.virtual_list import Row

if TYPE_CHECKING:
    from tui.app.host import Host

BY_HAND = "by hand"
"""What is written where an action is not due by itself."""


async def ask_new_action(host: Host, persona_ids: Sequence[str], open_id: str) -> dict[str, Any] | None:
    """Return the values of a new action, see `create_action`; None where the person closes a question."""
    title = await host.ask(
        AskLine(
            "Title of the new action",
            hint="what it is to do",
            check=lambda title: require_line(title, "A title", NAME_LIMIT),
        )
    )
    if title is None:
        return None
    rows = [Row(one, one, current=one == open_id) for one in persona_ids]
    persona = await host.ask(Picker("About which persona?", rows, filter=True, at=open_id))
    if persona is None:
        return None
    rows = [Row(kind, does, head=kind, head_cells=14) for kind, does in KIND.items()]
    rows += [Row(name, str(one["description"]), head=name, head_cells=14) for name, one in TEMPLATES.items()]
    begins = await host.ask(Picker("What does it begin with?", rows))
    if begins is None:
        return None
    values: dict[str, Any] = dict(TEMPLATES.get(begins, {"kind": begins}))
    if begins in KIND and begins != "test":
        values["instructions"] = f"{title}\n"
    due = await host.ask(
        AskLine(
            "When is it due?",
            text=values.pop("schedule", BY_HAND),
            explanation=f'A cron expression such as "0 3 * * 1-5", a time such as 2026-12-01T09:00, or "{BY_HAND}".',
            check=_read_due,
        )
    )
    if due is None:
        return None
    values |= {"title": title, "persona": persona, **_read_due(due)}
    return values


def _read_due(text: str) -> dict[str, Any]:
    """Return the values that say when an action is due.

    Raises:
        InvalidValue: it is neither a time to come nor a cron expression.
    """
    if text == BY_HAND:
        return {}
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        check_cron(text)
        return {"schedule": text, "timezone": zone_here()}
    require_ahead(at, zone_here(), datetime.now(UTC))
    return {"at": at, "timezone": zone_here()}
