"""`persona find` and `persona replace`: what is found where, what is replaced, and that one undo takes it back."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agent.outputs.output_log import Output, OutputLog
from agent.search.pattern import Pattern
from agent.search.replace import preview, write
from personas.files.text_file import encode
from tests.support.persona_agent import Workplace

TOML = '''# a comment
name = "Billing"
system_prompt = """
You are calm.
Never promise a Refund. A refund is for the desk.
"""

[[test_inputs]]
id = "late"
messages = [
  { role = "user", content = "Hello" },
  { role = "user", content = "Where is my refund?" },
]

[[test_inputs]]
id = "n1"
content = "caf\\u00e9: first\\nrefunded?"
'''


def run(place: Workplace, *arguments: str, code: int = 0) -> str:
    done = place.run_here(*arguments)
    assert done.returncode == code, done.stderr.decode()
    return (done.stdout if code == 0 else done.stdout + done.stderr).decode()


def found(place: Workplace, *arguments: str) -> list[tuple[Any, ...]]:
    return [tuple(one.values()) for one in json.loads(run(place, "find", *arguments, "--json"))]


@pytest.fixture
def filled(place: Workplace) -> Workplace:
    (place.home / "personas").mkdir(parents=True)
    (place.home / "library" / "skills" / "desk").mkdir(parents=True)
    (place.home / "personas" / "billing.toml").write_bytes(encode(TOML))
    (place.home / "personas" / "broken.toml").write_text("refund = \n")
    (place.home / "library" / "skills" / "desk" / "SKILL.md").write_text(
        "---\nname: desk\ndescription: For a refund\n---\nAsk.\nGive a refund.\n"
    )
    run(place, "part", "new", "warm", "--type", "tone", "--content", "Be warm.\nNo refund.")
    run(place, "arc", "new", "way", "--stage", "cold=warm")
    (place.home / "outputs").mkdir(exist_ok=True)
    known = {"input_hash": "", "prompt_hash": "", "settings_hash": ""}
    OutputLog(place.store.home, "billing").append(
        Output(input_id="late", text="Sorry.\nYour\tREFUND is late.", **known)  # type: ignore[arg-type]
    )
    return place


def test_text_is_found_in_prompts_inputs_outputs_and_library(filled: Workplace) -> None:
    everywhere = found(filled, "refund")
    assert everywhere == [
        ("billing", "prompt", 2, "Never promise a Refund. A refund is for the desk."),
        ("billing", "input late", 1, "Where is my refund?"),
        ("billing", "input n1", 2, "refunded?"),
        ("billing", "output late", 2, "Your\tREFUND is late."),
        ("part/warm", "content", 2, "No refund."),
        ("skill/desk", "description", 1, "For a refund"),
        ("skill/desk", "content", 2, "Give a refund."),
    ]
    assert found(filled, "refund", "--in", "inputs", "--in", "outputs") == everywhere[1:4]
    assert found(filled, "refund", "--in", "library") == everywhere[4:]
    assert found(filled, "CAFÉ: FIRST\nref") == [("billing", "input n1", 1, "café: first")]
    assert found(filled, r"^no\b", "--regex") == []
    assert found(filled, r"(?i)^no\b", "--regex") == [everywhere[4]]
    assert found(filled, "x*", "--regex", "--in", "prompts") == []
    assert found(filled, "nowhere at all") == []
    told = run(filled, "find", "refund")
    assert "billing     prompt:2       Never promise a Refund." in told
    assert "broken was not searched" in filled.run_here("find", "refund").stderr.decode()


def test_an_expression_that_is_none_or_takes_too_long_ends_the_search(filled: Workplace) -> None:
    assert "is not a regular expression" in run(filled, "find", "(", "--regex", code=1)
    assert "empty" in run(filled, "find", "", code=1)
    (filled.home / "personas" / "long.toml").write_text(f'system_prompt = "{"a" * 60}b"\n')
    assert "took longer" in run(filled, "find", "(a+)+$", "--regex", "--in", "prompts", code=1)


def test_what_is_replaced_is_shown_first_and_one_undo_takes_all_of_it_back(filled: Workplace) -> None:
    (filled.home / "personas" / "broken.toml").unlink()
    files = [
        filled.home / "personas" / "billing.toml",
        filled.home / "library" / "parts" / "warm.toml",
        filled.home / "library" / "skills" / "desk" / "SKILL.md",
    ]
    before = [file.read_text() for file in files]
    shown = run(filled, "replace", "refund", "credit", "--all", "--dry-run")
    assert "-Never promise a Refund. A refund is" in shown and "+Never promise a Refund. A credit is" in shown
    assert "Where is my credit?" in shown and "+No credit." in shown and "+Give a credit." in shown
    assert [file.read_text() for file in files] == before

    told = run(filled, "replace", "refund", "credit", "--all")
    assert told.startswith(shown) and "Replaced in 3 documents; persona undo billing undoes it" in told
    assert files[0].read_text() == before[0].replace("A refund", "A credit").replace("my refund", "my credit").replace(
        '"caf\\u00e9: first\\nrefunded?"', '"""\ncaf\\u00e9: first\ncredited?"""'
    )  # fmt: skip
    assert [file.read_text() for file in files[1:]] == [
        before[1].replace("refund", "credit"),
        before[2].replace("For a refund", '"For a credit"').replace("refund", "credit"),
    ]
    run(filled, "undo", "part/warm")
    assert [file.read_text() for file in files] == before
    assert "'refund' replaced by 'credit'" in run(filled, "log", "billing")


def test_what_is_replaced_may_be_a_word_or_an_expression_in_some_documents(filled: Workplace) -> None:
    file = filled.home / "personas" / "billing.toml"
    run(filled, "replace", "refund", "credit", "billing", "--word")
    assert "A credit is" in file.read_text() and "refunded?" in file.read_text()
    assert "No refund." in run(filled, "part", "show", "warm")
    run(filled, "replace", r"^You are (\w+)", r"Be \1, be kind", "billing", "--regex")
    assert "\nBe calm, be kind.\n" in file.read_text()
    assert r"'^You are (\w+)' replaced by 'Be \1, be kind'" in run(filled, "log", "billing")
    assert "invalid group" in run(filled, "replace", "calm", r"\7", "billing", "--regex", code=1)
    assert "no persona" in run(filled, "replace", "calm", "kind", "billing", "nobody", code=1)
    assert "--all" in run(filled, "replace", "calm", "kind", code=2)
    assert "be kind" in file.read_text()


def test_what_conflicts_or_is_broken_is_named_and_left(filled: Workplace) -> None:
    told = run(filled, "replace", "refund", "credit", "--all", code=1)
    assert "Replaced in 3 documents" in told and "Skipped: broken:" in told
    store = filled.store
    found, _ = preview(store, Pattern("credit"), "sum", ["billing", "part/warm"])
    file = filled.home / "personas" / "billing.toml"
    file.write_text(theirs := file.read_text().replace("calm", "kind"))
    assert write(store, found, "") == (
        ["part/warm"],
        [("billing", "billing was changed meanwhile; nothing was written.")],
    )
    assert file.read_text() == theirs
