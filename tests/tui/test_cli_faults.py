"""Bad input and bad weather: one clear line, the exit code of the design, and nothing lost."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from agent.core.events import AgentEnd
from agent.core.model import Usage
from personas.files.lock import hold
from tests.support.messages_server import MessagesServer, ToolUsingBrain, say
from tests.support.persona_agent import Workplace
from tui.cli import main
from tui.cli.agent.chat_runner import run_printed
from tui.cli.agent.stream import Printer


@pytest.fixture
def server() -> Iterator[MessagesServer]:
    with MessagesServer(ToolUsingBrain()) as running:
        yield running


def connected(place: Workplace, server: MessagesServer, **extra: str) -> dict[str, str]:
    return {"PERSONA_MODEL": "", "ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": server.key} | extra


def only_line(result: subprocess.CompletedProcess[bytes], code: int = 1) -> str:
    """The one line on stderr; a traceback or a second line fails."""
    assert result.returncode == code, (result.returncode, result.stdout, result.stderr)
    lines = [line for line in result.stderr.decode().splitlines() if line.startswith("persona: ")]
    assert len(lines) == 1 and b"Traceback" not in result.stderr, result.stderr.decode()
    return lines[0]


def json_error(result: subprocess.CompletedProcess[bytes]) -> str:
    """The message of the one `error` line that ends a JSON stream."""
    events: list[dict[str, Any]] = [json.loads(line) for line in result.stdout.splitlines()]
    assert result.returncode == 1
    assert [event["type"] for event in events].count("error") == 1 and events[-1]["type"] == "error"
    assert all(event["type"] != "done" for event in events)
    message: str = events[-1]["message"]
    return message


@pytest.mark.parametrize("command", ["show", "chat", "history", "clear", "log", "undo", "edit", "rm"])
def test_an_unknown_persona_is_named_with_its_nearest(place: Workplace, command: str) -> None:
    place.run_here("list")
    extra = {"chat": ["hello"], "rm": ["--yes"]}.get(command, [])
    line = only_line(place.run_here(command, "optimits", *extra))
    assert "optimits" in line and "optimist" in line


def test_chat_about_an_unknown_persona_ends_its_stream_with_one_error(place: Workplace) -> None:
    assert "nobody" in json_error(place.run_here("chat", "nobody", "hello", "--json"))


def test_a_broken_file_is_refused_with_line_and_column(place: Workplace) -> None:
    place.run_here("list")
    path = place.home / "personas" / "optimist.toml"
    broken = b'name = "Optimist"\nsystem_prompt = "no end\n'
    path.write_bytes(broken)
    message = json_error(place.run_here("chat", "optimist", "Change the name to X", "--json"))
    assert "line 2" in message and "column" in message
    assert "line 2" in only_line(place.run_here("chat", "optimist", "Change the name to X"))
    assert path.read_bytes() == broken
    shown = json.loads(place.run_here("show", "optimist", "--json").stdout)
    assert shown["error"]["line"] == 2


def test_no_key_says_what_to_set(place: Workplace) -> None:
    env = {"PERSONA_MODEL": "claude-sonnet-5-5"}
    message = json_error(place.run_here("chat", "optimist", "hello", "--json", env=env))
    assert "ANTHROPIC_API_KEY" in message and "offline" in message


def test_a_wrong_key_says_where_it_came_from_and_never_what_it_is(
    place: Workplace, server: MessagesServer
) -> None:
    env = connected(place, server, ANTHROPIC_API_KEY="sk-ant-wrong-secret-0001")
    result = place.run_here("--debug", "chat", "optimist", "hello", "--json", env=env)
    assert "ANTHROPIC_API_KEY" in json_error(result)
    stored = b"".join(path.read_bytes() for path in place.home.rglob("*") if path.is_file())
    for place_of_leak in (result.stdout, result.stderr, stored):
        assert b"wrong-secret" not in place_of_leak


@pytest.mark.parametrize("key", ["sk-ant-line\nbreak-0002", "sk-ant-ünï-0002", "   "])
def test_a_key_that_cannot_be_sent_is_refused_before_it_is(
    place: Workplace, server: MessagesServer, key: str
) -> None:
    env = connected(place, server, ANTHROPIC_API_KEY=key)
    result = place.run_here("chat", "optimist", "hello", "--json", env=env)
    message = json_error(result)
    assert "ANTHROPIC_API_KEY" in message and "0002" not in message
    assert server.bodies == []


def test_an_unknown_model_is_named_with_the_endpoint_and_near_matches(
    place: Workplace, server: MessagesServer
) -> None:
    env = connected(place, server)
    message = json_error(
        place.run_here("chat", "optimist", "hello", "--json", "--model", "claude-sonet-5-5", env=env)
    )
    assert "claude-sonet-5-5" in message and "claude-sonnet-5-5" in message and server.url in message


def test_an_unreachable_server_is_said_in_one_line_and_the_message_is_kept(place: Workplace) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]  # bound and not listening: connections are refused
        env = {
            "PERSONA_MODEL": "claude-sonnet-5-5",
            "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{port}/v1",
            "ANTHROPIC_API_KEY": "k",
        }
        (place.home.parent / "config.toml").write_text("retries = 0\n", encoding="utf-8")
        message = json_error(place.run_here("chat", "optimist", "remember me", "--json", env=env))
    assert f"127.0.0.1:{port}" in message
    turns = json.loads(place.run_here("history", "optimist", "--json").stdout)["turns"]
    assert [turn["content"] for turn in turns if turn["type"] == "user"] == ["remember me"]


def test_a_full_disk_leaves_the_old_file_whole(place: Workplace, small_disk: Path) -> None:
    place.home = small_disk / "home"
    assert place.run_here("list").returncode == 0
    path = place.home / "personas" / "optimist.toml"
    before = path.read_bytes()
    with open(small_disk / "ballast", "wb", buffering=0) as ballast, contextlib.suppress(OSError):
        while True:
            ballast.write(b"x" * 512)
    for arguments in (
        ["chat", "optimist", "Change the name to Sunny"],
        ["new", "Another"],
        ["edit", "optimist"],
        ["rm", "optimist", "--yes"],
    ):
        line = only_line(place.run_here(*arguments, env={"EDITOR": "sed -i s/Optimist/Sunny/"}))
        assert "disk is full" in line or "No space left" in line
    assert path.read_bytes() == before
    (small_disk / "ballast").unlink()
    assert place.run_here("chat", "optimist", "Change the name to Sunny").returncode == 0
    assert b"Sunny" in path.read_bytes()


def test_a_read_only_home_can_be_read_and_refuses_changes_in_one_line(
    place: Workplace, small_disk: Path
) -> None:
    place.home = small_disk / "home"
    assert place.run_here("list").returncode == 0
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    assert json.loads(place.run_here("list", "--json").stdout)
    assert place.run_here("show", "optimist").returncode == 0
    for arguments in (["chat", "optimist", "Change the name to X"], ["new", "Y"], ["clear", "optimist"]):
        assert "read-only" in only_line(place.run_here(*arguments))


def test_two_processes_writing_one_persona_lose_nothing(place: Workplace) -> None:
    place.run_here("list")
    pipes = dict.fromkeys(("stdout", "stderr"), subprocess.PIPE)
    running = [
        place.start("chat", "optimist", f"Add a test input: 'number {number}'", "--new", **pipes)
        for number in range(4)
    ]
    codes = [(process.communicate(timeout=60), process.returncode) for process in running]
    stored = [test_input.content for test_input in place.store.get("optimist").test_inputs]
    for number, ((_out, err), code) in enumerate(codes):
        done = code == 0
        assert done == (f"number {number}" in stored), (number, code, err)
        assert done or b"busy" in err or b"changed" in err
    assert any(code == 0 for _output, code in codes)


def test_a_second_chat_on_a_session_is_told_who_is_busy(place: Workplace) -> None:
    place.run_here("chat", "optimist", "Hello, who are you?")
    session = place.store.session_of("optimist")
    with hold(place.store.home.locks / f"session-{session}.lock"):
        message = json_error(place.run_here("chat", "optimist", "and now?", "--json"))
    assert f"busy (pid {os.getpid()})" in message


@contextlib.contextmanager
def answering(status: int, content_type: str, body: bytes) -> Iterator[str]:
    """Run a server that answers everything in one way; yield its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.send_header("content-type", content_type)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_arguments: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


