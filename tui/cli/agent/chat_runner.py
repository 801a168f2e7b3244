"""Running a message or an answer without a screen: printing, questions, signals and the exit code."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, NoReturn

import click

from personas.errors import InvalidValue, PersonaError, StorageError
from personas.files.slug import command
from tui.app.signals import handle_signals
from tui.cli import was_interrupted
from tui.cli.agent.task_answers import Answers
from tui.cli.agent.tasks import open_task, reminder
from tui.cli.exit_codes import FAILED, INTERRUPTED, OF_SIGNAL, WAITS
from tui.cli.printing import summarise
from tui.cli.stderr import unexpected_message
from tui.terminal.secrets import safe_message

if TYPE_CHECKING:
    from agent.chat.chat import Chat
    from agent.core.events import AgentEnd
    from agent.jobs.agent_jobs import AgentJobs
    from agent.jobs.job import Job, Question
    from tui.cli.agent.stream import Printer
    from tui.cli.group import Invocation

LONGEST_MESSAGE = 4_000_000
"""Characters of one message; a megabyte of prompt fits, a file sent by mistake does not."""

Act = Callable[["AgentJobs", "Chat"], Awaitable["Job"]]


def converse(
    invocation: Invocation,
    persona_id: str,
    printer: Printer,
    act: Act,
    *,
    wait: float | None,
    fresh: bool = False,
    between: bool = False,
) -> int:
    """Open the conversation about a persona, call `act`, print the run; return the exit code.

    Args:
        invocation: the global options.
        persona_id: whose conversation.
        printer: where it is printed.
        act: starts a task, answers it or goes on with it.
        wait: seconds a question waits for its answer on stdin, None for as long as somebody may write there.
        fresh: whether a new conversation begins.
        between: whether to remind of a task that could be continued.

    Raises:
        PersonaError: nothing could begin.
    """
    from agent.chat.chat import Chat
    from agent.jobs.agent_jobs import AgentJobs
    from agent.jobs.recovery import leave_task
    from agent.jobs.saved_approvals import SavedApprovals
    from tui.cli.logging_setup import log_to, set_up
    from tui.settings.model_factory import (
        agent_outputs,
        build_model,
        chat_options,
        connection,
        task_options,
    )

    set_up()
    settings = invocation.agent_settings
    log_to(invocation.store.home)
    outputs = agent_outputs(invocation.store, persona_id, settings)
    chat = Chat(
        invocation.store,
        persona_id,
        build_model(connection(settings)),
        options=chat_options(settings),
        on_settle=printer.settled,
        on_wait=printer.notice,
        outputs=outputs,
    )
    if fresh:
        if left := leave_task(invocation.store, persona_id):
            printer.notice(left)
        chat.clear()
    else:
        chat.load()
    for problem in summarise(chat.problems):
        printer.notice(problem)
    if between and (task := open_task(invocation.store, persona_id)) and (left := reminder(task)):
        printer.notice(left)

    async def go() -> int:
        runner = AgentJobs(task_options(settings), grants=SavedApprovals.of_person())
        try:
            follow = TaskSession(runner, chat, printer, Answers(answer_timeout=wait), persona_id).follow
            return await follow(act)
        finally:
            await chat.close()
            if outputs is not None:
                await outputs.close()

    return asyncio.run(go())


class TaskSession:
    """Follows one task until it ends or waits.

    Args:
        runner: runs the task.
        chat: the conversation it works in.
        printer: where it is printed.
        answers: what the person says to its questions.
        reply_to: what `persona reply` is given to go on with it.
    """

    def __init__(
        self, runner: AgentJobs, chat: Chat, printer: Printer, answers: Answers, reply_to: str
    ) -> None:
        self._reply_to = reply_to
        self._runner = runner
        self._chat = chat
        self._printer = printer
        self._answers = answers
        self._received: list[signal.Signals] = []
        self._asked: str | None = None
        self._waits = False
        self._answering: asyncio.Task[None] | None = None

    async def follow(self, act: Act) -> int:
        """Begin the task and wait until it ends or has to be left waiting; return the exit code."""
        runner, printer, persona_id = self._runner, self._printer, self._chat.persona_id
        loop = asyncio.get_running_loop()
        for number in handle_signals(OF_SIGNAL):
            with contextlib.suppress(NotImplementedError, ValueError):  # a platform or thread without signals
                loop.add_signal_handler(number, self._stop, number)
        printer.on_reader_gone = lambda: self._leave("the reader of stdout went away")
        self._chat.subscribe(printer.feed)
        runner.observe(self._see)
        task = await act(runner, self._chat)
        end = await runner.wait(persona_id)
        if self._answering is not None:
            self._answering.cancel()
        if end is None and not self._waits:
            return self._report_without_run(task)
        if self._waits:
            printer.advise(self._how_to_answer())
        elif end is not None:
            self._offer_to_continue(runner.job(persona_id))
            if (proposal := await asyncio.to_thread(lambda: self._chat.proposal)) is not None:
                printer.advise(_what_to_do(persona_id, proposal))
            printer.finish(end, proposal)
        if printer.reader_gone:
            _raise_reader_gone()
        if printer.unwritable is not None:
            raise StorageError(
                f"cannot write to stdout: {printer.unwritable.strerror}; what was done is saved"
            )
        if self._received and (self._waits or (end is not None and end.outcome == "cancelled")):
            return OF_SIGNAL[self._received[0]]
        return WAITS if self._waits or end is None else exit_code(end)

    def _how_to_answer(self) -> str:
        from personas.files import trust

        home, task = self._chat.store.home.root, self._runner.job(self._chat.persona_id)
        is_approval = task is not None and task.pending is not None and task.pending.approval is not None
        first = (
            "trust this home with persona trust, if it is yours; then "
            if is_approval and not trust.is_trusted(home)
            else ""
        )
        return f'{first}answer with: {command("reply", self._reply_to)} "…"'

    def _report_without_run(self, task: Job) -> int:
        """No run took place: the task is closed, or its question is open again."""
        if task.is_waiting and task.pending is not None:
            self._printer.question(task.pending)
            return WAITS
        self._printer.close("stopped; its changes stay, `persona undo` undoes them")
        return 0

    def _offer_to_continue(self, task: Job | None) -> None:
        is_its_own = self._reply_to == self._chat.persona_id  # a run of an action that is over stays so
        if is_its_own and task is not None and task.can_continue and task.kind == "task":
            self._printer.notice(f"To go on: {command('reply', task.persona_id)} continue")

    def _stop(self, number: signal.Signals) -> None:
        self._received.append(number)
        if number == signal.SIGINT:
            self._runner.stop(self._chat.persona_id, f"stopped by {number.name}")
        else:
            self._leave(f"stopped by {number.name}")

    def _leave(self, reason: str) -> None:
        """End the command without stopping the task: `persona reply` continues it."""
        if not self._park():
            self._runner.interrupt(self._chat.persona_id, reason)

    def _park(self) -> bool:
        """Leave the task waiting, for `persona reply`; return whether it waits."""
        task = self._runner.job(self._chat.persona_id)
        if task is None or not task.is_waiting or not self._runner.is_live(self._chat.persona_id):
            return False
        if not self._runner.suspend(self._chat.persona_id):
            return False  # the answer came a moment ago
        self._waits = True
        self._printer.mute()
        return True

    def _see(self, task: Job) -> None:
        question = task.pending
        if question is None or not task.is_waiting or question.id == self._asked:
            return
        if not self._runner.is_live(task.persona_id):
            return
        self._asked = question.id
        self._printer.question(question)
        self._answering = asyncio.get_running_loop().create_task(self._answer(question))

    async def _answer(self, question: Question) -> None:
        """Answer a question from stdin; leave the task waiting when nobody is there."""
        while (text := await self._answers.next()) is not None:
            try:
                await self._runner.respond(self._chat, picked(question, text), question_id=question.id)
            except PersonaError as error:  # no answer to this, or the disk refuses it: it is still asked
                self._printer.notice(str(error))
            else:
                return
        self._park()


def _what_to_do(persona_id: str, proposal: str) -> str:
    restore = f"{command('restore', persona_id)} {proposal}"
    return (
        f"nothing is written: {proposal} needs review. See it: {command('diff', persona_id)} {proposal} · "
        f"keep it: {restore} · refuse it: {restore} --refuse"
    )


def picked(question: Question, text: str) -> str:
    """Return the option a bare number picks, and any other answer as it is."""
    if question.approval is None and text.isascii() and text.isdigit() and text not in question.options:
        place = int(text[:4])
        if 1 <= place <= len(question.options):
            return question.options[place - 1]
    return text


def exit_code(end: AgentEnd) -> int:
    """Return the exit code for how a run ended, without a signal."""
    if end.outcome == "failed":
        return FAILED
    return INTERRUPTED if end.outcome == "cancelled" else 0


def run_printed(as_json: bool, action: Callable[[Printer], int]) -> int:
    """Make the printer and call `action` with it; print errors of its start; return the exit code."""
    from agent.core.events import AgentEnd
    from tui.cli.agent.stream import JsonPrinter, TextPrinter

    printer: Printer = JsonPrinter() if as_json else TextPrinter()

    def cancelled() -> int:
        printer.finish(AgentEnd(run_id="", seq=0, at=0.0, turns=(), outcome="cancelled"))
        return INTERRUPTED

    try:
        return action(printer)
    except KeyboardInterrupt:  # before the signal handlers are set
        return cancelled()
    except PersonaError as error:
        if not as_json or printer.unwritable is not None:
            raise
        printer.fail(safe_message(str(error)))
        return FAILED
    except (BrokenPipeError, click.exceptions.Exit, click.ClickException, click.Abort):
        raise
    except Exception as error:
        if was_interrupted(error):
            return cancelled()
        if as_json:
            printer.fail(safe_message(unexpected_message(error)))
        raise


def message_of(argument: str) -> str:
    """Return the message of the command line; `-` reads it from stdin.

    Raises:
        InvalidValue: nothing but blanks.
    """
    if argument == "-":
        from tui.cli.personas.manage import read_stdin

        argument = read_stdin().removesuffix("\n")
    if not argument.strip():
        raise InvalidValue("the message is empty; write one")
    if not argument.isprintable() and any("\ud800" <= character <= "\udfff" for character in argument):
        raise InvalidValue("the message is not UTF-8 text")
    if len(argument) > LONGEST_MESSAGE:
        raise InvalidValue(
            f"the message has {len(argument):,} characters; {LONGEST_MESSAGE:,} are the most. Put a long text into the "
            "file with `persona edit`"
        )
    return argument


def _raise_reader_gone() -> NoReturn:
    """Raise the error for a reader of stdout that went away; everything is saved."""
    raise BrokenPipeError
