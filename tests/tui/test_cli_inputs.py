"""`persona inputs`: listed, added, deleted, moved to another persona, imported and exported, each undone at once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from personas.files.text_file import encode
from tests.support.persona_agent import Workplace

BILLING = '''name = "Billing"

# A comment of its own.

# Only once a year.
[[test_inputs]]
id = "late" # short
# What they want:
content = """
My refund
is late."""
samples = 3
min_pass = 2
origin = "desk"
expect = [
  { type = "icontains", value = "sorry" }, # always
  { type = "word-count", max = 9 },
]

[[test_inputs]]
id = "talk"
messages = [
  { role = "user", content = "Hello" },
  { role = "assistant", content = "Yes?" },
  { role = "user", content = "Caf\\u00e9?" },
]

[[test_inputs]]
id = "last"
content = "Bye"

[x]
kept = true
'''
DESK = '[[test_inputs]]\r\nid = "late"\r\ncontent = "Here already"\r\n'
BRACES = 'test_inputs = [\n  { id = "one", content = "1" }, # first\n]\n'
LATE = BILLING[BILLING.index("# Only once") : BILLING.index('\n[[test_inputs]]\nid = "talk"')]
TALK = BILLING[
    BILLING.index('[[test_inputs]]\nid = "talk"') : BILLING.index('\n[[test_inputs]]\nid = "last"')
]


@pytest.fixture
def filled(place: Workplace) -> Workplace:
    folder = place.home / "personas"
    folder.mkdir(parents=True)
    for name, text in {"billing": BILLING, "desk": DESK, "braces": BRACES, "bare": 'name = "Bare"\n'}.items():
        (folder / f"{name}.toml").write_bytes(encode(text))
    return place


def run(place: Workplace, *arguments: str, code: int = 0) -> str:
    done = place.run_here(*arguments)
    assert done.returncode == code, done.stderr.decode()
    return (done.stdout + done.stderr).decode()


def text(place: Workplace, persona_id: str) -> str:
    return (place.home / "personas" / f"{persona_id}.toml").read_bytes().decode()


def test_a_move_takes_everything_along_and_one_undo_of_either_takes_it_back(filled: Workplace) -> None:
    said = run(filled, "inputs", "billing", "mv", "late", "talk", "--to", "desk", "--dry-run")
    assert "+My refund" in said and "-My refund" in said and text(filled, "billing") == BILLING

    said = run(filled, "inputs", "billing", "mv", "late", "talk", "--to", "desk")
    assert said == "moved late as late-2, talk to desk\n"
    came = f"{LATE}\n{TALK}".replace('"late"', '"late-2"').replace("\n", "\r\n")
    assert text(filled, "desk") == f"{DESK}\r\n{came}"
    assert text(filled, "billing") == BILLING.replace(f"{LATE}\n{TALK}\n", "")
    listed = run(filled, "inputs", "desk")
    assert "3 messages" in listed and "2 expectations, 3 outputs" in listed

    assert "also in desk" in run(filled, "undo", "billing")
    assert (text(filled, "billing"), text(filled, "desk")) == (BILLING, DESK)
    run(filled, "redo", "billing")
    run(filled, "undo", "desk")
    assert (text(filled, "billing"), text(filled, "desk")) == (BILLING, DESK)


def test_what_is_moved_is_written_as_the_other_file_writes_its_own(filled: Workplace) -> None:
    run(filled, "inputs", "billing", "mv", "late", "--to", "bare")
    assert text(filled, "bare") == f'name = "Bare"\n\n{LATE}'
    run(filled, "inputs", "billing", "cp", "last", "talk", "--to", "braces")
    assert '  { id = "one", content = "1" }, # first\n  { id = "last", content = "Bye" }' in text(
        filled, "braces"
    )
    answer = json.loads(run(filled, "inputs", "braces", "mv", "one", "talk", "--to", "billing", "--json"))
    assert (answer["id"], answer["inputs"]) == ("billing", ["one", "talk-2"])
    assert [one.id for one in filled.store.get("billing").test_inputs] == ["talk", "last", "one", "talk-2"]
    assert filled.store.get("billing").error is None and text(filled, "billing").endswith(
        "[x]\nkept = true\n"
    )
    run(filled, "inputs", "billing", "cp", "last", "--to", "billing")
    assert filled.store.get("billing").test_inputs[-1].id == "last-2"


def test_a_move_that_cannot_be_made_changes_nothing(filled: Workplace) -> None:
    (filled.home / "personas" / "broken.toml").write_text("x = \n")
    for arguments, why in (
        (("late", "gone", "--to", "desk"), "no test input 'gone'"),
        (("late", "--to", "billing"), "already"),
        (("late", "--to", "nobody"), "nobody"),
        (("late", "--to", "broken"), "The persona broken is broken"),
    ):
        assert why in run(filled, "inputs", "billing", "mv", *arguments, code=1)
    assert (text(filled, "billing"), text(filled, "desk")) == (BILLING, DESK)


def test_what_is_exported_is_imported_as_it_was(filled: Workplace, tmp_path: Path) -> None:
    file = str(tmp_path / "out.jsonl")
    assert "wrote 3" in run(filled, "inputs", "billing", "export", file)
    assert "already" in run(filled, "inputs", "billing", "export", file, code=1)
    run(filled, "inputs", "bare", "import", file)
    assert filled.store.get("bare").test_inputs == filled.store.get("billing").test_inputs
    assert 'origin = "desk"' in text(filled, "bare")
    before = text(filled, "bare")
    Path(file).write_text(run(filled, "inputs", "billing", "export", "-"))
    said = run(filled, "inputs", "bare", "import", file)
    assert "3 of them are there already" in said and text(filled, "bare") == before
    run(filled, "undo", "bare")
    assert text(filled, "bare") == 'name = "Bare"\n'


def test_one_a_line_and_one_by_one(filled: Workplace, tmp_path: Path) -> None:
    file = tmp_path / "lines.txt"
    file.write_bytes("\ufeffWhat is 2+2?\r\n\r\nWhat is 2+2?\r\n  Où?\r\n".encode())
    assert "What is 2+2?" in run(filled, "inputs", "bare", "import", str(file), "--dry-run")
    assert run(filled, "inputs", "bare", "import", str(file)).startswith("added what-is-2-2, ou")
    assert run(filled, "inputs", "bare", "add", "Why?\r\nOr not.", "--id", "why") == "added why\n"
    assert [(one.id, one.content) for one in filled.store.get("bare").test_inputs] == [
        ("what-is-2-2", "What is 2+2?"),
        ("ou", "Où?"),
        ("why", "Why?\nOr not."),
    ]
    run(filled, "inputs", "bare", "rm", "why", "ou")
    assert [one["id"] for one in json.loads(run(filled, "inputs", "bare", "--json"))] == ["what-is-2-2"]
    run(filled, "undo", "bare")
    assert len(filled.store.get("bare").test_inputs) == 3
    file.write_bytes(b"\xff")
    for arguments, why in (
        (["import", str(tmp_path)], "Could not read"),
        (["import", str(file)], "lines.txt: the file is not UTF-8"),
        (["rm", "x"], "no test input 'x'"),
    ):
        assert why in run(filled, "inputs", "bare", *arguments, code=1)
