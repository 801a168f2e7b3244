"""Rules that add test inputs: given word for word, as a list, or by a subject."""

from __future__ import annotations

import re

from agent.models.offline import content
from agent.models.offline.intents import AddTest, Ask, CopyTest, Intent, Option
from agent.models.offline.patterns import expand, fit
from agent.models.offline.reference import NUMBER, number, parse
from agent.models.offline.rules.rule import RuleSet, Said
from agent.models.offline.topics import family_of, sample_about, words_of
from agent.models.offline.words import Phrase

RULES = RuleSet()
ANOTHER = "a new one"
"""Topic of a test input that was only called "a new one": what it is shows in the step before it."""


_NEW = (
    "(?:(?:me|us|a|an|another|one more|one|new|the|this|following|these|some|extra|additional|"
    "further|more|single|single new|fresh|second|third|also|two|three|2|3|few|my|next|in|up|"
    "different|other|simple|quick|good) )*"
)
_SAYS = (
    "(?:(?:saying|that says|that say|that reads|that asks|which says|which asks|which reads|asking|"
    "reading|with the text|with the content|with content|with text|with the words|with the "
    "question|with the prompt|with the message|containing|that goes|as follows|like this|with|"
    "called|content) )?(?:(?:this|following|these|the following|below|here) )?(?:[:,;=-] )*"
)
_LISTS = "(?:<the>(?:<tests>|list of <tests>|test list|set of <tests>|collection of <tests>|list))"


@RULES.on(
    f"(?:<add>|i need|i want|give|we need|let's have|i'd like|there should be|there must be|have|"
    f"generate|new|another|one more) {_NEW}(?:<tests>|<test>) (?:<about>|that (?:is|are) about|"
    f"where (?:the user|someone|i|a user) (?:asks|talks) about|to (?:test|check|cover)) {{x}}(?: "
    f"to {_LISTS})?",
    f"(?:<add>|i need|i want|give|we need|let's have|i'd like|there should be|have|generate|new) "
    f"{_NEW}(?:one|question|prompt|message) (?:about|on|regarding|concerning) {{x}}(?: to "
    f"{_LISTS})?",
    "test <it> (?:on|about) {x}",
)
def _add_test_about(said: Said) -> tuple[Intent, ...] | Intent | None:
    part = said.part("x")
    head = said.match.string[: said.match.start("x")]
    if part is None or (part.tokens[0].kind == "quote" and "about" not in head):
        return None
    if re.search(r"(?:with|for|of) $", head):
        return None
    if saying := fit("{x} (?:: |saying |that says |, for example )+{tq}", part):
        inner = part.group(saying, "t")
        return AddTest(inner.said()) if inner else None
    plural = bool(re.search(r"(?:tests|inputs|cases|prompts|questions|messages|examples) [^ ]+ $", head))
    topics = [content.topic_of(piece) for piece in _subjects(part, plural)]
    if not topics or not all(topics):
        return None
    added = tuple(AddTest(sample_about(topic), topic) for topic in topics if topic)
    if plural and len(added) == 1:
        label = f"Add one test input about {topics[0]}"
        return Ask(
            "I can write only one plain test input about a subject.", (Option(label, added, "one yes"),)
        )
    return added


def _subjects(part: Phrase, plural: bool) -> list[Phrase]:
    """Return the subjects in `cats and one about dogs`, or in `cats, dogs and birds` after a plural."""
    pieces: list[Phrase] = []
    start = at = 0
    while at < len(part):
        if at > start and part.tokens[at].norm in ("and", ",", "&"):
            rest = part.part(at)
            again = _ONE_MORE.match(rest.shadow)
            if again or plural:
                pieces.append(part.part(start, at))
                start = at = at + len(again.group().split() if again else (1,))
                continue
        at += 1
    return [piece for piece in [*pieces, part.part(start)] if piece.tokens]


_ONE_MORE = re.compile(
    r"(?:, )?(?:(?:and|&) )?(?:(?:also|another|one|a|more|new|test|input) )+(?:about|on|for|regarding) "
)


