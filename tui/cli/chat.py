"""`persona chat`: one message to the agent, without a screen."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from typing import TYPE_CHECKING, NoReturn

import click

from personas.errors import InvalidValue, PersonaError
from tui.cli.group import Invocation

if TYPE_CHECKING:
    from agent.chat import Chat
    from agent.events import AgentEnd
    from tui.cli.stream import Printer

CANCELLED = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}
FAILED, READER_GONE = 1, 141


@click.command()
@click.argument("persona_id", metavar="ID")
@click.argument("message")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
@click.option("--model", "model", metavar="MODEL", help="The agent's model, or `offline`.")
@click.option("--new", "fresh", is_flag=True, help="Begin a new conversation.")
@click.pass_obj
def chat(
    invocation: Invocation, persona_id: str, message: str, as_json: bool, model: str | None, fresh: bool
) -> None:
    """Tell the agent what to change about a persona; its answer streams to stdout.

    `-` as the message reads it from stdin.

    \b
    persona chat optimist "make the second line warmer"
    persona chat optimist - --json < request.txt
    """
    from tui.cli.stream import JsonPrinter, TextPrinter

    printer: Printer = JsonPrinter() if as_json else TextPrinter()
    try:
        if model:
            invocation.model_flag = model
        code = _converse(invocation, persona_id, _message(message), fresh, printer)
    except PersonaError as error:
        if not as_json:
            raise
        from tui.cli.complaints import redact

        printer.fail(redact(str(error)))
        code = FAILED
    raise click.exceptions.Exit(code)


def _message(message: str) -> str:
    """Return what the person says.

    Raises:
        InvalidValue: nothing but blanks.
    """
    if message == "-":
        from tui.cli.personas import read_stdin

        message = read_stdin()
    if not message.strip():
        raise InvalidValue("the message is empty; say what to change")
    return message


def _converse(invocation: Invocation, persona_id: str, message: str, fresh: bool, printer: Printer) -> int:
    """Open the conversation, send the message, print what happens; return the exit code."""
    from agent.chat import Chat
    from tui.models import build_model, chat_options, connection

    settings = invocation.config.settings
    conversation = Chat(
        invocation.store,
        persona_id,
        build_model(connection(settings)),
        options=chat_options(settings),
    )
    if fresh:
        conversation.clear()
    else:
        conversation.load()
    for problem in conversation.problems:
        printer.notice(problem)
    return asyncio.run(_run(conversation, message, printer))


async def _run(conversation: Chat, message: str, printer: Printer) -> int:
    loop = asyncio.get_running_loop()
    received: list[signal.Signals] = []

    def stop(number: signal.Signals) -> None:
        received.append(number)
        conversation.abort(f"stopped by {number.name}")

    for number in CANCELLED:
        with contextlib.suppress(NotImplementedError, ValueError):  # a platform or thread without signals
            loop.add_signal_handler(number, stop, number)
    printer.on_reader_gone = lambda: conversation.abort("the reader of stdout went away")
    conversation.subscribe(printer.feed)
    end = await conversation.send(message)
    printer.finish(end)
    if printer.reader_gone:
        _leave_quietly()
    if received and end.outcome == "cancelled":
        return CANCELLED[received[0]]
    return exit_code(end)


def exit_code(end: AgentEnd) -> int:
    """Return the exit code for how a run ended, without a signal."""
    if end.outcome == "failed":
        return FAILED
    return CANCELLED[signal.SIGINT] if end.outcome == "cancelled" else 0


def _leave_quietly() -> NoReturn:
    """Leave when nobody reads stdout any more; everything is saved by now."""
    raise BrokenPipeError
