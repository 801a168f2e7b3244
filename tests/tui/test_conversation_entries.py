"""Every kind of entry, closed and open: no row is wider than the screen, and no word of what it shows is lost."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from agent.core.turns import (
    AssistantTextTurn,
    CustomTurn,
    NoticeTurn,
    ThinkingTurn,
    ToolCallTurn,
    ToolResultTurn,
    Turn,
    UserTurn,
)
from tui.widgets.conversation.entries import entry_for
from tui.widgets.conversation.lines import UNICODE, Line

DIFF = "--- a\n+++ b\n@@ -1 +1 @@\n"


def _call(name: str, field: str) -> Callable[[str], Turn]:
    return lambda text: ToolCallTurn(tool_use_id="u", tool_name=name, input={field: text, "n": 1})


KINDS: dict[str, Callable[[str], Turn]] = {
    "message": lambda text: UserTurn(content=text),
    "answer": lambda text: AssistantTextTurn(content=text),
    "thinking": lambda text: ThinkingTurn(content=text),
    "call": _call("create_test_input", "content"),
    "call with a long key": _call("create_test_input", "a_rather_long_name_of_a_field_goes_on_and_on"),
    "call with lines": lambda text: _call("edit_system_prompt", "new")(text + "\nlast"),
    "result": lambda text: ToolResultTurn(tool_use_id="u", output=text),
    "error": lambda text: ToolResultTurn(tool_use_id="u", output=text, is_error=True),
    "notice": lambda text: NoticeTurn(content=text),
    "ending": lambda text: CustomTurn(
        type="task_ending",
        fields={"text": "done", "status": "completed", "summary": text, "diff": f"{DIFF}+{text}"},
    ),
    "hand edit": lambda text: CustomTurn(
        type="hand_edit", fields={"content": f"[The user changed the file.\n{DIFF}+{text}]"}
    ),
    "custom": lambda text: CustomTurn(type="note", fields={"content": text}),
}

texts = st.lists(
    st.sampled_from(["w", "word", "longer", "x" * 90, "漢字漢字", "e\u0301e\u0301"]),
    min_size=1,
    max_size=50,
).map(lambda words: " ".join(f"{word}{number}" for number, word in enumerate(words)))


def _rows(turn: Turn, width: int, *, opened: bool) -> list[Line]:
    entry = entry_for(turn, UNICODE, first=True)
    if opened and entry.foldable:
        entry.toggle()
    return [line for part in entry.parts() for line in part.draw(width)]


@pytest.mark.parametrize("kind", KINDS)
@given(text=texts, width=st.integers(54, 120))
@settings(max_examples=60)
def test_no_row_is_wider_than_the_screen_and_no_letter_is_lost(kind: str, text: str, width: int) -> None:
    turn = KINDS[kind](text)
    for opened in (False, True):
        rows = _rows(turn, width, opened=opened)
        assert all(cell_len(row.text) <= width for row in rows)
    shown = re.sub(r"\W", "", "".join(row.text[row.lead :] for row in rows))
    assert re.sub(r"\W", "", text) in shown
