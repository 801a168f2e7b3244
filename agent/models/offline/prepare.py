"""One intent against what was read: the exact tool calls, or the question that has to be answered first."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from agent.models.offline import prompt_text, speech
from agent.models.offline.intents import (
    AddTest,
    AddText,
    Ask,
    ChangeTest,
    CopyTest,
    DeleteTests,
    DeleteThing,
    ExtendTest,
    Intent,
    KeepVisible,
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
    Spot,
)
from agent.models.offline.reference import TestInput, resolve

_MOST_OPTIONS = 6


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call to make; `said` is what to tell once it worked."""

    name: str
    input: Mapping[str, Any]
    said: str
    read_back: Callable[[str], str] | None = None

    def told(self, output: str) -> str:
        """Return what to say about the call, given its result."""
        return self.read_back(output) if self.read_back else self.said


@dataclass(frozen=True, slots=True)
class Done:
    """Nothing to call: words for the answer."""

    text: str


@dataclass
class Draft:
    """The persona as read, and as it will be after the steps prepared so far."""

    name: str = ""
    prompt: str = ""
    inputs: list[TestInput] = field(default_factory=list)
    knows_persona: bool = False


Prepared = list[Call | Done] | Ask


def prepare(intent: Intent, draft: Draft) -> Prepared:
    """Return the calls for one intent, and note in `draft` what they will have changed."""
    if isinstance(intent, Rename):
        was = f" (it was {speech.quote(draft.name)})" if draft.knows_persona else ""
        draft.name = intent.name
        return [
            Call(
                "update_persona_name",
                {"name": intent.name},
                f"The persona is now called {speech.quote(intent.name)}{was}.",
            )
        ]
    if isinstance(intent, Show):
        return [Done(text) for text in _shown(intent, draft)]
    if isinstance(intent, KeepVisible):
        return [Call("keep_output_visible", {}, "The output stays on the screen until you dismiss it.")]
    if isinstance(intent, SearchPrompt):
        return _search(intent, draft)
    if isinstance(intent, ShowSpot):
        spans = prompt_text.find(draft.prompt, intent.spot)
        if not spans:
            return [
                Done(
                    f"The system prompt has no such {intent.spot.kind}: it has {_count_lines(draft.prompt)}."
                )
            ]
        return [Done(speech.block(draft.prompt[spans[0][0] : spans[0][1]]))]
    if isinstance(intent, SetPrompt):
        draft.prompt = intent.text
        said = (
            f"The system prompt is now:\n\n{speech.fenced(intent.text)}"
            if intent.text.strip()
            else "The system prompt is now empty."
        )
        return [Call("update_system_prompt", {"system_prompt": intent.text}, said)]
    if isinstance(intent, AddText):
        return _add(intent, draft)
    if isinstance(intent, ReplaceText):
        return (
            _replace_in_test(intent, draft)
            if isinstance(intent.where, Reference)
            else _replace(intent, draft)
        )
    if isinstance(intent, RemoveText):
        return (
            _remove_in_test(intent, draft) if isinstance(intent.where, Reference) else _remove(intent, draft)
        )
    return _on_tests(intent, draft)


def _on_tests(intent: Intent, draft: Draft) -> Prepared:
    if isinstance(intent, AddTest):
        return _add_test(intent, draft)
    if isinstance(intent, ShowTest):
        return _show_tests(intent, draft)
    if isinstance(intent, ChangeTest):
        return _change_test(intent, draft)
    if isinstance(intent, ExtendTest):
        found = _the_one(intent, intent.reference, draft)
        if isinstance(found, Ask):
            return found
        item = draft.inputs[found]
        glue = "\n" if "\n" in item.content else " "
        parts = (intent.text, item.content) if intent.at_start else (item.content.rstrip("\n"), intent.text)
        return _write_test(draft, found, glue.join(parts))
    if isinstance(intent, CopyTest):
        found = _the_one(intent, intent.reference, draft)
        return found if isinstance(found, Ask) else _add_test(AddTest(draft.inputs[found].content), draft)
    if isinstance(intent, DeleteTests):
        return _delete_tests(intent, draft)
    if isinstance(intent, DeleteThing):
        return _delete_thing(intent, draft)
    return []


# --- showing ------------------------------------------------------------------------------------------------


