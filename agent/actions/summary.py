"""What the person agrees to by approving an action, in words. The texts are raw: who shows them sanitises them."""

from __future__ import annotations

from datetime import datetime

from personas.actions.document import Action, window_text
from personas.actions.schedule import in_words

KIND = {
    "agent": "the agent works on the persona by itself",
    "persona": "the persona itself answers",
    "test": "the test inputs are run",
}
EDITS = {
    "propose": "become a proposal for you to review",
    "apply": "are written at once",
}
CATCH_UP = {
    "skip": "not caught up on",
    "once": "the latest one is caught up on",
    "all": "all are caught up on",
}


def summary(action: Action, now: datetime) -> list[tuple[str, str]]:
    """Return labels and texts; only those of `instructions` and `expected output` have several lines.

    Args:
        action: as it was read.
        now: the time, for the next due times.
    """
    rows = [
        ("", f"{action.title}  ({action.id})"),
        ("description", action.description),
        ("persona", action.persona),
        ("kind", f"{action.kind}: {KIND[action.kind]}"),
        ("when", in_words(action, now) + ("" if action.enabled else "; not enabled")),
        ("missed times", _catch_up(action) if action.is_timed else ""),
        ("limits of a run", _limits(action)),
        ("unknown keys, which do nothing", ", ".join(action.unknown_keys)),
        ("changes", EDITS[action.edits] if action.kind == "agent" else ""),
    ]
    texts = [("instructions", action.instructions), ("expected output", action.expected_output)]
    lines = [(label, " ".join(text.split())) for label, text in rows]
    return [(label, text) for label, text in (*lines, *texts) if text.strip()]


def summary_lines(action: Action, now: datetime) -> list[str]:
    """Return the summary as lines; only the texts have lines of their own, further in than everything else."""
    lines = []
    for label, text in summary(action, now):
        if label in ("instructions", "expected output"):
            lines += [f"  {label}:", *(f"    {line}" for line in text.strip().splitlines())]
        else:
            lines.append(f"  {label}: {text}" if label else text)
    return lines


def _catch_up(action: Action) -> str:
    within = "" if action.catch_up == "skip" else f", up to {window_text(action.window)} later"
    return CATCH_UP[action.catch_up] + within


def _limits(action: Action) -> str:
    given = {
        "steps": action.limits.max_steps,
        "minutes": action.limits.max_minutes,
        "tokens": action.limits.tokens,
        "dollars": action.limits.dollars,
    }
    said = [f"{value:.12g} {unit}" for unit, value in given.items() if value is not None]
    return ", ".join(said) if said else "those of the settings"
