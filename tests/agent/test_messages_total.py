"""Whatever the list of turns, the request passes the API's rules."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from agent.core.messages import to_messages
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
from agent.transcript.context_window import last_user_turns
from tests.support.examples import examples
from tests.support.messages_rules import violations

text = st.one_of(
    st.sampled_from(
        ["", " ", "\n", "\0", "\0 ", "hi", "ends with space \n", "\ud800", "\ud83d", "\ude00", "é"]
    ),
    st.text(st.characters(), max_size=8),
)
ids = st.sampled_from(["a", "b", "a_2", "", "ü!", "toolu_1", "a b", "a\ud800"])
json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), text),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(text, inner, max_size=2),
    max_leaves=4,
)
objects = st.dictionaries(text, json_values, max_size=2)
turns: st.SearchStrategy[Turn] = st.one_of(
    st.builds(UserTurn, content=text),
    st.builds(AssistantTextTurn, content=text, interrupted=st.booleans()),
    st.builds(
        ThinkingTurn,
        content=text,
        signature=st.sampled_from(["", "sig", "\ud800"]),
        redacted=st.sampled_from(["", "", "data"]),
        model=st.sampled_from(["m", "n"]),
        endpoint=st.just("e"),
        interrupted=st.booleans(),
    ),
    st.builds(ToolCallTurn, tool_use_id=ids, tool_name=text, input=objects),
    st.builds(ToolResultTurn, tool_use_id=ids, output=text, is_error=st.booleans()),
    st.builds(NoticeTurn, content=text, kind=st.sampled_from(["", "refused", "limit"])),
    st.builds(CustomTurn, type=text.map(lambda kind: f"odd {kind}"), fields=objects),
)


@settings(max_examples=examples(40), deadline=None)
@given(st.lists(turns, max_size=14))
def test_any_list_of_turns_makes_a_valid_request(conversation: list[Turn]) -> None:
    messages = to_messages(conversation, model="m", endpoint="e")
    assert violations({"model": "m", "max_tokens": 1, "messages": messages}) == []


@settings(max_examples=examples(20), deadline=None)
@given(st.lists(turns, max_size=14), st.integers(-1, 4))
def test_limited_history_begins_at_a_user_turn_or_is_whole(conversation: list[Turn], count: int) -> None:
    kept = last_user_turns(conversation, count)
    assert kept == conversation[len(conversation) - len(kept) :]
    if len(kept) < len(conversation):
        assert isinstance(kept[0], UserTurn)
        assert sum(isinstance(turn, UserTurn) for turn in kept) == count
