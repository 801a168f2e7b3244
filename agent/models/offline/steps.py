"""A phrase as steps: sentences, and parts joined by "and", "then" and commas, outside quotes.

A place where the text could be cut is cut only when what stands right of it reads as a request by itself;
so "rename it to Salt and Pepper" stays whole and "rename it to Salt and delete the first test" does not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from agent.models.offline.grammar import is_request, parse
from agent.models.offline.intents import (
    AddTest,
    AddText,
    Ask,
    ChangeTest,
    DeleteTests,
    Hold,
    Intent,
    RemoveText,
    ReplaceText,
    SetPrompt,
    Show,
    Talk,
)
from agent.models.offline.mood import mood_of, strip_fillers, unwrap, without_reason
from agent.models.offline.patterns import LONGEST, fit
from agent.models.offline.reference import APPOSED
from agent.models.offline.words import Phrase, Token

MOST_CUTS = 40
_INTERJECTIONS = frozenset(
    [
        "oops",
        "whoops",
        "ah",
        "oh",
        "argh",
        "ugh",
        "hm",
        "hmm",
        "damn",
        "well",
        "ok",
        "okay",
        "no",
        "yes",
        "right",
        "sorry",
        "wait",
    ]
)
_THEREFORE = frozenset({"so", "therefore", "hence", "thus"})
CONNECTORS = frozenset(
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
        "test",
        "input",
        "inputs",
        "examples",
        "prompt",
        "system",
        "instructions",
        "title",
        "status",
        "overview",
        "summary",
    ]
)
_ABBREVIATIONS = frozenset(
    ["dr", "mr", "mrs", "ms", "st", "prof", "jr", "sr", "no", "vs", "etc", "e.g", "i.e", "eg", "ie", "inc"]
)
_REASON = re.compile(
    r"(?:because|since|as|it's|it is|that's|that is|i (?:like|love|hate|think|don't like|prefer)|"
    r"it (?:sounds|fits|suits|feels|looks)|they|there)\b"
)
_SECOND_THOUGHT = re.compile(
    r"\b(?:no|not|wait|keep|don't|never|actually|unless|if|but|except|hold on|instead|stop|undo|"
    r"cancel|sorry)\b"
)
SEQUENCE = re.compile(
    r"(?:and |& )?(?:then|also|after that|afterwards|next|finally|and|plus|additionally|in "
    r"addition|lastly|besides)\b"
)


@dataclass(frozen=True, slots=True)
class Step:
    phrase: Phrase
    intents: tuple[Intent, ...] | None
    sequel: bool = False  # begins with "then", "also" and the like, or on a new line


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


def cut_sentences(whole: Phrase) -> list[Step]:
    """Cut at sentence ends and line breaks, from the right, where what follows is understood."""
    if not whole.tokens:
        return []
    places = _sentence_ends(whole)
    if len(places) > MOST_CUTS or len(whole) > 3 * LONGEST:
        return [Step(whole, parse(whole))]
    steps: list[Step] = []
    end = len(whole)
    for k in [*reversed(places), 0]:
        piece = whole.part(k, end)
        found = _cut_sentence(piece)
        understood = all(step.intents is not None for step in found)
        if k and not understood and not _comment(piece):
            continue
        if k and not understood:
            found = [Step(piece, (Talk("comment"),))]
        sequel = k > 0 and (
            whole.tokens[k - 1].kind == "newline"
            or bool(SEQUENCE.match(" ".join(t.norm for t in piece.tokens[:3])))
        )
        found[0] = Step(found[0].phrase, found[0].intents, sequel)
        steps[:0] = found
        end = k
    return _rejoin(whole, steps)


def _comment(piece: Phrase) -> bool:
    """Whether a sentence only comments on a request ("It sounds better.")."""
    bare = strip_fillers(piece).shadow
    return bool(_REASON.match(bare)) and not _SECOND_THOUGHT.search(piece.shadow) and len(piece) < 30


def _open_ended(step: Step) -> bool:
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


def _rejoin(whole: Phrase, steps: list[Step]) -> list[Step]:
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
            return [*steps[:k], Step(whole.part(start), None)]
        return [*steps[:k], Step(whole.part(start), joined)]
    return steps


def _polite(step: Step) -> bool:
    return bool(step.intents) and all(
        isinstance(i, Talk) and i.subject in ("thanks", "hello", "farewell", "comment")
        for i in step.intents or ()
    )


def bare_show(piece: Phrase, made: tuple[Intent, ...] | None) -> bool:
    """Whether a piece is nothing but a noun ("the tests"), which is no step of its own."""
    first = strip_fillers(piece).tokens[:1]
    return (
        bool(made) and all(isinstance(i, Show) for i in made or ()) and bool(first) and first[0].norm in _BARE
    )


def _cut_sentence(sentence: Phrase) -> list[Step]:
    """Cut one sentence at its connectors, from the right, where what follows is a request."""
    whole = parse(sentence)
    if whole is None and (located := _cut_located(sentence)):
        return located
    if whole and (isinstance(whole[0], Hold) or (mood_of(sentence) is not None and not is_request(whole))):
        return _cut_negation(sentence, whole)
    if whole and all(
        isinstance(i, Talk) and i.subject not in ("creative", "elsewhere", "connect") for i in whole
    ):
        return [Step(sentence, whole)]
    if whole and isinstance(whole[0], DeleteTests) and whole[0].keep:
        return [Step(sentence, whole)]
    places = [k for k, token in enumerate(sentence.tokens) if token.norm in CONNECTORS and k]
    if len(places) > MOST_CUTS or len(sentence) > 3 * LONGEST:
        return [Step(sentence, whole)]
    steps: list[Step] = []
    end = len(sentence)
    first = strip_fillers(sentence).tokens[:1]
    for k in reversed(places):
        piece = sentence.part(k + 1, end)
        if not piece.tokens or piece.tokens[0].norm in CONNECTORS:
            continue
        if sentence.tokens[k].norm == "," and APPOSED.match(piece.shadow):
            continue  # "the second test, the one about math"
        if without_reason(sentence.part(0, end)) is not None and is_request(parse(sentence.part(0, end))):
            continue
        made = parse(piece)
        if not _stands_alone(piece, made):
            made = _with_verb(first, piece, sentence.part(0, k))
            if made is None:
                continue
        steps.insert(0, Step(piece, made))
        end = k
    while end and sentence.tokens[end - 1].norm in CONNECTORS:
        end -= 1
    left = sentence.part(0, end)
    if not left.tokens:
        return steps or [Step(sentence, whole)]
    made = whole if end == len(sentence) else parse(left)
    if steps and all(token.norm in _INTERJECTIONS or token.kind == "mark" for token in left.tokens):
        return steps  # "oops, undo"
    # "In the prompt, replace …" is one step although its right side would stand alone.
    if (made is None or isinstance(made[0], Hold)) and is_request(whole):
        return [Step(sentence, whole)]
    if made is None and _gives_reason(sentence, end, left):
        made = (Talk("comment"),)
    return [Step(left, made), *steps]


def _cut_located(sentence: Phrase) -> list[Step] | None:
    """Cut "in the prompt, replace 'a' with 'b' and 'c' with 'd'": the place holds for every step."""
    match = fit("(?:in|inside|within) <prompt> ,? ?{x}", unwrap(sentence).phrase)
    rest = unwrap(sentence).phrase.group(match, "x") if match else None
    if rest is None:
        return None
    steps = _cut_sentence(rest)
    made = [intent for step in steps for intent in step.intents or (Hold("question"),)]
    if len(steps) < 2 or not all(isinstance(i, ReplaceText | RemoveText | AddText) for i in made):
        return None
    if any(isinstance(i, ReplaceText | RemoveText) and i.where not in (None, "prompt") for i in made):
        return None
    return [
        Step(
            step.phrase,
            tuple(
                replace(i, where="prompt") if isinstance(i, ReplaceText | RemoveText) else i
                for i in step.intents or ()
            ),
        )
        for step in steps
    ]


def _gives_reason(sentence: Phrase, end: int, left: Phrase) -> bool:
    """Whether the left side is only why: "I want to see how it copes with grief, so add …"."""
    between = {token.norm for token in sentence.tokens[end : end + 3]}
    if _SECOND_THOUGHT.search(left.shadow):
        return False
    if between & _THEREFORE:
        return True
    asked = " ".join(token.norm for token in sentence.tokens[end + 1 : end + 6])
    return bool(_NARRATED.match(strip_fillers(left).shadow) and _ASKS.match(asked))


_NARRATED = re.compile(
    "i(?:'m| am| was|'ve been| have been|'ve| have)?(?: just| currently| only)? (?:looking|reading|playing|testing|"
    "trying|working|using|going (?:over|through)|having|looked|read|tried|tested|had a look)\\b"
)
_ASKS = re.compile(
    "(?:please|could you|can you|would you|will you|maybe|i'd like|i would like|i want|let's|lets)\\b"
)


def _stands_alone(piece: Phrase, made: tuple[Intent, ...] | None) -> bool:
    if not made or bare_show(piece, made):
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
                r"(?:make|translate|improve|rewrite|shorten|give it|run|create a (?:new )?persona|delete|clear|"
                r"tell|export|what|which)\b",
                strip_fillers(piece).shadow,
            )
        )
    )


def _with_verb(first: tuple[Token, ...], piece: Phrase, left: Phrase) -> tuple[Intent, ...] | None:
    """Read `'c' with 'd'` as `replace 'c' with 'd'` when the verb was said before and both sides are whole."""
    if not first or first[0].kind != "word" or len(piece) < 3:
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
    before = parse(left)
    if not made or not before or not is_request(made) or not is_request(before):
        return None
    # Without quotes only what is taken away may go on: "delete the first test and the last line".
    taken = (DeleteTests, RemoveText)
    return made if piece.quotes() or (isinstance(made[0], taken) and isinstance(before[0], taken)) else None


def _cut_negation(sentence: Phrase, whole: tuple[Intent, ...]) -> list[Step]:
    """Keep a negated sentence whole, but for what follows "but" or "instead", or repeats its verb."""
    hold = whole[0]
    if not isinstance(hold, Hold) or hold.mood != "negated":
        return [Step(sentence, whole)]
    verbs = {token.norm for token in strip_fillers(sentence).tokens[:4]}
    for k, token in enumerate(sentence.tokens[:LONGEST]):
        if token.norm not in ("but", ",", ";", "instead", "-", "and") or k + 1 >= len(sentence):
            continue
        piece = sentence.part(k + 1)
        strong = (
            verbs >= {"instead", "of"}
            or token.norm in ("but", "instead", ";", "-")
            or piece.tokens[0].norm
            in (
                "just",
                "instead",
                "only",
                "rather",
                "but",
                *verbs - {"it", "the"},
            )
        )
        if strong and token.norm != "and":
            found = _cut_sentence(piece)
            if all(is_request(step.intents) for step in found):
                return [Step(sentence.part(0, k), (hold,)), *found]
    return [Step(sentence, whole)]
