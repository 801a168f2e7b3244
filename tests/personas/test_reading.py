"""Reading persona files: every form a person may write, and faults as values with their place."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from personas.errors import OutsideHome, UnknownPersona
from personas.files.home import Home
from personas.persona import ArcLink, ModelSettings, PartLink, TestInput, read_persona
from personas.store import Store

_FULL = """\
# mine
name = "Optimist ☀"
description = "d"
tags = ["a", "b"]
summary = "s"
system_prompt = '''
You are {{user}}.
'''
traits = ["t"]
skills = ["k"]
guardrails = ["g"]
unknown = { kept = true }

[model]
name = "m"
effort = "high"
max_tokens = 100

[[test_inputs]]
id = "sum"
content = "2+2?"

[[parts]]
name = "voice"
order = 2
priority = 1

[[parts]]
name = "plain"

[arc]
name = "growth"
stage = "two"
"""


def test_a_full_file_is_read_whole() -> None:
    persona = read_persona("optimist", _FULL.encode(), "s1")
    assert persona.error is None
    assert (persona.id, persona.name, persona.description) == ("optimist", "Optimist ☀", "d")
    assert (persona.tags, persona.summary) == (("a", "b"), "s")
    assert persona.system_prompt == "You are {{user}}.\n"
    assert persona.model == ModelSettings(name="m", effort="high", max_tokens=100)
    assert persona.test_inputs == (TestInput(id="sum", content="2+2?"),)
    assert persona.parts == (PartLink(name="voice", order=2, priority=1), PartLink(name="plain"))
    assert (persona.parts[1].order, persona.parts[1].priority) == (0, 0)
    assert (persona.traits, persona.skills, persona.guardrails) == (("t",), ("k",), ("g",))
    assert persona.arc == ArcLink(name="growth", stage="two")
    assert persona.agent_chat_session_id == "s1"


@pytest.mark.parametrize(
    "link",
    ["[[parts]]\nname = 'x'", "[arc]\nname = 'x'", "traits = ['x']", "skills = ['x']", "guardrails = ['x']"],
)
def test_one_link_of_any_kind_makes_a_persona_linked(link: str) -> None:
    assert read_persona("x", link.encode()).is_linked
    assert not read_persona("x", b"system_prompt = 'x'").is_linked


@pytest.mark.parametrize(
    "text",
    [
        'test_inputs = [{ id = "a", content = "x" }]\nmodel.max_tokens = 3',
        'test_inputs = [{ id = "a", content = "x" }]\n[model]\nmax_tokens = 3',
        'model = { max_tokens = 3 }\r\n[[test_inputs]]\r\nid = "a"\r\ncontent = "x"',
        '\ufeff[model]\nmax_tokens = 3\n[[test_inputs]]\ncontent = "x"\nid = "a"\n',
    ],
    ids=["inline and dotted", "inline", "CRLF", "byte order mark"],
)
def test_other_ways_to_write_it_read_the_same(text: str) -> None:
    persona = read_persona("x", text.encode())
    assert persona.error is None
    assert persona.test_inputs == (TestInput(id="a", content="x"),)
    assert persona.model.max_tokens == 3


def test_an_empty_file_is_a_persona() -> None:
    persona = read_persona("Some One", b"")
    assert (persona.name, persona.system_prompt, persona.error) == ("Some One", "", None)


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ('name = "a"\nname = "b"', 2, None, ""),
        ('name = "a', 1, None, ""),
        ("a = " + "[" * 500, 1, None, "deep"),
        pytest.param("x = 1\na = " + "9" * 5000, 2, 5, "too many digits", id="an endless number"),
        ("\nname = 5", 2, 8, "name must be text, not a whole number"),
        ("tags = 'x'", 1, 8, "tags must be a list, not text"),
        ("tags = ['x', 1.5]", 1, 14, "tags must hold texts, not a number"),
        ("system_prompt = []", 1, 17, "system_prompt must be text, not a list"),
        ("model = 'x'", 1, 9, "model must be a table, not text"),
        ("[model]\nmax_tokens = true", 2, 14, "max_tokens must be a whole number, not true or false"),
        (f"[model]\nmax_tokens = {2**63}", 2, 14, "max_tokens is too large a number"),
        pytest.param(
            "[model]\nmax_tokens = 0x" + "f" * 9000,
            2,
            14,
            "max_tokens is too large",
            id="an endless hex number",
        ),
        pytest.param(
            f"[[test_inputs]]\nid = '{'i' * 5000}'", 1, 1, f"'{'i' * 59}…' has no content", id="an endless id"
        ),
        ("[model]\nmax_tokens = 0", 2, 14, "max_tokens must be greater than 0"),
        ("test_inputs = 'x'", 1, 15, "test_inputs must be a list, not text"),
        ("test_inputs = ['x']", 1, 16, "test_inputs must hold tables, not text"),
        ("\n[[test_inputs]]\ncontent = 'x'", 2, 1, "test input 1 has no id"),
        ("[[test_inputs]]\nid = ''\ncontent = 'x'", 1, 1, "test input 1 has no id"),
        ("[[test_inputs]]\nid = 3\ncontent = 'x'", 2, 6, "id must be text, not a whole number"),
        ("[[test_inputs]]\nid = 'a'", 1, 1, "test input 'a' has no content"),
        (
            "[[test_inputs]]\nid = 'a'\ncontent = 'x'\n[[test_inputs]]\nid = 'a'\ncontent = 'y'",
            5,
            6,
            "two test inputs have the id 'a'",
        ),
        ("[[parts]]\norder = 1", 1, 1, "part 1 has no name"),
        ("[[parts]]\nname = 'a'\n[[parts]]\nname = ''", 3, 1, "part 2 has no name"),
        ("[arc]\nstage = 'x'", 1, 1, "the arc has no name"),
        ("arc = 1979-05-27", 1, 7, "arc must be a table, not a date or time"),
    ],
)
def test_a_fault_is_told_with_its_place(
    text: str, line: int | None, column: int | None, message: str
) -> None:
    error = read_persona("x", text.encode()).error
    assert error is not None
    assert message in error.message and not error.message.endswith(".")
    assert error.line == line
    if column is not None:
        assert error.column == column


MARKS = "<<<<<<< HEAD\n{}\n=======\n{}\n>>>>>>> other\n"


def test_a_merge_conflict_within_a_text_is_noted_with_its_line() -> None:
    text = (
        'name = "A"\nsystem_prompt = """\nfirst\n' + MARKS.format("a", "b") + MARKS.format("c", "d") + '"""\n'
    )
    for persona in (read_persona("x", text.encode()), read_persona("x", text.replace("\n", "\r\n").encode())):
        assert persona.error is None and persona.note is not None
        assert persona.note.message == "unresolved merge conflict, lines 4 to 8, 9 to 13"
        assert persona.note.line is None, "the message says it"


@pytest.mark.parametrize(
    "text",
    [
        "tags = []\n" + MARKS.format('name = "A"', 'name = "B"'),
        "tags = []\n" + MARKS.format('system_prompt = """\na\n"""', 'system_prompt = """\nb'),
    ],
)
def test_a_merge_conflict_outside_of_texts_is_called_that(text: str) -> None:
    error = read_persona("x", text.encode()).error
    assert error is not None and error.message.startswith("unresolved merge conflict, lines 2 to ")


