"""What a run sends: the conversation as it stands, made anew for each request, so that nobody can change the next."""

from __future__ import annotations

import copy
import json
from collections.abc import AsyncIterator
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from agent.core.agent import Agent
from agent.core.messages import to_messages
from agent.core.model import BlockEvent, Request
from agent.core.tool import NoInput, Tool, ToolContext
from agent.core.turns import NUDGE, CustomTurn, NoticeTurn, Turn, UserTurn
from agent.models.anthropic.endpoint_profiles import EndpointProfile
from agent.models.anthropic.request_body import build_body
from agent.models.scripted import ScriptedModel, ToolUse, answer
from agent.transcript.context_window import context_window, last_user_turns
from agent.transcript.user_edits import KIND
from tests.agent.test_messages_total import turns
from tests.support.examples import examples


@settings(max_examples=examples(20), deadline=None)
@given(st.lists(turns, max_size=12), st.integers(-1, 3))
def test_the_window_of_a_chat_is_the_end_of_its_conversation(
    conversation: list[Turn], user_turns: int
) -> None:
    assert context_window(conversation, user_turns) == last_user_turns(conversation, user_turns)


def test_the_window_tells_hand_edits_and_nudges_in_the_users_name() -> None:
    told = [CustomTurn(type=KIND, fields={"content": "edited"}), NoticeTurn(content="go on", kind=NUDGE)]
    shown = context_window(told, 1)
    assert [(turn.type, getattr(turn, "content", "")) for turn in shown] == [
        ("user", "edited"),
        ("user", "go on"),
    ]


class Meddler:
    """Changes all it is handed."""

    name, endpoint = "m", "e"

    def __init__(self) -> None:
        self.seen: list[str] = []

    async def stream(self, request: Request) -> AsyncIterator[BlockEvent]:
        """Call the tool, then say that it is done."""
        self.seen.append(json.dumps([request.messages, [dict(tool.input_schema) for tool in request.tools]]))
        messages: Any = request.messages
        schema: Any = request.tools[0].input_schema
        copied = copy.deepcopy(messages[0])
        copied["content"][0]["text"] = "a copy is free"
        messages[0]["content"][0]["text"] = "HACKED"
        messages[0].update(role="assistant")
        messages.append({})
        schema["properties"].update(x=1)
        schema.clear()
        for event in answer(ToolUse("look")) if len(self.seen) == 1 else answer("done"):
            yield event


async def test_a_model_cannot_change_what_later_requests_send() -> None:
    async def execute(_given: NoInput, _ctx: ToolContext) -> str:
        return "seen"

    model = Meddler()
    agent = Agent(model=model, tools=[Tool("look", "d", "l", NoInput, execute)])
    end = await agent.prompt("original")
    assert end.outcome == "completed", end.error
    (first, tools), (second, same_tools) = map(json.loads, model.seen)
    assert second[0] == first[0] == {"role": "user", "content": [{"type": "text", "text": "original"}]}
    assert tools == same_tools


async def test_a_transform_changes_one_request_and_not_the_conversation() -> None:
    def transform(given: Any) -> Any:
        given.append(UserTurn(content="aside"))
        return given

    model = ScriptedModel([answer("one"), answer("two")])
    agent = Agent(model=model, transform_context=transform)
    await agent.prompt("a")
    await agent.prompt("b")
    assert [turn.content for turn in agent.turns if isinstance(turn, UserTurn)] == ["a", "b"]
    assert json.dumps(model.requests[-1].messages).count("aside") == 1


def test_messages_are_the_callers_own_where_it_converts_itself() -> None:
    messages = to_messages([UserTurn(content="hi")])
    messages[-1]["content"][-1]["cache_control"] = {"type": "ephemeral"}
    messages.append({"role": "assistant", "content": "Sure:"})
    assert json.dumps(messages).count("role") == 2


def test_a_body_holds_the_messages_of_the_request() -> None:
    sent = to_messages([UserTurn(content="hi")])
    body = build_body("m", Request(system="", messages=sent), EndpointProfile())
    assert json.loads(json.dumps(body["messages"])) == sent