def _shown(intent: Show, draft: Draft) -> list[str]:
    texts: list[str] = []
    for part in intent.what:
        if part == "name":
            texts.append(f"The persona's name is {speech.quote(draft.name)}.")
        elif part == "prompt":
            texts.append(speech.prompt_shown(draft.prompt))
        elif part == "size":
            words = len(draft.prompt.split())
            texts.append(
                f"The system prompt has {_count_lines(draft.prompt)}, {words} words and {len(draft.prompt)} characters."
            )
        elif part in ("tests", "count"):
            texts.append(speech.listed(draft.inputs))
    return texts


def _count_lines(prompt: str) -> str:
    count = len(prompt_text.line_spans(prompt))
    return f"{count} line" if count == 1 else f"{count} lines"


def _search(intent: SearchPrompt, draft: Draft) -> Prepared:
    exact = prompt_text.occurrences(draft.prompt, intent.topic, fold=True)
    spans = prompt_text.find(draft.prompt, Spot("about", intent.topic))
    if exact and not spans:
        spans = exact
    if not spans:
        return [
            Done(
                f"No, I find nothing about {speech.quote(intent.topic)} in the system prompt of {speech.quote(draft.name)}."
            )
        ]
    lines = "\n".join(speech.block(draft.prompt[start:end]) for start, end in spans[:20])
    return [Done(f"The system prompt says about {speech.quote(intent.topic)}:\n\n{lines}")]


def _show_tests(intent: ShowTest, draft: Draft) -> Prepared:
    work: list[Call | Done] = []
    for reference in intent.references:
        places = resolve(reference, draft.inputs)
        if not places:
            shown = speech.quote(reference.value) if reference.kind in ("topic", "exact") else "that place"
            work.append(Done(f"I find no test input for {shown}. {speech.listed(draft.inputs)}"))
        work.extend(Done(speech.test_shown(draft.inputs[k], k + 1)) for k in places)
    return work


# --- the system prompt --------------------------------------------------------------------------------------


def _add(intent: AddText, draft: Draft) -> Prepared:
    prompt = draft.prompt
    if intent.place in ("before", "after") and intent.spot is not None:
        spans = prompt_text.find(prompt, intent.spot)
        if len(spans) != 1:
            return _which_spot(spans, prompt, intent.spot, lambda spot: replace(intent, spot=spot))
        new = prompt_text.inserted(prompt, spans[0], intent.text, before=intent.place == "before")
        where = f"{intent.place} {speech.quote(prompt[spans[0][0] : spans[0][1]], 80)}"
    elif intent.place == "start":
        new, where = prompt_text.prepended(prompt, intent.text), "at the start of the system prompt"
    else:
        new, where = prompt_text.appended(prompt, intent.text), "at the end of the system prompt"
    draft.prompt = new
    return [
        Call(
            "update_system_prompt",
            {"system_prompt": new},
            f"I have added {where}:\n\n{speech.block(intent.text)}",
        )
    ]


def _which_spot(
    spans: Sequence[prompt_text.Span], prompt: str, spot: Spot, again: Callable[[Spot], Intent]
) -> Ask:
    if not spans:
        what = "such a line" if spot.kind in ("line", "sentence") else speech.quote(spot.value, 120)
        return Ask(
            f"I find {'no' if what == 'such a line' else 'nothing like'} {what.removeprefix('such a ') if what == 'such a line' else what} in the system prompt, which reads:\n\n{speech.fenced(prompt)}\n\n"
            if prompt.strip()
            else "The system prompt is empty."
        )
    lines = prompt_text.line_spans(prompt)
    options = []
    for start, _end in spans[:_MOST_OPTIONS]:
        place = next((k for k, (first, last) in enumerate(lines) if first <= start <= last), None)
        if place is None:
            continue
        text = prompt[lines[place][0] : lines[place][1]]
        options.append(
            Option(f"The line {speech.quote(text, 100)}", (again(Spot("line", str(place + 1))),), text)
        )
    return Ask(
        f"{speech.quote(spot.value, 80)} could be more than one place in the system prompt.", tuple(options)
    )


def _edit(draft: Draft, span: prompt_text.Span, new: str, said: str) -> Call:
    edit = prompt_text.unique(draft.prompt, span, new)
    draft.prompt = draft.prompt[: span[0]] + new + draft.prompt[span[1] :]
    return Call("edit_system_prompt", {"old": edit.old, "new": edit.new}, said)


