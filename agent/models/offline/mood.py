"""How a sentence is meant: politeness is taken off, and sentences about a change that are no request for it
(negated, asked, imagined, reported, conditional) are told from requests."""

from __future__ import annotations

import re
from dataclasses import dataclass

from agent.models.offline.intents import Hold
from agent.models.offline.patterns import expand
from agent.models.offline.words import Phrase, Token

_MARKS = "(?: [,.!;:…-])*"
_FILLERS = (
    "please to(?= [^ ]+)|hey there|hi there|hello there|hey|hi|hello|yo|dear|okay|ok|alright|all right|right|well|so|"
    "now|great|cool|nice|perfect"
    "|good|awesome|wonderful|thanks|thank you|sorry|excuse me|um|uh|hmm|please|kindly|just|simply|"
    "also|then|and then|next|finally|lastly"
    "|and finally|first of all|firstly|secondly|thirdly|to start|to begin with|actually|"
    "additionally|furthermore|in addition|besides|moreover|and also|and|but|plus"
    "|after that|afterwards|oh|yes|yeah|yep|sure|agent|assistant|buddy|friend|my friend|mate|quick|"
    "quickly|quick one|one more thing|another thing"
    "|basically|essentially|honestly|literally|oops|whoops|uh oh|ah|argh|ugh|hm|my bad|my mistake|ok so|real quick"
    "|listen|look|good morning|good evening|good afternoon|instead(?! of)|again|once more|btw|by "
    "the way|i say|question|for this persona|for the persona|if possible"
    "|if you can|if you could|if you please|if you don't mind|if you would|when you can|when you "
    "get a chance|whenever you can|whenever you have time|when you have a moment|when you have "
    "time"
    "|if it's not too much trouble|if it is not too much trouble|if that's ok|if that's okay|as a "
    "first step|as a next step|could you|can you"
    "|do me a favor and|do me a favour and|be a dear and|i think|i guess|i believe|i suppose|i'd "
    "say|on second thought|on second thoughts|never mind that|i changed my mind|i've changed my "
    "mind|i have changed my mind"
)
_HELP = (
    "(?: (?:please|kindly|maybe|perhaps|just|also|possibly|quickly|now|then|go ahead and|be so "
    "kind as to|be so kind and|help me to|help me|try to|and))*"
)
_ASKED = re.compile(
    "(?:"
    "(?:can|could|would|will|may|might) (?:you|we|u|i (?:ask|bother|trouble|get) you to|i have you)"
    "|can't you|couldn't you|won't you|wouldn't you"
    "|(?:can|could|may|might) i (?:please )?(?=(?:see|view|read|have|get|look|take)\\b)"
    "|(?:i was|i am|i'm)? ?(?:wondering|hoping) (?:if|whether|that) (?:you|we) (?:could|can|might|would)"
    "|i wonder (?:if|whether) (?:you|we) (?:could|can|might|would)"
    "|is there (?:any|a) (?:chance|way) (?:that )?you (?:could|can|would)"
    "|any chance you (?:could|can|would)|(?:do|would) you think you (?:could|can)|are you able to|"
    "do you want to"
    "|is it possible for you to"
    "|would it be (?:possible|ok|okay|fine|alright|all right|too much|too much trouble|too much to "
    "ask|a problem|a lot to ask)(?: for you)? (?:to|if you could|if you)"
    ")\\b" + _HELP
)
_GERUND = re.compile(f"(?:(?:would|do) you mind|would you (?:please )?consider|mind){_HELP} (?=[^ ]+ing\\b)")
_WISH = re.compile(
    "(?:"
    "(?:i would|i'd|we would|we'd|i) (?:really |very much |also )?(?:like|love|prefer|appreciate "
    "it if|appreciate|be (?:very |so |really |most )*(?:happy|glad|grateful|thankful|obliged|"
    "pleased)|want)"
    "(?: it)?(?: if| when| for)?(?: you| us)?(?: could| would| can)?(?: to)?(?= (?:see|know|have "
    "you|change|rename|call|delete|remove|add|append|set|update|replace|insert|put|include|create|"
    "show|list|view|get rid|drop|undo|make)\\b)"
    "|(?:i|we) (?:really |also |just )?(?:want|need|would like|wish|want-to|would love)(?: you)? to"
    "|(?:i|we) want-to|i'm going to need you to|i (?:need|want|would like|'d like) you to|"
    "(?:i|we) (?:want|wish|need|would like|'d like) that you|i(?:'d| would) like to|i'd love to|i'd love you to|i'd like you to|i'd love for you to|i'd appreciate "
    "it if you could|i would appreciate it if you could|i would appreciate it if you"
    "|let's|lets|let us|go ahead and|go and|be so kind as to|be so kind and|be so good as to"
    "|(?:it would|it'd|would) be (?:great|nice|good|lovely|awesome|helpful|cool|wonderful|"
    "fantastic|super|best|better) (?:if|for) (?:you|we)(?: could| would| can| to)?"
    "|(?:you|we) (?:should|must|need to|have to|can|could|may|might want to|ought to)(?: now| "
    "please| just| also)*"
    "|make sure (?:to|you|that you)|be sure to|try to|feel free to|time to|it's time to|it is time "
    "to|remember to|proceed to|help me to|help me"
    "|your (?:task|job) is to|my (?:request|wish) is(?: to| that you)?|the next thing is to|what i "
    "want is to|what i(?:'d| would) like is to|what i want is|all i want is to|all i want is"
    ")(?= )"
)
_LEAD = re.compile(f"(?:{_FILLERS})(?={_MARKS} |{_MARKS}$){_MARKS} ?|(?:[,.!;:…&-] ?)+")
_GREETING_WITH_NAME = re.compile(r"(?:hey|hi|hello) [^ ]+ (?:, |! |- )")
_VERBS = (
    "|".join(expand(f"<{group}>") for group in ("add", "delete", "change", "show"))
    + "|rename|undo|call|prepend"
)
EDITING = (
    f"(?:ever |under any circumstances |in any case |now |yet |just |actually |really |even |you )*(?:{_VERBS}|touch|do|worry|bother|"
    f"forget|hesitate|mind|think"
    "|mess|reset|move|lose|apply|continue|proceed|go|stop|ask|save|hide|dare|you)\\b"
)
"""Verbs of editing: a negated sentence with another verb is one for the persona ("don't be rude")."""
_STEP_WORD = re.compile(rf"(?:first|second|third) (?:, ?|(?=(?:please|{_VERBS})\b))")
_TAIL_WORDS = (
    "please|thanks|thank you|thank you very much|thanks a lot|thanks a bunch|many thanks|thanks in "
    "advance|many thanks in advance|thank you in advance|thank you so much|thanks so much|cheers|"
    "ta"
    "|for me|for us|would you|will you|could you|can you|won't you|if you can|if you could|if you "
    "please|if you don't mind|if you would|if possible|if that's ok"
    "|if that's okay|if that's alright|when you can|when you get a chance|when you have a moment|"
    "when you have time|whenever you can|asap|right away|real quick|okay|ok|alright|mate"
    "|if it's not too much trouble|if it is not too much trouble|and thanks|and thank you|that's "
    "all|that is all|that's it|that would be great|that would be all|that'd be great|much "
    "appreciated|appreciate it"
)
_TAIL = re.compile(
    f"(?:^| )(?:(?:[,;…(-]|and) )*(?:{_TAIL_WORDS}|[:;] -? ?[)(])(?: [.!?,…)]| : \\)| : -?\\))*$"
)
_WEAK_TAIL = re.compile(
    "(?: [,.])*(?: (?:now|right now|right-now|too|as well|also|instead|then|again|once more|first|"
    "immediately|quickly|today|completely|entirely|altogether|real quick|from now on|already"
    "|anyway|at once|permanently|for good|currently|at the moment|at present|exactly|these days|so "
    "far|though|, all of them|all of them))+(?P<end>(?: [.!?,…])*)$"
)
_GERUNDS = {
    "renaming": "rename", "calling": "call", "changing": "change", "deleting": "delete", "removing": "remove",
    "adding": "add", "appending": "append", "putting": "put", "inserting": "insert", "including": "include",
    "replacing": "replace", "swapping": "swap", "updating": "update", "setting": "set", "showing": "show",
    "listing": "list", "telling": "tell", "giving": "give", "creating": "create", "making": "make",
    "undoing": "undo", "reverting": "revert", "prepending": "prepend", "writing": "write", "reading": "read",
    "dropping": "drop", "editing": "edit", "getting": "get", "erasing": "erase", "displaying": "display", "printing": "print",
}  # fmt: skip

