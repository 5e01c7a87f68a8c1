"""What somebody should look at before a plan is started."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .planned import Plan


def advice(plan: Plan) -> Iterator[str]:
    """Each thing that is allowed, and may still not be what was meant."""
    yield from _skills(plan)
    yield from _grading(plan)
    yield from _models(plan)
    yield from _money(plan)
    if plan.sandbox == "none":
        yield (
            'sandbox="none": an agent\'s commands can read and change whatever you can, on both '
            "sides; the baseline may find the skill on your disk"
        )


def _skills(plan: Plan) -> Iterator[str]:
    offered = {side.name: side.skill for side in plan.sides}
    if len(offered) == 1:
        yield "one configuration only: there is no baseline, so no delta can be told"
    seen: dict[str | None, str] = {}
    for name, skill in offered.items():
        digest = skill.digest if skill is not None else None
        if digest in seen:
            what = "the same skill" if skill is not None else "no skill"
            yield f"`{seen[digest]}` and `{name}` both offer {what}"
        seen.setdefault(digest, name)
    stated, name = plan.suite.skill_name, plan.skill_name
    if stated is not None and any(offered.values()) and stated != name:
        yield f"the evals are for skill `{stated}`, and the skill's own name is `{name}`"


def _grading(plan: Plan) -> Iterator[str]:
    nothing = [one.name for one in plan.evals if not one.has_structural and not one.has_judged]
    if nothing:
        yield f"there is nothing to grade in {_listed(nothing)}: no expectation, no rubric"
    if not plan.judgings:
        judged = [one.name for one in plan.evals if one.has_judged]
        if judged:
            yield f"judgings=0: nothing is judged, though {_listed(judged)} could be"
    scripts = [
        one.name for one in plan.evals if any(each.type == "custom_script" for each in one.checks)
    ]
    if scripts and not plan.allow_scripts:
        yield (
            f"custom_script expectations of {_listed(scripts)} are not scored: they run, in the "
            "sandbox, with allow_scripts=True"
        )


def _models(plan: Plan) -> Iterator[str]:
    from skill_eval_nb.grading.judge import same_model

    models = [plan.executor_model]
    if plan.judge is not None:
        models.append(plan.judge.model)
        told = same_model(plan.judge, plan.executor_model)
        if told is not None and plan.connection.stand_in is None:
            yield told
    if plan.connection.stand_in is not None:
        for model in dict.fromkeys(one for one in models if not one.startswith("stand-in")):
            yield f"answers of `{model}` come from the stand-in, not from a model of that name"
        return
    why = plan.connection.why_not()
    if why is not None:
        yield why


def _money(plan: Plan) -> Iterator[str]:
    usd = plan.estimate.usd
    if usd is None:
        names = [plan.executor_model, *([plan.judge_model] if plan.judge_model else [])]
        unknown = [one for one in dict.fromkeys(names) if not plan.prices.known(one)]
        yield from (plan.prices.unknown(one) for one in unknown)
    if plan.budget_usd is not None:
        yield from _budget(plan, plan.budget_usd)
    elif usd is None or usd.high > 0:
        yield "no budget is set: nothing but the limits of each run holds the cost"


def _budget(plan: Plan, budget: float) -> Iterator[str]:
    """What the budget does not reach for; nothing where nothing is missing."""
    todo, cap, usd = plan.todo, plan.limits.usd, plan.estimate.usd
    spent = plan.spent_usd
    left = max(budget - spent, 0.0)
    named = (
        f"the ${left:,.2f} that is left of the budget" if spent else f"the budget, ${left:,.2f},"
    )
    runs = sum(one.missing.execute for one in todo)
    if runs and cap is not None and left < cap:
        yield (
            f"{named} is below the ${cap:,.2f} that one run may cost, so no run can be launched: "
            "raise budget_usd, or lower what a run may cost with limits=Limits(usd=…)"
        )
        return
    at_once = min(plan.concurrency, runs)
    if cap is not None and left < cap * at_once:
        yield (
            f"each run in flight counts as the ${cap:,.2f} that it may cost, so at most "
            f"{int(left / cap)} instead of {at_once} go at a time: a lower limits=Limits(usd=…) "
            "lets more"
        )
    if usd is not None and left < usd.high:
        which, sure = ("low", "will") if left < usd.low else ("high", "may")
        estimate = usd.low if which == "low" else usd.high
        yield (
            f"{named} is below the {which} estimate, ${estimate:,.2f}: the job {sure} end as "
            "partial; it can be continued with more"
        )


def _listed(names: list[str]) -> str:
    shown = ", ".join(names[:4])
    return f"{shown} and {len(names) - 4} more" if len(names) > 4 else shown
