"""One sentence or step as intents: politeness off, reading before changing, the mood in between."""

from __future__ import annotations

import re
from dataclasses import replace

from agent.models.offline.content import spot_of
from agent.models.offline.intents import (
    AddTest,
    AddText,
    Ask,
    ChangeTest,
    CopyTest,
    DeleteTests,
    DeleteThing,
    ExtendTest,
    Hold,
    Intent,
    Option,
    RemoveText,
    Rename,
    ReplaceText,
    SearchPrompt,
    Show,
    ShowSpot,
    ShowTest,
    Talk,
    Undo,
)
from agent.models.offline.mood import EDITING, mood_of, ungerund, unwrap, without_reason, without_weak_tail
from agent.models.offline.patterns import LONGEST, fit
from agent.models.offline.reference import parse as parse_reference
from agent.models.offline.rules import CHANGING, READING, VAGUE
from agent.models.offline.rules.rule import apply
from agent.models.offline.words import Phrase


def parse(sentence: Phrase) -> tuple[Intent, ...] | None:
    """Return what a sentence asks for, or None when it is not understood.

    Reading and talking is tried before the mood is looked at ("what is in the prompt?" is a question and
    harmless); a change only when the sentence is a request.
    """
    if not sentence.tokens or len(sentence) > 3 * LONGEST:
        return None
    plain = unwrap(sentence)
    shorter = without_weak_tail(plain.phrase)
    shorter = unwrap(shorter).phrase if shorter is not None else None
    brief = without_reason(plain.phrase)
    for phrase in (sentence, plain.phrase, shorter, brief):
        if phrase is not None and (made := apply(READING, phrase, plain.asked)):
            return made
    if made := _shown_before(plain.phrase):
        return made
    if hold := mood_of(sentence):
        told = apply(VAGUE, _for_the_persona(plain.phrase), False) if hold.mood == "negated" else None
        return told or (hold,)
    placed = _place_first(plain.phrase)
    made = apply(CHANGING, _object_first(placed), plain.asked)
    if brief is not None and (made is None or isinstance(made[0], DeleteThing | Ask)):
        taken = apply(CHANGING, brief, plain.asked)
        made = taken if taken and isinstance(taken[0], (*_TAKING, Rename)) else made
    if shorter is not None and (made is None or isinstance(made[0], DeleteThing | Ask)):
        less = apply(CHANGING, shorter, plain.asked)
        made = less if made is None or is_request(less) else made
    if made and not plain.asked and sentence.shadow.endswith("?") and isinstance(made[0], _TAKING):
        return (Ask("Is that a request?", (Option(f"Yes: {plain.phrase.raw().rstrip('? ')}", made, "yes"),)),)
    return made or _located(placed) or _within_a_line(placed) or apply(VAGUE, plain.phrase, plain.asked)


_TAKING = (DeleteTests, DeleteThing, RemoveText, Undo)
"""What is not done on a mere "delete the second test?"."""


def _shown_before(phrase: Phrase) -> tuple[Intent, ...] | None:
    """Read "before I delete the code test, show it to me": what is only shown may come with any clause."""
    match = fit(
        "(?:before|after|once|when|while|since|because|as) (?:i|we|you|i'll|we'll) (?P<c>.+?) , {x}", phrase
    ) or fit(
        "(?:before|after|when|while) (?P<c>(?:deleting|removing|dropping|changing|editing|updating|replacing|"
        "renaming) .+?) ,? ?(?P<x><show> .+)",
        phrase,
    )
    rest = phrase.group(match, "x") if match else None
    if match is None or rest is None:
        return None
    shown = unwrap(rest).phrase
    made = apply(READING, shown, False)
    if not made or not all(isinstance(intent, Show | ShowTest | ShowSpot | SearchPrompt) for intent in made):
        return None
    clause = ungerund(phrase.group(match, "c") or rest)
    acted = fit("(?:(?:want|decide|choose|will|can|should|do|may|to) )*(?:<delete>|<change>) {r}", clause)
    meant = clause.group(acted, "r") if acted else None
    references = parse_reference(meant)
    if references and re.search(r"\b(?:it|that|this|them|that one)\b", shown.shadow):
        return (ShowTest(references),)
    return made