_CHANGE_WORDS = (
    "rename|delete|remove|add|change|replace|append|insert|prepend|erase|set|update|edit|call|drop|"
    "undo|clear|create|touch|modify|alter|do|put|include"
    "|overwrite|swap|rewrite|get rid|make|write|reset|revert|move|show|wipe|cut|turn|say|use|"
    "switch|mess|lose|throw|scrap|discard|name|forget|mention|start"
)
_NEGATED = re.compile(
    "(?:"
    "(?:do not|don't|never|let's not|let us not|not|dont)\\b(?! forget to| hesitate)"
    "|(?:there is |there's )?no need to"
    "|(?:you|we|i) (?:do not|don't|needn't|need not|shouldn't|should not|mustn't|must not|can't|"
    "cannot|won't|will not|would not|wouldn't)(?: (?:have|need|want|wish|like))*(?: you)?(?: to)? "
    "(?!need the|want the|need that|want that)"
    f"(?:ever |under any circumstances |in any case |now |yet |just |actually |really )?(?:{_CHANGE_WORDS})\\b"
    "|(?:i'd|i would) (?:rather|prefer)(?: that)?(?: you| we)? (?:not|didn't|don't)"
    "|(?:please )?(?:stop|avoid|refrain from|hold off(?: on)?|wait with|quit) (?:[^ ]+ing)\\b"
    "|(?:keep|leave) (?:all |just )*(?:the |my )?(?:others?|rest|other [^ ]+)(?: ones?)?"
    "|instead of [^ ]+ing\\b|rather than [^ ]+ing\\b"
    "|nobody|no one|nothing (?:should|must|may)"
    "|(?:please )?(?:keep|leave) (?!(?:the|this|that|your)? ?(?:output|panel|window|answer|result|"
    "results|conversation|chat)).*(?:as (?:it is|is|they are|before)|the same|alone|unchanged|"
    "untouched|the way|intact|in place|where it is)"
    "|under no circumstances|in no case|by no means"
    ")"
)
_QUESTION = re.compile(
    "(?:"
    "how (?:do|can|could|would|should|to|does|did|might|about)\\b|how come"
    "|(?:can|could|may|might|should|shall|must|do|did|would|will) (?:i|we|it|one|they|he|she|the|"
    "this|a|an|that|there|somebody|someone|people|adding|removing|deleting|renaming|changing)\\b"
    "|(?:could|can|would|will) you (?:please )?(?:tell|show|explain|teach|advise|remind)(?: "
    "to)?(?: me| us)? (?:how|what happens|what would|why|whether|if|when)"
    "|(?:tell|show|explain|teach|remind|advise)(?: to)?(?: me| us)? (?:how (?!many|long|much)|what "
    "happens|what would|why|whether|if|when)"
    "|explain\\b|is it (?:possible|ok|okay|safe|bad|wise|good|fine|a good|a bad|better|worth|"
    "allowed|hard|easy)|is there (?:a|any) (?:way|possibility|option|command)"
    "|are you (?:able|going|sure|allowed)|are (?:we|they)\\b|have (?:you|i|we)\\b|did (?:you|i|we|"
    "it|that)\\b|do you (?:think|know|understand|support|remember|like|have|ever|want|need|mean|"
    "see|believe|recommend)"
    "|has\\b|had\\b|was\\b|were\\b|why\\b|when\\b|where (?:is|are|do|does|did|can|could|should|"
    "would|was|were|will|has|have)\\b|who\\b|whose\\b|whom\\b|what\\b|which\\b|will (?:the|it|this|"
    "that)\\b|is\\b|are\\b|does\\b|don't you think|isn't|aren't|doesn't|didn't|won't it|wouldn't "
    "it"
    "|i (?:want|need|would like|'d like|want-to)(?: to)? know|i'd like to know|i'm curious|i am "
    "curious|i'm wondering|i am wondering|i was wondering|i wonder|wondering|curious|any idea|any "
    "thoughts|thoughts on|what's|whats|who's|where's|how's"
    ")"
)
_IMAGINED = re.compile(
    "(?:"
    "(?:so |and |but )?what (?:happens|would happen|will happen|if|about|would you|would it|would "
    "be|might|could)\\b|suppose|supposing|imagine|assume|assuming|hypothetically|theoretically|in "
    "theory|let's say|say i\\b|pretend"
    "|(?:i|we) (?:might|may|could|should probably|should maybe|will|'ll|shall|would|plan|intend|"
    "hope|dream|considered|consider)\\b"
    "|i'll\\b|i'd (?:never|rather|only|probably|maybe)\\b|i (?:was|am) (?:thinking|considering|"
    "tempted|planning|about|not sure|unsure|debating|going|toying)"
    "|i'm (?:thinking|considering|tempted|planning|about|not sure|unsure|debating|going|toying|"
    "afraid)|i (?:thought|think) (?:about|of)"
    "|maybe (?:i|we|later|one day|someday|it|tomorrow|next|the|in)\\b|perhaps (?:i|we|later|one "
    "day|someday|it|tomorrow|the)\\b|tomorrow|later|someday|one day|next time|next week|in the "
    "future|eventually|how about|thinking about|thinking of"
    "|it (?:would|could|might) (?:be|make|help|make sense)|it might\\b|it could\\b|wouldn't it|i wish|if only"
    ")"
)
_REPORTED = re.compile(
    "(?:"
    "(?:i|you|we|he|she|they|someone|somebody|the agent|it|claude)(?: have|'ve| had| has| just| "
    "already| accidentally| once| recently)* "
    "(?:renamed|deleted|removed|added|changed|replaced|appended|inserted|erased|set|updated|edited|"
    "called|dropped|undid|cleared|created|made|wrote|overwrote|rewrote|put)\\b"
    "(?! (?:a|the)? ?(?:mistake|error)| my mind)"
    "|(?:yesterday|last week|earlier|previously|a while ago|last time)\\b"
    ")"
)
_CONDITIONAL = re.compile(
    "(?:if|unless|when|whenever|once|until|in case|(?:before|after)(?! Q| the| line)|as soon as|"
    "provided|only if|only when|should)\\b"
)