@RULES.on(
    f"(?:<add>|i need|i want|give|we need|let's have|i'd like|there should be|have|new|another|one "
    f"more|use) {_NEW}(?:<tests>|<test>)(?: to {_LISTS})? {_SAYS}{{x}}",
    f"(?:<add>) to {_LISTS} {_SAYS}{{x}}",
    "(?:<add>|use|take|have|try) {x} (?:as|to|into|in|for) (?:(?:a|an|another|one more|new|the|my|"
    "its|our|be|one|of|list|to|additional|extra|second|third|next|set) )*(?:<tests>|<test>)(?: "
    "list)?",
    "(?:for|in) (?:the |my )?<tests> ,? ?(?:<add>) {x}",
)
def _add_test(said: Said) -> tuple[Intent, ...] | Intent | None:
    part = said.part("x")
    if part is None:
        return None
    if all(token.norm in ":,;-=" for token in part.tokens):
        return Ask("What should the new test input say?", (), "test")
    if part.tokens[0].norm in ".!?;,":
        return None  # "add a test. It should say …": two sentences
    head = said.match.string[: said.match.start("x")]
    if re.search(r"\b(?:first|second|third|last|final|fourth)\b", said.match.string[said.match.end("x") :]):
        return None
    quotes = part.quotes()
    if part.quoted and (about := _about_each(content.again(part.said()))):
        return about
    around = head + said.match.string[said.match.end("x") :]
    if part.tokens[0].kind != "quote" and _SEVERAL.search(around):
        listed = _items(part.said())
        if listed:
            return tuple(AddTest(item) for item in listed)
        joined = [piece.strip() for piece in part.said().split(" and ")] if len(part.said()) < 80 else []
        if (
            lines := _lines(part.said())
            or _commaed(part, _told_count(around))
            or joined[: 9 * (len(joined) > 1)]
        ):
            each = tuple(AddTest(line) for line in lines)
            if _COUNTED.search(around) and _told_count(around) == len(lines):
                return each
            return Ask(
                "I cannot tell where one test input ends and the next begins.",
                (
                    Option(
                        f"Add {len(lines)} test inputs, {_quoted(lines)}", each, "each lines separate several"
                    ),
                    Option("Add all of it as one test input", (AddTest(part.said()),), "one single whole"),
                ),
            )
        if re.search(r"[.?!] +\S", part.said()) and not _INTO_LIST.search(around):
            return Ask(
                "I cannot tell where one test input ends and the next begins. Put each in quotes, or on a line of its "
                "own.",
                (Option("Add all of it as one test input", (AddTest(part.said()),), "one single whole all"),),
            )
    if (
        quotes
        and len(quotes) > 1
        and all(t.kind in ("quote", "newline") or t.norm in _BETWEEN for t in part.tokens)
    ):
        return tuple(AddTest(quote) for quote in quotes)
    others = [token for token in part.tokens if token.kind not in ("quote", "mark", "content", "newline")]
    if len(quotes) == 1 and not part.quoted and all(token.norm in _INTRODUCING for token in others):
        return AddTest(quotes[0])
    if part.quoted:
        text = content.clean_block(part.said())
        inner = content.again(text)
        if len(inner.quotes()) > 1 and inner.tokens[0].kind == "quote":
            several = all(t.kind in ("quote", "newline") or t.norm in _BETWEEN for t in inner.tokens)
            return tuple(AddTest(quote) for quote in inner.quotes()) if several else None
        if literal := content.ask_literal(part, AddTest(text)):
            return literal
        return (
            AddTest(text)
            if text.strip()
            else Ask("A test input needs some text. What should it say?", (), "test")
        )
    if re.match(r"(?:to|from|in|of|for|about|on|as)\b", part.shadow) and not re.search(r"[:,-] $", head):
        return None
    if part.tokens[0].kind == "quote":
        return None  # a quote and then more words: not clear what belongs to the text
    typed = said.text("x")
    marked = re.search(
        r"(?:[:,;=-]|saying|says|say|reads|asks|asking|reading|text|content|words|question) $", head
    )
    if head.startswith("make ") and re.match(r"(?:say|ask|read|be) ", part.shadow):
        return None
    if (
        parse(part) is not None
        or re.match(rf"(?:number |# )?{NUMBER}\b", part.shadow)
        or re.match(r"<?(?:it|this|that|something|them|these)\b", part.shadow)
    ):
        return None
    if marked or (content.is_sentence(part) and len(part) > 1 and not (quotes and part.raw()[:1].islower())):
        return AddTest(typed)
    return Ask(
        "I am not sure what the new test input should say.",
        (Option(f"Add the test input “{typed}”", (AddTest(typed),), typed),),
        "test",
    )


_INTRODUCING = frozenset(
    [
        "that",
        "which",
        "says",
        "saying",
        "with",
        "the",
        "text",
        "content",
        "words",
        "question",
        "as",
        "just",
        "simply",
        "this",
        "these",
        "following",
        "below",
        "two",
        "three",
        "lines",
        "line",
        "sentence",
        "sentences",
        "message",
    ]
)
_BETWEEN = frozenset({"and", ",", "&", ";", "then", "-", "*", "•", "/", "|", "as", "well"})
"""What may stand between several quoted texts."""


def _about_each(said: Phrase) -> tuple[Intent, ...] | None:
    """Return the test inputs that "one about rain and one about math" describes, or None."""
    match = fit("(?:something|anything|a question|one) (?:about|on) {t}", said)
    subjects = said.group(match, "t") if match else None
    topics = [content.topic_of(piece) for piece in _subjects(subjects, False)] if subjects else []
    return tuple(AddTest(sample_about(topic), topic) for topic in topics if topic) or None


_SEVERAL = re.compile(r"\b(?:tests|inputs|cases|prompts|questions|messages|examples|samples|scenarios)\b")
_INTO_LIST = re.compile(expand(f"(?:to|in|into|for|among) {_LISTS}"))
_COUNTED = re.compile(r"(?:^| )(?P<n>\d{1,2}|two|three|four|five|six|seven|eight|nine|ten) ")


