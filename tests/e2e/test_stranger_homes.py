"""A home from a stranger's repository: nothing is followed out of it, nothing crashes, memory stays bounded."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from tests.support import forked
from tests.support.persona_agent import Workplace

MEMORY = 600 * 1024 * 1024


CHAT_WITH_EACH = """
import os, sys
from tui.cli.error_handling import run
for persona_id in sys.argv[1:]:
    if not os.fork():
        run(["chat", persona_id, "Change the name to X"])
        sys.exit()
    print(f"\\n{persona_id} ended", os.waitstatus_to_exitcode(os.wait()[1]), flush=True)
"""
"""`persona chat` with each persona, in a process of its own that has loaded the program already."""


def run_bounded(
    place: Workplace, *arguments: str, program: tuple[str, str] = ("-m", "tui"), timeout: float = 60
) -> subprocess.CompletedProcess[bytes]:
    """Run a command with little memory and little time."""
    with forked.Popen(
        [sys.executable, *program, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=place.environment(),
        preexec_fn=partial(resource.setrlimit, resource.RLIMIT_AS, (MEMORY, MEMORY)),
    ) as process:
        written = process.communicate(timeout=timeout)
    return subprocess.CompletedProcess(arguments, process.returncode, *written)


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """A file outside the home that no command may read or write."""
    path = tmp_path / "outside" / "secret.toml"
    path.parent.mkdir()
    path.write_text('name = "Secret"\nsystem_prompt = "the secret prompt"\n', encoding="utf-8")
    return path


def nothing_leaks(done: subprocess.CompletedProcess[bytes]) -> None:
    assert b"secret prompt" not in done.stdout + done.stderr
    assert b"Traceback" not in done.stderr
    assert b"unexpected" not in done.stderr, done.stderr


def test_a_persona_that_is_a_symlink_out_of_the_home_is_shown_broken_and_not_followed(
    place: Workplace, secret: Path
) -> None:
    place.run_here("list")
    (place.home / "personas" / "linked.toml").symlink_to(secret)
    before = secret.read_bytes()
    listed = run_bounded(place, "list", "--json")
    nothing_leaks(listed)
    (entry,) = [persona for persona in json.loads(listed.stdout) if persona["id"] == "linked"]
    assert entry["error"] is not None and entry["name"] == "linked"
    for arguments in (
        ["show", "linked"],
        ["chat", "linked", "Change the name to X"],
        ["rm", "linked", "--yes"],
    ):
        nothing_leaks(run_bounded(place, *arguments))
    assert secret.read_bytes() == before


@pytest.mark.parametrize("folder", ["personas", "agent-sessions", "versions", "state"])
def test_a_folder_that_leads_out_of_the_home_is_refused(
    place: Workplace, tmp_path: Path, folder: str
) -> None:
    place.run_here("list")
    outside = tmp_path / "elsewhere"
    (place.home / folder).rename(outside)
    (place.home / folder).symlink_to(outside)
    before = {path: path.read_bytes() for path in outside.rglob("*") if path.is_file()}
    for arguments in (
        ["chat", "optimist", "Change the name to X"],
        ["clear", "optimist"],
        ["undo", "optimist"],
    ):
        done = place.run_here(*arguments)
        assert done.returncode == 1
        nothing_leaks(done)
        assert len(done.stderr.splitlines()) == 1
    assert {path: path.read_bytes() for path in outside.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("persona_id", ["../outside/secret", "/etc/passwd", "..", "a/b", ".", "a\\..\\x"])
def test_an_id_is_never_a_path(place: Workplace, secret: Path, persona_id: str) -> None:
    place.run_here("list")
    for arguments in (["show", persona_id], ["chat", persona_id, "hello"], ["rm", persona_id, "--yes"]):
        done = place.run_here(*arguments)
        assert done.returncode in (1, 2)
        nothing_leaks(done)
    assert secret.exists()


def test_pipes_devices_and_folders_in_place_of_files_never_hang(place: Workplace) -> None:
    place.run_here("list")
    personas = place.home / "personas"
    os.mkfifo(personas / "pipe.toml")
    (personas / "folder.toml").mkdir()
    (personas / "zero.toml").symlink_to("/dev/zero")
    listed = run_bounded(place, "list", "--json")
    errors = {persona["id"]: persona["error"] for persona in json.loads(listed.stdout)}
    assert errors["optimist"] is None
    assert all(errors.get(name, "absent") is not None for name in ("pipe", "zero"))
    for name in ("pipe", "zero", "folder"):
        nothing_leaks(run_bounded(place, "chat", name, "hello"))


BOMBS = {
    "huge": b'name = "x"\nsystem_prompt = """\n' + b"a" * (16 * 1024 * 1024 + 1) + b'\n"""\n',
    "nested-arrays": b"name = " + b"[" * 200_000 + b"]" * 200_000 + b"\n",
    "nested-tables": b"name = " + b"{a=" * 5_000 + b"1" + b"}" * 5_000 + b"\n",
    "dotted-key": b".".join([b"a"] * 12_000) + b" = 1\n",
    "dotted-header": b"[" + b".".join([b"a"] * 12_000) + b"]\nx = 1\n",
    "quoted-dotted-key": b".".join([b'"a"'] * 6_000) + b" = 1\n",
    "long-line": b"# " + b"x" * 3_000_000 + b"\n" + b'name = "x"\n',
    "binary": bytes(range(256)) * 1000,
    "nuls": b"\0" * 100_000,
    "wide-int": b"name = " + b"9" * 100_000 + b"\n",
    "many-keys": b"".join(b"k%d = 1\n" % number for number in range(8_000)),
}


def test_files_made_to_hurt_are_listed_and_refused_in_bounded_time_and_memory(place: Workplace) -> None:
    place.run_here("list")
    for kind, content in BOMBS.items():
        (place.home / "personas" / f"{kind}.toml").write_bytes(content)
    listed = run_bounded(place, "list", "--json")
    assert listed.returncode == 0, listed.stderr
    errors = {persona["id"]: persona["error"] for persona in json.loads(listed.stdout)}
    assert errors["optimist"] is None and BOMBS.keys() <= errors.keys()
    chat = run_bounded(place, *BOMBS, program=("-c", CHAT_WITH_EACH), timeout=240)
    assert chat.returncode == 0
    nothing_leaks(chat)
    for kind, content in BOMBS.items():
        assert f"{kind} ended ".encode() in chat.stdout
        if errors[kind] is not None:
            assert f"{kind} ended 1\n".encode() in chat.stdout
            assert (place.home / "personas" / f"{kind}.toml").read_bytes() == content


def test_forged_sessions_are_read_as_hostile_data(place: Workplace, tmp_path: Path) -> None:
    place.run_here("chat", "optimist", "Hello, who are you?")
    session = place.store.session_of("optimist")
    path = place.home / "agent-sessions" / f"{session}.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    deep = b'{"type":"user","id":"x","created_at":"","content":' + b"[" * 100_000 + b"]" * 100_000 + b"}\n"
    forged = [
        b'{"type":"tool_result","id":"o","created_at":"","tool_use_id":"nobody","output":"orphan"}\n',
        b'{"type":"tool_call","id":"u","created_at":"","tool_use_id":"dangling","tool_name":"get_persona","input":{}}\n',
        b'{"type":"assistant_text","id":7,"created_at":[],"content":{"a":1}}\n',
        b'{"type":"user","id":"big","created_at":"","content":' + b"9" * 10_000 + b"}\n",
        b'{"type":"user","id":"sur","created_at":"","content":"\\ud83d \\u0000 \\u001b[2J"}\n',
        b"[1,2,3]\n",
        b"null\n",
        b"\x00" * 512 + b"\n",
        b"\xff\xfe not utf-8\n",
        deep,
        b'{"type":"user","id":"torn","created_at":"","content":"to',
    ]
    path.write_bytes(b"".join(lines + forged))
    history = run_bounded(place, "history", "optimist", "--json")
    assert history.returncode == 0, history.stderr
    nothing_leaks(history)
    again = run_bounded(place, "chat", "optimist", "Hello again", "--json")
    assert again.returncode == 0, (again.stdout, again.stderr)
    kept = path.read_bytes()
    assert kept.startswith(b"".join(lines + forged[:-1])), "what was there is never rewritten"


def test_a_session_link_or_file_that_leads_elsewhere_is_not_followed(
    place: Workplace, tmp_path: Path
) -> None:
    place.run_here("chat", "optimist", "Hello, who are you?")
    session = place.store.session_of("optimist")
    path = place.home / "agent-sessions" / f"{session}.jsonl"
    outside = tmp_path / "stolen.jsonl"
    path.rename(outside)
    path.symlink_to(outside)
    before = outside.read_bytes()
    done = run_bounded(place, "chat", "optimist", "Hello again", "--json")
    nothing_leaks(done)
    assert outside.read_bytes() == before
