"""What may turn a verdict, and is said in the same breath: errors, yardsticks, a gate."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any

from skill_eval_nb.text import brief, count, lower_first, signed, some

from .values import (
    EVAL,
    ITERATION,
    MODEL,
    RUBRIC,
    UNITS,
    by_model,
    is_of_several_models,
    model_name,
)
from .verdict import IN_WORDS, Row

if TYPE_CHECKING:
    import polars as pl


DECIDED = ("helps", "hurts", "no worthwhile difference")
ERRORS_DECIDE = "unclear: errors decide"
APART = 7
"""Days between the sides' runs from which they may have met another world."""
CHANCE = 1.5
"""So many runs more that a gate took on one side say nothing."""
JUDGED = ("pass_rate", "score", "overall_efficiency", "passed", "failed")
"""Metrics, besides those of a rubric, in which a judge may have a say."""

SETTLED = ("low", "high", "p", "p_adjusted")
"""What is of both verdicts where errors decide: an interval that holds either, the larger p."""


def of_rubric(metric: str) -> bool:
    """Whether only runs that passed the gate have the metric.

    >>> of_rubric("rubric:clarity"), of_rubric("rubric_normalized"), of_rubric("pass_rate")
    (True, True, False)
    """
    return metric.startswith((RUBRIC, "rubric_"))


def is_rate(metric: str) -> bool:
    """Whether a run that errored can be counted as a failure: 0 of what could be reached."""
    return UNITS.get(metric) == "rate"


