"""Where things stand in a TOML text, and what is refused before it costs time."""

from __future__ import annotations

import inspect
import sys
import time
import tomllib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from personas.errors import BrokenFile
from personas.toml import parse as toml_parse
from personas.toml.parse import MAX_DEPTH
from personas.toml.scanner import KeyPath, locate, parse, scan
from tests.support.examples import examples

PERSONA = """\
# An optimist
name = "Optimist" # shown
"quoted.key" = 1
model . name = 'x'
tags = [
    "a", # first
    { deep = [1, 22] },
]
system_prompt = \"\"\"
[not.a.table]
name = "no" \\\"""
\"\"\"

[[arcs]]
[arcs.parts.x]
order = 7
[[arcs.stage]]
name = "start"
[[arcs.stage]]
name = "end"

[top.middle.low]
k = 1979-05-27 07:32:00
[top]
k = '''
it''s'''
[[arcs]]
name = "second"
"""


@pytest.mark.parametrize(
    ("path", "source", "line", "column"),
    [
        (("name",), '"Optimist"', 2, 8),
        (("quoted.key",), "1", 3, 16),
        (("model", "name"), "'x'", 4, 16),
        (("tags", 0), '"a"', 6, 5),
        (("tags", 1, "deep", 1), "22", 7, 18),
        (("arcs", 0, "parts", "x", "order"), "7", 16, 9),
        (("arcs", 0, "stage", 1, "name"), '"end"', 20, 8),
        (("arcs", 1, "name"), '"second"', 28, 8),
        (("top", "middle", "low", "k"), "1979-05-27 07:32:00", 23, 5),
        (("top", "k"), "'''\nit''s'''", 25, 5),
        (("arcs", 0, "stage", 1), '[[arcs.stage]]\nname = "end"\n', 19, 1),
        (("model",), "model . name = 'x'", 4, 1),
        (("arcs", 1), '[[arcs]]\nname = "second"\n', 27, 1),
    ],
)
def test_a_value_is_found_with_its_position(path: KeyPath, source: str, line: int, column: int) -> None:
    for newline in ("\n", "\r\n"):
        for bom in ("", "\ufeff"):
            text = bom + PERSONA.replace("\n", newline)
            span = locate(text, path)
            assert span is not None
            assert text[span.start : span.end] == source.replace("\n", newline)
            assert (span.line, span.column) == (line, column)


@pytest.mark.parametrize(
    "path", [("nope",), ("tags", 2), ("tags", "a"), ("arcs", 2), ("name", "x"), ("arcs", "name")]
)
def test_what_is_not_there_is_not_found(path: KeyPath) -> None:
    assert locate(PERSONA, path) is None


def test_the_first_line_has_no_column_for_the_byte_order_mark() -> None:
    span = locate('\ufeffname = "x"', ("name",))
    assert span is not None
    assert (span.line, span.column) == (1, 8)


def test_most_lines_decide_the_line_ending_of_a_text() -> None:
    assert scan("a = 1\r\nb = 2\r\nc = 3\n").newline == "\r\n"
    assert scan("a = 1\nb = 2\nc = 3\r\n").newline == "\n"
    assert scan("").newline == "\n"


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ('name = "x"\nname = "y"\n', 2, 11),
        ("a = \n", 1, 5),
        ('a = 1\nb = """never closed\n', 3, 1),
        ("\ufeffa = = 1", 1, 5),
        ("a = 1\rb = 2", 1, 6),
    ],
)
def test_broken_text_says_where(text: str, line: int, column: int) -> None:
    with pytest.raises(BrokenFile) as caught:
        parse(text)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert "(at " not in caught.value.message


def test_a_number_python_does_not_convert_is_a_broken_file() -> None:
    with pytest.raises(BrokenFile, match=r"too many digits .line 1, column 5."):
        parse("a = " + "9" * 5000)


def test_too_little_stack_is_a_broken_file() -> None:
    text = "a = " + "[" * 99 + "]" * 99
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack(0)) + 60)
    try:
        with pytest.raises(BrokenFile, match="nests too deeply"):
            parse(text)
    finally:
        sys.setrecursionlimit(limit)


@pytest.mark.parametrize(
    "text",
    [
        "a = 1\na = 2",
        "[a]\n[a]",
        "a = 1\n[[a]]",
        "a = 1\n[a.b]",
        "a",
        "= 1",
        "a = ",
        "[a",
        "a = [1 2]",
        "a = 1 b",
        '"\\q" = 1',
    ],
)
def test_the_scanner_alone_refuses_nonsense(text: str) -> None:
    with pytest.raises(BrokenFile):
        scan(text)


DEEP = {
    "arrays": "a = " + "[" * 16_000_000,
    "inline tables": "a = " + "{a=" * 5_000_000,
    "a dotted key of 24 KB": "a." * 12_000 + "a = 1",
    "a dotted header of 24 KB": "[" + "a." * 12_000 + "a]",
    "keys, tables and arrays together": f"[{'a.' * 39}a]\n{'b.' * 39}b = " + "[" * 30,
    "blanks between the parts": "a \t. " * 12_000 + "a = 1",
}


@pytest.mark.parametrize("text", DEEP.values(), ids=DEEP)
def test_depth_is_refused_before_it_costs_time(text: str) -> None:
    begin = time.process_time()
    with pytest.raises(BrokenFile, match="deeper than 100 levels") as caught:
        parse(text)
    assert time.process_time() - begin < 0.5
    assert caught.value.line is not None


