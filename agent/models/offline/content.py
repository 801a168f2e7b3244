"""Cutting names, texts, spots and topics out of a sentence: what of it is content, and when it is too vague."""

from __future__ import annotations

import re
from typing import Literal

from agent.models.offline.evasions import gives_none
from agent.models.offline.intents import AddTest, AddText, Ask, Intent, Option, Reference, SetPrompt, Spot
from agent.models.offline.long import LONGEST_READ
from agent.models.offline.patterns import fit
from agent.models.offline.reference import NUMBERS, ORDINAL, number, ordinal
from agent.models.offline.words import Phrase, Token, phrase

_CLAUSE = re.compile(
    r"\b(?:because|if|unless|since|so that|when|which|please|but|instead of|rather than|although|"
    r"whenever|though)\b"
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


def ask_literal(part: Phrase | None, intent: Intent) -> Ask | None:
    """Return the question whether "tbd", "same as before" and the like after a colon are meant word for word."""
    while part is not None and len(part) > 1 and part.tokens[0].norm == ":":
        part = part.part(1)
    if part is None or not part.quoted or part.tokens[0].kind != "content" or len(part.said()) > 200:
        return None
    if not gives_none(phrase(part.said().strip())):
        return None
    label = f"Take “{part.said()}” word for word"
    return Ask("That does not read like the text itself.", (Option(label, (intent,), "take word literally"),))


def clean_block(text: str) -> str:
    """Return a quoted or multi-line text without the blank lines and spaces around it."""
    if "\n" not in text:
        return text
    return text.strip("\n").rstrip()


DESCRIBING = frozenset({"something", "some", "more", "a", "an", "the", "another", "anything", "how", "what"})
"""Words that begin the description of a text rather than the text itself."""


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
    if first.norm in DESCRIBING or first.norm in ("that", "it", "this"):
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


_BLOCK = r"(?:sections?|passages?|paragraphs?|chapters?)"
_IN_BLOCKS = re.compile(
    rf"(?:(?:all|any|every|each|the|its|this|that|whole|entire|full|exact) )*{_BLOCK}\b|.+ {_BLOCK}$"
)


def spot_of(part: Phrase | None) -> Spot | None:
    """Return the stretch of a text a phrase means: quoted text, "the second line", "the line about X", words."""
    spot = _spot_of(part)
    if (
        part is None
        or spot is None
        or part.quoted
        or spot.kind not in ("text", "about", "line_about", "starting")
    ):
        return spot
    return Spot("block_about", spot.value) if _IN_BLOCKS.match(part.shadow) else spot


def ticked(part: Phrase) -> str:
    """Return the content of a quoted text, with the backticks where it has such: a prompt may have them too."""
    raw = part.raw()
    return raw if part.quoted and raw[:1] == "`" and "`" not in raw[1:-1] else part.said()


def _spot_of(part: Phrase | None) -> Spot | None:
    if part is None or not part.tokens or len(part) > 60:
        return None
    if part.quoted:
        return Spot("text", ticked(part))
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
        return Spot("text", ticked(inner)) if inner else None
    if match := fit(r"<the>(?:whole |entire )*{xq} <line>", part):
        inner = part.group(match, "x")
        return Spot("text", ticked(inner)) if inner else None
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
        r"paragraph|section|passage|chapter|thing)",
        part,
    ):
        inner = part.group(match, "x")
        return Spot(_about(part), inner.said()) if inner and len(inner) <= 4 else None
    if match := fit(r"(?:the |every |all )*(?:words?|phrase|text|expression|string|name)s? {x}", part):
        inner = part.group(match, "x")
        return Spot("text", inner.said()) if inner else None
    return Spot("words", part.said())


def is_too_short(part: Phrase, spot: Spot) -> bool:
    """Whether what is to be replaced or removed is an article or another short word without quotes: then a guess."""
    word = spot.value.strip()
    bare = spot.kind in ("text", "words") and not part.quotes()
    return bare and word.isascii() and word.isalpha() and len(word) <= 3


def ask_quotes(what: str) -> Ask:
    """Return the request to put words in quotes, with nothing to say "yes" to."""
    return Ask(
        f"Which words exactly should {what}? Put them in quotes, so that I do not take more than you mean."
    )


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
    """Return the phrase of a content that is to be read as words after all; a long one stays content."""
    if len(text) > LONGEST_READ:
        return Phrase(text, (Token("content", 0, len(text), "C", text),))
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
