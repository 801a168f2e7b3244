"""What a run of test inputs has shown, as text: how many passed, and what changed since the last run."""

from __future__ import annotations

from agent.actions.run_log import ActionRun
from agent.outputs.evaluation import Evaluation
from agent.outputs.output_log import Stored
from agent.outputs.report import InputReport, PersonaReport, report_input
from agent.outputs.statistics import compare


def report_text(
    evaluation: Evaluation, report: PersonaReport, before: ActionRun | None, *, changes_only: bool
) -> str:
    """Return the report of a run.

    Args:
        evaluation: what was run.
        report: its verdicts.
        before: the run it is compared with, input by input; None where there is none.
        changes_only: whether only inputs are listed whose verdict is another one than before.
    """
    lines = [f"{report.title}: {report.summary}"]
    earlier = _earlier(evaluation, before) if before is not None else {}
    if before is not None and earlier:
        pairs = [
            (earlier[one.id].sample_passes, one.sample_passes)
            for one in report.inputs
            if one.id in earlier and one.verdict != "none"
        ]
        when = (before.started_at or "")[:16].replace("T", " ")
        lines.append(f"since the last run ({when} UTC): {compare(pairs).sentence}")
    for one in report.inputs:
        was = earlier[one.id].verdict if one.id in earlier else ""
        if earlier and changes_only and (was == one.verdict):
            continue
        change = f"was {was}: " if was and was != one.verdict else ""
        lines.append(f"  {one.verdict:5} {one.id}  {change}{one.sentence}".rstrip(": "))
    return "\n".join(lines)


def _earlier(evaluation: Evaluation, run: ActionRun) -> dict[str, InputReport]:
    """Return the reports on what an earlier run made, by input; expectations count as they are now."""
    its = Stored()
    its.add(one for one in evaluation.stored.outputs if one.run_id == run.id)
    its.verdicts.update(evaluation.stored.verdicts)
    made = {(one.input_id, one.sample): one for one in its.outputs}
    return {
        one.id: report_input(its, evaluation.variant, one, judge_model=evaluation.judge_model, made=made)
        for one in evaluation.inputs
        if its.of_input(one.id)
    }