@dataclass(frozen=True, slots=True)
class Plain:
    """A sentence without its wrappers; `asked`: it was put as a question ("could you …?")."""

    phrase: Phrase
    asked: bool = False


def _cut(phrase: Phrase, length: int) -> Phrase:
    """Drop the tokens that the first `length` characters of the shadow cover."""
    covered = 0
    for k, token in enumerate(phrase.tokens):
        if covered >= length:
            return phrase.part(k)
        covered += len(token.norm) + 1
    return phrase.part(len(phrase.tokens))


def _cut_tail(phrase: Phrase, start: int) -> Phrase:
    """Keep the tokens that lie wholly before `start` in the shadow."""
    covered = 0
    for k, token in enumerate(phrase.tokens):
        covered += len(token.norm) + (1 if k else 0)
        if covered > start:
            return phrase.part(0, k)
    return phrase


def _skip_newlines(phrase: Phrase) -> Phrase:
    start, end = 0, len(phrase.tokens)
    while start < end and phrase.tokens[start].kind == "newline":
        start += 1
    while end > start and phrase.tokens[end - 1].kind == "newline":
        end -= 1
    return phrase.part(start, end) if (start, end) != (0, len(phrase.tokens)) else phrase


def unwrap(phrase: Phrase) -> Plain:
    """Take greetings, politeness and wishes off both ends: "hey, could you please X for me?" is X, asked."""
    asked = False
    phrase = _skip_newlines(phrase)
    for _ in range(12):
        head = " ".join(token.norm for token in phrase.tokens[:14])
        if match := _GERUND.match(head + " "):
            phrase = ungerund(_cut(phrase, match.end()))
            asked = True
        elif match := _ASKED.match(head):
            phrase, asked = _cut(phrase, match.end()), True
        elif (match := _WISH.match(head)) or (match := _STEP_WORD.match(head)):
            phrase = ungerund(_cut(phrase, match.end()))
        elif ((match := _GREETING_WITH_NAME.match(head)) and len(phrase) > 3) or (
            (match := _LEAD.match(head)) and match.end() and match.end() < len(head)
        ):
            phrase = _cut(phrase, match.end())
        else:
            break
    for _ in range(6):
        if len(phrase) > 400:
            break
        match = _TAIL.search(phrase.shadow[-160:])
        if not match or match.start() + max(0, len(phrase.shadow) - 160) == 0:
            break
        phrase = _cut_tail(phrase, match.start() + max(0, len(phrase.shadow) - 160))
    return Plain(phrase, asked)


