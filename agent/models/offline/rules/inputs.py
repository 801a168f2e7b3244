"""Rules for the test inputs there are: deleting, changing."""

from __future__ import annotations

import re

from agent.models.offline import content
from agent.models.offline.intents import (
    Ask,
    ChangeTest,
    DeleteTests,
    ExtendTest,
    Intent,
    Option,
    Reference,
    RemoveText,
    ReplaceText,
    Spot,
    Talk,
)
from agent.models.offline.patterns import fit
from agent.models.offline.reference import parse
from agent.models.offline.rules.rule import RuleSet, Said
from agent.models.offline.words import Phrase

RULES = RuleSet()
IT = Reference("pronoun", "it")
"""What "delete it" refers to: shows in the step before it."""

# --- test inputs: deleting --------------------------------------------------------------------------------


@RULES.on(
    "(?:<delete>) (?P<k>.+?) (?:except|except for|but|apart from|other than|save|besides|but not|"
    "but keep|and keep only|but leave) {x}",
    "(?:(?:only|just) keep|keep only|(?:keep|leave) (?:only|just|nothing but)) {x}(?P<k>)(?: "
    "(?:and|,) (?:<delete>) (?:the rest|all "
    "(?:the )?others|the others|everything else))?",
    "(?:keep|leave) {x}(?P<k>) (?:and|,|but) (?:<delete>) (?:the rest|all (?:the )?others|the "
    "others|everything else|all other <tests>|the other <tests>|all the other <tests>)",
    "(?:<delete>) (?:all|every|all the|the)(?P<k>) other <tests> (?:than|except|but) {x}",
)
def _delete_except(said: Said) -> Intent | None:
    kept = said.part("k")
    keep = parse(said.part("x"), noun=True)
    if kept is not None and fit("everything|all|it all|all of it|all else", kept):
        whole = (
            keep
            and keep[0].kind not in ("all", "both", "pronoun")
            and fit("{y} (?:<tests>|<test>)", _kept(said))
        )
        return DeleteTests((Reference("all"),), keep, sure=False) if whole and keep else None
    if kept is not None and kept.tokens:
        every = parse(kept)
        if not every or every[0].kind != "all":
            return None
    keep = parse(said.part("x"), noun=kept is not None)
    if not keep or keep[0].kind in ("all", "both", "pronoun"):
        return None
    return DeleteTests((Reference("all"),), keep)


def _kept(said: Said) -> Phrase:
    return said.part("x") or said.phrase


@RULES.on(
    "(?:<delete>) {x}(?: (?:from|out of|off|in) (?:the |my |our )*(?:list|<tests>|list of <tests>|"
    "test list|<it>|collection))?",
    "(?:have|get|i want|i'd like|i need) {x} (?:to be )?(?:deleted|removed|gone|dropped|erased)",
    "{x} (?:can|should|must|has to|needs to|have to|need to|may|ought to|shall)(?: now| also| "
    "really)* (?:go|go away|be deleted|be removed|be dropped|be erased|disappear|leave|be thrown "
    "out|be thrown away|be gone)",
    "(?:i|we) (?:do not|don't|no longer|don't really|do not really)(?: need| want)+ {x}(?: (?:any "
    "more|anymore|any longer|around|now|here))*",
    "(?:i|we) (?:have no|don't have any|have no more|have no further) (?:use|need) for {x}(?: "
    "(?:any more|anymore|any longer))?",
    "{x} (?:is|are) (?:no longer|not) (?:needed|necessary|wanted|required)(?: (?:any more|anymore|"
    "any longer))?",
    "get {x} out(?: of (?:here|there|the list|my list))?",
    "take {x} (?:out|away)(?: of (?:the )?(?:list|<tests>))?",
    "throw {x} (?:out|away)",
)
def _delete(said: Said) -> Intent | None:
    part = said.part("x")
    references = parse(part)
    if part is None or not references:
        return None
    if references[0].kind == "pronoun" and part.shadow in ("it", "that one", "this one"):
        return DeleteTests((IT,))
    emptied = re.match(r"(?:clear|wipe|strip|cut) (?!out)", said.match.string) and references[0].kind != "all"
    return DeleteTests(references, sure=not emptied)


@RULES.on(
    "(?:<delete>) (?:a|an|one|one of|some|any|one of the|one of my|the|a few|another|a couple "
    "of)(?: of)?(?: the| my)* (?:<tests>|<test>)",
    "(?:<delete>) (?:the )?(?:duplicate|old|wrong|bad|useless|other|unused|remaining) (?:<tests>|"
    "<test>|ones)",
    "(?:<delete>) <tests>",
    "(?:<delete>) (?:the |my )<tests>",
)
def _delete_which(said: Said) -> Intent:
    return DeleteTests((Reference("pronoun"),))


# --- test inputs: changing --------------------------------------------------------------------------------


def _of_test(said: Said, group: str, *, noun: bool = False) -> Reference | None:
    part = said.part(group)
    while (
        part is not None
        and len(part) > 2
        and (
            match := fit("(?:the )?(?:content|contents|text|wording|question|words) (?:of|in|for) {x}", part)
        )
    ):
        part = part.group(match, "x")
    reference = content.last_reference(parse(part, noun=noun))
    return reference if reference and reference.kind not in ("all", "both") else None


