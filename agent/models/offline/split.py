"""A message as what it asks for: lists of steps, free text after a colon, and how the steps go together."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache

from agent.models.offline.grammar import is_request, parse
from agent.models.offline.intents import (
    AddTest,
    AddText,
    Ask,
    ChangeTest,
    CopyTest,
    DeleteTests,
    ExtendTest,
    Hold,
    Intent,
    Option,
    Rename,
    ReplaceText,
    SetPrompt,
    Show,
    Talk,
)
from agent.models.offline.long import LONGEST_READ, abridged, block_after
from agent.models.offline.mood import strip_fillers
from agent.models.offline.patterns import LONGEST, fit
from agent.models.offline.rules.adding import ANOTHER
from agent.models.offline.rules.asking import RESULT
from agent.models.offline.rules.inputs import IT
from agent.models.offline.sequel import about_told, another_of, result_of, told_before
from agent.models.offline.steps import CONNECTORS, MOST_CUTS, SEQUENCE, Step, cut_sentences
from agent.models.offline.words import Phrase, Token, phrase, word_set

_ITEM = re.compile(r"^[ \t]*(?:\d{1,3}[.)]|[a-h]\)|[-*•])[ \t]+(?=\S)", re.MULTILINE)
_INLINE_ITEM = re.compile(r"(?:^|(?<=\s))\(?([1-9a-h])[.)][ \t]+(?=\S)")
_HEADER = word_set(
    "quick one hey ok next another also note favour favor then now the these following two three four "
    "five a few some several couple of my all do please things thing changes change steps step tasks task "
    "todo edits edit requests request here is are here's what i want need make would like you to for in "
    "order this persona list"
)
_ELSE = re.compile(
    r"\b(?:else|other|others|rest|test|tests|prompt|name|line|lines|first|second|third|last|it|them|one)\b"
)


_NAMED = (Rename, AddText, ReplaceText, SetPrompt, AddTest, ChangeTest, DeleteTests)
"""Requests that say in full what they are about: enough to doubt where free text ends."""


@dataclass(frozen=True, slots=True)
class Understood:
    """What a message asks for, step by step.

    Attributes:
        intents: the steps.
        unclear: the steps that are not understood, raw.
        loose: words such as "example" that stand for test inputs and may mean something else.
        answers: whether it picks an option of the question before it.
    """

    intents: tuple[Intent, ...]
    unclear: tuple[str, ...] = ()
    loose: tuple[str, ...] = ()
    answers: bool = False


@lru_cache(maxsize=16)
def understand(message: str) -> Understood:
    """Return the steps of a message, in order."""
    if len(message) > LONGEST_READ:
        whole = abridged(message, _takes_rest)
        return _gather(cut_sentences(whole)) if whole else Understood((), (message[:200].strip() + " …",))
    listed = _list_items(message)
    if listed is not None:
        parts = [understand(item) for item in listed]
        return Understood(
            tuple(intent for part in parts for intent in part.intents),
            tuple(text for part in parts for text in part.unclear),
            tuple(word for part in parts for word in part.loose),
        )
    return understand_phrase(phrase(message))


def _takes_rest(whole: Phrase) -> bool:
    """Whether the head of a long message asks for something that is done with the long rest."""
    steps = cut_sentences(whole)
    return bool(steps) and all(is_request(step.intents) for step in steps)


def understand_phrase(whole: Phrase) -> Understood:
    """Return the steps of a message that is no list, in order."""
    note = _NOTE.match(whole.shadow[:60])
    if note is None:
        return _gather(_steps(whole))
    noted = whole.part(note.group().strip().count(" ") + 1)
    understood = _gather(_steps(noted))
    if understood.unclear or not is_request(understood.intents):
        return understood if understood.intents else _gather(_steps(whole))
    now = Option(f"Do it now: {noted.raw()[:200]}", understood.intents, "now do it")
    return Understood((Ask("That looks like a note to me, not like a request.", (now,)),))


_NOTE = re.compile(
    r"(?:(?:my |a |the )?(?:todo|to - do|fixme|note to self|notes?|reminder|idea|plan|backlog|draft|wishlist|memo|"
    r"for later|later|someday|maybe later|tbd) (?:: |- |: - )|(?:todo|fixme) )(?=[^ ])"
)


def _gather(steps: list[Step]) -> Understood:
    intents: list[Intent] = []
    unclear: list[str] = []
    loose: list[str] = []
    requested = False
    for step in steps:
        if step.intents is None:
            unclear.append(step.phrase.raw().strip())
            continue
        if intents and (filled := _spelled_out(step.phrase, intents[-1])):
            intents[-1] = filled
            requested = True
            continue
        if any(isinstance(intent, _ON_TESTS) for intent in step.intents):
            loose.extend(_LOOSE.findall(step.phrase.shadow[:2000]))
            if not re.search(r"\btests?\b", step.phrase.shadow[:2000]):
                loose.extend(_ITEMS.findall(step.phrase.shadow[:2000]))
                loose.extend(
                    one.value
                    for intent in step.intents
                    if isinstance(intent, DeleteTests)
                    for one in (*intent.references, *intent.keep)
                    if one.kind == "topic"
                )
        for intent in about_told(step, intents):
            late = (
                isinstance(intent, Hold) and intent.mood == "negated" and not _ELSE.search(step.phrase.shadow)
            )
            if requested and (late or (isinstance(intent, Talk) and intent.subject == "nothing")):
                unclear.append(step.phrase.raw().strip())
                continue
            if isinstance(intent, DeleteTests) and (told := told_before(intents)):
                intent = replace(
                    intent, references=tuple(told if old == IT else old for old in intent.references)
                )
            if isinstance(intent, Show) and intent.what == RESULT:
                intent = result_of(intents)
            if isinstance(intent, AddTest) and intent.topic == ANOTHER:
                intent = another_of(intents, intent.content)
            intents.append(intent)
        requested = requested or is_request(step.intents)
    intents = [intent for intent in intents if not _answered(intent, intents)]
    aside = {"comment", "thanks", "hello"} | ({"nothing"} if requested else set())
    polite = [i for i in intents if not (isinstance(i, Talk) and i.subject in aside)]
    return Understood(tuple(polite or intents[:1]), tuple(unclear), tuple(loose))


_ON_TESTS = (AddTest, ChangeTest, ExtendTest, CopyTest, DeleteTests)
_ITEMS = re.compile(
    r"(?<![^ ])(?:(?:number|#) \d{1,3}|item|entry|point|questions?|messages?|inputs?|(?<=first )one|(?<=second )one|"
    r"(?<=third )one|(?<=last )one)(?= |$)"
)
_LOOSE = re.compile(
    r"(?<!test )(?<!test - )\b(?:examples?|samples?|scenarios?)\b(?! (?:- )?(?:tests?|inputs?)\b)"
)


_FILLS = {"name": Rename, "prompt": SetPrompt, "test": AddTest, "text": AddText, "content": ChangeTest}


def _answered(intent: Intent, intents: list[Intent]) -> bool:
    """Whether a question ("rename it": to what?) is answered in the same message ("call it Luna")."""
    return (
        isinstance(intent, Ask)
        and intent.blank != ""
        and not intent.options
        and intent.question.startswith("What should")
        and any(isinstance(other, _FILLS[intent.blank]) for other in intents[intents.index(intent) :])
    )


def _spelled_out(said: Phrase, before: Intent) -> Intent | None:
    """Return the request "add a test input" makes with "it should say “…”" after it."""
    if not isinstance(before, Ask) or before.options or not before.blank:
        return None
    match = fit(
        "(?:it|this|that|the text|the content|the words) (?:should|must|is to|will|shall) (?:say|read|"
        "be|ask|be called)(?: :)? {xq}",
        said,
    )
    part = said.group(match, "x") if match else None
    if part is None:
        return None
    made: dict[str, Intent] = {
        "name": Rename(part.said()),
        "prompt": SetPrompt(part.said()),
        "text": AddText(part.said()),
        "test": AddTest(part.said()),
    }
    if before.blank == "content" and before.reference is not None:
        return ChangeTest(before.reference, part.said())
    return made.get(before.blank)


def _list_items(message: str) -> list[str] | None:
    """Return the items of a list of steps, or None when the message is none (a list may be content)."""
    marks = list(_ITEM.finditer(message))[:50]
    if len(marks) < 2:
        marks = _inline_marks(message)
    if len(marks) < 2:
        return None
    header = message[: marks[0].start()].strip()
    if header:
        head = phrase(header)
        if len(head) > 40 or not _is_header(strip_fillers(head)):
            return None
    ends = [mark.start() for mark in marks[1:]] + [len(message)]
    items = [message[mark.end() : end].strip() for mark, end in zip(marks, ends, strict=True)]
    return (
        items
        if header or all(is_request(parse(phrase(item))) for item in items if len(item) < 2000)
        else None
    )


def _inline_marks(message: str) -> list[re.Match[str]]:
    """Return the marks of a list on one line, "1) … 2) …": they must count from one."""
    marks = list(_INLINE_ITEM.finditer(message[:2000]))[:20]
    for first in ("1", "a"):
        if [mark.group(1) for mark in marks] == [chr(ord(first) + k) for k in range(len(marks))]:
            return marks
    return []


def _steps(whole: Phrase) -> list[Step]:
    """Cut a phrase into steps, with free text after a colon taken out first."""
    for at in _colons(whole):
        collapsed = _collapse(whole, at)
        if collapsed is None:
            continue
        steps = cut_sentences(collapsed)
        last = steps[-1].intents if steps else None
        if last and _takes_content(last) and steps[-1].phrase.tokens[-1].kind == "content":
            return [*steps[:-1], *_cut_content(steps[-1])]
    return cut_sentences(_without_header(_join_blocks(whole)))


def _takes_content(intents: tuple[Intent, ...]) -> bool:
    return is_request(intents) or any(isinstance(i, Ask) and i.options for i in intents)


def _colons(whole: Phrase) -> list[int]:
    """Return the places of colons that may introduce content: the first few, not those of a clock time."""
    found = []
    for k, token in enumerate(whole.tokens[: 2 * LONGEST]):
        if token.norm == ":" and k:
            before, after = whole.tokens[k - 1], whole.tokens[k + 1] if k + 1 < len(whole) else None
            glued = after is not None and before.end == token.start and after.start == token.end
            if not (glued and before.norm.isdigit()):
                found.append(k)
    return found[:6]


def _collapse(whole: Phrase, at: int) -> Phrase | None:
    """Return the phrase with all that follows the colon as one token of free text.

    None when a quote follows that is the content itself: then the rest is looked at as usual.
    """
    rest = [token for token in whole.tokens[at + 1 :] if token.kind != "newline"]
    if not rest:
        return None
    if rest[0].kind == "quote":
        after = rest[1] if len(rest) > 1 else None
        if (
            after is None
            or after.norm in CONNECTORS
            or after.norm in ".!?"
            or after.kind == "quote"
            or "\n" in whole.source[rest[0].end : after.start]
            or after.norm in ("to", "in", "at", "into", "please", "before", "after", "as", "with")
        ):
            return None
    colon = whole.tokens[at]
    raw = whole.source[colon.end : whole.tokens[-1].end]
    block = _without_thanks(block_after(raw))
    token = Token("content", rest[0].start, whole.tokens[-1].end, "C", block)
    head = whole.tokens[:at]
    while len(head) > 2 and head[-1].norm in _POLITE and head[-2].norm != ":":
        head = head[:-1]  # "one more test please: …"
    return Phrase(whole.source, (*head, colon, token))


_POLITE = frozenset(
    {"please", "thanks", "now", "too", "also", ",", "ok", "okay", "kindly", "mate", "quickly"}
)


def _without_thanks(block: str) -> str:
    """Drop a last paragraph that is nothing but thanks."""
    text, gap, last = block.rpartition("\n\n")
    if not gap or len(last) > 80:
        return block
    made = parse(phrase(last))
    thanks = bool(made) and all(isinstance(i, Talk) and i.subject == "thanks" for i in made or ())
    return text.rstrip() if thanks else block


def _cut_content(step: Step) -> list[Step]:
    """Look whether the free text after a colon goes over into a further request ("…? Then rename it")."""
    token = step.phrase.tokens[-1]
    colon_at = step.phrase.tokens[-2].end if len(step.phrase) > 1 else token.start
    block = "\n" in step.phrase.source[colon_at : token.start]
    inner = phrase(step.phrase.source[token.start : token.end])
    if block or len(inner) > 3 * LONGEST:
        return [step]
    if fit("(?:<test>|<prompt>|<name>|(?:system )?prompt|instructions) : C", step.phrase) and is_request(
        parse(inner)
    ):
        return [Step(step.phrase, (_doubt(step),))]  # "example: rename it to Bob"
    places = [k for k in range(1, len(inner)) if _boundary(inner, k)]
    end = len(inner)
    cuts: list[int] = []
    doubtful = False
    for k in reversed(places[-MOST_CUTS:]):
        piece = inner.part(k, end)
        named = bool(SEQUENCE.match(" ".join(token.norm for token in piece.tokens[:3])))
        made = parse(piece)
        if made is None or not any(isinstance(intent, _NAMED) for intent in made):
            continue
        sentence = inner.tokens[k - 1].norm in ".!?" or inner.tokens[k - 1].kind in ("newline", "quote")
        line = inner.tokens[k - 1].kind == "newline"
        if line or (sentence and named):
            cuts.append(k)
            end = k
        else:
            doubtful = True
    if doubtful:
        return [Step(step.phrase, (_doubt(step),))]
    if not cuts:
        return [step]
    whole = step.intents is not None and any(isinstance(intent, SetPrompt) for intent in step.intents)
    first_cut = min(cuts)
    text = inner.source[: inner.tokens[first_cut - 1].end].strip()
    shortened = Token("content", token.start, token.start + inner.tokens[first_cut - 1].end, "C", text)
    quoted = phrase(text)
    if quoted.quoted:
        shortened = Token("content", shortened.start, shortened.end, "C", quoted.said())
    head = Phrase(step.phrase.source, (*step.phrase.tokens[:-1], shortened))
    made = parse(head)
    tail = cut_sentences(inner.part(first_cut))
    if whole and made and all(is_request(one.intents) for one in tail):
        apart = (*made, *(intent for one in tail for intent in one.intents or ()))
        asked = f"Take “{text[-80:]}” as its end, and go on with: {inner.part(first_cut).raw()[:160]}"
        return [Step(step.phrase, (_doubt(step, Option(asked, apart, "end apart split two separate")),))]
    return [Step(head, made), *tail]


def _doubt(step: Step, *others: Option) -> Ask:
    """The question for content after a colon that may go over into a second request."""
    options = tuple(
        Option("Take all of it as the text", step.intents, "all whole everything text")
        for _ in (1,)
        if step.intents
    )
    return Ask(
        "I cannot tell where the text after the colon ends and the next request begins. Put the text "
        "in quotes, or:",
        (*options, *others),
    )


def _boundary(inner: Phrase, k: int) -> bool:
    before, here = inner.tokens[k - 1], inner.tokens[k]
    if before.kind == "newline" or (before.norm in ".!?;" and before.end < here.start):
        return True
    return here.norm in ("and", "then", "also", "plus") or before.norm == ","


def _join_blocks(whole: Phrase) -> Phrase:
    """Drop the line breaks between a command and the quoted block it introduces."""
    kept = [
        token
        for k, token in enumerate(whole.tokens)
        if token.kind != "newline"
        or not (k and k + 1 < len(whole))
        or whole.tokens[k + 1].kind != "quote"
        or whole.tokens[k - 1].norm not in (":", "to", "with", "prompt", "add", "append", "be")
    ]
    return Phrase(whole.source, tuple(kept)) if len(kept) != len(whole) else whole


def _is_header(head: Phrase) -> bool:
    return all(token.norm in _HEADER or token.kind == "mark" for token in head.tokens)


def _without_header(whole: Phrase) -> Phrase:
    """Drop "Two things:" and the like at the beginning."""
    for k, token in enumerate(whole.tokens[:16]):
        if token.norm == ":":
            head = strip_fillers(whole.part(0, k))
            if not head.tokens or _is_header(head):
                return whole.part(k + 1)
            return whole
    return whole