def without_weak_tail(phrase: Phrase) -> Phrase | None:
    """Return the phrase without "now", "too", "instead" and the like at its end; None if there is none."""
    if len(phrase) > 400 or not (match := _WEAK_TAIL.search(phrase.shadow)) or not match.start():
        return None
    return _cut_tail(phrase, match.start())


_REASON_TAIL = re.compile(
    "(?: ,| ;| -)? (?:"
    "(?:because|since|as|'cause|cause|cuz|coz|so that|before|so) "
    "(?:it|it's|they|they're|that|that's|this|i|i'm|we|there|there's)\\b[^:]*"
    "|(?<=[,;-] )(?:i|we) (?:really |just )?(?:do not|don't|am not|are not|aren't|no longer) (?:really )?"
    "(?:need|use|want|like|have (?:any |a )?(?:use|need) for) (?:it|that|this|them|those|these|that one)"
    "(?: (?:any more|anymore|any longer|now))?"
    "|(?<=[,;-] )(?:it's|it is|that's|they're|they are|it was|that one is) (?:(?:very|so|just|really|too|quite|"
    "a bit|kind of|pretty|totally) )*(?:useless|old|outdated|wrong|silly|boring|bad|stupid|redundant|ugly|"
    "no longer needed|not needed|a duplicate|pointless|obsolete|unnecessary|long|short|broken)"
    ")(?P<end>(?: [.!?,…])*)$"
)
_TURNS_ROUND = re.compile(
    r"\b(?:wait|keep|never|actually|unless|if|but|except|hold on|instead|stop|undo|cancel|sorry|and|then|or)\b"
)


