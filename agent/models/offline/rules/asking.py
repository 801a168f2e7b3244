"""Rules for sentences that show something of the persona and change nothing."""

from __future__ import annotations

import re

from agent.models.offline.intents import (
    Intent,
    KeepVisible,
    Reference,
    SearchPrompt,
    Show,
    ShowSpot,
    ShowTest,
    Spot,
)
from agent.models.offline.patterns import fit
from agent.models.offline.reference import NUMBERS, ORDINAL, number, ordinal, parse
from agent.models.offline.rules.rule import RuleSet, Said
from agent.models.offline.words import Phrase

RULES = RuleSet()
RESULT = ("result",)
"""What "show me the rest" or "the result" shows: it lies with the change before it in the message."""


@RULES.on(
    "(?:keep|leave|hold) (?:the |this |that |your )?(?:output|panel|window|answer|result|results|"
    "conversation|chat|response|reply|text|message|list|it|that|this)(?: panel| window)?"
    " (?:visible|open|shown|up|on screen|on the screen|displayed|in view|there|showing|on display|"
    "pinned)(?: (?:for now|please|a bit|a while|longer|for a while|for me|so i can read it|here))*",
    "(?:pin|freeze) (?:the |this |that |your )?(?:output|panel|window|answer|result|results|"
    "conversation|chat|it|this|that|response|list)(?: (?:to the screen|open|here|please))?",
    "(?:don't|do not|please don't|never) (?:hide|close|dismiss|fade|collapse)(?: out)? (?:the |"
    "this |that |your )?(?:output|panel|window|answer|result|results|conversation|chat|it|this|"
    "response|list)(?: {x})?",
    "(?:stay|remain) (?:open|visible|up|here|there|on screen)",
)
def _keep_visible(said: Said) -> Intent:
    return KeepVisible()


_PARTS = "(?:<name>|<prompt>|(?:all |all of |all the |every )?<the><tests>|<it>|everything|all)"


def _shown(part: Phrase) -> tuple[str, ...] | None:
    """Return which parts of the persona a list such as `the name and the prompt` names."""
    pieces: list[Phrase] = []
    at = 0
    for k, token in enumerate([*part.tokens, None]):
        if token is None or token.norm in (",", "and", "&", "plus"):
            if k > at:
                pieces.append(part.part(at, k))
            at = k + 1
    kinds: list[str] = []
    for piece in pieces:
        if fit("(?:only |just )?<name>", piece):
            kinds.append("name")
        elif fit(
            "(?:only |just |me )?(?:what's in |what is in |the content of |the contents of |the text of )?<prompt>",
            piece,
        ):
            kinds.append("prompt")
        elif fit(
            "(?:only |just |me )?(?:all |all of |all the |all of the |all my |all of my |every |each |a "
            "list of |the list of |list of |the |my |our |its )*(?:different |existing |current |available "
            ")?(?:<tests>|test input|test)(?: (?:i have|we have|there are|you have|it has|so far|in a list|"
            "as a list))*",
            piece,
        ):
            kinds.append("tests")
        elif fit(
            "(?:<it>|everything|all|all of it|it all|the whole (?:persona|thing)|all details|the details|"
            "details|<it> (?:in full|as a whole)|your persona|the whole page)",
            piece,
        ):
            kinds.extend(("name", "prompt", "tests"))
        else:
            return None
    return tuple(dict.fromkeys(kinds)) or None


@RULES.on(
    "<show> {x}(?: (?:to me|for me))?",
    "(?:what is|what's|what are|what was|which are|which is|what were|where is|where's|how is|"
    "how's|where are) {x}",
    "{x}",
)
def _show(said: Said) -> Intent | None:
    part = said.part("x")
    assert part is not None
    bare_it = part.shadow in ("it", "this", "that", "him", "her", "them", "all")
    looking = re.match(r"(?:show|display|print|list|describe|see|view|read)", said.match.string)
    if bare_it and not looking:
        return None
    if fit("{x}", part) and said.match.re.pattern.startswith("(?P<x>") and not fit(_PARTS, part):
        return None
    kinds = _shown(part)
    return Show(kinds) if kinds else None


@RULES.on(
    "(?:what is|what's|who is|who's) (?:<it>) (?:called|named)",
    "how is <it> (?:called|named)",
    "what (?:do|should|can|did) (?:we|i|you|they) call <it>",
    "what name (?:does <it> have|did we give it|has it|is it|was it given)",
    "(?:does|do) <it> have (?:a|any) name",
    "is <it> (?:still |now |really |already )?(?:called|named) {x}",
    "is <name> {x}",
    "what is <it> 's name",
    "(?:and )?<name>",
    "which name {x}",
    "what did (?:we|i|you) (?:call|name) <it>",
    "(?:which|what) persona (?:is this|are we|am i|is it|do i)(?: {y})?",
    "(?:i )?forgot <name>",
    "remind me of <name>",
    "what <name> (?:is|was)",
)
def _name(said: Said) -> Intent:
    return Show(("name",))


