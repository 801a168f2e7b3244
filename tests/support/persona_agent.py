"""The three utilities of end-to-end tests: create a persona, send the agent a message, check the turns.

Messages go the whole way through `persona chat --json`, in a process of its own, so that what is tested is
what a script gets; or, where a process would spend its time on loading everything again, in this one.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

from personas.changes import AddTestInput
from personas.files.home import open_home
from personas.persona import Persona
from personas.store import Store
from personas.versions.authorship import USER
from tests.support import forked
from tests.support.messages_server import MessagesServer


@dataclass
class Backend:
    """Which model answers, the environment that leads to it, and whether messages are sent from this process."""

    name: str
    env: Mapping[str, str]
    here: bool = False


@dataclass
class Reply:
    """What one message led to."""

    code: int
    events: list[dict[str, Any]]
    turns: list[dict[str, Any]]
    stderr: str = ""
    types: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.types = [event["type"] for event in self.events]

    @property
    def text(self) -> str:
        """Everything the assistant said."""
        return "\n".join(event["content"] for event in self.events if event["type"] == "text_complete")

    def calls(self, name: str | None = None) -> list[dict[str, Any]]:
        """The tool calls, all or those of one tool."""
        return [
            event
            for event in self.events
            if event["type"] == "tool_call" and name in (None, event["tool_name"])
        ]

    def called(self) -> list[str]:
        """The names of the tools called, in order."""
        return [event["tool_name"] for event in self.calls()]


@dataclass
class Workplace:
    """A home for one test, and the model that answers in it."""

    home: Path
    backend: Backend

    @property
    def store(self) -> Store:
        return Store(open_home(self.home))

    def environment(self, extra: Mapping[str, str] | None = None) -> dict[str, str]:
        """The environment of a command: no settings and no keys but the backend's."""
        kept = ("PATH", "HOME", "TMPDIR", "SYSTEMROOT")
        env = {name: os.environ[name] for name in kept if name in os.environ} | forked.ENVIRONMENT
        env |= {
            "PERSONA_HOME": str(self.home),
            "PERSONA_CONFIG": str(self.home.parent / "config.toml"),
        }
        return env | dict(self.backend.env) | dict(extra or {})

    def run(
        self,
        *arguments: str,
        stdin: str | bytes = b"",
        env: Mapping[str, str] | None = None,
        timeout: float = 120,
    ) -> subprocess.CompletedProcess[bytes]:
        """Run `persona` with these arguments to its end."""
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        with self.start(*arguments, env=env, **pipes) as process:
            try:
                written = process.communicate(stdin.encode() if isinstance(stdin, str) else stdin, timeout)
            except BaseException:
                process.kill()
                raise
        return subprocess.CompletedProcess(arguments, process.returncode, *written)

    def start(self, *arguments: str, env: Mapping[str, str] | None = None, **options: Any) -> forked.Popen:
        """Start `persona` with these arguments; the options are those of `subprocess.Popen`."""
        command = [sys.executable, "-m", "tui", *arguments]
        return forked.Popen(command, **{"env": self.environment(env), "cwd": self.home.parent} | options)

    def run_here(
        self, *arguments: str, env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[bytes]:
        """Run `persona` with these arguments in this process, which has loaded everything already.

        For what a test prepares or looks at, and where it is not about a process (`run`): its stdin, its signals,
        what it loads and how it ends.
        """
        from tui.cli import error_handling

        out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
        code: object = None
        with (
            mock.patch.dict(os.environ, self.environment(env), clear=True),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            try:
                error_handling.run(arguments)
            except SystemExit as left:
                code = left.code
        written = [stream.buffer.getvalue() for stream in (out, err)]  # type: ignore[attr-defined]
        return subprocess.CompletedProcess(arguments, int(str(code or 0)), *written)


def served(home: Path, server: MessagesServer, *, here: bool = False, **files: str) -> Workplace:
    """Return a home with these persona files (id to text), in which the server is the model."""
    env = {"ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": server.key}
    place = Workplace(home, Backend("loopback", env, here))
    for name, text in files.items():
        (place.store.home.personas / f"{name}.toml").write_text(text)
    return place


def create_test_persona(
    place: Workplace,
    *,
    name: str = "Test Persona",
    system_prompt: str = "You are helpful.\n",
    inputs: Sequence[str] = (),
) -> Persona:
    """Create a persona with these test inputs and return it."""
    store = place.store
    persona = store.create(name, system_prompt=system_prompt)
    for content in inputs:
        persona = store.change(persona.id, AddTestInput(content), revision=None, by=USER)
    return persona


def send_agent_message(place: Workplace, persona_id: str, message: str, *options: str) -> Reply:
    """Send a message with `persona chat --json`; return all its events and the session's turns afterwards."""
    run = place.run_here if place.backend.here else place.run
    done = run("chat", persona_id, message, "--json", *options)
    events = [json.loads(line) for line in done.stdout.decode("ascii").splitlines()]
    history = place.run_here("history", persona_id, "--json")
    turns = json.loads(history.stdout)["turns"] if history.returncode == 0 else []
    return Reply(done.returncode, events, turns, done.stderr.decode())


def expect_turn_sequence(turns: Sequence[Mapping[str, Any]], expected: Sequence[str]) -> None:
    """Check that the turns have exactly these types, in order; neighbours of one kind of text count once."""
    kinds: list[str] = []
    for turn in turns:
        if turn["type"] in ("thinking", "notice"):
            continue
        if turn["type"] == "assistant_text" and kinds and kinds[-1] == "assistant_text":
            continue
        kinds.append(turn["type"])
    assert kinds == list(expected), f"expected {list(expected)}, got {kinds}"
