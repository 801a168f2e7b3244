"""What the conversion to the Messages API does with a conversation, rule by rule."""

from __future__ import annotations

from typing import Any

import pytest

from agent.core.messages import BEGIN, GO_ON, NO_OUTPUT, NO_RESULT, sendable, to_messages
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
from tests.support.messages_rules import violations


def user(content: str) -> UserTurn:
    return UserTurn(content=content)


def text(content: str, *, interrupted: bool = False) -> AssistantTextTurn:
    return AssistantTextTurn(content=content, interrupted=interrupted)


def call(use_id: str, name: str = "look", **fields: Any) -> ToolCallTurn:
    return ToolCallTurn(tool_use_id=use_id, tool_name=name, input=fields)


def result(use_id: str, output: str = "ok", *, is_error: bool = False) -> ToolResultTurn:
    return ToolResultTurn(tool_use_id=use_id, output=output, is_error=is_error)


def thinking(content: str = "hm", **fields: Any) -> ThinkingTurn:
    return ThinkingTurn(content=content, **{"signature": "sig", "model": "m", "endpoint": "e", **fields})


def convert(*turns: Turn) -> list[dict[str, Any]]:
    """The messages, checked against the rules."""
    messages = to_messages(turns, model="m", endpoint="e")
    assert violations({"messages": messages}) == []
    return messages


def short(*turns: Turn) -> list[Any]:
    """Each message as its role and the essence of its blocks."""
    essence = {"text": "text", "tool_use": "id", "tool_result": "tool_use_id", "thinking": "thinking"}
    return [
        (message["role"], [block[essence.get(block["type"], "data")] for block in message["content"]])
        for message in convert(*turns)
    ]


def test_an_empty_conversation_is_still_a_request() -> None:
    assert short() == [("user", [GO_ON])]


def test_neighbours_of_one_role_are_merged() -> None:
    assert short(user("a"), user("b"), text("c"), text("d"), user("e")) == [
        ("user", ["a", "b"]),
        ("assistant", ["c", "d"]),
        ("user", ["e"]),
    ]


def test_a_conversation_that_begins_with_the_assistant_gets_a_user_before_it() -> None:
    assert short(text("welcome"), user("hi"))[0] == ("user", [BEGIN])


def test_a_conversation_that_ends_with_the_assistant_gets_a_user_after_it() -> None:
    assert short(user("hi"), text("hello"))[-1] == ("user", [GO_ON])


def test_results_come_first_in_call_order_whatever_their_order() -> None:
    assert short(user("q"), call("a"), call("b"), user("wait"), result("b"), result("a"), user("so?")) == [
        ("user", ["q"]),
        ("assistant", ["a", "b"]),
        ("user", ["a", "b", "wait", "so?"]),
    ]


def test_an_unanswered_call_is_answered() -> None:
    last = convert(user("q"), call("a"), call("b"), result("b"), user("go"))[-1]["content"]
    assert last[0] == {"type": "tool_result", "tool_use_id": "a", "content": NO_RESULT, "is_error": True}
    assert last[1] == {"type": "tool_result", "tool_use_id": "b", "content": "ok"}


def test_orphan_late_and_duplicate_results_are_left_out() -> None:
    messages = convert(
        user("q"),
        result("nobody"),
        call("a"),
        result("a", "first"),
        result("a", "second"),
        text("t"),
        result("a", "late"),
    )
    blocks = [block for message in messages for block in message["content"] if block["type"] == "tool_result"]
    assert [block["content"] for block in blocks] == ["first"]


def test_an_orphan_result_does_not_split_an_answer() -> None:
    assert short(user("q"), text("a"), result("x"), text("b"))[1] == ("assistant", ["a", "b"])


def test_ids_that_collide_are_told_apart_and_results_follow_their_calls() -> None:
    messages = convert(
        user("q"),
        call("a"),
        call("a"),
        result("a", "1"),
        result("a", "2"),
        text("t"),
        call("a"),
        result("a", "3"),
    )
    pairs = [
        (block["tool_use_id"], block["content"])
        for message in messages
        for block in message["content"]
        if block["type"] == "tool_result"
    ]
    assert pairs == [("a", "1"), ("a_2", "2"), ("a_3", "3")]


