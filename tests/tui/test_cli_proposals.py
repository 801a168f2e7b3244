"""`persona chat --review`: what it says, and the commands that look at a proposal, keep and refuse it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from personas.changes import EditPrompt
from personas.proposals import open_proposals
from personas.versions.authorship import USER
from tests.support.messages_server import MessagesServer, call, say
from tests.support.persona_agent import Backend, Workplace

PROMPT = "You are kept.\nAlways.\nTo the end.\n"


@pytest.fixture
def place(tmp_path: Path) -> Workplace:
    place = Workplace(tmp_path / "home", Backend("offline", {"PERSONA_MODEL": "offline"}))
    place.store.create("Kept", system_prompt=PROMPT)
    return place


def told(place: Workplace, *arguments: str, code: int = 0) -> str:
    """Run a command and return what it printed, both streams."""
    done = place.run_here(*arguments)
    assert done.returncode == code, done.stderr
    return (done.stdout + done.stderr).decode()


def test_a_review_is_looked_at_kept_and_refused_from_the_command_line(place: Workplace) -> None:
    said = told(place, "chat", "kept", "Replace 'Always.' by 'Sometimes.'", "--review")
    assert "nothing is written: proposal-1 needs review" in said
    assert "persona diff kept proposal-1" in said and "persona restore kept proposal-1 --refuse" in said
    done = json.loads(
        told(place, "chat", "kept", "Rename it to Sunny", "--review", "--json").splitlines()[-1]
    )
    assert (done["type"], done["proposal"]) == ("done", "proposal-2")
    plain = json.loads(told(place, "chat", "kept", "Hello!", "--review", "--json").splitlines()[-1])
    assert "proposal" not in plain

    listed: list[dict[str, Any]] = json.loads(told(place, "log", "kept", "--json"))
    assert [(one["version"], one["name"], one["request"]) for one in listed] == [
        (None, "proposal-2", "Rename it to Sunny"),
        (None, "proposal-1", "Replace 'Always.' by 'Sometimes.'"),
    ]
    assert [line.split()[0] for line in told(place, "log", "kept").splitlines()] == ["-", "-"]
    assert "-Always.\n+Sometimes.\n" in told(place, "diff", "kept", "proposal-1")
    assert json.loads(told(place, "diff", "kept", "proposal-1", "--json")).keys() == {"from", "to", "diff"}

    kept = json.loads(told(place, "restore", "kept", "proposal-1", "--json"))
    assert (kept["version"], kept["summary"]) == (1, "proposal-1 kept: system prompt")
    assert "refused" in told(place, "restore", "kept", "proposal-2", "--refuse")
    assert (place.store.get("kept").name, place.store.get("kept").system_prompt) == (
        "Kept", PROMPT.replace("Always", "Sometimes"),
    )  # fmt: skip
    assert "no open proposal 'proposal-2'" in told(place, "restore", "kept", "proposal-2", code=1)
    assert "--refuse is for a proposal" in told(place, "restore", "kept", "1", "--refuse", code=2)

    told(place, "chat", "kept", "Replace 'Sometimes.' by 'Never.'", "--review")
    place.store.change("kept", EditPrompt("Sometimes.", "Often."), revision=None, by=USER)
    assert "Could not keep proposal-3" in told(place, "diff", "kept", "proposal-3")
    conflict = told(place, "restore", "kept", "proposal-3", code=1)
    assert "+Never." in conflict and "+Often." in conflict and "nothing changed" in conflict
    assert "Often." in place.store.get("kept").system_prompt


def test_a_killed_review_has_on_disk_what_it_said(place: Workplace) -> None:
    edits = [
        call("edit_system_prompt", {"old": old, "new": new})
        for old, new in (("Always.", "Now."), ("To", "At"))
    ]
    with MessagesServer([*edits, say("Done.")]) as server:
        env = {"PERSONA_MODEL": "", "ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": server.key}
        process = place.start("chat", "kept", "Do it.", "--review", "--json", env=env, stdout=subprocess.PIPE)
        assert process.stdout is not None
        while json.loads(process.stdout.readline())["type"] != "tool_result":
            pass
        process.kill()
        process.communicate()
    assert place.store.get("kept").system_prompt == PROMPT
    (proposal,) = open_proposals(place.store, "kept")
    assert proposal.by.request == "Do it."
    told(place, "restore", "kept", "proposal-1")
    assert "Now." in place.store.get("kept").system_prompt
