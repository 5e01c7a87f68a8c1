"""What a plan may cost: the estimate of what is missing, and the limit of each run."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from .estimate import Estimate, Use, assumptions, estimate_judging, estimate_runs
from .estimate import of_judging as use_of_judging
from .estimate import of_run as use_of_run
from .measured import measured

if TYPE_CHECKING:
    from ..given.suite import PlannedEval
    from .planned import Plan, Side

LEAST_USD = 0.05
"""What one run may cost at least, where the limit is derived from the estimate."""


def estimate_of(plan: Plan) -> Estimate:
    """What the missing steps may come to."""
    known = measured(plan.workspace, plan.executor_model)
    todo = plan.todo
    parts = []
    for side in plan.sides:
        uses = [
            use_of_run(plan.eval_of(one.cell), side.skill, plan.executor.name, plan.limits)
            for one in todo
            if one.cell.configuration == side.name and one.missing.execute
        ]
        past = known.get(side.name)
        parts.append(estimate_runs(side.name, uses, plan.prices, plan.executor_model, past))
    judging = [
        use_of_judging(plan.eval_of(one.cell), per_dimension=plan.judge_per_dimension)
        for one in todo
        for _ in one.missing.judgings
    ]
    if judging and plan.judge_model is not None:
        batch = plan.judge_batch
        parts.append(estimate_judging(judging, plan.prices, plan.judge_model, batch=batch))
    told = {"prices": f"prices of {plan.prices.date}"}
    if plan.judge_batch and judging:
        told["batch"] = "judging at the price of batches"
    return Estimate(tuple(parts), assumptions(parts, plan.executor.name, told))


def limited(plan: Plan) -> Plan:
    """Under a budget each run has a limit in dollars: four times its high estimate.

    It is the dearest that any run of the plan may be, or that one like it has been.
    """
    if plan.budget_usd is None or plan.limits.usd is not None:
        return plan
    known = measured(plan.workspace, plan.executor_model)
    highs = [usd for name in plan.configurations if name in known for usd in known[name].usd]
    highs += [
        span.high
        for eval_ in plan.evals
        for side in plan.sides
        if (span := _of_one(plan, eval_, side).usd(plan.prices, plan.executor_model)) is not None
    ]
    usd = max(LEAST_USD, 4 * max(highs, default=0.0))
    return replace(plan, limits=replace(plan.limits, usd=round(usd, 4)))


def _of_one(plan: Plan, eval_: PlannedEval, side: Side) -> Use:
    return use_of_run(eval_, side.skill, plan.executor.name, plan.limits)
