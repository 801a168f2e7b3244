"""One sentence or step as an intent: the rules of `asking.py` and `changing.py`, in order.

A rule is a function with one or more patterns. It gets the phrase and the match and returns an intent, or
None when the words turn out not to be meant that way.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from agent.models.offline.intents import CHANGES, Ask, Hold, Intent, Talk
from agent.models.offline.mood import EDITING, mood_of, unwrap, without_weak_tail
from agent.models.offline.patterns import LONGEST, fit
from agent.models.offline.words import Phrase


@dataclass(frozen=True, slots=True)
class Said:
    """A matched phrase, as rules see it. `asked`: the sentence was a polite question ("could you …?")."""

    phrase: Phrase
    match: re.Match[str]
    asked: bool = False

    def part(self, name: str) -> Phrase | None:
        """Return the tokens of a named group."""
        return self.phrase.group(self.match, name)

    def end(self) -> str:
        """Return the marks that end the phrase, as the person typed them."""
        part = self.phrase.group(self.match, "end") if self.match["end"] else None
        return part.raw() if part else ""

    def text(self, name: str) -> str:
        """Return a group's content: quoted text without quotes, else raw with its closing marks."""
        part = self.part(name)
        if part is None:
            return ""
        if part.quoted:
            return part.said()
        whole = part.source[part.tokens[0].start : self.phrase.tokens[-1].end]
        at_end = self.match.end(name) == self.match.start("end")
        return whole.strip() if at_end else part.said()


Build = Callable[[Said], "tuple[Intent, ...] | Intent | None"]


@dataclass(frozen=True, slots=True)
class Rule:
    patterns: tuple[str, ...]
    build: Build


def apply(rules: list[Rule], phrase: Phrase, asked: bool) -> tuple[Intent, ...] | None:
    """Return what the first rule that fits makes of the phrase."""
    for rule in rules:
        for pattern in rule.patterns:
            match = fit(pattern, phrase)
            if match is None:
                continue
            made = rule.build(Said(phrase, match, asked))
            if made is not None:
                return made if isinstance(made, tuple) else (made,)
    return None


def parse(sentence: Phrase) -> tuple[Intent, ...] | None:
    """Return what a sentence asks for, or None when it is not understood.

    Reading and talking is tried before the mood is looked at ("what is in the prompt?" is a question and
    harmless); a change only when the sentence is a request.
    """
    from agent.models.offline.asking import READING
    from agent.models.offline.changing import CHANGING
    from agent.models.offline.prompting import PROMPTING, VAGUE

    if not sentence.tokens or len(sentence) > 3 * LONGEST:
        return None
    plain = unwrap(sentence)
    shorter = without_weak_tail(plain.phrase)
    for phrase in (sentence, plain.phrase, shorter):
        if phrase is not None and (made := apply(READING, phrase, plain.asked)):
            return made
    if hold := mood_of(sentence):
        told = apply(VAGUE, _for_the_persona(plain.phrase), False) if hold.mood == "negated" else None
        return told or (hold,)
    rules = [*CHANGING, *PROMPTING]
    made = apply(rules, _object_first(plain.phrase), plain.asked)
    if made is None and shorter is not None:
        made = apply(rules, shorter, plain.asked)
    located = fit("(?:in|inside|within) <prompt> ,? ?{x}", plain.phrase) if made is None else None
    inside = plain.phrase.group(located, "x") if located else None
    if inside is not None:
        made = apply(PROMPTING, inside, plain.asked)
    return made or apply(VAGUE, plain.phrase, plain.asked)


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
        rf"(?P<v>[^ ]+(?: [^ ]+){{0,3}}?) {_STAND_IN} (?P<rest>(?:to|into|in|at|as|on|onto|before|after|above|below|for) .+?) [:,-] (?P<c>[QC])",
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
    r"(?: (?:new|extra|more))?(?: (?:text|line|lines|sentence|sentences|rule|rules|words|instruction|instructions|paragraph|one))?"
)


def is_request(intents: tuple[Intent, ...] | None) -> bool:
    """Whether a step reads as a complete request by itself: enough to split a sentence there."""
    return bool(intents) and not any(isinstance(intent, Talk | Hold | Ask) for intent in intents or ())


def changes(intents: tuple[Intent, ...]) -> bool:
    """Whether any of the intents changes the persona."""
    return any(isinstance(intent, CHANGES) for intent in intents)
