"""The accumulator: what each event of a stream means, and that nothing makes it raise or lie."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.core.model import (
    BlockDelta,
    BlockEnd,
    BlockEvent,
    BlockStart,
    Done,
    Failed,
    ModelError,
    Notice,
    Usage,
    UsageSoFar,
)
from agent.core.response_assembler import parse_input
from agent.models.anthropic.sse import SSEParser
from agent.models.anthropic.stream import read_event
from agent.models.anthropic.stream_accumulator import Accumulator
from tests.support.examples import examples
from tests.support.messages_answers import Answer, Call, Redacted, Text, Thinking, encode_event, wire_events

STOP = {"type": "message_stop"}


def begin(**usage: int) -> dict[str, Any]:
    return {"type": "message_start", "message": {"id": "msg_1", "usage": usage}}


def start(index: int, kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": {"type": kind, **fields}}


def delta(index: int, kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **fields}}


def text(index: int, words: str) -> dict[str, Any]:
    return delta(index, "text_delta", text=words)


def json_part(index: int, part: Any) -> dict[str, Any]:
    return delta(index, "input_json_delta", partial_json=part)


def stop(index: int) -> dict[str, Any]:
    return {"type": "content_block_stop", "index": index}


def reason(name: str | None, **usage: Any) -> dict[str, Any]:
    return {"type": "message_delta", "delta": {"stop_reason": name}, "usage": usage}


def run(*events: Any) -> list[BlockEvent]:
    wire = Accumulator()
    return [out for event in events for out in wire.feed(event)] + wire.close()


def texts(events: list[BlockEvent], kind: str = "text") -> list[str]:
    """The text of each block of `kind`, in order."""
    blocks = {event.block: "" for event in events if isinstance(event, BlockStart) and event.kind == kind}
    for event in events:
        if isinstance(event, BlockDelta) and event.block in blocks:
            blocks[event.block] += event.text
    return list(blocks.values())


def ends(events: list[BlockEvent]) -> list[BlockEnd]:
    return [event for event in events if isinstance(event, BlockEnd)]


def calls(events: list[BlockEvent]) -> list[tuple[str, str, bool]]:
    """Name, raw input and completeness of each call that ended."""
    names = {
        event.block: event.tool_name
        for event in events
        if isinstance(event, BlockStart) and event.kind == "tool_call"
    }
    return [(names[end.block], end.input_json, end.complete) for end in ends(events) if end.block in names]


def test_a_plain_answer() -> None:
    events = run(
        begin(input_tokens=3),
        start(0, "text", text=""),
        text(0, "Hi"),
        stop(0),
        reason("end_turn", output_tokens=2),
        STOP,
    )
    assert events == [
        UsageSoFar(Usage(3)), BlockStart(0, "text"), BlockDelta(0, "Hi"), BlockEnd(0), Done("end_turn", Usage(3, 2), "msg_1"),
    ]  # fmt: skip


def test_thinking_keeps_its_signature_and_redacted_thinking_its_bytes() -> None:
    events = run(
        start(0, "thinking", thinking=""), delta(0, "thinking_delta", thinking="Hm"),
        delta(0, "signature_delta", signature="sig"), stop(0),
        start(1, "redacted_thinking", data="xyz"), stop(1), reason("end_turn"), STOP,
    )  # fmt: skip
    assert ends(events) == [BlockEnd(0, signature="sig"), BlockEnd(1, redacted="xyz")]
    assert texts(events, "thinking") == ["Hm", ""]


def test_input_in_deltas_is_joined_and_not_parsed() -> None:
    events = run(
        start(0, "tool_use", id="a", name="t", input={}),
        json_part(0, '{"x": '),
        json_part(0, "nonsense"),
        stop(0),
        reason("tool_use"),
        STOP,
    )
    assert calls(events) == [("t", '{"x": nonsense', True)]


def test_a_start_without_input_is_a_call_without_input() -> None:
    assert calls(run(start(0, "tool_use", id="a", name="t"), stop(0), reason("tool_use"), STOP)) == [
        ("t", "", True)
    ]


def test_full_input_in_the_start_event_counts_when_no_deltas_come() -> None:
    events = run(start(0, "tool_use", id="a", name="t", input={"x": "é"}), stop(0), reason("tool_use"), STOP)
    assert calls(events) == [("t", '{"x": "é"}', True)]
    assert BlockDelta(0, '{"x": "é"}') in events


@pytest.mark.parametrize("whole", ['{"x": 1}', "[]", "\ud83d", ["x"], 7, False])
def test_input_that_is_no_object_is_refused_in_the_start_event_as_in_deltas(whole: Any) -> None:
    at_once = run(start(0, "tool_use", id="a", name="t", input=whole), stop(0), reason("tool_use"), STOP)
    in_deltas = run(
        start(0, "tool_use", id="a", name="t"),
        json_part(0, json.dumps(whole)),
        stop(0),
        reason("tool_use"),
        STOP,
    )
    for events in (at_once, in_deltas):
        ((_, raw, complete),) = calls(events)
        assert complete and parse_input(raw) == (
            {},
            "Not run: the input must be a JSON object. Send the call again.",
        )


def test_an_object_in_a_delta_is_the_input() -> None:
    events = run(
        start(0, "tool_use", id="a", name="t"), json_part(0, {"x": 1}), stop(0), reason("tool_use"), STOP
    )
    assert calls(events) == [("t", '{"x": 1}', True)]


def test_deltas_win_over_the_input_in_the_start_event() -> None:
    events = run(
        start(0, "tool_use", id="a", name="t", input={"x": 1}),
        json_part(0, '{"x": 1}'),
        stop(0),
        reason("tool_use"),
        STOP,
    )
    assert calls(events) == [("t", '{"x": 1}', True)]


def test_interleaved_blocks_whose_stops_all_come_at_the_end() -> None:
    events = run(
        start(0, "text", text=""), text(0, "a"), start(1, "tool_use", id="x", name="t"), json_part(1, "{"),
        start(0, "text", text=""), text(0, "b"), start(1, "tool_use", id="x", name="t"), json_part(1, "}"),
        stop(0), stop(1), reason("tool_use"), STOP,
    )  # fmt: skip
    assert texts(events) == ["ab"]
    assert calls(events) == [("t", "{}", True)]
    assert [event.block for event in events if isinstance(event, BlockStart)] == [0, 1]


def test_a_reused_index_loses_no_text() -> None:
    events = run(
        start(0, "thinking", thinking=""), delta(0, "thinking_delta", thinking="hm"), stop(0),
        start(0, "text", text=""), text(0, "one"), stop(0), start(0, "text", text=""), text(0, "two"), stop(0),
        reason("end_turn"), STOP,
    )  # fmt: skip
    assert texts(events, "thinking") == ["hm"]
    assert texts(events) == ["one", "two"]
    assert [end.block for end in ends(events)] == [0, 1, 2]


def test_an_index_reused_without_a_stop_closes_the_call_as_incomplete() -> None:
    events = run(
        start(0, "tool_use", id="a", name="t"), json_part(0, '{"x": 1}'), start(0, "tool_use", id="b", name="u"),
        json_part(0, "{}"), stop(0), reason("tool_use"), STOP,
    )  # fmt: skip
    assert calls(events) == [("t", '{"x": 1}', False), ("u", "{}", True)]


def test_text_without_a_start_event_is_kept() -> None:
    events = run(
        begin(),
        text(0, "lost?"),
        {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "!"}},
        reason("end_turn"),
        STOP,
    )
    assert "".join(texts(events)) == "lost?!"


def test_text_after_the_stop_of_its_block_is_kept() -> None:
    events = run(start(0, "text"), text(0, "a"), stop(0), text(0, "b"), reason("end_turn"), STOP)
    assert texts(events) == ["a", "b"]


def test_two_spliced_answers_end_in_an_error() -> None:
    events = run(
        begin(), start(0, "tool_use", id="a", name="t"), json_part(0, '{"x":'),
        {"type": "message_start", "message": {"id": "msg_2"}},
        start(0, "tool_use", id="a", name="t"), json_part(0, "1}"), stop(0), reason("tool_use"), STOP,
    )  # fmt: skip
    assert isinstance(events[-1], Failed)
    assert events[-1].error.kind == "protocol"
    assert calls(events) == []


def test_more_input_after_the_end_of_a_call_ends_in_an_error() -> None:
    events = run(
        start(0, "tool_use", id="a", name="t"),
        json_part(0, "{}"),
        stop(0),
        json_part(0, "}"),
        reason("tool_use"),
        STOP,
    )
    assert isinstance(events[-1], Failed)


def test_an_error_event_ends_the_answer_and_keeps_the_usage() -> None:
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    events = run(begin(input_tokens=9), start(0, "text"), text(0, "par"), error, text(0, "tial"))
    assert texts(events) == ["par"]
    assert isinstance(events[-1], Failed)
    assert (events[-1].error.kind, events[-1].error.retryable, events[-1].usage.input_tokens) == (
        "overloaded",
        True,
        9,
    )
    assert ends(events) == []


def test_without_a_stop_reason_nothing_is_complete() -> None:
    for tail in ([], [STOP], [reason(None)], [reason(None), STOP]):
        events = run(begin(), start(0, "text"), text(0, "half"), *tail)
        assert isinstance(events[-1], Failed)
        assert events[-1].error.kind == "incomplete"
        assert texts(events) == ["half"]


def test_a_missing_message_stop_is_no_fault() -> None:
    assert isinstance(run(start(0, "text"), text(0, "x"), stop(0), reason("end_turn"))[-1], Done)


def test_a_call_that_is_never_closed_is_incomplete() -> None:
    events = run(start(0, "tool_use", id="a", name="t"), json_part(0, "{}"), reason("tool_use"), STOP)
    assert calls(events) == [("t", "{}", False)]
    assert isinstance(events[-1], Done)


def test_an_answer_is_whole_when_a_reason_came_and_no_block_is_open() -> None:
    wire, seen = Accumulator(), []
    for event in (start(0, "text"), reason("end_turn"), stop(0), STOP):
        wire.feed(event)
        seen.append(wire.is_whole)
    assert seen == [False, False, True, False]


def test_silence_after_a_stop_reason_ends_a_whole_answer_and_before_it_a_failed_one() -> None:
    silence = ModelError("stall", "Nothing came.")
    for event, end in ((reason("end_turn"), Done("end_turn")), (start(0, "text"), Failed(silence))):
        wire = Accumulator()
        wire.feed(event)
        assert wire.cut(silence) == [end]
        assert wire.cut(silence) == wire.close() == wire.fail(silence) == []


@pytest.mark.parametrize("tail", [[reason("end_turn")], [start(0, "text"), text(0, "a")]])
@pytest.mark.parametrize(("first", "second"), [("msg_1", "msg_2"), ("", ""), ("msg_1", "")])
def test_the_start_of_another_answer_ends_in_an_error(tail: list[Any], first: str, second: str) -> None:
    begins = [{"type": "message_start", "message": {"id": name}} for name in (first, second)]
    (*_, end) = run(begins[0], *tail, begins[1], stop(0), reason("end_turn"), STOP)
    assert isinstance(end, Failed) and end.error.kind == "protocol"


def test_a_start_that_is_repeated_is_no_other_answer() -> None:
    again = {"type": "message_start", "message": {"usage": {"output_tokens": 2}}}
    assert run(begin(), again, reason("end_turn"), STOP)[-1] == Done("end_turn", Usage(0, 2), "msg_1")
    assert isinstance(run(begin(), start(0, "text"), begin(), stop(0), reason("end_turn"))[-1], Done)


def test_the_stop_reason_is_kept_when_a_later_event_has_none() -> None:
    assert run(reason("tool_use"), reason(None), reason(""), STOP) == [Done("tool_use")]


def test_an_unknown_block_in_place_of_an_open_call_leaves_that_call_incomplete() -> None:
    events = run(
        start(0, "tool_use", id="a", name="t"), json_part(0, "{}"), start(0, "hologram"), stop(0),
        reason("tool_use"), STOP,
    )  # fmt: skip
    assert calls(events) == [("t", "{}", False)]


def test_a_known_block_in_place_of_an_unknown_one_is_read_as_itself() -> None:
    events = run(start(0, "hologram"), start(0, "text"), text(0, "a"), delta(0, "smell_delta"), stop(0))
    assert texts(events) == ["a"]
    assert len([event for event in events if isinstance(event, Notice)]) == 2


def test_a_start_that_is_repeated_without_its_fields_goes_on_with_the_block() -> None:
    events = run(
        start(0, "tool_use", id="a", name="t"), json_part(0, "{"), start(0, "tool_use"), json_part(0, "}"), stop(0),
        start(1, "redacted_thinking", data="xyz"), start(1, "redacted_thinking"), stop(1),
        start(2, "thinking", thinking="Hm", signature="sig"), start(2, "thinking"), stop(2), reason("tool_use"), STOP,
    )  # fmt: skip
    assert calls(events) == [("t", "{}", True)]
    assert ends(events)[1:] == [BlockEnd(1, redacted="xyz"), BlockEnd(2, signature="sig")]
    assert texts(events, "thinking") == ["", "Hm"]


@pytest.mark.parametrize(("again", "name"), [("a", "u"), ("b", "t")])
def test_a_start_with_another_id_or_name_in_place_of_an_open_call_begins_another(
    again: str, name: str
) -> None:
    events = run(
        start(0, "tool_use", id="a", name="t"), json_part(0, '{"x":'), start(0, "tool_use", id=again, name=name),
        json_part(0, "{}"), stop(0), reason("tool_use"), STOP,
    )  # fmt: skip
    assert calls(events) == [("t", '{"x":', False), (name, "{}", True)]


def test_an_empty_delta_after_the_end_of_a_call_is_nothing() -> None:
    events = run(
        start(0, "tool_use", id="a", name="t"), json_part(0, "{}"), stop(0), json_part(0, ""), reason("tool_use"), STOP
    )  # fmt: skip
    assert isinstance(events[-1], Done) and calls(events) == [("t", "{}", True)]


def test_input_of_a_call_that_never_began_is_noted_and_nothing_else() -> None:
    (notice, end) = run(json_part(0, "{}"), reason("end_turn"), STOP)
    assert isinstance(notice, Notice) and "never began" in notice.message and isinstance(end, Done)


def test_no_server_can_fill_the_screen_with_notices() -> None:
    events = run(*(start(0, f"kind {number}") for number in range(50)), reason("end_turn"), STOP)
    assert len([event for event in events if isinstance(event, Notice)]) == 10


def test_input_that_is_nested_without_end_is_refused() -> None:
    deep: Any = "x"
    for _ in range(50_000):
        deep = [deep]
    events = run(start(0, "tool_use", id="a", name="t", input=deep), stop(0), reason("tool_use"), STOP)
    assert calls(events) == [("t", "null", True)] and parse_input("null")[1]


def test_half_a_pair_at_the_end_of_a_calls_input_is_part_of_it() -> None:
    events = run(
        start(0, "tool_use", id="a", name="t"), json_part(0, '"\ud83d'), stop(0), reason("tool_use"), STOP
    )
    assert calls(events) == [("t", '"\ufffd', True)]


def test_a_half_pair_is_not_joined_over_plain_text() -> None:
    events = run(start(0, "text"), text(0, "\ud83d"), text(0, "plain"), text(0, "\ude00"), stop(0))
    assert texts(events) == ["\ufffdplain\ufffd"]


def test_usage_is_reported_as_it_comes_where_there_is_any_and_with_all_its_counts() -> None:
    counts = dict(zip(("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"),
                      (1, 2, 3, 4), strict=True))  # fmt: skip
    assert run(begin(**counts), reason("end_turn", output_tokens=5), STOP) == [
        UsageSoFar(Usage(1, 2, 3, 4)), Done("end_turn", Usage(1, 5, 3, 4), "msg_1")
    ]  # fmt: skip
    assert run(begin(), reason("end_turn"), STOP) == [Done("end_turn", message_id="msg_1")]


def test_usage_is_overwritten_and_never_added() -> None:
    events = run(
        begin(input_tokens=10, output_tokens=1),
        reason(None, output_tokens=5),
        reason("end_turn", output_tokens=8, input_tokens=None),
        STOP,
    )
    assert events[-1] == Done("end_turn", Usage(10, 8), "msg_1")


@pytest.mark.parametrize(
    "name", ["end_turn", "pause_turn", "refusal", "model_context_window_exceeded", "something_new"]
)
def test_every_stop_reason_is_passed_on(name: str) -> None:
    assert run(reason(name), STOP) == [Done(name)]


def test_the_explanation_of_a_refusal_is_a_notice() -> None:
    refusal = {
        "type": "message_delta",
        "delta": {"stop_reason": "refusal", "stop_details": {"explanation": "No."}},
    }
    assert run(refusal, STOP) == [Notice("No."), Done("refusal")]


def test_unknown_events_blocks_and_deltas_are_noted_once() -> None:
    events = run(
        {"type": "new_event"}, {"type": "new_event"}, start(0, "hologram"), delta(0, "hologram_delta"), stop(0),
        start(1, "text"), delta(1, "smell_delta"), text(1, "ok"), stop(1), reason("end_turn"), STOP,
    )  # fmt: skip
    notices = [event.message for event in events if isinstance(event, Notice)]
    assert len(notices) == 2
    assert "hologram" in notices[1]
    assert texts(events) == ["ok"]


def test_all_deltas_of_an_unknown_block_give_one_notice() -> None:
    events = run(
        start(0, "server_tool_use", id="s", name="search"), json_part(0, '{"a"'), json_part(0, ": 1}"), stop(0),
        start(0, "hologram"), *(delta(0, "hologram_delta") for _ in range(3)), json_part(0, "{"), stop(0),
        reason("end_turn"), STOP,
    )  # fmt: skip
    notices = [event.message for event in events if isinstance(event, Notice)]
    assert len(notices) == 2 and "server_tool_use" in notices[0] and "hologram" in notices[1]


def test_the_event_name_stands_in_for_a_missing_type() -> None:
    wire = Accumulator()
    wire.feed({"delta": {"stop_reason": "end_turn"}}, "message_delta")
    assert wire.feed({}, "message_stop") == [Done("end_turn")]


def test_an_error_without_a_type_is_an_error() -> None:
    (failed,) = run({"error": {"message": "boom"}})
    assert isinstance(failed, Failed) and failed.error.kind == "server" and "boom" in failed.error.message


def test_a_surrogate_pair_cut_in_two_is_joined() -> None:
    events = run(start(0, "text"), text(0, "a\ud83d"), text(0, "\ude00b"), stop(0), reason("end_turn"), STOP)
    assert texts(events) == ["a\U0001f600b"]


def test_half_a_surrogate_pair_becomes_a_replacement_character() -> None:
    events = run(start(0, "text"), text(0, "\ude00a\ud83d"), stop(0), start(1, "text"), text(1, "\ud83d"))
    assert texts(events) == ["\ufffda\ufffd", "\ufffd"]


def test_two_hundred_kilobytes_of_input_in_tiny_deltas_take_linear_time() -> None:
    def seconds(size: int) -> float:
        events = [
            start(0, "tool_use", id="a", name="t"),
            *(json_part(0, "xxxxx") for _ in range(size // 5)),
            stop(0),
        ]
        took = []
        for _ in range(3):
            started = time.process_time()
            assert len(calls(run(*events, reason("tool_use"), STOP))[0][1]) == size
            took.append(time.process_time() - started)
        return min(took)

    assert seconds(200_000) < 10 * 6 * max(seconds(20_000), 0.002)


RICH = Answer(
    (
        Thinking("Let me think about naïve things.", "c2ln"), Text("Hello \U0001f600, wörld."), Redacted("AAAA"),
        Call("update_persona_name", {"name": "Zoë \U0001f600"}, "toolu_a"), Call("get_persona", {}, "toolu_b"),
        Call("delete_test_input", {"id": "sum"}, "toolu_c", whole=True), Text("Bye."),
    ),
    delta=3,
)  # fmt: skip


def feed_bytes(stream: bytes, size: int = 4096) -> list[BlockEvent]:
    parser, wire = SSEParser(), Accumulator()
    out: list[BlockEvent] = []
    for at in range(0, len(stream), size):
        for event in parser.feed(stream[at : at + size]):
            out += read_event(wire, event)
    for event in parser.close():
        out += read_event(wire, event)
    return out + wire.close()


def check_cut(whole: list[BlockEvent], cut: list[BlockEvent]) -> None:
    """A cut stream says the same as the whole one, up to where it was cut, and how it ended."""
    assert isinstance(cut[-1], Done | Failed)
    assert cut[:-1] == whole[: len(cut) - 1]
    if isinstance(cut[-1], Failed):
        assert cut[-1].error.kind in ("incomplete", "protocol")
    else:
        assert cut[-1] == whole[-1]


def test_a_stream_cut_at_every_event_is_never_a_lie() -> None:
    events = list(wire_events(RICH))
    whole = run(*events)
    assert isinstance(whole[-1], Done)
    for at in range(len(events)):
        cut = run(*events[:at])
        check_cut(whole, cut)
        arrived = "".join(
            str(event["delta"].get("text", ""))
            for event in events[:at]
            if event["type"] == "content_block_delta"
        )
        assert "".join(texts(cut)) == arrived
        assert isinstance(cut[-1], Failed) == (at < len(events) - 1)


@pytest.mark.parametrize("crlf", [False, True])
def test_a_stream_cut_at_every_byte_is_never_a_lie(crlf: bool) -> None:
    stream = b"".join(encode_event(event, named=not crlf, crlf=crlf) for event in wire_events(RICH, "m"))
    whole = feed_bytes(stream)
    assert isinstance(whole[-1], Done)
    for at in range(0, len(stream), 3):
        check_cut(whole, feed_bytes(stream[:at]))


def test_a_stream_in_single_bytes_says_the_same() -> None:
    stream = b"".join(encode_event(event) for event in wire_events(RICH))
    assert feed_bytes(stream, 1) == feed_bytes(stream)


anything = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 5) | st.floats(allow_nan=False) | st.text(max_size=5)
    | st.sampled_from(["text", "tool_use", "thinking", "redacted_thinking", "text_delta", "input_json_delta", "\ud83d"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip
wild_event = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(
            ["message_start", "content_block_start", "content_block_delta", "content_block_stop", "message_delta", "message_stop", "error", "ping"]
        )
        | anything,
        "index": st.integers(0, 2) | anything,
        "message": anything | st.fixed_dictionaries({"id": anything, "usage": anything}),
        "delta": anything
        | st.fixed_dictionaries(
            {}, optional=dict.fromkeys(["type", "text", "thinking", "partial_json", "signature", "stop_reason", "stop_details"], anything)
        ),
        "content_block": anything
        | st.fixed_dictionaries({"type": anything}, optional=dict.fromkeys(["id", "name", "input", "text", "data"], anything)),
        "usage": anything | st.dictionaries(st.sampled_from(["input_tokens", "output_tokens"]), anything),
        "error": anything,
    },
)  # fmt: skip


@settings(max_examples=examples(30), deadline=None)
@given(
    st.lists(wild_event | anything, max_size=12), st.sampled_from(["", "message_stop", "content_block_delta"])
)
def test_no_events_make_it_raise_or_break_the_contract(events: list[Any], name: str) -> None:
    wire = Accumulator()
    out = [event for one in events for event in wire.feed(one, name)] + wire.close()
    assert isinstance(out[-1], Done | Failed)
    assert sum(isinstance(event, Done | Failed) for event in out) == 1
    started: set[int] = set()
    ended: set[int] = set()
    for event in out:
        match event:
            case BlockStart(block):
                assert block == len(started)
                started.add(block)
            case BlockDelta(block, words):
                assert block in started - ended
                assert words
                words.encode()
            case BlockEnd(block):
                assert block in started - ended
                ended.add(block)
    if isinstance(out[-1], Done):
        assert started == ended
    assert json.dumps([str(event) for event in out])
