"""`variance`: how far evals, runs and the judge make scores differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from skill_eval_nb.documents.sides import UNSTATED

from .confounds import is_judged
from .pairing import side_key
from .summary import metric_order
from .values import (
    EVAL,
    GROUP,
    METRICS,
    RUBRIC,
    check_level,
    judged_scores,
    natural_key,
    sort_rows,
    statistic,
    values_of,
)

if TYPE_CHECKING:
    import numpy as np
    import polars as pl

    Array = np.ndarray[Any, Any]


CELL = [*GROUP, "configuration", "metric"]
"""What has variance components of its own."""


def judgings_of(data: Any, metric: str | None = None) -> pl.DataFrame:
    """Every score of a judging, or figure of a run: CELL, EVAL, run, judge, value.

    `run` numbers the runs, `judge` is the judge's model (null if unknown, or where no
    judging is known apart). Nothing is null in `value`.

    Args:
        data: a `Workspace`, or a table of runs or of rubric scores (polars or pandas).
        metric: a number column of `runs`, or a rubric dimension; None for every dimension.

    Raises:
        ValueError: for a metric that is not there.
    """
    import polars as pl

    if metric in METRICS:
        figures = values_of(data, metric).drop_nulls("value").with_row_index("run")
        return figures.select(*CELL, *EVAL, "run", pl.lit(None, pl.String).alias("judge"), "value")
    named = {"run": "run_number", "judge": "judge_model", "value": "score"}
    scores = judged_scores(data).drop_nulls("score").select(*CELL, *EVAL, **named)
    if metric is None:
        return scores
    own = scores.filter(pl.col("metric") == RUBRIC + metric.removeprefix(RUBRIC))
    if own.is_empty():
        values_of(data, metric)  # raises where the metric is not there
    return own


def dimension() -> pl.Expr:
    """The rubric dimension that `metric` names, as `dimension`; null for a column of `runs`."""
    import polars as pl

    metric = pl.col("metric")
    name = metric.str.strip_prefix(RUBRIC)
    return pl.when(metric.str.starts_with(RUBRIC)).then(name).alias("dimension")


def sum_by_run(judgings: pl.DataFrame) -> pl.DataFrame:
    """Each run's scores: CELL, EVAL, `n`, their `mean`, and `within`, squares around it."""
    import polars as pl

    value = pl.col("value")
    runs = judgings.sort("value").group_by(*CELL, *EVAL, "run")
    return runs.agg(
        pl.len().cast(pl.Float64).alias("n"),
        value.mean().alias("mean"),
        (value.var(ddof=0) * pl.len()).alias("within"),
    ).drop("run")


def sum_by_eval(runs: pl.DataFrame) -> pl.DataFrame:
    """The sums over each eval of what `sum_by_run` gives: CELL, EVAL and those below.

    With n_j the scores of run j, n their sum, and m_j the run's mean:

    - `n_judgings` n, `n_runs`, `mean` (that of the m_j);
    - `squares` Σ n_j², `inverse` Σ 1 / n_j;
    - `within_runs`, squares of scores around their run's mean;
    - `first` Σ n_j (m_j - c) and `second` Σ n_j (m_j - c)², counted from a `centre` c in the
      middle of all, lest large figures drown small differences.

    Sorted before every sum, so that the order of rows does not matter.
    """
    import polars as pl

    n, mean, off = pl.col("n"), pl.col("mean"), pl.col("off")
    centre = runs["mean"].median()
    return (
        runs.with_columns((mean - centre).alias("off"))
        .sort("mean", "n", "within")
        .group_by(*CELL, *EVAL)
        .agg(
            n.sum().alias("n_judgings"),
            pl.len().cast(pl.Float64).alias("n_runs"),
            mean.mean(),
            (n * n).sum().alias("squares"),
            (1 / n).sum().alias("inverse"),
            pl.col("within").sum().alias("within_runs"),
            (n * off).sum().alias("first"),
            (n * off * off).sum().alias("second"),
        )
        .sort("mean", "second", "first", "within_runs", "n_judgings", "squares")
    )


