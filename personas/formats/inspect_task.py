"""`inspect`: a task of Inspect, the framework for evaluations, as a Python file. It is only written.

A sample is a test input below the system message. What Inspect cannot say by a scorer of its own, a scorer in the file
says: all but rubrics, which a model grades in a task of their own.
"""

from __future__ import annotations

import re
from typing import Any

from personas.formats.common import losses
from personas.formats.text import hyphened
from personas.formats.types import Exported, Format, Note, Source
from personas.persona import TestInput

_RUBRIC = "llm-rubric"
_CHECKED = {
    "equals": "text == str(value)",
    "starts-with": "text.startswith(value)",
    "contains": "value in text",
    "icontains": "value.lower() in text.lower()",
    "contains-all": "all(one in text for one in value)",
    "contains-any": "any(one in text for one in value)",
    "icontains-all": "all(one.lower() in text.lower() for one in value)",
    "icontains-any": "any(one.lower() in text.lower() for one in value)",
    "regex": "re.search(value, text) is not None",
    "word-count": "within(len(text.split()), said)",
    "char-count": "within(len(text), said)",
    "is-json": "is_json(text)",
}
"""How each type is checked, as Python in the file."""

_HEAD = '''"""{title}

Run it: `inspect eval {file} --model anthropic/{model}`.
"""

import json
import re

from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessageAssistant, ChatMessageSystem, ChatMessageUser
from inspect_ai.scorer import Score, accuracy, model_graded_qa, scorer, stderr
from inspect_ai.solver import generate

SYSTEM = {system}
ROLES = {{"system": ChatMessageSystem, "user": ChatMessageUser, "assistant": ChatMessageAssistant}}


def messages(*said):
    system = [("system", SYSTEM)] if SYSTEM else []
    return [ROLES[role](content=content) for role, content in [*system, *said]]


def within(number, said):
    least, most = said.get("min", said.get("value", 0)), said.get("max", said.get("value", number))
    return least <= number <= most


def is_json(text):
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


CHECKS = {{
{checks}}}


@scorer(metrics=[accuracy(), stderr()])
def expectations():
    async def score(state, target):
        broken = []
        for said in state.metadata["expect"]:
            kind = said["type"].removeprefix("not-")
            holds = CHECKS[kind](state.output.completion, said.get("value"), said)
            if holds == said["type"].startswith("not-"):
                broken.append(f"{{said['type']}} {{said.get('value', '')}}")
        return Score(value=1 if not broken else 0, explanation="; ".join(broken))

    return score

'''

_TASK = """
@task
def {name}():
    return Task(
        dataset=[
{samples}        ],
        solver=generate(),
        scorer={scorer},
    )
"""


def write(source: Source) -> Exported:
    """Return a task with the effective prompt and the test inputs of a persona."""
    persona = source.persona
    name = re.sub(r"\W", "_", hyphened(persona.id, "persona")).lstrip("0123456789_") or "persona"
    file = f"{name}.py"
    model = persona.model.name or "claude-sonnet-5-5"
    report = [
        Note("name", "the title"),
        Note("system_prompt", "SYSTEM"),
        *(
            [Note("model", "the title", "the task runs with the model that the command names")]
            if persona.model.name
            else []
        ),
    ]
    checked, graded = [], []
    for one in persona.test_inputs:
        if not one.content:
            continue
        expect = [item.to_record() for item in one.expect]
        known = [item for item in expect if item["type"].removeprefix("not-") in _CHECKED]
        rubrics = [item["value"] for item in expect if item["type"] == _RUBRIC]
        others = [item["type"] for item in expect if item not in known and item["type"] != _RUBRIC]
        if rubrics:
            graded.append(_sample(one, {"target": "\n".join(rubrics)}))
        if known or not rubrics:
            checked.append(_sample(one, {"metadata": {"expect": known}}))
        why = (
            f"without {', '.join(others)}"
            if others
            else ""
            if expect
            else "it has no expectations: it passes"
        )
        report.append(Note(f"test_inputs.{one.id}", "samples", why))
        if one.samples is not None:
            report.append(Note(f"test_inputs.{one.id}.samples", None, "Inspect repeats all: `--epochs N`"))
    title = (
        f"{_plain(persona.name)}: {_plain(persona.description)}"
        if persona.description
        else _plain(persona.name)
    )
    report += [Note("description", "the title")] if persona.description else []
    report += losses(source, but=("test_inputs", "model"))
    checks = "".join(f'    "{kind}": lambda text, value, said: {how},\n' for kind, how in _CHECKED.items())
    text = _HEAD.format(title=title, file=file, model=model, system=_literal(source.prompt), checks=checks)
    text += _TASK.format(name=name, samples="".join(checked), scorer="expectations()")
    if graded:
        text += "\n" + _TASK.format(
            name=f"{name}_rubrics", samples="".join(graded), scorer="model_graded_qa()"
        )
    return Exported({file: text.encode()}, tuple(report))


def _sample(one: TestInput, more: dict[str, Any]) -> str:
    said = [(message.role, message.content) for message in one.messages] or [("user", one.content)]
    turns = ", ".join(f"({role!r}, {content!r})" for role, content in said)
    rest = "".join(f", {key}={value!r}" for key, value in more.items())
    return f"            Sample(id={one.id!r}, input=messages({turns}){rest}),\n"


def _literal(text: str) -> str:
    """Return a text as Python, one line of it a line."""
    lines = re.findall(r"[^\n]*\n|[^\n]+", text)
    if len(lines) < 2:
        return repr(text)
    return "(\n" + "".join(f"    {line!r}\n" for line in lines) + ")"


def _plain(text: str) -> str:
    """Return a text as one line that can stand in a docstring."""
    return " ".join(text.replace("\\", "/").replace('"', "'").split())


FORMATS = (Format(name="inspect", label="Inspect task in Python", suffix=".py", write=write),)