def _told_count(around: str) -> int:
    """Return how many test inputs the words around a list speak of, or 0."""
    match = _COUNTED.search(around)
    return (number(match["n"]) or 0) if match else 0


def _lines(text: str) -> list[str]:
    """Return the lines of a text of several, or an empty list: they may be one test input each."""
    lines = [line.strip() for line in text.strip().splitlines() if line.strip()]
    return [_unquoted(line) for line in lines] if 1 < len(lines) <= 50 else []


def _commaed(part: Phrase, count: int) -> list[str]:
    """Return the pieces between the commas of one line that is no sentence, or an empty list.

    Without commas "and" parts them where it makes as many as were told of (`count`).
    """
    text = part.said()
    if (part.quotes() and not part.quoted) or re.search(r"[.!?:\"“”\n]", text[:-1]):
        return []
    if not re.search(r"[,;]", text) and len(text.split(" and ")) != count:
        return []
    return [piece.strip() for piece in re.split(r"[,;] *(?:and )?| and ", text) if piece.strip()]


def _quoted(texts: list[str]) -> str:
    shown = ", ".join(f"“{text[:40]}”" for text in texts[:4])
    return shown + (", …" if len(texts) > 4 else "")


_INLINE = re.compile(r"[,;]?\s+(?:and\s+)?(?=\(?[a-h1-9][.)]\s)")
"""Where the next item of a list on one line begins: "a) … b) …"."""


def _items(text: str) -> list[str]:
    """Return the items of a bulleted or numbered block, or an empty list when it is none."""
    lines = [line.strip() for line in text.strip().splitlines() if line.strip()]
    if len(lines) == 1:
        lines = _INLINE.split(lines[0])
        marks = [line[:3].strip("(.) ") for line in lines]
        if marks not in (list("abcdefgh"[: len(marks)]), list("123456789"[: len(marks)])):
            return []
        lines = [line.lstrip("(").strip() for line in lines]
    items = [re.sub(r"^(?:[-*•]|(?:\d{1,3}|[a-h])[.)])\s+", "", line) for line in lines]
    if len(lines) < 2 or any(item == line for item, line in zip(items, lines, strict=True)):
        return []
    return [_unquoted(item) for item in items]


def _unquoted(item: str) -> str:
    again = content.again(item)
    return again.said() if again.quoted else item


@RULES.on(
    "(?:a |the |next |another )?(?:<tests>|<test>)(?: to (?:add|create|include|be added))? (?:[:=-] )+{xq}",
)
def _add_test_named(said: Said) -> Intent | None:
    text = content.clean_block(said.text("x"))
    if text.strip():
        return content.ask_literal(said.part("x"), AddTest(text)) or AddTest(text)
    return None


@RULES.on(
    "(?:<add>) (?:(?:a|another|one more)(?: new)? )?one (?:[:,-] |saying |that says |that asks )+{xq}",
    "(?:<add>) {xq} as (?:a |another )(?:new )?one(?: instead)?",
    "(?:<add>|use|have) {xq} (?:instead|in its place|in place of (?:it|that|them))",
)
def _add_one(said: Said) -> Intent | None:
    return AddTest(content.clean_block(said.text("x")), ANOTHER)


@RULES.on(
    f"(?:<add>|i need|i want|give|we need|let's have|i'd like|have|generate|new|another|one more) "
    f"{_NEW}(?P<x>.+?) (?:test input|test-input|test case|test|input)(?: to {_LISTS})?",
)
def _add_test_of(said: Said) -> Intent | None:
    part = said.part("x")
    if (
        part is None
        or part.quoted
        or len(part) > 3
        or re.search(
            r"\b(?:to|the|in|of|from|as|first|last|tests?|inputs?|examples?|samples?)\b|[:,]", part.shadow
        )
        or re.fullmatch(r"(?:(?:a|an|another|one|new|more|some|extra|my|us|me) ?)+", part.shadow)
    ):
        return None
    topic = content.topic_of(part)
    if topic is None:
        return None
    test = AddTest(sample_about(topic), topic)
    if any(family_of(word) for word in words_of(topic)):
        return test
    return Ask(
        f"I am not sure what a “{topic}” test input should say.",
        (Option(f"Add a test input about {topic}: “{test.content}”", (test,), topic),),
        "test",
    )


@RULES.on(
    f"(?:<add>|i need|i want|give|we need|let's have|i'd like|have|generate|new|another|one more) "
    f"{_NEW}(?:<tests>|<test>)(?: (?:to|in) {_LISTS})?(?: for <it>)?",
    "(?:a )?(?:new|another|one more) <test>",
)
def _add_test_what(said: Said) -> Intent | None:
    return Ask("What should the new test input say?", (), "test")


@RULES.on(
    "(?:copy|duplicate|clone) {x}",
    "(?:make|create|add) a (?:copy|duplicate) of {x}",
)
def _copy(said: Said) -> Intent | None:
    reference = content.last_reference(parse(said.part("x")))
    return CopyTest(reference) if reference else None