def _replace(intent: ReplaceText, draft: Draft) -> Prepared:
    prompt = draft.prompt
    spans = prompt_text.find(prompt, intent.spot)
    if intent.where is None and intent.spot.kind in ("text", "words"):
        if clash := _elsewhere(intent, draft, bool(spans)):
            return clash
    if not spans or len(spans) > 1 and not intent.every:
        if spans and intent.spot.kind in ("text", "words"):
            return _which_occurrence(intent, spans, draft)
        return _which_spot(
            spans, prompt, intent.spot, lambda spot: replace(intent, spot=spot, where="prompt")
        )
    if len(spans) == 1:
        old = prompt[spans[0][0] : spans[0][1]]
        if old == intent.new:
            return [Done(f"The system prompt already says {speech.quote(old)}; nothing to change.")]
        said = f"In the system prompt, {speech.quote(old)} is now {speech.quote(intent.new)}."
        return [_edit(draft, spans[0], intent.new, said)]
    start, end = spans[0][0], spans[-1][1]
    pieces: list[str] = []
    at = start
    for first, last in spans:
        pieces.extend((prompt[at:first], intent.new))
        at = last
    said = f"In the system prompt, {speech.quote(intent.spot.value)} is now {speech.quote(intent.new)} in all {len(spans)} places."
    return [_edit(draft, (start, end), "".join(pieces), said)]


def _which_occurrence(intent: ReplaceText, spans: Sequence[prompt_text.Span], draft: Draft) -> Ask:
    every = Option(
        f"All {len(spans)} of them",
        (replace(intent, every=True, where="prompt"),),
        "all every both everywhere",
    )
    options = [every]
    for start, end in spans[: _MOST_OPTIONS - 1]:
        line_start = draft.prompt.rfind("\n", 0, start) + 1
        line_end = draft.prompt.find("\n", end)
        line_end = len(draft.prompt) if line_end < 0 else line_end
        line = draft.prompt[line_start:line_end]
        new = draft.prompt[line_start:start] + intent.new + draft.prompt[end:line_end]
        if draft.prompt.count(line) == 1:
            options.append(
                Option(
                    f"The one in {speech.quote(line, 100)}",
                    (ReplaceText(Spot("text", line), new, "prompt"),),
                    line,
                )
            )
    return Ask(
        f"{speech.quote(intent.spot.value)} occurs {len(spans)} times in the system prompt.", tuple(options)
    )


def _elsewhere(intent: ReplaceText, draft: Draft, in_prompt: bool) -> Prepared | None:
    """Ask when text to replace, with no place given, stands in test inputs or the name as well, or only there."""
    old = intent.spot.value
    options: list[Option] = []
    if in_prompt:
        options.append(
            Option("In the system prompt", (replace(intent, where="prompt"),), "system prompt instructions")
        )
    for item in draft.inputs:
        if prompt_text.occurrences(item.content, old):
            there = replace(intent, where=Reference("exact", item.id))
            options.append(
                Option(
                    f"In the test input `{item.id}`: {speech.quote(item.content, 80)}",
                    (there,),
                    f"test {item.id} {item.content}",
                )
            )
    if draft.name.casefold() == old.casefold():
        options.append(
            Option(
                f"Rename the persona to {speech.quote(intent.new)}",
                (Rename(intent.new),),
                "name rename persona",
            )
        )
    exact = bool(prompt_text.occurrences(draft.prompt, old))
    if (
        not options
        or in_prompt
        and len(options) == 1
        or exact
        and intent.spot.kind == "text"
        and draft.name == old == ""
    ):
        return None
    if len(options) == 1:
        return Ask(f"{speech.quote(old)} is not in the system prompt.", tuple(options))
    return Ask(f"{speech.quote(old)} stands in more than one place.", tuple(options[:_MOST_OPTIONS]))


