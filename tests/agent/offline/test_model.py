"""The offline model as a model: what it streams, what it calls, what it says when something goes wrong."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.core.messages import GO_ON
from agent.core.model import BlockDelta, BlockEnd, BlockStart, Done, Failed, Request, ToolSpec
from agent.jobs.messages import GO_ON_TASK
from agent.models.offline import OfflineModel
from agent.models.offline.dialogue import OF_PROGRAM
from tests.agent.offline.room import TOOLS, Room
from tests.support.examples import examples

SPECS = [ToolSpec(name, name, {"type": "object"}) for name in TOOLS]


async def answer(messages: list[Any], tools: list[ToolSpec] = SPECS) -> list[Any]:
    """Return the events of one request."""
    request = Request(system="", messages=messages, tools=tools)
    return [event async for event in OfflineModel().stream(request)]


def said(text: str) -> list[Any]:
    return [{"role": "user", "content": text}]


def text_of(events: list[Any]) -> str:
    return "".join(event.text for event in events if isinstance(event, BlockDelta))


async def test_it_says_its_name_and_that_it_is_embedded() -> None:
    assert (OfflineModel().name, OfflineModel().endpoint) == ("offline", "embedded")


async def test_words_come_in_small_deltas_that_make_up_the_text() -> None:
    events = await answer(said("help"))
    deltas = [event.text for event in events if isinstance(event, BlockDelta)]
    assert isinstance(events[0], BlockStart)
    assert isinstance(events[-2], BlockEnd)
    assert events[-1] == Done("end_turn")
    assert len(deltas) > 20
    assert max(len(delta.split()) for delta in deltas) <= 2
    assert "rename it to" in "".join(deltas)


async def test_a_pause_lies_between_deltas_when_asked_for() -> None:
    pauses: list[float] = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    model = OfflineModel(pause=0.02, sleep=sleep)
    events = [event async for event in model.stream(Request(system="", messages=said("hi"), tools=SPECS))]
    assert pauses == [0.02] * sum(isinstance(event, BlockDelta) for event in events)


async def test_the_same_request_gets_the_same_answer_word_for_word() -> None:
    for message in ("rename it to Bob", "delete a test", "hello"):
        assert await answer(said(message)) == await answer(said(message))


async def test_each_step_calls_one_tool_until_the_end_of_the_turn() -> None:
    room = Room()
    await room.say("Show me all test inputs and add a new one about coding")
    assert [name for name, _ in room.called] == ["list_test_inputs", "create_test_input"]
    assert room.stop_reasons == ["tool_use", "tool_use", "end_turn"]


async def test_call_ids_are_unique_in_a_conversation() -> None:
    room = Room()
    for _ in range(3):
        await room.say("rename it to Bob")
        await room.say("delete the second test and show the prompt")
    ids = [
        block["id"]
        for message in room.messages
        for block in message["content"]
        if block["type"] == "tool_use"
    ]
    assert len(ids) >= 6
    assert len(set(ids)) == len(ids)


async def test_an_error_of_a_tool_is_told_and_the_conversation_goes_on() -> None:
    room = Room(fail={"update_persona_name": "The disk is full."})
    told = await room.say("rename it to Bob and delete the second test")
    assert "The disk is full." in told
    assert "update_persona_name" in told
    assert "not gone on" in told
    assert room.name == "Optimist"
    assert len(room.inputs) == 3
    room.fail.clear()
    await room.say("rename it to Bob")
    assert room.name == "Bob"


async def test_what_was_done_before_an_error_is_told_too() -> None:
    room = Room(fail={"delete_test_input": "No."})
    told = await room.say("rename it to Bob and delete the second test")
    assert "“Bob”" in told
    assert "`delete_test_input` did not work" in told


async def test_a_persona_that_cannot_be_read_is_told() -> None:
    room = Room(fail={"get_persona": "The file is broken (line 3, column 1)."})
    assert "line 3" in await room.say("add 'x' to the prompt")
    assert "Nothing was changed" in await room.say("show the prompt")


async def test_a_tool_that_is_not_offered_is_not_called() -> None:
    room = Room(tools=("get_persona", "list_test_inputs"))
    told = await room.say("rename it to Bob")
    assert "update_persona_name" in told
    assert room.called == []
    room = Room(tools=())
    assert "offline" in await room.say("hello")


async def test_it_remembers_what_was_said_in_this_conversation_and_only_there() -> None:
    room = Room()
    await room.say("my cat is called Tom")
    assert "my cat is called Tom" in await room.say("What did I say before?")
    assert "Tom" not in await Room().say("What did I say before?")


async def test_a_note_about_hand_edits_is_not_taken_for_the_request() -> None:
    note = "[The owner changed the persona's file, by hand or by an undo, since your last answer.\n+delete all test inputs\n]"
    blocks = [{"type": "text", "text": note}, {"type": "text", "text": "rename it to Bob"}]
    events = await answer([{"role": "user", "content": blocks}])
    assert json.loads(text_of(events)) == {"name": "Bob"}
    events = await answer([{"role": "user", "content": blocks[::-1]}])
    assert json.loads(text_of(events)) == {"name": "Bob"}


async def test_only_the_latest_of_several_unanswered_messages_is_acted_on() -> None:
    blocks = [{"type": "text", "text": "delete all test inputs"}, {"type": "text", "text": "show the name"}]
    events = await answer([{"role": "user", "content": blocks}])
    assert events[0].tool_name == "get_persona"


async def test_an_answer_to_another_models_question_is_not_read_as_one_to_ours() -> None:
    messages = [
        *said("delete a test input"),
        {"role": "assistant", "content": "Shall I set the world on fire instead?"},
        *said("the first"),
    ]
    assert events_call(await answer(messages)) == ""


def events_call(events: list[Any]) -> str:
    return next((e.tool_name for e in events if isinstance(e, BlockStart) and e.kind == "tool_call"), "")


async def test_it_never_speaks_as_the_persona() -> None:
    for message in ("You are an optimist, cheer me up!", "Answer as the optimist: hi", "tell me a joke"):
        room = Room()
        told = (await room.say(message)).casefold()
        assert {name for name, _ in room.called} <= {"get_persona"}  # what a question is about is read first
        assert "not the persona" in told or "cannot answer as the persona" in told or "rule-based" in told


async def test_the_long_help_is_given_once_and_again_only_when_asked_for() -> None:
    room = Room()
    first = await room.say("blah blah")
    assert "rename it to" in first
    assert "ANTHROPIC_API_KEY" in first
    for message in ("blah blah", "make it funnier"):
        again = await room.say(message)
        assert "rename it to" not in again
        assert "“help”" in again
        assert "without a neural model" in again
        assert len(again) < len(first) / 3
    whole = await room.say("help")
    assert "rename it to" in whole
    assert "ANTHROPIC_API_KEY" in whole


async def test_what_it_cannot_do_is_one_line_after_the_help_was_given() -> None:
    room = Room()
    assert "rename it to" in await room.say("Answer as the persona: hi")
    for message in ("Answer as the persona: hi", "why is the sky blue?", "blah blah", "make it funnier"):
        again = await room.say(message)
        assert "\n" not in again and "“help”" in again and "ANTHROPIC_API_KEY" not in again


@pytest.mark.parametrize(
    ("message", "declined"),
    [
        ("make it funnier", True),
        ("blah blah", True),
        ("Answer as the persona: hi", True),
        ("move the test input about rain to Skeptic", True),
        ("rename it to Bob and make it funnier", True),
        ("if it is long, delete the first test input", True),
        ("remove the section about cooking", True),  # there is none
        ("rename it to Bob", False),
        ("show the name", False),
        ("rename it", False),  # asks back
        ("remove upside", False),
        ("don't delete the rain test", False),
        ("hello", False),
        ("help", False),
    ],
)
async def test_a_request_it_declined_is_told_from_one_it_did(message: str, declined: bool) -> None:
    room = Room()
    before = room.state()
    await room.say(message)
    assert (room.stop_reasons[-1] == "declined") == declined
    assert not declined or room.state() == before


async def test_it_means_the_one_thing_the_message_before_was_about_by_its_id() -> None:
    room = Room()
    await room.say("add a test input: code")
    assert room.inputs[-1] == ("new-1", "code")
    await room.say("delete it")
    assert room.called[-1] == ("delete_test_input", {"id": "new-1"})


async def test_a_macro_stays_as_it_is() -> None:
    room = Room()
    await room.say('add "Greet {{user}} as {{char}}." to the prompt')
    assert "Greet {{user}} as {{char}}.\n" in room.prompt


async def test_a_large_text_is_stored_whole() -> None:
    text = "\n".join(f"Rule {k}: say “{k}” and then 'rename it to {k}'." for k in range(3000))
    room = Room()
    await room.say(f"Set the system prompt to:\n{text}")
    assert room.prompt == text


WORDS = [
    "rename",
    "delete",
    "add",
    "the",
    "test",
    "input",
    "about",
    "and",
    "then",
    "to",
    "prompt",
    "system",
    "it",
    "is",
    "a",
    "please",
    "could",
    "you",
    "don't",
    "if",
    '"',
    "'",
    "“",
    "”",
    "«",
    "»",
    "`",
    "```",
    ":",
    ",",
    ".",
    "!",
    "?",
    "\n",
    "1.",
    "-",
    "*",
    "{{user}}",
    "last",
    "second",
    "all",
    "#3",
    "replace",
    "with",
    "in",
    "name",
    "show",
    "undo",
    "math",
    "one",
    "line",
    "by",
    "for",
    "Ünïcödé",
    "日本語",
    "\u200d",
    "👩\u200d👩\u200d👧",
    "\x00",
    "�",
    "'",
    "\\",
    "2+2",
    "what",
    "how",
    "never",
    "keep",
    "every",
    "instead",
    "of",
]


@settings(max_examples=examples(20), deadline=None)
@given(st.lists(st.sampled_from(WORDS), max_size=40).map(" ".join) | st.text(max_size=200))
async def test_it_has_an_answer_to_whatever_is_said(message: str) -> None:
    events = await answer(said(message or "."))
    assert isinstance(events[-1], Done)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join), min_size=1, max_size=4))
async def test_whatever_was_said_before_a_conversation_goes_on(messages: list[str]) -> None:
    room = Room()
    for message in messages:
        assert (await room.say(message or ".")).strip()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["role", "content", "type", "text", "id", "name", "tool_use_id"]), inner
        )
    ),
    max_leaves=12,
)


@settings(max_examples=examples(20), deadline=None)
@given(
    st.lists(
        st.dictionaries(st.sampled_from(["role", "content"]), JSON | st.sampled_from(["user", "assistant"]))
    )
)
async def test_no_shape_of_messages_makes_it_raise(messages: list[Any]) -> None:
    events = await answer(messages)
    assert isinstance(events[-1], Done)


@pytest.mark.parametrize(
    "output",
    ["", "null", "[]", "not JSON", '{"test_inputs": 3}', "[" * 100_000, '{"test_inputs": [1, {"id": 2}]}'],
)
async def test_a_strange_result_of_a_tool_is_survived(output: str) -> None:
    first = await answer(said("delete the second test"))
    call = {"type": "tool_use", "id": first[0].tool_use_id, "name": "list_test_inputs", "input": {}}
    result = {"type": "tool_result", "tool_use_id": first[0].tool_use_id, "content": output}
    messages = [
        *said("delete the second test"),
        {"role": "assistant", "content": [call]},
        {"role": "user", "content": [result]},
    ]
    events = await answer(messages)
    assert isinstance(events[-1], Done)
    assert events_call(events) == ""


HOSTILE = {
    "quotes that never close": '"a ' * 33_000,
    "single quotes": "'" * 100_000,
    "alternating quotes": "'a \"" * 25_000,
    "fences": "```\n" * 25_000,
    "triple quotes": '"""' * 33_000,
    "colons": "a: " * 33_000,
    "one word": "a" * 100_000,
    "sentences": "Delete it. " * 9_000,
    "connectors": "and then " * 11_000,
    "a long request": "rename it to " + "very " * 20_000 + "long",
    "commands": "delete the first test and " * 3_800,
    "a list": "- rename it to Bob\n" * 5_200,
    "braces": "{{" * 50_000,
    "spaces": "rename it to" + " " * 100_000 + "Bob",
    "line breaks": "rename it to" + "\n" * 100_000 + "Bob",
    "politeness": "please could you " * 6_000,
    "ordinals": "delete the first and " * 5_000,
    "dots": "." * 100_000,
    "add something": "add the line about the line about " * 3_000,
    "just within the limit": "add the line about the line about " * 17,
    "pairs": "replace 'a' with 'b' and " * 14,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
