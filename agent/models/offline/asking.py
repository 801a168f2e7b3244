"""Rules for sentences that change nothing: showing, asking about the persona, talk about the program."""

from __future__ import annotations

import re

from agent.models.offline.grammar import Build, Rule, Said
from agent.models.offline.intents import (
    Intent,
    KeepVisible,
    Reference,
    SearchPrompt,
    Show,
    ShowSpot,
    ShowTest,
    Spot,
    Talk,
)
from agent.models.offline.patterns import fit
from agent.models.offline.reference import _ORDINAL, NUMBERS, number, ordinal, parse
from agent.models.offline.words import Phrase

READING: list[Rule] = []


def _rule(*patterns: str):  # type: ignore[no-untyped-def]
    def keep(build: Build) -> Build:
        READING.append(Rule(patterns, build))
        return build

    return keep


def _talk(subject: str, *patterns: str) -> None:
    READING.append(Rule(patterns, lambda said: Talk(subject, said.phrase.raw()[:200])))  # type: ignore[arg-type]


_HELLO = "(?:hi|hello|hey|howdy|greetings|yo|hiya|good (?:morning|evening|afternoon|day)|hello there|hi there|hey there)"
_talk(
    "hello",
    f"{_HELLO}(?: (?:,|again|everyone|agent|assistant|friend|buddy|claude|fraude))*",
    "(?:anybody|anyone) (?:there|home)",
    f"{_HELLO}(?: [,!.])* (?:how are you|how's it going|what's up|nice to meet you)(?: (?:doing|"
    f"today|doing today))?",
    "how are you(?: (?:doing|today))*",
    "what's up",
)
_talk(
    "identity",
    f"(?:{_HELLO}(?: there)?(?: [,!.])* )?(?:and )?(?:who|what) (?:are|r) (?:you|u)(?: exactly| "
    f"anyway| really)?",
    "what(?:'s| is) your (?:name|model|purpose|role|job)",
    "what (?:model|llm|kind of (?:model|ai|assistant|bot)) (?:are|is|do) (?:you|this|we)(?: using| use)?",
    "are you (?:an? )?(?:real |actual |human |neural |large |language )*(?:ai|llm|claude|chatgpt|"
    "gpt|bot|robot|human|person|model|assistant|persona|optimist|neural|real|alive|online|offline|"
    "connected|program|machine)",
    "(?:please )?introduce yourself",
    "(?:tell me|say something) (?:something )?about yourself",
    "which model (?:is this|are you|do you use|are you using)",
    "who am i (?:talking|speaking) (?:to|with)",
    "are you there",
)
_talk(
    "help",
    "(?:/ )?help(?: me)?(?: please)?",
    "\\?+",
    "what (?:can|could|do) (?:you|u) (?:do|understand|help(?: me)? with|know how to do|offer|"
    "support)(?: for me| here)?",
    "what (?:commands|requests|kinds? of requests|instructions|things) (?:do|can|are) (?:you|i|"
    "there)(?: {x})?",
    "(?:how|what) can (?:you|i) (?:help|say|ask|tell|do|use)(?: me| you| here| to you| with you| "
    "this| for me)*",
    "how (?:do|can|should) i (?:use|talk to|work with) (?:this|you|this program|this thing|it)",
    "how does (?:this|it) work",
    "commands|options|menu|usage|manual",
    "<show> (?:the |your )?(?:commands|options|help|features|capabilities|abilities)",
    "what are your (?:capabilities|abilities|features|commands|skills|limits|limitations)",
    "what are you (?:able to do|capable of|good at)",
    "i need help",
    "i(?:'m| am) (?:lost|stuck|confused)",
    "what now|what next|now what",
    "can you (?:delete|rename|edit|change|remove|add|create|update|undo|replace|list|show|do) "
    "(?:tests|test inputs|test cases|personas|prompts|system prompts|names|things|text|lines|"
    "changes|edits|anything|stuff)",
)
_talk(
    "connect",
    "(?:{x} )?(?:connect|connecting|hook up|plug in|configure|enable|attach|switch to|switching to|"
    "use|using|set up|setting up|activate|get) (?:to )?(?:an? |the |my )?(?:real |actual |proper |"
    "better |other |different |neural |online |another |smarter |api |anthropic |claude |local "
    ")*(?:model|api|api key|key|llm|claude|sonnet|opus|haiku|ollama|gpt|ai|server|endpoint)(?: "
    "{y})?",
    "(?:{x} )?(?:api key|anthropic_api_key|anthropic - api - key|base_url|base url)(?: {y})?",
)
_talk(
    "thanks",
    "(?:thanks|thank you|cheers|ty|great|perfect|awesome|nice|cool|good|excellent|wonderful|"
    "amazing|good job|well done|nice work|great job|great work|good work|that's (?:great|perfect|"
    "good|better|it|all|fine)|looks good|love it|i (?:love|like) it|lovely|brilliant|fantastic|"
    "super)"
    "(?: (?:[,.!]|a lot|so much|very much|thanks|thank you|great|perfect|job|work|that's all|that "
    "is all|for now|for your help|for that|you|again|bye|well done|nice|good|cool))*",
)
_talk(
    "farewell",
    "(?:bye|goodbye|good bye|see you|see ya|good night|quit|exit|later|see you later|bye bye|/ "
    "(?:quit|exit))(?: [^ ]+)?",
)
_talk(
    "nothing",
    "(?:no|nope|nah|never mind|nevermind|cancel|stop|forget it|forget that|none|neither|nothing|"
    "not now|leave it|skip it|none of (?:them|these|those)|no thanks|no thank you|don't|do not|"
    "abort|no ,? (?:leave it|nothing|never mind|don't|cancel|stop|thanks))(?: (?:[,.!]|please|"
    "thanks|thank you|then))*",
)
_talk(
    "memory",
    "(?:(?:do|can|could) you (?:still )?(?:remember|recall|know|tell me) )?(?:what|which "
    "(?:question|message|request|one)) (?:did|was it) i (?:just |last |first |previously )*(?:say|"
    "said|ask|asked|tell|told|write|wrote|request|requested|want|wanted)(?: (?:you|before|first|"
    "last|just|now|earlier|previously|to|for|about|me|in|my|message|the))*",
    "(?:do you remember )?what i (?:just |last |first )?(?:said|asked|told|wrote)(?: {x})?",
    "what (?:was|is|were) my (?:last|previous|first|earlier) (?:question|message|request|requests|"
    "questions|messages|instruction|sentence)",
    "what (?:have|did) (?:we|you|i) (?:just |already )*(?:done|do|changed|change|talked about|talk "
    "about|discussed|discuss|said|say|asked|edited|edit)(?: {x})?",
    "(?:summarize|summarise|sum up|recap) (?:our|the|this) (?:conversation|chat|session|"
    "discussion)(?: so far)?",
    "do you (?:still )?remember(?: {x})?",
    "what did i (?:just )?(?:ask|say|tell you)(?: {x})?",
    "(?:what|which) (?:changes|edits) (?:did|have) (?:you|we|i) (?:make|made|do|done)(?: {x})?",
    "what (?:changed|has changed|happened)(?: {x})?",
)


