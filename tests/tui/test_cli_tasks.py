"""Tasks from the command line: questions on stdout, answers on stdin or by `persona reply`, approvals, limits."""

from __future__ import annotations

import contextlib
import io
import json
import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from personas.authorship import USER
from tests.hostile import ESCAPES
from tests.messages_server import Answer, Call, MessagesServer, Text, call, say
from tests.persona_agent import Backend, Workplace
from tui.cli import boundary
from tui.config import ConfigError, load_settings
from tui.models import task_options

PROMPT = "You are kept.\nAlways.\n"
EDIT = call("edit_system_prompt", {"old": "Always.", "new": "Sometimes."})
ASK = call(
    "ask_user", {"question": "Which one?", "options": ["the first", "the second"]}, text="I need to know."
)
DONE = call("task_complete", {"summary": "All done."})


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workplace:
    """A home this program made, which is trusted, with one persona."""
    monkeypatch.setenv("PERSONA_CONFIG", str(tmp_path / "config.toml"))
    place = Workplace(tmp_path / "home", Backend("loopback", {}))
    place.store.create("Kept", system_prompt=PROMPT, by=USER)
    (tmp_path / "config.toml").write_text("task_pause = 0\n", encoding="utf-8")
    return place


@contextlib.contextmanager
def lines_on_stdin(text: str) -> Iterator[None]:
    """Have these lines, then the end, on the real standard input."""
    kept = os.dup(0)
    reading, writing = os.pipe()
    os.write(writing, text.encode())
    os.close(writing)
    os.dup2(reading, 0)
    os.close(reading)
    try:
        yield
    finally:
        os.dup2(kept, 0)
        os.close(kept)


class Line:
    """Runs commands against one scripted server."""

    def __init__(self, place: Workplace, server: MessagesServer) -> None:
        self.place = place
        self.env = {"ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": server.key}
        self.server = server

    def run(self, *arguments: str, stdin: str = "") -> tuple[int, list[dict[str, Any]], str]:
        """Run a command with `--json` in this process, which has loaded everything already."""
        out, err = io.StringIO(), io.StringIO()
        with (
            mock.patch.dict(os.environ, self.place.environment(self.env), clear=True),
            lines_on_stdin(stdin),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
            pytest.raises(SystemExit) as left,
        ):
            boundary.run([*arguments, "--json"])
        assert self.server.refusals == []
        told = [json.loads(line) for line in out.getvalue().splitlines()]
        return int(left.value.code or 0), told, err.getvalue()

    def settings(self, text: str) -> None:
        (self.place.home.parent / "config.toml").write_text(f"task_pause = 0\n{text}\n", encoding="utf-8")

    @property
    def prompt(self) -> str:
        return self.place.store.get("kept").system_prompt


@pytest.fixture
def serve(place: Workplace) -> Iterator[Any]:
    opened: list[MessagesServer] = []

    def start(*answers: Answer) -> Line:
        server = MessagesServer(list(answers))
        server.__enter__()
        opened.append(server)
        return Line(place, server)

    yield start
    for server in opened:
        server.__exit__(None, None, None)


def test_a_question_without_an_answer_ends_with_3_and_reply_goes_on(serve: Any) -> None:
    line = serve(EDIT, ASK, DONE)
    code, told, _ = line.run("chat", "kept", "Do it", "--task")
    assert (code, told[-1]["type"]) == (3, "question")
    assert told[-1]["question"] == "Which one?" and told[-1]["options"] == ["the first", "the second"]
    assert set(told[-1]) == {"type", "id", "question", "options"}
    assert [event["type"] for event in told].count("tool_result") == 1
    assert line.run("chat", "kept", "Something else")[0] == 1
    code, told, _ = line.run("reply", "kept", "2")
    assert code == 0 and told[-1]["type"] == "done" and told[-1]["stop_reason"] == "end_turn"
    last = line.server.bodies[-1]["messages"][-1]["content"]
    assert [block["content"] for block in last if block["type"] == "tool_result"] == ["the second"]
    code, told, _ = line.run("reply", "kept", "again")
    assert code == 1 and told == [{"type": "error", "message": told[0]["message"]}]


def test_questions_are_answered_from_stdin_a_line_each(serve: Any) -> None:
    again = call("ask_user", {"question": "Sure?"})
    line = serve(ASK, again, DONE)
    code, told, _ = line.run("chat", "kept", "Do it", "--task", stdin="1\n\nyes, sure\n")
    assert code == 0 and [event["type"] for event in told].count("question") == 2
    outputs = [event["output"] for event in told if event["type"] == "tool_result"]
    assert outputs[:2] == ["the first", "yes, sure"]


