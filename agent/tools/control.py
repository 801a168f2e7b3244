"""The control tools: keep the output visible, complete a task, ask a question, report, begin a task."""

from __future__ import annotations

import unicodedata
from typing import Annotated

from pydantic import BaseModel, Field, field_validator

from agent.core.tool import NoInput, ToolContext, ToolOutput
from agent.tools.context import ToolEnvironment
from agent.tools.spec import tool

NOT_ANSWERED = "Not answered: the task was stopped."
"""The result of a question whose task is stopped."""


class SummaryInput(BaseModel, extra="forbid"):
    summary: str = Field(description="What was accomplished, in one to three sentences.", min_length=1)


class QuestionInput(BaseModel, extra="forbid"):
    question: str = Field(description="One clear question.", min_length=1, max_length=4_000)
    options: list[Annotated[str, Field(min_length=1, max_length=400)]] = Field(
        default_factory=list,
        description="Answers to choose from, where there are some; the owner may also answer freely.",
        max_length=12,
    )

    @field_validator("question")
    @classmethod
    def _is_seen(cls, question: str) -> str:
        if not visible(question):
            raise ValueError("The question says nothing.")
        return question

    @field_validator("options")
    @classmethod
    def _are_distinct(cls, options: list[str]) -> list[str]:
        """Offer nothing that is blank, and nothing that looks like another."""
        seen: dict[str, str] = {}
        for option in options:
            if look := visible(option):
                seen.setdefault(look, option.strip())
        return list(seen.values())


class SendUpdateInput(BaseModel, extra="forbid"):
    text: str = Field(description="One or two sentences.", min_length=1)


def visible(text: str) -> str:
    """Return what a person sees of a line: no control or format characters, each run of blanks one blank."""
    hidden = ("Cc", "Cf")
    kept = (one for one in text if one.isspace() or unicodedata.category(one) not in hidden)
    return " ".join("".join(kept).split())


@tool(
    "Keep the output visible",
    "Keep your output on the screen instead of letting it go away by itself. For questions, warnings and "
    "anything the owner must read.",
    NoInput,
    "read",
)
async def keep_output_visible(env: ToolEnvironment, _given: NoInput, _ctx: ToolContext) -> str:
    env.on_keep()
    return "Your output stays on the screen until the owner dismisses it."


@tool(
    "Complete the task",
    "End the task. Call it only when everything that was asked is done and checked.",
    SummaryInput,
    "control",
    offered="in tasks",
)
async def task_complete(_env: ToolEnvironment, _given: SummaryInput, _ctx: ToolContext) -> ToolOutput:
    return ToolOutput(output="The task is complete.", terminate=True)


@tool(
    "Ask a question",
    "Ask the owner a question and wait for the answer, which is the result of this call.",
    QuestionInput,
    "control",
    offered="in tasks",
    when_cut=NOT_ANSWERED,
)
async def ask_user(env: ToolEnvironment, wanted: QuestionInput, ctx: ToolContext) -> str:
    return await env.job.ask_user(wanted.question, wanted.options, ctx)


@tool(
    "Report progress",
    "Report progress to the owner without stopping.",
    SendUpdateInput,
    "control",
    offered="in tasks",
)
async def send_update(env: ToolEnvironment, wanted: SendUpdateInput, _ctx: ToolContext) -> str:
    env.job.note_update(wanted.text)
    return "The owner sees it. Go on."


@tool(
    "Begin a task",
    "Turn this request into a task that goes on until you call task_complete.",
    NoInput,
    "control",
    offered="before tasks",
)
async def begin_task(env: ToolEnvironment, _given: NoInput, _ctx: ToolContext) -> str:
    return await env.job.become_task()


TOOLS = (keep_output_visible, task_complete, ask_user, send_update, begin_task)