def started(place: Workplace, server: MessagesServer, *arguments: str) -> subprocess.Popen[bytes]:
    return place.start(
        *("chat", "optimist", *arguments),
        env=connected(place, server),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,  # `communicate` does not see what a buffered `readline` has read ahead
    )


def test_a_signal_saves_the_partial_answer_and_ends_the_stream(place: Workplace) -> None:
    place.run_here("list")
    with MessagesServer([say("half an answer, and more to come", stall_after_events=5)]) as server:
        process = started(place, server, "tell me", "--json")
        assert process.stdout is not None
        told_so_far = [json.loads(process.stdout.readline())]
        while told_so_far[-1]["type"] == "notice":  # that it still waits for the model, on a busy machine
            told_so_far.append(json.loads(process.stdout.readline()))
        assert told_so_far[-1]["type"] == "text_delta"
        process.send_signal(signal.SIGINT)
        out, _err = process.communicate(timeout=60)
    events = [json.loads(line) for line in out.splitlines()]
    assert process.returncode == 130
    assert events[-1] == {"type": "done", "stop_reason": "cancelled", "usage": events[-1]["usage"]}
    turns = json.loads(place.run_here("history", "optimist", "--json").stdout)["turns"]
    (said,) = [turn for turn in turns if turn["type"] == "assistant_text"]
    told = "".join(event["content"] for event in [*told_so_far, *events] if event["type"] == "text_delta")
    assert told and said["content"] == told and said["interrupted"] is True


