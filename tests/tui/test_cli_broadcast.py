"""`persona chat --to`: one message to many personas, what came of each, and one undo for all of it."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from personas.changes import EditPrompt
from personas.library_store import LibraryStore
from personas.proposals import waiting
from personas.versions.authorship import USER
from tests.support.messages_server import MessagesServer, Refusal, Silence, call, say
from tests.support.persona_agent import Workplace, served

PROMPT = "You are {}.\nBe kind.\nBe short.\n"
IDS = [f"p{number:02}" for number in range(20)]


def answers(**others: Any) -> Any:
    """A model that makes each persona warmer, and does something else for those that are named."""

    def brain(body: Mapping[str, Any]) -> Any:
        last = str(body["messages"][-1]["content"])
        if "tool_result" in last and "very" not in last:
            is_task = "'task_complete'" in str(body["tools"])
            return call("task_complete", {"summary": "Done."}) if is_task else say("Done.")
        named = [answer for key, answer in others.items() if f'ID: "{key}"' in str(body["system"])]
        is_asked = named and "very" not in last
        return named[0] if is_asked else call("edit_system_prompt", {"old": "Be kind.", "new": "Be warm."})

    return brain


def told(place: Workplace, *arguments: str, code: int = 0, **env: str) -> str:
    done = place.run_here(*arguments, env=env)
    assert done.returncode == code, done.stderr
    return (done.stdout + done.stderr).decode()


def make(tmp_path: Path, server: MessagesServer, ids: list[str]) -> Workplace:
    place = served(tmp_path / "home", server)
    for key in ids:
        place.store.create(key, system_prompt=PROMPT.format(key))
    return place


def files(place: Workplace) -> dict[str, bytes]:
    return {path.stem: path.read_bytes() for path in place.store.home.personas.glob("*.toml")}


def test_what_is_kept_of_twenty_personas_is_written_and_one_undo_takes_it_back(tmp_path: Path) -> None:
    with MessagesServer(answers(p19=Refusal(400))) as server:
        place = make(tmp_path, server, [*IDS, "other"])
        before = files(place)
        (tmp_path / "config.toml").write_text("tasks_at_once = 3\n")  # the others wait for their turn
        said = told(place, "chat", "--to", ",".join(IDS), "Warmer.", "--review", "--json", code=1)
    *each, end = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
    assert sorted(one["id"] for one in each) == IDS
    assert [(one["id"], one["outcome"]) for one in each if "error" in one] == [("p19", "failed")]
    assert all("+Be warm." in one["diff"] and one["text"] == "Done." for one in each if one["id"] != "p19")
    assert end == {
        "type": "done",
        "changed": [],
        "proposals": dict.fromkeys((one["id"] for one in each if "proposal" in one), "proposal-1"),
        "failed": ["p19"],
    }
    assert files(place) == before and sorted(key for key, _ in waiting(place.store)) == IDS[:19]

    theirs = place.store.change("p18", EditPrompt("Be kind.", "Be rude."), revision=None, by=USER)
    for key in IDS[:5]:
        told(place, "restore", key, "proposal-1", "--refuse")
    for key in IDS[5:7]:
        told(place, "restore", key, "proposal-1", "--edit", EDITOR="sed -i s/warm/very-warm/")
    failed = told(place, "restore", "p07", "proposal-1", "--edit", code=1, EDITOR="false")
    assert "ended with exit code 1" in failed and not list(place.store.home.state.glob("p07.*"))
    for key in IDS[7:18]:
        told(place, "restore", key, "proposal-1")
    assert "Could not keep proposal-1 of p18" in told(place, "restore", "p18", "proposal-1", code=1)
    prompts = {key: place.store.get(key).system_prompt for key in IDS}
    words = {
        **dict.fromkeys(IDS, "kind"),
        **dict.fromkeys(IDS[5:7], "very-warm"),
        **dict.fromkeys(IDS[7:18], "warm"),
    }
    words["p18"] = "rude"
    assert prompts == {key: PROMPT.format(key).replace("kind", words[key]) for key in IDS}

    undone = told(place, "undo", "p09")
    assert "also in p05" in undone
    assert files(place) == {**before, "p18": place.store.path("p18").read_bytes()}
    assert place.store.get("p18").revision == theirs.revision
    assert [key for key, _ in waiting(place.store)] == ["p18"]
    told(place, "redo", "p17")
    assert "very-warm" in place.store.get("p06").system_prompt
    assert place.store.get("p00").system_prompt == PROMPT.format("p00")


def test_what_is_written_at_once_is_one_undo_too_and_one_that_asks_or_fails_leaves_the_others(
    tmp_path: Path,
) -> None:
    ask = call("ask_user", {"question": "How warm?", "options": ["very", "a bit"]})
    with MessagesServer(answers(b=ask, c=Refusal(400, message="no such luck"))) as server:
        place = make(tmp_path, server, ["a", "b", "c", "d", "broken"])
        place.store.path("broken").write_text("name =")
        before = files(place)
        said = told(place, "chat", "--to", "a, b,d,a", "Warmer.", "--task", code=3)
        assert "Changed 2 documents; persona undo" in said and "it asks: How warm?" in said
        assert said.count("+Be warm.") == 2 and "── b (waiting)" in said
        place.store.change("a", EditPrompt("Be short.", "Be brief."), revision=None, by=USER)
        undone = told(place, "undo", "d")
        assert "also in a" in undone and "persona undo" not in undone
        assert place.store.get("a").system_prompt == "You are a.\nBe kind.\nBe brief.\n"
        told(place, "redo", "a")
        told(place, "reply", "b", "very")  # it belongs to the same message
        undone = told(place, "undo", "b")
        assert {"a", "d"} <= set(undone.replace(",", "").split()) and files(place)["b"] == before["b"]

        said = told(place, "chat", "--all", "Warmer.", "--new", code=1)
    assert "c: " in said and "no such luck" in said and "persona: broken: " in said
    assert "Changed 2 documents" in said and "\nFailed: " in said
    assert files(place)["c"] == before["c"] and files(place)["broken"] == before["broken"]


def test_whom_it_is_for_is_said_exactly(tmp_path: Path) -> None:
    with MessagesServer([]) as server:
        place = make(tmp_path, server, ["a"])
        assert "no persona 'nobody'" in told(place, "chat", "--to", "a,nobody", "Hi.", code=1)
        for arguments in (
            ["--to", "a", "--all", "x"],
            ["--to", ",", "x"],
            ["--to", "a", "b", "x"],
            ["x"],
            ["--all", "x", "--wait", "1"],
        ):
            told(place, "chat", *arguments, code=2)
        told(place, "restore", "a", "1", "--edit", code=2)
    assert not server.requests


def test_what_one_changes_of_the_library_is_printed_with_it_and_part_of_the_undo(tmp_path: Path) -> None:
    def brain(body: Mapping[str, Any]) -> Any:
        said = sum(turn["role"] == "assistant" for turn in body["messages"])
        if 'ID: "a"' not in str(body["system"]) or said == 2:
            return say("Done.")
        return (
            call("update_agent_part", {"name": "tone", "content": "Warm.\n"}) if said else call("use_library")
        )

    with MessagesServer(brain) as server:
        place = make(tmp_path, server, ["a", "b"])
        LibraryStore(place.store).create("part", "tone", {"type": "tone", "content": "Calm.\n"})
        said = told(place, "chat", "--to", "a,b", "Warmer.")
    assert "-Calm.\n+Warm.\n" in said and "Changed 1 document; persona undo part/tone" in said
    assert "also in part/tone" in told(place, "undo", "a") and "Calm." in place.store.text("part/tone")


def test_a_signal_ends_it_and_what_was_done_stays(tmp_path: Path) -> None:
    with MessagesServer(answers(a=Silence(), c=Silence())) as server:
        place = make(tmp_path, server, ["a", "b", "c"])
        process = place.start("chat", "--to", "a,b,c", "Warmer.", "--json", stdout=subprocess.PIPE)
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())["id"] == "b"
        process.send_signal(signal.SIGINT)
        *others, end = [json.loads(line) for line in process.communicate()[0].splitlines()]
    assert process.returncode == 130 and end["changed"] == ["b"] and end["failed"] == []
    assert {(one["id"], one["outcome"]) for one in others} == {("a", "cancelled"), ("c", "cancelled")}
