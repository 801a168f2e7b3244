"""How the screen of a home stood: which persona was open, and how wide the panes were. A small JSON file in the home.

It may come from a stranger: it is read as values of the kinds below and nothing is done by it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import NamedTuple

from personas.errors import PersonaError
from personas.files.home import Home
from personas.files.text_file import encode, read_regular, replace_file

_FILE = "screen.json"


class UiState(NamedTuple):
    """How the screen stood.

    Attributes:
        persona_id: which persona was open; empty for none.
        layouts: by class of terminal size, how the panes stood there, as `PaneLayout.layouts` has it.
    """

    persona_id: str = ""
    layouts: Mapping[str, Mapping[str, int]] = {}


def load(home: Home) -> UiState | None:
    """Return how the screen stood; None where nothing is known. Blocking."""
    try:
        stored = json.loads(read_regular(home.state / _FILE, root=home.root))
    except (OSError, PersonaError, ValueError, RecursionError):
        return None
    if not isinstance(stored, dict):
        return None
    persona_id, layouts = stored.get("persona_id"), stored.get("layouts")
    return UiState(
        persona_id if isinstance(persona_id, str) else "",
        {key: _numbers(sizes) for key, sizes in layouts.items() if isinstance(sizes, dict)}
        if isinstance(layouts, dict)
        else {},
    )


def save(home: Home, state: UiState) -> None:
    """Store how the screen stands, where the disk takes it. Blocking.

    A file of an older program, whose drafts are not in the drafts database yet, is not written over.
    """
    with suppress(OSError, PersonaError):
        if not _may_be_replaced(home):
            return
        replace_file(home.state / _FILE, encode(json.dumps(state._asdict()) + "\n"), root=home.root)


def _may_be_replaced(home: Home) -> bool:
    try:
        stored = json.loads(read_regular(home.state / _FILE, root=home.root))
    except FileNotFoundError:
        return True
    except (ValueError, RecursionError):
        return False
    return isinstance(stored, dict) and stored.keys() <= {"persona_id", "layouts"}


def _numbers(sizes: Mapping[str, object]) -> dict[str, int]:
    return {key: value for key, value in sizes.items() if type(value) is int and 0 <= value < 10_000}
