"""Rules that take text out of the system prompt."""

from __future__ import annotations

import re
from typing import Literal

from agent.models.offline import content
from agent.models.offline.intents import NUMBERED, Ask, DeleteThing, Intent, RemoveText, Spot
from agent.models.offline.patterns import fit
from agent.models.offline.reference import NUMBER, number, ordinal
from agent.models.offline.rules.rule import RuleSet, Said
from agent.models.offline.words import Phrase

RULES = RuleSet()

# --- removing ---------------------------------------------------------------------------------------------


@RULES.on(
    "(?:<delete>) {x} (?:from|form|in|out of|off|of) (?:the (?:text|end|start|beginning|top|bottom|"
    "rest) of )?<prompt>(?: (?:completely|entirely|altogether))?",
    "(?:from|in) <prompt> ,? ?(?:<delete>) {x}",
    "(?:take|get|strip|cut|leave|throw) {x} out of <prompt>",
    "<prompt> (?:should not|shouldn't|must not|need not|mustn't|should no longer|no longer needs "
    "to|does not need to|doesn't need to) (?:say|mention|contain|include|have|tell it to) {xq}(?: "
    "(?:any more|anymore))?",
    "<prompt> without {xq}",
    "(?:i|we) (?:do not|don't|no longer) want {xq} in <prompt>(?: (?:any more|anymore))?",
    "{xq} (?:can|should|must|has to|needs to) (?:go|be removed|be deleted|disappear)(?: from <prompt>)?",
)
def _remove(said: Said) -> tuple[Intent, ...] | Intent | None:
    part = said.part("x")
    if part is None or fit(
        "(?:something|anything|some|it|that|this|some lines?|a line|a sentence|everything else|the rest|stuff)",
        part,
    ):
        return Ask("Which words should go? Give me the exact text, or say which line.", ()) if part else None
    if fit(
        "(?:everything|all|all of it|the whole text|all text|all lines|all the lines|all of the text)", part
    ):
        return content.ask_empty()
    if len(part.quotes()) > 1 and all(
        token.kind == "quote" or token.norm in ("and", ",", "&") for token in part.tokens
    ):
        return tuple(RemoveText(Spot("text", quote), "prompt") for quote in _ticked(part))
    every = bool(re.match(r"(?:all|every|each|any)\b", part.shadow))
    if several := _several_lines(part):
        return several
    spot = content.spot_of(part)
    if spot is not None and content.is_too_short(part, spot):
        return content.ask_quotes("go")
    return RemoveText(spot, "prompt", every) if spot is not None else None


def _ticked(part: Phrase) -> list[str]:
    """Return the quoted texts of a phrase, those in backticks with them."""
    return [
        content.ticked(part.part(k, k + 1)) for k, token in enumerate(part.tokens) if token.kind == "quote"
    ]


def _several_lines(part: Phrase) -> tuple[Intent, ...] | None:
    """`lines 2 and 3`, `the first and the last line`: one removal each, from the end so that places hold."""
    match = fit(r"<the>(?P<u>lines|sentences|rules) (?P<x>\d{1,3}(?: (?:,|and|, and) \d{1,3})+)", part)
    match = match or fit(
        r"(?P<u>line|sentence|rule)s? (?P<x>\d{1,3}(?: (?:,|and|, and) (?:(?:line|sentence|rule) )?\d{1,3})+)",
        part,
    )
    match = match or fit(
        r"(?P<x><the>[^ ]+(?: (?:,|and|, and) (?:the )?[^ ]+)+) (?P<u>lines?|sentences?|rules?)", part
    )
    if counted := fit(rf"<the>(?P<w>first|last) (?P<n>{NUMBER}) (?P<u>lines|sentences|rules)", part):
        count = number(counted["n"]) or 0
        kind: Literal["line", "sentence"] = "sentence" if counted["u"] == "sentences" else "line"
        span = range(count, 0, -1) if counted["w"] == "first" else range(-1, -count - 1, -1)
        return tuple(RemoveText(Spot(kind, str(place)), "prompt") for place in span) if count <= 50 else None
    if match is None:
        return None
    words = [
        word
        for word in re.split(r" (?:,|and|, and) |^the | the |\b(?:line|sentence|rule) ", match["x"])
        if word and word != "the"
    ]
    places = [int(word) if word.isdigit() else ordinal(word.removeprefix("the ")) for word in words]
    if not all(places):
        return None
    unit: Literal["line", "sentence"] = "sentence" if match["u"].startswith("sentence") else "line"
    ordered = sorted(
        (place for place in places if place), key=lambda place: place if place > 0 else 10**6 + place
    )
    return tuple(RemoveText(Spot(unit, str(place)), "prompt") for place in reversed(ordered))


@RULES.on(
    "(?:<delete>) {x}",
    "(?P<x>(?:the|that|line|sentence) .+?) (?:can|should|must|has to|needs to|ought to) (?:now )?(?:go|be "
    "removed|be deleted|be dropped|disappear)(?: from <prompt>)?",
    "(?:i|we) (?:do not|don't|no longer)(?: need| want)+ {x}(?: (?:any more|anymore|any longer))?",
)
def _remove_somewhere(said: Said) -> tuple[Intent, ...] | Intent | None:
    part = said.part("x")
    if part is None or len(part) > 14:
        return None
    if part.quotes() and all(
        token.kind == "quote" or token.norm in ("and", ",", "&") for token in part.tokens
    ):
        return tuple(DeleteThing(quote, True) for quote in _ticked(part))
    if several := _several_lines(part):
        return several
    spot = content.spot_of(part)
    if spot is None or re.search(
        r" (?:and|then|or|but|except|excepting|unless|only|save|apart|other) ", part.shadow
    ):
        return None
    if spot.kind == "text" and content.is_too_short(part, spot):
        return content.ask_quotes("go")
    if spot.kind in (*NUMBERED, "starting", "text") or fit("(?:the )?(?:word|words|phrase) {x}", part):
        return RemoveText(spot, "prompt")
    if spot.kind == "block_about":
        return RemoveText(spot, "prompt")
    if spot.kind in ("about", "line_about"):
        if fit(
            "(?:everything|anything|the thing|the stuff|the one|any mention|all mentions|one) {x}|.+ (?:thing|stuff|one)",
            part,
        ):
            return DeleteThing(spot.value, False)
        return RemoveText(spot, "prompt")
    if re.match(
        r"(?:a|an|some|any|something|anything|it|them|this|that|everything|all|more|the (?:last|"
        r"first)? ?(?:one|thing|part)|every|half|your|nothing|me|you)\b",
        part.shadow,
    ):
        return None
    return (
        DeleteThing(part.said(), False) if len(part) <= 6 and not re.search(r"[.!?:;]", part.shadow) else None
    )