@_rule(
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
            "(?:only |just |me )?(?:all |all of |all the |all of the |all my |all of my |every |each |a list of |the list of |list of |the |my |our |its )*(?:different |existing |current |available )?(?:<tests>|test input|test)(?: (?:i have|we have|there are|you have|it has|so far|in a list|as a list))*",
            piece,
        ):
            kinds.append("tests")
        elif fit(
            "(?:<it>|everything|all|all of it|it all|the whole (?:persona|thing)|all details|the details|details|<it> (?:in full|as a whole)|your persona|the whole page)",
            piece,
        ):
            kinds.extend(("name", "prompt", "tests"))
        else:
            return None
    return tuple(dict.fromkeys(kinds)) or None


@_rule(
    "<show> {x}",
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


@_rule(
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
    "(?:which|what) persona (?:is this|are we|am i|is it|do i){y}".replace("{y}", "(?: {y})?"),
    "(?:i )?forgot <name>",
    "remind me of <name>",
    "what <name> (?:is|was)",
)
def _name(said: Said) -> Intent:
    return Show(("name",))


@_rule(
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


@_rule(
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
)
def _overview(said: Said) -> Intent:
    return Show(("name", "prompt"))


@_rule(
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


@_rule(
    "how many <tests>(?: {y})?",
    "(?:count|number of) (?:the |all |my )*<tests>",
    "<show> (?:the )?(?:number|count) of (?:the |all |my )*<tests>",
    "what(?:'s| is) the number of (?:the |my )?<tests>",
    "<show> (?:me )?how many <tests>(?: {y})?",
)
def _count(said: Said) -> Intent:
    return Show(("count",))


@_rule(
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


@_rule(
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


@_rule(
    "<show> {x}",
    "(?:what is|what's|what was) (?:in )?{x}",
    "what does {x} (?:say|ask|look like|contain|read|test)(?: (?:exactly|again|now))*",
    "(?:what is|what's|<show>) (?:the )?(?:content|contents|text|wording) of {x}",
    "how does {x} (?:go|read|look)(?: (?:exactly|again|now))*",
    "<show> what {x} (?:says|is|asks|contains)",
    "<show> (?:me )?{x} (?:again|in full|to me|of them|from the list)",
    "(?:remind me )?what {x} (?:says|was|is)",
)
def _show_test(said: Said) -> Intent | None:
    references = parse(said.part("x"))
    if not references or references[0].kind in ("pronoun", "all", "both"):
        return Show(("tests",)) if references and references[0].kind in ("all", "both") else None
    return ShowTest(references)


_NUMBER = r"(?:\d{1,4}|" + "|".join(NUMBERS) + ")"


@_rule(
    rf"(?:<show>|what is|what's|what was) (?:in )?<the>(?P<o>{_ORDINAL}) (?P<u>line|sentence|rule|"
    rf"paragraph|instruction)(?: (?:of|in|from) <prompt>)?",
    rf"(?:<show>|what is|what's) (?:on |in )?(?P<u>line|sentence|rule) (?:number |# "
    rf")?(?P<n>{_NUMBER})(?: (?:of|in|from) <prompt>)?",
    rf"what does <the>(?P<o>{_ORDINAL}) (?P<u>line|sentence|rule|paragraph)(?: (?:of|in) <prompt>)? say",
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


@_rule(
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


_talk(
    "elsewhere",
    "(?:<add>|new|start|build|generate|design|duplicate|clone|copy) (?:a|an|another|new|one more|"
    "the|this|second|me|us| )*(?:persona|personas|character)(?: {x})?",
    "(?:<delete>) (?:the |this |my |our |whole |entire |all |all the )*(?:persona|personas|file|"
    "yourself|character)",
    "(?:<delete>|reset|forget|restart|empty|start over|wipe) (?:the |this |our |my |whole |entire "
    ")*(?:conversation|chat|history|session|chat history|context|memory)",
    "(?:start|begin|open) (?:a )?(?:new|fresh) (?:conversation|chat|session)",
    "start over|start again|start fresh",
    "(?:run|execute|try|try out|launch|start) (?:all |all of |all the |the |my |this |every |it |"
    "both )*(?:{x} )?(?:<tests>|<test>|persona|bot|them|one)(?: {y})?",
    "(?:run|execute) (?:it|them|everything|all)",
    "(?:save|save it|save the (?:file|changes|persona)|save everything)",
    "(?:export|import|load|open|switch to|go to|rename file|download|upload|share|publish|compile) "
    "(?:<it>|the|a|an|another|my|as|to|from|{x})",
    "(?:<change>|<add>|<delete>) (?:the |its |a |an |some |new |persona's |this )*(?:description|"
    "tags?|summary|model|temperature|effort|max tokens|id|file name|filename|traits?|skills?|"
    "guardrails?|avatar|icon|settings?|parts?)(?: {x})?",
    "(?:what|which) (?:is |are |'s )?(?:the |its )?(?:description|tags|summary|settings|file name|"
    "filename|id)",
    "<show> (?:the |its |me )*(?:description|tags|summary|settings|log|versions|diff|history|file)(?: {x})?",
    "(?:<change>|<show>) (?:the )?(?:name|title|label|id) of <the>(?:[^ ]+ ){0,3}<test>(?: {x})?",
)
_talk(
    "redo",
    "redo(?: {x})?",
    "(?:undo|revert) (?:the|that|your|my) (?:undo|last undo)",
    "(?:bring|put) (?:it|that|the change) back(?: again)?",
)
_talk(
    "persona-voice",
    "(?:please )?(?:speak|talk|answer|respond|reply|act|behave|be|pretend|roleplay|role play|role "
    "- play|play|write)(?: to me)?(?: (?:to be|as if you (?:were|are)))?(?: (?:as|like|in the "
    "voice of|in character as|the role of))? (?:<it>|the (?:persona|optimist)|an? optimist|your "
    "persona|in character)(?: {x})?",
    "(?:what|how) would (?:<it>|the persona|he|she) (?:say|answer|reply|respond|do|react|think|"
    "feel)(?: {x})?",
    "(?:test|try|demonstrate) (?:<it>|the persona|persona)(?: {x})?",
    "(?:let|have|make) <it> (?:say|answer|reply|speak|respond)(?: to)? {x}",
    "can i (?:talk|speak|chat) (?:to|with) <it>",
    "ask <it> {x}",
    "(?:say|answer) (?:hello|hi|something|this) (?:as|like) {x}",
)
