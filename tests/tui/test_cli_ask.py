"""`persona ask`: one message to several personas, in turn or at once, and going on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent.outputs.ensemble import EnsembleLog, PersonaAnswer
from agent.outputs.variant import variant_now
from tests.support.messages_answers import Refusal, say
from tests.support.messages_server import MessagesServer
from tests.support.persona_agent import Backend, Workplace, served
from tui.cli.outputs.ask import AnswerStream


@pytest.fixture
def server() -> Iterator[MessagesServer]:
    with MessagesServer(lambda body: say(f"{body['system']} answers")) as running:
        yield running


@pytest.fixture
def place(tmp_path: Path, server: MessagesServer) -> Workplace:
    files = {name: f'name = "{name.title()}"\nsystem_prompt = "{name}"\n' for name in ("ann", "bob")}
    return served(tmp_path / "home", server, **files)


def ask(place: Workplace, *words: str) -> tuple[int, list[dict[str, Any]]]:
    done = place.run_here("ask", *words, "--json")
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()]


def heard(body: dict[str, Any]) -> list[tuple[str, str]]:
    return [(one["role"], one["content"]) for one in body["messages"]]


def test_in_turn_each_hears_the_earlier_answers_by_name(place: Workplace, server: MessagesServer) -> None:
    code, lines = ask(place, "Hello", "--to", "ann,bob")
    assert code == 0 and [one["type"] for one in lines] == ["answer", "answer", "done"]
    assert lines[0] == {"type": "answer", "persona_id": "ann", "name": "Ann", "text": "ann answers"}
    assert lines[-1]["answered"] == 2 and lines[-1]["usage"]["output_tokens"] == 34
    assert heard(server.bodies[0]) == [("user", "Hello")]
    assert heard(server.bodies[1]) == [("user", "Hello\n\nAnn: ann answers")]
    assert not any("tools" in body for body in server.bodies)


def test_a_conversation_goes_on(place: Workplace, server: MessagesServer) -> None:
    ask(place, "Hello", "--to", "ann,bob")
    code, _ = ask(place, "And?", "--to", "bob,ann", "--continue")
    assert code == 0
    assert heard(server.bodies[2]) == [
        ("user", "Hello\n\nAnn: ann answers"), ("assistant", "bob answers"), ("user", "And?"),
    ]  # fmt: skip
    assert heard(server.bodies[3]) == [
        ("user", "Hello"), ("assistant", "ann answers"), ("user", "Bob: bob answers\n\nAnd?\n\nBob: bob answers"),
    ]  # fmt: skip
    server._brain = lambda body: say("Blanks at the end: \n\n")  # servers refuse them in what is sent
    ask(place, "New", "--to", "ann")
    assert heard(server.bodies[4]) == [("user", "New")], "without --continue a new one begins"
    assert ask(place, "And?", "--to", "ann", "--continue")[0] == 0
    log = EnsembleLog(place.store.home)
    both, one = log.last(["ann", "bob"]), log.last(["ann"])
    assert both is not None and one is not None and (len(both.said), len(one.said)) == (6, 4)
    log.add(both, PersonaAnswer("", "", "Back to you"))  # as the program does, which has several open
    assert (last := log.last()) is not None and len(last.said) == 7, "what was said before is not lost"


def test_at_once_nobody_hears_this_rounds_answers(place: Workplace, server: MessagesServer) -> None:
    code, lines = ask(place, "Hello", "--to", "ann,bob", "--parallel")
    assert code == 0 and [one.get("name") for one in lines] == ["Ann", "Bob", None]
    assert [heard(body) for body in server.bodies] == [[("user", "Hello")]] * 2


def test_answers_are_printed_as_they_come(
    place: Workplace, server: MessagesServer, capsys: pytest.CaptureFixture[str]
) -> None:
    server._brain = lambda body: say(f"{body['system']}\x1b[2J answers")
    for options in ((), ("--parallel",)):
        told = place.run_here("ask", "Hello", "--to", "ann,bob", *options).stdout.decode()
        assert told.startswith("── Ann\nann answers\n\n── Bob\nbob answers\n\n")
    stream, ann = AnswerStream(is_on=True), variant_now(place.store.get("ann"), "ann", model=None)
    stream.begin(ann)
    stream.add(ann, "I \x1b[2")
    assert capsys.readouterr().out == "── Ann\nI "
    stream.begin(ann)
    stream.add(ann, "I am")
    stream.end(PersonaAnswer("ann", "Ann", "", "no network"))
    lost = "\n── the connection was lost; once more:\nI am\nerror: no network\n\n"
    assert capsys.readouterr().out == lost


def test_what_fails_is_told_and_the_others_answer(place: Workplace, server: MessagesServer) -> None:
    server._brain = lambda body: Refusal(400, message="no") if body["system"] == "ann" else say("fine")
    code, lines = ask(place, "Hello", "--to", "ann,bob")
    assert code == 4 and "no" in lines[0]["error"] and lines[1]["text"] == "fine" and lines[2]["failed"] == 1
    assert heard(server.bodies[1]) == [("user", "Hello")]
    assert ask(place, "Hello", "--to", "nobody")[0] == 2 and ask(place, "Hello", "--to", ",")[0] == 2
    assert ask(place, " ", "--to", "ann")[0] == 2
    without = Workplace(place.home, Backend("none", {}))
    code, lines = ask(without, "Hello", "--to", "ann")
    assert code == 4 and lines[-1]["type"] == "error"
