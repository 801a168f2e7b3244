"""Strings as TOML source: every value reads back, unchanged lines keep their source."""

from __future__ import annotations

import difflib
import re
import sys
import tomllib
from collections import Counter
from datetime import UTC, datetime, time, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from personas.errors import InvalidValue
from personas.toml.escapes import HIDDEN, with_hidden_escaped
from personas.toml.guard import same_data
from personas.toml.render import plain, render_key, render_line, render_string, render_value
from tests.personas.toml_documents import texts, values
from tests.support.examples import examples

quick = settings(max_examples=examples(30), deadline=None)
newlines = st.sampled_from(["\n", "\r\n"])

block_lines = st.lists(
    st.sampled_from(
        [
            "plain",
            "",
            '\\"quoted\\" "twice"',
            "caf\\u00e9",
            "joined \\",
            "   joined \\  ",
            "tab\\tand\ttab",
            "two\\nlines",
            "carriage\\r",
            'quotes ""',
            "back\\\\",
            "\\U0001F600",
            "\\u202eturned\\u200b \\u001b[31m",
            "seen\u202eas it is",
        ]
    ),
    max_size=6,
)
blocks = st.builds(
    lambda opening, lines, closing: f'"""{opening}' + "\n".join(lines) + f'{closing}"""',
    st.sampled_from(["", "\n"]),
    block_lines,
    st.sampled_from(["\n", "x", 'x""', ""]),
).filter(lambda source: reads(source) is not None)


def reads(source: str) -> Any:
    try:
        return tomllib.loads(f"x = {source}\n")["x"]
    except tomllib.TOMLDecodeError:
        return None


@quick
@given(texts, newlines)
def test_a_string_reads_back(value: str, newline: str) -> None:
    assert reads(render_string(value, newline)) == value
    assert reads(render_line(value)) == value
    assert tomllib.loads(f"{render_key(value)} = 1") == {value: 1}


@quick
@given(texts, newlines, st.one_of(blocks, st.sampled_from(["''", "'x'", '"x"', "'''x'''", "'''\n\ny\n'''"])))
def test_a_string_reads_back_whatever_it_replaces(value: str, newline: str, old: str) -> None:
    assert reads(render_string(value, newline, old)) == value


@quick
@given(blocks, newlines)
def test_an_equal_value_keeps_the_source_of_a_block(old: str, newline: str) -> None:
    source = old.replace("\n", newline)
    assert render_string(reads(old), newline, source) == source


@quick
@given(block_lines, block_lines, block_lines, texts)
def test_lines_around_a_changed_one_keep_their_source(
    above: list[str], old: list[str], below: list[str], new: str
) -> None:
    head = "".join(line + "\n" for line in [*above, "end of above"])
    tail = "".join("\n" + line for line in ["start of below", *below, ""])
    source = f'"""\n{head}{chr(10).join(["old", *old, "old"])}{tail}"""'
    value, start, end = reads(source), reads(f'"""\n{head}"""'), reads(f'"""{tail}"""')
    if value is None or end is None:
        return
    result = render_string(start + "new " + new + " new" + "\n" + end, "\n", source)
    assert result.startswith(f'"""\n{head}')
    assert result.endswith(f'{tail}"""')


pieces = st.sampled_from(
    [
        *(
            "a",
            "b",
            " ",
            "é",
            "\u202e",
            "\t",
            "\\\\",
            '\\"',
            "\\u202e",
            "\\u200b",
            "\\u001b",
            "\\u001B",
            "\\t",
        ),
        *("\\r", "\\u00e9", "\\uFEFF", "\\U000e0041", "\\f", "\\b", "\\u0061"),
    ]
)
strings = st.one_of(
    st.tuples(st.just('"'), st.lists(pieces, max_size=12), st.just('"')),
    st.tuples(
        st.sampled_from(['"""s', '"""\n']),
        st.lists(st.one_of(pieces, st.sampled_from(["\n", "\n\n", "\\\n   x"])), max_size=16),
        st.just('"""'),
    ),
)


@quick
@given(strings, st.data())
def test_one_letter_changed_leaves_every_other_byte_of_the_string(
    string: tuple[str, list[str], str], choices: st.DataObject
) -> None:
    opening, inside, closing = string
    old = "".join([opening, *inside, closing])
    place = choices.draw(st.integers(0, len(inside)))
    breaks = "\n" in "".join(inside[place : place + 1])
    taken = 0 if breaks else choices.draw(st.integers(0, 1))  # whether the letter takes the place of one
    source = "".join([opening, *inside[:place], "Q", *inside[place + taken :], closing])
    assert render_string(reads(source), "\n", old) == source


@quick
@given(
    texts,
    newlines,
    st.one_of(blocks, st.sampled_from(["'\u202e'", '"\u200b\u200b"', "'''\n\u202e\n'''", '"x"'])),
)
def test_no_hidden_character_comes_into_a_file_but_as_an_escape(value: str, newline: str, old: str) -> None:
    for source in (render_string(value, newline, old), render_string(value, newline), render_key(value)):
        hidden = Counter(re.findall(HIDDEN, source.replace("\r\n", "\n")))
        assert not hidden - Counter(re.findall(HIDDEN, old))


