"""What runs of actions will cost, estimated before they begin."""

from __future__ import annotations

from agent.actions import run_log
from agent.actions.run import RunContext
from agent.outputs.cost import Estimate, estimate
from agent.outputs.output_log import Stored
from agent.outputs.runner import PlannedSample
from agent.outputs.variant import read_runnable
from personas.actions.document import Action
from personas.actions.states import ActionState
from personas.errors import PersonaError
from personas.persona import TestInput

LAST = 5
"""How many of its last runs an estimate goes by."""


def estimate_run(context: RunContext, action: Action) -> Estimate:
    """Return what one run of an action will take: what its last runs took, else what it will send. Blocking.

    The agent's first run costs its budget at the most; without one its price is unknown.
    """
    known = [
        run
        for run in run_log.runs(context.store.home, action.id)
        if run.state is ActionState.COMPLETED and run.usage.tokens
    ][:LAST]
    if known:
        prices = [run.cost for run in known if run.cost is not None]
        return Estimate(1, sum(prices) / len(prices), 0) if prices else Estimate(1, 0.0, 1)
    if action.kind == "agent":
        budget = action.limits.dollars or context.jobs.max_cost
        return Estimate(1, budget or 0.0, 0 if budget else 1)
    evaluator = context.evaluator
    persona = read_runnable(context.store, action.persona)
    variant = evaluator.variant(persona)
    if action.kind == "test":
        return evaluator.evaluation(persona, variant, only_missing=False).estimate(evaluator.endpoint)
    said = TestInput(id="action", content=action.instructions)
    return estimate([PlannedSample(variant, said, 1)], Stored(), evaluator.endpoint)


def price_of_backlog(context: RunContext, action: Action, count: int) -> float | None:
    """Return what so many runs of an action will cost in dollars, None where that is unknown. Blocking."""
    try:
        one = estimate_run(context, action)
    except PersonaError:
        return None  # the run itself says what is wrong
    return None if one.unpriced else one.dollars * count
