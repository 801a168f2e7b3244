"""`set --check`: what a change of a library document breaks, against the loopback server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from personas.library_store import LibraryStore
from tests.support.messages_answers import Reply, say
from tests.support.messages_server import MessagesServer
from tests.support.persona_agent import Backend, Workplace, served

INPUTS = """
[[test_inputs]]
id = "refund"
content = "I want my money back."
expect = [{ type = "icontains", value = "kind" }]

[[test_inputs]]
id = "free"
content = "Anything goes."
"""


def brain(body: dict[str, Any]) -> Reply:
    """A persona that answers with its prompt."""
    return say(f"{body['system']} You said: {body['messages'][-1]['content']}")


@pytest.fixture
def server() -> Iterator[MessagesServer]:
    with MessagesServer(brain) as running:
        yield running


@pytest.fixture
def place(tmp_path: Path, server: MessagesServer) -> Workplace:
    """Three personas with the part `warm`: by a link, by a later stage of an arc, and on no stage that it shows on."""
    place = served(tmp_path / "home", server)
    home, library = place.store.home, LibraryStore(place.store)
    library.create("part", "warm", {"type": "tone", "content": "Be kind.", "tags": ["a"]})
    library.create("part", "icy", {"type": "tone", "content": "Be icy."})
    library.create(
        "arc", "thaw", {"stages": [{"name": "cold", "parts": ["icy"]}, {"name": "mild", "parts": ["warm"]}]}
    )
    library.create("arc", "freeze", {"stages": [{"name": "cold", "parts": ["icy"]}]})
    for name, links in (
        ("linked", '[[parts]]\nname = "warm"\n'),
        ("staged", '[arc]\nname = "thaw"\n'),
        ("frozen", '[[parts]]\nname = "warm"\n[arc]\nname = "freeze"\n'),
    ):
        (home.personas / f"{name}.toml").write_text(f'system_prompt = "You are {name}."\n{INPUTS}{links}')
    return place


def set_content(place: Workplace, content: str, *options: str) -> tuple[int, dict[str, Any]]:
    done = place.run_here("part", "set", "warm", "content", content, "--check", "--json", *options)
    return done.returncode, json.loads(done.stdout)


def test_a_change_that_breaks_a_test_is_told_by_persona_and_not_saved(
    place: Workplace, server: MessagesServer
) -> None:
    code, told = set_content(place, "Be rude.")
    assert code == 1 and not told["saved"] and told["summary"] == "not saved"
    assert place.store.text("part/warm").count("Be kind.") == 1
    found = told["check"]
    assert (found["broke"], found["fixed"]) == (2, 0) and found["sentence"].startswith(
        "broke 2, fixed 0: too few"
    )
    assert [(one["id"], one.get("stage"), one["broke"]) for one in found["personas"]] == [
        ("linked", None, 1), ("staged", "mild", 1),
    ], "a persona is tried on the stages that are touched"  # fmt: skip
    assert found["personas"][0]["inputs"][0]["verdicts"] == ["pass", "fail"]
    assert len(server.bodies) == 4, "inputs without expectations are not run"
    told_plainly = place.run_here("part", "set", "warm", "content", "Be rude.", "--check").stdout.decode()
    assert "linked: broke refund" in told_plainly and "staged, stage mild: broke refund" in told_plainly
    assert told_plainly.endswith("decide.\nnot saved\n") and len(server.bodies) == 4, "nothing is run twice"


def test_a_change_that_breaks_nothing_is_saved_and_its_outputs_are_fresh(
    place: Workplace, server: MessagesServer
) -> None:
    code, told = set_content(place, "Be very kind.")
    assert code == 0 and told["saved"] and told["id"] == "part/warm" and told["version"] == 2
    assert told["check"]["sentence"] == "broke 0, fixed 0: no difference seen on 2 inputs"
    assert "Be very kind." in place.store.text("part/warm") and len(server.bodies) == 4
    done = place.run_here("test", "linked", "--input", "refund")
    assert done.returncode == 0 and len(server.bodies) == 4
    assert (
        place.run_here("part", "set", "warm", "tags", "a, b", "--check")
        .stdout.decode()
        .startswith("no persona's prompt changes.\nset tags of part warm")
    )
    assert place.run_here("arc", "set", "thaw", "summary", "x", "--check").returncode == 0
    assert len(server.bodies) == 4
    code, told = set_content(place, "Be rude.", "--samples", "2")
    assert code == 1 and told["check"]["personas"][0]["inputs"][0]["passed"] == [2, 0]


def test_what_cannot_be_run_is_not_saved(place: Workplace, server: MessagesServer) -> None:
    config = place.home.parent / "config.toml"
    config.write_text("confirm_requests = 1\n")
    done = place.run_here("part", "set", "warm", "content", "Be rude.", "--check")
    assert done.returncode == 4 and b"--yes" in done.stderr
    assert set_content(place, "Be rude.", "--dry-run")[1]["requests"] == 4
    without = Workplace(place.home, Backend("none", {}))
    done = without.run_here("part", "set", "warm", "content", "Be rude.", "--check")
    assert done.returncode == 4 and b"no model is connected" in done.stderr
    assert b"without a verdict" in done.stdout and b"nothing broke" not in done.stdout
    assert (
        not server.bodies and place.run_here("part", "set", "none", "content", "x", "--check").returncode == 2
    )
    (place.home / "personas" / "linked.toml").write_text('system_prompt = 3\nparts = [{ name = "warm" }]\n')
    code, told = set_content(place, "Be very kind.", "--yes")
    assert code == 4 and not told["saved"] and "system_prompt" in told["check"]["personas"][-1]["error"]
    assert "Be kind." in place.store.text("part/warm")
    assert place.run_here("part", "set", "warm", "content", "x", "--yes").returncode == 2
