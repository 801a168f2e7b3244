"""What is a name: the new name a person gives, cut from their words, or none where they only describe one.

A quoted name is taken as it is. Bare words are a name only when they cannot well be anything else: "rename it
back", "name it after my dog" and "change the name to upper case" give none, and the person is asked.
"""

from __future__ import annotations

import re

from agent.models.offline.words import Phrase, phrase, word_set

_ABBREVIATIONS = word_set("jr sr inc co ltd dr mr mrs ms st phd esq prof corp bros no vs etc")
_CLAUSE = re.compile(
    r"\b(?:because|if|unless|since|so that|when|which|please|but|instead of|rather than|although|"
    r"whenever|though|except|except for)\b"
)
_JOINS = re.compile(r" (?:and|to|with|then|as) ")
# "Sunny, no wait, Storm", "either Sunny or Storm", "Storm, both at once": not one name but talk about names.
_TALK = re.compile(
    r"^(?:to|as|into|either|maybe|perhaps|not|changed|updated|renamed|2|two|too)\b | (?:, )?(?:no|"
    r"wait|actually|rather|i mean|sorry|hmm|or|maybe|perhaps)\b| in (?:english|german|french|spanish|italian|latin|japanese|chinese|russian|dutch|portuguese|capitals|uppercase|lowercase|caps)$"
    r"| (?:tomorrow|later|soon|someday|tonight|eventually|afterwards|next (?:week|time|month|year))$"
)
_TAIL = re.compile(
    r"(?: (?:-|instead|now|again|too|then|please|ok|,|from now on|from today on|henceforth|going "
    r"forward|for now|for good"
    r"|as (?:its|the|a|his|her) (?:new )?name|for (?:the|this) (?:persona|bot)))+$"
)
_QUOTE_MARKS = frozenset('"“”„«»')
_VAGUE = re.compile(
    r"(?:something|anything|whatever|somewhat|some|a bit|a little|a lot|a few|more|less|another|"
    r"better|a better|a different|a new|a more|an|a nicer|"
    r"the|a|my|our|its|his|her|this|that|these|those|a funnier|one|one of|the opposite|your|what|"
    r"whatever you|be|sound|feel|have|being|make|like|it|this|that|them|him|her|nothing|none|how)\b"
)

# How, when and where something is done: no names, and no last words of one.
_MANNER = word_set(
    "back off out up down in on over away around again now then soon later today tomorrow tonight once twice "
    "yourself itself myself himself herself themselves somehow anyway first last instead maybe perhaps only also "
    "too everywhere anywhere somewhere here there elsewhere throughout already still yet always never ever well "
    "right accordingly otherwise alone together afterwards immediately asap quits thrice sometime sometimes "
    "straight away forever though either neither both all everything everyone whichever however wherever"
)
# What a name is like, or where it stands: a description of one.
_KIND = word_set(
    "uppercase lowercase uppercased lowercased capitalised capitalized capitals caps titlecase camelcase plural "
    "singular case shorter longer simpler better cooler funnier nicer catchier clearer easier warmer friendlier "
    "stronger newer older different similar same previous former original initial default current correct proper "
    "wrong unique official empty blank null unknown random suitable fitting appropriate short long "
    "id tbd tba todo na ids identifier name names title persona bot "
    "prompt file filename slug label test tests input inputs undo redo delete remove show list help cancel stop quit exit undefined untitled unnamed discussed agreed planned "
    "suggested said told before above below reversed hyphenated abbreviated translated"
)
_LANGUAGES = word_set(
    "english german french spanish italian latin japanese chinese russian dutch portuguese polish turkish arabic greek"
)
_ENDS = word_set("case caps capitals letters name id title")
_LEADS = word_set(
    "after as to like for before with without by from upon until than about following according based in on at of "
    "match fit reflect suit sound look show say read include contain start begin end use get become follow avoid "
    "remove keep reuse drop indicate mean whatever however whichever same more less most least so such properly "
    "correct correctly only also never always please again back just really very too quite rather where why who "
    "whom whose each every either neither both all any no not and or capitalize capitalise shorten lengthen "
    "translate reverse abbreviate"
)
_WITHIN = word_set(
    "it its my your our their his her this that these those is are was were than like as so you we i they me us "
    "something anything someone somebody"
)
_REALLY_NAMES = word_set(
    "lily holly molly kelly sally billy emily polly dolly milly willy butterfly firefly jelly jolly"
)
_PLACED = re.compile(r"(?:line|sentence|rule|paragraph|bullet|test|number|option|step|version) \w+")
_BREAKS_OFF = re.compile(r"(?:\s[-–—:;/]\s?|[:;]\s?|/)[a-zß-ÿ]|\w/\w|\([^)]*\s")


