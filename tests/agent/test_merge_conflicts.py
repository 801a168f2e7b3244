"""What stands between the marks of a git merge conflict is the owner's to resolve: no tool changes it."""

from __future__ import annotations

import pytest

from agent.chat.chat import Chat
from agent.core.turns import ToolResultTurn
from agent.models.scripted import ScriptedModel, ToolUse, answer
from personas.store import Store

CONFLICT = "<<<<<<< HEAD\nmine\n=======\ntheirs\n>>>>>>> other\n"
PROMPT = f"Before.\n{CONFLICT}After.\n"


@pytest.fixture
def merged(store: Store) -> Store:
    """A persona in which git left a conflict in the prompt and one in a test input."""
    store.path("kept").write_text(
        f'system_prompt = """\n{PROMPT}"""\n\n[[test_inputs]]\nid = "sum"\ncontent = """\n{CONFLICT}"""\n'
    )
    return store


async def result_of(store: Store, use: ToolUse) -> ToolResultTurn:
    chat = Chat(store, "kept", ScriptedModel([answer(use), answer("done")]))
    await chat.send("please")
    return next(turn for turn in chat.turns if isinstance(turn, ToolResultTurn))


@pytest.mark.parametrize(
    "use",
    [
        ToolUse("edit_system_prompt", {"old": "mine", "new": "ours"}),
        ToolUse("edit_system_prompt", {"old": "Before.\n<<<<<<< HEAD\n", "new": "Before.\n"}),
        ToolUse("update_system_prompt", {"system_prompt": "Before.\nmine\nAfter.\n"}),
        ToolUse("update_test_input", {"id": "sum", "content": "mine"}),
        ToolUse("delete_test_input", {"id": "sum"}),
    ],
)
async def test_no_tool_changes_a_conflict(merged: Store, use: ToolUse) -> None:
    before = merged.path("kept").read_bytes()
    result = await result_of(merged, use)
    assert result.is_error and "merge conflict" in result.output and "Nothing was written" in result.output
    assert merged.path("kept").read_bytes() == before


@pytest.mark.parametrize(
    "use",
    [
        ToolUse("edit_system_prompt", {"old": "After.", "new": "Then."}),
        ToolUse("update_system_prompt", {"system_prompt": f"{CONFLICT}Then.\n"}),
        ToolUse("update_persona_name", {"name": "Then."}),
    ],
)
async def test_what_stands_beside_a_conflict_is_changed(merged: Store, use: ToolUse) -> None:
    result = await result_of(merged, use)
    assert not result.is_error, result.output
    assert "Then." in merged.text("kept") and merged.text("kept").count(CONFLICT) == 2