def test_a_reader_that_goes_away_ends_it_quietly_with_everything_saved(place: Workplace) -> None:
    place.run_here("list")
    long = "word " * 20_000
    with MessagesServer([say(long)]) as server:
        process = started(place, server, "tell me", "--json")
        assert process.stdout is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr is not None
        err = process.stderr.read()
        assert process.wait(timeout=60) == 141
    assert err == b""
    turns = json.loads(place.run_here("history", "optimist", "--json").stdout)["turns"]
    assert turns[0]["type"] == "user"


def test_settings_that_cannot_be_used_name_the_line(place: Workplace) -> None:
    config = place.home.parent / "config.toml"
    config.write_text('theme = "x"\nsent_turns = "many"\n', encoding="utf-8")
    assert "config.toml:2: sent_turns" in only_line(place.run_here("chat", "optimist", "hello"))
    config.write_text('colour = "blue"\n', encoding="utf-8")
    result = place.run_here("chat", "optimist", "hello")
    assert result.returncode == 0 and b"unknown setting 'colour'" in result.stderr


def test_key_commands_and_variables_of_the_settings_are_used(
    place: Workplace, server: MessagesServer
) -> None:
    config = place.home.parent / "config.toml"
    env = {"PERSONA_MODEL": ""}
    config.write_text(
        f'base_url = "{server.url}/v1"\napi_key_command = "echo {server.key}"\n', encoding="utf-8"
    )
    assert place.run_here("chat", "optimist", "hello", env=env).returncode == 0
    config.write_text(f'base_url = "{server.url}"\napi_key_env = "MY_KEY"\n', encoding="utf-8")
    assert place.run_here("chat", "optimist", "hello", env=env | {"MY_KEY": server.key}).returncode == 0
    config.write_text(f'base_url = "{server.url}"\napi_key_command = "exit 3"\n', encoding="utf-8")
    assert "api_key_command" in only_line(place.run_here("chat", "optimist", "hello", env=env))


