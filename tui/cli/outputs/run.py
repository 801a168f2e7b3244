"""`persona run`: runs test inputs and stores what comes back."""

from __future__ import annotations

import asyncio
import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from personas.errors import PersonaError
from tui.cli.exit_codes import COULD_NOT_RUN
from tui.cli.group import Invocation
from tui.cli.options import batch_option, dry_option, jobs_option, samples_option, yes_option
from tui.cli.outputs.running import (
    NO_MODEL,
    NotRun,
    OutputRuns,
    reported_errors,
    say_batch,
    say_estimate,
)
from tui.cli.printing import print_json, print_text

if TYPE_CHECKING:
    from agent.models.anthropic.batches import BatchStatus
    from agent.outputs.output_log import Output
    from agent.outputs.rate_limiter import RateLimiter
    from agent.outputs.runner import OutputEvent, Plan


@click.command()
@click.argument("persona_id", metavar="ID")
@click.option(
    "--input", "inputs", metavar="INPUT", multiple=True, help="Only this test input; may be repeated."
)
@samples_option
@jobs_option
@click.option(
    "--version", "version", metavar="VERSION", help="The prompt of this version, from `persona log`."
)
@click.option("--model", "model", metavar="MODEL", help="The model to run on.")
@click.option("--missing", is_flag=True, help="Only what has no fresh output.")
@batch_option
@yes_option
@dry_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
@click.pass_obj
def run(
    invocation: Invocation,
    persona_id: str,
    inputs: tuple[str, ...],
    samples: int | None,
    jobs: int | None,
    version: str | None,
    model: str | None,
    missing: bool,
    batch: bool,
    agreed: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Send the test inputs of a persona to its model.

    The answers are stored. Ctrl+C ends the run at once and keeps what is done; --missing runs the rest.

    \b
    persona run optimist
    persona run optimist --input rain --samples 3
    persona run optimist --version 4 --missing
    persona run optimist --samples 20 --batch
    """
    from agent.outputs.batches import PRICE
    from agent.outputs.cost import estimate
    from agent.outputs.output_log import OutputLog
    from agent.outputs.runner import OutputRun, plan
    from agent.outputs.variant import chosen_inputs, read_runnable

    printer = _RunPrinter(persona_id, as_json)
    with reported_errors(printer.fail):
        runs = OutputRuns(invocation, model, jobs)
        persona = read_runnable(runs.store, persona_id)
        chosen = chosen_inputs(persona, inputs)
        runs.pick_up(persona_id)
        variant = runs.evaluator.variant(persona, version=version, fixed=version is None and not dry_run)
        log = OutputLog(runs.store.home, persona_id)
        stored = log.read()
    planned = plan(stored, variant, chosen, samples=samples, only_missing=missing)
    expected = estimate(planned.trials, stored, runs.evaluator.endpoint).times(PRICE if batch else 1.0)
    if dry_run:
        say_estimate(expected, as_json)
        return
    pace = runs.evaluator.pace()

    async def work() -> int:
        if planned.trials and not runs.is_connected:
            raise NotRun(NO_MODEL)
        runs.confirm(expected, agreed=agreed, as_json=as_json)
        try:
            if batch and runs.is_connected:
                batches = runs.evaluator.batches(persona_id, printer.say_batch)
                if planned.trials:
                    await batches.submit(planned.trials)
                for output in await batches.follow(printer.take):
                    pace.count(output.usage, output.cost)
            elif planned.trials:
                run = OutputRun(
                    log,
                    planned.trials,
                    runs.evaluator.model_of,
                    pace,
                    on_event=printer.hear,
                    jobs=runs.evaluator.options.jobs,
                )
                runs.attend(run)
                await run.go()
            await asyncio.to_thread(runs.evaluator.thin, persona_id)
        except asyncio.CancelledError:
            printer.done(planned, pace, stop_reason="cancelled")
            raise
        made = replace(planned, in_batches=0) if batch else planned
        return printer.done(made, pace, stop_reason="cancelled" if runs.is_stopped else None)

    try:
        code = runs.until_done(work())
    except PersonaError as error:
        code = printer.fail(error)
    except KeyboardInterrupt:  # before the run could hear of it
        printer.done(planned, pace, stop_reason="cancelled")
        code = 130
    raise click.exceptions.Exit(code)


class _RunPrinter:
    """Prints a run: an answer whole once it is stored, or one JSON object a line."""

    def __init__(self, persona_id: str, as_json: bool) -> None:
        self._persona_id = persona_id
        self._as_json = as_json
        self._began = time.monotonic()
        self._outputs: list[Output] = []

    def hear(self, event: OutputEvent) -> None:
        """Print an event of the run."""
        from agent.outputs.runner import OutputEnd, OutputText

        trial = event.trial
        which = {"persona_id": self._persona_id, "input_id": trial.test_input.id, "sample": trial.sample}
        if isinstance(event, OutputEnd):
            self.take(event.output)
        elif not self._as_json:
            return
        elif isinstance(event, OutputText):
            self._line({"type": "text_delta", **which, "content": event.text})
        else:
            self._line({"type": "output_start", **which})

    def take(self, output: Output) -> None:
        """Print an output that is stored."""
        self._outputs.append(output)
        if self._as_json:
            self._line(output.to_record())
        else:
            self._say(output)

    def say_batch(self, status: BatchStatus) -> None:
        """Tell how far a batch is."""
        if self._as_json:
            self._line({"type": "batch", "batch_id": status.id, "done": status.done, "total": status.total})
        else:
            say_batch(status)

    def done(self, planned: Plan, pace: RateLimiter, stop_reason: str | None = None) -> int:
        """Print the end; return the exit code where no signal says another."""
        from agent.models.prices import show_cost
        from tui.cli.stderr import print_error

        for input_id, fault in planned.faults.items():
            print_error(f"the test input {input_id} cannot be run: {fault}")
        failed = sum(one.error is not None for one in self._outputs) + len(planned.faults)
        ran = sum(one.error is None for one in self._outputs)
        if self._as_json:
            end: dict[str, Any] = {
                "type": "done",
                "ran": ran,
                "failed": failed,
                "reused": len(planned.reused),
            }
            end |= {"usage": pace.usage.to_record(), "cost": pace.cost}
            end |= {"seconds": round(time.monotonic() - self._began, 3)}
            end |= {"in_batches": planned.in_batches} if planned.in_batches else {}
            self._line(end | ({"stop_reason": stop_reason} if stop_reason else {}))
        else:
            parts = [f"{ran} ran"] + [f"{n} {word}" for n, word in
                     ((failed, "could not be run"), (len(planned.reused), "fresh already"),
                      (planned.in_batches, "in a batch")) if n]  # fmt: skip
            price = f"{pace.usage.tokens:,} tokens, {show_cost(pace.cost)}" if self._outputs else ""
            print_text(
                f"{', '.join(parts)}{'; stopped' if stop_reason else ''}{f' ({price})' if price else ''}"
            )
        return COULD_NOT_RUN if failed else 0

    def fail(self, error: PersonaError) -> int:
        """Tell what kept the run from beginning or going on; return the exit code."""
        from tui.cli.stderr import print_error

        if self._as_json:
            self._line({"type": "error", "message": str(error)})
        else:
            print_error(str(error))
        return COULD_NOT_RUN

    def _say(self, output: Output) -> None:
        taken = "" if output.seconds is None else f" · {output.seconds:.1f} s"
        print_text(f"── {output.input_id} · {output.sample}{taken}")
        print_text(f"error: {output.error}" if output.error is not None else output.text.rstrip("\n"))
        print_text()
        sys.stdout.flush()

    def _line(self, record: dict[str, Any]) -> None:
        print_json(record)
        sys.stdout.flush()
