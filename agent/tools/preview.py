"""What a tool call would change, as a diff of the persona's texts, computed without writing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from personas.changes import (
    AddTestInput,
    Change,
    DeleteTestInput,
    EditPrompt,
    SetName,
    SetPrompt,
    UpdateTestInput,
)
from personas.edited_text import edited_diff
from personas.store import Store

CHANGES: dict[str, Callable[[Any], Change]] = {
    "update_persona_name": lambda given: SetName(given.name),
    "update_system_prompt": lambda given: SetPrompt(given.system_prompt),
    "edit_system_prompt": lambda given: EditPrompt(given.old, given.new),
    "create_test_input": lambda given: AddTestInput(given.content),
    "update_test_input": lambda given: UpdateTestInput(given.id, given.content),
    "delete_test_input": lambda given: DeleteTestInput(given.id),
}
"""The tools whose call is one change of the file, and which."""

HARMLESS = frozenset({"get_persona", "list_test_inputs", "get_test_input", "keep_output_visible"})
"""The tools that change nothing."""


@dataclass(frozen=True, slots=True)
class Preview:
    """The diff, and its lines.

    Attributes:
        diff: unified, of the texts as they are edited; empty when the call would change nothing.
        added, removed: how many lines of it.
    """

    diff: str
    added: int
    removed: int


def preview(store: Store, persona_id: str, tool_name: str, given: Any) -> Preview | None:
    """Return what a call would change now, or None for a tool that is not known to change the file.

    Args:
        store: where the persona lives.
        persona_id: whose file.
        tool_name: the tool.
        given: its validated input.

    Raises:
        PersonaError: the call could not be made: the value or the file does not allow it.
    """
    if tool_name == "undo":
        from personas.versions.undo_preview import preview_undo

        before, after = preview_undo(store, persona_id)
    elif tool_name in CHANGES:
        before = store.text(persona_id)
        after = CHANGES[tool_name](given).apply(before)
    else:
        return None
    name = f"{persona_id}.toml"
    diff = edited_diff(before, after, name, name)
    signs = [line[:1] for line in diff.split("\n")[2:]]
    return Preview(diff, signs.count("+"), signs.count("-"))
