"""From intents to tool calls: a generator that yields the next call, is sent its result, and returns the answer.

The model is stateless: on each request the plan runs anew from the beginning and is fed the results that
the conversation already holds. Everything is read and every reference settled before the first change, so
that a request is done as a whole or not begun.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterable, Sequence
from dataclasses import dataclass, replace

from agent.models.offline import prepare, speech
from agent.models.offline.draft import Call, Done, Draft
from agent.models.offline.intents import (
    AddText,
    Ask,
    ChangeTest,
    CopyTest,
    DeleteTests,
    DeleteThing,
    ExtendTest,
    Hold,
    Intent,
    Option,
    Reference,
    RemoveText,
    Rename,
    ReplaceText,
    SearchPrompt,
    SetPrompt,
    Show,
    ShowSpot,
    ShowTest,
    Talk,
    Undo,
)
from agent.models.offline.split import Understood
from agent.models.offline.stale import LISTED, Seen, json_object, speaks_of, stale, test_inputs_of, touches


@dataclass(frozen=True, slots=True)
class Result:
    """A tool's result as the conversation holds it."""

    output: str
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """The closing words.

    Attributes:
        text: the words.
        ask: the question they are, where a following message may answer it.
        declined: they say that what was asked is not done.
    """

    text: str
    ask: Ask | None = None
    declined: bool = False


Plan = Generator[Call, Result, Answer]


class _ReadFailed(Exception):
    """A reading tool gave an error or something unreadable."""

    def __init__(self, tool: str, output: str) -> None:
        super().__init__(tool)
        self.tool, self.output = tool, output


def _reads(intent: Intent) -> tuple[str, ...]:
    """Return what must be read before an intent can be prepared, in the order it is read."""
    if isinstance(intent, Show):
        tests = [part for part in intent.what if part in ("tests", "count")]
        rest = [part for part in intent.what if part not in ("tests", "count")]
        order = (["get_persona"] if rest else []) + (["list_test_inputs"] if tests else [])
        return tuple(order[::-1] if intent.what[0] in ("tests", "count") else order)
    if isinstance(intent, ReplaceText | RemoveText):
        if isinstance(intent.where, Reference):
            return ("list_test_inputs",)
        return ("get_persona",) if intent.where == "prompt" else ("get_persona", "list_test_inputs")
    if isinstance(intent, AddText | SetPrompt | SearchPrompt | ShowSpot):
        return ("get_persona",)
    if isinstance(intent, Rename) and intent.was:
        return ("get_persona",)
    if isinstance(intent, DeleteThing):
        return ("get_persona", "list_test_inputs")
    if isinstance(intent, ShowTest | ChangeTest | ExtendTest | CopyTest | DeleteTests):
        return ("list_test_inputs",)
    return ()