def test_lines_that_only_look_like_marks_of_a_conflict_are_not_noted() -> None:
    for prompt in (
        "Title\n=======\n",
        "<<<<<<< HEAD\n",
        "=======\n>>>>>>> b\n",
        "<<<<<<<< a\n=======\n>>>>>>>> b\n",
    ):
        persona = read_persona("x", f'system_prompt = """\n{prompt}"""\n'.encode())
        assert persona.note is None and persona.error is None


def test_what_is_right_beside_a_fault_is_read() -> None:
    text = """
name = 5
system_prompt = "p"
tags = ["a", 1]
[[test_inputs]]
id = "a"
content = "x"
[[test_inputs]]
id = "a"
content = "y"
[[test_inputs]]
id = "b"
content = "z"
"""
    persona = read_persona("x", text.encode())
    assert persona.error is not None
    assert persona.error.message == "name must be text, not a whole number (and 2 more)"
    assert (persona.name, persona.system_prompt, persona.tags) == ("x", "p", ("a",))
    assert [(test.id, test.content) for test in persona.test_inputs] == [("a", "x"), ("b", "z")]


def test_bytes_that_are_no_text_are_a_broken_persona() -> None:
    error = read_persona("x", b'name = "\xff"').error
    assert error is not None and (error.line, error.column) == (1, 9)