def test_an_approval_shows_its_diff_and_waits_with_nothing_written(serve: Any) -> None:
    line = serve(EDIT, DONE)
    line.settings('approval = "ask-all"')
    code, told, _ = line.run("chat", "kept", "Do it", "--task")
    question = told[-1]
    assert code == 3 and question["options"] == ["once", "task", "always", "no"]
    assert question["approval"]["tool_name"] == "edit_system_prompt"
    assert "-Always.\n+Sometimes.\n" in question["approval"]["diff"]
    assert line.prompt == PROMPT
    code, told, _ = line.run("reply", "kept", "maybe")
    assert code == 1 and "no with a reason" in told[-1]["message"] and line.prompt == PROMPT
    code, told, _ = line.run("reply", "kept", "once")
    assert code == 0 and line.prompt == "You are kept.\nSometimes.\n"


def test_a_no_takes_its_reason_to_the_model(serve: Any) -> None:
    line = serve(EDIT, DONE)
    line.settings('[approval_of]\nedit_system_prompt = "ask"')
    code, _, _ = line.run("chat", "kept", "Do it", "--task", stdin="no, keep it as it is\n")
    assert code == 0 and line.prompt == PROMPT
    assert "keep it as it is" in str(line.server.bodies[-1]["messages"])


def test_a_message_without_task_asks_too_and_waits_as_well(serve: Any) -> None:
    line = serve(EDIT, say("Done."))
    line.settings('approval = "ask-all"')
    assert line.run("chat", "kept", "Do it")[0] == 3
    code, told, _ = line.run("reply", "kept", "yes")
    assert code == 0 and told[-1]["type"] == "done" and "Sometimes." in line.prompt


def test_an_approval_found_in_a_strangers_home_needs_trust(serve: Any) -> None:
    line = serve(EDIT, DONE)
    line.settings('approval = "ask-all"')
    assert line.run("chat", "kept", "Do it", "--task")[0] == 3
    assert line.run("trust", "--revoke")[1] == [{"home": str(line.place.home), "trusted": False}]
    code, told, _ = line.run("reply", "kept", "once")
    assert code == 1 and "persona trust" in told[-1]["message"] and line.prompt == PROMPT
    assert line.run("trust")[0] == 0
    assert line.run("reply", "kept", "once")[0] == 0 and "Sometimes." in line.prompt


def test_a_waiting_task_can_be_given_up(serve: Any) -> None:
    line = serve(ASK, say("Hello."))
    assert line.run("chat", "kept", "Do it", "--task")[0] == 3
    code, told, _ = line.run("reply", "kept", "--stop")
    assert code == 0 and told[-1]["stop_reason"] == "cancelled"
    assert line.run("chat", "kept", "Hello")[0] == 0
    assert line.run("reply", "kept")[0] == 2


def test_a_limit_offers_to_continue_and_reply_continues(serve: Any) -> None:
    line = serve(EDIT, call("get_persona"), DONE)
    line.settings("max_steps = 2")
    code, told, _ = line.run("chat", "kept", "Do it", "--task")
    assert code == 0 and told[-1]["stop_reason"] == "limit"
    assert "persona reply kept continue" in told[-2]["content"]
    code, told, _ = line.run("reply", "kept", "continue")
    assert code == 0 and told[-1]["stop_reason"] == "end_turn"


def test_ctrl_c_stops_a_task_and_its_notice_says_where(serve: Any) -> None:
    line = serve(EDIT, Answer((Text("A long answer begins here."),), stall_after_events=4))
    process = subprocess.Popen(
        [sys.executable, "-m", "tui", "chat", "kept", "Do it", "--task", "--json"],
        env=line.place.environment(line.env),
        stdout=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
    )
    assert process.stdout is not None
    told = []
    for raw in process.stdout:
        told.append(json.loads(raw))
        if told[-1]["type"] == "text_delta":
            process.send_signal(signal.SIGINT)
            break
    told += [json.loads(raw) for raw in process.stdout.read().splitlines()]
    assert process.wait(10) == 130 and told[-1]["stop_reason"] == "cancelled"
    assert any(event["type"] == "notice" and "step 2" in event["content"] for event in told)
    assert "Sometimes." in line.prompt
    assert line.run("undo", "kept")[0] == 0 and line.prompt == PROMPT