def test_a_home_cannot_choose_a_server_or_a_key(place: Workplace, server: MessagesServer) -> None:
    place.run_here("list")
    path = place.home / "personas" / "optimist.toml"
    path.write_text(
        f'name = "Optimist"\n[model]\nname = "claude-opus-5-5"\nbase_url = "{server.url}"\n', encoding="utf-8"
    )
    (place.home / "config.toml").write_text(f'base_url = "{server.url}"\n', encoding="utf-8")
    assert place.run_here("chat", "optimist", "Hello, who are you?").returncode == 0
    assert server.requests == []


def with_streams(place: Workplace, *arguments: str, **streams: Any) -> subprocess.CompletedProcess[bytes]:
    """Run `persona` with these streams, nothing on stdin and pipes otherwise; all are closed then."""
    usual: dict[str, Any] = {
        "stdin": subprocess.DEVNULL,
        "stdout": subprocess.PIPE,
        "stderr": subprocess.PIPE,
    }
    with place.start(*arguments, **usual | streams) as process:
        for stream in streams.values():
            if hasattr(stream, "close"):
                stream.close()
        out, err = process.communicate(timeout=60)
    return subprocess.CompletedProcess(arguments, process.returncode, out or b"", err or b"")


def unread() -> Any:
    """A pipe whose reader went away."""
    reading, writing = os.pipe()
    os.close(reading)
    return open(writing, "wb")


