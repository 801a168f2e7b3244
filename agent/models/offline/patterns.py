"""The small pattern language of the grammar: regular expressions over a phrase's shadow with named word groups.

In a pattern `<test>` stands for a word group below, `{x}` captures tokens lazily as group `x`, `{xq}` one
quoted text (or the text after a colon) alone as group `x`.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise

from agent.models.offline.words import Phrase

LONGEST = 120
"""Tokens of a phrase beyond which nothing is matched: keeps matching cheap; long texts belong in quotes."""

_TESTING = "(?:test|testing|sample|example)"
_GROUPS = {
    "the": "(?:(?:the|a|an|its|his|her|their|this|that|these|those|my|your|our) )?",
    "persona": "(?:persona|bot|character|ai|chatbot|personality|persona's)",
    "it": "(?:(?:(?:the|this|my|our) )?(?:current )?(?:persona|bot|character|ai|chatbot)|(?:the|this|my|"
    "our) (?:assistant|guy|fellow|companion)|this one|it|him|her|them|this)",
    "name": "(?:(?:(?:the|its|his|her|their|this|my|our) )?(?:(?:persona|bot|character)(?:'s| ' s)? |"
    "persona's |bot's |character's )?"
    "(?:display |current |new )?(?:name|title)(?: (?:of|for) (?:(?:the|this|my) )?(?:persona|bot|"
    "character|it))?)",
    "prompt": "(?:(?:(?:the|its|his|her|their|this|my|our|your|a|current|new|existing|full|whole|entire|"
    "complete|present) )*"
    "(?:persona's |bot's |persona ' s |character's )?(?:system |system - )?"
    "(?:prompt|system-prompt|system message|system text|instructions|instruction text|system "
    "instruction|prompt text)"
    "(?: text)?(?: (?:of|for) (?:(?:the|this|my) )?(?:persona|bot|character|it))?)",
    "test": f"(?:{_TESTING} (?:- )?(?:input|prompt|case|message|question|entry|item|query|text)|test-input|"
    f"test-case|test-prompt"
    "|test-message|test-question|(?:test|example|sample)(?! (?:inputs?|cases?|prompts?|messages?|"
    "questions?|items?)\\b)|input|scenario)",
    "tests": f"(?:{_TESTING} (?:- )?(?:inputs|prompts|cases|messages|questions|entries|items|queries|texts|"
    f"input)|test-inputs|test-cases"
    "|test-prompts|test-messages|test-questions|tests|examples|samples|inputs|scenarios)",
    "add": "(?:add|append|create|insert|put|include|make|write|attach|introduce|set up|tack on|stick|"
    "throw in|save|store)",
    "delete": "(?:delete|remove|drop|erase|discard|nuke|kill|cut|scrap|trash|eliminate|strip|omit|ditch|clear|toss"
    "|strike out|strike|cross out|chop|axe|nix|bin|kick out|chuck out|chuck|expunge|get rid of|"
    "take out|take away|throw away|throw out|cut out|clear out|wipe|wipe out|lose|purge|destroy)",
    "change": "(?:change|update|edit|modify|alter|rewrite|reword|rephrase|set|make|turn|switch|revise|"
    "correct|fix|adjust|replace|swap)",
    "show": "(?:show me|show|display|list out|list|print out|print|view|see|read me|read out|read|tell me|"
    "give me|get me|get|output"
    "|give|let me see|let me have|look at|open|fetch|bring up|pull up|dump|have a look at|take a look at|check)",
    "say": "(?:saying|that says|that say|that reads|that asks|which says|which asks|asking|reading|with "
    "the text|with the content|with text|with content"
    "|with the words|with the question|with|called|that goes|like)",
    "to": "(?:as follows|to be|to say|to read|to ask|to|into|as|with|by|so it says|so that it says|so it "
    "reads|such that it says|- >|= >|→)",
    "line": "(?:line|sentence|rule|bullet|bullet point|paragraph|part|bit|phrase|instruction|statement|"
    "text|section|passage|words|wording|word|mention)",
    "about": "(?:about|on|regarding|concerning|mentioning|that mentions|which mentions|that talks about|"
    "which talks about|that is about|that's about"
    "|that says something about|containing|that contains|involving|dealing with|related to|"
    "relating to|that deals with|asking about|that asks about|which asks about"
    "|talking about|that refers to|referring to|with|for|of)",
}
_WORD = re.compile(r"[a-z][a-z'-]*(?= |$)")
_PLACEHOLDER = re.compile(r"(?<!\?P)<(\w+)>|\{(\w+)\}")


def _expand(match: re.Match[str]) -> str:
    group, capture = match.groups()
    if group:
        return _GROUPS[group]
    if capture.endswith("q"):
        return f"(?P<{capture[:-1]}>[QC])"
    return f"(?P<{capture}>(?<![^ ]).+?(?![^ ]))"  # whole tokens, never a part of one


def expand(pattern: str) -> str:
    """Return the regular expression a pattern stands for."""
    return _PLACEHOLDER.sub(_expand, pattern)


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Return the pattern compiled, for a whole phrase and whatever marks end it (group `end`)."""
    return re.compile(f"(?:{expand(pattern)})(?P<end>(?: [.!?;,…:])*)")


@cache
def first_words(pattern: str) -> frozenset[str] | None:
    """Return the words a phrase can begin with to fit, or None when that does not show at a glance.

    Most patterns begin with a verb; a phrase with another verb needs neither matching nor compiling.
    """
    text = expand(pattern)
    depth, cuts, closed = 0, [2], 0
    for at, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if char == "|" and depth == 0:
            return None
        if not closed and char == "|" and depth == 1:
            cuts.append(at)
        if not closed and char == ")" and depth == 0:
            closed = at
    if text.startswith("(?:"):
        if text[closed + 1 : closed + 2] in ("?", "*"):
            return None
        cuts.append(closed)
        alternatives = [text[start + 1 : end] for start, end in pairwise(cuts)]
    else:
        alternatives = [text]
    words = [_WORD.match(alternative) for alternative in alternatives]
    return frozenset(word.group() for word in words if word) if all(words) else None


def fit(pattern: str, phrase: Phrase) -> re.Match[str] | None:
    """Match a whole phrase; phrases of more than `LONGEST` tokens match nothing."""
    if len(phrase) > LONGEST or len(phrase.shadow) > 12 * LONGEST:
        return None
    first = first_words(pattern)
    if first is not None and (not phrase.tokens or phrase.tokens[0].norm not in first):
        return None
    return compiled(pattern).fullmatch(phrase.shadow)
