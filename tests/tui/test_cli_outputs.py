"""`persona run`, `outputs`, `test` and `compare`, as scripts use them, against the loopback server."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from agent.outputs import batches
from agent.outputs.output_log import OutputLog
from agent.outputs.version_counts import VersionCounts, count_versions
from personas.changes import AddTestInput, SetPrompt
from personas.library_store import LibraryStore
from personas.versions.authorship import USER, Author
from tests.support.hostile import forbidden_in
from tests.support.messages_answers import Refusal, Reply, say
from tests.support.messages_answers import call as call_tool
from tests.support.messages_server import MessagesServer
from tests.support.persona_agent import Backend, Workplace, served

FILE = """\
system_prompt = "Be kind."

[[test_inputs]]
id = "refund"
content = "I want my money back."
expect = [{ type = "icontains", value = "kind" }, { type = "word-count", max = 20 }]

[[test_inputs]]
id = "free"
content = "Anything goes."
"""


def brain(body: dict[str, Any]) -> Reply:
    """A persona that answers with its prompt; as a judge it passes what has the word kind in it."""
    if "tools" in body:
        met = "Be kind" in body["messages"][0]["content"]
        return call_tool("give_verdict", {"reason": "seen", "verdict": "pass" if met else "fail"})
    return say(f"{body['system']} You said: {body['messages'][-1]['content']}")


@pytest.fixture
def server() -> Iterator[MessagesServer]:
    with MessagesServer(brain) as running:
        yield running


@pytest.fixture
def place(tmp_path: Path, server: MessagesServer) -> Workplace:
    return served(tmp_path / "home", server, kind=FILE)


def offline(place: Workplace) -> Workplace:
    return Workplace(place.home, Backend("none", {}))


def lines(done: subprocess.CompletedProcess[bytes]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in done.stdout.decode("ascii").splitlines()]


def run_test(place: Workplace, *options: str, ids: tuple[str, ...] = ("kind",)) -> tuple[int, dict[str, Any]]:
    done = place.run_here("test", *ids, "--json", *options)
    return done.returncode, json.loads(done.stdout)


def test_a_run_streams_and_ends_with_done(place: Workplace) -> None:
    done = place.run_here("run", "kind", "--json")
    printed = lines(done)
    assert done.returncode == 0 and [one["type"] for one in printed].count("output_start") == 2
    first = next(one for one in printed if one["type"] == "output_start")
    assert set(first) == {"type", "persona_id", "input_id", "sample"} and first["sample"] == 1
    outputs = [one for one in printed if one["type"] == "output"]
    text = "".join(
        one["content"] for one in printed if one["type"] == "text_delta" and one["input_id"] == "refund"
    )
    assert text == next(one["text"] for one in outputs if one["input_id"] == "refund")
    assert {"id", "run_id", "input_hash", "prompt_hash", "settings_hash", "version", "model", "started_at", "seconds",
            "thinking", "stop_reason", "usage", "cost", "error", "verdicts"} <= set(outputs[0])  # fmt: skip
    end = printed[-1]
    assert (end["type"], end["ran"], end["failed"], end["reused"]) == ("done", 2, 0, 0)
    assert end["usage"]["output_tokens"] == 34 and end["seconds"] >= 0


def test_only_what_is_missing_is_run(place: Workplace, server: MessagesServer) -> None:
    place.run_here("run", "kind", "--input", "refund")
    end = lines(place.run_here("run", "kind", "--missing", "--samples", "2", "--json"))[-1]
    assert (end["ran"], end["reused"]) == (3, 1) and len(server.bodies) == 4
    place.store.change("kind", SetPrompt("Be very kind."), revision=None, by=USER)
    end = lines(place.run_here("run", "kind", "--missing", "--json"))[-1]
    assert (end["ran"], end["reused"]) == (2, 0)


def test_outputs_tell_verdicts_and_what_is_outdated(place: Workplace) -> None:
    place.run_here("run", "kind")
    place.store.change("kind", SetPrompt("Be cruel."), revision=None, by=USER)
    place.run_here("run", "kind", "--input", "refund")
    listed = json.loads(place.run_here("outputs", "kind", "--input", "refund", "--json").stdout)
    assert [one["outdated"] for one in listed] == [[], ["prompt"]]
    assert [one["version"] for one in listed] == [1, 0]
    verdicts = [[each["verdict"] for each in one["verdicts"]] for one in listed]
    assert verdicts == [["fail", "pass"], ["pass", "pass"]]
    told = place.run_here("outputs", "kind").stdout.decode()
    assert "outdated: prompt" in told and "✗" in told and "Be cruel." in told


def test_every_run_stores_the_text_it_sends_as_a_version(place: Workplace) -> None:
    place.run_here("run", "kind", "--input", "refund")
    path = place.store.home.personas / "kind.toml"
    for number, prompt in enumerate(("Be warm.", "Be warmer."), 1):
        path.write_text(FILE.replace("Be kind.", prompt))
        [made] = [one for one in lines(place.run_here("run", "kind", "--input", "refund", "--json"))
                  if one["type"] == "output"]  # fmt: skip
        assert made["version"] == number and prompt in place.store.version_text("kind", number)
    old = lines(place.run_here("run", "kind", "--version", "0", "--input", "refund", "--missing", "--json"))
    assert old[-1]["reused"] == 1, "version 0 has its output already"


@pytest.mark.parametrize(
    "command",
    [
        ("run", "nobody"), ("run", "kind", "--input", "x"), ("run", "kind", "--version", "99"), ("outputs", "nobody"),
        ("outputs", "kind", "--input", "x"), ("test", "nobody"), ("test",), ("test", "kind", "--input", "x"),
        ("test", "kind", "--input", "refund", "--bless"), ("compare", "kind", "98", "99"),
        ("compare", "kind", "--with", "nobody"), ("test", "--changed", "no-such-ref"), ("run", "kind", "--samples", "0"),
    ],
)  # fmt: skip
def test_what_is_not_known_is_wrong_usage(place: Workplace, command: tuple[str, ...]) -> None:
    done = place.run_here(*command)
    assert done.returncode == 2 and done.stderr.decode().startswith("persona: ")


def test_a_test_runs_what_is_missing_and_judges(place: Workplace, server: MessagesServer) -> None:
    code, report = run_test(place)
    assert code == 0 and (report["passed"], report["failed"], report["errors"]) == (1, 0, 0)
    refund, free = report["personas"][0]["inputs"]
    assert refund == {
        "id": "refund", "verdict": "pass", "passed": 1, "samples": 1, "outdated": False,
        "expectations": [
            {"type": "icontains", "value": "kind", "verdict": "pass", "reason": "has “kind”"},
            {"type": "word-count", "value": {"max": 20}, "verdict": "pass", "reason": "9 words"},
        ],
    }  # fmt: skip
    assert free["verdict"] == "none" and free["passed"] == 0
    path = place.store.home.personas / "kind.toml"
    path.write_text(FILE.replace("max = 20", "max = 3"))
    code, report = run_test(place)
    assert code == 1 and report["failed"] == 1 and len(server.bodies) == 2, (
        "a changed expectation needs no run"
    )
    told = place.run_here("test", "kind").stdout.decode()
    assert "✗  refund  word-count: 9 words" in told and "no expectations" in told


def test_what_could_not_be_run_is_an_error_and_never_a_fail(place: Workplace, server: MessagesServer) -> None:
    server._brain = lambda _body: Refusal(400, message="no")
    code, report = run_test(place)
    assert code == 4 and (report["passed"], report["failed"], report["errors"]) == (0, 0, 2)
    server._brain = brain
    assert run_test(place)[0] == 0, "the error is run again"
    server._brain = lambda _body: Refusal(400, message="no")
    assert run_test(place)[0] == 0 and run_test(place, "--fresh")[0] == 4
    assert run_test(place)[0] == 0, "what was there before the failed run still counts"
    anew = offline(place).run_here("test", "kind", "--fresh")
    assert anew.returncode == 0 and b"only stored outputs were judged, nothing was run" in anew.stderr


def test_one_input_is_tested_alone(place: Workplace, server: MessagesServer) -> None:
    code, report = run_test(place, "--input", "refund")
    assert code == 0 and [one["id"] for one in report["personas"][0]["inputs"]] == ["refund"]
    assert len(server.bodies) == 1


def test_what_could_not_be_run_has_no_rate(place: Workplace, server: MessagesServer) -> None:
    server._brain = lambda _body: Refusal(400, message="no")
    told = place.run_here("test", "kind", "--samples", "3").stdout.decode()
    assert "!  refund" in told and " of 3 (" not in told


def test_a_broken_input_and_a_broken_file_leave_the_rest(place: Workplace) -> None:
    path = place.store.home.personas / "kind.toml"
    path.write_text(FILE + 'expect = [{ type = "nothing-like-it" }]\n')
    (path.parent / "broken.toml").write_text("system_prompt = [")
    code, report = run_test(place, ids=("kind", "broken"))
    assert code == 4 and (report["passed"], report["errors"]) == (1, 2)
    refund, free = report["personas"][0]["inputs"]
    assert refund["verdict"] == "pass" and "line 11" in free["reason"]
    assert "broken" in report["personas"][1]["error"]


@pytest.mark.parametrize(
    "command",
    [
        ("run", "broken"),
        ("outputs", "broken"),
        ("test", "broken"),
        ("compare", "broken"),
        ("ask", "Hi", "--to", "broken"),
    ],
)
def test_a_broken_file_is_told_with_its_line_and_what_mends_it(
    place: Workplace, command: tuple[str, ...]
) -> None:
    (place.store.home.personas / "broken.toml").write_text('name = "Broken"\nsystem_prompt = [')
    done = place.run_here(*command)
    said = (done.stdout + done.stderr).decode()
    assert done.returncode == 4
    assert (
        "The persona broken is broken: " in said and "(line 2, " in said and "`persona edit broken`" in said
    )


def test_samples_and_how_many_must_pass(place: Workplace, server: MessagesServer) -> None:
    answers = iter(["kind", "no", "kind", "no", "no"])
    server._brain = lambda _body: say(next(answers))
    path = place.store.home.personas / "kind.toml"
    path.write_text(FILE.split('\n[[test_inputs]]\nid = "free"')[0] + "samples = 3\nmin_pass = 2\n")
    code, report = run_test(place, "--jobs", "1")
    assert code == 0 and report["personas"][0]["inputs"][0]["passed"] == 2
    assert run_test(place, "--min-pass", "3")[0] == 1
    code, report = run_test(place, "--samples", "5", "--jobs", "1")
    assert code == 0 and (report["personas"][0]["inputs"][0]["passed"], len(server.bodies)) == (2, 5)
    told = place.run_here("test", "kind", "--samples", "5").stdout.decode()
    assert "2 of 5 (12 to 77 %)" in told


def test_rubrics_are_judged_by_the_personas_judge(place: Workplace, server: MessagesServer) -> None:
    path = place.store.home.personas / "kind.toml"
    rubric = '[judge]\nname = "claude-haiku-5-5"\n[[test_inputs]]\nid = "r"\ncontent = "Hi"\nexpect = [{ type = "llm-rubric", value = "Nice" }]\n'
    path.write_text('system_prompt = "Be kind."\n' + rubric)
    place.run_here("run", "kind")
    told = place.run_here("outputs", "kind").stdout.decode()
    assert told.startswith("·") and "not judged yet" in told, "what waits for a judge is no error"
    stored = OutputLog(place.store.home, "kind").read()
    numbers = {one.version for one in stored.outputs}
    counts = count_versions(stored, numbers, place.store.get("kind").test_inputs, "claude-haiku-5-5")
    assert list(counts.values()) == [VersionCounts(unjudged=1)]
    assert run_test(place)[0] == 0
    assert place.run_here("outputs", "kind").stdout.decode().startswith("✓")
    assert [body["model"] for body in server.bodies] == ["claude-sonnet-5-5", "claude-haiku-5-5"]
    assert run_test(place)[0] == 0 and len(server.bodies) == 2, "a stored verdict is not asked for again"
    assert run_test(offline(place))[0] == 0, "and counts without a model"
    path.write_text('system_prompt = "Be kind."\n' + rubric.replace("haiku", "opus"))
    code, report = run_test(place)
    reason = report["personas"][0]["inputs"][0]["expectations"][0]["reason"]
    assert code == 4 and "claude-opus-5-5 always thinks" in reason


def test_without_a_model_nothing_pretends(place: Workplace, server: MessagesServer) -> None:
    without = offline(place)
    done = without.run_here("run", "kind", "--json")
    assert done.returncode == 4 and lines(done)[-1]["type"] == "error"
    assert "ANTHROPIC_API_KEY" in lines(done)[-1]["message"]
    code, report = run_test(without)
    assert code == 4 and report["errors"] == 2, "nothing is stored"
    run_test(place)
    code, report = run_test(without)
    assert code == 0 and report["passed"] == 1, "what is stored is judged"
    place.store.change("kind", SetPrompt("Be cruel."), revision=None, by=USER)
    code, report = run_test(without)
    assert code == 4 and report["personas"][0]["inputs"][0]["outdated"] is True
    assert len(server.bodies) == 2


def test_an_expensive_run_needs_a_word(place: Workplace, server: MessagesServer) -> None:
    config = place.home.parent / "config.toml"
    config.write_text("confirm_requests = 1\n")
    for command in ("run", "test"):
        done = place.run_here(command, "kind")
        assert done.returncode == 4 and "--yes" in done.stderr.decode()
    assert not server.bodies
    priced = json.loads(place.run_here("run", "kind", "--dry-run", "--json").stdout)
    assert priced["requests"] == priced["unpriced"] == 2 and not server.bodies
    assert place.run_here("test", "kind", "--yes").returncode == 0
    config.write_text('confirm_dollars = 0\nbase_url = ""\n')
    official = Workplace(place.home, Backend("official", {"ANTHROPIC_API_KEY": "x"}))
    priced = json.loads(official.run_here("run", "kind", "--dry-run", "--json").stdout)
    assert 0 < priced["dollars"] < 0.05 and priced["unpriced"] == 0
    assert official.run_here("run", "kind").returncode == 4, "nothing is sent"


def test_a_run_in_a_batch_is_left_and_picked_up_by_any_later_command(
    place: Workplace, server: MessagesServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "FIRST_WAIT", 0.01)
    server.batches_end = False
    process = place.start("run", "kind", "--batch", "--json", stdout=subprocess.PIPE)
    assert process.stdout is not None
    told = json.loads(process.stdout.readline())
    assert told == {"type": "batch", "batch_id": "msgbatch_001", "done": 0, "total": 2}
    process.send_signal(signal.SIGINT)
    end = json.loads(process.communicate(timeout=20)[0].splitlines()[-1])
    assert (process.returncode, end["type"], end["stop_reason"]) == (130, "done", "cancelled")
    end = lines(place.run_here("run", "kind", "--missing", "--json"))[-1]
    assert (end["ran"], end["in_batches"]) == (0, 2)
    code, report = run_test(place)
    assert code == 4 and "in a batch" in report["personas"][0]["inputs"][0]["reason"]
    assert b"2 more in a batch" in place.run_here("outputs", "kind").stdout
    server.batches_end = True
    assert len(json.loads(place.run_here("outputs", "kind", "--json").stdout)) == 2
    assert run_test(place)[0] == 0 and len(server.batches) == 1
    assert len([one for one in server.bodies if "tools" not in one]) == 1, "the probe alone was streamed"


def test_a_test_in_a_batch_runs_what_is_missing_and_tells_errors(
    place: Workplace, server: MessagesServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "FIRST_WAIT", 0.01)
    path = place.store.home.personas / "kind.toml"
    path.with_name("second.toml").write_text(FILE)
    done = place.run_here("test", "kind", "second", "--batch")
    assert done.returncode == 0 and len(server.batches) == 2
    assert b"batch msgbatch_002: 2 of 2 done" in done.stderr
    server._brain = lambda body: brain(body) if "stream" in body else Refusal(400, message="no")
    path.write_text(FILE.replace("Be kind.", "Be very kind."))
    code, report = run_test(place, "--batch")
    assert code == 4 and report["errors"] == 2 and len(server.batches) == 3, (
        "an error is not run again at once"
    )
    server._brain = brain
    end = lines(place.run_here("run", "kind", "--missing", "--batch", "--json"))[-1]
    assert (end["ran"], end["failed"], end["reused"]) == (2, 0, 0) and end["usage"]["output_tokens"] == 34
    assert run_test(place)[0] == 0
    priced = [
        json.loads(Workplace(place.home, Backend("official", {"ANTHROPIC_API_KEY": "x"})).run_here(
            "run", "kind", "--dry-run", "--json", *more).stdout)["dollars"] for more in ((), ("--batch",))
    ]  # fmt: skip
    assert priced[1] == pytest.approx(priced[0] / 2)


def test_each_stage_of_an_arc_is_judged_by_itself(
    place: Workplace, server: MessagesServer, tmp_path: Path
) -> None:
    library = LibraryStore(place.store)
    library.create("part", "warm", {"type": "tone", "content": "Be kind."})
    library.create("part", "icy", {"type": "tone", "content": "Be icy."})
    stages = [{"name": "cold", "parts": ["icy"]}, {"name": "mild", "parts": ["warm"]}]
    library.create("arc", "thaw", {"stages": stages})
    path = place.store.home.personas / "kind.toml"
    path.write_text(FILE.replace("Be kind.", "Stay.") + '[arc]\nname = "thaw"\nstage = "mild"\n')
    path.with_name("plain.toml").write_text(FILE)
    junit = tmp_path / "out.xml"
    code, report = run_test(place, "--each-stage", "--junit", str(junit), ids=("kind", "plain"))
    assert code == 1 and (report["passed"], report["failed"], report["errors"]) == (2, 1, 0)
    assert [(one["id"], one.get("stage"), one["passed"], one["failed"]) for one in report["personas"]] == [
        ("kind", "cold", 0, 1), ("kind", "mild", 1, 0), ("plain", None, 1, 0),
    ]  # fmt: skip
    suites = [one.attrib["name"] for one in ElementTree.parse(junit).getroot()]
    assert suites == ["kind, stage cold", "kind, stage mild", "plain"]
    assert len(server.bodies) == 6 and 'stage = "mild"' in path.read_text()
    told = place.run_here("test", "kind", "--each-stage").stdout.decode()
    assert "kind, stage cold: 1 failed" in told and len(server.bodies) == 6, "fresh outputs are reused"
    assert run_test(place)[0] == 0 and len(server.bodies) == 6, "its own stage is one of them"
    assert place.run_here("test", "kind", "--each-stage", "--bless").returncode == 2


def test_reports_for_build_servers_and_people(place: Workplace, tmp_path: Path) -> None:
    path = place.store.home.personas / "kind.toml"
    path.write_text(FILE.replace("max = 20", "max = 3").replace("Be kind.", "Be kind \\u0007 <b>|`"))
    hostile = 'type = "contains", value = "\\u001b]0;owned\\u0007 \\u009b \\u202e"'
    path.write_text(path.read_text().replace('type = "icontains", value = "kind"', hostile))
    path.with_name("broken.toml").write_text('name = "x')
    junit, md = tmp_path / "out.xml", tmp_path / "out.md"
    done = place.run_here("test", "kind", "broken", "--junit", str(junit), "--md", str(md))
    assert done.returncode == 4
    suite = ElementTree.parse(junit).getroot()[0]
    assert suite.attrib["tests"] == "2" and suite.attrib["failures"] == "1" and suite.attrib["skipped"] == "1"
    failure = suite[0].find("failure")
    assert failure is not None and "word-count" in failure.attrib["message"]
    assert "| refund | ✗ fail | contains:" in md.read_text()
    assert not forbidden_in(md.read_text() + junit.read_text())
    broken = ElementTree.parse(junit).getroot()[1]
    assert broken.attrib["tests"] == "1" and broken.find("testcase/error") is not None
    assert "! The persona broken is broken" in md.read_text()


def test_a_baseline_is_blessed_and_what_broke_since_is_named(place: Workplace) -> None:
    assert place.run_here("test", "kind", "--bless").returncode == 0
    path = place.home / "baselines" / "kind.toml"
    blessed = tomllib.loads(path.read_text())
    assert blessed["inputs"][0]["answers"] == ["Be kind. You said: I want my money back."]
    assert (blessed["inputs"][0]["passed"], blessed["inputs"][0]["samples"]) == (1, 1)
    place.store.change("kind", SetPrompt("Be cruel."), revision=None, by=USER)
    code, report = run_test(place)
    assert code == 1 and report["personas"][0]["baseline"] == {"broke": ["refund"], "fixed": []}
    assert "broke since the baseline: refund" in place.run_here("test", "kind").stdout.decode()
    path.write_text("[[")
    done = place.run_here("test", "kind")
    assert done.returncode == 1 and "cannot be read" in done.stderr.decode()


def test_personas_are_chosen_by_tag_and_by_what_git_says(place: Workplace) -> None:
    folder = place.store.home.personas
    for path in folder.glob("*.toml"):
        if path.stem != "kind":
            path.unlink()
    (folder / "tagged.toml").write_text('tags = ["ship"]\n' + FILE)
    assert [one["id"] for one in run_test(place, "--tag", "ship", ids=())[1]["personas"]] == ["tagged"]
    assert len(run_test(place, "--all", ids=())[1]["personas"]) == 2

    def git(*words: str) -> None:
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=place.home, check=True,
                       capture_output=True)  # fmt: skip

    (folder / "linked.toml").write_text("traits = ['curious', 'none']\n" + FILE)
    trait = place.store.home.library / "traits" / "curious.toml"
    trait.write_text('instruction = "Ask."')
    git("init", "-q")
    git("add", "personas", "library")
    git("commit", "-qm", "x")
    assert run_test(place, "--changed", "HEAD", ids=())[1]["personas"] == []
    assert "none differs from HEAD" in place.run_here("test", "--changed", "HEAD").stdout.decode()
    (folder / "new.toml").write_text(FILE)
    (folder / "kind.toml").write_text(FILE + "# changed\n")
    trait.write_text('instruction = "Listen."')
    changed = run_test(place, "--changed", "HEAD", ids=())[1]["personas"]
    assert sorted(one["id"] for one in changed) == ["kind", "linked", "new"]


def test_two_versions_are_compared_on_the_same_inputs(place: Workplace, tmp_path: Path) -> None:
    store = place.store
    agent = Author("agent", run_id="run_1")
    store.change("kind", SetPrompt("Be cruel."), revision=None, by=agent)
    store.change("kind", SetPrompt("Be crueller."), revision=None, by=agent)
    md = tmp_path / "c.md"
    done = place.run_here("compare", "kind", "--json", "--md", str(md))
    found = json.loads(done.stdout)
    assert done.returncode == 1 and (found["a"], found["b"]) == ("version 0", "now, version 2")
    assert (found["broke"], found["fixed"], found["p"]) == (1, 0, 1.0)
    assert found["sentence"].startswith("broke 1, fixed 0: too few to tell")
    refund = found["inputs"][0]
    assert refund["a"]["text"].startswith("Be kind.") and refund["b"]["text"].startswith("Be crueller.")
    assert refund["a"]["version"] == 0 and refund["b"]["version"] == 2
    assert "-Be kind." in md.read_text() and "✗" in md.read_text()
    done = place.run_here("compare", "kind", "2", "0", "--json")
    assert done.returncode == 0 and json.loads(done.stdout)["fixed"] == 1


def test_a_comparison_begins_where_the_prompt_was_another(place: Workplace) -> None:
    store = place.store
    store.change("kind", AddTestInput("Hi", "more-1"), revision=None, by=USER)
    store.change("kind", SetPrompt("Be cruel."), revision=None, by=USER)
    for number, by in ((3, USER), (4, Author("agent", run_id="run_1"))):
        store.change("kind", AddTestInput("Hi", f"more-{number}"), revision=None, by=by)
        found = json.loads(place.run_here("compare", "kind", "--json").stdout)
        assert (found["a"], found["b"]) == ("version 1", f"now, version {number}")


def test_two_models_and_two_personas_are_compared(place: Workplace, server: MessagesServer) -> None:
    (place.store.home.personas / "other.toml").write_text('system_prompt = "Be kind and brief."\n')
    models = ("--model", "claude-sonnet-5-5", "--model", "claude-haiku-5-5")
    place.run_here("run", "kind", "--input", "refund")
    told = offline(place).run_here("compare", "kind", "--with", "other").stdout.decode()
    assert "there is no output of it yet" in told and "@@" not in told, "nothing is no other answer"
    found = json.loads(place.run_here("compare", "kind", *models, "--json").stdout)
    assert [found["inputs"][0][side]["model"] for side in "ab"] == list(models[1::2])
    found = json.loads(place.run_here("compare", "kind", "--with", "other", "--json").stdout)
    assert (found["a"], found["b"]) == ("kind", "other") and found["broke"] == 0
    assert found["inputs"][0]["b"]["text"].startswith("Be kind and brief.")
    assert len(server.bodies) == 6, "what is fresh is not run again"
    told = place.run_here("compare", "kind", "--with", "other").stdout.decode()
    assert "no difference seen on 1 input." in told and "+Be kind and brief." in told


def test_a_signal_ends_a_run_and_keeps_what_is_done(place: Workplace, server: MessagesServer) -> None:
    server._brain = lambda body: brain(body).but(delay=0.2) if len(server.bodies) > 3 else brain(body)  # type: ignore[union-attr]
    process = place.start("run", "kind", "--samples", "20", "--json", stdout=subprocess.PIPE)
    assert process.stdout is not None
    printed = []
    for line in process.stdout:
        printed.append(json.loads(line))
        if printed[-1]["type"] == "output" and len([one for one in printed if one["type"] == "output"]) == 3:
            process.send_signal(signal.SIGTERM)
            break
    printed += [json.loads(line) for line in process.stdout]
    assert process.wait(20) == 143
    end = printed[-1]
    assert end["type"] == "done" and end["stop_reason"] == "cancelled" and end["ran"] >= 3
    stored = json.loads(place.run_here("outputs", "kind", "--json").stdout)
    acknowledged = {one["id"] for one in printed if one["type"] == "output"}
    assert acknowledged == {one["id"] for one in stored} and len(stored) == end["ran"]


def test_a_test_is_stopped_and_keeps_what_is_done(place: Workplace, server: MessagesServer) -> None:
    server._brain = lambda body: brain(body).but(delay=0.1) if len(server.bodies) > 6 else brain(body)  # type: ignore[union-attr]
    process = place.start("test", "kind", "--samples", "20", "--json", stdout=subprocess.PIPE)
    deadline = time.monotonic() + 20
    while len(server.bodies) < 8 and time.monotonic() < deadline:
        time.sleep(0.01)
    begun = time.monotonic()
    process.send_signal(signal.SIGINT)
    assert process.wait(10) == 130 and time.monotonic() - begun < 3
    stored = json.loads(place.run_here("outputs", "kind", "--json").stdout)
    assert len(stored) >= 3 and not any(one["error"] for one in stored)
    code, report = run_test(place, "--samples", "3")
    assert code == 0 and report["passed"] == 1


def test_a_signal_before_the_run_begins_still_ends_the_stream(place: Workplace) -> None:
    for pause in (0.1, 0.2, 0.3):
        command = [sys.executable, "-m", "tui", "run", "kind", "--json"]  # it loads everything itself
        process = subprocess.Popen(
            command, env=place.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        time.sleep(pause)
        process.send_signal(signal.SIGTERM)
        printed, _ = process.communicate(timeout=20)
        found = [json.loads(line) for line in printed.splitlines()]
        assert process.returncode in (0, 143, -signal.SIGTERM)
        if process.returncode == 143:
            assert found[-1]["type"] == "done" and found[-1]["stop_reason"] == "cancelled"


def test_both_sides_of_a_comparison_have_the_same_judge(place: Workplace, server: MessagesServer) -> None:
    (place.store.home.personas / "kind.toml").write_text(
        'system_prompt = "Be kind."\n[[test_inputs]]\nid = "r"\ncontent = "Hi"\n'
        'expect = [{ type = "llm-rubric", value = "Nice" }]\n'
    )
    models = ("--model", "claude-sonnet-5-5", "--model", "claude-haiku-5-5")
    assert place.run_here("compare", "kind", *models).returncode == 0
    judges = [body["model"] for body in server.bodies if "tools" in body]
    assert judges == ["claude-haiku-5-5"] * 2
