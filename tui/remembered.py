"""What the program remembers of a home from one start to the next: which persona was open, unsent
drafts, how the panes stood.

It lies in the home's `state/`, which may come from a stranger: it is read as text and nothing is done by it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from personas.errors import PersonaError
from personas.home import Home
from personas.textfile import encode, read_regular, replace_file

_NAME = "screen.json"
_LARGEST = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Remembered:
    """What is remembered.

    Attributes:
        persona_id: which persona was open; empty for none.
        drafts: what was written in the chat bar and not sent, by persona.
        layouts: by class of terminal size, how the panes stand there, as `PaneLayout.layouts` has it.
        known: whether anything was remembered at all.
    """

    persona_id: str = ""
    drafts: Mapping[str, str] = field(default_factory=dict)
    layouts: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    known: bool = True


def recall(home: Home) -> Remembered:
    """Return what is remembered; a missing or damaged file remembers nothing. Blocking."""
    try:
        stored = json.loads(read_regular(home.state / _NAME, root=home.root, limit=_LARGEST))
    except (OSError, PersonaError, ValueError, RecursionError):
        return Remembered(known=False)
    if not isinstance(stored, dict):
        return Remembered(known=False)
    persona_id, drafts, layouts = (stored.get(name) for name in ("persona_id", "drafts", "layouts"))
    return Remembered(
        persona_id if isinstance(persona_id, str) else "",
        {key: text for key, text in drafts.items() if isinstance(text, str)}
        if isinstance(drafts, dict)
        else {},
        {key: _numbers(sizes) for key, sizes in layouts.items() if isinstance(sizes, dict)}
        if isinstance(layouts, dict)
        else {},
    )


def _numbers(sizes: Mapping[str, object]) -> dict[str, int]:
    return {key: value for key, value in sizes.items() if type(value) is int and 0 <= value < 10_000}


def remember(home: Home, what: Remembered) -> bool:
    """Store it; return whether that was possible. Nothing depends on it. Blocking."""
    stored = {"persona_id": what.persona_id, "drafts": dict(what.drafts), "layouts": dict(what.layouts)}
    text = json.dumps(stored, ensure_ascii=True)
    try:
        replace_file(home.state / _NAME, encode(text + "\n"), root=home.root)
    except (OSError, PersonaError):
        return False
    return True