def test_ids_and_names_are_made_valid() -> None:
    block = convert(user("q"), call("ü/1", "weird name!"))[1]["content"][0]
    assert (block["id"], block["name"]) == ("__1", "weird_name_")


def test_blank_texts_are_dropped_and_blank_results_are_named() -> None:
    messages = convert(
        user("q"), user(" \n"), text(""), text("\t"), call("a"), result("a", " ", is_error=True)
    )
    assert [len(message["content"]) for message in messages] == [1, 1, 1]
    assert messages[2]["content"][0]["content"] == NO_OUTPUT


def test_assistant_text_is_stripped_on_the_right_only() -> None:
    assert short(user("  q  "), text("  hello \n"), user("x"))[:2] == [
        ("user", ["  q  "]),
        ("assistant", ["  hello"]),
    ]


def test_only_the_text_an_answer_ends_with_is_stripped() -> None:
    answer = (
        text("Hello "),
        text("world\n"),
        call("a"),
        result("a"),
        text("so \n"),
        text("done \n"),
        thinking(),
    )
    assert short(user("q"), *answer, user("x"))[1::2] == [
        ("assistant", ["Hello ", "world\n", "a"]),
        ("assistant", ["so \n", "done"]),
    ]


def test_interrupted_text_is_kept() -> None:
    assert short(user("q"), text("hal", interrupted=True), user("go on"))[1] == ("assistant", ["hal"])


def test_notices_and_other_kinds_are_skipped() -> None:
    turns = [
        user("q"),
        NoticeTurn(content="n", kind="limit"),
        CustomTurn(type="weather", fields={}),
        text("a"),
    ]
    assert short(*turns) == [("user", ["q"]), ("assistant", ["a"]), ("user", [GO_ON])]


def test_a_refused_answer_and_its_results_are_kept_out() -> None:
    refused = NoticeTurn(content="refused", kind="refused")
    assert short(user("q"), text("no"), call("a"), result("a"), refused, user("else")) == [
        ("user", ["q", "else"])
    ]


def test_a_refused_answer_of_which_nothing_is_sent_does_not_take_the_one_before_with_it() -> None:
    refused = NoticeTurn(content="refused", kind="refused")
    assert short(user("q"), call("a"), result("a"), thinking(signature=""), refused, user("else")) == [
        ("user", ["q"]),
        ("assistant", ["a"]),
        ("user", ["a", "else"]),
    ]


def test_what_was_said_around_an_answer_that_is_left_out_is_one_message() -> None:
    assert short(user("q"), text("a"), user("b"), thinking(), user("c"), text("d"), user("e")) == [
        ("user", ["q"]),
        ("assistant", ["a"]),
        ("user", ["b", "c"]),
        ("assistant", ["d"]),
        ("user", ["e"]),
    ]


def test_a_result_says_whether_it_is_an_error() -> None:
    blocks = convert(user("q"), call("a"), call("b"), result("a", "no", is_error=True), result("b"))[-1][
        "content"
    ]
    assert [block.get("is_error", False) for block in blocks] == [True, False]


def test_a_name_is_no_longer_than_the_api_takes() -> None:
    block = convert(user("q"), call("a", "n" * 200))[1]["content"][0]
    assert block["name"] == "n" * 128


_TURNS = [
    user("q"), text("a"), call("x"), call("x"), result("x", "1"), user("b"), thinking(), user("c"), text("d"),
    call("x"), NoticeTurn(content="refused", kind="refused"), user("e"), text("f"), thinking(signature=""),
    user("g"), call("z"), result("z"), thinking(signature=""), NoticeTurn(content="refused", kind="refused"), user("h"),
]  # fmt: skip


def test_thinking_is_replayed_byte_for_byte() -> None:
    blocks = convert(user("q"), thinking(" raw \n"), text("a"), user("b"))[1]["content"]
    assert blocks[0] == {"type": "thinking", "thinking": " raw \n", "signature": "sig"}


