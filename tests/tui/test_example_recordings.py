"""Without a key, the example that has recordings shows outputs, a failing expectation and a comparison."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent.outputs.output_log import OutputLog, outdated
from agent.outputs.variant import variant_of
from personas.files.home import RECORDINGS, open_home
from personas.store import Store
from tests.record_examples import RECORDED, record
from tests.support.persona_agent import Backend, Workplace


@pytest.fixture
def place(tmp_path: Path) -> Workplace:
    return Workplace(tmp_path / "home", Backend("none", {}))


@pytest.mark.parametrize("example", RECORDED)
def test_a_new_home_has_two_versions_and_outputs_of_both(place: Workplace, example: str) -> None:
    store = place.store
    assert [version.number for version in store.log(example)] == [1], (
        "the shipped file is the recorded version"
    )
    persona, stored = store.get(example), OutputLog(store.home, example).read()
    inputs = {one.id: one for one in persona.test_inputs}
    variants = {number: variant_of(store, persona, model=None, version=number) for number in (0, 1)}
    assert {one.input_id for one in stored.outputs} == set(inputs)
    assert {one.version for one in stored.outputs} == {0, 1}
    assert {one.source for one in stored.outputs} == {"recording"}
    for one in stored.outputs:
        assert outdated(one, variants[one.version], inputs[one.input_id]) == []
        assert outdated(one, variants[1 - one.version], inputs[one.input_id]) == ["prompt"]
    assert all(one.error is None for persona in store.list() for one in persona.test_inputs)


def test_the_recordings_are_those_that_the_script_makes(tmp_path: Path) -> None:
    record(tmp_path / "again")
    for shipped in RECORDINGS.rglob("*.jsonl"):
        made = tmp_path / "again" / shipped.relative_to(RECORDINGS)
        kept = [[json.loads(line) for line in path.read_text().splitlines()] for path in (shipped, made)]
        for records in kept:
            for one in records:
                one.pop("at", None)
        assert kept[0] == kept[1], "run `python -m tests.record_examples`"


def test_the_commands_show_something_without_a_key(place: Workplace) -> None:
    listed = json.loads(place.run_here("outputs", "mentor", "--json").stdout)
    assert [one["outdated"] for one in listed].count(["prompt"]) == 3 and listed[0]["source"] == "recording"
    tested = place.run_here("test", "mentor", "--json")
    report = json.loads(tested.stdout)
    assert tested.returncode == 1 and (report["passed"], report["failed"], report["errors"]) == (2, 1, 0)
    tested = json.loads(place.run_here("test", "editor", "--json").stdout)["personas"][0]["inputs"]
    found = [(one["id"], one["verdict"], one["outdated"]) for one in tested]
    assert found == [("notice", "fail", False), ("placeholder", "fail", True), ("leave-it", "pass", False)], (
        "the persona that a new home opens shows a failing expectation and an outdated output"
    )
    compared = place.run_here("compare", "mentor", "--json")
    found = json.loads(compared.stdout)
    assert compared.returncode == 1 and (found["broke"], found["fixed"]) == (1, 2)
    assert found["sentence"].startswith("broke 1, fixed 2: too few to tell")


def test_the_coverage_of_an_example_can_be_seen_without_a_key(place: Workplace) -> None:
    done = place.run_here("coverage", "mentor", "--input", "recursion", "--json")
    found = json.loads(done.stdout)
    assert done.returncode == 0 and found["calls"] == 0 and found["noise"]["recursion"]["passed"] == 8
    assert {one["line"]: one["finding"] for one in found["pieces"]} == {
        1: "nothing notices", 3: "tests fail", 4: "answers change", 5: "nothing notices", 6: "nothing notices",
        8: "answers change",
    }  # fmt: skip
    done = place.run_here("coverage", "mentor")
    assert done.returncode == 4 and b"career, just-tell-me cannot be tried: no model" in done.stderr
    assert done.stdout.count(b"recursion") == 4, "what is stored is shown"
    assert place.run_here("coverage", "mentor", "--input", "career").returncode == 4


def test_what_is_there_already_is_not_replaced(tmp_path: Path) -> None:
    root = tmp_path / "home"
    (root / "outputs").mkdir(parents=True)
    (root / "outputs" / "mentor.jsonl").write_text("mine\n")
    home = open_home(root)
    assert (home.outputs / "mentor.jsonl").read_text() == "mine\n" and (home.versions / "mentor").is_dir()
    (root / "personas" / "mentor.toml").unlink()
    (root / "outputs" / "mentor.jsonl").unlink()
    assert not (open_home(root).outputs / "mentor.jsonl").exists(), "they come with the examples alone"
    assert Store(home).log("mentor")