@RULES.on(
    "what does <prompt> (?:currently |now |actually )?(?:say|look like|contain|read|include|"
    "consist of)(?: (?:right now|now|currently|so far|at the moment|exactly|like))*",
    "how does <prompt> (?:look|read|go|currently look|look like|start)(?: (?:right now|now|"
    "currently|so far|like|at the moment))*",
    "what(?:'s| is) (?:in|inside|written in|the content of|the text of|currently in) <prompt>(?: "
    "(?:right now|now|currently|at the moment|so far))*",
    "what(?:'s| is) <prompt>(?: (?:right now|now|currently|at the moment|so far|like|set to))+",
    "(?:which|what) instructions (?:does|do|did|has) {x}",
    "how is <it> (?:instructed|prompted|set up|configured|told to behave)",
    "(?:what is|what's) <it> (?:told|instructed|supposed|asked) (?:to do)?",
    "<show> <prompt> (?:to me|aloud|back to me|back|in full|as it is|as is|out loud|once more|"
    "again|now|right now|so far|at the moment|that {x}|i have|we have)",
    "<show> (?:what's|what is) (?:in|inside|written in|currently in) <prompt>(?: (?:right now|now|"
    "currently|at the moment|so far))*",
    "<show> (?:the )?(?:content|contents|text|full text|wording) of <prompt>",
    "is there (?:a|any) <prompt>",
    "(?:do|does) <it> have (?:a|any) <prompt>",
    "what have (?:we|i) (?:got )?in <prompt>(?: {y})?",
    "what <prompt> (?:does|do|has) {x}",
    "<show> what <prompt> (?:says|looks like|is|contains)(?: (?:now|right now|currently))?",
    "<show> how <prompt> (?:looks|reads)(?: (?:now|right now|currently))?",
)
def _prompt(said: Said) -> Intent:
    return Show(("prompt",))


@RULES.on(
    "(?:tell me|what do you know|what can you tell me|info|information|say something|give me (?:an "
    "overview|a summary|information|info)) (?:more )?(?:about|on|of) <it>",
    "(?:describe|summarize|summarise|explain|introduce|sum up) <it>(?: to me| briefly)?",
    "(?:who|what) is (?:this |the )?(?:persona|bot|character)(?: (?:like|about|for))?",
    "(?:who is|who's) (?:this|it|that|he|she)",
    "what (?:is|does) (?:this|the) (?:persona|bot|character) (?:like|about|do|for|all about|"
    "supposed to (?:be|do))",
    "what kind of (?:persona|bot|character) is (?:this|it)",
    "what(?:'s| is) (?:this|it) (?:persona )?(?:about|all about|for)",
    "how does (?:this|the) (?:persona|bot|character) (?:behave|act|talk|answer|work|look)(?: {y})?",
    "(?:an )?overview|status|(?:persona )?summary",
    "what(?:'s| is) (?:in|inside) (?:here|there|it|this(?: persona| file)?|the persona)",
)
def _overview(said: Said) -> Intent:
    return Show(("name", "prompt"))


@RULES.on(
    "(?:what|which) (?:kinds? of |sort of )?<tests> (?:are there|do i have|do we have|do you have|"
    "does (?:it|<it>) have|exist|have i got|have we got|are (?:there|defined|set up|stored|"
    "available|in (?:the|this) (?:list|file|persona))|did i (?:add|write|make))(?: {y})?",
    "(?:do|have) (?:i|we|you) (?:have|got|already have) (?:any|some|a few) <tests>(?: (?:yet|"
    "already|at all|so far|for {y}))?",
    "(?:do|does) <it> have (?:any )?<tests>(?: {y})?",
    "are there (?:any |already )*<tests>(?: {y})?",
    "(?:what|which) (?:are|is) (?:all )?<the><tests>(?: (?:again|now|right now|i have|we have|so "
    "far|called))*",
    "<show> (?:me )?what <tests> {x}",
    "<show> (?:all |all of |all the |every |each |the |my |me |single )*(?:<tests>|test input)(?: "
    "(?:to me|again|now|i have|we have|there are|(?:that|for|in|of) {y}|please|as a list))+",
    "(?:all|my|the|all my|all the) <tests>",
    "<tests>",
    "what (?:do|can) (?:i|we) (?:have to )?test (?:it |this )?with",
    "what have i got(?: (?:for|as) <tests>)?",
    "(?:list|show) (?:the )?tests",
    "how do <the><tests> look(?: {y})?",
    "<show> me every(?: single)? <test>",
    "(?:go|run) through (?:all |the |my )*<tests>",
)
def _tests(said: Said) -> Intent | None:
    if re.search(r"\b(?:about|on|regarding|concerning|mention\w*) ", said.match.string):
        return None
    if said.match.string.startswith("run "):
        return None
    return Show(("tests",))


