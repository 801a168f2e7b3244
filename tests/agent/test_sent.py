"""What a run sends: carried on from request to request, the same as made anew, and nobody's to change."""

from __future__ import annotations

import copy
import json
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.core import messages as conversion
from agent.core.agent import Agent
from agent.core.limits import Limits
from agent.core.messages import last_user_turns, to_messages
from agent.core.model import BlockEvent, Request
from agent.core.tool import NoInput, Tool, ToolContext
from agent.core.turns import NUDGE, CustomTurn, NoticeTurn, Turn, UserTurn
from agent.models.anthropic.capabilities import EndpointProfile
from agent.models.anthropic.request_body import build_body
from agent.models.scripted import ScriptedModel, ToolUse, answer
from agent.transcript.context_window import ContextWindow
from agent.transcript.incremental_conversion import Sent
from agent.transcript.stretch import Stretch
from agent.transcript.user_edits import KIND
from tests.agent.test_messages_total import turns
from tests.examples import examples

ASIDE = UserTurn(content="aside")

Transform = Callable[[Any], Sequence[Turn]]


def changed_in_place(given: Any) -> Sequence[Turn]:
    given.append(ASIDE)
    given.insert(0, ASIDE)
    del given[1:2]
    return given  # type: ignore[no-any-return]


TRANSFORMS: list[Transform] = [
    lambda given: given,
    list,
    tuple,
    lambda given: given[1:],
    lambda given: given[-3:],
    lambda given: given[:-1],
    lambda given: given[::2],
    lambda given: list(reversed(given)),
    lambda given: [*given, ASIDE],
    lambda given: given + [ASIDE],  # noqa: RUF005 - as applications write it
    lambda given: [ASIDE] + given,  # noqa: RUF005
    lambda given: [turn for turn in given if not isinstance(turn, UserTurn)],
    lambda _given: [],
    changed_in_place,
]


which = st.integers(0, len(TRANSFORMS) - 1)
additions = st.lists(turns, max_size=3)
mixed = st.lists(st.tuples(additions, which), max_size=10)
steady = st.builds(
    lambda added, same: [(some, same) for some in added], st.lists(additions, max_size=10), which
)


@settings(max_examples=examples(100), deadline=None)
@given(mixed | steady, st.booleans())
def test_whatever_transforms_give_each_request_is_what_a_conversion_of_all_of_it_gives(
    requests: list[tuple[list[Turn], int]], keeps: bool
) -> None:
    sent = Sent(model="m", endpoint="e")
    conversation: list[Turn] = []
    kept: list[Any] = []
    for added, number in requests:
        conversation.extend(added)
        before = list(conversation)
        expected = to_messages(TRANSFORMS[number](list(conversation)), model="m", endpoint="e")
        made = sent.messages(TRANSFORMS[number](Stretch(conversation)))
        assert made == expected
        assert all(ours is theirs for ours, theirs in zip(conversation, before, strict=True))
        if keeps:
            kept.append((made, expected))
        del made  # a list that nobody keeps is taken up again
    assert all(made == expected for made, expected in kept)


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(st.tuples(st.lists(turns, max_size=3), st.integers(-1, 3)), max_size=8))
def test_the_window_of_a_chat_is_the_end_of_its_conversation_however_it_grew(
    requests: list[tuple[list[Turn], int]],
) -> None:
    window = ContextWindow()
    conversation: list[Turn] = []
    for added, user_turns in requests:
        conversation.extend(added)
        assert list(window.of(Stretch(conversation), user_turns)) == last_user_turns(conversation, user_turns)
        assert list(window.of(list(conversation), user_turns)) == last_user_turns(conversation, user_turns)


def test_the_window_tells_hand_edits_and_nudges_in_the_users_name() -> None:
    told = [CustomTurn(type=KIND, fields={"content": "edited"}), NoticeTurn(content="go on", kind=NUDGE)]
    for conversation in (told, Stretch(told)):
        shown = ContextWindow().of(conversation, 1)
        assert [(turn.type, getattr(turn, "content", "")) for turn in shown] == [
            ("user", "edited"),
            ("user", "go on"),
        ]


