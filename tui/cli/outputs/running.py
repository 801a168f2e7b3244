"""What the commands that run outputs share: the model, what a run will cost, the run itself, signals and exit codes."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
from collections.abc import Callable, Coroutine, Iterator
from typing import TYPE_CHECKING, Any

import click

from personas.errors import PersonaError, UnknownPersona, UnknownVersion
from tui.app.signals import handle_signals
from tui.cli.exit_codes import COULD_NOT_RUN, OF_SIGNAL
from tui.cli.printing import print_text

if TYPE_CHECKING:
    from agent.models.anthropic.batches import BatchStatus
    from agent.outputs.cost import Estimate
    from agent.outputs.evaluator import Evaluator
    from agent.outputs.runner import OutputRun
    from personas.store import Store
    from tui.cli.group import Invocation
    from tui.settings.schema import Settings

NO_MODEL = (
    "no model is connected, and the offline model does not answer as a persona; set ANTHROPIC_API_KEY, name a server in "
    "base_url, or connect one with /model in the program (`persona doctor` shows what is set)"
)


class NotRun(PersonaError):
    """Something could not be run: no model, or nobody agreed to what it costs."""


class Stopped(Exception):
    """A signal ended the run; what is done is kept."""

    def __init__(self, number: signal.Signals) -> None:
        super().__init__(f"stopped by {number.name}")
        self.code = OF_SIGNAL[number]


def complain_of(error: PersonaError) -> int:
    """Tell what kept a command from running; return the exit code."""
    from tui.cli.stderr import print_error

    print_error(str(error))
    return COULD_NOT_RUN


@contextlib.contextmanager
def reported_errors(on_error: Callable[[PersonaError], int] = complain_of) -> Iterator[None]:
    """Make an unknown persona, input, version or git ref a wrong usage, and all else what could not be run.

    Code 1 would say that an expectation failed.

    Args:
        tell: tells an error and returns the exit code.
    """
    from agent.outputs.variant import UnknownInput

    try:
        yield
    except (UnknownPersona, UnknownVersion, UnknownInput) as error:
        raise click.UsageError(str(error).removesuffix(".")) from None
    except PersonaError as error:
        raise click.exceptions.Exit(on_error(error)) from None


class OutputRuns:
    """The runs of one command: which model, at what pace, in which home.

    Args:
        invocation: the global options.
        model: what `--model` of the command says.
        jobs: what `--jobs` says.
    """

    def __init__(self, invocation: Invocation, model: str | None = None, jobs: int | None = None) -> None:
        from tui.settings.model_factory import evaluator

        invocation.model_flag = model or invocation.model_flag
        self.settings: Settings = invocation.agent_settings
        self.store: Store = invocation.store
        self.evaluator: Evaluator = evaluator(
            self.store, self.settings, model=invocation.model_flag, jobs=jobs
        )
        self._received: list[signal.Signals] = []
        self._stop: Callable[[], object] | None = None  # ends the run at work

    @property
    def is_connected(self) -> bool:
        """Whether there is a model that can answer as a persona."""
        return self.evaluator.is_connected

    def confirm(self, estimate: Estimate, *, agreed: bool, as_json: bool) -> None:
        """Ask the person where a run is expensive.

        Raises:
            NotRun: nobody is there to ask, or they said no.
        """
        if agreed or not estimate.must_ask(self.settings.confirm_dollars, self.settings.confirm_requests):
            return
        if not as_json and sys.stdin.isatty() and sys.stderr.isatty():
            if click.confirm(f"This takes {estimate.sentence()}. Run it?", err=True):
                return
            raise NotRun("nothing was run")
        raise NotRun(f"this takes {estimate.sentence()}; --yes runs it without asking")

    def pick_up(self, *persona_ids: str) -> None:
        """Store what open batches of these personas have brought; what keeps it from that is told."""

        async def work(those: list[str]) -> int:
            for one in those:
                await self.evaluator.pick_up(one, complain_of)
            return 0

        if not self.is_connected or not (those := [one for one in persona_ids if self._has_batch(one)]):
            return
        if code := self.until_done(work(those)):
            raise click.exceptions.Exit(code)

    def _has_batch(self, persona_id: str) -> bool:
        from agent.outputs.output_log import OutputLog

        return bool(OutputLog(self.store.home, persona_id).read().batches)

    def attend(self, run: OutputRun | None) -> None:
        """Have a signal end this run, None: the whole command."""
        self._stop = None if run is None else run.stop

    @property
    def is_stopped(self) -> bool:
        """Whether a signal came."""
        return bool(self._received)

    def raise_if_stopped(self) -> None:
        """Raise `Stopped` after a signal."""
        if self._received:
            raise Stopped(self._received[0])

    def until_done(self, work: Coroutine[Any, Any, int]) -> int:
        """Run the command's work to its end; return its exit code, or the one of the signal that ended it."""

        async def go() -> int:
            loop, task = asyncio.get_running_loop(), asyncio.ensure_future(work)

            def hear(number: signal.Signals) -> None:
                self._received.append(number)
                if self._stop is None or len(self._received) > 1:
                    task.cancel()
                else:
                    self._stop()

            for number in handle_signals(OF_SIGNAL):
                with contextlib.suppress(NotImplementedError, ValueError):
                    loop.add_signal_handler(number, hear, number)
            try:
                code = await task
                self.raise_if_stopped()
                return code
            except asyncio.CancelledError:
                self.raise_if_stopped()
                raise
            finally:
                await self.evaluator.close()

        try:
            return asyncio.run(go())
        except Stopped as stopped:
            return stopped.code


def until_judged(runs: OutputRuns, work: Coroutine[Any, Any, int]) -> int:
    """Run the work of a command; what could not be run at all is exit code 4, never a failed expectation."""
    try:
        return runs.until_done(work)
    except PersonaError as error:
        return complain_of(error)


def say_batch(status: BatchStatus) -> None:
    """Tell on stderr how far a batch is."""
    from tui.cli.stderr import print_note

    hint = "" if status.done else "; Ctrl+C leaves it, and later commands pick up its results"
    print_note(f"batch {status.id}: {status.done} of {status.total} done{hint}")


def say_estimate(estimate: Estimate, as_json: bool) -> None:
    """Print what a run would take, for `--dry-run`."""
    from tui.cli.printing import print_json

    if as_json:
        print_json(
            {"requests": estimate.requests, "dollars": estimate.dollars, "unpriced": estimate.unpriced}
        )
    else:
        print_text(estimate.sentence())
