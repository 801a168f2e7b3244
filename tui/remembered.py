"""What the program remembers of a home from one start to the next: which persona was open, and unsent drafts.

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
    """

    persona_id: str = ""
    drafts: Mapping[str, str] = field(default_factory=dict)


def recall(home: Home) -> Remembered:
    """Return what is remembered; a missing or damaged file remembers nothing. Blocking."""
    try:
        stored = json.loads(read_regular(home.state / _NAME, root=home.root, limit=_LARGEST))
    except (OSError, PersonaError, ValueError, RecursionError):
        return Remembered()
    if not isinstance(stored, dict):
        return Remembered()
    persona_id, drafts = stored.get("persona_id"), stored.get("drafts")
    return Remembered(
        persona_id if isinstance(persona_id, str) else "",
        {key: text for key, text in drafts.items() if isinstance(text, str)}
        if isinstance(drafts, dict)
        else {},
    )


def remember(home: Home, what: Remembered) -> bool:
    """Store it; return whether that was possible. Nothing depends on it. Blocking."""
    text = json.dumps({"persona_id": what.persona_id, "drafts": dict(what.drafts)}, ensure_ascii=True)
    try:
        replace_file(home.state / _NAME, encode(text + "\n"), root=home.root)
    except (OSError, PersonaError):
        return False
    return True
