"""The test inputs: one intent against the list as read, as exact calls or a question."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from agent.models.offline import prompt_text, speech
from agent.models.offline.draft import Call, Done, Draft, Prepared
from agent.models.offline.intents import (
    AddTest,
    Ask,
    ChangeTest,
    DeleteTests,
    Intent,
    Option,
    Reference,
    RemoveText,
    ReplaceText,
    ShowTest,
)
from agent.models.offline.reference import TestInput, describes, is_sure, resolve

_MOST_OPTIONS = 6


def show_tests(intent: ShowTest, draft: Draft) -> Prepared:
    """Show the test inputs that are meant; say of what is not found that there is none."""
    work: list[Call | Done] = []
    for reference in intent.references:
        places = resolve(reference, draft.inputs)
        if not places:
            shown = speech.quote(reference.value) if reference.kind in ("topic", "exact") else "that place"
            work.append(Done(f"I find no test input for {shown}. {speech.listed(draft.inputs)}"))
        work.extend(Done(speech.test_shown(draft.inputs[k], k + 1)) for k in places)
    return work


def _options(places: Sequence[int], draft: Draft, make: Callable[[Reference], Intent]) -> tuple[Option, ...]:
    return tuple(
        Option(
            f"The test input `{draft.inputs[k].id}`: {speech.quote(draft.inputs[k].content, 100)}",
            (make(Reference("exact", draft.inputs[k].id)),),
            f"{draft.inputs[k].id} {draft.inputs[k].content}",
            k + 1,
        )
        for k in places[:_MOST_OPTIONS]
    )


def the_one(intent: Any, reference: Reference, draft: Draft) -> int | Ask:
    """Return the place of the one test input meant, or the question which one it is."""
    places = resolve(reference, draft.inputs)
    if len(places) == 1 and is_sure(reference, draft.inputs[places[0]]):
        return places[0]
    if not draft.inputs:
        return Ask("There are no test inputs yet.")
    if isinstance(intent, DeleteTests):

        def make(chosen: Reference) -> Intent:
            references = tuple(chosen if old == reference else old for old in intent.references)
            keep = tuple(chosen if old == reference else old for old in intent.keep)
            return DeleteTests(references, keep)
    else:

        def make(chosen: Reference) -> Intent:
            if isinstance(intent, ReplaceText | RemoveText):
                return replace(intent, where=chosen)
            return replace(intent, reference=chosen)  # type: ignore[no-any-return]

    if len(places) == 1 and describes(reference):
        question = f"I am not sure which test input {speech.quote(reference.value, 100)} is."
    elif len(places) == 1:
        question = f"I find no test input with all of {speech.quote(reference.value, 100)}."
    elif places:
        question = "Which test input do you mean?"
    elif reference.kind in ("topic", "exact"):
        question = f"I find no test input for {speech.quote(reference.value, 100)}. Which one do you mean?"
    else:
        question = (
            f"There is no such test input; there "
            f"{'is 1' if len(draft.inputs) == 1 else f'are {len(draft.inputs)}'}. Which one do you mean?"
        )
    return Ask(question, _options(places or list(range(len(draft.inputs))), draft, make))


def add_test(intent: AddTest, draft: Draft) -> Prepared:
    """Add a test input."""

    def told(output: str) -> str:
        try:
            identity = json.loads(output).get("id", "")
        except (ValueError, AttributeError, RecursionError):
            identity = ""
        named = f" `{identity}`" if identity else ""
        said = f"I have added the test input{named}:\n\n{speech.read_back(intent.content)}"
        if intent.topic:
            said += f"\n\nYou gave me only the subject ({speech.quote(intent.topic)}), so the words are a plain template of mine; tell me the exact words if you want others."
        return said

    draft.inputs.append(TestInput("", intent.content))
    return [Call("create_test_input", {"content": intent.content}, "", told)]


def write_test(draft: Draft, place: int, content: str) -> Prepared:
    """Give the test input at a place another content."""
    item = draft.inputs[place]
    if not item.id:
        return Ask("I can change a new test input only after it has been added.")
    if item.content == content:
        return [Done(f"The test input `{item.id}` already says that; nothing to change.")]
    draft.inputs[place] = TestInput(item.id, content)
    said = f"Test input {place + 1}, `{item.id}`, now says:\n\n{speech.read_back(content)}"
    return [Call("update_test_input", {"id": item.id, "content": content}, said)]


def change_test(intent: ChangeTest, draft: Draft) -> Prepared:
    """Give the one test input meant another content, or ask which one it is."""
    found = the_one(intent, intent.reference, draft)
    return found if isinstance(found, Ask) else write_test(draft, found, intent.content)


def _find_in_test(
    intent: ReplaceText | RemoveText, draft: Draft
) -> tuple[int, str, list[prompt_text.Span]] | Ask:
    """The place and content of the one test input meant and where the text is in it, or the question which one."""
    assert isinstance(intent.where, Reference)
    found = the_one(intent, intent.where, draft)
    if isinstance(found, Ask):
        return found
    content = draft.inputs[found].content
    return found, content, prompt_text.find(content, intent.spot)


def replace_in_test(intent: ReplaceText, draft: Draft) -> Prepared:
    """Replace a text in the one test input meant, or ask what is meant."""
    place = _find_in_test(intent, draft)
    if isinstance(place, Ask):
        return place
    found, content, spans = place
    if intent.spot.value not in content:
        intent = replace(intent, new=prompt_text.unticked(intent.new))
    if not spans:
        return Ask(
            f"I find no {speech.quote(intent.spot.value)} in the test input `{draft.inputs[found].id}`: "
            f"{speech.quote(content)}."
        )
    if len(spans) > 1 and not intent.every:
        every = Option(f"All {len(spans)} of them", (replace(intent, every=True),), "all every both")
        return Ask(
            f"{speech.quote(intent.spot.value)} occurs {len(spans)} times in the test input.", (every,)
        )
    return write_test(draft, found, _respelled(content, spans, intent.new))


def remove_in_test(intent: RemoveText, draft: Draft) -> Prepared:
    """Take a text out of the one test input meant, or ask what is meant."""
    place = _find_in_test(intent, draft)
    if isinstance(place, Ask):
        return place
    found, content, spans = place
    if len(spans) != 1:
        return Ask(
            f"{speech.quote(intent.spot.value)} occurs {len(spans)} times in the test input "
            f"{speech.quote(content)}."
        )
    (start, end), left = prompt_text.removal(content, spans[0])
    new = content[:start] + left + content[end:]
    return (
        write_test(draft, found, new)
        if new.strip()
        else Ask(
            "That would leave the test input empty. Should I delete it?",
            (
                Option(
                    f"Delete the test input `{draft.inputs[found].id}`",
                    (DeleteTests((Reference("exact", draft.inputs[found].id),)),),
                ),
            ),
        )
    )


def _respelled(text: str, spans: Sequence[prompt_text.Span], new: str) -> str:
    pieces: list[str] = []
    at = 0
    for start, end in spans:
        pieces.extend((text[at:start], new))
        at = end
    return "".join([*pieces, text[at:]])


def delete_tests(intent: DeleteTests, draft: Draft) -> Prepared:
    """Delete the test inputs that are meant, or ask which ones they are."""
    if not draft.inputs:
        return [Done("There are no test inputs to delete.")]
    places: list[int] = []
    for reference in intent.references:
        found = resolve(reference, draft.inputs)
        if found and reference.kind in ("all", "both", "every"):
            places.extend(found)
            continue
        one = the_one(intent, reference, draft)
        if isinstance(one, Ask):
            return replace(one, several=reference.kind == "topic" and len(found) > 1)
        places.append(one)
    for reference in intent.keep:
        kept = the_one(intent, reference, draft)
        if isinstance(kept, Ask):
            return kept
        places = [place for place in places if place != kept]
    chosen = [draft.inputs[place] for place in sorted(set(places))]
    if any(not item.id for item in chosen):
        return Ask("I can delete a new test input only after it has been added.")
    if not intent.sure and chosen:
        exact = tuple(Reference("exact", item.id) for item in chosen)
        named = ", ".join(f"`{item.id}` {speech.quote(item.content, 80)}" for item in chosen[:_MOST_OPTIONS])
        more = f" and {len(chosen) - _MOST_OPTIONS} more" if len(chosen) > _MOST_OPTIONS else ""
        noun = "test input" if len(chosen) == 1 else f"{len(chosen)} test inputs"
        return Ask(
            "I delete test inputs as a whole; the name and the system prompt stay as they are.",
            (Option(f"Delete the {noun} {named}{more}", (DeleteTests(exact),), "delete all"),),
        )
    draft.inputs = [item for item in draft.inputs if item not in chosen]
    return [
        Call(
            "delete_test_input",
            {"id": item.id},
            f"I have deleted the test input `{item.id}`: {speech.quote(item.content)}",
        )
        for item in chosen
    ]
