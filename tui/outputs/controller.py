"""The outputs of the open persona: read from its log, judged by what the persona is now, and run.

Everything that asks the persona's model on the screen goes through `run` or `evaluate`. The log on the disk is the
truth: what other programs add to it is seen a moment later.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from personas.errors import InvalidValue
from tui.commands.registry import first_key
from tui.outputs.run import Attend, OutputKey, Progress, Result, RunAtWork, Work

if TYPE_CHECKING:
    from agent.outputs.cost import Estimate
    from agent.outputs.evaluation import Evaluation
    from agent.outputs.evaluator import Evaluator
    from agent.outputs.expectations import Verdict
    from agent.outputs.output_log import Output, OutputLog, Stored
    from agent.outputs.rate_limiter import RateLimiter
    from agent.outputs.report import InputReport, PersonaReport
    from agent.outputs.runner import PlannedSample, RunEvent
    from agent.outputs.variant import Variant
    from personas.compiled import Options
    from personas.files.file_stamp import Stamp
    from personas.persona import Persona, TestInput
    from personas.store import Store
    from tui.settings.schema import Settings

FRAME = 0.05
"""Seconds between two looks of the listeners, however fast outputs stream."""
FIRST_READ = 400
"""Records that are read first, so that the newest outputs stand at once; all others are read behind them."""
NO_MODEL = "No model is connected, and the offline model does not answer as a persona. /model connects one."


class OutputsHost(Protocol):
    """What the controller asks of the screen."""

    def show_message(self, message: str, *, error: bool = False) -> None:
        """Show a message for a moment."""

    def show_run_end(self, message: str) -> None:
        """Show how a run ended, where it was seen how far it is."""

    async def confirm(
        self, question: str, text: str, *, action: str, keep: str, danger: bool = False
    ) -> bool:
        """Ask whether something is to be done."""

    def start(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Run something beside the screen; a fault in it is told."""

    def start_once(self, work: Callable[[], Coroutine[Any, Any, Any]]) -> None:
        """The same, unless the last time is still under way."""


class InputState(NamedTuple):
    """What is known of one test input.

    Attributes:
        report: the verdict on its newest outputs, the fresh ones first, by the expectations as they are now.
        last: the newest of these outputs; None while there is none.
        outdated: what `last` was made from that is another now: prompt, input, model, settings.
        tried_with: overrides and stage that `last` was made with, see `tried_with` of the controller.
    """

    report: InputReport
    last: Output | None
    outdated: tuple[str, ...]
    tried_with: str = ""