def without_gated(paired: pl.DataFrame, runs: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """`pairs` of which rubric metrics keep only evals whose runs all passed the gate.

    That is where the gate took unequal parts of the sides: a skill that lifts bad outputs over
    the gate has them judged, and looks worse for it. `keys` tell comparisons apart.
    """
    import polars as pl

    if paired.is_empty() or not any(map(of_rubric, paired["metric"].unique())):
        return paired
    gated = (pl.col("gate_passed") == False).fill_null(value=False)  # noqa: E712  nulls stay
    taken = (
        by_model(runs)
        .group_by(*keys, *EVAL, "configuration")
        .agg(gated.sum().alias("taken"), pl.len().alias("of"))
    )
    both, sides = paired, ("configuration", "baseline")
    for side in sides:
        named = taken.rename({"configuration": side, "taken": f"taken_{side}", "of": f"of_{side}"})
        both = both.join(named, on=[*keys, *EVAL, side], how="left", nulls_equal=True)
    counts = [f"{what}_{side}" for what in ("taken", "of") for side in sides]
    both = both.with_columns(pl.col(counts).fill_null(0))
    comparison = [*keys, "configuration", "baseline", "metric"]
    taken_, of = (
        [pl.col(f"{what}_{side}").sum().over(comparison) for side in sides]
        for what in ("taken", "of")
    )
    unequal = _unequal(taken_, of, pl.min_horizontal(of))
    metric = pl.col("metric")
    rubric = metric.str.starts_with(RUBRIC) | metric.str.starts_with("rubric_")
    lost = rubric & unequal & (pl.col("taken_configuration") + pl.col("taken_baseline") > 0)
    text = pl.format(
        "the gate took {} of {} runs of {} and {} of {} of {}",
        *("taken_configuration", "of_configuration", "configuration"),
        *("taken_baseline", "of_baseline", "baseline"),
    )
    return both.with_columns(
        pl.when(~lost).then("estimate").alias("estimate"),
        pl.coalesce("unpaired", pl.when(lost).then(text)).alias("unpaired"),
    ).drop(counts)


def _unequal(taken: Sequence[Any], of: Sequence[Any], fewer: Any) -> Any:
    """Whether a gate took unequal parts; a single run more may be chance."""
    return abs(taken[0] / of[0] - taken[1] / of[1]) * fewer > CHANCE


def facts_of(runs: pl.DataFrame, keys: Sequence[str]) -> dict[tuple[Any, ...], Row]:
    """What each side was run and judged by, and when: by `keys` and configuration.

    `several` is whether a group has rows of several models.
    """
    import polars as pl

    when = pl.col("started_at").str.to_datetime(time_zone="UTC", strict=False)
    kinds = ("judge_model", *MODEL)
    known = by_model(runs).with_columns(runs[name].alias(f"own_{name}") for name in kinds)
    known = known.with_columns(is_of_several_models().alias("several"))
    sides = known.group_by(*keys, "configuration").agg(
        *(pl.col(f"own_{name}").drop_nulls().unique().sort() for name in kinds),
        pl.col("several").first(),
        when.dt.epoch("s").median().alias("when"),
        (pl.col("gate_passed") == False).sum().alias("gated"),  # noqa: E712
        pl.len().alias("n"),
    )
    by = [*keys, "configuration"]
    return {tuple(row[name] for name in by): row for row in sides.iter_rows(named=True)}


def warnings(row: Row, sides: Sequence[Row], *, iterations: bool = False) -> tuple[list[str], bool]:
    """What may turn the verdict of a row of `deltas`, in sentences; whether there is none at all.

    There is none where different judges judged the sides, which are two yardsticks. `sides` are
    the facts of the two. Of `iterations` nothing is said of the days between them: that is how
    they come about.
    """
    names = [brief(row[side]) for side in ("configuration", "baseline")]
    notes = list(_errors(row, names))
    judged = of_rubric(row["metric"]) or row["metric"] in JUDGED
    judges = [list(side.get("own_judge_model", ())) for side in sides]
    none = judged and all(judges) and not set(judges[0]) & set(judges[1])
    if judged and all(judges) and set(judges[0]) != set(judges[1]):
        notes.append(
            f"{_who(names, judges, 'judged by')}: two yardsticks. Judge both sides by the same "
            + ("model before anything is claimed." if none else "model.")
        )
    for name, did in (("executor_model", "run by"), ("harness", "run in")):
        own = [list(side.get(f"own_{name}", ())) for side in sides]
        if all(own) and max(map(len, own)) == 1 and own[0] != own[1]:
            notes.append(f"{_who(names, own, did)}: what differs is not the skill alone.")
    times = [when for side in sides if (when := side.get("when")) is not None]
    if not iterations and len(times) == 2 and (days := abs(times[0] - times[1]) / 86_400) > APART:
        notes.append(f"The sides were run {days:.0f} days apart: more than the skill may differ.")
    if of_rubric(row["metric"]):
        parts = [(side.get("gated", 0), side.get("n", 0)) for side in sides]
        gated, of = zip(*parts, strict=True)
        if all(of) and gated[0] * of[1] != gated[1] * of[0]:
            unequal = _unequal(gated, of, min(of))
            took = [
                f"{gated} of {n} runs of {who}"
                for (gated, n), who in zip(parts, names, strict=True)
            ]
            notes.append(
                f"The gate took {' and '.join(took)}, which were not judged"
                + (": this is about the evals whose runs all passed it." if unequal else ".")
            )
    return notes, none


def _errors(row: Row, names: Sequence[str]) -> Iterable[str]:
    lost = row["n_errored"], row["n_errored_baseline"]
    whole = lost[0] + row["n_runs"], lost[1] + row["n_runs_baseline"]
    if not any(lost) or lost[0] * whole[1] == lost[1] * whole[0]:
        return
    errors = [f"{count(n, 'run')} of {who}" for n, who in zip(lost, names, strict=True) if n]
    yield f"Errored, and so in no figure here: {' and '.join(errors)}."


def _who(names: Sequence[str], models: Sequence[Sequence[str]], what: str) -> str:
    parts = [
        f"{who} was {what} {some([brief(model) for model in own])}"
        for who, own in zip(names, models, strict=True)
    ]
    return ", ".join(parts)


def with_errors(values: pl.DataFrame) -> pl.DataFrame:
    """The values with runs that errored as failures: 0, of metrics that are rates."""
    import polars as pl

    rates = [name for name in values["metric"].unique() if is_rate(name)]
    failed = (
        (pl.col("status") == "errored").fill_null(value=False)
        & pl.col("value").is_null()
        & pl.col("metric").is_in(rates)
    )
    return values.with_columns(pl.when(failed).then(0.0).otherwise("value").alias("value"))


def strata(paired: pl.DataFrame) -> dict[tuple[Any, ...], list[str]]:
    """What is averaged by ITERATION, sides and metric, in sentences; of `pooled` alone."""
    if "models" not in paired.columns:
        return {}
    by = [*ITERATION, "configuration", "baseline", "metric"]
    texts: dict[tuple[Any, ...], list[str]] = {}
    for key, own in paired.group_by(by, maintain_order=True):
        models, left_out = own.select("models", "left_out").row(0)
        sentences = texts.setdefault(key, [])
        if len(models) > 1:
            factor, unit = IN_WORDS.get(UNITS.get(str(key[-1]), "1-5"), (1, ""))
            estimates = [factor * estimate for estimate in _estimates(own, len(models))]
            named = "; ".join(
                f"{brief(model)} {signed(estimate)}{unit}"
                for model, estimate in zip(models, estimates, strict=True)
            )
            sentences.append(f"The mean over {len(models)} models, each as much: {named}.")
            if min(estimates) < 0 < max(estimates):
                sentences.append("Their signs are opposite: the mean holds for none of them.")
        if left_out:
            sentences.append(f"Without a pair, and so left out: {'; '.join(map(brief, left_out))}.")
    return texts


def _estimates(paired: pl.DataFrame, models: int) -> list[float]:
    """The mean difference of each model that is averaged, over the evals that each of them has."""
    evals = paired.drop_nulls("estimate").select("values", "baseline_values").rows()
    return [
        fmean(fmean(own[at]) - fmean(other[at]) for own, other in evals) if evals else 0.0
        for at in range(models)
    ]


def settle(
    row: Row, counted: Row | None, warnings: Sequence[str], *, none: bool, whose: bool
) -> dict[str, Any]:
    """The verdict and its reason with what may turn it.

    Args:
        row: a row of `deltas`.
        counted: the same with errors as failures; None where there are none.
        warnings: the warnings.
        none: whether nothing can be claimed.
        whose: whether others of the same comparison are of another model.
    """
    word, reason = row["verdict"], row["reason"]
    other = None if counted is None else counted["verdict"]
    settled = {name: row[name] for name in SETTLED if name in row}
    if none:
        word = None
    elif counted is not None and other != word and {word, other} & set(DECIDED):
        reason = (
            f"Errors decide: without the runs that errored {lower_first(reason)} "
            f"Counted as failures: {counted['reason']}"
        )
        word = ERRORS_DECIDE
        ends = [row["low"], row["high"], counted["low"], counted["high"], 0.0]
        known = None not in ends
        settled |= {"low": min(ends) if known else None, "high": max(ends) if known else None}
        settled |= {
            name: max((p for p in (row[name], counted[name]) if p is not None), default=None)
            for name in SETTLED[2:]
            if name in row
        }
    if whose:
        reason = f"{brief(model_name(row), 80)}: {lower_first(reason)}"
    return {
        **settled,
        "verdict": word,
        "reason": " ".join([reason, *warnings]),
        "warnings": list(warnings),
        "verdict_with_errors": other,
        "estimate_with_errors": None if counted is None else counted["estimate"],
    }
