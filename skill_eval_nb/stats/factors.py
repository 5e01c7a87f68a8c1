"""`factors`: with which models the skill helps, and whether its effect differs between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import itemgetter
from statistics import fmean
from typing import TYPE_CHECKING, Any, Literal

from skill_eval_nb.text import clip, format_p, some

from .comparison import TINY, Interaction, Scope, find_interaction
from .confounds import DeltaQuestion, Facts, errors_as_failures, facts_of, is_judged
from .deltas import deltas, pair_figures
from .pairing import pool_models
from .values import (
    GROUP,
    SIDES,
    better,
    in_polars,
    model_name,
    no_such,
    none_stated,
    runs_of,
    statistic,
    values_of,
)
from .verdict import Row, take_back

if TYPE_CHECKING:
    import polars as pl

FACTORS = {"model": ("executor_model", "models"), "harness": ("harness", "harnesses")}
"""The column of each factor, and what several of it are called."""
ADDED = {
    "p_adjusted": float,
    "deviation": float,
    "deviation_p": float,
    "n_shared": int,
    "interaction_p": float,
    "differs": bool,
    "interaction": str,
}
"""What rows have besides those of `deltas`: of the model, and of all models."""


@statistic
def factors(
    data: Any,
    metric: str = "pass_rate",
    baseline: str | None = None,
    *,
    scope: Scope = "suite",
    factor: Literal["model", "harness"] = "model",
    level: float = 0.95,
    cluster: str | Mapping[str, str] | None = None,
) -> Any:
    """With which models the skill helps, and whether its effect differs between them.

    The rows are those of `deltas`, one per model, and answer two more questions. Does the skill
    help with this model, corrected for the number of models? And does the effect differ between
    models (skill × model)? This uses the evals that every model has on both sides; d_im is the
    difference of eval i with model m.

    For *tasks like these*, the signs of the whole vectors e_i (d_im less its mean over models)
    are flipped jointly, with t_m = |mean of e_im| / (SD / √n) (Westfall and Young 1993; all ways
    up to 12 evals, else 5,000). This needs six evals on which the models differ. For *these
    evals*, Welch's test (Biometrika 1951) compares the models' means, each with its own run
    noise. This needs two runs of an eval per side.

    Args:
        data: a `Workspace`, or a table of runs or of rubric scores (polars or pandas).
        metric: a number column of `runs`, or a rubric dimension by its name.
        baseline: the configuration to compare against; chosen by name if not given.
        scope: what the answer is about.
        factor: `model`, within each harness; or `harness`, within each model.
        level: of the intervals; alpha is 1 - level.
        cluster: as for `deltas`: families of evals are flipped as one.

    Returns:
        In the kind of `data`, the rows and columns of `deltas`, of which `p_adjusted` follows `p`:
        it allows for the number of models (of tasks like these the joint flip of the vectors d_i,
        and at least `p`; else `p` times their number). A verdict that does not stand up to it is
        taken back. Then:

        - `n_shared`: the evals that each model has on both sides;
        - `deviation`: what the model's mean difference on these is above the mean over models;
          `deviation_p` its p, adjusted for the others, of tasks like these;
        - `interaction_p`: of no difference between the models, one figure for all of them;
        - `differs`: whether that is at most alpha. Null, as the figures are, if it cannot be
          told: one model alone, too few evals or runs, no run noise, a model without a verdict, or
          where errors decide (of a rate, counted as failures);
        - `interaction`: the answer in a sentence, or why there is none.

    Raises:
        ValueError: for a metric, baseline, scope or factor that is not there, and as `deltas`.

    >>> import polars as pl
    >>> runs = pl.DataFrame({
    ...     "eval_id": ["1"] * 8, "executor_model": ["large", "small"] * 4,
    ...     "configuration": ["with_skill"] * 4 + ["without_skill"] * 4,
    ...     "pass_rate": [1.0, 0.5, 0.9, 0.6, 0.1, 0.4, 0.2, 0.5],
    ... })
    >>> found = factors(runs)
    >>> found.select("executor_model", pl.col("estimate", "interaction_p").round(3)).rows()
    [('large', 0.8, 0.002), ('small', 0.1, 0.002)]
    """
    import polars as pl

    if factor not in FACTORS:
        raise no_such("factor", factor, FACTORS)
    asked, values = DeltaQuestion(data, baseline, cluster=cluster), values_of(data, metric)
    column, of = FACTORS[factor]
    keys = [*(name for name in GROUP if name != column), *SIDES]
    how = {"scope": scope, "level": level, "cluster": cluster}
    rows = deltas(in_polars(data), metric, baseline, **how)

    def find_each(values: pl.DataFrame) -> dict[Any, Interaction]:
        """Whether the effect differs, by what the models have in common."""
        each = pair_figures(asked._replace(cluster=None), values).paired
        pairs = asked.add_weights(pool_models(each, [column]))
        groups = pairs.group_by(keys, maintain_order=True)
        return {key: find_interaction(one, scope, level, of) for key, one in groups}

    found, failed = find_each(values), find_each(errors_as_failures(values))
    facts = facts_of(runs_of(data), GROUP)
    told: list[Row] = []
    for key, part in rows.with_row_index("at").group_by(keys):
        members = part.to_dicts()
        answer = _word_answer(members, found[key], failed[key], facts)
        told += _add_answer(members, column, found[key], answer)
    frame = pl.DataFrame(sorted(told, key=itemgetter("at")), {**rows.schema, **ADDED})
    frame.insert_column(rows.columns.index("p") + 1, frame.drop_in_place("p_adjusted"))
    return frame


def _add_answer(
    rows: Sequence[Row], column: str, found: Interaction, answer: tuple[bool | None, str]
) -> list[Row]:
    """The rows of models that have a harness in common (or the other way round), with ADDED."""
    n, mean = len(found.models), fmean(found.estimates or [0])
    joint = found.mains and all(row["n_evals"] in (0, found.n_evals) for row in rows)
    shared = dict(zip(list(ADDED)[3:], (found.n_evals, found.p, *answer), strict=True))
    told: list[Row] = []
    for row in rows:
        name, p, own = row[column] or none_stated(column), row["p"], {**row, **shared}
        if name in found.models and n > 1:
            at = found.models.index(name)
            if found.n_evals:
                own["deviation"] = found.estimates[at] - mean
            if found.deviations:
                own["deviation_p"] = found.deviations[at]
            if p is not None:
                p = max(p, found.mains[at]) if joint else min(1.0, p * n)
        if row["verdict"] in ("helps", "hurts") and p is not None and p > 1 - found.level + TINY:
            own = take_back(own, f"Not clear when corrected for {n} {found.of} (p {format_p(p)})")
        told.append({**own, "p_adjusted": p})
    return told


def _word_answer(
    rows: Sequence[Row], found: Interaction, failed: Interaction, facts: Facts
) -> tuple[bool | None, str]:
    """Whether the effect differs, and a sentence that says so, with what may change it.

    Args:
        rows: of the models, as `deltas` has them.
        found: what their runs say.
        failed: the same with runs that errored as failures.
        facts: what is known of the sides.
    """
    metric = rows[0]["metric"]
    differs, sentence = found.differs, found.sentence()
    silent = [clip(model_name(row)) for row in rows if row["verdict"] is None and better(metric)]
    if silent:
        differs, sentence = None, f"There is no verdict for {some(silent)}. {sentence}"
    elif differs is not None and differs != failed.differs:
        differs = None
        sentence = f"Errored runs decide this. {sentence} Counted as failures: {failed.sentence()}"
    sides = [facts.get((*map(row.get, GROUP), row[side]), {}) for row in rows for side in SIDES]
    judges = {tuple(side.get("own_judge_model", ())) for side in sides} - {()}
    if is_judged(metric) and len(judges) > 1:
        sentence += f" Not all {found.of} had the same judges, which may explain the difference."
    return differs, sentence
