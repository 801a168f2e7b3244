"""`persona action run` and `persona reply RUN`, as scripts use them, against the loopback server."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent.actions.run import NOT_DONE
from tests.support.messages_server import MessagesServer, Refusal, Silence, call, say
from tests.support.persona_agent import Backend, Workplace, served

FILE = """\
system_prompt = "Be kind."

[[test_inputs]]
id = "refund"
content = "I want my money back."
expect = [{ type = "icontains", value = "kind" }]
"""
ACTION = 'title = "{kind}"\npersona = "kind"\nkind = "{kind}"\n'
ASK = call("ask_user", {"question": "Which?", "options": ["a", "b"]})
DONE = call("task_complete", {"summary": "All done."})


@pytest.fixture
def server() -> Iterator[MessagesServer]:
    with MessagesServer([]) as running:
        yield running


@pytest.fixture
def place(tmp_path: Path, server: MessagesServer) -> Workplace:
    place = served(tmp_path / "home", server, kind=FILE)
    home = place.store.home
    home.actions.mkdir(exist_ok=True)
    for kind in ("agent", "persona", "test"):
        does = (
            "" if kind == "test" else 'instructions = "Say good morning."\nexpected_output = "A greeting."\n'
        )
        (home.actions / f"{kind}.toml").write_text(ACTION.format(kind=kind) + does)
    return place


def lines(done: subprocess.CompletedProcess[bytes]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in done.stdout.decode("ascii").splitlines()]


def runs(place: Workplace, action_id: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(place.run_here("action", "runs", action_id, "--json").stdout)
    return found


def test_the_agents_run_prints_like_chat_and_its_question_is_answered_by_the_runs_id(
    place: Workplace, server: MessagesServer
) -> None:
    server.script = [ASK, DONE]
    asked = place.run_here("action", "run", "agent", "--json")
    assert asked.returncode == 3 and [one["type"] for one in lines(asked)][-2:] == ["tool_call", "question"]
    said = server.bodies[0]["messages"][0]["content"]
    assert "Say good morning.\n\nWhat is expected of you: A greeting." in json.dumps(
        said, ensure_ascii=False
    ).replace("\\n", "\n")
    (waiting,) = runs(place, "agent")
    assert (waiting["state"], waiting["why"]) == ("waiting", "Which?")
    history = json.loads(place.run_here("history", "kind", "--json").stdout)
    assert history == {"session_id": None, "turns": []}, "it has a conversation of its own"
    assert place.run_here("reply", "kind", "2").returncode == 1, "a persona's id means its own task"
    refused = place.run_here("reply", waiting["id"], " ", "--json")
    assert refused.returncode == 1 and runs(place, "agent") == [waiting], "no answer at all"
    answered = place.run_here("reply", waiting["id"], "2", "--json")
    assert answered.returncode == 0 and lines(answered)[-1]["stop_reason"] == "end_turn"
    result = server.bodies[1]["messages"][-1]["content"][0]
    assert result["content"] in ("b", [{"type": "text", "text": "b"}])
    (done,) = runs(place, "agent")
    assert (done["id"], done["state"], done["output"]) == (waiting["id"], "completed", "All done.")
    over = place.run_here("reply", waiting["id"], "more")
    assert over.returncode == 1 and b"completed" in over.stderr


def test_the_persona_answers_and_its_text_is_what_is_printed(
    place: Workplace, server: MessagesServer
) -> None:
    server.script = [say("Good \x1b[31mmorning."), say("Again."), Refusal(401, "authentication_error", "no")]
    done = place.run_here("action", "run", "persona")
    assert (done.returncode, done.stdout) == (0, b"Good morning.\n")
    done = place.run_here("action", "run", "persona", "--json")
    assert [one["type"] for one in lines(done)] == ["text_delta", "text_complete", "done"]
    assert lines(done)[-1]["usage"]["output_tokens"] == 17
    refused = place.run_here("action", "run", "persona", "--json")
    assert refused.returncode == 4 and lines(refused)[-1]["type"] == "error"
    assert [one["state"] for one in runs(place, "persona")] == ["failed", "completed", "completed"]


def test_a_run_of_test_inputs_has_the_exit_codes_of_test(place: Workplace, server: MessagesServer) -> None:
    server.script = [say("How kind."), say("No."), Refusal(400, message="no")]
    assert place.run_here("action", "run", "test").stdout.decode().splitlines()[0] == "kind: 1 passed"
    failed = place.run_here("action", "run", "test")
    assert failed.returncode == 1 and "was pass" in failed.stdout.decode()
    assert place.run_here("action", "run", "test").returncode == 4


def test_ctrl_c_interrupts_it_and_says_so(place: Workplace, server: MessagesServer) -> None:
    server.script = [Silence()]
    with place.start("action", "run", "persona", "--json", stdout=subprocess.PIPE) as running:
        while not server.bodies and running.poll() is None:
            time.sleep(0.02)
        running.send_signal(signal.SIGINT)
        out, _ = running.communicate(timeout=60)
    assert running.returncode == 130 and json.loads(out)["stop_reason"] == "cancelled"
    assert [one["state"] for one in runs(place, "persona")] == ["interrupted"]


def test_the_offline_model_says_that_it_has_not_done_it(place: Workplace) -> None:
    offline = Workplace(place.home, Backend("none", {}))
    assert offline.run_here("action", "run", "agent").returncode == 0, "as chat --task"
    assert offline.run_here("action", "run", "persona").returncode == 4
    assert [(one["state"], one["why"]) for one in runs(place, "agent")] == [("failed", NOT_DONE)]


def test_what_cannot_be_run_is_told(place: Workplace) -> None:
    assert b"no action" in place.run_here("action", "run", "gone").stderr
    path = place.store.home.actions / "agent.toml"
    path.write_text(path.read_text().replace('"kind"', '"gone"', 1))
    nobody = place.run_here("action", "run", "agent", "--json")
    assert nobody.returncode == 1 and "gone" in lines(nobody)[-1]["message"]
    path.write_text("title = ")
    broken = place.run_here("action", "run", "agent", "--json")
    assert broken.returncode == 1 and "broken" in lines(broken)[-1]["message"]
    assert place.run_here("reply", "run-that-is-none", "yes").returncode == 1


def test_ready_made_actions_are_whole_and_dormant(place: Workplace) -> None:
    for name in ("nightly-tests", "weekly-review", "check-in"):
        made = place.run_here("action", "new", name, "--persona", "kind", "--from", name)
        assert made.returncode == 0, made.stderr
    rows = json.loads(place.run_here("action", "list", "--json").stdout)
    by_id = {one["id"]: one for one in rows}
    for name in ("nightly-tests", "weekly-review", "check-in"):
        assert by_id[name]["error"] is None and not by_id[name]["approved"] and by_id[name]["next"] is None
    assert by_id["nightly-tests"]["kind"] == "test"