@RULES.on(
    "(?:replace|swap|substitute|exchange|change|switch|turn|correct|fix|update) (?:the (?:word|"
    "words|phrase|text|part) )?{x} (?:with|by|to|for|into|- >|→) {y} (?:in|inside|within|of) {r}",
    "(?:in|inside|within) {r} ,? ?(?:replace|swap|substitute|exchange|change|switch|turn|correct|"
    "fix|update) (?:the (?:word|words|phrase|text) )?{x} (?:with|by|to|for|into|- >|→) {y}",
    "(?:in|inside|within) {r} ,? ?(?:use|say|write|put) {y} instead of {x}",
    "(?:in|inside|within) {r} ,? ?(?P<x>Q) (?:should|must|has to|needs to|is to) (?:be|read|say|become) (?P<y>Q)",
)
def _replace_in_test(said: Said) -> Intent | None:
    reference = _of_test(said, "r")
    old, new = content.spot_of(said.part("x")), said.part("y")
    if reference is None or old is None or new is None or old.kind not in ("text", "words"):
        return None
    if content.is_too_short(said.part("x") or new, old):
        return content.ask_quotes("be replaced")
    return ReplaceText(old, content.text_of(new) or "", reference)


@RULES.on(
    "(?:<delete>) (?:the (?:word|words|phrase|text) )?{xq} (?:from|in|out of) {r}",
    "(?:in|from) {r} ,? ?(?:<delete>) (?:the (?:word|words|phrase) )?{xq}",
)
def _remove_in_test(said: Said) -> Intent | None:
    reference = _of_test(said, "r")
    part = said.part("x")
    return RemoveText(content.spot_of(part) or Spot("text", ""), reference) if reference and part else None


@RULES.on(
    "(?:<add>) (?:the (?:word|words|sentence|text) )?{xq} (?:to|at|in) (?:(?:the )?(?P<p>end|start|"
    "beginning|front) of )?{r}",
    "(?:extend|continue) {r} (?:with|by)(?P<p>) {xq}",
    "(?:append|add)(?P<p>) to {r} (?:: )?{xq}",
    "(?P<p>prepend) {xq} to {r}",
)
def _extend_test(said: Said) -> Intent | None:
    reference = _of_test(said, "r")
    if reference is None or fit("<prompt>", said.part("r") or said.phrase):
        return None
    return ExtendTest(
        reference, said.text("x"), said.match["p"] in ("start", "beginning", "front", "prepend")
    )


@RULES.on(
    "(?:<change>|overwrite|turn) {r} (?:<to>|:|, to|so that it (?:says|asks|reads)|such that it "
    "says|to ask|to say|to read|to be) {x}",
    "{r} (?:should|must|shall|needs to|has to|ought to|is to)(?: now| instead| rather| just| "
    "simply)* (?:be changed to|be|say|read|ask|become|be replaced with|be replaced by|be set to|"
    "go)(?: :)? {x}",
    "make {r} (?:say|ask|read|be|into)(?: :)? {x}",
    "(?:make|set|change) {r} {xq}",
    "(?:use|put|write|have) {xq} (?:for|as|in|instead of|in place of) {r}",
    "let {r} (?:be|say|read|ask) {x}",
    "{r} (?::|=|- >|→) {x}",
    "instead of {r} (?:, )?(?:use|put|have|take) {xq}",
    "(?:<change>|overwrite) {r} [,;:.-] (?:it|this|that|the (?:text|content)) (?:should|must|shall|needs to|has "
    "to|ought to)(?: now| rather| just| simply)* (?:be|say|read|ask|become)(?: :)? {xq}",
)
def _change_test(said: Said) -> Intent | None:
    reference = _of_test(said, "r")
    if reference is None or (reference.kind == "pronoun" and said.match["r"] == "it"):
        return None
    part = said.part("x")
    if part is None:
        return None
    text = content.text_of(part, said.text("x"))
    if text is None:
        return Ask("What should the test input say instead?", (), "content", reference)
    if not part.quotes():
        if (
            re.match(
                r"(?:be|something|anything|about|a|an|one|another|more|less|the|sound|ask|use|it|say|german|"
                r"french|spanish|english|be about|question)\b",
                part.shadow,
            )
            and text[:1].islower()
        ):
            return Talk("creative", said.phrase.raw()[:200])
        if not content.is_sentence(part):
            return Ask(
                "I write a test input only as you give it.",
                (Option(f"Change it to “{text}”", (ChangeTest(reference, text),), text),),
                "content",
                reference,
            )
    if not text.strip():
        return Ask("A test input cannot be empty. What should it say?", (), "content", reference)
    changed = ChangeTest(reference, text)
    return content.ask_literal(part, changed) or changed


@RULES.on(
    "(?:<change>|overwrite|update) {r}",
)
def _change_test_how(said: Said) -> Intent | None:
    reference = _of_test(said, "r")
    if reference is None or (reference.kind == "pronoun" and said.match["r"] == "it"):
        return None
    return Ask("What should the test input say instead?", (), "content", reference)