JUDGED = ("spread", "lost", "factor")
"""What is known of a cell whose judges are crossed with its runs: the judges' sum of squares, freed
of which outputs they scored; its degrees of freedom, 0 if no output was scored by two of them; and
how often the variance between judges is contained in `spread / lost`."""
SEVERITY_OF = {"severity": float, "n_runs": int, "inverse": float}
"""What is known of a judge in a cell: how far it scores above the mean judge on the same outputs;
how many of these another scored, too; the offset's squared standard error by the residual variance.
"""


def remove_severity(judgings: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Runs as `sum_by_run` has them, without the severity of their judges.

    And their cells with JUDGED, and a row a cell × `judge` with SEVERITY_OF.

    If no judge shares an output with another, severity cannot be told from what each
    scored: such cells have no runs here. A judge's scores of one run are averaged first, for
    they share what that judge makes of it.

    Args:
        judgings: of cells with more than one judge.
    """
    import numpy as np
    import polars as pl

    runs, judges, scores = _score_matrix(judgings)
    cells = runs.select(CELL).unique(maintain_order=True).with_row_index("cell")
    cell = runs.join(cells, on=CELL, nulls_equal=True, maintain_order="left")["cell"].to_numpy()
    there = ~np.isnan(scores)
    times = there.sum(axis=1)
    filled = np.where(there, scores, 0)
    off = np.where(there, scores - (filled.sum(axis=1) / times)[:, None], 0)
    cells, each, offsets = _fit_judges(cells.drop("cell"), judges, cell, there, off)
    own = np.where(there, filled - offsets[cell], 0)
    mean = own.sum(axis=1) / times
    within = (np.where(there, own - mean[:, None], 0) ** 2).sum(axis=1)
    figures = {"n": times.astype(float), "mean": mean, "within": within}
    runs = runs.with_columns(pl.Series(name, values) for name, values in figures.items())
    return runs.filter(cells["lost"].to_numpy()[cell] > 0), cells, each


def _score_matrix(judgings: pl.DataFrame) -> tuple[pl.DataFrame, list[str], Array]:
    """The runs, the judges, and each judge's mean score of each run; NaN if there is none.

    Runs of a cell stand together, in an order that depends on their scores alone.
    """
    import polars as pl

    named = judgings.with_columns(pl.col("judge").fill_null(UNSTATED)).sort("value")
    judges = sorted(named["judge"].unique())
    columns = [f"judge {at}" for at in range(len(judges))]
    wide = (
        named.with_columns(pl.col("judge").replace_strict(judges, columns))
        .pivot("judge", index=[*CELL, *EVAL, "run"], values="value", aggregate_function="mean")
        .sort(*CELL, *columns)
    )
    scores = wide.select(pl.col(columns).fill_null(float("nan"))).to_numpy()
    return wide.select(*CELL, *EVAL), judges, scores


def _fit_judges(
    cells: pl.DataFrame, judges: list[str], cell: Array, there: Array, off: Array
) -> tuple[pl.DataFrame, pl.DataFrame, Array]:
    """Least squares of score = output + judge, the outputs eliminated (Searle 1971, ch. 7).

    Args:
        cells: a row a cell.
        judges: their names.
        cell: the cell of each output.
        there: whether a judge scored an output; outputs × judges.
        off: how far from the output's mean; 0 if it did not.

    Returns:
        The cells with JUDGED, a row a cell × judge that shares outputs with SEVERITY_OF, and the
        severities of all, 0 for those that share none; cells × judges.
    """
    import numpy as np
    import polars as pl

    shares = there / there.sum(axis=1, keepdims=True)
    scored = _per_cell(there.astype(float), cell, cells.height)
    together = np.stack(
        [_per_cell(there * shares[:, [at]], cell, cells.height) for at in range(len(judges))],
        axis=1,
    )
    normal = scored[:, :, None] * np.eye(len(judges)) - together
    inverse = np.linalg.pinv(normal, hermitian=True)
    right = _per_cell(off, cell, cells.height)
    offsets = np.einsum("cij,cj->ci", inverse, right)
    df = np.linalg.matrix_rank(normal, hermitian=True)
    trace = np.trace(normal, axis1=1, axis2=2)
    shared = there & (there.sum(axis=1, keepdims=True) > 1)
    n_runs = _per_cell(shared.astype(float), cell, cells.height)
    of_each = (offsets, n_runs, np.diagonal(inverse, axis1=1, axis2=2))
    named = cells.join(pl.DataFrame({"judge": judges}), how="cross", maintain_order="left_right")
    each = named.with_columns(
        pl.Series(name, own.ravel()).cast(kind)
        for (name, kind), own in zip(SEVERITY_OF.items(), of_each, strict=True)
    )
    spread = np.maximum((offsets * right).sum(axis=1), 0)
    factor = np.divide(trace, df, out=np.zeros(len(df)), where=df > 0)
    of_cells = zip(JUDGED, (spread, df, factor), strict=True)
    cells = cells.with_columns(pl.Series(name, own, pl.Float64) for name, own in of_cells)
    return cells, each.filter(pl.col("n_runs") > 0), offsets


LEVELS = EVAL_PART, RUN_PART, JUDGE_PART, SEVERITY = range(4)
"""Between evals, between runs of an eval, between judgings of a run, between judges."""
NESTED = LEVELS[:SEVERITY]
"""Those by which scores of one judge differ."""
SUMS = ("n_judgings", "n_runs", "first", "second", "within_runs", "squares")
DUST = 1e-13
"""A mean square below this share of the squared scores is what rounding leaves of nothing."""
ROUNDING = 1e-12
"""The same of a component, as a share of the mean squares that it is a difference of."""


@dataclass(frozen=True, slots=True)
class MeanSquares:
    """What was seen of each cell, and how it is made of the components.

    Attributes:
        ms: mean squares, 0 where a level has no degrees of freedom; cells × 4.
        df: their degrees of freedom; cells × 4.
        effective: the same, as far as leaving out each eval in turn bears them out.
        unmix: component k is `unmix[k] @ ms`; cells × 4 × 4.
    """

    ms: Array
    df: Array
    effective: Array
    unmix: Array

    @property
    def components(self) -> Array:
        """The components as estimated, below 0 where chance has it so; cells × 4."""
        import numpy as np

        found = np.einsum("ckm,cm->ck", self.unmix, self.ms)
        return np.where(np.abs(found) < ROUNDING * self.ms.max(axis=1, keepdims=True), 0.0, found)


def mean_squares(evals: pl.DataFrame, n_cells: int, judges: Array) -> MeanSquares:
    """The mean squares of cells.

    Args:
        evals: what `sum_by_eval` gives, with the number of its cell as `cell`.
        n_cells: how many cells there are.
        judges: for each cell the judges' sum of squares, its degrees of freedom and its
            factor (see `Panel`); 0 where judges are not crossed with runs.
    """
    import numpy as np

    cell = evals["cell"].to_numpy()
    spread, lost, factor = judges.T
    own, scale = _sum_evals(evals, cell, n_cells)
    total = _per_cell(own, cell, n_cells)
    ms, df = _mean_squares(total, lost)
    ms = np.where(ms < DUST * scale[:, None], 0.0, ms)
    without, left = _mean_squares(total[cell] - own, lost[cell])
    effective = _effective_df(ms, df, _jackknife(without, left, cell, n_cells))
    of_judges = np.divide(spread, lost, out=np.zeros(n_cells), where=lost > 0)
    return MeanSquares(
        ms=np.column_stack([ms, of_judges]),
        df=np.column_stack([df, lost]),
        effective=np.column_stack([effective, lost]),
        unmix=_unmix(total, df, factor),
    )


def _per_cell(values: Array, cell: Array, n_cells: int) -> Array:
    import numpy as np

    columns = [np.bincount(cell, column, minlength=n_cells) for column in values.T]
    return np.column_stack(columns).astype(float)  # sums of nothing come as whole numbers


def _sum_evals(evals: pl.DataFrame, cell: Array, n_cells: int) -> tuple[Array, Array]:
    """What each eval adds to the sums of its cell, and the cell's mean square from the centre.

    With n_ij scores of run j of eval i, and t_i how far the eval's level is from that of its
    cell: the eval itself, n_i, its runs, squares within and between runs, n_i t_i, n_i t_i²,
    Σ n_ij² / n_i, Σ n_ij² and n_i².
    """
    import numpy as np

    n, runs, first, second, within, squares = (evals[name].to_numpy() for name in SUMS)
    weights, firsts, seconds = _per_cell(np.column_stack([n, first, second]), cell, n_cells).T
    off = first / n - (firsts / weights)[cell]
    between = np.maximum(second - first**2 / n, 0)
    parts = [np.ones_like(n), n, runs, within, between, n * off, n * off**2]
    return np.column_stack([*parts, squares / n, squares, n**2]), seconds / weights


def _mean_squares(sums: Array, lost: Array) -> tuple[Array, Array]:
    """Mean squares and degrees of freedom of evals, runs and judgings; 0 if there are none."""
    import numpy as np

    evals, n, runs, within, between, first, second, *_ = sums.T
    df = np.column_stack([evals - 1, runs - evals, n - runs - lost])
    over = np.divide(first**2, n, out=np.zeros_like(n), where=n > 0)
    squares = np.maximum(np.column_stack([second - over, between, within]), 0)
    return np.divide(squares, df, out=np.zeros_like(df), where=df > 0), np.maximum(df, 0)


def _jackknife(without: Array, left: Array, cell: Array, n_cells: int) -> Array:
    """Variance of the mean squares by leaving out each eval in turn; NaN if one carries all."""
    import numpy as np

    evals = np.bincount(cell, minlength=n_cells)[:, None]
    mean = _per_cell(without, cell, n_cells) / evals
    apart = _per_cell((without - mean[cell]) ** 2, cell, n_cells)
    carried = _per_cell((left <= 0).astype(float), cell, n_cells) == 0
    return np.where(carried, apart * (evals - 1) / evals, np.nan)


def _effective_df(ms: Array, df: Array, variance: Array) -> Array:
    """Satterthwaite's 2 MS² / Var(MS), at least 1 and at most what the design gives.

    Under the normal distribution the two are equal; scores that pile up at an end of the
    scale, or evals of which a few stand apart, tell less than their number promises.
    """
    import numpy as np

    seen = np.divide(2 * ms**2, variance, out=np.full_like(ms, np.inf), where=variance > 0)
    return np.minimum(np.maximum(seen, 1), df)


def _unmix(total: Array, df: Array, factor: Array) -> Array:
    """How components are made of mean squares, from how often each contains the other.

    A level without degrees of freedom has no component: its variance is part of the one above.
    """
    import numpy as np

    _, n, _, _, _, _, _, shared, squares, of_evals = total.T

    def per_df(sums: Array, level: int) -> Array:
        return np.divide(sums, df[:, level], out=np.zeros_like(sums), where=df[:, level] > 0)

    def inverse(times: Array) -> Array:
        return np.divide(1, times, out=np.zeros_like(times), where=times > 0)

    runs, evals = (
        inverse(per_df(n - shared, RUN_PART)),
        inverse(per_df(n - of_evals / n, EVAL_PART)),
    )
    runs_in_evals = per_df(shared - squares / n, EVAL_PART) * runs
    unmix = np.zeros((len(total), 4, 4))
    unmix[:, JUDGE_PART, JUDGE_PART] = df[:, JUDGE_PART] > 0
    unmix[:, RUN_PART, RUN_PART] = runs
    unmix[:, RUN_PART, JUDGE_PART] = -runs
    unmix[:, EVAL_PART, EVAL_PART] = evals
    unmix[:, EVAL_PART, RUN_PART] = -runs_in_evals * evals
    unmix[:, EVAL_PART, JUDGE_PART] = (runs_in_evals - 1) * evals
    unmix[:, SEVERITY, SEVERITY] = inverse(factor)
    unmix[:, SEVERITY, JUDGE_PART] = -inverse(factor)
    return unmix


@dataclass(frozen=True, slots=True)
class Estimated:
    """The components of every cell.

    Attributes:
        cells: a row a cell, in the order people read: CELL, n_evals, n_runs, n_judgings (null
            for figures of runs), `judged` (a judge had a part in the figure), JUDGED (null with
            one judge).
        evals: what `sum_by_eval` gives, with the row of its cell as `cell`.
        found: the mean squares, in the order of the cells.
        judges: a row a cell × judge that shares outputs with another: CELL, judge, SEVERITY_OF.
    """

    cells: pl.DataFrame
    evals: pl.DataFrame
    found: MeanSquares
    judges: pl.DataFrame


def estimate_components(judgings: pl.DataFrame) -> Estimated:
    """The components behind the scores or figures that `judgings_of` gives."""
    import polars as pl

    runs, crossed, each = _adjusted_runs(judgings)
    evals = sum_by_eval(runs)
    rubric, metrics = pl.col("metric").str.starts_with(RUBRIC), judgings["metric"].unique()
    cells = (
        judgings.group_by(CELL)
        .agg(pl.len().cast(pl.Int64).alias("n_judgings"))
        .join(
            evals.group_by(CELL).agg(
                pl.len().cast(pl.Int64).alias("n_evals"), pl.col("n_runs").sum().cast(pl.Int64)
            ),
            on=CELL,
            nulls_equal=True,
        )
        .join(crossed, on=CELL, how="left", nulls_equal=True)
        .with_columns(
            pl.when(rubric).then("n_judgings").alias("n_judgings"),
            pl.col("metric").is_in([*filter(is_judged, metrics)]).alias("judged"),
        )
    )
    names = dict.fromkeys(GROUP, natural_key)
    cells = sort_rows(cells, **names, configuration=side_key, metric=metric_order)
    numbers = cells.select(CELL).with_row_index("cell")
    evals = evals.join(numbers, on=CELL, nulls_equal=True, maintain_order="left")
    judges = cells.select(pl.col(JUDGED).fill_null(0)).to_numpy()
    return Estimated(cells, evals, mean_squares(evals, cells.height, judges), each)


def _adjusted_runs(judgings: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """What `remove_severity` gives, and the runs of cells with one judge as they are."""
    import polars as pl

    several = judgings.group_by(CELL).agg(pl.col("judge").n_unique()).filter(pl.col("judge") > 1)
    if several.is_empty():
        keys = dict.fromkeys(CELL, pl.String)
        cells = pl.DataFrame(schema=keys | dict.fromkeys(JUDGED, pl.Float64))
        return sum_by_run(judgings), cells, pl.DataFrame(schema=keys | {"judge": str} | SEVERITY_OF)
    runs, cells, each = remove_severity(judgings.join(several, on=CELL, nulls_equal=True))
    others = sum_by_run(judgings.join(runs, on=CELL, how="anti", nulls_equal=True))
    return pl.concat([runs, others]), cells, each


def name_components(found: Estimated) -> pl.DataFrame:
    """A row a cell × level, in order: `cell`, `level`, `component` (or null), what `cells` has.

    What cannot be told apart is one component and has both names: without a second run of any
    eval `eval + run`, without a second judging of any run `run + judge`.
    """
    import polars as pl

    known = pl.DataFrame(found.found.df > 0, ["of_evals", "of_runs", "of_judgings", "of_judges"])
    runs, judgings = pl.col("of_runs"), pl.col("of_judgings")
    run = pl.when(judgings | ~pl.col("judged")).then(pl.lit("run")).otherwise(pl.lit("run + judge"))
    evals = pl.when(runs).then(pl.lit("eval")).otherwise(pl.format("eval + {}", run))
    names = {
        EVAL_PART: evals,
        RUN_PART: pl.when(runs).then(run),
        JUDGE_PART: pl.when(judgings).then(pl.lit("judge")),
        SEVERITY: pl.when("of_judges").then(pl.lit("judge severity")),
    }
    rows = found.cells.hstack(known).drop("spread", "factor").with_row_index("cell")
    return pl.concat(
        rows.with_columns(pl.lit(level).alias("level"), names[level].alias("component"))
        for level in LEVELS
    ).sort("cell", "level")


ROUGH = 20
"""A variance from fewer is called a rough guess: from 20 it is off by a third as a rule."""


def note() -> pl.Expr:
    """The sentences that hold for a row of components, or null.

    Reads what `name_components` gives and `df`, `spread` (the mean square), `raw` (unclipped).
    """
    import polars as pl

    level, component = pl.col("level"), pl.col("component")
    rubric = pl.col("n_judgings").is_not_null()
    unseen = (level == EVAL_PART) & (pl.col("n_evals") < 2)
    of = level.replace_strict(LEVELS, ("evals", "repeated runs", "repeated judgings", "judges"))
    df = pl.col("df") + level.is_in([EVAL_PART, SEVERITY])
    sentences = [
        pl.when(unseen).then(pl.lit("With one eval, the variance between evals is unknown.")),
        pl.when(component.str.starts_with("eval + run")).then(
            pl.lit("No eval was run twice: run again to tell evals and runs apart.")
        ),
        pl.when(component.str.ends_with("run + judge"), rubric).then(
            pl.lit("No output was judged twice: judge again to tell run and judge apart.")
        ),
        pl.when(component == "run + judge", ~rubric).then(
            pl.lit("Each run has one such figure, which includes the judge's part.")
        ),
        pl.when(pl.col("lost") == 0, level <= RUN_PART).then(
            pl.lit("Different judges scored different outputs: this includes their severity.")
        ),
        pl.when((level == JUDGE_PART) & (pl.col("lost") > 0)).then(
            pl.lit("It is a judge's deviation on one run, beyond its usual severity.")
        ),
        pl.when((pl.col("raw") < 0) & ~unseen).then(
            pl.format(
                "By chance the estimate is {}, below 0; it is set to 0.",
                pl.col("raw").round_sig_figs(2),
            )
        ),
        pl.when((pl.col("spread") == 0) & ~unseen).then(
            pl.lit("No spread was seen, which does not prove it is 0.")
        ),
        pl.when((pl.col("df") < ROUGH - 1) & ~unseen).then(
            pl.format("A rough guess: it rests on few {} ({}).", of, df.cast(pl.Int64))
        ),
    ]
    text = pl.concat_str(sentences, separator=" ", ignore_nulls=True)
    return pl.when(text != "").then(text).alias("note")


HALVINGS = 30
"""After so many halvings a share is known to nine digits."""


def component_bounds(found: MeanSquares, level: float) -> tuple[Array, Array]:
    """Lower and upper bounds of every component, at least 0; cells × 4."""
    import numpy as np

    low, high = _square_intervals(found, level)
    bounds = _combine_intervals(found.unmix, found.ms, low, high)
    return np.maximum(bounds[0], 0), np.maximum(bounds[1], 0)


def share_bounds(found: MeanSquares, level: float) -> tuple[Array, Array]:
    """Lower and upper bounds of every component's share of eval, run and judge; cells × 4.

    A share exceeds s where `component - s * whole` exceeds 0, and that is again made of mean
    squares: the bounds are the s at which its interval begins and ceases to contain 0.
    """
    import numpy as np

    squares = _square_intervals(found, level)
    whole = found.unmix[:, : len(NESTED)].sum(axis=1, keepdims=True)

    def bound(side: int) -> Array:
        lower, upper = np.zeros(found.ms.shape), np.ones(found.ms.shape)
        for _ in range(HALVINGS):
            middle = (lower + upper) / 2
            weights = found.unmix - middle[:, :, None] * whole
            above = _combine_intervals(weights, found.ms, *squares)[side] > 0
            lower, upper = np.where(above, middle, lower), np.where(above, upper, middle)
        return (lower if side == 0 else upper).round(8)

    return bound(0), bound(1)


def _square_intervals(found: MeanSquares, level: float) -> tuple[Array, Array]:
    """The interval of each expected mean square; 0 to 0 if there is none."""
    import numpy as np
    from scipy import special

    there = found.df > 0
    df = np.where(there, found.effective, 1)
    squares = found.ms * df
    low = squares / special.chdtri(df, (1 - level) / 2)
    high = squares / special.chdtri(df, (1 + level) / 2)
    return np.where(there, low, 0), np.where(there, high, 0)


def _combine_intervals(weights: Array, ms: Array, low: Array, high: Array) -> tuple[Array, Array]:
    """The interval of weighted sums of mean squares; weights are cells × sums × 4."""
    import numpy as np

    ms, low, high = ms[:, None], low[:, None], high[:, None]
    estimate = (weights * ms).sum(axis=2)
    down = weights * np.where(weights > 0, ms - low, high - ms)
    up = weights * np.where(weights > 0, high - ms, ms - low)
    reach_down, reach_up = (np.sqrt((part**2).sum(axis=2)) for part in (down, up))
    return estimate - reach_down, estimate + reach_up


FEWEST = 2
"""Degrees of freedom below which an interval would hold anything."""
COLUMNS = [
    *CELL,
    "dimension",
    "component",
    "variance",
    "low",
    "high",
    "share",
    "share_low",
    "share_high",
    "n_evals",
    "n_runs",
    "n_judgings",
    "note",
]


@statistic
def variance(data: Any, metric: str | None = None, *, level: float = 0.95) -> Any:
    """Where the variance of a configuration's scores comes from: evals, runs or the judge.

    A score is modelled as the sum of its eval's level, an effect of its run, and an effect of
    the judging. The three variances are Henderson's method I estimates; on balanced data they
    equal those of the analysis of variance: with R runs per eval and J judgings per run, judge =
    MS_judging, run = (MS_run - MS_judging) / J, eval = (MS_eval - MS_run) / (R J). The variance
    of the mean of all scores is eval / E + run / (E R) + judge / (E R J).

    If the data cannot separate two components, they are one with both names: `run + judge` if no
    output was judged twice, `eval + run` if no eval was run twice. Figures without a judge
    (`time_seconds`, `structural_pass_rate`, …) have `eval` and `run`.

    If several judges scored the same outputs, they are crossed with the runs: `judge` is then
    how a judge scores one run beyond its usual severity, and `judge severity` how much judges
    differ on all of them. Shares do not include it, because a judge's severity shifts all its
    scores equally; `judge_severity` has it judge by judge.

    Args:
        data: a `Workspace`, or a table of runs or of rubric scores (polars or pandas).
        metric: a number column of `runs`, or a rubric dimension by `rubric:<name>` or by its
            name alone; None for every rubric dimension.
        level: confidence of the intervals.

    Returns:
        In the kind of `data`, one row a workspace × skill × iteration × configuration ×
        metric × component, and of each model and harness as for `deltas`; none if there is no
        figure.

        - `metric`, and for a rubric's dimension its name as `dimension`;
        - `variance` in the metric's unit squared, with `low` and `high`; `share` of the sum of
          eval, run and judge (0-1), with `share_low` and `share_high`;
        - `n_evals`, `n_runs`, `n_judgings` (scores; null for figures of runs);
        - `note`: what to know about it, in sentences (an estimate below 0, which chance brings
          about, is set to 0, for one); null if there is nothing.

        A variance that cannot be seen at all (one eval) is null, and so are shares then.
        Intervals come from leaving out each whole eval in turn, which says how many degrees
        of freedom the mean squares have, and the chi-square distribution (see
        `variance_intervals`). They are null below two degrees of freedom, and have no upper
        end where no spread was seen.

    Raises:
        ValueError: for a metric that is not there, or a level outside (0, 1).

    >>> import polars as pl
    >>> runs = pl.DataFrame({
    ...     "eval_id": ["1", "1", "2", "2", "3", "3"],
    ...     "configuration": ["with_skill"] * 6,
    ...     "time_seconds": [10.0, 12.0, 20.0, 22.0, 30.0, 32.0],
    ... })
    >>> variance(runs, "time_seconds").select("component", "variance", "share").rows()
    [('eval', 99.0, 0.98...), ('run', 2.0, 0.019...)]
    """
    import polars as pl

    level = check_level(level)
    known = estimate_components(judgings_of(data, metric))
    found, figures = known.found, {"raw": known.found.components}
    figures["low"], figures["high"] = component_bounds(found, level)
    figures["share_low"], figures["share_high"] = share_bounds(found, level)
    figures |= {"spread": found.ms, "df": found.df}
    rows = name_components(known).with_columns(
        pl.Series(name, own.ravel(), pl.Float64) for name, own in figures.items()
    )
    estimable = _known_figures(rows).drop_nulls("component").with_columns(dimension(), note())
    return estimable.select(COLUMNS)


def _known_figures(rows: pl.DataFrame) -> pl.DataFrame:
    """The figures as far as the data carry them; null if they do not."""
    import polars as pl

    df, level = pl.col("df"), pl.col("level")
    part = (level != SEVERITY) & ((df > 0) | (level == EVAL_PART))
    known = pl.when(df > 0)
    seen, carried = pl.col("spread") > 0, df >= FEWEST
    rows = rows.with_columns(
        known.then(pl.col("raw").clip(0)).alias("variance"),
        pl.when(carried).then("low").alias("low"),
        pl.when(carried & seen).then("high").alias("high"),
    )
    whole = pl.col("variance").filter(part).sum().over("cell")
    every = pl.col("variance").filter(part).is_not_null().all().over("cell")
    steady = carried.filter(part).all().over("cell")
    shared = every & (level != SEVERITY) & (whole > 0)
    return rows.with_columns(
        pl.when(shared).then(pl.col("variance") / whole).alias("share"),
        pl.when(shared & steady).then("share_low").alias("share_low"),
        pl.when(shared & steady & seen).then("share_high").alias("share_high"),
    )


SEVERITIES = [*CELL, "dimension", "judge", "severity", "low", "high", "n_runs"]


@statistic
def judge_severity(data: Any, metric: str | None = None, *, level: float = 0.95) -> Any:
    """How much higher each judge scores the same outputs than the others do.

    Args:
        data: a `Workspace`, or a table of rubric scores (polars or pandas).
        metric: a rubric dimension; None for each.
        level: confidence of the interval.

    Returns:
        In the kind of `data`, one row a workspace × skill × iteration × configuration ×
        dimension × judge, if several judges scored the same outputs (and of each model and
        harness as for `deltas`):

        - `judge`: the model, `unstated` if no file names it;
        - `severity`, in points: positive if it scores higher than the mean judge, by least
          squares over outputs and judges; the sum over judges is 0;
        - `low` and `high`, Student's t by the run × judge residual; null if that shows no
          spread or has no degrees of freedom;
        - `n_runs`: outputs that it scored together with another judge.

    Raises:
        ValueError: for a metric that is not there, or a level outside (0, 1).

    >>> import polars as pl
    >>> scores = pl.DataFrame({
    ...     "eval_id": ["1", "1", "2", "2"], "run_number": [1] * 4, "score": [5, 3, 4, 2],
    ...     "dimension": ["clarity"] * 4, "judge_model": ["mild", "harsh"] * 2,
    ... })
    >>> judge_severity(scores).select("judge", pl.col("severity").round(9), "n_runs").rows()
    [('harsh', -1.0, 2), ('mild', 1.0, 2)]
    """
    import polars as pl
    from scipy import special

    level = check_level(level)
    found = estimate_components(judgings_of(data, metric))
    noise = found.cells.select(CELL).with_columns(
        pl.Series("ms", found.found.ms[:, JUDGE_PART]),
        pl.Series("t", special.stdtrit(found.found.df[:, JUDGE_PART], (1 + level) / 2)),
    )
    seen = pl.when(pl.col("ms") > 0).then(pl.col("t") * (pl.col("ms") * pl.col("inverse")).sqrt())
    return (
        noise.join(found.judges, on=CELL, nulls_equal=True, maintain_order="left_right")
        .with_columns(
            dimension(),
            (pl.col("severity") - seen).alias("low"),
            (pl.col("severity") + seen).alias("high"),
        )
        .select(SEVERITIES)
    )
