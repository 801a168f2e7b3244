"""Signals of a model become calls: kept out of the text, stored and sent again as calls, or shown and reported."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from agent.chat.chat import Chat
from agent.core.events import ModelNotice, TurnDelta
from agent.core.model import (
    BlockDelta,
    BlockEnd,
    BlockEvent,
    BlockStart,
    Done,
    Failed,
    ModelError,
    Notice,
    Request,
)
from agent.core.turns import AssistantTextTurn, ToolCallTurn, ToolResultTurn
from agent.models.scripted import ScriptedModel, Thought, ToolUse, answer
from agent.signals.model import TextToolCallModel
from personas.action_store import get_action
from personas.assets import list_assets
from personas.errors import PersonaError
from personas.measurements import read_measurements
from personas.store import Store

SCORE = 'STORE_MEASUREMENT\n---\n{"dimension": "warmth", "score": 4}\n'
ASSET = 'GENERATE_ASSET\n---\n{"name": "plan", "kind": "md", "content": "# Plan\\n```\\n"}\n'
ACTION = {"title": "Nightly", "instructions": "Run the tests."}
ACTIONS = f"GENERATE_ACTIONS\n---\n{json.dumps({'actions': [ACTION, {**ACTION, 'schedule': '0 3 * * *'}]}, indent=1)}\n"


async def events_of(*script: Any) -> list[BlockEvent]:
    model = TextToolCallModel(ScriptedModel([script]), lambda: None)
    return [event async for event in model.stream(Request(system="", messages=[]))]


def read(events: Sequence[BlockEvent]) -> list[str]:
    """The blocks of an answer in the order of their beginnings, and its notices; checks that all are well formed."""
    blocks: dict[int, list[str]] = {}
    ended, notices = set(), []
    for event in events:
        if isinstance(event, BlockStart):
            assert event.block not in blocks
            blocks[event.block] = [f"{event.tool_name}:" if event.kind == "tool_call" else f"{event.kind}:"]
        elif isinstance(event, BlockDelta):
            assert event.block not in ended
            blocks[event.block].append(event.text)
        elif isinstance(event, BlockEnd):
            assert event.block in blocks and event.block not in ended
            ended.add(event.block)
            blocks[event.block].append(event.input_json if blocks[event.block][1:] == [] else "")
        elif isinstance(event, Notice):
            notices.append(event.message)
    return ["".join(block) for block in blocks.values()] + notices


SCORED = 'store_measurement:{"dimension": "warmth", "score": 4}'


@pytest.mark.parametrize("chunk", [0, 1, 7])
async def test_a_text_with_signals_becomes_texts_and_calls(chunk: int) -> None:
    events = await events_of(
        *answer(
            Thought("Hm."), f"Well.\n\n{ASSET}\n{SCORE}\nDone.\n", ToolUse("undo"), SCORE, "", chunk=chunk
        )
    )
    assert read(events) == [
        "thinking:Hm.",
        "text:Well.\n\n",
        'create_asset:{"name": "plan", "kind": "md", "content": "# Plan\\n```\\n"}',
        SCORED,
        "text:Done.\n",
        "undo:{}",
        SCORED,
        "text:",
    ]
    made = await events_of(*answer(ACTIONS, chunk=chunk))
    assert [one.partition(":")[0] for one in read(made)] == ["create_action", "create_action"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (SCORE.replace("4", '"high"'), "score"),
        (SCORE.replace("warmth", "warm\nth"), "a line ends"),
        (ASSET.replace('"md"', '"exe"'), "kind"),
        (ASSET.replace('"plan"', 'null, "path": "/etc"'), "name"),
        (ACTIONS.replace('"instructions"', '"instruction"', 1), "instructions"),
        ('GENERATE_ACTIONS\n---\n{"actions": []}', "1 to 20 actions"),
        ('GENERATE_ACTIONS\n---\n{"actions": ["one"]}', "an object"),
        (f"GENERATE_ACTIONS\n---\n{json.dumps(ACTION)}", "nothing else"),
    ],
)
async def test_what_is_no_valid_signal_is_shown_whole_with_a_notice_and_does_nothing(
    text: str, why: str
) -> None:
    blocks = read(await events_of(*answer(f"Here:\n{text}\nDone.", chunk=3)))
    assert blocks[0] == f"text:Here:\n{text}\nDone." and len(blocks) == 2
    assert "Nothing was done" in blocks[1] and why in blocks[1]


async def test_answers_that_break_off_interleave_or_never_end_their_blocks() -> None:
    broken = Failed(ModelError("server", "gone"))
    assert (
        read(await events_of(BlockStart(0, "text"), BlockDelta(0, SCORE[:-9]), broken)) == []
    )  # asked for again
    shown = read(await events_of(BlockStart(0, "text"), BlockDelta(0, f"Well.\n{SCORE[:-9]}"), broken))
    assert shown[0] == f"text:Well.\n{SCORE[:-9]}" and "breaks off" in shown[1]
    open_ended = [BlockStart(0, "text"), BlockDelta(0, "a\nGENERATE"), BlockStart(1, "text"), BlockDelta(0, "_"),
                  BlockDelta(1, SCORE), BlockStart(0, "text"), BlockEnd(0), BlockDelta(0, "late"), Done("end_turn")]  # fmt: skip
    events = await events_of(*open_ended)
    assert [one.text for one in events if isinstance(one, BlockDelta)] == ["a\n", "GENERATE_", "late"]
    assert [one.tool_name for one in events if isinstance(one, BlockStart)] == ["", "store_measurement"]
    reused = [BlockStart(0, "text"), BlockDelta(0, "a"), BlockStart(0, "tool_call", "x", "undo"), BlockEnd(0)]
    assert read(await events_of(*reused, Done("tool_use"))) == ["text:a", "undo:"]
    stray = await events_of(
        BlockEnd(9), BlockDelta(8, "b"), Done("tool_use")
    )  # the core makes sense of those
    assert [type(one) for one in stray] == [BlockEnd, BlockDelta, Done]


async def test_a_conversation_stores_calls_and_results_and_sends_them_again(store: Store) -> None:
    model = ScriptedModel([
        answer(f"I score it.\n{SCORE}{ASSET}{ACTIONS}Done.", chunk=2),
        answer(f"It is:\n```\n{SCORE}```\nThen\n{SCORE.replace('4', 'four')}", chunk=2),
        answer("Yes."),
    ])  # fmt: skip
    chat = Chat(store, "kept", model)
    chat.load()
    said: list[str] = []
    notices: list[str] = []

    def listen(event: Any) -> None:
        if isinstance(event, TurnDelta):
            said.append(event.text)
        elif isinstance(event, ModelNotice):
            notices.append(event.message)

    chat.subscribe(listen)
    await chat.send("Score it.")
    calls = [turn.tool_name for turn in chat.turns if isinstance(turn, ToolCallTurn)]
    assert calls == ["store_measurement", "create_asset", "create_action", "create_action"]
    results = [turn for turn in chat.turns if isinstance(turn, ToolResultTurn)]
    assert not any(turn.is_error for turn in results), results
    texts = [turn.content for turn in chat.turns if isinstance(turn, AssistantTextTurn)]
    assert texts[:2] == ["I score it.\n", "Done."] and "".join(said).startswith(
        "I score it.\nDone.It is:\n```\nSTORE"
    )
    assert len(notices) == 1 and "STORE_MEASUREMENT" in notices[0] and "four" in texts[2]
    assert [one.score for one in read_measurements(store.home, "kept")] == [4]
    assert [one.name for one in list_assets(store.home)] == ["plan.md"]
    made = get_action(store, "nightly-2")
    assert (made.persona, made.schedule, made.instructions) == ("kept", "0 3 * * *", "Run the tests.")

    assert all(one.name != "create_asset" for one in model.requests[0].tools)
    assert any(one.name == "create_asset" for one in model.requests[1].tools)
    sent = model.requests[1].messages[1:]
    assert [block["type"] for block in sent[0]["content"]] == ["text", *["tool_use"] * 4, "text"]
    assert [block["type"] for block in sent[1]["content"]] == ["tool_result"] * 4
    later = Chat(store, "kept", model)
    later.load()
    await later.send("Really?")
    assert model.requests[2].messages[1:3] == sent

    store.undo("kept", only="agent")  # the run that made the actions is undone whole
    for gone in ("nightly", "nightly-2"):
        with pytest.raises(PersonaError, match="no action"):
            get_action(store, gone)


async def test_a_signal_that_is_cut_at_the_output_limit_is_not_carried_out(store: Store) -> None:
    model = ScriptedModel([answer(SCORE, stop_reason="max_tokens"), answer("Well.")])
    chat = Chat(store, "kept", model)
    chat.load()
    await chat.send("Score it.")
    result = next(turn for turn in chat.turns if isinstance(turn, ToolResultTurn))
    assert result.is_error and "output limit" in result.output
    assert read_measurements(store.home, "kept") == []


async def test_a_model_that_writes_signals_is_not_taken_for_one_that_calls_tools(store: Store) -> None:
    for script, notes in (([answer(SCORE), answer("It is done.")], 0), ([answer("It is done.")], 1)):
        chat = Chat(store, "kept", ScriptedModel(script, endpoint="http://127.0.0.1:1"))
        chat.load()
        end = await chat.send("Score it.")
        assert sum(getattr(turn, "kind", "") == "no_call" for turn in end.turns) == notes
