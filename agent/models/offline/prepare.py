"""One intent against what was read: the exact tool calls, or the question that has to be answered first."""

from __future__ import annotations

from dataclasses import replace

from agent.models.offline import on_inputs, on_prompt, prompt_text, speech
from agent.models.offline.draft import Call, Done, Draft, Prepared
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
from agent.models.offline.reference import resolve

_MOST_OPTIONS = 6


def pinned(intent: Intent, draft: Draft) -> Intent:
    """Return the intent with numbers replaced by what they number now, before the other steps change it."""
    if isinstance(intent, DeleteTests):
        references = tuple(_pinned_reference(one, draft) for one in intent.references)
        keep = tuple(_pinned_reference(one, draft) for one in intent.keep)
        return replace(intent, references=references, keep=keep)
    if isinstance(intent, ShowTest):
        return ShowTest(tuple(_pinned_reference(one, draft) for one in intent.references))
    if isinstance(intent, ChangeTest | ExtendTest | CopyTest):
        return replace(intent, reference=_pinned_reference(intent.reference, draft))
    if isinstance(intent, ReplaceText | RemoveText) and isinstance(intent.where, Reference):
        return replace(intent, where=_pinned_reference(intent.where, draft))
    if isinstance(intent, AddText | ReplaceText | RemoveText):
        if isinstance(intent, ReplaceText) and intent.within is not None:
            return intent
        spot = intent.spot
        if spot is not None and spot.kind not in ("text", "words"):
            spans = prompt_text.find(draft.prompt, spot)
            sure = len(spans) == 1 and prompt_text.is_sure(draft.prompt, spot, spans[0])
            text = draft.prompt[spans[0][0] : spans[0][1]] if sure else ""
            if text and draft.prompt.count(text) == 1:
                return replace(intent, spot=Spot("text", text))
    return intent


def _pinned_reference(reference: Reference, draft: Draft) -> Reference:
    places = resolve(reference, draft.inputs) if reference.kind in ("number", "id_or_number", "topic") else []
    return Reference("exact", draft.inputs[places[0]].id) if len(places) == 1 else reference


def prepare(intent: Intent, draft: Draft) -> Prepared:
    """Return the calls for one intent, and note in `draft` what they will have changed."""
    if isinstance(intent, Rename):
        if intent.was and intent.was.strip().casefold() != draft.name.strip().casefold():
            return Ask(
                f"It is called {speech.quote(draft.name)}, not {speech.quote(intent.was)}.",
                (Option(f"Rename it to {speech.quote(intent.name)}", (Rename(intent.name),), intent.name),),
            )
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
        return on_prompt.search(intent, draft)
    if isinstance(intent, ShowSpot):
        spans = prompt_text.find(draft.prompt, intent.spot)
        if not spans:
            return [
                Done(
                    f"The system prompt has no such {intent.spot.kind}: it has {on_prompt.count_lines(draft.prompt)}."
                )
            ]
        return [Done(speech.block(draft.prompt[spans[0][0] : spans[0][1]]))]
    if isinstance(intent, SetPrompt):
        draft.prompt = intent.text
        said = f"The system prompt is replaced; it now has {on_prompt.count_lines(intent.text)}."
        if not intent.text.strip():
            said = "The system prompt is now empty."
        elif len(intent.text) <= 600:
            said = f"The system prompt is now:\n\n{speech.fenced(intent.text)}"
        return [Call("update_system_prompt", {"system_prompt": intent.text}, said)]
    if isinstance(intent, AddText):
        return on_prompt.add(intent, draft)
    if isinstance(intent, ReplaceText):
        return (
            on_inputs.replace_in_test(intent, draft)
            if isinstance(intent.where, Reference)
            else on_prompt.replace_text(intent, draft)
        )
    if isinstance(intent, RemoveText):
        return (
            on_inputs.remove_in_test(intent, draft)
            if isinstance(intent.where, Reference)
            else on_prompt.remove(intent, draft)
        )
    return _on_tests(intent, draft)


def _on_tests(intent: Intent, draft: Draft) -> Prepared:
    if isinstance(intent, AddTest):
        return on_inputs.add_test(intent, draft)
    if isinstance(intent, ShowTest):
        return on_inputs.show_tests(intent, draft)
    if isinstance(intent, ChangeTest):
        return on_inputs.change_test(intent, draft)
    if isinstance(intent, ExtendTest):
        found = on_inputs.the_one(intent, intent.reference, draft)
        if isinstance(found, Ask):
            return found
        item = draft.inputs[found]
        glue = "\n" if "\n" in item.content else " "
        parts = (intent.text, item.content) if intent.at_start else (item.content.rstrip("\n"), intent.text)
        return on_inputs.write_test(draft, found, glue.join(parts))
    if isinstance(intent, CopyTest):
        found = on_inputs.the_one(intent, intent.reference, draft)
        return (
            found
            if isinstance(found, Ask)
            else on_inputs.add_test(AddTest(draft.inputs[found].content), draft)
        )
    if isinstance(intent, DeleteTests):
        return on_inputs.delete_tests(intent, draft)
    if isinstance(intent, DeleteThing):
        return _delete_thing(intent, draft)
    return []


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
                f"The system prompt has {on_prompt.count_lines(draft.prompt)}, {words} words and "
                f"{len(draft.prompt)} characters."
            )
        elif part in ("tests", "count"):
            texts.append(speech.listed(draft.inputs))
    return texts


def _delete_thing(intent: DeleteThing, draft: Draft) -> Prepared:
    """Something named by its text alone: done only when there is one thing it can be."""
    if intent.text not in draft.prompt:
        intent = replace(intent, text=prompt_text.unticked(intent.text))
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
        target = Spot("text", text)
        if len(spans) > 1 and draft.prompt.count(text) > 1:
            target, text = Spot("line", str(place + 1)), draft.prompt[slice(*lines[place])]
        if prompt_text.is_heading(draft.prompt, start):
            block = draft.prompt[slice(*prompt_text.block_at(draft.prompt, start))]
            options.append(
                Option(
                    f"Remove it with what stands under it: {speech.quote(block, 400)}",
                    (RemoveText(Spot("text", block), "prompt"),),
                    "all every whole section",
                )
            )
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