def make_plan(
    understood: Understood,
    tools: Collection[str],
    earlier: Sequence[str] = (),
    helped: bool = False,
    seen: Seen | None = None,
) -> Plan:
    """Return the plan for what was understood.

    Args:
        understood: the steps of the message.
        tools: names of the tools the request offers; no other is called.
        earlier: what the person said before in this conversation, oldest first.
        helped: whether this conversation holds the whole help already.
        seen: the persona as the exchange before read it: what a question was asked about.
    """
    intents = understood.intents
    seen = seen if understood.answers else None
    if understood.unclear or not intents:
        return Answer(speech.not_understood(understood.unclear, bool(intents), helped), declined=True)
    for k, intent in enumerate(intents):
        if isinstance(intent, Ask):
            yield from _look_before(intent, tools)
            return _question(intent, intents, k)
    if clash := _contradiction(intents):
        return _question(clash, (clash,), 0)
    blocking = [i for i in intents if isinstance(i, Talk) and i.subject in _BEYOND_ME]
    if blocking and len(intents) > 1:
        return Answer(
            "I have not begun, because one part of your request is beyond me. "
            + speech.talked(blocking[0], helped=helped),
            declined=True,
        )
    reads = [tool for intent in intents for tool in _reads(intent)]
    if understood.loose and "get_persona" in tools:
        reads.append("get_persona")
    undoes = ["undo"] if any(isinstance(intent, Undo) for intent in intents) else []
    if answer := _not_offered([*undoes, *reads], tools):
        return answer
    done: list[str] = []
    try:
        if seen is not None and isinstance(intents[0], Undo):
            both = [tool for tool in _ALL_READS if tool in tools]
            if changed := stale(intents, (yield from _read(both)), seen):
                return _question(changed, (changed,), 0)
        if isinstance(intents[0], Undo):
            answer = yield from _undo(intents[0], done)
            if answer is not None:
                return answer
            intents = intents[1:]
            if not intents:
                return Answer("\n\n".join(done))
        elif any(isinstance(intent, Undo) for intent in intents):
            return Answer(
                "Let us do the undo by itself, before or after the rest; I have changed nothing so far.",
                declined=True,
            )
        draft = yield from _read(reads)
    except _ReadFailed as failed:
        lead = "\n\n".join([*done, ""]) if done else ""
        return Answer(
            f"{lead}I could not read the persona: `{failed.tool}` reported: "
            f"{speech.quote(failed.output, 400)}. {'Nothing else' if done else 'Nothing'} was changed."
        )
    if seen is not None and not done and (changed := stale(intents, draft, seen)):
        return _question(changed, (changed,), 0)
    if word := next((word for word in understood.loose if speaks_of(draft.prompt, word)), ""):
        meant = Option("I mean the test inputs", intents, "test input")
        has = "a list" if word in LISTED else speech.quote(word)
        told = f"The system prompt has {has} in it too, so I am not sure that you mean a test input."
        return _question(Ask(told, (meant,)), intents[:1], 0, done)
    return (yield from _carry_out(intents, draft, tools, done, earlier, helped))


_BEYOND_ME = ("creative", "elsewhere", "persona-voice", "redo", "order")
"""Subjects of `Talk` whose words say that I cannot do what was asked."""
_ALL_READS = ("get_persona", "list_test_inputs")


def _look_before(ask: Ask, tools: Collection[str]) -> Generator[Call, Result, None]:
    """Read what the options of a question would change: an answer holds for that and for nothing newer."""
    risky = [intent for option in ask.options for intent in option.intents if touches(intent)]
    undoes = [tool for tool in _ALL_READS if any(isinstance(intent, Undo) for intent in risky)]
    for tool in dict.fromkeys([*undoes, *(tool for intent in risky for tool in _reads(intent))]):
        if tool in tools:
            yield Call(tool, {}, "")


def _carry_out(
    intents: tuple[Intent, ...],
    draft: Draft,
    tools: Collection[str],
    done: list[str],
    earlier: Sequence[str],
    helped: bool,
) -> Plan:
    work: list[Call | Done] = []
    if len(intents) > 1:
        intents = tuple(prepare.pinned(intent, draft) for intent in intents)
    for k, intent in enumerate(intents):
        if isinstance(intent, Talk):
            work.append(Done(speech.talked(intent, earlier, helped)))
        elif isinstance(intent, Hold):
            work.append(
                Done(
                    speech.held(intent, helped)
                    if all(isinstance(one, Hold) for one in intents)
                    else "I left the other thing you mentioned as it is."
                )
            )
        else:
            prepared = prepare.prepare(intent, draft)
            if isinstance(prepared, Ask):
                return _question(prepared, intents, k, done)
            work.extend(prepared)
    if answer := _not_offered([step.name for step in work if isinstance(step, Call)], tools, done):
        return answer
    for k, step in enumerate(work):
        if isinstance(step, Done):
            done.append(step.text)
            continue
        result = yield step
        if result.is_error:
            return Answer(
                _failed(step, result, done, any(isinstance(later, Call) for later in work[k + 1 :]))
            )
        done.append(step.told(result.output))
    declined = all(_is_declined(intent) for intent in intents)
    return Answer("\n\n".join(text for text in done if text), declined=declined)


