"""A message as steps: list items, sentences, and parts joined by "and", "then" and commas, outside quotes.

A place where the text could be cut is cut only when what stands right of it reads as a request by itself;
so "rename it to Salt and Pepper" stays whole and "rename it to Salt and delete the first test" does not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from agent.models.offline.changing import ANOTHER, IT
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
    Reference,
    RemoveText,
    Rename,
    ReplaceText,
    SetPrompt,
    Show,
    ShowTest,
    Talk,
)
from agent.models.offline.mood import mood_of, strip_fillers
from agent.models.offline.patterns import LONGEST
from agent.models.offline.words import Phrase, Token, phrase

_MOST_CUTS = 40
_THEREFORE = frozenset({"so", "therefore", "hence", "thus"})
_CONNECTORS = frozenset(
    {"and", "then", "also", "plus", ",", ";", "&", "but", "afterwards", "next", "finally", *_THEREFORE}
)
_BARE = frozenset(
    [
        "the",
        "my",
        "our",
        "its",
        "all",
        "a",
        "an",
        "his",
        "her",
        "their",
        "this",
        "that",
        "name",
        "names",
        "everything",
        "both",
        "tests",
        "prompt",
    ]
)
_ABBREVIATIONS = frozenset(
    ["dr", "mr", "mrs", "ms", "st", "prof", "jr", "sr", "no", "vs", "etc", "e.g", "i.e", "eg", "ie", "inc"]
)
_ITEM = re.compile(r"^[ \t]*(?:\d{1,3}[.)]|[-*•])[ \t]+(?=\S)", re.MULTILINE)
_HEADER = frozenset(
    """the these following two three four five a few some several couple of my all do please things thing changes
    change steps step tasks task todo edits edit requests request here is are here's what i want need make would
    like you to for in order this persona list""".split()
)
_REASON = re.compile(
    r"(?:because|since|as|it's|it is|that's|that is|i (?:like|love|hate|think|don't like|prefer)|it (?:sounds|fits|suits|feels|looks)|they|there)\b"
)
_SECOND_THOUGHT = re.compile(
    r"\b(?:no|not|wait|keep|don't|never|actually|unless|if|but|except|hold on|instead|stop|undo|cancel|sorry)\b"
)
_SEQUENCE = re.compile(
    r"(?:and |& )?(?:then|also|after that|afterwards|next|finally|and|plus|additionally|in addition|lastly|besides)\b"
)
_ELSE = re.compile(
    r"\b(?:else|other|others|rest|test|tests|prompt|name|line|lines|first|second|third|last|it|them|one)\b"
)


_NAMED = (Rename, AddText, ReplaceText, SetPrompt, AddTest, ChangeTest, DeleteTests)
"""Requests that say in full what they are about: enough to doubt where free text ends."""


@dataclass(frozen=True, slots=True)
class Understood:
    """What a message asks for, step by step; `unclear` holds the steps that are not understood, raw."""

    intents: tuple[Intent, ...]
    unclear: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Step:
    phrase: Phrase
    intents: tuple[Intent, ...] | None
    sequel: bool = False  # begins with "then", "also" and the like, or on a new line


def understand(message: str) -> Understood:
    """Return the steps of a message, in order."""
    listed = _list_items(message)
    if listed is not None:
        parts = [understand(item) for item in listed]
        return Understood(
            tuple(intent for part in parts for intent in part.intents),
            tuple(text for part in parts for text in part.unclear),
        )
    return _gather(_steps(phrase(message)))


def _gather(steps: list[_Step]) -> Understood:
    intents: list[Intent] = []
    unclear: list[str] = []
    requested = False
    for step in steps:
        if step.intents is None:
            unclear.append(step.phrase.raw().strip())
            continue
        for intent in step.intents:
            late = (
                isinstance(intent, Hold) and intent.mood == "negated" and not _ELSE.search(step.phrase.shadow)
            )
            if requested and (late or (isinstance(intent, Talk) and intent.subject == "nothing")):
                unclear.append(step.phrase.raw().strip())
                continue
            if isinstance(intent, DeleteTests) and (told := _told_before(intents)):
                intent = replace(
                    intent, references=tuple(told if old == IT else old for old in intent.references)
                )
            if isinstance(intent, AddTest) and intent.topic == ANOTHER:
                intent = _another(intents, intent.content)
            intents.append(intent)
        requested = requested or is_request(step.intents)
    aside = {"comment", "thanks", "hello"} | ({"nothing"} if requested else set())
    polite = [i for i in intents if not (isinstance(i, Talk) and i.subject in aside)]
    return Understood(tuple(polite or intents[:1]), tuple(unclear))


def _told_before(before: list[Intent]) -> Reference | None:
    """Return the test input the step before was about, when it was one."""
    last = before[-1] if before else None
    if isinstance(last, ShowTest) and len(last.references) == 1:
        return last.references[0]
    return last.reference if isinstance(last, ChangeTest | ExtendTest | CopyTest) else None


def _another(before: list[Intent], content: str) -> Intent:
    """What "a new one" is: a line when the step before was about the prompt, else a test input."""
    if before and isinstance(before[-1], AddText | RemoveText | ReplaceText | SetPrompt):
        return AddText(content)
    if before and isinstance(before[-1], AddTest | ChangeTest | DeleteTests | Show):
        return AddTest(content)
    line, test = (
        Option("A line at the end of the system prompt", (AddText(content),), "line prompt"),
        Option("A test input", (AddTest(content),), "test input"),
    )
    return Ask("A new what?", (line, test))


def _list_items(message: str) -> list[str] | None:
    """Return the items of a list of steps, or None when the message is none (a list may be content)."""
    marks = list(_ITEM.finditer(message))[:50]
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


def _steps(whole: Phrase) -> list[_Step]:
    """Cut a phrase into steps, with free text after a colon taken out first."""
    for at in _colons(whole):
        collapsed = _collapse(whole, at)
        if collapsed is None:
            continue
        steps = _cut_sentences(collapsed)
        last = steps[-1].intents if steps else None
        if last and _takes_content(last) and steps[-1].phrase.tokens[-1].kind == "content":
            return [*steps[:-1], *_cut_content(steps[-1])]
    return _cut_sentences(_without_header(_join_blocks(whole)))


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
            or after.norm in _CONNECTORS
            or after.norm in ".!?"
            or after.kind == "quote"
            or "\n" in whole.source[rest[0].end : after.start]
            or after.norm in ("to", "in", "at", "into", "please", "before", "after", "as", "with")
        ):
            return None
    colon = whole.tokens[at]
    raw = whole.source[colon.end : whole.tokens[-1].end]
    block = raw.strip("\r\n").rstrip() if raw.lstrip(" \t\r").startswith("\n") else raw.strip()
    if raw.lstrip(" \t\r").startswith("\n"):
        block = raw.lstrip(" \t\r")[1:].rstrip()
        block = block.lstrip("\n")
    token = Token("content", rest[0].start, whole.tokens[-1].end, "C", block)
    return Phrase(whole.source, (*whole.tokens[: at + 1], token))


def _cut_content(step: _Step) -> list[_Step]:
    """Look whether the free text after a colon goes over into a further request ("…? Then rename it")."""
    token = step.phrase.tokens[-1]
    colon_at = step.phrase.tokens[-2].end if len(step.phrase) > 1 else token.start
    block = "\n" in step.phrase.source[colon_at : token.start]
    inner = phrase(step.phrase.source[token.start : token.end])
    if block or len(inner) > 3 * LONGEST:
        return [step]
    places = [k for k in range(1, len(inner)) if _boundary(inner, k)]
    end = len(inner)
    cuts: list[int] = []
    doubtful = False
    for k in reversed(places[-_MOST_CUTS:]):
        piece = inner.part(k, end)
        named = bool(_SEQUENCE.match(" ".join(token.norm for token in piece.tokens[:3])))
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
        return [_Step(step.phrase, (_doubt(step),))]
    if not cuts:
        return [step]
    first_cut = min(cuts)
    text = inner.source[: inner.tokens[first_cut - 1].end].strip()
    shortened = Token("content", token.start, token.start + inner.tokens[first_cut - 1].end, "C", text)
    quoted = phrase(text)
    if quoted.quoted:
        shortened = Token("content", shortened.start, shortened.end, "C", quoted.said())
    head = Phrase(step.phrase.source, (*step.phrase.tokens[:-1], shortened))
    made = parse(head)
    tail = _cut_sentences(inner.part(first_cut))
    return [_Step(head, made), *tail]


def _doubt(step: _Step) -> Ask:
    """The question for content after a colon that may go over into a second request."""
    options = tuple(
        Option("Take all of it as the text", step.intents, "all whole everything text")
        for _ in (1,)
        if step.intents
    )
    return Ask(
        "I cannot tell where the text after the colon ends and the next request begins. Put the text in quotes, or:",
        options,
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


def _sentence_ends(whole: Phrase) -> list[int]:
    """Return the places before which a new sentence or line begins."""
    places: list[int] = []
    for k in range(1, len(whole)):
        before, here = whole.tokens[k - 1], whole.tokens[k]
        if before.kind == "newline":
            places.append(k)
        elif before.norm in ".!?…" and here.kind != "newline" and before.end < here.start:
            word = whole.tokens[k - 2] if k > 1 else None
            short = (
                word is not None
                and before.norm == "."
                and word.kind == "word"
                and word.end == before.start
                and (word.norm in _ABBREVIATIONS or (len(word.norm) == 1 and word.norm.isalpha()))
            )
            if not short and here.norm not in ".!?…,;":
                places.append(k)
    return places


def _cut_sentences(whole: Phrase) -> list[_Step]:
    """Cut at sentence ends and line breaks, from the right, where what follows is understood."""
    if not whole.tokens:
        return []
    places = _sentence_ends(whole)
    if len(places) > _MOST_CUTS or len(whole) > 3 * LONGEST:
        return [_Step(whole, parse(whole))]
    steps: list[_Step] = []
    end = len(whole)
    for k in [*reversed(places), 0]:
        piece = whole.part(k, end)
        found = _cut_sentence(piece)
        understood = all(step.intents is not None for step in found)
        if k and not understood and not _comment(piece):
            continue
        if k and not understood:
            found = [_Step(piece, (Talk("comment"),))]
        sequel = k > 0 and (
            whole.tokens[k - 1].kind == "newline"
            or bool(_SEQUENCE.match(" ".join(t.norm for t in piece.tokens[:3])))
        )
        found[0] = _Step(found[0].phrase, found[0].intents, sequel)
        steps[:0] = found
        end = k
    return _rejoin(whole, steps)


def _comment(piece: Phrase) -> bool:
    """Whether a sentence only comments on a request ("It sounds better.")."""
    bare = strip_fillers(piece).shadow
    return bool(_REASON.match(bare)) and not _SECOND_THOUGHT.search(piece.shadow) and len(piece) < 30


def _open_ended(step: _Step) -> bool:
    """Whether a step ends in unquoted content that a following sentence may belong to."""
    if not step.intents or not isinstance(
        step.intents[-1], AddText | SetPrompt | AddTest | ChangeTest | ReplaceText | Ask
    ):
        return False
    words = [token for token in step.phrase.tokens if token.kind not in ("mark", "newline")]
    if not words or words[-1].kind in ("quote", "content"):
        return False
    last = step.intents[-1]
    if isinstance(last, Ask):
        return any(
            opt.intents and isinstance(opt.intents[-1], AddText | SetPrompt | AddTest | ChangeTest)
            for opt in last.options
        )
    text = (
        last.new
        if isinstance(last, ReplaceText)
        else last.content
        if isinstance(last, AddTest | ChangeTest)
        else last.text
    )
    if isinstance(last, AddTest) and last.topic:
        return False
    tail = step.phrase.source[words[-1].start : words[-1].end]
    return tail in text[-len(tail) - 3 :]


def _rejoin(whole: Phrase, steps: list[_Step]) -> list[_Step]:
    """Give sentences back to unquoted content they may belong to; ask where a request follows it."""
    for k, step in enumerate(steps[:-1]):
        if not _open_ended(step):
            continue
        rest = steps[k + 1 :]
        if rest[0].sequel and all(is_request(other.intents) or _polite(other) for other in rest):
            continue
        if all(_polite(other) for other in rest):
            continue
        start = whole.tokens.index(step.phrase.tokens[0])
        joined = parse(whole.part(start))
        if any(is_request(other.intents) for other in rest) or joined is None:
            return [*steps[:k], _Step(whole.part(start), None)]
        return [*steps[:k], _Step(whole.part(start), joined)]
    return steps


def _polite(step: _Step) -> bool:
    return bool(step.intents) and all(
        isinstance(i, Talk) and i.subject in ("thanks", "hello", "farewell", "comment")
        for i in step.intents or ()
    )


def _bare_show(piece: Phrase, made: tuple[Intent, ...] | None) -> bool:
    """Whether a piece is nothing but a noun ("the tests"), which is no step of its own."""
    first = strip_fillers(piece).tokens[:1]
    return (
        bool(made) and all(isinstance(i, Show) for i in made or ()) and bool(first) and first[0].norm in _BARE
    )


def _cut_sentence(sentence: Phrase) -> list[_Step]:
    """Cut one sentence at its connectors, from the right, where what follows is a request."""
    whole = parse(sentence)
    if whole and (isinstance(whole[0], Hold) or (mood_of(sentence) is not None and not is_request(whole))):
        return _cut_negation(sentence, whole)
    if whole and all(
        isinstance(i, Talk) and i.subject not in ("creative", "elsewhere", "connect") for i in whole
    ):
        return [_Step(sentence, whole)]
    if whole and isinstance(whole[0], DeleteTests) and whole[0].keep:
        return [_Step(sentence, whole)]
    places = [k for k, token in enumerate(sentence.tokens) if token.norm in _CONNECTORS and k]
    if len(places) > _MOST_CUTS or len(sentence) > 3 * LONGEST:
        return [_Step(sentence, whole)]
    steps: list[_Step] = []
    end = len(sentence)
    first = strip_fillers(sentence).tokens[:1]
    for k in reversed(places):
        piece = sentence.part(k + 1, end)
        if not piece.tokens or piece.tokens[0].norm in _CONNECTORS:
            continue
        made = parse(piece)
        if not _stands_alone(piece, made):
            made = _with_verb(first, piece, sentence.part(0, k))
            if made is None:
                continue
        steps.insert(0, _Step(piece, made))
        end = k
    while end and sentence.tokens[end - 1].norm in _CONNECTORS:
        end -= 1
    left = sentence.part(0, end)
    if not left.tokens:
        return steps or [_Step(sentence, whole)]
    made = whole if end == len(sentence) else parse(left)
    # "In the prompt, replace …" is one step although its right side would stand alone.
    if made is None and is_request(whole):
        return [_Step(sentence, whole)]
    if made is None and _gives_reason(sentence, end, left):
        made = (Talk("comment"),)
    return [_Step(left, made), *steps]


def _gives_reason(sentence: Phrase, end: int, left: Phrase) -> bool:
    """Whether the left side is only why: "I want to see how it copes with grief, so add …"."""
    between = {token.norm for token in sentence.tokens[end : end + 3]}
    return bool(between & _THEREFORE) and not _SECOND_THOUGHT.search(left.shadow)


def _stands_alone(piece: Phrase, made: tuple[Intent, ...] | None) -> bool:
    if not made or _bare_show(piece, made):
        return False
    if is_request(made):
        return True
    intent = made[0]
    if isinstance(intent, Ask):
        return intent.blank in ("name", "test", "prompt", "content") or len(intent.options) > 1
    if isinstance(intent, Hold):
        return intent.mood == "negated" and bool(
            re.match(r"(?:do not|don't|never|keep|leave)\b", strip_fillers(piece).shadow)
        )
    return (
        isinstance(intent, Talk)
        and intent.subject in ("creative", "elsewhere", "memory", "help")
        and bool(
            re.match(
                r"(?:make|translate|improve|rewrite|shorten|give it|run|create a (?:new )?persona|delete|clear|tell|export|what|which)\b",
                strip_fillers(piece).shadow,
            )
        )
    )


def _with_verb(first: tuple[Token, ...], piece: Phrase, left: Phrase) -> tuple[Intent, ...] | None:
    """Read `'c' with 'd'` as `replace 'c' with 'd'` when the verb was said before and both sides are whole."""
    if not first or first[0].kind != "word" or len(piece) < 3 or not piece.quotes():
        return None
    if piece.tokens[0].kind != "quote" and piece.tokens[0].norm not in (
        "the",
        "its",
        "my",
        "test",
        "line",
        "name",
    ):
        return None
    made = parse(Phrase(piece.source, (*first, *piece.tokens)))
    if is_request(made) and is_request(parse(left)):
        return made
    return None


def _cut_negation(sentence: Phrase, whole: tuple[Intent, ...]) -> list[_Step]:
    """Keep a negated sentence whole, but for what follows "but" or "instead", or repeats its verb."""
    hold = whole[0]
    if not isinstance(hold, Hold) or hold.mood != "negated":
        return [_Step(sentence, whole)]
    verbs = {token.norm for token in strip_fillers(sentence).tokens[:4]}
    for k, token in enumerate(sentence.tokens[:LONGEST]):
        if token.norm not in ("but", ",", ";", "instead", "-", "and") or k + 1 >= len(sentence):
            continue
        piece = sentence.part(k + 1)
        strong = token.norm in ("but", "instead", ";", "-") or piece.tokens[0].norm in (
            "just",
            "instead",
            "only",
            "rather",
            "but",
            *verbs - {"it", "the"},
        )
        if strong and token.norm != "and":
            found = _cut_sentence(piece)
            if all(is_request(step.intents) for step in found):
                return [_Step(sentence.part(0, k), (hold,)), *found]
    return [_Step(sentence, whole)]