SHALLOW = [
    "a = " + "[" * (MAX_DEPTH - 1) + "]" * (MAX_DEPTH - 1),
    ".".join("a" * MAX_DEPTH) + " = 1.5",
    f"[{'.'.join('a' * 50)}]\n{'.'.join('b' * 50)} = 1\n",
    "a = '''" + "[" * 200 + "." * 200 + "'''",
    'a = "' + "[{." * 200 + '\\"[" # ' + "[." * 200,
    "a = [\n" + "  1.5, [2.5], # [[[\n" * 200 + "]",
    "\n".join(f"[[a.b.c{n}]]\nx.y = {{ z.z = [1.5] }}" for n in range(100)),
]


@pytest.mark.parametrize("text", SHALLOW, ids=range(len(SHALLOW)))
def test_what_is_not_too_deep_is_read(text: str) -> None:
    assert parse(text) == tomllib.loads(text)
    scan(text)


NONSENSE = {
    "opening brackets": "[" * 1_000_000,
    "closing brackets": "]" * 1_000_000,
    "equals signs": "=" * 1_000_000,
    "blocks that never close": 'a = """\\' * 300_000,
    "literal blocks": "a = '''x" * 300_000,
    "brackets that never close": "a = [1, " * 3_000,
}


@pytest.mark.parametrize("text", NONSENSE.values(), ids=NONSENSE)
def test_nonsense_is_refused_in_linear_time(text: str) -> None:
    begin = time.process_time()
    with pytest.raises(BrokenFile):
        parse(text)
    assert time.process_time() - begin < 1


def test_a_prompt_of_a_megabyte_is_scanned_at_once() -> None:
    line = 'You say \\"hello\\", caf\\u00e9 and so on, ""twice""\n'
    text = f'system_prompt = """\n{line * (1_000_000 // len(line))}"""\n'
    begin = time.process_time()
    span = locate(text, ("system_prompt",))
    assert time.process_time() - begin < 0.25
    assert span is not None
    assert (span.start, span.end) == (16, len(text) - 1)


def test_this_checkouts_own_toml_can_be_scanned() -> None:
    text = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    span = locate(text, ("project", "name"))
    assert span is not None
    assert text[span.start : span.end] == '"persona-editor"'


# -- long strings take a short way, with the same outcome ---------------------------------------------

_valid_escapes = [
    r"\u0041",
    r"\u000E",
    r"\U0000001f",
    r"\u001F",
    r"\U0010FFFF",
    r"\u005C",
    r"\u0000",
    "\\\\",
    r"\n",
]
_invalid_escapes = [r"\uD800", r"\U0000dfff", r"\U00110000", r"\u00", r"\x41", r"\e", r"\q"]
_line_ends = ["\\\n", "\\ \t\n \n ", "\\\r\n", "a", " ", "\n", "\r\n"]
_escapes = st.sampled_from([*_valid_escapes, r"\"", r"\b", *_line_ends]) | st.sampled_from(
    [*_valid_escapes, *_invalid_escapes, *_line_ends]
)
_bodies = st.text(st.sampled_from("ab\"'\\\n\r\t\0\x7f #=[]{}nu0041é🙂 "), max_size=12) | st.lists(
    _escapes, max_size=8
).map("".join)
_quoted = st.builds(
    lambda quotes, body: quotes + body + quotes, st.sampled_from(['"', "'", '"""', "'''"]), _bodies
)
_shapes = st.sampled_from(
    ["a = {}\n", "a = [{}, {}]\r\n", "{} = 1\n", "a = {{ b = {}, c = [{}] }}\n", "[x]\na = {} # {}\n", "{}"]
)


@settings(max_examples=examples(30))
@given(
    st.lists(
        st.builds(
            lambda shape, values: shape.format(*values, *values),
            _shapes,
            st.lists(_quoted, min_size=2, max_size=2),
        ),
        max_size=2,
    )
)
def test_long_strings_are_read_as_tomllib_reads_them(lines: list[str]) -> None:
    text = "".join(lines)
    try:
        expected: object = tomllib.loads(text)
    except ValueError as error:
        expected = error
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(toml_parse, "_LONG_STRING", 0)
        if isinstance(expected, dict):
            assert toml_parse.parse(text) == expected
        else:
            with pytest.raises(BrokenFile) as caught:
                toml_parse.parse(text)
            assert caught.value.message in str(expected)


def test_within_a_block_a_text_is_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    texts: list[str] = []
    real = tomllib.loads
    monkeypatch.setattr(toml_parse.tomllib, "loads", lambda text: texts.append(text) or real(text))
    with toml_parse.parsing_once():
        assert toml_parse.parse("a = 1") == toml_parse.parse("a = " + str(1)) == {"a": 1}
        with toml_parse.parsing_once():
            assert toml_parse.parse("a = 1") == {"a": 1}
    assert texts == ["a = 1"]
    assert toml_parse.parse("a = 1") == {"a": 1}
    assert len(texts) == 2


def test_a_string_with_every_control_character_is_left_to_tomllib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toml_parse, "_LONG_STRING", 0)
    controls = "".join(f"\\u{code:04x}" for code in range(0x20)) + "\\\\"
    assert parse(f'a = "{controls}"')["a"] == "".join(map(chr, range(0x20))) + "\\"
    many = "".join(f"\\u{code:04x}" for code in range(0x400, 0x500))
    assert parse(f'a = "{many}"')["a"] == "".join(map(chr, range(0x400, 0x500)))


@pytest.mark.parametrize("prompt", ["\1" * 300_000, '"\\\2\n' * 75_000, '"""\n' * 75_000, "\\" * 300_000])
def test_a_long_text_of_nothing_but_escapes_is_set_in_time(prompt: str) -> None:
    from personas.toml.edit import set_value

    text = set_value("", ("p",), prompt)
    began = time.process_time()
    text = set_value(text, ("p",), "x" + prompt)
    assert time.process_time() - began < 1
    assert parse(text) == {"p": "x" + prompt}
