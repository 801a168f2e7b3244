"""Words that stand where a text is expected and give none: a pause, "you choose", "tbd", "same as before"."""

from __future__ import annotations

import re

from agent.models.offline.words import Phrase

# What people say who have no answer yet. It may still be meant word for word: then we ask.
_PAUSE = (
    "h+m+|u+m+|u+h+|e+r+m?|eh+|a+h+|o+h+|mm+|well|ok|okay|so|let me see|let's see|(?:let me|i have to|i need to) think|"
    "(?:that's |that is )?(?:a )?(?:good|hard|tough|tricky|difficult) (?:question|one)|yes|yeah|yep|sure|right|fine|"
    "maybe|perhaps|wait|hold on|one moment|just a (?:moment|second|minute)|later|not (?:yet|now|sure)|no idea|dunno|"
    "why|what|huh|go on|continue|please|skip|pass|next|hi|hello|test|nothing|none|idk|tbd|etc|or so"
)
# What leaves the words to us, or points at words that are elsewhere.
_LEFT_TO_US = (
    "(?:you|u) (?:choose|decide|pick|say|tell me|know)(?: it| one| something| for me)?|(?:it's |it is )?(?:your "
    "(?:choice|call|pick|turn)|up to you)|surprise me|whatever(?: .{0,60})?|(?:i |i really )?(?:don't|do not|can't|"
    "cannot|didn't) (?:know|care|mind|decide|say|remember|have)(?: .{0,80})?|(?:it )?depends(?: .{0,40})?|(?:i'm |i am "
    ")?not sure(?: .{0,60})?|something(?: .{0,80})?|anything(?: .{0,80})?|(?:please )?(?:make|keep|leave) it(?: .{0,80})?|"
    "(?:a bit |a little |much |even )?(?:shorter|longer|nicer|better|funnier|simpler|warmer|clearer|more|less)(?: "
    ".{0,40})?|(?:the )?(?:same|old one|usual|other one|original|default|previous one)(?: .{0,40})?|(?:as|like) "
    "(?:before|always|usual|above|below|discussed|agreed|the .{1,40}|in .{1,40})|(?:use|take|choose|pick|write|add|put|"
    "invent|suggest|think of) (?:something|anything|any|one|some|a|an|another|whatever)(?: .{0,60})?"
)
# The same where nothing was asked, so that "Something is wrong" and "Keep it short." stay texts.
_PLAINLY_NONE = (
    "(?:you|u) (?:choose|decide|pick)(?: it| one| something| for me)?|(?:it's |it is )?(?:your (?:choice|call|pick)|up "
    "to you)|whatever(?: you (?:like|want|think|prefer)(?: .{0,30})?)?|(?:i )?(?:don't|do not) (?:know|care|mind)(?: yet)?|"
    "(?:some|any)thing(?: (?:about|like|nice|nicer|similar|else|funny|short|shorter|longer|better|new|different|you) ?"
    ".{0,60})?|(?:a bit |a little |much |even )?(?:shorter|longer|nicer|better|funnier|simpler|warmer|clearer)|(?:the )?"
    "(?:same|previous one|old one|other one|original|default)(?: (?:as|but|text|prompt|one|again|with|only) ?.{0,60})?|"
    "(?:as|like) (?:before|always|usual|above|below|discussed|agreed)"
)
_STANDS_IN = (
    "t ?bd|tba|todo|n / a|xxx+|see (?:above|below|the .{1,40}|my .{1,40})|\\( (?:nothing|empty|none|blank|see .{1,40}|"
    "same|tbd|to do|todo|to be .{1,40}) \\)|to be (?:decided|defined|done|written|determined|announced|continued)|"
    "nothing|empty|none|blank|(?:the )?text (?:above|below|from .{1,40})|(?:my|the|your) (?:first|second|third|last|new|"
    "old|previous|next) (?:test|test input|prompt|name|line|one|version)|lorem ipsum|(?:[.…?!*_-] ?)+"
)
_END = "(?: (?:about (?:it|that)|then|please))*(?: [.,!?…])*"
_EVADES = re.compile(rf"(?:(?:{_PAUSE})(?: [.,!?…])* )*(?:{_PAUSE}|{_LEFT_TO_US}|{_STANDS_IN}){_END}")
_GIVES_NONE = re.compile(rf"(?:{_PLAINLY_NONE}|{_STANDS_IN}){_END}")


def evades(said: Phrase) -> bool:
    """Whether the answer to a question is a pause, or leaves it to us."""
    return (
        not (len(said) == 1 and said.tokens[0].kind == "quote")
        and _EVADES.fullmatch(said.shadow[:200]) is not None
    )


def gives_none(said: Phrase) -> bool:
    """Whether bare words where a text is expected only stand in for one."""
    return not said.quotes() and len(said) <= 16 and _GIVES_NONE.fullmatch(said.shadow[:200]) is not None
