"""`persona ask`: one message to one or several personas."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

import click

from personas.errors import InvalidValue, PersonaError
from tui.cli.exit_codes import COULD_NOT_RUN
from tui.cli.group import Invocation
from tui.cli.outputs.running import NO_MODEL, NotRun, OutputRuns, reported_errors
from tui.cli.printing import print_json, print_text
from tui.terminal.sanitise import Sanitiser

if TYPE_CHECKING:
    from agent.outputs.ensemble import PersonaAnswer
    from agent.outputs.variant import Variant


@click.command()
@click.argument("message")
@click.option("--to", "to", metavar="ID[,ID…]", required=True, help="The personas that answer.")
@click.option("--parallel", is_flag=True, help="All at once: nobody hears this round's other answers.")
@click.option("--continue", "go_on", is_flag=True, help="Go on with the last such conversation.")
@click.option("--model", "model", metavar="MODEL", help="The model to run on.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
@click.pass_obj
def ask(
    invocation: Invocation,
    message: str,
    to: str,
    parallel: bool,
    go_on: bool,
    model: str | None,
    as_json: bool,
) -> None:
    """Send a message to personas and print what they answer.

    Nothing is changed. In turn, each hears the earlier answers by name. `-` as the message reads it from stdin.

    \b
    persona ask "I lost my job." --to optimist,skeptic
    persona ask "And now?" --to optimist,skeptic --continue
    """
    from agent.models.prices import show_cost
    from agent.outputs.ensemble import EnsembleConversation, EnsembleLog, PersonaAnswer, ask_all
    from agent.outputs.variant import read_runnable
    from tui.cli.agent.chat_runner import message_of

    began = time.monotonic()

    def report_error(error: PersonaError) -> int:
        from tui.cli.stderr import print_error

        if as_json:
            print_json({"type": "error", "message": str(error)})
        else:
            print_error(str(error))
        return COULD_NOT_RUN

    try:
        said = message_of(message)
    except InvalidValue as error:
        raise click.UsageError(str(error)) from None
    with reported_errors(report_error):
        runs = OutputRuns(invocation, model)
        ids = list(dict.fromkeys(name.strip() for name in to.split(",") if name.strip()))
        if not ids:
            raise click.UsageError("--to names no persona")
        variants = [runs.evaluator.variant(read_runnable(runs.store, one)) for one in ids]
        if not runs.is_connected:
            raise NotRun(NO_MODEL)
        log = EnsembleLog(runs.store.home)
        conversation = (log.last() if go_on else None) or EnsembleConversation()
        conversation.to = tuple(ids)
        pace = runs.evaluator.pace()

    def show(answer: PersonaAnswer) -> None:
        if as_json:
            record = {
                "type": "answer",
                "persona_id": answer.persona_id,
                "name": answer.name,
                "text": answer.text,
            }
            print_json(record | ({"error": answer.error} if answer.error is not None else {}))
        else:
            stream.end(answer)
        sys.stdout.flush()

    stream = AnswerStream(is_on=not (as_json or parallel))

    async def work() -> int:
        log.add(conversation, PersonaAnswer("", "", said))
        answers = await ask_all(
            log,
            conversation,
            variants,
            runs.evaluator.model_of,
            pace,
            at_once=parallel,
            on_answer=show,
            on_start=stream.begin,
            on_text=stream.add,
        )
        failed = sum(one.error is not None for one in answers)
        if as_json:
            end = {"type": "done", "answered": len(answers) - failed, "failed": failed}
            print_json(
                end
                | {
                    "usage": pace.usage.to_record(),
                    "cost": pace.cost,
                    "seconds": round(time.monotonic() - began, 3),
                }
            )
        else:
            print_text(f"{pace.usage.tokens:,} tokens, {show_cost(pace.cost)}")
        return COULD_NOT_RUN if failed else 0

    with reported_errors(report_error):
        code = runs.until_done(work())
    raise click.exceptions.Exit(code)


class AnswerStream:
    """Prints answers one after the other; each as it comes where it is on."""

    def __init__(self, *, is_on: bool) -> None:
        self._is_on = is_on
        self._text: Sanitiser | None = None
        self._is_begun = False  # whether some of the text is printed

    def begin(self, variant: Variant) -> None:
        """Somebody begins to answer; again where an attempt failed, whose text counts no more."""
        if not self._is_on:
            return
        if self._is_begun:
            print_text("\n── the connection was lost; once more:")
        elif self._text is None:
            print_text(f"── {variant.persona_name}")
        self._text, self._is_begun = Sanitiser(), False
        sys.stdout.flush()

    def add(self, _variant: Variant, text: str) -> None:
        """Print more of an answer."""
        if self._text is not None and (shown := self._text.feed(text)):
            sys.stdout.write(shown)
            sys.stdout.flush()
            self._is_begun = True

    def end(self, answer: PersonaAnswer) -> None:
        """Print what is left of an answer, all of it where it did not stream."""
        if self._text is None:
            print_text(f"── {answer.name}")
        if answer.error is not None:
            print_text(f"{chr(10) * self._is_begun}error: {answer.error}\n")
        elif self._text is None:
            print_text(answer.text.rstrip("\n") + "\n")
        else:
            print_text(self._text.flush() + "\n" * (2 - answer.text.endswith("\n")), end="")
        self._text, self._is_begun = None, False