# -- the folder ---------------------------------------------------------------------------------------


def test_every_file_is_listed_broken_or_not(store: Store, home: Home) -> None:
    (home.personas / "good.toml").write_text('name = "G"')
    (home.personas / "Bad one.toml").write_text("name =")
    os.mkfifo(home.personas / "pipe.toml")
    (home.personas / "dangling.toml").symlink_to("nowhere.toml")
    (home.personas / "out.toml").symlink_to("/etc/passwd")
    (home.personas / os.fsdecode(b"latin\xe9.toml")).write_text("")
    (home.personas / ".hidden.toml").write_text("")
    (home.personas / "folder.toml").mkdir()
    (home.personas / "notes.txt").write_text("")
    listed = {persona.id: persona.error for persona in store.list()}
    assert list(listed) == ["Bad one", "dangling", "good", "latin\ufffd", "out", "pipe"]
    assert listed.pop("good") is None
    assert all(error is not None and not error.message.endswith(".") for error in listed.values())
    assert store.ids() == ["Bad one", "dangling", "good", "out", "pipe"]
    assert store.get("pipe").error == listed["pipe"]
    assert store.get("out").system_prompt == ""


def test_stems_with_spaces_and_capitals_work_as_they_are(store: Store, home: Home) -> None:
    (home.personas / "My Persona Ü.toml").write_text('system_prompt = "p"')
    assert store.get("My Persona Ü").system_prompt == "p"


def test_an_unknown_id_is_told_with_those_that_look_like_it(store: Store, home: Home) -> None:
    (home.personas / "optimist.toml").write_text("")
    for wrong in ("optimits", "Optimist"):
        with pytest.raises(UnknownPersona, match="did you mean optimist"):
            store.get(wrong)


@pytest.mark.parametrize(
    "trick", ["", ".", "..", "../x", "a/b", "/etc/passwd", "a\0b", ".hidden", "x" * 300, "\ud800"]
)
def test_path_tricks_are_no_ids(store: Store, trick: str) -> None:
    for act in (store.get, store.text, store.path, store.log):
        with pytest.raises(OutsideHome):
            act(trick)


def test_a_personas_folder_swapped_for_a_way_out_is_refused(store: Store, home: Home, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.toml").write_text('system_prompt = "secret"')
    home.personas.rmdir()
    home.personas.symlink_to(outside)
    for act in (store.ids, store.list):
        with pytest.raises(OutsideHome):
            act()
    assert store.get("secret").system_prompt == ""


def test_a_missing_folder_holds_no_personas(store: Store, home: Home) -> None:
    home.personas.rmdir()
    assert (store.ids(), store.list()) == ([], [])


def test_the_current_conversation_lies_beside_the_file(store: Store, home: Home) -> None:
    (home.personas / "a.toml").write_text("")
    assert store.session_of("a") is None
    store.link_session("a", "session-1")
    store.link_session("b", "session-2")
    store.link_session("a", "session-3")
    assert store.session_of("a") == "session-3"
    assert store.get("a").agent_chat_session_id == "session-3"
    assert [persona.agent_chat_session_id for persona in store.list()] == ["session-3"]
    assert (home.personas / "a.toml").read_bytes() == b""
    with (home.sessions / "current-sessions.journal").open("a") as file:  # as another program would
        file.write('{"persona_id":"a","session_id":"session-4"}\n')
    assert store.session_of("a") == "session-4"


def test_a_session_id_of_a_strangers_home_is_no_path(store: Store, home: Home) -> None:
    (home.sessions / "current-sessions.journal").write_text(
        '{"persona_id":"a","session_id":"../../x"}\nnoise\n{"persona_id":3}\n'
    )
    assert store.session_of("a") is None