def _place_first(phrase: Phrase) -> Phrase:
    """Read "there is a typo in the prompt, X should be Y" as "in the prompt, X should be Y"."""
    match = fit(
        "(?:there's|there is|there are|i (?:found|see|saw|noticed|spotted|made)|you have|we have) "
        "(?:(?:a|an|another|some|one|small|little|silly|stupid) )*(?:typos?|mistakes?|errors?|misspellings?|"
        "spelling (?:mistake|error)s?|wrong words?) (?P<p>(?:in|inside|within) .+?) [,:;.-] {x}",
        phrase,
    )
    place, rest = (phrase.group(match, "p"), phrase.group(match, "x")) if match else (None, None)
    if place is None or rest is None:
        return phrase
    return Phrase(phrase.source, (*place.tokens, *rest.tokens))


def _for_the_persona(phrase: Phrase) -> Phrase:
    """Return "don't be rude" as it is, and an empty phrase for "don't delete it": that speaks to us."""
    forbids = fit("(?:don't|never|do not) {x}", phrase)
    return (
        Phrase(phrase.source, ())
        if not forbids or fit(f"[^ ]+ (?:not )?{EDITING}(?: {{x}})?", phrase)
        else phrase
    )


def _object_first(phrase: Phrase) -> Phrase:
    """Read "add this to the prompt: C" as "add C to the prompt": the text takes the place of its stand-in."""
    if len(phrase) < 4 or phrase.tokens[-1].kind not in ("quote", "content") or len(phrase) > LONGEST:
        return phrase
    match = fit(
        rf"(?P<v>[^ ]+(?: [^ ]+){{0,3}}?) {_STAND_IN} (?P<rest>(?:to|into|in|at|as|on|onto|before|"
        rf"after|above|below|for) .+?) [:,-] (?P<c>[QC])",
        phrase,
    )
    if match is None:
        match = fit(
            rf"(?P<v>.+?) (?:exactly |just |only |simply )*{_STAND_IN}(?P<rest>) [:,-] (?P<c>[QC])", phrase
        )
    if match is None:
        return phrase
    verb, rest, text = (phrase.group(match, name) for name in ("v", "rest", "c"))
    assert verb is not None and text is not None
    following = rest.tokens if rest is not None and match["rest"] else ()
    return Phrase(phrase.source, (*verb.tokens, *text.tokens, *following))


_STAND_IN = (
    r"(?:this|these|that|the following|the text below|what follows)"
    r"(?: (?:new|extra|more))?(?: (?:text|line|lines|sentence|sentences|rule|rules|words|"
    r"instruction|instructions|paragraph|one))?"
)


_ON_PROMPT = (AddText, ReplaceText, RemoveText, Ask)
_ON_TESTS = (AddTest, ChangeTest, CopyTest, DeleteTests, ExtendTest, Ask)


def _located(phrase: Phrase) -> tuple[Intent, ...] | None:
    """Read "in the prompt, insert X after Y" and "from the tests, delete the second one".

    What follows is about that place and nothing else.
    """
    for place, kinds in (("<prompt>", _ON_PROMPT), ("<the>(?:<tests>|list of <tests>)", _ON_TESTS)):
        match = fit(f"(?:in|inside|within|from|among|of) {place} ,? ?{{x}}", phrase)
        rest = phrase.group(match, "x") if match else None
        made = apply(CHANGING, rest, False) if rest is not None else None
        if made and all(isinstance(intent, kinds) for intent in made):
            return tuple(
                replace(intent, where="prompt")
                if isinstance(intent, ReplaceText) and intent.where is None
                else intent
                for intent in made
            )
    return None


def _within_a_line(phrase: Phrase) -> tuple[Intent, ...] | None:
    """Read "in the third line, change short to long"."""
    match = fit(
        "(?:in|inside|within|on) {s} ,? ?(?P<x>(?:replace|change|swap|substitute|turn|use) .+?)", phrase
    )
    place, rest = (phrase.group(match, "s"), phrase.group(match, "x")) if match else (None, None)
    spot = spot_of(place)
    if rest is None or spot is None or spot.kind in ("text", "words"):
        return None
    made = apply(CHANGING, rest, False)
    if (
        not made
        or not isinstance(made[0], ReplaceText)
        or made[0].within
        or made[0].spot.kind not in ("text", "words")
    ):
        return None
    return (replace(made[0], within=spot, where="prompt"),)


def is_request(intents: tuple[Intent, ...] | None) -> bool:
    """Whether a step reads as a complete request by itself: enough to split a sentence there."""
    return bool(intents) and not any(isinstance(intent, Talk | Hold | Ask) for intent in intents or ())
