"""What "it" means in a message: the one thing the exchange before was about, put in the place of the pronoun.

Only a pronoun that directly follows the verb of the request is looked at, and only when the exchange before was
about exactly one thing; in every other case the question which one is meant stays.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agent.models.offline.intents import (
    AddTest,
    AddText,
    Ask,
    ChangeTest,
    CopyTest,
    DeleteTests,
    ExtendTest,
    Intent,
    Reference,
    RemoveText,
    Rename,
    ReplaceText,
    SetPrompt,
    Show,
    ShowSpot,
    ShowTest,
    Spot,
    Talk,
)
from agent.models.offline.mood import unwrap
from agent.models.offline.patterns import expand, fit
from agent.models.offline.reference import TestInput, resolve
from agent.models.offline.words import Phrase, Token

_PLURAL = re.compile(
    expand("(?:<delete>|<show>) (?P<it>them|these|those|both|both of them|them both)(?= |$)(?! all)")
)
_NO = frozenset({"no", "nope", "wait", "sorry", "oops", "oh", "hm", ",", ".", "!", "-"})
_PRONOUN = (
    r"(?P<it>it|that|this|that one|this one|the new one|(?:that|this|the new) (?:<test>|line|sentence|text))"
)
_ACTED_ON = re.compile(
    expand(
        f"(?:(?:<delete>|<change>|<show>|overwrite|copy|duplicate) {_PRONOUN}|"
        f"(?:<add>) [QC] (?:to|at the (?:end|start|beginning) of) {_PRONOUN.replace('?P<it>', '?P<to>')}|"
        f"(?:replace|change|swap) Q (?:with|by|to|for) Q in {_PRONOUN.replace('?P<it>', '?P<in>')})"
        "(?! (?:back|all|off|up|over|out|in|on|is|was|about|one)(?: |$))(?= |$)"
    )
)
_ASIDE = ("thanks", "comment", "hello")


@dataclass(frozen=True, slots=True)
class Told:
    """The one thing an exchange was about, as words that name it: `the test` and, quoted, its id.

    Attributes:
        words: the words before the quoted text, or all of them.
        quoted: an id or a text.
        more: ids of further test inputs, when it was several ("them").
    """

    words: tuple[str, ...]
    quoted: str | None = None
    more: tuple[str, ...] = ()


def told_by(
    intents: Sequence[Intent], listed: Sequence[TestInput], created: str, before: Told | None
) -> Told | None:
    """Return what one exchange was about, or None when it was no single thing.

    Args:
        intents: what the person asked for.
        listed: the test inputs as they were read in the exchange.
        created: the id of the test input that was made, or "".
        before: what the exchange before was about; thanks and the like do not change it.
    """
    if intents and all(isinstance(i, Talk) and i.subject in _ASIDE for i in intents):
        return before
    if len(intents) != 1:
        return None
    intent = intents[0]
    if isinstance(intent, AddTest | CopyTest):
        return Told(("the", "test"), created) if created else None
    if isinstance(intent, ChangeTest | ExtendTest | ShowTest):
        references = intent.references if isinstance(intent, ShowTest) else (intent.reference,)
        found = [resolve(reference, listed) for reference in references]
        if not found or not all(len(places) == 1 for places in found):
            return None
        first, *more = dict.fromkeys(listed[places[0]].id for places in found)
        return Told(("the", "test"), first, tuple(more))
    if isinstance(intent, AddText):
        return Told(("the", "text"), intent.text)
    if isinstance(intent, ReplaceText) and not isinstance(intent.where, Reference) and intent.new.strip():
        return Told(("the", "text"), intent.new)
    if isinstance(intent, ShowSpot) and intent.spot.kind in ("line", "sentence"):
        place = int(intent.spot.value)
        return Told((intent.spot.kind, str(place))) if place > 0 else Told(("the", "last", intent.spot.kind))
    if isinstance(intent, Rename) or (isinstance(intent, Show) and intent.what == ("name",)):
        return Told(("the", "name"))
    if isinstance(intent, SetPrompt) or (isinstance(intent, Show) and intent.what == ("prompt",)):
        return Told(("the", "prompt"))
    return None


def open_pronoun(intents: Sequence[Intent]) -> bool:
    """Whether what was understood of a message leaves open what "it" is."""
    return not intents or any(
        isinstance(intent, Ask)
        or any(one.kind == "pronoun" for one in _references(intent))
        or (isinstance(intent, Show) and len(intent.what) == 3)
        for intent in intents
    )


def corrected(said: Phrase, told: Told) -> Intent | None:
    """Return the change that "sorry, I meant “Hi”" makes of a test input or a text given just before."""
    match = fit(
        "(?:(?:no|sorry|oops|actually|wait|oh|hm+)(?: [,.!-])* ?)*(?:i meant|i mean|i wanted)(?: :)? {x}",
        said,
    )
    part = said.group(match, "x") if match else None
    if part is None or not part.quoted or told.quoted is None or told.more:
        return None
    if told.words == ("the", "test"):
        return ChangeTest(Reference("exact", told.quoted), part.said())
    return ReplaceText(Spot("text", told.quoted), part.said(), "prompt")


def _references(intent: Intent) -> tuple[Reference, ...]:
    if isinstance(intent, DeleteTests | ShowTest):
        return intent.references
    if isinstance(intent, ChangeTest | ExtendTest | CopyTest):
        return (intent.reference,)
    if isinstance(intent, ReplaceText | RemoveText) and isinstance(intent.where, Reference):
        return (intent.where,)
    return ()


def put_in(whole: Phrase, told: Told) -> Phrase | None:
    """Return the phrase with its pronoun replaced by what it means, or None when it has none to replace."""
    if len(whole) > 200:
        return None
    while len(whole) > 1 and whole.tokens[0].norm in _NO:
        whole = whole.part(1)  # "no, make it …"
    bare = unwrap(whole).phrase
    match = (_PLURAL if told.more else _ACTED_ON).match(bare.shadow)
    if match is None:
        return None
    name = next(group for group in ("it", "to", "in") if match.groupdict().get(group) is not None)
    part = bare.group(match, name)
    if part is None or not part.tokens:
        return None
    first, last = part.tokens[0], part.tokens[-1]
    put = [Token("word", first.start, last.end, word) for word in told.words]
    if told.quoted is not None:
        put.append(Token("quote", first.start, last.end, "Q", told.quoted))
    for one in told.more:
        put.append(Token("word", first.start, last.end, "and"))
        put.extend(Token("word", first.start, last.end, word) for word in told.words)
        put.append(Token("quote", first.start, last.end, "Q", one))
    kept = [token for token in whole.tokens if token.end <= first.start]
    rest = [token for token in whole.tokens if token.start >= last.end]
    if rest and rest[0].kind == "quote":
        put.append(Token("word", last.end, last.end, "to"))  # "make it “Hi”"
    return Phrase(whole.source, (*kept, *put, *rest))
