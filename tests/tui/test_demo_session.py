"""The demonstration of a person's own recording: what is found, what it begins with, and what is refused."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent.chat.chat import Chat
from agent.models.scripted import ScriptedModel, ToolUse, answer
from agent.transcript.session_store import start_session
from personas.errors import PersonaError
from personas.persona import read_persona
from personas.store import Store
from tests.support.hostile import ESCAPES, forbidden_in
from tests.support.program import Program, make_store, program
from tests.tui.test_demo import demo
from tui.cli.group import persona
from tui.cli.program import demo as demo_command
from tui.recording.locate import find_recording, persona_at_start
from tui.recording.recorded_session import RecordedRun, Recording, read_recording
from tui.settings.schema import Settings

EDIT = ToolUse("edit_system_prompt", {"old": "second line", "new": "better line"})
ASK = ToolUse("ask_user", {"question": "Which one?", "options": ["the first", "the second"]})
DONE = ToolUse("task_complete", {"summary": "All done."})


async def converse(store: Store) -> str:
    """Let an agent change `one`; return the id of the session."""
    chat = Chat(store, "one", ScriptedModel([answer(EDIT), answer("Done.")]))
    await chat.send("make it better")
    session_id = store.session_of("one")
    assert session_id is not None
    return session_id


def content_of(root: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def prompt_of(text: str | None) -> str:
    assert text is not None
    return read_persona("x", text.encode(), None).system_prompt


async def test_a_session_is_played_from_the_text_it_began_with_and_its_home_is_only_read(
    tmp_path: Path,
) -> None:
    store = make_store(tmp_path)
    session_id = await converse(store)
    store.path("one").write_text('name = "One"\nsystem_prompt = "written by hand since"\n', encoding="utf-8")
    before = content_of(store.home.root)
    path, own = find_recording(store.home, session_id)
    assert own
    assert find_recording(store.home, "one") == (path, True)
    persona_id, text = persona_at_start(read_recording(path), store.home)
    assert (persona_id, prompt_of(text)) == ("one", "first line\nsecond line\nthird line\n")
    folder = tmp_path / "demo"
    folder.mkdir()
    async with demo(folder, recording=read_recording(path), origin=store.home) as p:
        await p.notified("recording is over")
        assert "better line" in p.prompt.raw
        assert p.main.conversation.view.layout_model.entries[0].text().startswith("This is a recorded run")
    assert content_of(store.home.root) == before


async def test_a_recorded_task_gives_the_recorded_answers_to_its_questions(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    async with program(store, answer(ASK), answer(DONE), settings=Settings(task_pause=0.0)) as p:
        await p.say("/task go")
        await p.until(lambda: p.main.conversation.question is not None)
        await p.until(lambda: p.main.conversation.questions.may_answer)
        await p.press("2", "enter")
        await p.until(lambda: not p.main.conversation.running)
    recording = read_recording(find_recording(store.home, "one")[0])
    assert list(recording.runs[0].replies.values()) == ["the second"]
    folder = tmp_path / "demo"
    folder.mkdir()
    async with demo(folder, recording=recording, origin=store.home) as p:
        await p.notified("recording is over")
        assert "the second" in "\n".join(
            entry.text() for entry in p.main.conversation.view.layout_model.entries
        )


def test_without_its_home_a_recording_begins_with_what_the_agent_read(tmp_path: Path) -> None:
    runs = (RecordedRun("go", ()),)
    _, text = persona_at_start(
        Recording("x", runs, name="Näme", prompt='a "quoted"\n\\line\x7f\x00\ud800'), None
    )
    assert prompt_of(text).startswith('a "quoted"\n\\line')
    assert persona_at_start(Recording("optimist", runs), None) == ("optimist", None)
    assert persona_at_start(Recording("../../etc/x", runs), None)[0] == "recorded"


def run(monkeypatch: pytest.MonkeyPatch, home: Path, wanted: str) -> Any:
    monkeypatch.setattr(demo_command, "require_screen", lambda: None)
    monkeypatch.setattr(demo_command, "run_in_terminal", lambda app: 0)
    return CliRunner().invoke(
        persona, ["--home", str(home), "demo", "--session", wanted], standalone_mode=False
    )


@pytest.mark.parametrize(
    "made",
    [
        "nothing",
        "empty",
        "text",
        "no runs",
        "a folder",
        "a pipe",
        "deep",
        "binary",
        "unreadable",
        "wrong types",
    ],
)
def test_what_is_no_recording_is_refused_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: str
) -> None:
    path = tmp_path / "x.jsonl"
    head = json.dumps({"type": "session", "id": "s", "persona_id": "one"}) + "\n"
    match made:
        case "empty":
            path.touch()
        case "text":
            path.write_text("hello\n")
        case "no runs":
            path.write_text(head)
        case "a folder":
            path.mkdir()
        case "a pipe":
            os.mkfifo(path)
        case "deep":
            path.write_text(head + "[" * 100_000 + "\n")
        case "binary":
            path.write_bytes(os.urandom(5000))
        case "unreadable":
            path = tmp_path / ("x" * 400 + ".jsonl")
        case "wrong types":
            path.write_text('{"type":"session","persona_id":7}\n{"type":"user","content":[]}\n')
    done = run(monkeypatch, tmp_path / "home", str(path))
    assert isinstance(done.exception, PersonaError)
    assert "\n" not in str(done.exception)
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize(
    "wanted", ["", "../x", "nobody", "..", "a\x1b[2J", "x" * 5000, "\0.jsonl", "~nobody/x.jsonl"]
)
def test_what_names_no_session_is_refused_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wanted: str
) -> None:
    done = run(monkeypatch, tmp_path / "home", wanted)
    assert isinstance(done.exception, PersonaError)
    assert not (tmp_path / "home").exists()


RECORDS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["type", "content", "input", "tool_name", "tool_use_id", "output", "id", "persona_id"]
            ),
            inner | st.sampled_from(["user", "assistant_text", "tool_call", "tool_result", "session"]),
            max_size=5,
        )
    ),
    max_leaves=12,
)


@given(st.lists(RECORDS, max_size=6), st.binary(max_size=20))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_no_file_makes_reading_fail_in_another_way(tmp_path: Path, records: list[Any], tail: bytes) -> None:
    path = tmp_path / "x.jsonl"
    lines = [{"type": "session", "id": "s", "persona_id": "one"}, {"type": "user", "content": "go"}, *records]
    path.write_bytes("".join(json.dumps(line) + "\n" for line in lines).encode() + tail)
    recording = read_recording(path)
    persona_id, text = persona_at_start(recording, None)
    assert read_persona(persona_id, (text or "").encode(), None).error is None


async def test_a_hostile_recording_plays_to_its_end(tmp_path: Path) -> None:
    evil = "".join(ESCAPES.values()) + "[/] [@click=app.quit]x[/] \ud800 //clear"
    path = tmp_path / "evil.jsonl"
    records = [
        {"type": "session", "id": evil, "persona_id": "\x1b[2J"},
        {"type": "user", "content": evil},
        {"type": "assistant_text", "content": evil * 20},
        {"type": "tool_call", "tool_use_id": evil, "tool_name": evil, "input": {evil: evil}},
        {"type": "user", "content": "/quit"},
        {"type": "assistant_text", "content": "Still here."},
    ]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    folder = tmp_path / "demo"
    folder.mkdir()
    async with demo(folder, recording=read_recording(path)) as p:
        await p.notified("recording is over")
        assert "Still here." in "\n".join(e.text() for e in p.main.conversation.view.layout_model.entries)
        assert forbidden_in(shown(p)) == []


def shown(p: Program) -> str:
    return "\n".join(
        "".join(segment.text for segment in strip) for strip in p.app.screen._compositor.render_strips()
    )


def test_a_session_of_a_persona_that_never_had_one_is_refused(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    with pytest.raises(PersonaError):
        find_recording(store.home, "one")
    assert find_recording(store.home, start_session(store, "one"))[1]