def test_redacted_thinking_is_replayed() -> None:
    blocks = convert(user("q"), thinking("", signature="", redacted="xyz"), text("a"), user("b"))[1][
        "content"
    ]
    assert blocks[0] == {"type": "redacted_thinking", "data": "xyz"}


@pytest.mark.parametrize(
    "fields",
    [
        {"signature": ""},
        {"model": "n"},
        {"endpoint": "f"},
        {"interrupted": True},
        {"content": "\ud800"},
        {"signature": "\0"},
    ],
    ids=str,
)
def test_thinking_that_cannot_be_replayed_whole_is_left_out(fields: dict[str, Any]) -> None:
    content = fields.pop("content", "hm")
    assert short(user("q"), thinking(content, **fields), text("a"), user("b"))[1] == ("assistant", ["a"])


def test_thinking_that_led_to_nothing_is_left_out() -> None:
    assert short(user("q"), thinking(), user("b")) == [("user", ["q", "b"])]
    assert short(user("q"), text("a"), thinking(), user("b"))[1] == ("assistant", ["a"])
    assert short(user("q"), text("a"), thinking(), thinking(), user("b"))[1] == ("assistant", ["a"])


def test_lone_surrogates_and_nul_are_replaced_and_pairs_are_joined() -> None:
    assert sendable("a\ud800b\0c") == "a\ufffdb\ufffdc"
    assert sendable("\ud83d\ude00") == "\U0001f600"
    assert sendable("plain é") == "plain é"


def test_inputs_are_plain_json_objects() -> None:
    given = {"x": float("nan"), "inf": -float("inf"), "y": (1, "\ud800"), "z": {"k\0": None}, "half": 0.5}
    block = convert(user("q"), call("a", **given))[1]["content"][0]
    assert block["input"] == {"x": None, "inf": None, "y": [1, "\ufffd"], "z": {"k\ufffd": None}, "half": 0.5}


def test_an_earlier_request_is_a_prefix_of_the_next() -> None:
    turns = [user("q"), text("Let me \n"), call("a"), result("a"), text("done \n"), user("more")]
    first = to_messages(turns[:4])
    assert to_messages(turns)[: len(first)] == first


def test_history_is_cut_at_a_user_turn() -> None:
    turns = [user("1"), text("a"), user("2"), call("x"), result("x"), text("b"), user("3")]
    assert last_user_turns(turns, 1) == turns[6:]
    assert last_user_turns(turns, 2) == turns[2:]
    assert last_user_turns(turns, 3) == turns
    assert last_user_turns(turns, 99) == turns
    assert last_user_turns(turns, 0) == turns


def test_the_rules_name_what_a_server_refuses() -> None:
    """The checker itself: each of these bodies breaks one rule."""
    broken: list[list[dict[str, Any]]] = [
        [],
        [{"role": "assistant", "content": "hi"}],
        [{"role": "user", "content": "a"}, {"role": "user", "content": "b"}],
        [{"role": "user", "content": " "}],
        [{"role": "user", "content": []}],
        [{"role": "user", "content": "a\0"}],
        [{"role": "user", "content": "\ud800"}],
        [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}],
        [
            {"role": "user", "content": "a"},
            {"role": "assistant", "content": "b "},
            {"role": "user", "content": "c"},
        ],
        [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "x", "content": "y"}]}],
        [
            {"role": "user", "content": "a"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "x", "name": "n", "input": {}}]},
            {"role": "user", "content": "b"},
        ],
        [
            {"role": "user", "content": "a"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "x", "name": "n", "input": {}}]},
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "b"},
                    {"type": "tool_result", "tool_use_id": "x", "content": "y"},
                ],
            },
        ],
        [
            {"role": "user", "content": "a"},
            {"role": "assistant", "content": [{"type": "thinking", "thinking": "t", "signature": "s"}]},
            {"role": "user", "content": "b"},
        ],
    ]
    for messages in broken:
        assert violations({"messages": messages}) != [], messages
