"""Nothing a model, a file or a tool says reaches the terminal raw, whichever command shows it."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import tomli_w

from tests.support import forked
from tests.support.hostile import ESCAPES, MARKUP, forbidden_in
from tests.support.messages_server import MessagesServer, call, say
from tests.support.persona_agent import Workplace

ALL = " | ".join(ESCAPES.values()) + " | " + " ".join(MARKUP)


EACH = """
import json, sys
from tui.cli import error_handling
for arguments in json.loads(sys.argv[1]):
    print("NEXT", flush=True)
    try:
        error_handling.run(arguments)
    except SystemExit:
        pass
"""
"""Commands one after the other in one process."""


def run_in_a_terminal(command: list[str], env: dict[str, str]) -> bytes:
    """Run a command with a pseudo-terminal as its stdout and stderr; return every byte it sent."""
    primary, secondary = pty.openpty()
    process = forked.Popen(command, stdin=subprocess.DEVNULL, stdout=secondary, stderr=secondary, env=env)
    os.close(secondary)
    sent = bytearray()
    while True:
        try:
            block = os.read(primary, 65536)
        except OSError:  # the last process with the terminal has gone
            break
        if not block:
            break
        sent += block
    os.close(primary)
    process.wait(timeout=60)
    return bytes(sent)


def shown(sent: bytes) -> str:
    """What was sent, as text; the terminal driver's own CR before LF is not the program's."""
    return sent.decode("utf-8").replace("\r\n", "\n")


def test_a_models_words_are_harmless_on_a_terminal_and_kept_raw_on_disk(place: Workplace) -> None:
    place.run_here("list")
    # Single characters per delta: every sequence is split at every point.
    script = [
        call("update_persona_name", {"name": "Safe"}, text=ALL, delta=1),
        call("no_such_tool", {"x": ALL}, delta=1),
        say(f"# Heading {ALL}\n\n```\n{ALL}\n```\n", delta=1),
    ]
    with MessagesServer(script) as server:
        env = place.environment(
            {"PERSONA_MODEL": "", "ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": server.key}
        )
        sent = run_in_a_terminal([sys.executable, "-m", "tui", "chat", "optimist", "hello"], env)
    text = shown(sent)
    assert "Heading" in text and "[@click=app.quit]x[/]" in text
    assert forbidden_in(text) == []

    history = place.run_here("history", "optimist", "--json")
    raw = [turn for turn in json.loads(history.stdout)["turns"] if turn["type"] == "assistant_text"]
    assert raw[0]["content"] == ALL
    assert history.stdout.isascii()
    assert forbidden_in(history.stdout.decode()) == []
    assert (
        forbidden_in(shown(run_in_a_terminal([sys.executable, "-m", "tui", "history", "optimist"], env)))
        == []
    )


def test_json_lines_escape_everything(place: Workplace) -> None:
    place.run_here("list")
    with MessagesServer([say(ALL, delta=1)]) as server:
        env = {"PERSONA_MODEL": "", "ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": server.key}
        done = place.run_here("chat", "optimist", "hello", "--json", env=env)
    assert done.stdout.isascii() and forbidden_in(done.stdout.decode()) == []
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert "".join(event["content"] for event in events if event["type"] == "text_delta") == ALL


def test_a_servers_error_text_is_harmless(place: Workplace) -> None:
    from tests.support.messages_server import Page, Refusal

    place.run_here("list")
    with MessagesServer([Refusal(400, message=ALL), Page(("<html>" + ALL).encode())]) as server:
        env = {"PERSONA_MODEL": "", "ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": server.key}
        for _ in range(2):
            done = place.run_here("chat", "optimist", "hello", env=env)
            assert done.returncode == 1
            assert forbidden_in((done.stdout + done.stderr).decode()) == []


def hostile_persona() -> bytes:
    """A persona all of whose texts are hostile, as a stranger would write it."""
    fields = {
        "name": ALL.replace("\n", " "),
        "description": ALL,
        "tags": [ALL],
        "summary": ALL,
        "system_prompt": ALL,
        "test_inputs": [{"id": "i" + ESCAPES["clear screen"], "content": ALL}],
    }
    return tomli_w.dumps(fields).encode()


def test_a_strangers_persona_is_harmless_in_every_command(place: Workplace) -> None:
    place.run_here("list")
    path = place.home / "personas" / "stranger.toml"
    path.write_bytes(hostile_persona())
    commands = [
        ["list"],
        ["show", "stranger"],
        ["chat", "stranger", "show the prompt"],
        ["chat", "stranger", "what test inputs do I have?"],
        ["chat", "stranger", "rename it to Plain"],
        ["history", "stranger"],
        ["log", "stranger"],
        ["diff", "stranger"],
        ["undo", "stranger"],
        ["edit", "stranger"],
        ["doctor"],
        ["rm", "stranger", "--yes"],
    ]
    command = [sys.executable, "-c", EACH, json.dumps(commands)]
    sent = shown(run_in_a_terminal(command, place.environment({"EDITOR": "true"})))
    texts = sent.split("NEXT\n")[1:]
    assert len(texts) == len(commands)
    for arguments, text in zip(commands, texts, strict=True):
        assert text, arguments
        assert forbidden_in(text) == [], (arguments, text)


def test_hostile_file_names_and_arguments_are_harmless(place: Workplace, tmp_path: Path) -> None:
    place.run_here("list")
    (place.home / "personas" / "a\x1b[2Jb.toml").write_text("name = [\n", encoding="utf-8")
    for arguments in (["list"], ["doctor"], ["show", "\x1b]0;owned\x07"], ["show", "a\x1b[2Jb"], ["\x1b[2J"]):
        done = place.run_here(*arguments)
        assert forbidden_in((done.stdout + done.stderr).decode()) == [], arguments