def without_reason(phrase: Phrase) -> Phrase | None:
    """Return the phrase without the reason at its end (", I don't need it", "because …"); None if it has none."""
    if len(phrase) > 60 or not (match := _REASON_TAIL.search(phrase.shadow)) or not match.start():
        return None
    return None if _TURNS_ROUND.search(match.group()) else _cut_tail(phrase, match.start())


def ungerund(phrase: Phrase) -> Phrase:
    """Return "deleting the test" as "delete the test"; other phrases as they are."""
    if not phrase.tokens or phrase.tokens[0].norm not in _GERUNDS:
        return phrase
    first = phrase.tokens[0]
    verb = Token("word", first.start, first.end, _GERUNDS[first.norm])
    return Phrase(phrase.source, (verb, *phrase.tokens[1:]))


def strip_fillers(phrase: Phrase) -> Phrase:
    """Take off only what never carries a mood ("hey, please, also"), for looking at the mood."""
    phrase = _skip_newlines(phrase)
    for _ in range(8):
        head = " ".join(token.norm for token in phrase.tokens[:8])
        match = _LEAD.match(head)
        if (
            match
            and match.end()
            and match.end() < len(head)
            and not head.startswith(("could you", "can you"))
        ):
            phrase = _cut(phrase, match.end())
        else:
            break
    return phrase


def mood_of(sentence: Phrase) -> Hold | None:
    """Return why a sentence is no request for a change, or None when it may be one."""
    bare = strip_fillers(sentence)
    head = " ".join(token.norm for token in bare.tokens[:40])
    about = bare.raw()[:200]
    # A polite request looks like a question; what it asks for may still be a question ("tell me how to").
    if _IMAGINED.match(head) and not _WISH.match(head):
        return Hold("imagined", about)
    if _NEGATED.match(head):
        return Hold("negated", about)
    if _ASKED.match(head) or _GERUND.match(head + " ") or _WISH.match(head):
        inner = unwrap(bare).phrase
        inside = " ".join(token.norm for token in inner.tokens[:40])
        if inner is bare or len(inner) == len(bare):
            return None
        if re.match(
            r"(?:tell|show|explain|teach|remind|advise)(?: to)?(?: me| us)? (?:how (?!many|long|much)|what "
            r"happens|what would|why|whether|if|when)|explain\b|know (?:how|what happens|why|if|whether)",
            inside,
        ):
            return Hold("question", about)
        if _NEGATED.match(inside):
            return Hold("negated", about)
        head = inside
    elif _REPORTED.match(head):
        return Hold("reported", about)
    elif _QUESTION.match(head):
        return Hold("question", about)
    if _CONDITIONAL.match(head):
        return Hold("conditional", about)
    return None
