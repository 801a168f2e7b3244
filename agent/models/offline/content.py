"""Cutting names, texts, spots and topics out of a sentence: what of it is content, and when it is too vague."""

from __future__ import annotations

import re
from typing import Literal

from agent.models.offline.intents import AddTest, AddText, Ask, Option, Reference, SetPrompt, Spot
from agent.models.offline.patterns import fit
from agent.models.offline.reference import NUMBERS, ORDINAL, number, ordinal
from agent.models.offline.words import Phrase, phrase

_ABBREVIATIONS = frozenset(
    [
        "jr",
        "sr",
        "inc",
        "co",
        "ltd",
        "dr",
        "mr",
        "mrs",
        "ms",
        "st",
        "phd",
        "esq",
        "prof",
        "corp",
        "bros",
        "no",
        "vs",
        "etc",
    ]
)
_CLAUSE = re.compile(
    r"\b(?:because|if|unless|since|so that|when|which|please|but|instead of|rather than|although|"
    r"whenever|though)\b"
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
_NOUN = (
    r"(?:line|lines|sentence|sentences|rule|rules|text|words|word|phrase|instruction|instructions|"
    r"bullet|bullet point|point|paragraph|following|statement|note|part|bit|clause|remark|"
    r"guideline|requirement)"
)
_INTRO = (
    rf"(?:(?:the|a|an|this|these|another|one|two|three|following|new|final|extra|additional|more|"
    rf"last|first|closing|opening|short|exact|single) )*(?:{_NOUN} )+(?:(?:saying|that says|that "
    rf"say|that reads|which says|reading|with the text|with|stating|that states|telling it|like|as "
    rf"follows|below) )?(?:[:,;-] )*{{x}}"
)
_OUTRO = (
    rf"(?:(?:the|a|an|this|another|one|new|single) )?{{xq}}(?: (?:{_NOUN}|as a {_NOUN}|as a new "
    rf"{_NOUN}|as the {_NOUN}|as an {_NOUN}|on its own line|on a new line|as its own line))+"
)
_STARTERS = frozenset(
    [
        "be",
        "use",
        "always",
        "never",
        "do",
        "don't",
        "you",
        "you're",
        "your",
        "answer",
        "speak",
        "keep",
        "avoid",
        "write",
        "respond",
        "reply",
        "stay",
        "act",
        "make",
        "give",
        "ask",
        "end",
        "start",
        "prefer",
        "limit",
        "include",
        "mention",
        "only",
        "when",
        "if",
        "no",
        "remember",
        "refuse",
        "explain",
        "think",
        "talk",
        "respond",
        "sound",
        "treat",
        "address",
        "call",
        "help",
        "try",
        "say",
        "tell",
        "greet",
        "finish",
        "begin",
        "sign",
        "quote",
        "cite",
        "offer",
        "suggest",
        "sometimes",
        "often",
        "mind",
        "stick",
        "focus",
        "consider",
        "provide",
        "assume",
        "cheer",
        "encourage",
        "praise",
        "take",
        "let",
        "every",
        "in",
        "at",
        "stop",
        "limit",
        "format",
        "maintain",
        "ensure",
        "follow",
        "pretend",
        "admit",
        "point",
        "look",
        "find",
        "see",
        "put",
        "share",
        "sprinkle",
        "crack",
        "please",
        "must",
        "should",
    ]
)


def name_of(part: Phrase | None, *, asked: bool, end: str = "") -> str | None:
    """Return the new name a phrase gives, or None when it does not read as one.

    A closing `?` or `!` that the person typed after a bare name: `?` stays unless the sentence was a polite
    question; `!` and `.` end the sentence and go (but the full stop of "Jr." stays).
    """
    if part is None or not part.tokens:
        return None
    if part.quoted:
        return part.said().strip() or None
    inner = part.quotes()
    if len(inner) == 1 and len(part) <= 3:
        rest = [token.norm for token in part.tokens if token.kind != "quote"]
        if all(word in ("the", "name", "just", "simply", ":", "new") for word in rest):
            return inner[0].strip() or None
    if inner and (
        part.source[part.tokens[0].start : part.tokens[0].end][:1].islower() or _JOINS.search(part.shadow)
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


def text_of(part: Phrase | None, typed: str = "") -> str | None:
    """Return the text to store that a phrase gives, or None when it is only described ("some humour").

    `typed`: the raw text with its closing marks, used when it is not quoted.
    """
    if part is None or not part.tokens:
        return None
    while len(part) > 1 and part.tokens[0].norm in (":", ",", "-"):
        part = part.part(1)
        typed = typed.lstrip(":,- ")
    if part.quoted:
        return clean_block(part.said())
    if outro := fit(_OUTRO, part):
        return clean_block(part.group(outro, "x").said())  # type: ignore[union-attr]
    if intro := fit(_INTRO, part):
        inner = part.group(intro, "x")
        if inner is not None and (inner.quoted or len(inner.quotes()) > 1):
            return text_of(inner)
        if inner is not None and part.shadow[intro.start("x") - 2] in ":-":
            return inner.raw()
    quotes = part.quotes()
    if len(quotes) > 1 and all(
        token.kind == "quote" or token.norm in ("and", ",", "&", "then", "as", "well")
        for token in part.tokens
    ):
        return "\n".join(quotes)
    if quotes and len(part) <= 2:
        return quotes[0]
    loose = sum(token.kind == "mark" and token.norm in "'\"“”„«»" for token in part.tokens)
    if part.tokens[0].kind == "quote" or loose > 1:
        return None  # a quote and then more words, or one that does not end: what belongs to the text?
    if part.shadow in ("it", "this", "that", "something", "them", "these", "this text", "the following"):
        return None
    return typed or part.raw()


def clean_block(text: str) -> str:
    """Return a quoted or multi-line text without the blank lines and spaces around it."""
    if "\n" not in text:
        return text
    return text.strip("\n").rstrip()


def is_sentence(part: Phrase | None) -> bool:
    """Whether unquoted words read as a text to store word for word, not as a description of one."""
    if part is None or not part.tokens:
        return False
    if part.quotes():
        return True
    first = part.tokens[0]
    raw = part.source[first.start : first.end]
    if len(part) < 2 and not raw[:1].isupper():
        return False
    if first.norm in (
        "that",
        "something",
        "some",
        "more",
        "a",
        "an",
        "the",
        "another",
        "how",
        "what",
        "anything",
        "it",
        "this",
    ):
        return raw[:1].isupper() and len(part) > 3
    return raw[:1].isupper() or first.norm in _STARTERS or not raw[:1].isascii() or raw[:1] == "{"


def as_instruction(text: str) -> str:
    """Return a described behaviour as a sentence for a prompt: "it never lies" is "Never lies."."""
    text = re.sub(
        r"^(?:that |to |it should |it must |it |you should |he should |she should |should |the persona "
        r"should )+",
        "",
        text.strip(),
        flags=re.IGNORECASE,
    )
    text = text[:1].upper() + text[1:]
    return text if not text or text[-1] in ".!?…" else text + "."


def suggest_line(text: str, question: str = "I add words to the system prompt only as you give them.") -> Ask:
    """Return the question whether a described behaviour should become a line of the prompt."""
    line = as_instruction(text)
    return Ask(
        question, (Option(f"Add “{line}” at the end of the system prompt", (AddText(line),), line),), "text"
    )


def spot_of(part: Phrase | None) -> Spot | None:
    """Return the stretch of a text a phrase means: quoted text, "the second line", "the line about X", words."""
    if part is None or not part.tokens or len(part) > 60:
        return None
    if part.quoted:
        return Spot("text", part.said())
    unit = r"(?P<u>line|lines|sentence|sentences|rule|bullet|bullet point|instruction|paragraph|statement)"
    if match := fit(rf"<the>(?P<o>{ORDINAL}) {unit}(?: (?:of|in|from) <prompt>)?", part):
        place = ordinal(match["o"])
        return Spot(_unit(match["u"]), str(place)) if place else None
    numbers = r"(?:\d{1,4}|" + "|".join(NUMBERS) + ")"
    if match := fit(rf"<the>{unit} (?:number |no |# )?(?P<n>{numbers})(?: (?:of|in|from) <prompt>)?", part):
        return Spot(_unit(match["u"]), str(number(match["n"])))
    if match := fit(
        r"<the>(?:whole |entire |full )*<line>s? (?:that |which )?(?:starts?|starting|begins?|"
        r"beginning) (?:with|in) {x}",
        part,
    ):
        inner = part.group(match, "x")
        return Spot("starting", inner.said()) if inner else None
    if match := fit(
        r"(?:all |any |every |each )*<the>(?:whole |entire |full |exact )*(?:<line>s? )(?:of <prompt> "
        r")?(?:: )?(?:that (?:says|reads|goes) |which (?:says|reads) |saying |reading )?{xq}(?: "
        r"<line>)?",
        part,
    ):
        inner = part.group(match, "x")
        return Spot("text", inner.said()) if inner else None
    if match := fit(r"<the>(?:whole |entire )*{xq} <line>", part):
        inner = part.group(match, "x")
        return Spot("text", inner.said()) if inner else None
    if match := fit(
        r"(?:all |any |every |each )*<the>(?:whole |entire |full )*(?:<line>s?|everything|anything|"
        r"thing|stuff|mentions?|reference|references|remark|one) (?:in <prompt> )?(?:(?:that|which) "
        r"(?:is|are) )?(?:<about>|to|that (?:says|forbids|tells|asks|bans|prohibits|requires)(?: (?:it|"
        r"you|them|him|her|the persona))?(?: (?:to|about|not to|never to))?|where it says|saying) {x}",
        part,
    ):
        inner = part.group(match, "x")
        return Spot(_about(part), inner.said()) if inner and len(inner) <= 10 else None
    if match := fit(
        r"(?:the |that |its )(?P<x>.+?) (?:line|sentence|rule|part|bit|instruction|bullet|clause|"
        r"paragraph|thing)",
        part,
    ):
        inner = part.group(match, "x")
        return Spot(_about(part), inner.said()) if inner and len(inner) <= 4 else None
    if match := fit(r"(?:the |every |all )*(?:words?|phrase|text|expression|string|name)s? {x}", part):
        inner = part.group(match, "x")
        return Spot("text", inner.said()) if inner else None
    return Spot("words", part.said())


def _unit(word: str) -> Literal["line", "sentence", "bullet", "rule", "paragraph"]:
    """Return what is counted when a person says "the second bullet"."""
    if word.startswith("sentence"):
        return "sentence"
    if word.startswith("bullet"):
        return "bullet"
    if word == "paragraph":
        return "paragraph"
    return "rule" if word in ("rule", "instruction", "statement") else "line"


def _about(part: Phrase) -> Literal["about", "line_about"]:
    """A line is the whole line; a sentence, rule, part or thing is the sentence that speaks of it."""
    return "line_about" if re.search(r"\b(?:lines?|paragraph|bullet)\b", part.shadow) else "about"


def topic_of(part: Phrase | None) -> str | None:
    """Return the subject a new test input is to be about, or None when it is no plain subject."""
    if part is None or not part.tokens or len(part) > 12 or _CLAUSE.search(part.shadow):
        return None
    if any(token.kind == "newline" for token in part.tokens):
        return None
    text = part.said().strip(" ,;:")
    return text or None


def again(text: str) -> Phrase:
    """Return the phrase of a content that is to be read as words after all."""
    return phrase(text)


def last_reference(references: tuple[Reference, ...] | None) -> Reference | None:
    """Return the reference when there is exactly one."""
    return references[0] if references and len(references) == 1 else None


def ask_where(text: str) -> Ask:
    """Return the question whether a text goes into the prompt or becomes a test input."""
    return Ask(
        f"Where should “{text[:120]}” go?",
        (
            Option(
                "Add it at the end of the system prompt", (AddText(text),), "prompt system end instructions"
            ),
            Option("Add it as a test input", (AddTest(text),), "test input"),
        ),
    )


def ask_empty() -> Ask:
    """Return the question whether the system prompt shall really be emptied."""
    return Ask(
        "That would leave the system prompt empty. Should I?",
        (Option("Empty the system prompt", (SetPrompt(""),), "empty clear"),),
    )