@given(st.lists(st.integers(), max_size=6), st.integers(-8, 8), st.integers(-8, 8))
def test_a_stretch_reads_like_a_list(numbers: list[Any], start: int, stop: int) -> None:
    stretch = Stretch([*numbers, "later"], 0, len(numbers))
    assert stretch == numbers
    assert list(stretch[start:stop]) == numbers[start:stop]
    assert list(stretch[start:stop][1:]) == numbers[start:stop][1:]
    assert (stretch[start] if -len(numbers) <= start < len(numbers) else None) == (
        numbers[start] if -len(numbers) <= start < len(numbers) else None
    )
    with pytest.raises(IndexError):
        stretch[len(numbers)]


async def run_of(model: Any, transform: Any = None) -> None:
    async def execute(_given: NoInput, _ctx: ToolContext) -> str:
        return "seen"

    tool = Tool("look", "d", "l", NoInput, execute)
    agent = Agent(model=model, tools=[tool], transform_context=transform, limits=Limits(max_steps=1000))
    end = await agent.prompt("original")
    assert end.outcome == "completed", end.error


def chat_window() -> Transform:
    window = ContextWindow()
    return lambda given: window.of(given, 40)


@pytest.mark.parametrize(
    ("transform", "looks"),
    [
        (None, 2),
        (lambda given: given, 2),
        (list, 2),
        (chat_window(), 2),
        (lambda given: [*given, ASIDE], 5),  # what is new twice, and the aside
        (lambda given: [*given, UserTurn(content="now")], 5),
    ],
)
async def test_a_step_looks_only_at_what_is_new(
    transform: Any, looks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked = 0
    add = conversion.Conversion.add

    def counted(self: conversion.Conversion, turn: Turn) -> None:
        nonlocal looked
        looked += 1
        add(self, turn)

    monkeypatch.setattr(conversion.Conversion, "add", counted)
    steps = 100
    await run_of(ScriptedModel([*[answer(ToolUse("look"))] * steps, answer("done")]), transform)
    assert looked <= looks * steps + 10


class Meddler:
    """Tries to change all it is handed."""

    name, endpoint = "m", "e"

    def __init__(self) -> None:
        self.seen: list[str] = []

    async def stream(self, request: Request) -> AsyncIterator[BlockEvent]:
        self.seen.append(json.dumps([request.messages, [dict(tool.input_schema) for tool in request.tools]]))
        first: Any = request.messages[0]
        schema: Any = request.tools[0].input_schema
        attempts: list[Callable[[], object]] = [
            lambda: request.messages.append({}),  # type: ignore[attr-defined]
            lambda: request.messages.__setitem__(0, {}),  # type: ignore[attr-defined]
            lambda: first.update(role="assistant"),
            lambda: first["content"].clear(),
            lambda: first["content"][0].__setitem__("text", "HACKED"),
            lambda: schema.clear(),
            lambda: schema["properties"].update(x=1),
        ]
        for attempt in attempts:
            with pytest.raises(TypeError):
                attempt()
        copied = copy.deepcopy(first)
        copied["content"][0]["text"] = "a copy is free"
        for event in answer(ToolUse("look")) if len(self.seen) == 1 else answer("done"):
            yield event


async def test_a_model_cannot_change_what_later_requests_send() -> None:
    model = Meddler()
    await run_of(model)
    (first, tools), (second, same_tools) = map(json.loads, model.seen)
    assert second[0] == first[0] == {"role": "user", "content": [{"type": "text", "text": "original"}]}
    assert tools == same_tools


def test_messages_are_the_callers_own_where_it_converts_itself() -> None:
    messages = to_messages([UserTurn(content="hi")])
    messages[-1]["content"][-1]["cache_control"] = {"type": "ephemeral"}
    messages.append({"role": "assistant", "content": "Sure:"})
    assert json.dumps(messages).count("role") == 2


def test_a_body_holds_the_messages_of_the_request_themselves() -> None:
    sent = Sent(model="m", endpoint="e").messages([UserTurn(content="hi")])
    body = build_body("m", Request(system="", messages=sent), EndpointProfile())
    assert all(ours is theirs for ours, theirs in zip(body["messages"], sent, strict=True))
    assert json.loads(json.dumps(body["messages"])) == sent