def shell(
    place: Workplace, line: str, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run `persona` inside a line of shell, `P` standing for it."""
    command = line.replace("P ", f"'{sys.executable}' -m tui ", 1)
    return subprocess.run(
        ["bash", "-c", command], capture_output=True, env=place.environment(env), timeout=60, check=False
    )


@pytest.mark.parametrize("command", ["show optimist", "chat optimist hi --json", "--help"])
def test_a_stdout_that_was_closed_before_is_a_reader_that_went_away(place: Workplace, command: str) -> None:
    place.run_here("list")
    done = shell(place, f"P {command} >&-")
    assert done.returncode == 141 and done.stderr == b""


def test_a_reader_that_went_away_has_an_exit_code_of_its_own_however_much_is_printed(
    place: Workplace,
) -> None:
    place.run("new", "Long", "--prompt", "-", stdin="word\n" * 100_000)
    for command in (["show", "long"], ["--help"]):
        done = with_streams(place, *command, stdout=unread())
        assert done.returncode == 141 and done.stderr == b""


def test_a_stderr_that_nobody_reads_changes_neither_the_end_nor_the_file(place: Workplace) -> None:
    (place.home.parent / "config.toml").write_text('approval = "ask-all"\n', encoding="utf-8")
    asked = with_streams(place, "chat", "optimist", "rename it to Sun", stderr=unread())
    assert asked.returncode == 3 and b"Allow update_persona_name" in asked.stdout
    assert with_streams(place, "reply", "optimist", "once", stderr=unread()).returncode == 0
    assert b"Sun" in place.run_here("show", "optimist").stdout


@pytest.mark.parametrize("command", ["show optimist", "--help", "chat optimist hi --json"])
def test_a_stdout_on_a_full_disk_fails_in_one_line(place: Workplace, command: str) -> None:
    place.run_here("list")
    done = with_streams(place, *command.split(), stdout=open("/dev/full", "wb"))  # noqa: SIM115
    assert "No space left" in only_line(done)


def test_an_answer_that_cannot_be_written_is_a_failure_that_says_what_was_done_is_saved(
    place: Workplace,
) -> None:
    full = open("/dev/full", "wb")  # noqa: SIM115
    done = with_streams(place, "chat", "optimist", "Change the name to Sunny", stdout=full)
    assert "what was done is saved" in only_line(done)
    assert place.store.get("optimist").name == "Sunny"


def test_closed_stdin_and_stderr_are_no_accident(place: Workplace) -> None:
    place.run_here("list")
    assert "empty" in only_line(shell(place, "P chat optimist - <&-"))
    done = shell(place, "P chat optimist 'Change the name to Sunny' 2>&-")
    assert done.returncode == 0 and b"Sunny" in done.stdout


def test_a_message_that_is_not_utf_8_is_refused_and_one_that_is_survives_any_locale(place: Workplace) -> None:
    place.run_here("list")
    assert "UTF-8" in only_line(place.run("chat", "optimist", 'rename it to "caf\udce9"'))
    assert place.store.get("optimist").name == "Optimist"
    env = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    assert shell(place, "P chat optimist 'rename it to \"Ünï 日本\"'", env).returncode == 0
    assert place.store.get("optimist").name == "Ünï 日本"


def test_a_message_of_absurd_size_is_refused_before_anything_happens(place: Workplace) -> None:
    place.run_here("list")
    assert "characters" in only_line(place.run("chat", "optimist", "-", stdin="a\n" * 2_500_000))
    assert place.store.session_of("optimist") is None


def test_secrets_in_a_url_are_refused_and_never_shown(place: Workplace) -> None:
    env = {
        "PERSONA_MODEL": "",
        "ANTHROPIC_API_KEY": "k",
        "ANTHROPIC_BASE_URL": "http://someone:hunter2secret@127.0.0.1:1/?key=alsosecret",
    }
    for arguments in (
        ["doctor"],
        ["doctor", "--online"],
        ["chat", "optimist", "hi"],
        ["--debug", "doctor", "--json"],
    ):
        done = place.run_here(*arguments, env=env)
        assert done.returncode == 1
        assert b"hunter2" not in done.stdout + done.stderr and b"alsosecret" not in done.stdout + done.stderr


PRESSED = """
import signal, sys
from importlib.abc import MetaPathFinder

class Press(MetaPathFinder):
    def find_spec(self, name, *_):
        if name == moment:
            sys.meta_path.remove(self)
            signal.raise_signal(number)

moment, number = sys.argv.pop(1), int(sys.argv.pop(1))
sys.meta_path.insert(0, Press())
from tui.cli import main
main()
"""
"""`persona`, sent a signal when it begins to load the module that its first argument names."""


@pytest.mark.parametrize(
    ("moment", "number"),
    [
        ("tui.cli.error_handling", signal.SIGINT),
        ("click", signal.SIGINT),
        ("tui.cli.agent.chat_runner", signal.SIGHUP),
        ("personas.store", signal.SIGTERM),
        ("agent.models.offline.model", signal.SIGTERM),
    ],
)
def test_a_signal_while_it_starts_still_ends_a_json_stream(
    place: Workplace, moment: str, number: signal.Signals
) -> None:
    place.run_here("list")
    done = subprocess.run(
        [sys.executable, "-c", PRESSED, moment, str(int(number)), "chat", "optimist", "hi", "--json"],
        capture_output=True,
        env=place.environment(),
        check=False,
    )
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert (done.returncode, done.stderr.strip()) == (128 + number, b"")
    assert lines == [{"type": "done", "stop_reason": "cancelled", "usage": Usage().to_record()}]


def test_a_stream_that_has_ended_gets_no_second_end(capsys: pytest.CaptureFixture[str]) -> None:
    def action(printer: Printer) -> int:
        printer.finish(AgentEnd(run_id="", seq=0, at=0.0, turns=(), outcome="completed"))
        raise KeyboardInterrupt  # pressed when the loop is closed

    assert run_printed(True, action) == 130
    (line,) = capsys.readouterr().out.splitlines()
    assert json.loads(line)["stop_reason"] == "end_turn"


def test_a_stdin_without_end_is_refused(place: Workplace) -> None:
    place.run_here("list")
    bounded = partial(resource.setrlimit, resource.RLIMIT_AS, (1_000_000_000, 1_000_000_000))
    for command in (["new", "X", "--prompt", "-"], ["chat", "optimist", "-", "--json"]):
        done = with_streams(place, *command, stdin=open("/dev/zero", "rb"), preexec_fn=bounded)  # noqa: SIM115
        assert done.returncode == 1 and b"stdin has more than 16 MB" in done.stdout + done.stderr


def test_doctor_says_no_more_of_the_server_than_it_said(place: Workplace) -> None:
    with answering(403, "text/html", b"<!DOCTYPE html><html>Blocked</html>") as url:
        env = {"PERSONA_MODEL": "mm", "ANTHROPIC_API_KEY": "k" * 10, "ANTHROPIC_BASE_URL": url}
        said = place.run_here("doctor", "--online", env=env).stdout
    assert b"web page (403)" in said and b"wants a key" not in said


def test_doctor_says_that_a_server_lists_no_models(place: Workplace) -> None:
    with answering(200, "application/json", b'{"data": []}') as url:
        env = {"PERSONA_MODEL": "mm", "ANTHROPIC_API_KEY": "k" * 10, "ANTHROPIC_BASE_URL": url}
        said = place.run_here("doctor", "--online", env=env).stdout
    assert b"answers, but does not list mm; it lists no models" in said


def test_ctrl_c_while_a_class_is_made_ends_as_anywhere_else(
    place: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Pressed:
        def __set_name__(self, owner: type, name: str) -> None:
            raise KeyboardInterrupt

    def make_class(*_arguments: object, **_options: object) -> None:
        type("Made", (), {"attribute": Pressed()})  # Python 3.11 makes a RuntimeError of it

    for what in (
        "personas.files.home.open_home",
        "tui.cli.agent.chat_runner.converse",
        "tui.cli.error_handling.run",
    ):
        monkeypatch.setattr(what, make_class)
        if what.endswith("run"):
            with pytest.raises(SystemExit) as left:
                main()
            assert left.value.code == 130
            continue
        done = place.run_here(*(["list"] if what.endswith("home") else ["chat", "optimist", "hi", "--json"]))
        assert (done.returncode, done.stderr) == (130, b"")
        told = [json.loads(line) for line in done.stdout.splitlines()]
        assert [line["stop_reason"] for line in told] == (["cancelled"] if "chat" in done.args else [])


def test_a_fault_of_our_own_is_no_ctrl_c(place: Workplace, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_arguments: object) -> None:
        raise RuntimeError("broken") from ValueError("within")

    monkeypatch.setattr("personas.files.home.open_home", fails)
    for command, code in ((("list",), 1), (("test", "optimist"), 4), (("compare", "optimist"), 4)):
        assert "unexpected RuntimeError: broken" in only_line(place.run_here(*command), code)
    monkeypatch.setattr("tui.cli.error_handling.run", fails)
    with pytest.raises(RuntimeError, match="broken"):
        main()


def test_a_damaged_session_is_told_in_a_few_lines(place: Workplace) -> None:
    place.run_here("chat", "optimist", "hi")
    session = place.store.home.sessions / f"{place.store.session_of('optimist')}.jsonl"
    with open(session, "ab") as file:
        file.write(b"\xff\n{broken\n" * 200)
    for arguments in (["history", "optimist"], ["chat", "optimist", "hi"], ["doctor"]):
        done = place.run_here(*arguments)
        assert done.returncode == 0
        assert len(done.stderr.splitlines()) + done.stdout.decode().count("could not be read") < 8


def test_a_large_prompt_is_read_whole_and_edited(place: Workplace) -> None:
    place.run_here("list")
    path = place.home / "personas" / "large.toml"
    path.write_text(
        'name = "L"\nsystem_prompt = """\n' + "some words here\n" * 20_000 + '"""\n', encoding="utf-8"
    )
    done = place.run_here("chat", "large", 'add "The end." to the system prompt')
    assert done.returncode == 0, done.stderr
    prompt = place.store.get("large").system_prompt
    assert prompt.count("some words here") == 20_000 and prompt.rstrip().endswith("The end.")
