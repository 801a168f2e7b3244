"""The conversation as exchanges, and a short answer understood in the light of the question before it.

Nothing is kept between requests: what was asked last is found again by running the earlier exchanges through
the same plan, with the results the messages hold.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from agent.models.offline import speech
from agent.models.offline.antecedent import Told, corrected, open_pronoun, put_in, told_by
from agent.models.offline.draft import Call
from agent.models.offline.free_answer import filled_by, speaks_aside
from agent.models.offline.grammar import is_request
from agent.models.offline.intents import (
    AddTest,
    Ask,
    ChangeTest,
    DeleteTests,
    DeleteThing,
    Hold,
    Intent,
    Option,
    Reference,
    RemoveText,
    Rename,
    Show,
    ShowTest,
    Talk,
)
from agent.models.offline.long import LONGEST_READ
from agent.models.offline.mood import mood_of, unwrap
from agent.models.offline.names import is_talk, name_of
from agent.models.offline.patterns import fit
from agent.models.offline.plan import Answer, Result, make_plan
from agent.models.offline.reference import NUMBER, ORDINAL, TestInput, number, ordinal
from agent.models.offline.reference import parse as parse_reference
from agent.models.offline.split import Understood, understand, understand_phrase
from agent.models.offline.stale import Seen, json_object, test_inputs_of
from agent.models.offline.topics import all_about, best
from agent.models.offline.words import Phrase, phrase

_REMEMBERED = 6
"""Exchanges that are run again to find the question a short answer belongs to."""
_ASIDE = "[The owner changed the persona's file"
_GO_ON = "Please continue."
_READING = ("get_", "list_")
"""How the names of tools that change nothing begin."""
OF_PROGRAM = (_GO_ON, "The task is still open. ")
"""How what the program says in the person's place begins."""


@dataclass
class Exchange:
    """What the person said last, and the calls, results and words that followed."""

    said: str
    unread: list[str] = field(default_factory=list)  # what was said just before, and nothing followed
    calls: list[tuple[str, str]] = field(default_factory=list)  # tool_use id, name
    results: dict[str, Result] = field(default_factory=dict)
    answered: str = ""


def exchanges(messages: Sequence[Mapping[str, Any]]) -> list[Exchange]:
    """Return the conversation's exchanges, oldest first. Total: whatever is no message is passed over."""
    found: list[Exchange] = []
    for message in messages:
        blocks = _blocks(message)
        if message.get("role") == "user":
            said = [text for block in blocks if (text := _text(block)) and not text.startswith(_ASIDE)]
            if found:
                for block in blocks:
                    if block.get("type") == "tool_result":
                        found[-1].results[str(block.get("tool_use_id", ""))] = _result(block)
            if said:
                found.append(
                    Exchange(said[-1], [text for text in said[:-1] if not text.startswith(OF_PROGRAM)])
                )
        elif found:
            for block in blocks:
                if block.get("type") == "tool_use":
                    found[-1].calls.append((str(block.get("id", "")), str(block.get("name", ""))))
                elif text := _text(block):
                    found[-1].answered += text
    return found