def _is_declined(intent: Intent) -> bool:
    """Whether what is said of an intent is that it is not done; "don't delete it" is obeyed."""
    if isinstance(intent, Hold):
        return intent.mood != "negated"
    return isinstance(intent, Talk) and intent.subject in _BEYOND_ME


def _question(ask: Ask, intents: tuple[Intent, ...], at: int, done: Sequence[str] = ()) -> Answer:
    """Turn a question about one step into one about the whole request: each option carries all steps."""
    options = tuple(
        replace(option, intents=(*intents[:at], *option.intents, *intents[at + 1 :]))
        for option in ask.options
    )
    whole = replace(ask, options=options)
    others = len([i for i in intents if not isinstance(i, Talk | Hold)]) > 1
    lead = "One step is unclear, so I have not begun the others." if others else ""
    said = speech.asked(whole, lead)
    asks = ask.options or ask.blank or ask.question.startswith("Which")
    return Answer("\n\n".join([*done, said]), whole, declined=not asks)  # "I find no such line" asks nothing


def _failed(call: Call, result: Result, done: Sequence[str], more: bool) -> str:
    told = (
        f"`{call.name}` did not work: {speech.quote(result.output, 600)}. That change was not made as "
        f"far as I can tell."
    )
    rest = " I have not gone on with the rest." if more else ""
    again = " Ask me again and I will read the persona anew." if "changed since" in result.output else ""
    return "\n\n".join([*done, told + rest + again])


def _contradiction(intents: tuple[Intent, ...]) -> Ask | None:
    """Ask when one message gives two names or two whole prompts."""
    for kind in (Rename, SetPrompt):
        found = [intent for intent in intents if isinstance(intent, kind)]
        if len(found) > 1 and len(set(found)) > 1:
            rest = tuple(intent for intent in intents if not isinstance(intent, kind))
            options = tuple(
                Option(
                    f"{'Rename it to' if isinstance(one, Rename) else 'Set the system prompt to'} "
                    f"{speech.quote(one.name if isinstance(one, Rename) else one.text, 80)}",
                    (one, *rest),
                )
                for one in found
                if isinstance(one, Rename | SetPrompt)
            )
            return Ask("You gave me more than one of the same thing.", options)
    return None


def _not_offered(names: Iterable[str], tools: Collection[str], done: Sequence[str] = ()) -> Answer | None:
    """Return the answer when a tool that is needed is not there; nothing has been begun then."""
    missing = next((name for name in names if name not in tools), None)
    if missing is None:
        return None
    told = f"I would need the tool `{missing}` for that, and it is not offered here. Nothing was changed."
    return Answer("\n\n".join([*done, told]), declined=True)


def _undo(intent: Undo, done: list[str]) -> Generator[Call, Result, Answer | None]:
    for _ in range(min(intent.times, 5)):
        call = Call("undo", {}, "")
        result = yield call
        if result.is_error:
            return Answer(
                "\n\n".join(
                    [
                        *done,
                        f"I could not undo: {speech.quote(result.output, 600)}. Nothing was changed by that.",
                    ]
                )
            )
        done.append(_first_line(result.output) or "Undone.")
    return None


def _first_line(output: str) -> str:
    line = output.strip().split("\n", 1)[0].strip()
    return (
        line if line.casefold().startswith("undo") and len(line) < 300 else "I have undone the last change."
    )


def _read(tools: Iterable[str]) -> Generator[Call, Result, Draft]:
    draft = Draft()
    for tool in dict.fromkeys(tools):
        result = yield Call(tool, {}, "")
        record = json_object(result.output)
        if result.is_error or record is None:
            raise _ReadFailed(tool, result.output)
        if tool == "get_persona":
            draft.name, draft.prompt = str(record.get("name", "")), str(record.get("system_prompt", ""))
            draft.knows_persona = True
        else:
            draft.inputs = test_inputs_of(result.output)
            draft.knows_inputs = True
    return draft
