"""Recordings: what is read of a session, and that a replay goes through the real loop and the real tools."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.chat.chat import Chat
from agent.core.model import BlockDelta
from agent.core.turns import AssistantTextTurn, ToolResultTurn
from agent.models.scripted import Pause, ScriptedModel, answer
from personas.errors import BrokenFile
from personas.files.home import open_home
from personas.store import Store
from tui.recording.recorded_session import (
    AT_ONCE,
    FIRST_LOOK,
    PlaybackSpeed,
    ReplayModel,
    read_recording,
    script_of,
)

HEADER = {"type": "session", "version": 1, "id": "s", "persona_id": "one"}


def write(path: Path, *records: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def said(text: str) -> dict[str, Any]:
    return {"type": "user", "content": text}


def answered(text: str) -> dict[str, Any]:
    return {"type": "assistant_text", "content": text}


def called(name: str, **given: Any) -> dict[str, Any]:
    return {"type": "tool_call", "tool_use_id": f"id-{name}", "tool_name": name, "input": given}


def result(name: str) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": f"id-{name}", "output": "then"}


def home(root: Path) -> Store:
    return Store(open_home(root / "home", {"PERSONA_CONFIG": str(root / "config.toml")}))


def chat_about(root: Path, model: Any, persona_id: str = "optimist") -> Chat:
    return Chat(home(root), persona_id, model)


# -- reading ----------------------------------------------------------------------------------------------


def test_a_step_ends_with_its_results_and_a_run_with_the_next_message(tmp_path: Path) -> None:
    recording = read_recording(
        write(
            tmp_path / "s.jsonl",
            HEADER,
            said("first"),
            answered("a"),
            called("x"),
            called("y"),
            result("x"),
            result("y"),
            answered("b"),
            said("second"),
            answered("c"),
        )
    )
    assert recording.persona_id == "one"
    assert [run.message for run in recording.runs] == ["first", "second"]
    assert [[block.type for block in step] for step in recording.runs[0].steps] == [
        ["assistant_text", "tool_call", "tool_call"],
        ["assistant_text"],
    ]


def test_two_answers_in_a_row_are_two_steps_where_the_log_says_so(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", HEADER, said("go"), answered("a"), {"type": "step_end"}, answered("b"))
    assert len(read_recording(path).runs[0].steps) == 2


def test_damage_and_unknown_records_take_nothing_else_with_them(tmp_path: Path) -> None:
    path = write(
        tmp_path / "s.jsonl",
        HEADER,
        answered("before anything was said"),
        said("go"),
        {"type": "user"},
        {"type": "from a newer program", "x": 1},
        {"type": "notice", "content": "n"},
        answered("a"),
    )
    path.write_text(path.read_text() + '{"type": "assistant_text", "cont')
    [run] = read_recording(path).runs
    assert run.message == "go"
    assert [[block.content for block in step] for step in run.steps] == [["a"]]  # type: ignore[union-attr]


@pytest.mark.parametrize("records", [(), (said("no header"),), (HEADER,), (HEADER, answered("nobody asked"))])
def test_what_holds_no_recorded_run_is_refused(tmp_path: Path, records: tuple[dict[str, Any], ...]) -> None:
    with pytest.raises(BrokenFile, match=r"s\.jsonl holds no recorded"):
        read_recording(write(tmp_path / "s.jsonl", *records))


# -- playing ----------------------------------------------------------------------------------------------


@given(st.text(max_size=60))
def test_words_joined_are_the_text(text: str) -> None:
    script = script_of((AssistantTextTurn(content=text),), PlaybackSpeed(0.5, 0.25))
    deltas = [event for event in script if isinstance(event, BlockDelta)]
    assert "".join(delta.text for delta in deltas) == text
    pauses = [event.seconds for event in script if isinstance(event, Pause)]
    assert pauses == [0.5] + [0.25] * len(deltas)
    assert all(delta.text.split() == [delta.text.strip()] for delta in deltas[1:])


async def test_the_recording_that_comes_with_the_program_plays_on_the_examples(tmp_path: Path) -> None:
    recording = read_recording(FIRST_LOOK)
    chat = chat_about(tmp_path, ReplayModel(recording, ScriptedModel(), AT_ONCE), recording.persona_id)
    before = chat.store.get(recording.persona_id)
    for run in recording.runs:
        assert (await chat.send(run.message)).outcome == "completed"
    results = [turn for turn in chat.turns if isinstance(turn, ToolResultTurn)]
    assert len(results) >= 4
    assert [turn.output for turn in results if turn.is_error] == []
    after = chat.store.get(recording.persona_id)
    assert "one warm sentence" in after.system_prompt
    assert len(after.test_inputs) == len(before.test_inputs) + 1


async def test_a_session_of_the_program_is_a_recording_and_plays_the_same_again(tmp_path: Path) -> None:
    recording = read_recording(FIRST_LOOK)
    first = chat_about(tmp_path / "1", ReplayModel(recording, ScriptedModel(), AT_ONCE))
    for run in recording.runs:
        await first.send(run.message)
    [session] = (tmp_path / "1" / "home" / "agent-sessions").glob("*.jsonl")
    again = read_recording(session)
    second = chat_about(tmp_path / "2", ReplayModel(again, ScriptedModel(), AT_ONCE))
    for run in again.runs:
        await second.send(run.message)
    assert second.store.path("optimist").read_bytes() == first.store.path("optimist").read_bytes()


async def test_who_says_something_else_talks_to_the_other_model_from_then_on(tmp_path: Path) -> None:
    recording = read_recording(FIRST_LOOK)
    other = ScriptedModel([answer("Hello yourself."), answer("Still me.")])
    replay = ReplayModel(recording, other, AT_ONCE)
    chat = chat_about(tmp_path, replay)
    await chat.send("Hello")
    await chat.send(recording.runs[0].message)
    assert replay.left
    texts = [turn.content for turn in chat.turns if isinstance(turn, AssistantTextTurn)]
    assert texts == ["Hello yourself.", "Still me."]


async def test_after_its_end_the_other_model_answers(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", HEADER, said("go"), answered("gone"))
    replay = ReplayModel(read_recording(path), ScriptedModel([answer("other")]), AT_ONCE)
    chat = chat_about(tmp_path, replay)
    await chat.send("go")
    assert not replay.left
    await chat.send("go")
    assert replay.left
    texts = [turn.content for turn in chat.turns if isinstance(turn, AssistantTextTurn)]
    assert texts == ["gone", "other"]


async def test_a_recording_cut_after_a_call_ends_its_run(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", HEADER, said("go"), called("get_persona"))
    chat = chat_about(tmp_path, ReplayModel(read_recording(path), ScriptedModel(), AT_ONCE))
    assert (await chat.send("go")).outcome == "completed"
    assert [turn.type for turn in chat.turns] == ["user", "tool_call", "tool_result", "assistant_text"]