def test_all_kinds_of_hidden_characters_are_escaped_in_one_pass() -> None:
    text = "".join(found[0] + "x" for found in re.finditer(HIDDEN, "".join(map(chr, range(0xE0200)))))
    assert len(text) > 1000
    passes: list[str] = []
    before = sys.getprofile()
    sys.setprofile(
        lambda _frame, event, called: passes.append(called.__name__) if event == "c_call" else None
    )
    try:
        escaped = with_hidden_escaped(text, {})
    finally:
        sys.setprofile(before)
    assert passes.count("sub") == 1 and not {"search", "replace"} & set(passes)
    assert not re.search(HIDDEN, escaped) and tomllib.loads(f'x = "{escaped}"')["x"] == text


def test_what_the_file_writes_as_an_escape_stays_one_also_in_what_is_new() -> None:
    old = '"a\\u202eb\\u200bc\\td\\u001b"'
    assert render_string("Qa\u202eb\u200bc\td\x1b", "\n", old) == '"Qa\\u202eb\\u200bc\\td\\u001b"'
    assert render_string("A\u202eB\u200bC\tD\x1b!", "\n", old) == '"A\\u202eB\\u200bC\\tD\\u001b!"'
    assert render_string("A\t\nB\x1b", "\n", old) == '"""\nA\\t\nB\\u001b"""'
    assert render_string("zero\u200bwidth \u202e \U000e0041") == '"zero\\u200Bwidth \\u202E \\U000E0041"'
    family = "\U0001f468\u200d\U0001f469 \u2764\ufe0f"
    assert render_string(family) == f'"{family}"'


@pytest.mark.parametrize(
    ("value", "source"),
    [
        ("", '""'),
        ('say "hi" \\ bye', '"say \\"hi\\" \\\\ bye"'),
        ("tab\there", '"tab\there"'),
        ("bell\x07 del\x7f", '"bell\\u0007 del\\u007F"'),
        ("one\ntwo\n", '"""\none\ntwo\n"""'),
        ('a """ b\nand "two" ""', '"""\na \\"\\"\\" b\nand "two" \\"\\""""'),
        ("one\r\ntwo", '"""\none\\r\ntwo"""'),
        ("\n", '"""\n\n"""'),
    ],
)
def test_a_new_string_is_written_the_way_a_person_would(value: str, source: str) -> None:
    assert render_string(value) == source
    assert reads(source) == value


@pytest.mark.parametrize(
    ("old", "value", "source"),
    [
        ("'raw'", "c:\\new", "'c:\\new'"),
        ("'raw'", "it's", '"it\'s"'),
        ("'raw'", "two\nlines", '"""\ntwo\nlines"""'),
        ("'''\nraw'''", "c:\\new\nx", "'''\nc:\\new\nx'''"),
        ("'''raw'''", "c:\\new", "'''c:\\new'''"),
        ("'''raw'''", "\nx", "'''\n\nx'''"),
        ("'''raw'''", "three ''' quotes\n", '"""\nthree \'\'\' quotes\n"""'),
        ('"""old"""', "new\nline", '"""new\nline"""'),
        ('"""old"""', "\nline", '"""\n\nline"""'),
        ('"""\nold\n"""', "short", '"""\nshort"""'),
        ('"old"', "short", '"short"'),
    ],
)
def test_the_way_of_quoting_is_kept_where_it_can_be(old: str, value: str, source: str) -> None:
    assert render_string(value, "\n", old) == source


def test_only_the_changed_lines_of_a_block_differ() -> None:
    old = '"""\nYou are \\"kind\\".\ncaf\\u00e9 \\\n   au lait\nstay\n\\tstay\nlast \\"\n"""'
    value = reads(old).replace("stay\n", "go\n", 1).replace("kind", "wise") + "one more\n"
    result = render_string(value, "\n", old)
    changed = [line for line in difflib.ndiff(old.split("\n"), result.split("\n")) if line[0] in "+-"]
    assert changed == ['- You are \\"kind\\".', '+ You are \\"wise\\".', "- stay", "+ go", "+ one more"]


def test_lines_of_a_crlf_file_end_as_the_file_does() -> None:
    assert render_string("a\nb", "\r\n") == '"""\r\na\r\nb"""'
    assert render_string("a\nx\nb", "\r\n", "'''\r\na\r\nb'''") == "'''\r\na\r\nx\r\nb'''"


@pytest.mark.parametrize(
    "value",
    [
        "half \ud83d",
        ["\udc00"],
        {"\ud800": 1},
        None,
        [None],
        b"bytes",
        {1: 2},
        pytest.param(10**5000, id="5000 digits"),
        time(1, tzinfo=UTC),
        datetime(2020, 1, 1, tzinfo=timezone(timedelta(seconds=1))),
    ],
)
def test_what_toml_cannot_hold_is_an_invalid_value(value: Any) -> None:
    with pytest.raises(InvalidValue):
        plain(value)


@quick
@given(values)
def test_any_value_reads_back(value: Any) -> None:
    assert same_data(reads(render_value(plain(value))), value)


def test_a_long_new_array_takes_one_line_for_each_element() -> None:
    items = [f"trait number {n}" for n in range(9)]
    source = render_value(items)
    assert source.splitlines()[:2] == ["[", '    "trait number 0",']
    assert reads(source) == items
    assert render_value(["a", "b"]) == '["a", "b"]'