@RULES.on(
    "<show> (?:me )?(?:the |all |all the |all of the |only the |just the |which |me )*(?:rest|remainder|remaining "
    "(?:<tests>|<test>|ones?)|others|other (?:<tests>|ones)|ones? (?:that (?:is|are) )?left|(?:<tests> )?(?:that )?"
    "(?:remains?|are left|is left)|(?:updated|resulting|remaining|new|final|current) (?:list|<tests>))(?: (?:of "
    "(?:them|the <tests>|the list|it)|now|afterwards|then|to me|that (?:is|are) left|left|please))*",
    "<show> (?:me )?(?:what's|what is|what are|what|which(?: ones| <tests>)?) (?:left|remaining|remains?|is left|"
    "are left|there is|there's)(?: (?:now|then|afterwards|over))*",
    "(?:and )?(?:what's|what is|what) (?:left|remains)(?: (?:now|then|afterwards|over))*",
    "<show> (?:me )?(?:the |your |what (?:is )?the )?(?:result|outcome|new version|changed version|changes?)"
    "(?: (?:now|then|afterwards|to me|please|is))*",
    "<show> (?:me )?(?:how|what) (?:it|that|this|everything|they) (?:all )?(?:looks?|reads?|is|are)(?: (?:like|now|"
    "then|afterwards|after that))*",
    "<show> (?:it|them)(?: to me)? (?:afterwards|after that|then|when (?:you are|you're) done)",
)
def _result(said: Said) -> Intent:
    return Show(RESULT)


@RULES.on(
    "how many <tests>(?: {y})?",
    "(?:count|number of) (?:the |all |my )*<tests>",
    "<show> (?:the )?(?:number|count) of (?:the |all |my )*<tests>",
    "what(?:'s| is) the number of (?:the |my )?<tests>",
    "<show> (?:me )?how many <tests>(?: {y})?",
)
def _count(said: Said) -> Intent:
    return Show(("count",))


@RULES.on(
    "how (?:long|big|large|short) is <prompt>(?: {y})?",
    "how many (?:lines|words|characters|chars|sentences|tokens|letters|rules) (?:is|are|does|do|"
    "has|in|there) {x}",
    "(?:what is|what's|<show>) the (?:length|size|word count|line count|number of (?:lines|words|"
    "characters|sentences)) of <prompt>",
    "<show> how long <prompt> is",
    "is <prompt> (?:too |very |rather )?(?:long|short|big|empty)",
    "count the (?:words|lines|characters|sentences)(?: (?:in|of) <prompt>)?",
)
def _size(said: Said) -> Intent:
    return Show(("size",))


@RULES.on(
    "(?:is|are) there (?:a|any|already a|already an|some|an|already any|another) (?:<tests>|"
    "<test>) (?:(?:that|which) (?:is |are |asks |talks |mentions )?)?(?:<about>|where) {x}",
    "(?:do|have) (?:i|we|you) (?:already )?(?:have|got) (?:a|any|an|some) (?:<tests>|<test>) "
    "(?:(?:that|which) (?:is |are |asks |talks |mentions )?)?<about> {x}",
    "which (?:<tests>|<test>|one|ones|of (?:the|my) <tests>|of them) (?:is|are|mentions?|talks?|"
    "deals?|asks?|contains?|has|have|says?)(?: (?:about|on|with|of))? {x}",
    "<show> (?:a|any|all|the|all the|every|me) (?:<tests>|<test>) <about> {x}",
    "(?:which|what) (?:<tests>|<test>) (?:do i have|are there|do we have|exist) <about> {x}",
    "does (?:any|one) (?:<test>|of (?:the|my) <tests>) (?:mention|talk about|ask about|contain|"
    "deal with) {x}",
    "(?:is|are) there (?:a|any) {x} (?:<tests>|<test>)",
)
def _search_tests(said: Said) -> Intent | None:
    part = said.part("x")
    if part is None or len(part) > 10:
        return None
    return ShowTest((Reference("exact" if part.quoted else "topic", part.said()),))