def test_a_program_that_is_terminated_while_it_waits_leaves_the_task_waiting(serve: Any) -> None:
    line = serve(ASK, DONE)
    process = subprocess.Popen(
        [sys.executable, "-m", "tui", "chat", "kept", "Do it", "--task", "--json"],
        env=line.place.environment(line.env),
        stdout=subprocess.PIPE,
        stdin=subprocess.PIPE,
    )
    assert process.stdout is not None
    told = {}
    for raw in process.stdout:
        told = json.loads(raw)
        if told["type"] == "question":
            process.send_signal(signal.SIGTERM)
            break
    rest, _ = process.communicate(timeout=10)
    assert (process.returncode, told["type"], rest) == (143, "question", b"")
    assert line.run("reply", "kept", "1")[0] == 0


def test_a_terminal_is_asked_and_answered_and_hostile_questions_are_harmless(serve: Any) -> None:
    hostile = call("ask_user", {"question": "Hm \x1b]0;owned\x07\x1b[2J?", "options": ["\x1b[31mred", "b"]})
    line = serve(hostile, DONE)
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "tui", "chat", "kept", "Do it", "--task"],
        env=line.place.environment(line.env),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=theirs,
    )
    os.close(theirs)
    assert process.stdout is not None
    told = b""
    ends = time.monotonic() + 30
    while b"2. b" not in told and time.monotonic() < ends:
        told += os.read(process.stdout.fileno(), 4096)
    os.write(ours, b"1\n")
    told += process.stdout.read()
    os.close(ours)
    assert process.wait(10) == 0 and b"\x1b" not in told and b"All done." in told
    result = next(
        b for m in line.server.bodies[-1]["messages"] for b in m["content"] if b["type"] == "tool_result"
    )
    assert result["content"] == "\x1b[31mred"


@pytest.mark.parametrize("text", list(ESCAPES.values())[:6])
def test_what_a_stranger_left_waiting_is_shown_harmlessly(serve: Any, text: str) -> None:
    line = serve(ASK)
    assert line.run("chat", "kept", "Do it", "--task")[0] == 3
    (path,) = line.place.home.joinpath("agent-sessions").glob("*.tasks.journal")
    record = json.loads(path.read_bytes().splitlines()[-1])
    record["pending"]["text"] = text
    path.write_bytes(path.read_bytes() + json.dumps(record).encode() + b"\n")
    err = io.StringIO()
    with (
        mock.patch.dict(os.environ, line.place.environment(line.env), clear=True),
        contextlib.redirect_stderr(err),
        pytest.raises(SystemExit) as left,
    ):
        boundary.run(["chat", "kept", "x"])
    assert left.value.code == 1 and err.getvalue().count("\n") == 1
    assert not any(ord(char) < 32 or 0x7F <= ord(char) < 0xA0 for char in err.getvalue().rstrip("\n"))


def test_the_whole_task_is_one_line_of_undo_over_two_programs(serve: Any) -> None:
    second = Answer((Call("update_persona_name", {"name": "Other"}),))
    line = serve(EDIT, ASK, second, DONE)
    assert line.run("chat", "kept", "Do it", "--task")[0] == 3
    assert line.run("reply", "kept", "2")[0] == 0
    shown = line.place.store.get("kept")
    assert (shown.name, shown.system_prompt) == ("Other", "You are kept.\nSometimes.\n")
    assert line.run("undo", "kept")[0] == 0
    shown = line.place.store.get("kept")
    assert (shown.name, shown.system_prompt) == ("Kept", PROMPT)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('approval = "never"', "approval must be one of auto, ask-destructive, ask-all"),
        ('model = ""\n[approval_of]\nundo = 3', ":2: approval_of must be a table of texts"),
        ('[approval_of]\nundo = "perhaps"', "approval_of.undo must be one of ask, allow, deny"),
        ("tasks_at_once = 0", "tasks_at_once must be above 0"),
        ("task_dollars = -1", "task_dollars must not be negative"),
    ],
)
def test_settings_of_tasks_are_checked(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "config.toml"
    path.write_text(text + "\n", encoding="utf-8")
    with pytest.raises(ConfigError) as refused:
        load_settings({"PERSONA_CONFIG": str(path)})
    assert said in str(refused.value)


def test_settings_of_tasks_reach_the_runner(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text(
        'approval = "ask-all"\ntask_dollars = 2\nmax_minutes = 5\n[approval_of]\nundo = "deny"\n',
        encoding="utf-8",
    )
    options = task_options(load_settings({"PERSONA_CONFIG": str(path)}).settings)
    assert (options.approval.policy, options.approval.overrides) == ("ask-all", {"undo": "deny"})
    assert (options.max_cost, options.max_seconds, options.max_tokens) == (2.0, 300.0, None)