def _remove(intent: RemoveText, draft: Draft) -> Prepared:
    prompt = draft.prompt
    spans = prompt_text.find(prompt, intent.spot)
    if len(spans) > 1 and intent.every:
        calls: list[Call | Done] = []
        for span in reversed(spans):
            gone, left = prompt_text.removal(draft.prompt, span)
            calls.append(
                _edit(
                    draft,
                    gone,
                    left,
                    f"I have removed {speech.quote(prompt[span[0] : span[1]])} from the system prompt.",
                )
            )
        return calls
    if len(spans) != 1:
        return _which_spot(
            spans, prompt, intent.spot, lambda spot: replace(intent, spot=spot, where="prompt")
        )
    gone, left = prompt_text.removal(prompt, spans[0])
    removed = prompt[gone[0] : gone[1]].strip() or prompt[spans[0][0] : spans[0][1]]
    return [_edit(draft, gone, left, f"I have removed {speech.quote(removed)} from the system prompt.")]


# --- the test inputs ----------------------------------------------------------------------------------------


def _options(places: Sequence[int], draft: Draft, make: Callable[[Reference], Intent]) -> tuple[Option, ...]:
    return tuple(
        Option(
            f"Test input {k + 1}, `{draft.inputs[k].id}`: {speech.quote(draft.inputs[k].content, 100)}",
            (make(Reference("exact", draft.inputs[k].id)),),
            f"{draft.inputs[k].id} {draft.inputs[k].content}",
        )
        for k in places[:_MOST_OPTIONS]
    )


def _the_one(intent: Any, reference: Reference, draft: Draft) -> int | Ask:
    """Return the place of the one test input meant, or the question which one it is."""
    places = resolve(reference, draft.inputs)
    if len(places) == 1:
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

    if places:
        question = "Which test input do you mean?"
    elif reference.kind in ("topic", "exact"):
        question = f"I find no test input for {speech.quote(reference.value, 100)}. Which one do you mean?"
    else:
        question = f"There is no such test input; there {'is 1' if len(draft.inputs) == 1 else f'are {len(draft.inputs)}'}. Which one do you mean?"
    return Ask(question, _options(places or list(range(len(draft.inputs))), draft, make))


def _add_test(intent: AddTest, draft: Draft) -> Prepared:
    def told(output: str) -> str:
        try:
            identity = json.loads(output).get("id", "")
        except (ValueError, AttributeError, RecursionError):
            identity = ""
        named = f" `{identity}`" if identity else ""
        said = f"I have added the test input{named}:\n\n{speech.block(intent.content)}"
        if intent.topic:
            said += f"\n\nYou gave me only the subject ({speech.quote(intent.topic)}), so the words are a plain template of mine; tell me the exact words if you want others."
        return said

    draft.inputs.append(TestInput("", intent.content))
    return [Call("create_test_input", {"content": intent.content}, "", told)]


def _write_test(draft: Draft, place: int, content: str) -> Prepared:
    item = draft.inputs[place]
    if not item.id:
        return Ask("I can change a new test input only after it has been added.")
    if item.content == content:
        return [Done(f"The test input `{item.id}` already says that; nothing to change.")]
    draft.inputs[place] = TestInput(item.id, content)
    said = f"Test input {place + 1}, `{item.id}`, now says:\n\n{speech.block(content)}"
    return [Call("update_test_input", {"id": item.id, "content": content}, said)]


def _change_test(intent: ChangeTest, draft: Draft) -> Prepared:
    found = _the_one(intent, intent.reference, draft)
    return found if isinstance(found, Ask) else _write_test(draft, found, intent.content)


def _replace_in_test(intent: ReplaceText, draft: Draft) -> Prepared:
    assert isinstance(intent.where, Reference)
    found = _the_one(intent, intent.where, draft)
    if isinstance(found, Ask):
        return found
    content = draft.inputs[found].content
    spans = prompt_text.find(content, intent.spot)
    if not spans:
        return Ask(
            f"I find no {speech.quote(intent.spot.value)} in the test input `{draft.inputs[found].id}`: {speech.quote(content)}."
        )
    if len(spans) > 1 and not intent.every:
        every = Option(f"All {len(spans)} of them", (replace(intent, every=True),), "all every both")
        return Ask(
            f"{speech.quote(intent.spot.value)} occurs {len(spans)} times in the test input.", (every,)
        )
    return _write_test(draft, found, _respelled(content, spans, intent.new))


