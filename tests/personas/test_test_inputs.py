"""What a test input says in the file: conversations, expectations, samples; what is wrong breaks that input alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from personas.changes import SetExpectation, SetSamples, UpdateTestInput
from personas.errors import InvalidValue
from personas.files.home import open_home
from personas.persona import Persona, TestInput, read_persona
from personas.store import Store
from personas.test_inputs import TYPES, Expectation, fault_of
from personas.versions.authorship import USER

FILE = """\
system_prompt = "Be kind."

[judge]
name = "claude-opus-5-5"

[[test_inputs]]
id = "refund"
content = "I want my money back."
note = "kept"
expect = [
  { type = "icontains", value = "sorry" },
  { type = "not-contains", value = "as an AI", weight = 2 },
  { type = "word-count", max = 120 },
  { type = "llm-rubric", value = "Offers one concrete next step." },
]

[[test_inputs]]
id = "angry-twice"
messages = [
  { role = "user", content = "Where is my parcel?" },
  { role = "assistant", content = "On its way." },
  { role = "user", content = "You said that YESTERDAY." },
]
samples = 3
min_pass = 2
"""


def read(text: str) -> Persona:
    return read_persona("kind", text.encode())


def read_first(text: str) -> TestInput:
    return read(text).test_inputs[0]


def only(lines: str) -> TestInput:
    """The first of two inputs, with these lines; the second one is always whole."""
    persona = read(f'[[test_inputs]]\nid = "one"\n{lines}\n[[test_inputs]]\nid = "two"\ncontent = "Hi"\n')
    assert persona.error is None, "a broken input does not break the file"
    assert [one.id for one in persona.test_inputs] == ["one", "two"]
    assert persona.test_inputs[1].error is None
    return persona.test_inputs[0]


def test_expectations_and_conversations_are_read() -> None:
    persona = read(FILE)
    refund, angry = persona.test_inputs
    assert persona.error is None and persona.judge == "claude-opus-5-5"
    assert [one.type for one in refund.expect] == ["icontains", "not-contains", "word-count", "llm-rubric"]
    assert refund.expect[1].base == "contains" and refund.expect[1].is_negated
    assert refund.expect[1].weight == 2 and refund.expect[2].max == 120 and refund.error is None
    assert [one.role for one in angry.messages] == ["user", "assistant", "user"]
    assert angry.content == "You said that YESTERDAY." and (angry.samples, angry.min_pass) == (3, 2)
    json.dumps(persona.to_record())


def test_expectations_may_be_tables_of_their_own() -> None:
    found = only('content = "x"\n[[test_inputs.expect]]\ntype = "equals"\nvalue = "4"\n')
    assert [one.to_record() for one in found.expect] == [{"type": "equals", "value": "4"}]


@pytest.mark.parametrize(
    ("lines", "line", "words"),
    [
        ('content = "x"\nexpect = [\n{ type = "contains", value = "a" },\n{ type = "icontain", value = "a" },\n]', 6,
         "did you mean icontains"),
        ('content = "x"\nexpect = [{ type = "contains" }]', 4, "needs a text"),
        ('content = "x"\nexpect = [{ type = "contains", value = "" }]', 4, "needs a text"),
        ('content = "x"\nexpect = [{ type = "contains-all", value = "a" }]', 4, "needs a list"),
        ('content = "x"\nexpect = [{ type = "word-count" }]', 4, "needs min, max or value"),
        ('content = "x"\nexpect = [{ type = "char-count", min = 3, max = 2 }]', 4, "min above its max"),
        ('content = "x"\nexpect = [{ type = "not-levenshtein", value = 1 }]', 4, "needs a text"),
        ('content = "x"\nexpect = [{ type = "llm-rubric" }]', 4, "needs a text"),
        ('content = "x"\nexpect = [{ type = "latency" }]', 4, "needs a threshold"),
        ('content = "x"\nexpect = [{ type = "cost", threshold = nan }]', 4, "needs a threshold"),
        ('content = "x"\nexpect = [{ type = "is-json", value = "{}" }]', 4, "takes a table"),
        ('content = "x"\nexpect = [{ value = "a" }]', 4, "no type"),
        ('content = "x"\nexpect = [{ type = "is-json", value = { const = 1979-05-27 } }]', 4, "takes a table"),
        ('content = "x"\nexpect = [{ type = "is-json", value = { const = inf } }]', 4, "takes a table"),
        (f'content = "x"\nexpect = [{{ type = "char-count", max = 0x{"f" * 5000} }}]', 4, "needs min, max"),
        (f'content = "x"\nexpect = [{{ type = "equals", value = 0x{"f" * 5000} }}]', 4, "needs a text"),
        ('content = "x"\nexpect = [{ type = "equals", value = "a", weight = nan }]', 4, "weight"),
        ('content = "x"\nexpect = [1]', 4, "must be a table"),
        ('content = "x"\nexpect = { type = "equals", value = "a" }', 4, "must be a list"),
        ('content = "x"\nsamples = 0', 4, "samples must be"),
        ('content = "x"\nsamples = 2\nmin_pass = 3', 5, "more than the 2 samples"),
        ('content = "x"\nmessages = [{ role = "user", content = "y" }]', 4, "not both"),
        ('messages = [{ role = "system", content = "y" }]', 3, "a message has a role"),
        ('messages = [{ role = "assistant", content = "y" }]', 3, "begin and end"),
        ('messages = []', 3, "begin and end"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_that_inputs_error_with_its_line(lines: str, line: int, words: str) -> None:
    found = only(lines)
    assert found.error is not None and words in found.error.message
    assert found.error.line == line


def test_not_stands_before_every_type() -> None:
    values = {"contains-all": ["a"], "contains-any": ["a"], "icontains-all": ["a"], "icontains-any": ["a"]}
    for kind in TYPES:
        given = {"value": values.get(kind, "a"), "threshold": 3, "min": 1}
        if kind in ("is-json", "contains-json"):
            given["value"] = {}
        if kind.endswith("-count"):
            given["value"] = 3
        assert fault_of({"type": f"not-{kind}", **given}) == ""


def test_the_last_message_of_a_conversation_is_what_is_edited(tmp_path: Path) -> None:
    store = Store(open_home(tmp_path / "home"))
    (tmp_path / "home" / "personas" / "kind.toml").write_text(FILE)
    after = store.change("kind", UpdateTestInput("angry-twice", "Calm."), revision=None, by=USER)
    assert after.test_inputs[1].messages[-1].content == "Calm." and after.test_inputs[1].error is None
    assert store.text("kind") == FILE.replace("You said that YESTERDAY.", "Calm.")


_TRIED = """\
[[test_inputs]]
id = "refund"
content = "I want my money back."
expect = [
  # be kind
  { type = "icontains", value = "sorry" },   # always
  { type = "word-count", max = 120, note = "mine" },
]
"""


def test_one_expectation_is_changed_and_the_comments_around_it_stay() -> None:
    kind, short = read_first(_TRIED).expect
    text = SetExpectation("refund", short, short._replace(min=5, max=None)).apply(_TRIED)
    assert text == _TRIED.replace('max = 120, note = "mine"', 'min = 5, note = "mine"')
    text = SetExpectation("refund", None, Expectation(type="regex", value=r"\d")).apply(text)
    text = SetExpectation("refund", kind, None).apply(text)
    assert [one.type for one in read_first(text).expect] == ["word-count", "regex"] and "# be kind" in text
    with pytest.raises(InvalidValue, match="changed or removed meanwhile"):
        SetExpectation("refund", kind, None).apply(text)
    with pytest.raises(InvalidValue, match="needs min, max or value"):
        SetExpectation("refund", None, Expectation(type="char-count")).apply(text)
    for last in read_first(text).expect:
        text = SetExpectation("refund", last, None).apply(text)
    assert read_first(text).expect == ()


def test_samples_are_set_and_taken_away() -> None:
    text = SetSamples("refund", 3, 2).apply(_TRIED)
    assert (read_first(text).samples, read_first(text).min_pass) == (3, 2)
    assert SetSamples("refund", None, None).apply(text) == _TRIED
    with pytest.raises(InvalidValue, match="more than the 3 samples"):
        SetSamples("refund", 3, 4).apply(text)
