"""Tasks from the command line: questions on stdout, answers on stdin or by `persona reply`, approvals, limits."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import os
import pty
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args
from unittest import mock

import pytest

from agent.jobs.job import Job
from agent.jobs.questions import AskingJob
from agent.tools import make_tools, tool_names
from agent.tools.context import ToolEnvironment
from agent.tools.spec import Offered
from personas.errors import StorageError
from tests.support import forked
from tests.support.hostile import ESCAPES
from tests.support.messages_answers import Refusal
from tests.support.messages_server import Answer, Call, MessagesServer, Text, call, say
from tests.support.persona_agent import Backend, Workplace
from tui.app.signals import SIGNALS, Guard, handle_signals
from tui.cli import error_handling
from tui.cli.agent.task_answers import PIPE_TIMEOUT, answer_timeout
from tui.settings.model_factory import task_options
from tui.settings.schema import ConfigError, Settings, load_settings

PROMPT = "You are kept.\nAlways.\n"
EDIT = call("edit_system_prompt", {"old": "Always.", "new": "Sometimes."})
ASK = call(
    "ask_user", {"question": "Which one?", "options": ["the first", "the second"]}, text="I need to know."
)
DONE = call("task_complete", {"summary": "All done."})
DO = ("chat", "kept", "Do it", "--task", "--json")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workplace:
    """A home this program made, which is trusted, with one persona."""
    monkeypatch.setenv("PERSONA_CONFIG", str(tmp_path / "config.toml"))
    place = Workplace(tmp_path / "home", Backend("loopback", {}))
    place.store.create("Kept", system_prompt=PROMPT)
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
        env = {"ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": server.key}
        self.place = Workplace(place.home, Backend("loopback", env))
        self.server = server

    def run(self, *arguments: str, stdin: str = "") -> tuple[int, list[dict[str, Any]], str]:
        """Run a command with `--json` in this process, which has loaded everything already."""
        out, err = io.StringIO(), io.StringIO()
        with (
            mock.patch.dict(os.environ, self.place.environment(), clear=True),
            lines_on_stdin(stdin),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
            pytest.raises(SystemExit) as left,
        ):
            error_handling.run([*arguments, "--json"])
        assert self.server.refusals == []
        told = [json.loads(line) for line in out.getvalue().splitlines()]
        return int(left.value.code or 0), told, err.getvalue()

    def history(self) -> list[dict[str, Any]]:
        turns: list[dict[str, Any]] = json.loads(self.place.run_here("history", "kept", "--json").stdout)[
            "turns"
        ]
        return turns

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


def test_an_answer_that_the_disk_refuses_is_told_and_the_question_stays_open(
    serve: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    line, keep = serve(ASK, DONE), AskingJob.keep

    async def keep_but_the_first(asking: AskingJob, event: Any, task: Job) -> None:
        if task.pending is not None and task.pending.answer == "the first":
            raise StorageError("The disk is full.")
        await keep(asking, event, task)

    monkeypatch.setattr(AskingJob, "keep", keep_but_the_first)
    code, told, _ = line.run("chat", "kept", "Do it", "--task", stdin="1\n2\n")
    assert {"type": "notice", "content": "The disk is full."} in told
    assert code == 0 and "the second" in results(told).values()


def test_why_a_task_failed_is_told_once_and_stands_in_the_conversation(serve: Any) -> None:
    line = serve(EDIT, Refusal(401, "authentication_error", "invalid x-api-key"))
    done = line.place.run_here("chat", "kept", "Do it", "--task", "--json")
    told = [json.loads(text) for text in done.stdout.splitlines()]
    why = told[-1]["message"]
    assert (done.returncode, told[-1]["type"]) == (1, "error") and "does not accept the key" in why
    assert [event for event in told[:-1] if why in str(event)] == []
    assert line.history()[-1] | {"id": "", "created_at": ""} == {
        "type": "notice",
        "id": "",
        "created_at": "",
        "kind": "error",
        "content": f"The task failed at step 2: {why}",
    }
    assert f"(The task failed at step 2: {why})" in line.place.run_here("history", "kept").stdout.decode()


def test_why_a_message_failed_is_told_once_stands_in_the_conversation_and_is_never_sent(serve: Any) -> None:
    line = serve(Refusal(401, "authentication_error", "invalid x-api-key"), say("Here I am."))
    done = line.place.run_here("chat", "kept", "Hi")
    (why,) = done.stderr.decode().splitlines()
    assert done.returncode == 1 and "does not accept the key" in why
    assert [turn["type"] for turn in line.history()] == ["user", "notice"]
    assert line.place.run_here("history", "kept").stdout.decode().count("does not accept the key") == 1
    assert line.place.run_here("chat", "kept", "Again").returncode == 0
    assert "does not accept" not in json.dumps(line.server.bodies[-1])
    told = [turn["type"] for turn in line.history()]
    assert told == ["user", "notice", "user", "assistant_text", "notice"]  # the last: no tool was called


def results(told: list[dict[str, Any]]) -> dict[str, str]:
    return {event["tool_use_id"]: event["output"] for event in told if event["type"] == "tool_result"}


def calls(told: list[dict[str, Any]]) -> list[str]:
    return [event["tool_use_id"] for event in told if event["type"] == "tool_call"]


def test_every_call_has_its_result_in_one_of_the_streams(serve: Any) -> None:
    both = Answer(
        (ASK.blocks[0], Call("ask_user", {"question": "First?"}), Call("ask_user", {"question": "B?"}))
    )
    line = serve(both, DONE)
    _, told, _ = line.run("chat", "kept", "Do it", "--task")
    first, second = calls(told)
    assert results(told) == {}
    code, told, _ = line.run("reply", "kept", "blue")
    assert (code, told[0]["type"], results(told)) == (3, "tool_result", {first: "blue"})
    assert (told[-1]["type"], told[-1]["question"]) == ("question", "B?")
    code, told, _ = line.run("reply", "kept", "green")
    assert code == 0 and results(told)[second] == "green"
    assert set(results(told)) == {second, *calls(told)}


def test_what_became_of_an_approved_call_is_told_by_the_reply(serve: Any) -> None:
    line = serve(EDIT, DONE)
    line.settings('approval = "ask-all"')
    _, told, _ = line.run("chat", "kept", "Do it", "--task")
    (call_id,) = calls(told)
    _, told, _ = line.run("reply", "kept", "once")
    assert (
        told[0]["tool_use_id"] == call_id and "+Sometimes." in told[0]["output"] and not told[0]["is_error"]
    )


def test_a_reply_in_words_says_what_became_of_the_call(serve: Any) -> None:
    line = serve(EDIT, DONE)
    line.settings('approval = "ask-all"')
    line.run("chat", "kept", "Do it", "--task")
    done = line.place.run_here("reply", "kept", "once")
    assert done.returncode == 0 and b"> edit_system_prompt +1 -1" in done.stderr


def test_a_task_that_is_given_up_leaves_no_call_without_a_result(serve: Any) -> None:
    line = serve(ASK)
    _, told, _ = line.run("chat", "kept", "Do it", "--task")
    _, more, _ = line.run("reply", "kept", "--stop")
    assert list(results(more)) == calls(told) and more[-1]["type"] == "done"


@pytest.mark.parametrize("made", [EDIT, ASK], ids=["approval", "question"])
def test_history_shows_a_call_that_waits_as_waiting(serve: Any, made: Answer) -> None:
    line = serve(made, DONE)
    line.settings('approval = "ask-all"')
    line.run("chat", "kept", "Do it", "--task")
    before = line.history()
    assert before[-1]["type"] == "tool_call"
    text = line.place.run_here("history", "kept").stdout.decode()
    assert "error" not in text and text.rstrip().endswith('waits for your answer: persona reply kept "…"')
    line.run("reply", "kept", "once")
    after = line.history()
    assert after[: len(before)] == before and after[len(before)]["type"] == "tool_result"
    assert "waits" not in line.place.run_here("history", "kept").stdout.decode()


def test_history_shows_a_call_that_is_at_work_without_a_result(serve: Any) -> None:
    line = serve(ASK)
    with line.place.start(*DO, stdout=subprocess.PIPE, stdin=subprocess.PIPE) as process:
        assert process.stdout is not None
        for raw in process.stdout:
            if json.loads(raw)["type"] == "question":
                break
        assert line.history()[-1]["type"] == "tool_call"
        process.terminate()


def test_a_task_at_work_elsewhere_is_said_to_be_and_after_a_crash_history_has_what_is_stored(
    serve: Any,
) -> None:
    line = serve(EDIT, Answer((Text("A long answer begins here."),), stall_after_events=4))
    with line.place.start(*DO, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        for raw in process.stdout:
            if json.loads(raw)["type"] == "text_delta":
                break
        code, told, _ = line.run("reply", "kept", "continue")
        assert code == 1 and f"at work in another program (pid {process.pid})" in told[-1]["message"]
        assert open_ends(line)[2] == "kept Kept * at work"
        process.kill()
    (path,) = line.place.home.joinpath("agent-sessions").glob("*.jsonl")
    whole = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(one for one in whole if json.loads(one).get("type") != "tool_result"))
    assert [turn["type"] for turn in line.history()] == ["user", "tool_call"]
    assert b"unknown" in line.place.run_here("history", "kept").stdout


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


def test_what_was_always_allowed_is_told_and_taken_back(serve: Any) -> None:
    line = serve(EDIT, DONE, call("edit_system_prompt", {"old": "Sometimes.", "new": "Never."}))
    line.settings('approval = "ask-all"')
    assert line.run("chat", "kept", "Do it", "--task", stdin="always\n")[0] == 0
    assert (
        b"always allowed here: edit_system_prompt; persona trust --revoke"
        in line.place.run_here("doctor").stdout
    )
    assert line.run("trust", "--revoke")[0] == 0
    assert b"always allowed" not in line.place.run_here("doctor").stdout
    assert line.run("chat", "kept", "Do it", "--task")[0] == 3 and "Sometimes." in line.prompt


def test_nothing_new_begins_over_a_task_that_waits(serve: Any) -> None:
    line = serve(ASK, say("Hello."), say("Hello."))
    assert line.run("chat", "kept", "Do it", "--task")[0] == 3
    before = line.place.store.session_of("kept")
    code, told, _ = line.run("chat", "kept", "hello", "--new")
    assert code == 1 and "persona reply --stop kept" in told[-1]["message"]
    refused = line.place.run_here("clear", "kept")
    assert refused.returncode == 1 and b'persona reply kept "' in refused.stderr
    assert line.place.store.session_of("kept") == before
    assert line.run("reply", "kept", "--stop")[0] == 0
    assert (
        line.run("chat", "kept", "hello", "--new")[0] == 0
        and line.place.run_here("clear", "kept").returncode == 0
    )


def test_a_task_at_its_limit_is_told_to_stay_behind(serve: Any) -> None:
    line = serve(EDIT, say("Hello."))
    line.settings("max_steps = 1")
    assert line.run("chat", "kept", "Do it", "--task")[1][-1]["stop_reason"] == "limit"
    cleared = line.place.run_here("clear", "kept")
    assert cleared.returncode == 0 and b"stays behind in the old conversation" in cleared.stderr
    assert line.run("chat", "kept", "Do it", "--task", "--new")[1][0]["type"] != "notice"


def open_ends(line: Any) -> tuple[str, Any, str, Any]:
    """The last line of `history`, its `task` in JSON, the row of `list`, and its `task` in JSON."""
    history = line.place.run_here("history", "kept").stdout.decode()
    found = json.loads(line.place.run_here("history", "kept", "--json").stdout).get("task")
    listed = {one["id"]: one.get("task") for one in json.loads(line.place.run_here("list", "--json").stdout)}
    assert [persona_id for persona_id, task in listed.items() if task] in ([], ["kept"])
    row = next(row for row in line.place.run_here("list").stdout.decode().splitlines() if "Kept" in row)
    return history.splitlines()[-1], found, " ".join(row.split()), listed["kept"]


def last_job_record(line: Any) -> tuple[Path, dict[str, Any]]:
    """The log of the conversation, and the last record of a job in it."""
    (path,) = line.place.home.joinpath("agent-sessions").glob("*.jsonl")
    return path, next(
        record
        for one in reversed(path.read_bytes().splitlines())
        if (record := json.loads(one))["type"] == "job"
    )


def interrupt(line: Any) -> None:
    """Make the last task one that was thinking when its program was killed."""
    path, record = last_job_record(line)
    record = {name: record[name] for name in ("type", "id", "kind")}
    record |= {"event": "step", "ended_at": None, "step_count": 2}
    path.write_bytes(path.read_bytes() + json.dumps(record).encode() + b"\n")


def test_every_task_that_is_not_over_is_seen_in_history_and_list_as_what_it_is(serve: Any) -> None:
    line = serve(EDIT, ASK, DONE)
    line.settings("max_steps = 1")
    assert line.run("chat", "kept", "Do it", "--task")[1][-1]["stop_reason"] == "limit"
    last, told, shown, listed = open_ends(line)
    assert last == "(This task stopped at a limit; to go on: persona reply kept continue)"
    assert told == listed and (told["status"], told["prompt"], told["question"]) == ("limit", "Do it", None)
    assert shown == "kept Kept ! at a limit"
    interrupt(line)
    last, told, shown, listed = open_ends(line)
    assert last == "(The program ended at step 2 of this task; to go on: persona reply kept continue)"
    assert told == listed and (told["status"], told["step_count"]) == ("interrupted", 2)
    assert shown == "kept Kept ! interrupted"
    assert line.run("reply", "kept", "continue")[0] == 3
    last, told, shown, listed = open_ends(line)
    assert 'persona reply kept "' in last and shown == "kept Kept ? waits for you"
    assert told == listed and told["question"]["options"] == ["the first", "the second"]
    line.settings("max_steps = 9")
    assert line.run("reply", "kept", "1")[0] == 0
    last, told, shown, listed = open_ends(line)
    assert (told, listed) == (None, None) and not last.startswith("(") and shown == "kept Kept"


@pytest.mark.parametrize("how", ["interrupted", "at a limit"])
def test_a_message_says_what_can_be_continued_and_a_new_task_what_it_leaves_behind(
    serve: Any, how: str
) -> None:
    line = serve(EDIT, say("Hello."), say("Hello again."), DONE)
    line.settings("max_steps = 1")
    line.run("chat", "kept", "Do it", "--task")
    where = "stopped at a limit at step 1"
    if how == "interrupted":
        interrupt(line)
        where = "was interrupted at step 2"
    notices = [
        event["content"] for event in line.run("chat", "kept", "Hello")[1] if "notice" in event["type"]
    ]
    assert notices == [
        f"A task that {where} can still be continued or given up: persona reply kept continue, or --stop."
    ]
    assert open_ends(line)[1] is not None
    told = line.run("chat", "kept", "Something else", "--task")[1]
    left = f"A new task begins here; the one that {where} stays behind. What was done stays"
    assert told[0]["type"] == "notice" and told[0]["content"].startswith(left)
    assert any(turn["type"] == "notice" and turn["content"].startswith(left) for turn in line.history())


def test_a_waiting_task_can_be_given_up(serve: Any) -> None:
    line = serve(ASK, say("Hello."))
    assert line.run("chat", "kept", "Do it", "--task")[0] == 3
    code, told, _ = line.run("reply", "kept", "--stop")
    assert code == 0 and told[-1]["stop_reason"] == "cancelled"
    assert line.run("chat", "kept", "Hello")[0] == 0
    assert line.run("reply", "kept")[0] == 2


@contextlib.contextmanager
def waiting(line: Any, *arguments: str, usual: float) -> Iterator[subprocess.Popen[bytes]]:
    """A task in a process of its own that has asked its question, stdin being a pipe that is open.

    `usual` is the time it waits where nothing is said of it, in seconds.
    """
    code = f"from tui.cli import main; from tui.cli.agent import task_answers; task_answers.PIPE_TIMEOUT = {usual}; main()"
    with forked.Popen(
        [sys.executable, "-c", code, "chat", "kept", "Do it", "--task", *arguments],
        env=line.place.environment(),
        stdout=subprocess.PIPE,
        stdin=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        for raw in process.stdout:
            if b"Which one?" in raw:
                break
        yield process


def test_a_program_that_holds_stdin_open_may_take_its_time_to_answer(serve: Any) -> None:
    line = serve(ASK, DONE)
    with waiting(line, "--json", usual=0.1) as process:
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.8)
        told, _ = process.communicate(b"blue\n", timeout=60)
    assert process.returncode == 0 and b'"blue"' in told


@pytest.mark.parametrize("how", [("--json", "--wait", "0.1"), ("--wait", "0")])
def test_how_long_a_question_waits_can_be_said(serve: Any, how: tuple[str, ...]) -> None:
    with waiting(serve(ASK), *how, usual=600) as process:
        try:
            assert process.wait(60) == 3
        finally:
            process.kill()


def test_waiting_for_nothing_takes_the_answers_that_are_there(serve: Any) -> None:
    line = serve(ASK, DONE)
    assert line.run("chat", "kept", "Do it", "--task", "--wait", "0", stdin="2\n")[0] == 0
    assert line.run("chat", "kept", "Do it", "--wait", "nan")[0] == 2


def test_who_is_at_the_other_end_of_stdin_decides_how_long_it_is_waited_for(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    ours, theirs = pty.openpty()
    one, other = socket.socketpair()
    with (tmp_path / "file").open("w") as file, one, other:
        assert [answer_timeout(None, True, fd) for fd in (reading, theirs, one.fileno())] == [
            None,
            None,
            None,
        ]
        assert [answer_timeout(None, False, fd) for fd in (reading, theirs)] == [PIPE_TIMEOUT, None]
        assert (
            answer_timeout(None, True, file.fileno()) == PIPE_TIMEOUT
            and answer_timeout(0.5, True, reading) == 0.5
        )
        assert answer_timeout(float("inf"), False, reading) is None
    for descriptor in (reading, writing, ours, theirs):
        os.close(descriptor)
    assert answer_timeout(None, True, reading) == 0


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
    process = line.place.start(*DO, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
    assert process.stdout is not None
    told = []
    for raw in process.stdout:
        told.append(json.loads(raw))
        if told[-1]["type"] == "text_delta":
            process.send_signal(signal.SIGINT)
            break
    told += [json.loads(raw) for raw in process.stdout.read().splitlines()]
    assert process.wait(60) == 130 and told[-1]["stop_reason"] == "cancelled"
    assert any(event["type"] == "notice" and "step 2" in event["content"] for event in told)
    assert "Sometimes." in line.prompt
    assert line.run("undo", "kept")[0] == 0 and line.prompt == PROMPT


@pytest.mark.parametrize(("end", "code"), [(signal.SIGHUP, 129), (None, 141)])
def test_a_task_whose_command_ends_without_a_stop_goes_on_with_reply(
    serve: Any, end: signal.Signals | None, code: int
) -> None:
    line = serve(EDIT, Answer((Text("A long answer. " * 5_000),), stall_after_events=1_500), DONE)
    process = line.place.start(*DO, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, bufsize=0)
    assert process.stdout is not None
    told = []
    for raw in process.stdout:
        told.append(json.loads(raw))
        if told[-1]["type"] == "text_delta":
            break
    if end is None:
        process.stdout.close()  # the reader goes away
    else:
        process.send_signal(end)
        told = [json.loads(raw) for raw in process.stdout.read().splitlines()]
        assert told[-1]["stop_reason"] == "cancelled" and "persona reply kept continue" in told[-2]["content"]
    assert process.wait(60) == code
    code, told, _ = line.run("reply", "kept", "continue")
    assert code == 0 and told[-1]["stop_reason"] == "end_turn"


def test_a_signal_that_was_ignored_at_the_start_is_outlived(serve: Any) -> None:
    line = serve(EDIT, Answer((Text("A slow answer, word by word."),), delay=0.1), DONE)
    process = subprocess.Popen(
        ["sh", "-c", f"trap '' HUP INT TERM; exec {sys.executable} -m tui chat kept 'Do it' --task --json"],
        env=line.place.environment(),
        stdout=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
    )
    assert process.stdout is not None
    told = []
    for raw in process.stdout:
        told.append(json.loads(raw))
        if told[-1]["type"] == "text_delta":
            for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
                process.send_signal(number)
    assert process.wait(60) == 0 and told[-1]["stop_reason"] == "end_turn"


def test_the_program_on_the_screen_heeds_no_signal_that_was_ignored_at_the_start() -> None:
    kept = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        assert (signal.SIGHUP in handle_signals(SIGNALS), signal.SIGTERM in handle_signals(SIGNALS)) == (
            False,
            True,
        )

        async def begin() -> None:
            guard = Guard(lambda _code: None)
            guard.start()
            guard.stop()

        asyncio.run(begin())
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, kept)


def test_a_program_that_is_terminated_while_it_waits_leaves_the_task_waiting(serve: Any) -> None:
    line = serve(ASK, DONE)
    process = line.place.start(
        *DO,
        stdout=subprocess.PIPE,
        stdin=subprocess.PIPE,
        bufsize=0,  # `communicate` does not see what a buffered reader has read ahead
    )
    assert process.stdout is not None
    told = {}
    for raw in process.stdout:
        told = json.loads(raw)
        if told["type"] == "question":
            process.send_signal(signal.SIGTERM)
            break
    rest, _ = process.communicate(timeout=60)
    assert (process.returncode, told["type"], rest) == (143, "question", b"")
    assert line.run("reply", "kept", "1")[0] == 0


def test_a_terminal_is_asked_and_answered_and_hostile_questions_are_harmless(serve: Any) -> None:
    hostile = call("ask_user", {"question": "Hm \x1b]0;owned\x07\x1b[2J?", "options": ["\x1b[31mred", "b"]})
    line = serve(hostile, DONE)
    ours, theirs = pty.openpty()
    process = line.place.start(*DO[:-1], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=theirs)
    os.close(theirs)
    assert process.stdout is not None
    told = b""
    ends = time.monotonic() + 60
    while b"2. b" not in told and time.monotonic() < ends:
        told += os.read(process.stdout.fileno(), 4096)
    os.write(ours, b"1\n")
    told += process.stdout.read()
    os.close(ours)
    assert process.wait(60) == 0 and b"\x1b" not in told and b"All done." in told
    result = next(
        b for m in line.server.bodies[-1]["messages"] for b in m["content"] if b["type"] == "tool_result"
    )
    assert result["content"] == "\x1b[31mred"


@pytest.mark.parametrize("text", list(ESCAPES.values())[:6])
def test_what_a_stranger_left_waiting_is_shown_harmlessly(serve: Any, text: str) -> None:
    line = serve(ASK)
    assert line.run("chat", "kept", "Do it", "--task")[0] == 3
    path, record = last_job_record(line)
    record["pending"]["text"] = text
    path.write_bytes(path.read_bytes() + json.dumps(record).encode() + b"\n")
    err = io.StringIO()
    with (
        mock.patch.dict(os.environ, line.place.environment(), clear=True),
        contextlib.redirect_stderr(err),
        pytest.raises(SystemExit) as left,
    ):
        error_handling.run(["chat", "kept", "x"])
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
        (
            'model = ""\n[approval_of]\nundo = 3',
            ":3: approval_of.undo must be one of ask, allow, deny, not 3",
        ),
        ('[approval_of]\nundo = "perhaps"', "approval_of.undo must be one of ask, allow, deny"),
        ("tasks_at_once = 0", "tasks_at_once must be above 0"),
        ("task_dollars = -1", "task_dollars must be 0 or more"),
        ("max_minutes = nan", "max_minutes must be above 0"),
        ("task_dollars = nan", "task_dollars must be 0 or more"),
    ],
)
def test_settings_of_tasks_are_checked(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "config.toml"
    path.write_text(text + "\n", encoding="utf-8")
    with pytest.raises(ConfigError) as refused:
        load_settings({"PERSONA_CONFIG": str(path)}).check()
    assert said in str(refused.value)


def test_a_rule_for_a_tool_that_does_not_exist_is_told(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text(
        'model = ""\n[approval_of]\nundo = "ask"\nupdate_persona_nam = "ask"\nxyz = "deny"\n',
        encoding="utf-8",
    )
    first, second = load_settings({"PERSONA_CONFIG": str(path)}).warnings
    assert f"{path}:4: there is no tool 'update_persona_nam'" in first
    assert "did you mean 'update_persona_name'?" in first and "'xyz'" in second and "mean" not in second


def test_a_setting_by_its_former_name_holds_and_the_new_name_is_told(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text("history_turns = 12\n", encoding="utf-8")
    loaded = load_settings({"PERSONA_CONFIG": str(path)})
    assert loaded.settings.sent_turns == 12 and loaded.sources["sent_turns"] == "the file"
    assert loaded.warnings == (f"{path}:1: history_turns was renamed to sent_turns; rename it there",)
    path.write_text("sent_turns = 7\nhistory_turns = 12\n", encoding="utf-8")
    loaded = load_settings({"PERSONA_CONFIG": str(path)})
    assert loaded.settings.sent_turns == 7 and len(loaded.warnings) == 1


def test_the_names_rules_can_have_are_those_of_all_tools(place: Workplace) -> None:
    tools = make_tools(ToolEnvironment(place.store, "kept"), *get_args(Offered))
    assert {tool.name for tool in tools} == set(tool_names())
    settings = Settings(approval_of=dict.fromkeys(tool_names(), "ask"))
    assert len(settings.approval_of) == len(tools)


def test_settings_of_tasks_reach_the_runner(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text(
        'approval = "ask-all"\ntask_dollars = 2\nmax_minutes = 5\n[approval_of]\nundo = "deny"\n',
        encoding="utf-8",
    )
    options = task_options(load_settings({"PERSONA_CONFIG": str(path)}).settings)
    assert (options.approval.policy, options.approval.overrides) == ("ask-all", {"undo": "deny"})
    assert (options.max_cost, options.max_seconds, options.max_tokens) == (2.0, 300.0, None)
