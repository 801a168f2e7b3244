"""What a step of a message means in the light of the steps before it: "it", "a new one", "the rest"."""

from __future__ import annotations

from dataclasses import replace

from agent.models.offline.antecedent import Told, open_pronoun, put_in
from agent.models.offline.grammar import parse
from agent.models.offline.intents import (
    AddTest,
    AddText,
    Ask,
    ChangeTest,
    CopyTest,
    DeleteTests,
    ExtendTest,
    Intent,
    Option,
    Reference,
    RemoveText,
    Rename,
    ReplaceText,
    SetPrompt,
    Show,
    ShowTest,
)
from agent.models.offline.steps import Step

_TOLD = "\x00told"


def about_told(step: Step, before: list[Intent]) -> tuple[Intent, ...]:
    """Return a step's intents, with "it" read as the test input the step before was about, when it was one."""
    made = step.intents or ()
    told = told_before(before)
    if told is None or not open_pronoun(made):
        return made
    spelled = put_in(step.phrase, Told(("the", "test"), _TOLD))
    meant = parse(spelled) if spelled is not None else None
    if not meant or len(meant) != 1:
        return made
    stand_in, one = Reference("exact", _TOLD), meant[0]
    if isinstance(one, ChangeTest | ExtendTest | CopyTest) and one.reference == stand_in:
        return (replace(one, reference=told),)
    if isinstance(one, ReplaceText | RemoveText) and one.where == stand_in:
        return (replace(one, where=told),)
    return made


def told_before(before: list[Intent]) -> Reference | None:
    """Return the test input the step before was about, when it was one."""
    last = before[-1] if before else None
    if isinstance(last, ShowTest) and len(last.references) == 1:
        return last.references[0]
    return last.reference if isinstance(last, ChangeTest | ExtendTest | CopyTest) else None


def result_of(before: list[Intent]) -> Show:
    """What to show after the changes of a message: what they were made to, or everything."""
    kinds: list[str] = []
    for intent in before:
        if isinstance(intent, Rename):
            kinds.append("name")
        elif isinstance(intent, AddText | SetPrompt):
            kinds.append("prompt")
        elif isinstance(intent, RemoveText | ReplaceText):
            kinds.append("tests" if isinstance(intent.where, Reference) else "prompt")
        elif isinstance(intent, AddTest | ChangeTest | ExtendTest | CopyTest | DeleteTests):
            kinds.append("tests")
    return Show(tuple(dict.fromkeys(kinds)) or ("name", "prompt", "tests"))


def another_of(before: list[Intent], content: str) -> Intent:
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
