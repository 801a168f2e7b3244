"""`persona bisect` and `persona coverage`, as scripts use them, against the loopback server."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent.outputs import coverage
from agent.outputs.output_log import OutputLog
from personas.changes import SetName, SetPrompt
from personas.versions.authorship import Author
from tests.support.messages_answers import Refusal, Reply, say
from tests.support.messages_server import MessagesServer
from tests.support.persona_agent import Backend, Workplace, served

FILE = """\
system_prompt = '''
- Be kind.
- Be brief.
- Tell jokes.
'''

[[test_inputs]]
id = "refund"
content = "I want my money back."
expect = [{ type = "contains", value = "kind" }]

[[test_inputs]]
id = "free"
content = "Anything goes."
"""
PROMPT = "- Be kind.\n- Be brief.\n- Tell jokes.\n"
EDIT = Author("import")  # each a version of its own


def brain(body: dict[str, Any]) -> Reply:
    """A persona that follows its prompt, but never jokes."""
    return say(body["system"].replace("- Tell jokes.", ""))


@pytest.fixture
def server() -> Iterator[MessagesServer]:
    with MessagesServer(brain) as running:
        yield running


@pytest.fixture
def place(tmp_path: Path, server: MessagesServer, monkeypatch: pytest.MonkeyPatch) -> Workplace:
    monkeypatch.setattr(coverage, "_SHUFFLES", 500)  # enough to tell words that never come from noise
    return served(tmp_path / "home", server, kind=FILE)


def edit(place: Workplace, *prompts: str) -> None:
    for prompt in prompts:
        place.store.change("kind", SetPrompt(prompt), revision=None, by=EDIT)


def edits(place: Workplace) -> None:
    """Make nine versions; the fifth takes the kindness out, and the second changes no prompt."""
    edit(place, PROMPT + "- One.\n")
    place.store.change("kind", SetName("Kind"), revision=None, by=EDIT)
    edit(place, PROMPT + "- Three.\n", PROMPT + "- Four.\n")
    worse = PROMPT.replace("kind", "cold")
    edit(place, worse + "- Four.\n", *(f"{worse}- Four.\n- {n}.\n" for n in range(6, 10)))


def run(place: Workplace, *words: str, code: int = 0) -> Any:
    done = place.run_here(*words, "--json")
    assert done.returncode == code, done.stderr.decode()
    return json.loads(done.stdout)


def test_the_version_is_found_with_its_hunk_and_reverted(place: Workplace, server: MessagesServer) -> None:
    edits(place)
    found = run(place, "bisect", "kind", "--input", "refund")
    assert set(found) == {"good", "bad", "decided", "version", "hunk", "probes", "sentence"}
    assert (found["good"], found["bad"], found["version"], found["decided"]) == (4, 5, 5, True)
    assert "-- Be kind.\n+- Be cold.\n" in found["hunk"]
    probed = [one["version"] for one in found["probes"]]
    assert 2 not in probed, "its prompt is that of version 1"
    asked = len(server.bodies)
    assert asked == sum(one["samples"] for one in found["probes"]) <= 25
    told = place.run_here("bisect", "kind", "--input", "refund", "--revert")
    text = told.stdout.decode()
    assert (
        told.returncode == 0 and "version 5 changed the verdict of refund." in text and "-- Be kind." in text
    )
    assert "Reverted as version 10.\nUndo that with: persona undo kind 10" in text
    assert len(server.bodies) == asked, "what is stored is used again"
    kept = "- Be kind.\n- Be brief.\n- Tell jokes.\n- Four.\n- 9.\n"
    assert place.store.get("kind").system_prompt == kept, "what was written since stays"
    assert place.run_here("undo", "kind", "10").returncode == 0
    assert "cold" in place.store.get("kind").system_prompt


def test_what_was_written_over_since_is_not_reverted(place: Workplace) -> None:
    edit(place, "Cold.\n- Be brief.\n- Tell jokes.\n", "Colder.\n- Be brief.\n- Tell jokes.\n")
    found = run(place, "bisect", "kind", "--input", "refund", "--revert", code=4)
    assert found["version"] == 1 and "all of it was changed since" in found["error"]
    edit(
        place,
        PROMPT + "Last.\n",
        "Cold.\n- Be brief.\n- Tell jokes.\nLast 1.\n",
        "Cold.\n- Be brief.\n- Tell jokes.\nLast 2.\n",
    )
    told = place.run_here("bisect", "kind", "--input", "refund", "--good", "3", "--revert").stdout.decode()
    assert "Reverted as version 6; 1 place that was written over since stays." in told
    assert place.store.get("kind").system_prompt == PROMPT + "Last 2.\n"


def test_where_it_cannot_be_told_the_versions_between_are_named(
    place: Workplace, server: MessagesServer
) -> None:
    """The version in the middle passes every second time, so it belongs to neither side."""
    edit(place, "mixed", "cold")
    chance = random.Random(3)
    server._brain = lambda body: (
        say(chance.choice(("kind", "cold"))) if body["system"] == "mixed" else brain(body)
    )
    found = run(place, "bisect", "kind", "--input", "refund")
    assert (found["good"], found["bad"], found["decided"], found["version"]) == (0, 2, False, None)
    assert found["sentence"].endswith(
        "changed between version 0 and version 2; it cannot be narrowed down further"
    )
    assert max(one["samples"] for one in found["probes"]) == 30


def test_ends_are_chosen_and_a_verdict_that_did_not_turn_is_no_finding(place: Workplace) -> None:
    edit(place, "cold", PROMPT, "colder")
    place.run_here("run", "kind", "--input", "refund", "--version", "2")
    assert run(place, "bisect", "kind", "--input", "refund")["version"] == 3, "from the first that passed"
    assert (
        run(place, "bisect", "kind", "--input", "refund", "--good", "0", "--bad", "1", "--samples", "5")[
            "version"
        ]
        == 1
    )
    assert run(place, "bisect", "kind", "--input", "refund", "--good", "1", "--bad", "2")["version"] == 2
    same = run(place, "bisect", "kind", "--input", "refund", "--good", "1")
    assert not same["decided"] and "no real difference" in same["sentence"] and same["hunk"] == ""
    assert run(place, "bisect", "kind", "--input", "refund", "--good", "3")["probes"] == []


def test_a_failed_request_falsifies_no_verdict_and_a_later_bisection_goes_on(
    place: Workplace, server: MessagesServer
) -> None:
    edits(place)
    server._brain = lambda body: (
        Refusal(400, "invalid_request_error", "no") if len(server.bodies) > 12 else brain(body)
    )
    stopped = run(place, "bisect", "kind", "--input", "refund", code=4)
    assert not stopped["decided"] and stopped["error"] and stopped["good"] <= 4 < 5 <= stopped["bad"]
    server._brain = brain
    assert run(place, "bisect", "kind", "--input", "refund")["version"] == 5


def test_what_cannot_be_bisected_is_said(place: Workplace, server: MessagesServer) -> None:
    edits(place)
    for words in (["bisect", "kind", "--input", "none"], ["bisect", "kind", "--input", "refund", "--good", "77"],
                  ["bisect", "nobody", "--input", "refund"], ["coverage", "kind", "--input", "none"]):  # fmt: skip
        assert place.run_here(*words).returncode == 2
    done = place.run_here("bisect", "kind", "--input", "free")
    assert done.returncode == 4 and b"has no expectations" in done.stderr
    dry = run(place, "bisect", "kind", "--input", "refund", "--dry-run")
    assert dry["requests"] == 15 * 7 and run(place, "coverage", "kind", "--dry-run")["requests"] == 6 * 2 * 8
    assert not server.bodies
    offline = Workplace(place.home, Backend("none", {}))
    for words in (["bisect", "kind", "--input", "refund"], ["coverage", "kind"]):
        done = offline.run_here(*words)
        assert done.returncode == 4 and b"no model is connected" in done.stderr
    (place.home.parent / "config.toml").write_text("confirm_requests = 10\n")
    for words in (["bisect", "kind", "--input", "refund"], ["coverage", "kind"]):
        done = place.run_here(*words)
        assert done.returncode == 4 and b"--yes runs it without asking" in done.stderr and not server.bodies


def test_coverage_tells_what_each_piece_is_good_for(place: Workplace, server: MessagesServer) -> None:
    found = run(place, "coverage", "kind", "--input", "refund")
    assert [(one["line"], one["finding"], one["inputs"]) for one in found["pieces"]] == [
        (1, "tests fail", ["refund"]), (2, "answers change", ["refund"]), (3, "nothing notices", []),
    ]  # fmt: skip
    assert found["pieces"][0]["text"] == "- Be kind."
    assert found["noise"] == {"refund": {"passed": 8, "samples": 8, "difference": 0.0}}
    assert found["calls"] == 32 == len(server.bodies)
    told = place.run_here("coverage", "kind", "--input", "refund").stdout.decode()
    assert "passes 8 of 8 (68 to 100 %)" in told and len(server.bodies) == 32
    listed = run(place, "outputs", "kind")
    assert len(listed) == 8 and not any(one["outdated"] for one in listed), "only those of the whole prompt"
    log = OutputLog(place.store.home, "kind", apart="coverage")
    assert len(log.read().outputs) == 24
    edit(place, PROMPT + "- More.\n")
    assert run(place, "coverage", "kind", "--input", "refund")["calls"] == 40
    assert len(log.read().outputs) == 32, "outputs that are of no use any more are gone"


def test_a_failed_request_is_no_finding(place: Workplace, server: MessagesServer) -> None:
    server._brain = lambda body: (
        Refusal(400, "invalid_request_error", "no") if "kind" not in body["system"] else brain(body)
    )
    found = run(place, "coverage", "kind", "--input", "refund", code=4)
    assert [one["finding"] for one in found["pieces"]] == [
        "not exercised",
        "answers change",
        "nothing notices",
    ]
    assert found["error"].startswith("refund: ")
    server._brain = brain
    again = run(place, "coverage", "kind")
    assert again["calls"] == 8 + 32 and again["pieces"][0]["finding"] == "tests fail"
