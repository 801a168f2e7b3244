"""Rules for the test inputs: adding, deleting, changing."""

from __future__ import annotations

import re

from agent.models.offline import content
from agent.models.offline.intents import (
    AddTest,
    Ask,
    ChangeTest,
    CopyTest,
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
from agent.models.offline.reference import number, parse
from agent.models.offline.rules.rule import RuleSet, Said
from agent.models.offline.topics import family_of, sample_about, words_of
from agent.models.offline.words import Phrase

RULES = RuleSet()
IT = Reference("pronoun", "it")
"""What "delete it" refers to: shows in the step before it."""
ANOTHER = "a new one"
"""Topic of a test input that was only called "a new one": what it is shows in the step before it."""

# --- test inputs: adding ----------------------------------------------------------------------------------

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
    head = said.match.string[: said.match.start("x")]
    if re.search(r"\b(?:first|second|third|last|final|fourth)\b", said.match.string[said.match.end("x") :]):
        return None
    quotes = part.quotes()
    around = head + said.match.string[said.match.end("x") :]
    if part.tokens[0].kind != "quote" and _SEVERAL.search(around):
        listed = _items(part.said())
        if listed:
            return tuple(AddTest(item) for item in listed)
        if lines := _lines(part.said()) or _commaed(part):
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
        if vague := fit("(?:something|anything|a question|one) (?:about|on) {t}", inner):
            subjects = inner.group(vague, "t")
            topics = [content.topic_of(piece) for piece in _subjects(subjects, False)] if subjects else []
            named = [topic for topic in topics if topic]
            return tuple(AddTest(sample_about(topic), topic) for topic in named) if named else None
        if len(inner.quotes()) > 1 and inner.tokens[0].kind == "quote":
            several = all(t.kind in ("quote", "newline") or t.norm in _BETWEEN for t in inner.tokens)
            return tuple(AddTest(quote) for quote in inner.quotes()) if several else None
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
    if parse(part) is not None or re.match(r"<?(?:it|this|that|something|them|these)\b", part.shadow):
        return None
    if marked or (content.is_sentence(part) and len(part) > 1):
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


_SEVERAL = re.compile(r"\b(?:tests|inputs|cases|prompts|questions|messages|examples|samples|scenarios)\b")
_COUNTED = re.compile(r"(?:^| )(?P<n>\d{1,2}|two|three|four|five|six|seven|eight|nine|ten) ")


def _told_count(around: str) -> int:
    """Return how many test inputs the words around a list speak of, or 0."""
    match = _COUNTED.search(around)
    return (number(match["n"]) or 0) if match else 0


def _lines(text: str) -> list[str]:
    """Return the lines of a text of several, or an empty list: they may be one test input each."""
    lines = [line.strip() for line in text.strip().splitlines() if line.strip()]
    return [_unquoted(line) for line in lines] if 1 < len(lines) <= 50 else []


def _commaed(part: Phrase) -> list[str]:
    """Return the pieces between the commas of one line that is no sentence, or an empty list."""
    text = part.said()
    if (part.quotes() and not part.quoted) or re.search(r"[.!?:\"“”\n]", text[:-1]):
        return []
    pieces = [piece.strip() for piece in re.split(r"[,;] *(?:and )?| and ", text) if piece.strip()]
    return pieces if len(pieces) > 1 else []


def _quoted(texts: list[str]) -> str:
    shown = ", ".join(f"“{text[:40]}”" for text in texts[:4])
    return shown + (", …" if len(texts) > 4 else "")


def _items(text: str) -> list[str]:
    """Return the items of a bulleted or numbered block, or an empty list when it is none."""
    lines = [line.strip() for line in text.strip().splitlines() if line.strip()]
    items = [re.sub(r"^(?:[-*•]|\d{1,3}[.)])\s+", "", line) for line in lines]
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
    return AddTest(text) if text.strip() else None


@RULES.on(
    "(?:<add>) (?:a|another|one more)(?: new)? one (?:[:,-] |saying |that says |that asks )+{xq}",
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
    if kept is not None and kept.tokens:
        every = parse(kept)
        if not every or every[0].kind != "all":
            return None
    keep = parse(said.part("x"), noun=kept is not None)
    if not keep or keep[0].kind in ("all", "both", "pronoun"):
        return None
    return DeleteTests((Reference("all"),), keep)


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
    return DeleteTests(references)


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
    return ChangeTest(reference, text)


@RULES.on(
    "(?:<change>|overwrite|update) {r}",
)
def _change_test_how(said: Said) -> Intent | None:
    reference = _of_test(said, "r")
    if reference is None or (reference.kind == "pronoun" and said.match["r"] == "it"):
        return None
    return Ask("What should the test input say instead?", (), "content", reference)
