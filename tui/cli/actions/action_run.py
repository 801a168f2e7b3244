"""`persona action run`: a run of an action in this process, printed as a message to the agent is; and going on with one."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from typing import TYPE_CHECKING, Any

import click

from personas.errors import InvalidValue
from tui.app.signals import handle_signals
from tui.cli.agent.task_answers import Answers, answer_timeout, wait_option
from tui.cli.exit_codes import COULD_NOT_RUN, FAILED, OF_SIGNAL
from tui.cli.group import Invocation
from tui.cli.options import json_option, model_option

if TYPE_CHECKING:
    from agent.actions.run import Act
    from agent.actions.run_log import ActionRun
    from agent.chat.chat import Chat
    from agent.jobs.agent_jobs import AgentJobs
    from agent.outputs.report import PersonaReport
    from personas.actions.document import Action
    from personas.store import Store
    from tui.cli.agent.stream import Printer


@click.command("run")
@click.argument("action_id", metavar="ID")
@json_option("Print one JSON object a line.")
@model_option
@wait_option
@click.pass_obj
def run_command(invocation: Invocation, action_id: str, as_json: bool, wait: float | None) -> None:
    """Run an action now and wait for it; it need not be approved.

    Questions are answered as with `persona chat --task`. For a run of test inputs the exit code is that of `persona test`.

    \b
    persona action run nightly-check
    persona action run nightly-check --json | jq -r 'select(.type == "text_complete").content'
    """
    from agent.core.turns import new_id
    from tui.cli.agent.chat_runner import run_printed

    def begin(printer: Printer) -> int:
        from agent.actions.consent import require_whole
        from personas.action_store import get_action

        action = get_action(invocation.store, action_id)
        require_whole(action)
        return go_on(invocation, action, new_id("run"), printer, wait=answer_timeout(wait, as_json))

    raise click.exceptions.Exit(run_printed(as_json, begin))


def waiting_run(store: Store, name: str) -> ActionRun | None:
    """Return the run of an action with this id, None where a persona has it, or no run.

    Raises:
        InvalidValue: the run does not wait for an answer.
    """
    from agent.actions.run_log import find_run

    run = None if name in store.ids() else find_run(store.home, name)
    if run is not None and (run.state != "waiting" or run.session_id is None):
        why = f" ({run.why})" if run.why else ""
        raise InvalidValue(f"The run {run.id} waits for no answer: it is {run.state}{why}.")
    return run


def go_on(
    invocation: Invocation,
    action: Action,
    run_id: str,
    printer: Printer,
    *,
    wait: float | None,
    act: Act | None = None,
) -> int:
    """Run an action, or go on with a run of it, and print what comes; return the exit code.

    Args:
        invocation: the global options.
        action: what is run.
        run_id: a new id, or that of the run.
        printer: where it is printed.
        wait: seconds a question waits for its answer on stdin, None for as long as somebody may write there.
        act: how the agent's work goes on, as with an answer; None: as the run stands.

    Raises:
        PersonaError: the run's log cannot be written.
    """
    from agent.actions.run import run_action
    from agent.outputs.report import exit_code
    from tui.cli.agent.chat_runner import TaskSession
    from tui.cli.logging_setup import log_to, set_up
    from tui.settings.model_factory import run_context

    set_up()
    log_to(invocation.store.home)
    context = run_context(invocation.store, invocation.agent_settings)
    codes: list[int] = []
    faults: list[Exception] = []
    received: list[signal.Signals] = []
    reports: list[PersonaReport] = []

    async def follow(jobs: AgentJobs, chat: Chat, begin: Act) -> None:
        session = TaskSession(jobs, chat, printer, Answers(answer_timeout=wait), run_id)
        try:
            codes.append(await session.follow(act or begin))
        except Exception as error:
            if act is None and not (printer.reader_gone or printer.unwritable):
                raise
            faults.append(error)  # of the answer, or of stdout: the run is what it is

    async def work() -> ActionRun:
        try:
            return await run_action(
                context,
                action,
                run_id=run_id,
                follow=follow,
                on_wait=printer.notice,
                on_report=reports.append,
            )
        finally:
            await context.evaluator.close()

    async def go() -> ActionRun | None:
        loop, running = asyncio.get_running_loop(), asyncio.ensure_future(work())

        def stop(number: signal.Signals) -> None:
            received.append(number)
            running.cancel()

        for number in handle_signals(OF_SIGNAL):  # the agent's work has its own way to end
            with contextlib.suppress(NotImplementedError, ValueError):
                loop.add_signal_handler(number, stop, number)
        with contextlib.suppress(asyncio.CancelledError):
            return await running
        return None

    run = asyncio.run(go())
    if faults:
        raise faults[0]
    if codes:
        return codes[0]
    _print_end(run, printer)
    if received:
        return OF_SIGNAL[received[0]]
    if reports or (run is not None and not run.why):
        return exit_code(reports)
    return FAILED if action.kind == "agent" else COULD_NOT_RUN


def _print_end(run: ActionRun | None, printer: Printer) -> None:
    """Print what came of a run without the agent: its output as one text, and how it ended. None: it was stopped."""
    from agent.core.events import AgentEnd, Outcome, TurnDelta, TurnEnd, TurnStart
    from agent.core.turns import AssistantTextTurn

    frame: dict[str, Any] = {"run_id": "", "seq": 0, "at": 0.0}
    if run is None:
        printer.finish(AgentEnd(turns=(), outcome="cancelled", **frame))
        return
    if run.output:
        turn = AssistantTextTurn(content=run.output, id=run.id)
        printer.feed(TurnStart(turn=turn, **frame))
        printer.feed(TurnDelta(turn_id=turn.id, text=run.output, **frame))
        printer.feed(TurnEnd(turn=turn, **frame))
    if run.state == "failed":
        printer.fail(run.why)
        return
    if run.why:
        printer.notice(run.why)
    outcomes: dict[str, Outcome] = {"completed": "completed", "interrupted": "limit"}
    outcome = outcomes.get(run.state, "cancelled")
    printer.finish(AgentEnd(turns=(), outcome=outcome, usage=run.usage, **frame))
