"""The pattern language: word groups, captures, and the shortcut by first words."""

from __future__ import annotations

from pathlib import Path

from agent.models.offline.patterns import LONGEST, compiled, first_words, fit
from agent.models.offline.rules import CHANGING, READING, VAGUE
from agent.models.offline.words import phrase
from tests.agent.offline.phrasings import read_cases

HERE = Path(__file__).parent
PATTERNS = [pattern for rule in (*READING, *CHANGING, *VAGUE) for pattern in rule.patterns]


def test_a_capture_is_cut_from_the_persons_own_text() -> None:
    said = phrase("please Put “Ünï” before the last Line!")
    match = fit("please <add> {xq} before {y}", said)
    assert match is not None
    quoted, place = said.group(match, "x"), said.group(match, "y")
    assert quoted is not None
    assert place is not None
    assert (quoted.said(), place.raw()) == ("Ünï", "the last Line")
    assert match["end"] == " !"


def test_a_capture_takes_whole_words() -> None:
    assert fit("make {x} to ?{y}", phrase("make the tone warmer")) is None  # not “the”, to “ne warmer”
    assert fit("make {x} to ?{y}", phrase("make the tone to warmer")) is not None


def test_the_shortcut_by_first_words_knows_what_it_cannot_know() -> None:
    assert first_words("rename {x}") == {"rename"}
    assert first_words("(?:show|list all) <tests>") == {"show", "list"}
    for unclear in ("{x} should go", "(?:the )?name", "<the>line", "hi there|hello", "(?:a|{x}) b"):
        assert first_words(unclear) is None


def test_the_shortcut_hides_no_match() -> None:
    phrases = [
        phrase(message)
        for name in ("phrasings_ours.toml", "phrasings_blind.toml")
        for case in read_cases(HERE / name)
        for message in case.messages
    ]
    short = [said for said in phrases if said.tokens and len(said) <= LONGEST]
    hidden = [
        (pattern, said.raw())
        for pattern in PATTERNS
        if (first := first_words(pattern)) is not None
        for said in short
        if said.tokens[0].norm not in first and compiled(pattern).fullmatch(said.shadow)
    ]
    assert len(short) > 400
    assert hidden == []


def test_a_phrase_beyond_the_limit_matches_nothing() -> None:
    assert fit("rename it to {x}", phrase("rename it to " + "a " * LONGEST)) is None