def _remove_in_test(intent: RemoveText, draft: Draft) -> Prepared:
    assert isinstance(intent.where, Reference)
    found = _the_one(intent, intent.where, draft)
    if isinstance(found, Ask):
        return found
    content = draft.inputs[found].content
    spans = prompt_text.find(content, intent.spot)
    if len(spans) != 1:
        return Ask(
            f"{speech.quote(intent.spot.value)} occurs {len(spans)} times in the test input {speech.quote(content)}."
        )
    (start, end), left = prompt_text.removal(content, spans[0])
    new = content[:start] + left + content[end:]
    return (
        _write_test(draft, found, new)
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


def _delete_tests(intent: DeleteTests, draft: Draft) -> Prepared:
    if not draft.inputs:
        return [Done("There are no test inputs to delete.")]
    places: list[int] = []
    for reference in intent.references:
        if reference.kind == "all":
            places.extend(range(len(draft.inputs)))
            continue
        if reference.kind == "both" and len(draft.inputs) != 2:
            return Ask(
                f"There are {len(draft.inputs)} test inputs. Which ones do you mean?",
                _options(range(len(draft.inputs)), draft, lambda one: DeleteTests((one,))),
            )
        found = resolve(reference, draft.inputs) if reference.kind == "both" else None
        one = _the_one(intent, reference, draft) if found is None else None
        if isinstance(one, Ask):
            several = tuple(option.intents[0] for option in one.options)
            merged = [ref for item in several if isinstance(item, DeleteTests) for ref in item.references]
            return replace(
                one,
                several=bool(merged)
                and len(resolve(reference, draft.inputs)) > 1
                and reference.kind == "topic",
            )
        places.extend(found if found is not None else [one] if one is not None else [])
    for reference in intent.keep:
        kept = _the_one(intent, reference, draft)
        if isinstance(kept, Ask):
            return kept
        places = [place for place in places if place != kept]
    chosen = [draft.inputs[place] for place in sorted(set(places))]
    if any(not item.id for item in chosen):
        return Ask("I can delete a new test input only after it has been added.")
    draft.inputs = [item for item in draft.inputs if item not in chosen]
    return [
        Call(
            "delete_test_input",
            {"id": item.id},
            f"I have deleted the test input `{item.id}`: {speech.quote(item.content)}",
        )
        for item in chosen
    ]


def _delete_thing(intent: DeleteThing, draft: Draft) -> Prepared:
    """Something named by its text alone: done only when there is one thing it can be."""
    options: list[Option] = []
    exact = [item for item in draft.inputs if intent.text.strip() in (item.id, item.content.strip())]
    topical = (
        [draft.inputs[k] for k in resolve(Reference("topic", intent.text), draft.inputs)]
        if not intent.quoted
        else []
    )
    partly = [
        item for item in draft.inputs if intent.quoted and intent.text.casefold() in item.content.casefold()
    ]
    for item in dict.fromkeys([*exact, *topical, *partly]):
        options.append(
            Option(
                f"Delete the test input `{item.id}`: {speech.quote(item.content, 100)}",
                (DeleteTests((Reference("exact", item.id),)),),
                f"test {item.id} {item.content}",
            )
        )
    spot = Spot("text" if intent.quoted else "about", intent.text)
    spans = (
        prompt_text.occurrences(draft.prompt, intent.text)
        if intent.quoted
        else prompt_text.find(draft.prompt, spot)
    )
    if intent.quoted and not spans:
        spans = prompt_text.occurrences(draft.prompt, intent.text, fold=True)
    whole = len(spans) == 1 and prompt_text.is_whole(draft.prompt, spans[0])
    lines = prompt_text.line_spans(draft.prompt)
    for start, end in spans[:_MOST_OPTIONS]:
        text = draft.prompt[start:end]
        place = next((k for k, (first, last) in enumerate(lines) if first <= start <= last), 0)
        target = Spot("text", text) if len(spans) == 1 else Spot("line", str(place + 1))
        options.append(
            Option(
                f"Remove {speech.quote(text, 100)} from the system prompt",
                (RemoveText(target, "prompt"),),
                f"prompt line {text}",
            )
        )
    if len(options) == 1 and (exact or (intent.quoted and whole)):
        return prepare(options[0].intents[0], draft)
    if not options:
        return Ask(
            f"I find {speech.quote(intent.text, 100)} neither in the system prompt nor among the test inputs."
        )
    return Ask("I am not sure what you mean.", tuple(options[:_MOST_OPTIONS]))