async def test_a_hostile_message_of_100_kb_is_answered_quickly(text: str) -> None:
    await answer(said("warm up"))
    start = time.process_time()
    events = await answer(said(text))
    assert time.process_time() - start < 1.5
    assert isinstance(events[-1], Done)


async def test_time_grows_with_the_length_of_the_message_and_not_faster() -> None:
    random.seed(7)

    def message(count: int) -> str:
        return "Set the prompt to:\n" + " ".join(random.choice(WORDS) for _ in range(count))

    async def seconds(count: int) -> float:
        text, best = message(count), 9.0
        for _ in range(3):
            start = time.process_time()
            await answer(said(text))
            best = min(best, time.process_time() - start)
        return best

    await seconds(2_000)
    assert await seconds(40_000) < 30 * await seconds(4_000) + 0.05


def test_importing_it_loads_neither_pydantic_nor_a_client() -> None:
    code = (
        "import sys; import agent.models.offline; "
        "print(sorted({'pydantic', 'anthropic', 'httpx', 'textual'} & sys.modules.keys()))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


async def test_a_fault_of_ours_is_told_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def stumble(*_args: object) -> None:
        raise RuntimeError("no")

    monkeypatch.setattr("agent.models.offline.model.next_step", stumble)
    events = await answer(said("hi"))
    assert isinstance(events[-1], Failed)
    assert "RuntimeError" in events[-1].error.message


async def test_what_came_together_with_a_message_is_said_to_be_undone() -> None:
    texts = ['add "b1" to the system prompt', "[The owner changed the persona's file]", "hello"]
    blocks = [{"type": "text", "text": text} for text in texts]
    told = text_of(await answer([{"role": "user", "content": blocks}]))
    assert told.endswith('Nothing is done yet about “add "b1" to the system prompt”: please send that again.')
    assert "again" not in text_of(await answer([{"role": "user", "content": blocks[1:]}]))
    assert GO_ON_TASK.startswith(OF_PROGRAM) and GO_ON.startswith(OF_PROGRAM)


async def test_what_another_message_came_in_between_of_is_said_to_be_undone() -> None:
    first = 'add "b1" to the system prompt'
    call = {"type": "tool_use", "id": "c1", "name": "get_persona", "input": {}}
    persona = json.dumps({"name": "P", "system_prompt": "Be kind.", "test_input_ids": []})
    messages = [
        {"role": "user", "content": first},
        {"role": "assistant", "content": [call]},
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "c1", "content": persona},
                {"type": "text", "text": "thanks"},
            ],
        },
    ]
    told = text_of(await answer(messages))
    assert told.endswith('Nothing is done yet about “add "b1" to the system prompt”: please send that again.')
    stopped = json.loads(json.dumps(messages))
    stopped[2]["content"][0] |= {"content": "Cancelled: not run.", "is_error": True}
    assert "again" not in text_of(await answer(stopped))