def _describes(text: str, said: str) -> bool:
    """Whether bare words say how, when, after what or to what kind of name something is renamed.

    Args:
        text: the words that stand where a name is expected.
        said: the whole message: where all of it is in capitals, capitals say nothing.
    """
    words = text.split()
    alike = [word for word in said.split() if word[:1].isalpha()]
    shouted = len(alike) > 2 and all(word[0].isupper() for word in alike)
    if text.isupper() and said.isupper():
        words = [word.casefold() for word in words]
    lower = words[0][:1].islower() or shouted
    last = words[-1].rstrip(".,;:!?)")
    if last[:1].islower() or (shouted and len(words) == 1):
        folded = last.casefold()
        manner = folded in _MANNER or (
            len(folded) > 3 and folded.endswith("ly") and folded not in _REALLY_NAMES
        )
        kind = folded in (_KIND if len(words) == 1 else _ENDS)
        if manner or (kind and lower):
            return True
    if _BREAKS_OFF.search(text) or (len(words) == 1 and last.casefold() in _LANGUAGES):
        return True
    if not lower:
        return False
    if _PLACED.fullmatch(text):
        return True
    first = words[0].casefold()
    if first in _LEADS and len(words) > 1:
        return True
    return len(words) > 3 or any(word.casefold() in _WITHIN for word in words)


def name_of(part: Phrase | None, *, asked: bool, end: str = "") -> str | None:
    """Return the new name a phrase gives, or None when it does not read as one.

    A closing `?` or `!` that the person typed after a bare name: `?` stays unless the sentence was a polite
    question; `!` and `.` end the sentence and go (but the full stop of "Jr." stays).
    """
    if part is None or not part.tokens:
        return None
    if part.quoted and part.tokens[0].kind == "content":
        inside = phrase(part.said().strip())  # what follows a colon is a name only when it reads as one
        if not any(token.kind == "content" for token in inside.tokens):
            return name_of(inside, asked=asked, end=end)
    if part.quoted:
        return part.said().strip() or None
    inner = part.quotes()
    if len(inner) == 1 and len(part) <= 3:
        rest = [token.norm for token in part.tokens if token.kind != "quote"]
        if all(word in ("the", "name", "just", "simply", ":", "new") for word in rest):
            return inner[0].strip() or None
    if (
        inner
        and (
            part.tokens[0].kind == "quote"  # “Bob” in the prompt
            or part.source[part.tokens[0].start : part.tokens[0].end][:1].islower()
            or _JOINS.search(part.shadow)
        )
    ):
        return None
    while part.tokens and part.tokens[0].norm in (":", "simply", "just", "=", "-"):
        part = part.part(1)
    if tail := _TAIL.search(part.shadow):
        part = part.part(0, len(part) - len(tail.group().split()))
    if not part.tokens:
        return None
    if (
        all(token.norm in ".,;:!?-" for token in part.tokens)
        or len(part) > 14
        or any(token.kind == "newline" for token in part.tokens)
    ):
        return None
    text = part.raw().strip()
    if (
        len(text) > 80
        or _CLAUSE.search(part.shadow)
        or (re.search(r"[.!?] \S", part.shadow.replace(" .", ".")) and not _abbreviates(text))
    ):
        return None
    if (_VAGUE.match(text) and text[0].islower()) or re.search(
        r" (?:and|then|,) (?:then )?(?:delete|remove|rename|add|append|replace|insert|undo|show|list)\b",
        part.shadow,
    ):
        return None
    if _TALK.search(part.shadow) or len(inner) > 1 or re.search(r"(?:,| and| &) [a-zß-ÿ]", text):
        return None
    if any(token.norm in _QUOTE_MARKS for token in part.tokens if token.kind == "mark"):
        return None  # a quote that was not closed, or that begins with a space
    words = text.split()
    if len(words) > 2 and words[0][:1].isupper() and words[-1].isascii() and words[-1].islower():
        return None  # "Luna whatever comes next": more talk than name
    if _describes(text, part.source):
        return None
    closing = end.replace(" ", "")
    if closing.startswith(("..", "…")):
        text += closing
    elif (closing.startswith(".") and text.rsplit(None, 1)[-1].casefold() in _ABBREVIATIONS) or (
        re.search(r"(?:^|[\s.])\w\.\w$", text) and closing.startswith(".")
    ):
        text += "."
    elif closing.startswith("?") and not asked:
        text += closing.rstrip(".")
    return text.rstrip(",;: ") or None


def _abbreviates(text: str) -> bool:
    """Whether every full stop within the text ends an abbreviation or an initial ("Dr. No", "J. R.")."""
    words = text.split()
    return all(
        word.rstrip(".").casefold() in _ABBREVIATIONS or len(word.rstrip(".")) <= 2
        for word in words[:-1]
        if word.endswith(".")
    ) and not re.search(r"[!?]\s", text)


def bare_words(part: Phrase | None) -> str:
    """Return words that may be a name after all, for a question; "" when they are too many to be one."""
    if part is None or not part.tokens or len(part) > 4 or part.quotes():
        return ""
    return part.raw().strip(" ,;:.!?")


def is_talk(name: str) -> bool:
    """Whether a word that was given as a correction is more likely talk: "no, Thanks", "make it Longer"."""
    folded = name.casefold()
    return folded in _MANNER or folded in _KIND or folded in _LANGUAGES or folded in _THANKS


_THANKS = word_set(
    "thanks cheers sorry please wrong stop wait really seriously never no yes ok okay great perfect good"
)
