"""A message as tokens: what counts as quoted, and which words are read as command words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.models.offline.words import near, phrase, spell, tokenize

QUOTED = {
    """add "Say "hi" often" now""": ['Say "hi" often'],
    """add 'Don't be rude' now""": ["Don't be rude"],
    """add “a” and „b“ and «c» and 「d」""": ["a", "b", "c", "d"],
    """mixed “a" and "b” here""": ["a", "b"],
    """the users' list and 'x y'""": ["x y"],
    """He said "it's 'fine'".""": ["it's 'fine'"],
    """it's 5" long""": [],
    """an "open quote""": [],
    """`code` here""": ["code"],
    """block:\n```text\na\n"b"\n```\n""": ['a\n"b"'],
    '''block:\n"""\na "b" c\n"""''': ['a "b" c'],
    """use '{{user}}'s name' here""": ["{{user}}'s name"],
    """empty "" here""": [""],
}


@pytest.mark.parametrize(("text", "expected"), QUOTED.items())
def test_quoted_text_is_found_as_the_person_meant_it(text: str, expected: list[str]) -> None:
    assert list(phrase(text).quotes()) == expected


@given(st.text(alphabet="ab\"'“”«»` \n{}", max_size=60))
def test_tokens_lie_in_order_and_cover_all_but_blanks(text: str) -> None:
    at = 0
    for token in tokenize(text):
        assert token.start >= at
        assert text[at : token.start].strip() == ""
        assert token.end > token.start
        if token.kind == "quote":
            assert token.content in text[token.start : token.end]
        at = token.end
    assert text[at:].strip() == ""


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("renmae", "rename"), ("Delte", "delete"), ("remvoe", "remove"), ("repalce", "replace"),
        ("chnage", "change"), ("promt", "prompt"), ("prmopt", "prompt"), ("sytem", "system"),
        ("inptu", "input"), ("personna", "persona"), ("tset", "test"), ("secnod", "second"),
    ],
)  # fmt: skip
def test_a_typo_in_a_command_word_is_mended(typed: str, meant: str) -> None:
    assert spell(typed) == meant


@pytest.mark.parametrize(
    "word",
    [
        "text",
        "rest",
        "best",
        "create",
        "crate",
        "removed",
        "charge",
        "range",
        "tests",
        "prompts",
        "promise",
        "depend",
    ],
)
def test_a_word_of_its_own_is_left_alone(word: str) -> None:
    assert spell(word) == word


@pytest.mark.parametrize("word", ["Größe", "日本語", "данные", "x" * 300])
def test_other_words_are_only_casefolded(word: str) -> None:
    assert spell(word) == word.casefold()


@given(st.text("abc", max_size=7), st.text("abc", max_size=7))
def test_distance_is_symmetric_and_zero_only_for_the_same(one: str, other: str) -> None:
    assert near(one, other, 2) == near(other, one, 2)
    assert near(one, other, 0) == (one == other)