@RULES.on(
    "<show> {x}(?: (?:to me|for me))?",
    "(?:what is|what's|what was) (?:in )?{x}",
    "what does {x} (?:say|ask|look like|contain|read|test)(?: (?:exactly|again|now))*",
    "(?:what is|what's|<show>) (?:the )?(?:content|contents|text|wording) of {x}",
    "how does {x} (?:go|read|look)(?: (?:exactly|again|now))*",
    "<show> what {x} (?:says|is|asks|contains)",
    "<show> (?:me )?{x} (?:again|in full|to me|of them|from the list)",
    "(?:remind me )?what {x} (?:says|was|is)",
    "(?:find|look for|locate|pick|pick out|take|go to|look up|select) {x}",
    rf"(?:and |what about |how about )?(?P<x>(?:the|my|test|{ORDINAL}) .+?)(?: \?)+",
)
def _show_test(said: Said) -> Intent | None:
    part = said.part("x")
    if (
        said.match.string.endswith("?")
        and part is not None
        and re.search(r"\b(?:should|must|shall|is|be|to|say)\b", part.shadow)
    ):
        return None
    references = parse(part)
    if not references or references[0].kind in ("pronoun", "all", "both"):
        return Show(("tests",)) if references and references[0].kind in ("all", "both") else None
    return ShowTest(references)


_NUMBER = r"(?:\d{1,4}|" + "|".join(NUMBERS) + ")"


@RULES.on(
    rf"(?:<show>|what is|what's|what was) (?:in )?<the>(?P<o>{ORDINAL}) (?P<u>line|sentence|rule|"
    rf"paragraph|instruction)(?: (?:of|in|from) <prompt>)?",
    rf"(?:<show>|what is|what's) (?:on |in )?(?P<u>line|sentence|rule) (?:number |# "
    rf")?(?P<n>{_NUMBER})(?: (?:of|in|from) <prompt>)?",
    rf"what does <the>(?P<o>{ORDINAL}) (?P<u>line|sentence|rule|paragraph)(?: (?:of|in) <prompt>)? say",
    rf"what does (?P<u>line|sentence|rule) (?P<n>{_NUMBER})(?: (?:of|in) <prompt>)? say",
    r"how does <prompt> (?P<o>start|begin|end)(?P<u>)",
)
def _show_line(said: Said) -> Intent | None:
    groups = said.match.groupdict()
    unit = "sentence" if groups.get("u") == "sentence" else "line"
    if groups.get("n"):
        place = number(groups["n"])
    else:
        place = {"start": 1, "begin": 1, "end": -1}.get(groups["o"]) or ordinal(groups["o"])
    return ShowSpot(Spot(unit, str(place))) if place else None  # type: ignore[arg-type]


@RULES.on(
    "(?:does|do|did) (?:<prompt>|<it>|its prompt|they) (?:currently |already |even |ever "
    ")?(?:mention|say|contain|include|cover|talk about|speak about|speak of|refer to|have|address|"
    "forbid|allow|tell it)(?: (?:anything|something|a line|a rule|a word|a sentence|any word))?(?: "
    "(?:about|on|regarding|of|that|to))? {x}",
    "is (?:the word |the phrase |the sentence |the line )?{x} (?:mentioned |already |anywhere |"
    "written |contained )*(?:in|part of|mentioned in) <prompt>(?: {y})?",
    "(?:where|how often|how) does <prompt> (?:mention|say|talk about|speak of) {x}",
    "what does (?:<prompt>|it) say (?:about|on|regarding) {x}",
    "is there (?:anything|something|a line|a rule|a sentence|any mention) (?:about|on|of|"
    "regarding) {x} in <prompt>",
    "(?:find|search for|search|look for|look up) {x} in <prompt>",
    "(?:search|look through) <prompt> for {x}",
    "<show> (?:the |all |all the |every |any )?(?:lines?|sentences?|rules?|parts?) (?:of <prompt> "
    ")?(?:<about>|that mentions?|that says?|where it says) {x}",
    "what (?:does|is|was) (?:the |its )?(?:persona|bot) (?:say|told|instructed) about {x}",
    "is there anything about {x}(?: in <prompt>)?",
    "does it say anything about {x}",
    "where (?:in <prompt> )?(?:is|does it say|does it mention) {x} (?:in <prompt>)?",
)
def _search_prompt(said: Said) -> Intent | None:
    part = said.part("x")
    if part is None or len(part) > 12:
        return None
    found = fit("{x} (?:in|inside|anywhere in) <prompt>", part)
    part = part.group(found, "x") if found else part
    return SearchPrompt(part.said()) if part is not None else None
