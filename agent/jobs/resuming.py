"""How a task that was left is taken up again: what its open call is answered with, and what is said.

Each function that returns a `Prepare` returns what a run does first, while it holds the conversation.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from agent.chat.chat import Chat
from agent.core.errors import InvalidInput, RunCancelled
from agent.core.limits import Limits, shorten
from agent.core.redaction import text_of
from agent.core.tool import ToolContext, ToolOutput
from agent.core.tool_execution import NOT_RUN, error_output, not_noted
from agent.core.tool_validation import as_output, describe, validate
from agent.core.turns import NoticeTurn, ToolCallTurn, ToolResultTurn, Turn, UserTurn, new_id
from agent.jobs.approval_policy import Decision, is_same, read_decision, refusal
from agent.jobs.job import AgentTask, Approval, Question
from agent.jobs.messages import where_it_was
from agent.jobs.recovery import approval_now
from agent.jobs.running_job import Prepare, TaskRun
from personas.errors import InvalidValue, PersonaError

CONTINUE = "Please continue."


def settle_answer(chat: Chat, question: Question, text: str) -> Prepare:
    """The answer becomes the result of the call that asked."""

    async def settle() -> Sequence[Turn]:
        chat.session.settle(ToolResultTurn(tool_use_id=question.tool_use_id, output=text), rest_is_made=True)
        return ()

    return settle


def go_on_with(chat: Chat, task: AgentTask, text: str) -> Prepare:
    """The task is told to go on; an answer that was given right before the program ended is not lost.

    Args:
        chat: its conversation.
        task: as it was left.
        text: what the person says to it; blank asks to continue.
    """

    async def go_on() -> Sequence[Turn]:
        _settle_known_answer(chat, task)
        return _words_to_go_on(task, chat, text)

    return go_on


def _settle_known_answer(chat: Chat, task: AgentTask) -> None:
    """Give the call that asked what was answered right before the program ended."""
    pending = task.pending
    if pending is None or pending.answer is None:
        return
    result = ToolResultTurn(tool_use_id=pending.tool_use_id, output=pending.answer)
    if pending.approval is not None:
        try:
            decision = read_decision(pending.answer, pending.options)
        except InvalidValue:
            return
        if decision.answer != "no":
            return  # nobody knows how far the call came; it is not made again
        result = _refused(pending, decision)
    if any(call.tool_use_id == pending.tool_use_id for call in chat.session.left_open):
        chat.session.settle(result)


def settle_approval(run: TaskRun, question: Question, decision: Decision) -> Prepare:
    """The call that waited is made, or refused with the reason."""
    chat, agreed = run.chat, question.approval

    async def settle() -> Sequence[Turn]:
        call = next((one for one in chat.session.left_open if one.tool_use_id == question.tool_use_id), None)
        if call is None or agreed is None:
            raise InvalidValue("The conversation went on meanwhile; nothing waits for this answer any more.")
        if decision.answer == "no":
            # First of all: it touches nothing, and once it is written no end of the program loses it.
            chat.session.settle(_refused(question, decision), rest_is_made=True)
            await run.leave_waiting("thinking")
            return ()
        if chat.scope.is_cancelled:  # a stop that comes later is heard by `make_call`
            output = error_output(NOT_RUN)
            chat.session.settle(_result(question, output), rest_is_made=True)
            await run.leave_waiting("thinking")
            return ()
        await run.grant(call.tool_name, decision)
        await run.leave_waiting("tool_executing", current_tool=call.tool_name)
        output = await make_call(chat, run.task, call, agreed)
        chat.session.settle(_result(question, output), rest_is_made=True)
        run.go_on()
        return ()

    return settle


def _result(question: Question, output: ToolOutput) -> ToolResultTurn:
    """The result of the call that waited."""
    return ToolResultTurn(
        tool_use_id=question.tool_use_id,
        output=output.output,
        is_error=output.is_error,
        details=output.details,
    )


def _refused(question: Question, decision: Decision) -> ToolResultTurn:
    """The result of a call the person said no to."""
    return ToolResultTurn(
        tool_use_id=question.tool_use_id, output=f"Not run: {refusal(decision)}", is_error=True
    )


async def make_call(chat: Chat, task: AgentTask, call: ToolCallTurn, agreed: Approval) -> ToolOutput:
    """Make a call the person has just agreed to, once more checked; what goes wrong is its output."""
    tool = next((one for one in chat.tools if one.name == call.tool_name), None)
    if tool is None:
        return ToolOutput(output=f"Not run: there is no tool named {call.tool_name!r}.", is_error=True)
    await chat.flush()  # what it is checked against is what the person typed last
    if not is_same(agreed, await asyncio.to_thread(approval_now, chat.store, chat.persona_id, call)):
        return ToolOutput(
            output="Not run: the file changed after it was agreed to. Look again.", is_error=True
        )
    if chat.scope.is_cancelled:
        return error_output(NOT_RUN)
    begun = False

    async def act() -> str | ToolOutput:
        nonlocal begun
        begun = True
        return await tool.execute(given, context)

    context = ToolContext(run_id=task.id, call_id=call.id, session_id=task.session_id)
    most = Limits().max_output if tool.max_output is None else tool.max_output
    try:
        given = validate(tool, call.input)
        try:
            chat.session.begin_call(call)
        except PersonaError as error:
            return not_noted(text_of(error))
        output = await chat.scope.wait(act(), within=tool.timeout, settles_within=tool.settles_within)
        return as_output(output, most)
    except InvalidInput as error:
        return error_output(text_of(error))
    except RunCancelled as error:
        if not begun:
            return error_output(NOT_RUN)
        text = f"Cancelled while running, because {error}: it may have taken effect."
        return ToolOutput(output=tool.when_cut or text, is_error=True)
    except Exception as error:  # noqa: BLE001 - as in a run: whatever a tool raises is its result
        return error_output(shorten(describe(error), most))


def _words_to_go_on(task: AgentTask, chat: Chat, text: str) -> Sequence[Turn]:
    """What is said to a task that goes on, and what goes before it.

    Words that began a task and never reached the conversation are said in place of anything else.
    """
    text = text if text.strip() else CONTINUE
    if task.status != "interrupted":
        return [UserTurn(content=text)]
    note = f"The program ended while this task was {where_it_was(task)}; it goes on here."
    aside = NoticeTurn(content=note, kind="resumed")
    if task.step_count == 0 and all(turn.id != task.prompt_turn_id for turn in chat.turns):
        return [aside, UserTurn(content=task.original_prompt, id=task.prompt_turn_id or new_id("turn"))]
    return [aside, UserTurn(content=text)]
