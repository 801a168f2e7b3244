"""The system prompt: one intent against the prompt as read, as exact calls or a question."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from agent.models.offline import prompt_text, speech
from agent.models.offline.draft import Call, Done, Draft, Prepared
from agent.models.offline.intents import (
    NUMBERED,
    AddText,
    Ask,
    Intent,
    Option,
    Reference,
    RemoveText,
    Rename,
    ReplaceText,
    SearchPrompt,
    Spot,
)

_MOST_OPTIONS = 6


def count_lines(prompt: str) -> str:
    """Return how many lines with something on them a prompt has, in words."""
    count = sum(1 for _ in re.finditer(r"\S[^\n]*", prompt))
    return f"{count} line" if count == 1 else f"{count} lines"


def search(intent: SearchPrompt, draft: Draft) -> Prepared:
    """Show where the prompt speaks of a topic."""
    exact = prompt_text.occurrences(draft.prompt, intent.topic, fold=True)
    spans = prompt_text.find(draft.prompt, Spot("about", intent.topic))
    if exact and not spans:
        spans = exact
    if not spans:
        return [
            Done(
                f"No, I find nothing about {speech.quote(intent.topic)} in the system prompt of "
                f"{speech.quote(draft.name)}."
            )
        ]
    lines = "\n".join(speech.block(draft.prompt[start:end]) for start, end in spans[:20])
    return [Done(f"The system prompt says about {speech.quote(intent.topic)}:\n\n{lines}")]


def add(intent: AddText, draft: Draft) -> Prepared:
    """Add a text to the prompt, or ask where."""
    prompt = draft.prompt
    if intent.place in ("before", "after") and intent.spot is not None:
        spans = prompt_text.find(prompt, intent.spot)
        if len(spans) != 1 or not prompt_text.is_sure(prompt, intent.spot, spans[0]):
            return _which_spot(spans, prompt, intent.spot, lambda spot: replace(intent, spot=spot))
        if intent.next is not None and not _follows(prompt, spans[0][1], intent.next):
            return Ask(
                f"{speech.quote(intent.next.value, 80)} does not directly follow {speech.quote(intent.spot.value, 80)} "
                "in the system prompt.",
                (
                    Option(
                        f"Add it after {speech.quote(intent.spot.value, 80)}",
                        (replace(intent, next=None),),
                        f"after first {intent.spot.value}",
                    ),
                    Option(
                        f"Add it before {speech.quote(intent.next.value, 80)}",
                        (AddText(intent.text, "before", intent.next),),
                        f"before second {intent.next.value}",
                    ),
                ),
            )
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
            f"I have added {where}:\n\n{speech.read_back(intent.text)}",
        )
    ]


def _follows(prompt: str, end: int, spot: Spot) -> bool:
    """Whether a stretch begins right after `end`, but for spaces, marks and what a list has before its items."""
    return any(
        start >= end and not any(char.isalnum() for char in prompt[end:start])
        for start, _ in prompt_text.find(prompt, spot)
    )


def _which_spot(
    spans: Sequence[prompt_text.Span], prompt: str, spot: Spot, again: Callable[[Spot], Intent]
) -> Ask:
    if not spans:
        what = "such a line" if spot.kind in NUMBERED else speech.quote(spot.value, 120)
        return Ask(
            f"I find {'no' if what == 'such a line' else 'nothing like'} "
            f"{what.removeprefix('such a ') if what == 'such a line' else what} in the system prompt, "
            f"which reads:\n\n{speech.fenced(prompt)}\n\n"
            if prompt.strip()
            else "The system prompt is empty."
        )
    lines = prompt_text.line_spans(prompt)
    named = speech.quote(spot.value, 80)
    options = []
    blocks = []
    for start, _end in spans[:_MOST_OPTIONS]:
        if spot.kind == "block_about" or prompt_text.is_heading(prompt, start):
            first, last = prompt_text.block_at(prompt, start)
            block = prompt[first:last]
            blocks.append(block)
            ends = speech.quote(block.split("\n")[0], 60), speech.quote(block.split("\n")[-1], 60)
            options.append(
                Option(
                    f"All of it, from {ends[0]} to {ends[1]}",
                    (again(Spot("text", block)),),
                    "all every whole section",
                )
            )
            if spot.kind == "block_about":
                continue
        place = next((k for k, (first, last) in enumerate(lines) if first <= start <= last), None)
        if place is None:
            continue
        text = prompt[lines[place][0] : lines[place][1]]
        options.append(
            Option(f"The line {speech.quote(text, 100)}", (again(Spot("line", str(place + 1))),), text)
        )
    if blocks:
        shown = "\n\n".join(speech.fenced(block) for block in blocks)
        return Ask(f"{named} may be all of this in the system prompt:\n\n{shown}", tuple(options))
    if len(spans) == 1:
        return Ask(f"I find no place in the system prompt with all of {named}.", tuple(options))
    return Ask(f"{named} could be more than one place in the system prompt.", tuple(options))


def _edit(draft: Draft, span: prompt_text.Span, new: str, said: str) -> Call:
    edit = prompt_text.unique(draft.prompt, span, new)
    draft.prompt = draft.prompt[: span[0]] + new + draft.prompt[span[1] :]
    return Call("edit_system_prompt", {"old": edit.old, "new": edit.new}, said)


def replace_text(intent: ReplaceText, draft: Draft) -> Prepared:
    """Replace a text in the prompt, or ask which one is meant."""
    prompt = draft.prompt
    if intent.spot.kind == "text" and not prompt_text.occurrences(prompt, intent.spot.value):
        bare = Spot("text", prompt_text.unticked(intent.spot.value))
        if bare != intent.spot:
            intent = replace(intent, spot=bare, new=prompt_text.unticked(intent.new))
    spans = prompt_text.find(prompt, intent.spot)
    if intent.within is not None:
        places = prompt_text.find(prompt, intent.within)
        if len(places) != 1:
            return _which_spot(
                places, prompt, intent.within, lambda spot: replace(intent, within=spot, where="prompt")
            )
        spans = [span for span in spans if places[0][0] <= span[0] and span[1] <= places[0][1]]
        if not spans:
            line = prompt[places[0][0] : places[0][1]]
            return Ask(f"I find no {speech.quote(intent.spot.value)} in {speech.quote(line)}.")
    unplaced = intent.where is None and intent.spot.kind in ("text", "words")
    if unplaced and (clash := _elsewhere(intent, draft, bool(spans))):
        return clash
    if not spans or (len(spans) > 1 and not intent.every):
        if spans and intent.spot.kind in ("text", "words"):
            return _which_occurrence(intent, spans, draft)
        return _which_spot(
            spans, prompt, intent.spot, lambda spot: replace(intent, spot=spot, where="prompt")
        )
    if len(spans) == 1 and not prompt_text.is_sure(prompt, intent.spot, spans[0]):
        return _which_spot(
            spans, prompt, intent.spot, lambda spot: replace(intent, spot=spot, where="prompt")
        )
    if len(spans) == 1:
        old = prompt[spans[0][0] : spans[0][1]]
        if intent.spot.kind in ("rule", "bullet"):
            intent = replace(intent, new=prompt_text.with_mark(old, intent.new))
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
    said = (
        f"In the system prompt, {speech.quote(intent.spot.value)} is now {speech.quote(intent.new)} in "
        f"all {len(spans)} places."
    )
    return [_edit(draft, (start, end), "".join(pieces), said)]


def _which_occurrence(intent: ReplaceText, spans: Sequence[prompt_text.Span], draft: Draft) -> Ask:
    every = Option(
        f"All {len(spans)} of them",
        (replace(intent, every=True, where="prompt"),),
        "all every both everywhere",
    )
    options = []
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
        f"{speech.quote(intent.spot.value)} occurs {len(spans)} times in the system prompt.",
        (*options, every),
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
        or (in_prompt and len(options) == 1)
        or (exact and intent.spot.kind == "text" and draft.name == old == "")
    ):
        return None
    if len(options) == 1:
        return Ask(f"{speech.quote(old)} is not in the system prompt.", tuple(options))
    return Ask(f"{speech.quote(old)} stands in more than one place.", tuple(options[:_MOST_OPTIONS]))


def _word_or_sentence(intent: RemoveText, span: prompt_text.Span, prompt: str) -> Ask:
    """Ask whether "remove weather from the prompt" means the word or what is said about it."""
    word = prompt[span[0] : span[1]]
    sentence = next(
        (prompt[start:end] for start, end in prompt_text.sentence_spans(prompt) if start <= span[0] < end), ""
    )
    options = [
        Option(
            f"Remove {speech.quote(word)} and leave the rest",
            (replace(intent, spot=Spot("text", word)),),
            f"word {word}",
        )
    ]
    if prompt.count(sentence) == 1:
        whole = replace(intent, spot=Spot("text", sentence))
        options.append(
            Option(f"Remove the sentence {speech.quote(sentence, 100)}", (whole,), "whole sentence line rule")
        )
    return Ask(f"{speech.quote(word)} is only a part of a sentence.", tuple(options))


def remove(intent: RemoveText, draft: Draft) -> Prepared:
    """Take a text out of the prompt, or ask which one is meant."""
    prompt = draft.prompt
    spans = prompt_text.find(prompt, intent.spot)
    if len(spans) > 1 and intent.every and intent.spot.kind in ("about", "line_about"):
        texts = [prompt[start:end] for start, end in spans]
        everything = tuple(RemoveText(Spot("text", text), "prompt") for text in texts)
        shown = speech.fenced("\n".join(texts))
        return Ask(
            f"All of this would go:\n\n{shown}", (Option("Remove all of it", everything, "all every both"),)
        )
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
    if len(spans) != 1 or not prompt_text.is_sure(prompt, intent.spot, spans[0]):
        return _which_spot(
            spans, prompt, intent.spot, lambda spot: replace(intent, spot=spot, where="prompt")
        )
    if intent.spot.kind == "words" and not prompt_text.is_whole(prompt, spans[0]):
        return _word_or_sentence(intent, spans[0], prompt)
    gone, left = prompt_text.removal(prompt, spans[0])
    if prompt[slice(*gone)].strip() != prompt[slice(*spans[0])].strip() and prompt_text.is_heading(
        prompt, spans[0][0]
    ):
        return _which_spot(
            spans, prompt, intent.spot, lambda spot: replace(intent, spot=spot, where="prompt")
        )
    removed = prompt[gone[0] : gone[1]].strip() or prompt[spans[0][0] : spans[0][1]]
    return [_edit(draft, gone, left, f"I have removed {speech.quote(removed)} from the system prompt.")]
