"""The tools with which the agent steers how it is shown and how its task goes."""

from __future__ import annotations

import unicodedata
from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated

from pydantic import BaseModel, Field, field_validator

from agent.core.tool import ASK_USER, TASK_COMPLETE, NoInput, Tool, ToolContext, ToolOutput

SEND_UPDATE, BEGIN_TASK = "send_update", "begin_task"
NOT_ANSWERED = "Not answered: the task was stopped."
"""The result of a question whose task is stopped."""
CONTROL = frozenset({TASK_COMPLETE, ASK_USER, SEND_UPDATE, BEGIN_TASK})
"""The names of the tools that act on the task and never on the persona."""

Ask = Callable[[str, Sequence[str], ToolContext], Awaitable[str]]


def keep_visible_tool(on_keep: Callable[[], None]) -> Tool:
    """Return `keep_output_visible`; `on_keep` is called when the agent asks for its output to stay."""

    async def keep_output_visible(_input: NoInput, _ctx: ToolContext) -> str:
        on_keep()
        return "Your output stays on the screen until the owner dismisses it."

    return Tool(
        "keep_output_visible",
        "Keep your output on the screen instead of letting it go away by itself. For questions, warnings and "
        "anything the owner must read.",
        "Keep the output visible",
        NoInput,
        keep_output_visible,
    )


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
    def _can_be_told_apart(cls, options: list[str]) -> list[str]:
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


def task_tools(ask: Ask, on_update: Callable[[str], None]) -> tuple[Tool, ...]:
    """Return the tools of a task: `task_complete`, `ask_user`, `send_update`.

    Args:
        ask: puts a question with its options to the owner and returns the answer, however long that takes.
        on_update: called with each report on the way.
    """

    async def task_complete(_input: SummaryInput, _ctx: ToolContext) -> ToolOutput:
        return ToolOutput(output="The task is complete.", terminate=True)

    async def ask_user(wanted: QuestionInput, ctx: ToolContext) -> str:
        return await ask(wanted.question, wanted.options, ctx)

    async def send_update(wanted: SendUpdateInput, _ctx: ToolContext) -> str:
        on_update(wanted.text)
        return "The owner sees it. Go on."

    return (
        Tool(
            TASK_COMPLETE,
            "End the task. Call it only when everything that was asked is done and checked.",
            "Complete the task",
            SummaryInput,
            task_complete,
            control=True,
        ),
        Tool(
            ASK_USER,
            "Ask the owner a question and wait for the answer, which is the result of this call.",
            "Ask a question",
            QuestionInput,
            ask_user,
            control=True,
            when_cut=NOT_ANSWERED,
        ),
        Tool(
            SEND_UPDATE,
            "Report progress to the owner without stopping.",
            "Report progress",
            SendUpdateInput,
            send_update,
        ),
    )


def begin_task_tool(on_begin: Callable[[], Awaitable[str]]) -> Tool:
    """Return `begin_task`; `on_begin` makes the run a task and returns how to work on it."""

    async def begin_task(_input: NoInput, _ctx: ToolContext) -> str:
        return await on_begin()

    return Tool(
        BEGIN_TASK,
        "Turn this request into a task that goes on until you call task_complete.",
        "Begin a task",
        NoInput,
        begin_task,
    )