def _blocks(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    body = message.get("content") if isinstance(message, Mapping) else None
    if isinstance(body, str):
        return [{"type": "text", "text": body}]
    if isinstance(body, list | tuple):
        return [block for block in body if isinstance(block, Mapping)]
    return []


def _text(block: Mapping[str, Any]) -> str:
    text = block.get("text") if block.get("type") == "text" else ""
    return text if isinstance(text, str) and text.strip() else ""


def _result(block: Mapping[str, Any]) -> Result:
    body = block.get("content", "")
    if not isinstance(body, str):
        body = (
            "".join(_text(part) for part in body if isinstance(part, Mapping))
            if isinstance(body, list | tuple)
            else ""
        )
    return Result(body, block.get("is_error") is True)


def next_step(messages: Sequence[Mapping[str, Any]], tools: Collection[str]) -> Call | Answer:
    """Return what to do now: the next tool call, or the closing words."""
    history = exchanges(messages)
    if not history:
        return Answer("I have no message to answer.")
    pending: Ask | None = None
    raised = ""  # the request that `pending` is about
    seen: Seen | None = None
    first = max(0, len(history) - _REMEMBERED)
    before: Intent | None = None
    told: Told | None = None
    unread: list[str] = []
    midway: list[str] = []
    for k in range(first, len(history) - 1):
        understood = interpret(history[k].said, pending, before, told, raised)
        step = _replay(history[k], understood, tools, history[:k], seen)
        before = understood.intents[0] if len(understood.intents) == 1 and not understood.unclear else None
        done = () if understood.unclear or _went_wrong(history[k]) else understood.intents
        told = told_by(done, _listed_in(history[k]), _created_in(history[k]), told)
        asked = step.ask if isinstance(step, Answer) else None
        if asked != pending:
            raised = "" if understood.answers else history[k].said
        pending = asked if asked is not None and _said_it(step, history[k]) else None
        seen = _seen_in(history[k])
        if isinstance(step, Call) and not history[k].answered and not _went_wrong(history[k]):
            changed = any(not name.startswith(_READING) for _, name in history[k].calls)
            (midway if changed else unread).append(history[k].said)
        else:
            unread, midway = [], []
    last = interpret(history[-1].said, pending, before, told, raised)
    step = _replay(history[-1], last, tools, history[:-1], seen)
    unread += history[-1].unread
    if isinstance(step, Answer) and (unread or midway):
        return replace(step, text=f"{step.text}\n\n{speech.left_aside(unread, midway)}")
    return step


def _seen_in(exchange: Exchange) -> Seen:
    """Return the persona as an exchange read it last."""
    persona = _outputs(exchange, "get_persona")
    inputs = _outputs(exchange, "list_test_inputs")
    return Seen(persona[-1] if persona else None, inputs[-1] if inputs else None)


def _went_wrong(exchange: Exchange) -> bool:
    return any(
        exchange.results.get(identity, Result("", True)).is_error for identity, _name in exchange.calls
    )


def _outputs(exchange: Exchange, tool: str) -> list[str]:
    return [
        exchange.results[key].output
        for key, name in exchange.calls
        if name == tool and key in exchange.results
    ]


def _listed_in(exchange: Exchange) -> list[TestInput]:
    """Return the test inputs as an exchange read them last."""
    outputs = _outputs(exchange, "list_test_inputs")
    return test_inputs_of(outputs[-1]) if outputs else []


def _created_in(exchange: Exchange) -> str:
    """Return the id of the one test input an exchange made, or ""."""
    outputs = _outputs(exchange, "create_test_input")
    record = json_object(outputs[0]) if len(outputs) == 1 else None
    return str(record.get("id", "")) if record else ""


def _said_it(step: Call | Answer, exchange: Exchange) -> bool:
    """Whether the question was really put: another model may have answered then."""
    if not isinstance(step, Answer) or step.text in exchange.answered:
        return isinstance(step, Answer)
    return speech.said_in(step.text, exchange.answered)


def _replay(
    exchange: Exchange,
    understood: Understood,
    tools: Collection[str],
    earlier: Sequence[Exchange],
    seen: Seen | None,
) -> Call | Answer:
    helped = any(speech.gave_help(one.answered) for one in earlier)
    plan = make_plan(understood, tools, [one.said for one in earlier], helped, seen)
    try:
        step = next(plan)
        for identity, name in exchange.calls:
            if step.name != name or identity not in exchange.results:
                return Answer(
                    "This request was begun in a way I cannot continue. Please say again what to do; I look at the "
                    "persona first.",
                    declined=True,
                )
            step = plan.send(exchange.results[identity])
    except StopIteration as stop:
        answer: Answer = stop.value
        return answer
    return step


# --- short answers ------------------------------------------------------------------------------------------

_YES = (
    "(?:yes|y|yep|yeah|yup|sure|ok|okay|right|correct|exactly|do it|do that|do so|go ahead|go for "
    "it|please do|yes please|of course|certainly|absolutely|definitely|that one|that's it|that's "
    "the one|that's right|that is right|fine|sounds good|please|agreed|indeed|confirmed|confirm|"
    "affirmative|i do|i did|make it so)"
)
_NO = (
    "(?:no|nope|nah|none|neither|cancel|never mind|nevermind|forget it|forget about it|stop|"
    "nothing|don't|do not|not now|leave it|none of (?:them|those|these|the above)|neither of "
    "(?:them|those)|no thanks|no thank you|abort|wrong)"
)


_SPOKE_OF_TESTS = (Show, ShowTest, AddTest, ChangeTest, DeleteTests)
_OTHER_VERB = re.compile(r"(?:delete|remove|drop|erase) ")
_TAKEN = (DeleteTests, DeleteThing, RemoveText)


def interpret(
    message: str,
    pending: Ask | None,
    before: Intent | None = None,
    told: Told | None = None,
    raised: str = "",
) -> Understood:
    """Return what a message asks for.

    Args:
        message: the person's words.
        pending: the question they may answer.
        before: the one intent of the exchange before.
        told: the one thing that exchange was about: what "it" means.
        raised: the request the question is about; said again, it is no answer.
    """
    if pending is not None and message.casefold().split() == raised.casefold().split():
        return Understood((pending,))
    if pending is not None and len(message) < 4000:
        chosen = _choice(phrase(message), pending)
        if chosen is not None:
            return Understood(chosen, answers=True)
    said = phrase(message if len(message) <= LONGEST_READ else "")
    if isinstance(before, Rename) and (renamed := _corrected(said)):
        return Understood((renamed,))
    if told is not None and pending is None and (meant_so := corrected(said, told)):
        return Understood((meant_so,))
    if message.strip() == _GO_ON:
        return Understood((Talk("memory"),))
    understood = understand(message)
    if isinstance(before, _SPOKE_OF_TESTS) and not (isinstance(before, Show) and "tests" not in before.what):
        understood = replace(understood, loose=())
    if told is not None and pending is None and (open_pronoun(understood.intents) or understood.unclear):
        spelled = put_in(said, told)
        meant = understand_phrase(spelled) if spelled is not None else Understood(())
        added = any(isinstance(i, AddTest) and i.content == told.quoted for i in meant.intents)
        if meant.intents and not meant.unclear and not added and not isinstance(meant.intents[0], Hold):
            return meant
    follows = isinstance(before, DeleteTests) and pending is None and bool(understood.unclear)
    if follows and (more := _and_this(said)):
        return Understood((more,))
    if pending is None or (is_request(understood.intents) and not understood.unclear):
        return understood
    filled = filled_by(message, pending)
    if filled is not None and not speaks_aside(understood, pending):
        return Understood((filled,))
    if pending.options and understood.unclear and len(message) < 400 and len(message.split()) <= 6:
        return Understood((pending,))  # an answer that picks none: the question stands
    return understood


def _and_this(said: Phrase) -> DeleteTests | None:
    """Return the deletion that "and the third" asks for after another: a question, since numbers have moved up."""
    match = fit(
        "(?:(?:and|also|plus|then|now|oh|too|&)(?: ,)* )+(?:delete )?{r}(?: (?:,|too|also|as well|please))*",
        said,
    )
    references = parse_reference(said.group(match, "r"), noun=True) if match else None
    if not references or len(said) > 12:
        return None
    counted = any(one.kind not in ("topic", "exact") for one in references)
    return DeleteTests((Reference("pronoun"),) if counted else references, sure=False)


def _corrected(said: Phrase) -> Rename | None:
    """Return the rename that "no, Luna" or "sorry, I meant Luna" makes of the one before it."""
    match = fit(
        "(?:(?:no|sorry|oops|actually|wait|not that|hm+|ah|oh)(?: [,.!-])* ?)*(?:no|sorry|oops|i meant|"
        "i mean|i wanted|make it|make that|rather)(?: [,:])* {x}",
        said,
    )
    part = said.group(match, "x") if match else None
    name = name_of(part, asked=True) if part is not None and len(part) <= 5 else None
    if part is None or name is None or not (part.quoted or name[:1].isupper() or not name[:1].isascii()):
        return None
    if not part.quoted and is_talk(name):
        return None  # "no, Thanks"
    return Rename(name)


def _choice(said: Phrase, ask: Ask) -> tuple[Intent, ...] | None:
    """Return the intents of the option a short answer picks, or None when it picks none."""
    if len(said) > 24:
        return None
    if fit(f"{_NO}(?: (?:[,.!]|please|thanks|thank you|then|of them|just|leave it|as it is))*", said):
        return (Talk("nothing"),)
    options = ask.options
    if not options:
        return None
    if fit(f"{_YES}(?: (?:[,.!]|{_YES}|thanks|thank you|then|that|it|now|\\?))*", said):
        return options[0].intents if len(options) == 1 and not said.shadow.endswith("?") else (ask,)
    if len(options) == 1 and (
        match := fit(f"{_YES} (?:, )?(?:and|then|also|but|,)(?: also| then)? {{x}}", said)
    ):
        more = said.group(match, "x")
        also = understand(more.raw()) if more is not None else Understood(())
        return (*options[0].intents, *also.intents) if is_request(also.intents) and not also.unclear else None
    bare = unwrap(said).phrase
    if _OTHER_VERB.match(bare.shadow + " ") and not any(isinstance(i, _TAKEN) for i in options[0].intents):
        return None
    if match := fit("(?:the )?(?:test|test input|input) (?:number |# )?(?P<n>\\d{1,4})", bare):
        placed = [option for option in options if option.place == int(match["n"])]
        return placed[0].intents if len(placed) == 1 else (ask,)
    if match := fit("(?:no|not that)(?: ,)? {x}", bare):
        bare = bare.group(match, "x") or bare
    lead = (
        r"(?:(?:i mean|i meant|take|choose|pick|use|option|number|no|do|go with|the|delete|remove|"
        r"i want|it's|it is|as an|as a|as|to|into|in|#|answer|yes|,|please|"
        r"drop|let's go with|let's take)(?: [.,])? )*"
    )
    if match := fit(
        rf"{lead}(?P<n>{ORDINAL})(?: (?:one|option|choice|suggestion|of them|line|test|test input|"
        rf"place|version|please))*",
        bare,
    ):
        place = ordinal(match["n"]) or 0
        verb = _OTHER_VERB.match(bare.shadow) is not None
        if place > 0 and (verb or re.search(r" test(?: input)?$", match.group().rstrip(" .!?"))):
            # "Delete the first" and "the first test" count the test inputs, not what I offer.
            placed = [option for option in options if option.place == place]
            if placed or not any(option.place for option in options):
                return placed[0].intents if placed else None
            return None if verb else (ask,)
        return _nth(options, place)
    if match := fit(rf"{lead}(?P<n>{NUMBER})(?: (?:please|[)]))*", bare):
        return _nth(options, number(match["n"]))
    chosen = _listed(bare, options)
    if chosen is not None:
        return chosen
    if fit(
        "(?:both|all|all of it|the whole (?:of it|thing)|all of them|both of them|all of those|everything|every one|the lot|all three|"
        "each)(?: please)?",
        bare,
    ):
        if ask.several:
            return tuple(dict.fromkeys(intent for option in options for intent in option.intents))
        keyed = [option for option in options if "all every" in option.keys]
        return keyed[0].intents if len(keyed) == 1 else (ask,)
    if said.quoted and ask.blank:
        return None  # the words themselves
    if match := fit(rf"{lead}{{x}}(?: (?:one|option|line|test|input|test input|please))*", bare):
        part = bare.group(match, "x")
        if part is not None and len(part) <= 8 and mood_of(said) is None and not _asks_by_itself(said):
            places = _by_words(part, options)
            if len(places) == 1 and not (ask.blank == "name" and _respelled(part, options[places[0]])):
                return options[places[0]].intents
    return None


def _listed(said: Phrase, options: Sequence[Option]) -> tuple[Intent, ...] | None:
    """Return the deletions "1 and 3" or "the first and the last" pick, told one by one."""
    pieces = re.split(r" (?:,|and|&|, and) ", said.shadow)
    places = [
        ordinal(piece.removeprefix("the ")) or number(piece.removeprefix("number ")) for piece in pieces
    ]
    if len(pieces) < 2 or not all(places):
        return None
    chosen = [_nth(options, place) for place in dict.fromkeys(places)]
    if not all(one and len(one) == 1 and isinstance(one[0], DeleteTests) for one in chosen):
        return None
    return tuple(intent for one in chosen if one for intent in one)


def _by_words(part: Phrase, options: Sequence[Option]) -> list[int]:
    wanted = part.said().strip()
    same = [
        k
        for k, option in enumerate(options)
        if option.keys and wanted.casefold() == option.keys.split(" ", 1)[0].casefold()
    ]
    if len(same) == 1 or not any(char.isalpha() for char in wanted):
        return same
    texts = [option.keys for option in options]
    return [k for k in best(wanted, texts) if k in all_about(wanted, texts)]


def _respelled(part: Phrase, option: Option) -> bool:
    """Whether an answer is the name an option has, with other capitals: then it is the answer."""
    return part.said() != option.keys and part.said().casefold() == option.keys.casefold()


def _asks_by_itself(said: Phrase) -> bool:
    """Whether a message is a whole request of its own, whatever was asked before."""
    return is_request(understand(said.source).intents)


def _nth(options: Sequence[Option], place: int | None) -> tuple[Intent, ...] | None:
    if place is None:
        return None
    at = place - 1 if place > 0 else len(options) + place
    return options[at].intents if 0 <= at < len(options) else None