class OutputsController:
    """Holds the outputs of the open persona, and runs its test inputs.

    Args:
        host: the screen.
        flush: stores unsaved text.
        make_evaluator: makes what runs and judges, by the settings and the connection as they are; it is given what
            hears of the runs. May block.
        settings: returns the person's settings.
    """

    def __init__(
        self,
        host: OutputsHost,
        *,
        flush: Callable[[], Any],
        make_evaluator: Callable[[Store, Callable[[RunEvent], None]], Evaluator],
        settings: Callable[[], Settings],
    ) -> None:
        self.persona: Persona | None = None
        """The open persona, as it is stored."""
        self._host, self._flush, self._settings = host, flush, settings
        self._make_evaluator = make_evaluator
        self._store: Store | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._evaluator: Evaluator | None = None
        self._replaced: list[Evaluator] = []
        self._listeners: list[Callable[[], object]] = []
        self._emit_timer: asyncio.TimerHandle | None = None
        self._log: OutputLog | None = None
        self._stored: Stored | None = None
        self._is_complete = asyncio.Event()
        self._stamp: Stamp | None = None
        self._states: dict[str, InputState] = {}
        self._options: dict[str, Options] = {}  # by persona
        self._prompts: Mapping[str, str] = {}
        self._due: set[str] = set()
        self._judging: asyncio.Task[None] | None = None
        self._streams: dict[OutputKey, list[str] | None] = {}  # None: not begun yet
        self._runs: list[RunAtWork[Any]] = []
        self._choosing = asyncio.Lock()  # what a run sends is chosen by one at a time
        self._pace: RateLimiter | None = None

    # -- what there is ----------------------------------------------------------------------------------

    @property
    def is_complete(self) -> bool:
        """Whether the whole log is read; before, the newest outputs are there."""
        return self._is_complete.is_set()

    @property
    def stored(self) -> Stored | None:
        """Everything that is read of the log so far, kept up to date; None where there is no persona."""
        return self._stored

    @property
    def all_stored(self) -> Stored | None:
        """The same once the whole log is read, before that None."""
        return self._stored if self.is_complete else None

    @property
    def evaluator(self) -> Evaluator:
        """What runs and judges, by the settings as they are now. The first call after a change of them may block."""
        assert self._store is not None
        if (evaluator := self._evaluator) is None:
            evaluator = self._evaluator = self._make_evaluator(self._store, self._hear_in_loop)
        return evaluator

    def state(self, input_id: str) -> InputState | None:
        """Return what is known of a test input; None where there is no output of the persona, or none is read yet."""
        return self._states.get(input_id)

    def report(self, input_id: str) -> InputReport | None:
        """Return the verdict on a test input; None as `state`."""
        return state.report if (state := self._states.get(input_id)) is not None else None

    def outputs_of(self, input_id: str) -> list[Output]:
        """Return the outputs of a test input, the newest first; all of them once the log is read."""
        return self._stored.of_input(input_id)[::-1] if self._stored is not None else []

    def streaming(self, input_id: str) -> Mapping[int, str | None]:
        """Return the outputs of a test input that are being made: by sample the text so far, None before the first."""
        if self.persona is None:
            return {}
        return {
            key.sample: None if parts is None else "".join(parts)
            for key, parts in sorted(self._streams.items(), key=lambda one: one[1] is not None)
            if (key.persona_id, key.input_id) == (self.persona.id, input_id)
        }

    def streamed(self, trial: PlannedSample) -> str | None:
        """Return the text so far of one output that is being made; None where it has not begun."""
        parts = self._streams.get(OutputKey.of(trial))
        return None if parts is None else "".join(parts)

    async def verdicts(self, output: Output) -> list[Verdict]:
        """Return the verdict on each expectation of any output, by the expectations as they are now."""
        return await asyncio.to_thread(self._verdicts, output)

    def outdated(self, output: Output) -> list[str]:
        """Return what any output was made from that is another now: prompt, input, model, settings. May block."""
        from agent.outputs.output_log import outdated

        if self.persona is None:
            return []
        found = next((one for one in self.persona.test_inputs if one.id == output.input_id), None)
        return outdated(output, self.evaluator.variant_now(self.persona, self.options), found)

    # -- overrides and stage of this sitting --------------------------------------------------------------

    @property
    def options(self) -> Options | None:
        """The overrides and the stage that the open persona is tried with until the program ends; None for none."""
        return self._options.get(self.persona.id) if self.persona is not None else None

    def try_with(self, options: Options | None) -> None:
        """Try the open persona with these overrides and this stage from now on; nothing is written."""
        if self.persona is not None:
            self._options.pop(self.persona.id, None)
            if options is not None:
                self._options[self.persona.id] = options
            self._judge()

    def name_prompts(self, names: Mapping[str, str]) -> None:
        """Say what overrides and stage these prompts, by their hashes, are put together with."""
        if names != self._prompts:
            self._prompts = names
            self._judge()

    def tried_with(self, output: Output) -> str:
        """Return with which overrides and stage an output was made, in words; empty for none, and if it is not known."""
        return self._prompts.get(output.prompt_hash, "")

    async def reports_with(self, options: Options) -> list[InputReport]:
        """Return the verdicts on the fresh outputs that the open persona has with these overrides and this stage."""
        persona, stored = self.persona, self._stored
        if persona is None or stored is None or not stored.outputs:
            return []
        return await asyncio.to_thread(self._reports_with, persona, stored, options)

    def _reports_with(self, persona: Persona, stored: Stored, options: Options) -> list[InputReport]:
        from agent.outputs.report import report_input

        variant = self.evaluator.variant_now(persona, options)
        judge_model = self.evaluator.judge_name(persona, variant)
        return [report_input(stored, variant, one, judge_model=judge_model) for one in persona.test_inputs]

    @property
    def progress(self) -> Progress | None:
        """How far the runs of this program are; None where nothing runs. Runs of the agent are its own."""
        if not self._runs or self._pace is None:
            return None
        made = [one for run in self._runs for one in run.made]
        return Progress(
            done=len(made),
            total=sum(run.total for run in self._runs),
            failed=sum(self._verdict(one) == "fail" for one in made),
            errors=sum(one.error is not None for one in made),
            usage=self._pace.usage,
            cost=self._pace.cost,
            is_judging=all(run.is_judging for run in self._runs),
            work=", ".join(dict.fromkeys(run.name for run in self._runs if run.name)),
        )

    def _verdict(self, output: Output) -> str | None:
        """Return the verdict on an output that a test input is judged by; None for all others."""
        report = self.report(output.input_id)
        is_judged = report is not None and report.outputs.get(output.sample) is output
        return report.sample_verdicts.get(output.sample) if report is not None and is_judged else None

    def observe(self, listener: Callable[[], object]) -> Callable[[], None]:
        """Call `listener` soon after anything here is another; returns what ends that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener) if listener in self._listeners else None

    # -- opening and changes ----------------------------------------------------------------------------

    def begin(self, store: Store) -> None:
        """The home is read."""
        self._store, self._loop = store, asyncio.get_running_loop()
        if self.persona is not None:  # read before the home was
            self._host.start(self._open(store, self.persona))

    def show(self, persona: Persona | None) -> None:
        """The open persona is this one now, as it is stored; None for none."""
        before, self.persona = self.persona, persona
        if persona is not None and before is not None and persona.id == before.id:
            known = {one.id for one in persona.test_inputs}
            self._states = {key: state for key, state in self._states.items() if key in known}
            self._judge()
            return
        self._log = self._stored = None
        self._states, self._due = {}, set()
        self._is_complete.clear()
        self._change()
        if persona is not None and self._store is not None:
            self._host.start(self._open(self._store, persona))

    def look(self) -> None:
        """A second went by: see what other programs have added to the log."""
        self._host.start_once(self._look)

    def settings_changed(self) -> None:
        """Settings, model or connection are others now: what runs and judges is made anew."""
        if self._evaluator is not None:
            self._replaced.append(self._evaluator)
            self._evaluator = None
            self._close_replaced()
            self._judge()

    async def close(self) -> None:
        """The program ends: runs are left, what is stored stays."""
        if self._emit_timer is not None:
            self._emit_timer.cancel()
        self._listeners.clear()
        tasks = [run.task for run in self._runs]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        for evaluator in (*self._replaced, self._evaluator):
            if evaluator is not None:
                await evaluator.close()

    async def _open(self, store: Store, persona: Persona) -> None:
        """Read the log of another persona: the newest records first, then all."""

        def begin() -> tuple[OutputLog, Stored, Stamp | None, int]:
            from agent.outputs.output_log import OutputLog, Stored

            log, stored = OutputLog(store.home, persona.id), Stored()
            stamp, records = log.stamp, log.newest(FIRST_READ)
            stored.take(records)
            return log, stored, stamp, len(records)

        is_all = True
        try:
            log, stored, stamp, number = await asyncio.to_thread(begin)
            is_all = number < FIRST_READ
            if self.persona is not None and self.persona.id == persona.id:
                self._log, self._stored, self._stamp = log, stored, stamp
                self._judge()
        finally:  # the next look reads the rest: the newest are on the screen by then
            if is_all and self.persona is not None and self.persona.id == persona.id:
                await self._complete(persona.id)

    async def _complete(self, persona_id: str) -> None:
        """All of the log is read."""
        self._is_complete.set()
        self._change()
        if self._stored is not None and self._stored.batches:
            evaluator = await asyncio.to_thread(lambda: self.evaluator)
            await evaluator.pick_up(persona_id)  # what they have brought is read by the next look

    async def _look(self) -> None:
        log, stored, persona = self._log, self._stored, self.persona
        if log is None or stored is None or persona is None:
            return
        stamp, is_first = await asyncio.to_thread(lambda: log.stamp), not self.is_complete
        if stamp == self._stamp and not is_first:
            return
        records = [] if is_first else await asyncio.to_thread(log.newest, FIRST_READ)
        oldest = next((one.get("id") for one in records if one.get("type") == "output"), None)
        if is_first or (len(records) == FIRST_READ and not stored.has(str(oldest))):
            stored, records = await asyncio.to_thread(log.read), []
        if self._log is log:
            self._stamp, self._stored = stamp, stored
            stored.take(records)
            self._judge()
            if is_first:
                await self._complete(persona.id)

    # -- judging ----------------------------------------------------------------------------------------

    def _judge(self, *input_ids: str) -> None:
        """Judge these test inputs anew, all of them where none is named."""
        if self.persona is None or self._stored is None:
            return
        if not self._stored.outputs:  # what judges is not loaded for nothing
            self._change()
            return
        self._due.update(input_ids or [one.id for one in self.persona.test_inputs])
        if self._judging is None or self._judging.done():
            self._judging = self._host.start(self._judge_due())

    async def _judge_due(self) -> None:
        while self._due and (persona := self.persona) is not None and (stored := self._stored) is not None:
            due, self._due = self._due, set()
            inputs = [one for one in persona.test_inputs if one.id in due]
            states = await asyncio.to_thread(self._states_of, persona, stored, inputs)
            if self.persona is not None and self.persona.id == persona.id:
                known = {one.id for one in self.persona.test_inputs}
                self._states |= {key: state for key, state in states.items() if key in known}
                self._change()

    def _states_of(
        self, persona: Persona, stored: Stored, inputs: Sequence[TestInput]
    ) -> dict[str, InputState]:
        """Judge test inputs; runs in a thread, since a regular expression may take its time."""
        from agent.outputs.output_log import outdated
        from agent.outputs.report import report_input
        from agent.outputs.variant import samples_of

        variant, judge_model = self._judged_by(persona)
        states = {}
        for one in inputs:
            errors: dict[tuple[str, int], Output] = {}  # newer than the answer to the same sample
            for output in stored.of_input(one.id)[-samples_of(one) :]:
                if output.error is not None and not outdated(output, variant, one):
                    errors[one.id, output.sample] = output
                else:
                    errors.pop((one.id, output.sample), None)
            report = report_input(
                stored, variant, one, judge_model=judge_model, made=errors, outdated_too=True
            )
            last = max(report.outputs.values(), key=lambda output: output.started_at, default=None)
            why = () if last is None else tuple(outdated(last, variant, one))
            tried_with = "" if last is None else self.tried_with(last)
            states[one.id] = InputState(report, last, why, tried_with)
        return states

    def _verdicts(self, output: Output) -> list[Verdict]:
        from agent.outputs.report import verdicts_of

        persona, stored = self.persona, self._stored
        inputs = () if persona is None else persona.test_inputs
        found = next((one for one in inputs if one.id == output.input_id), None)
        if persona is None or stored is None or found is None:
            return []
        return verdicts_of(stored, output, found, self._judged_by(persona)[1])

    def _judged_by(self, persona: Persona) -> tuple[Variant, str | None]:
        """Return what outputs are held against, and the name of the judge."""
        evaluator = self.evaluator
        variant = evaluator.variant_now(persona, self._options.get(persona.id))
        return variant, evaluator.judge_name(persona, variant)

    # -- running ----------------------------------------------------------------------------------------

    @property
    def is_running(self) -> bool:
        """Whether something runs that `stop` stops."""
        return bool(self._runs)

    async def run(
        self, input_ids: Collection[str] = (), each: Sequence[Options] = ()
    ) -> list[PersonaReport] | None:
        """Store unsaved text and run test inputs of the open persona, all where none is named.

        What keeps it from running, and how it ended, is told. A test input that is being run is left out.

        Args:
            input_ids: which.
            each: the overrides and stages to run them with, one after the other; empty: those of this sitting.

        Returns:
            What came of it with each; None where nothing was run, or it was stopped.
        """
        if (persona := self.persona) is None:
            self._host.show_message("Open a persona first.")
            return None
        await self._flush()
        self.look()
        await self._is_complete.wait()
        async with self._choosing:
            evaluations = await asyncio.to_thread(
                self._prepare, persona.id, input_ids, each or (self.options,)
            )
            keys = [OutputKey.of(trial) for one in evaluations for trial in one.plan.trials]
            self._streams |= dict.fromkeys(keys)  # at work from here on: pressed again, nothing is sent twice
        faults = evaluations[0].plan.faults
        for fault in faults.items():
            self._host.show_message("The test input {} cannot be run: {}".format(*fault), error=True)
        if keys:
            try:
                return await self.evaluate(evaluations, waits=False)
            finally:
                for key in keys:
                    self._streams.pop(key, None)
                self._change()
        elif not faults:
            underway = "They are already running." if persona.test_inputs else "Add a test input first."
            self._host.show_message(f"There is nothing to run. {underway}")
        return None

    def _prepare(
        self, persona_id: str, input_ids: Collection[str], each: Sequence[Options | None]
    ) -> list[Evaluation]:
        from agent.outputs.variant import chosen_inputs, read_runnable

        assert self._store is not None
        evaluator = self.evaluator
        if not evaluator.is_connected:
            keys = self._settings().keys
            asks, pastes = first_key("tests.output", keys), first_key("outputs.paste", keys)
            without = (
                f" Without one, {asks} at a test input and then {pastes} takes an answer from elsewhere."
            )
            raise InvalidValue(NO_MODEL + without * bool(asks and pastes))
        persona = read_runnable(self._store, persona_id)
        at_work = {key.input_id for key in tuple(self._streams) if key.persona_id == persona_id}
        inputs = [one for one in chosen_inputs(persona, list(input_ids)) if one.id not in at_work]
        variants = [evaluator.variant(persona, fixed=True, options=options) for options in each]
        return [
            evaluator.evaluation(persona, one, inputs, only_missing=False, stored=self._stored)
            for one in variants
        ]

    async def evaluate(
        self, evaluations: Sequence[Evaluation], *, waits: bool = True, name: str = ""
    ) -> list[PersonaReport] | None:
        """Run what is missing in evaluations of `evaluator`, one after the other, and have it judged.

        Make them with `stored=controller.all_stored`, so that the log is not read again.

        Args:
            evaluations: what to run; above the limits the person is asked first.
            waits, name: see `perform`.

        Returns:
            What came of each; None where the person did not agree, or stopped it.

        Raises:
            PersonaError: the disk refused.
        """
        from agent.outputs.cost import NOTHING

        evaluator = self.evaluator
        estimates = [await asyncio.to_thread(one.estimate, evaluator.endpoint) for one in evaluations]

        async def work(pace: RateLimiter, attend: Attend) -> list[PersonaReport]:
            return [await evaluator.run(one, pace, attend) for one in evaluations]

        def total() -> int:
            return sum(len(one.plan.trials) for one in evaluations)

        return await self.perform(work, total, sum(estimates, NOTHING), waits=waits, name=name)

    async def perform(
        self,
        work: Work[Result],
        total: Callable[[], int],
        cost: Estimate,
        *,
        waits: bool = True,
        name: str = "",
    ) -> Result | None:
        """Do work that runs outputs by `evaluator`; it is seen in the progress, and can be stopped.

        Args:
            work: called with the pace, and with what is told each run at work.
            total: returns how many outputs it makes at most.
            cost: what it will take; above the limits the person is asked first.
            waits: whether it begins after the runs at work, and so sends nothing that they bring.
            name: what it is for; empty where test inputs are just run.

        Returns:
            What the work returned; None where the person did not agree, or stopped it.

        Raises:
            PersonaError: the disk refused.
        """
        settings = self._settings()
        if cost.must_ask(settings.confirm_dollars, settings.confirm_requests):
            text = f"This takes {cost.sentence()}."
            if not await self._host.confirm("Run the test inputs?", text, action="Run", keep="Not now"):
                return None
        if self._pace is None or not self._runs:
            self._pace = self.evaluator.pace()
        earlier = [run.task for run in self._runs] if waits else []

        async def in_turn(pace: RateLimiter, attend: Attend) -> Result:
            if earlier:
                await asyncio.wait(earlier)
            return await work(pace, attend)

        run = RunAtWork(in_turn, total, self._pace, name)
        self._runs.append(run)
        self._change()
        await asyncio.wait({run.task})
        self._judge()
        if self._judging is not None:
            await asyncio.wait({self._judging})
        how = "Stopped: " if run.task.cancelled() else "" if name else "Run: "
        if (progress := self.progress) is not None and (run.made or run.task.cancelled()):
            self._host.show_run_end(how + " · ".join(progress._replace(is_judging=False).parts))
        self._runs.remove(run)
        self._close_replaced()
        self._change()
        return None if run.task.cancelled() else run.task.result()

    def stop(self) -> bool:
        """Stop all runs at once, what is stored stays; return whether there was one. Runs of the agent go on."""
        for run in self._runs:
            run.stop()
        return bool(self._runs)

    # -- what the person does with an output ------------------------------------------------------------

    async def add(self, output: Output) -> None:
        """Store an output that was not run here, such as one that the person pasted.

        Raises:
            PersonaError: the disk refused.
        """
        if self._log is not None and self._stored is not None:
            await asyncio.to_thread(self._log.append, output)
            self._stored.add((output,))
            self._judge(output.input_id)

    async def keep(self, output_id: str, *, kept: bool) -> None:
        """Keep an output when old ones thin out, or not any more.

        Raises:
            PersonaError: the disk refused.
        """
        if self._log is not None and self._stored is not None:
            await asyncio.to_thread(lambda log: log.keep(output_id, kept=kept), self._log)
            (self._stored.kept.add if kept else self._stored.kept.discard)(output_id)
            self._change()

    # -- what is heard ----------------------------------------------------------------------------------

    def _hear_in_loop(self, event: RunEvent) -> None:
        """Hear of a run, of the person or of the agent; all of them run in the program's loop."""
        from agent.outputs.runner import OutputEnd, OutputStart, OutputText, RunEnd, RunStart

        if isinstance(event, OutputEnd):
            for run in self._runs:
                run.take(event.output)
        trials = event.trials if isinstance(event, RunStart | RunEnd) else (event.trial,)
        if any(trial.variant.apart for trial in trials):
            pass  # it is no output of a test input
        elif isinstance(event, OutputText):
            if (parts := self._streams.get(OutputKey.of(event.trial))) is not None:
                parts.append(event.text)
        elif isinstance(event, OutputStart):
            self._streams[OutputKey.of(event.trial)] = []
        elif isinstance(event, OutputEnd):
            self._streams.pop(OutputKey.of(event.trial), None)
            if self.persona is not None and event.trial.variant.persona_id == self.persona.id:
                if self._stored is not None:
                    self._stored.add((event.output,))
                self._judge(event.output.input_id)
        elif isinstance(event, RunStart):
            self._streams |= {OutputKey.of(trial): None for trial in trials}
        else:
            for trial in trials:
                self._streams.pop(OutputKey.of(trial), None)
        self._change()

    def _change(self) -> None:
        """Have the listeners look, soon: several changes at once are one."""
        if self._emit_timer is None and self._loop is not None:
            self._emit_timer = self._loop.call_later(FRAME, self._notify_listeners)

    def _notify_listeners(self) -> None:
        self._emit_timer = None
        for listener in tuple(self._listeners):
            listener()

    def _close_replaced(self) -> None:
        """Close the connections that were replaced, once nothing runs that may use them."""
        if not self._runs and not self._streams:
            replaced, self._replaced = self._replaced, []
            for evaluator in replaced:
                self._host.start(evaluator.close())
