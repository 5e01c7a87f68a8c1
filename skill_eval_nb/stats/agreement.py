"""`agreement`: how far a judge's scores can be trusted."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any

from skill_eval_nb.documents.sides import UNSTATED
from skill_eval_nb.tables.columns import frame_of, to_backend_of
from skill_eval_nb.text import count

from .checks import find_judged_checks
from .inference import eval_noise
from .preference import Wins
from .values import (
    EVAL,
    GROUP,
    RUN,
    is_table,
    natural_key,
    order_answer,
    rows_of_runs,
    runs_of,
    sort_rows,
)

if TYPE_CHECKING:
    import numpy as np
    import polars as pl

    Matrix = np.ndarray[Any, Any]
    Array = np.ndarray[Any, Any]
    Row = dict[str, Any]


HAIR = 1e-9
"""What rounding inside the machine may add to a difference of two scores."""


def shares(matrix: Matrix, outputs: Matrix) -> tuple[float | None, float | None]:
    """Exact agreement, and agreement within one point; None without a pair.

    The share of pairs of judgings of the same output, every output counting once.

    Args:
        matrix: of the scores.
        outputs: which output each row is of, as whole numbers from 0.

    >>> import numpy as np
    >>> shares(np.array([[5, 5, 4], [3, 3, 3]]), np.array([0, 1]))
    (0.6666666666666666, 1.0)
    """
    import numpy as np

    left, right = np.triu_indices(matrix.shape[1], 1)
    apart = np.abs(matrix[:, left] - matrix[:, right])
    pairs = np.bincount(outputs, (~np.isnan(apart)).sum(1))
    some = pairs > 0
    if not some.any():
        return None, None
    equal, near = (np.bincount(outputs, (apart <= limit + HAIR).sum(1)) for limit in (0, 1))
    return float((equal[some] / pairs[some]).mean()), float((near[some] / pairs[some]).mean())


def sem(matrix: Matrix) -> float | None:
    """The standard error of measurement, in points of the scale: how far one judging may be off.

    The pooled standard deviation within outputs: the square root of the variance that neither
    the outputs nor anything they share explains, in whatever cells the scores stand.

    >>> import numpy as np
    >>> sem(np.array([[5, 3], [2, 2]]))
    1.0
    """
    n, squares = _sum_rows(matrix)
    free = (n - 1)[n > 1].sum()
    return math.sqrt(squares.sum() / free) if free else None


def icc(matrix: Matrix) -> tuple[float | None, float | None]:
    """ICC(A,1) and ICC(A,k): two-way random effects, absolute agreement, of one judging and of k.

    Shrout and Fleiss 1979 call them ICC(2,1) and ICC(2,k), McGraw and Wong 1996 as here:
    variance of outputs / (that + judgings + rest), judgings and rest divided by k for the mean
    of k. The components are Henderson's (method I), which on a complete matrix are those of the
    analysis of variance and with missing cells need neither whole rows nor guesses; k is then
    the harmonic mean of the judgings an output has. They are not clipped, so an ICC may lie a
    little below 0; None if all scores are equal, or so few that it falls outside -1 to 1.

    >>> import numpy as np
    >>> a1, ak = icc(np.array([[1, 2], [3, 4], [5, 5]]))
    >>> round(a1, 3), round(ak, 3)
    (0.9, 0.947)
    """
    import numpy as np

    there = ~np.isnan(matrix)
    matrix = matrix[there.any(1)][:, there.any(0)]
    there = ~np.isnan(matrix)
    if not there.size:
        return None, None
    scores = np.where(there, matrix - matrix[there].mean(), 0.0)
    down, across, n = there.sum(1), there.sum(0), there.sum()
    sums = np.array(
        [
            (scores.sum(1) ** 2 / down).sum(),
            (scores.sum(0) ** 2 / across).sum(),
            (scores**2).sum(),
        ]
    )
    rows, columns = len(down), len(across)
    once_down, once_across = n - (down**2).sum() / n, n - (across**2).sum() / n
    expected = np.array(
        [
            [once_down, rows - (across**2).sum() / n, rows - 1],
            [columns - (down**2).sum() / n, once_across, columns - 1],
            [once_down, once_across, n - 1],
        ]
    )
    if np.linalg.matrix_rank(expected) < 3:
        return None, None
    output, judging, rest = np.linalg.solve(expected, sums)
    k = rows / (1 / down).sum()
    noise = judging + rest
    return _divide_or_none(output, output + noise), _divide_or_none(output, output + noise / k)


def alpha(matrix: Matrix) -> float | None:
    """Krippendorff's alpha for ordinal data; outputs with a single score do not enter.

    His ordinal difference of two scores is the difference of their middle ranks, so alpha is
    1 - variance of the ranks within outputs / their variance over all. None without an output
    judged twice, or where all scores are equal.

    >>> import numpy as np
    >>> round(alpha(np.array([[1, 1], [2, 3], [5, 5]])), 3)
    0.949
    """
    import numpy as np

    paired = matrix[(~np.isnan(matrix)).sum(1) > 1]
    there = ~np.isnan(paired)
    _, place, count = np.unique(paired[there], return_inverse=True, return_counts=True)
    if len(count) < 2:
        return None
    middle = np.cumsum(count) - count / 2
    ranks = np.full(paired.shape, np.nan)
    ranks[there] = middle[place]
    n, squares = _sum_rows(ranks)
    within = (n * squares / (n - 1)).sum() / n.sum()
    return float(1 - within / ranks[there].var(ddof=1))


SCORES = (1, 2, 3, 4, 5)
"""What a rubric allows."""


def ac2(matrix: Matrix) -> float | None:
    """Gwet's AC2 with quadratic weights (*Handbook of Inter-Rater Reliability*, 2014).

    The categories are SCORES and any other score that was given; an output with a single score
    counts for how common the categories are. None without an output judged twice.

    >>> import numpy as np
    >>> ac2(np.array([[5, 5], [5, 5]]))
    1.0
    """
    import numpy as np

    there = ~np.isnan(matrix)
    n, squares = _sum_rows(matrix)
    paired = n > 1
    if not paired.any():
        return None
    known = np.union1d(SCORES, matrix[there])
    span = (known[-1] - known[0]) ** 2
    agreed = 1 - (2 * squares[paired] / (n[paired] - 1)).mean() / span
    weight = np.broadcast_to(1 / np.maximum(n, 1)[:, None], matrix.shape)[there]
    common = np.bincount(np.searchsorted(known, matrix[there]), weight, len(known)) / (n > 0).sum()
    q = len(known)
    weights = q * q * (1 - 2 * known.var() / span)
    chance = weights * (common * (1 - common)).sum() / (q * (q - 1))
    return float((agreed - chance) / (1 - chance))


def kappa(matrix: Matrix) -> float | None:
    """Cohen's kappa with quadratic weights between two columns, over the rows that have both.

    Mean squared difference against the one that chance would give, which is the two variances
    and the squared difference of the means. None if all scores are equal.

    >>> import numpy as np
    >>> round(kappa(np.array([[1, 1], [2, 2], [3, 2]])), 3)
    0.667
    """
    import numpy as np

    both = matrix[~np.isnan(matrix).any(1)]
    if not len(both):
        return None
    means = both.mean(0)
    chance = both.var(0).sum() + (means[0] - means[1]) ** 2
    observed = ((both[:, 0] - both[:, 1]) ** 2).mean()
    return float(1 - observed / chance) if chance > HAIR**2 else None


def _sum_rows(matrix: Matrix) -> tuple[Matrix, Matrix]:
    """How many scores each row has, and their squared distance from the row's mean."""
    import numpy as np

    there = ~np.isnan(matrix)
    n = there.sum(1)
    mean = np.where(there, matrix, 0).sum(1) / np.maximum(n, 1)
    squares = (np.where(there, matrix - mean[:, None], 0) ** 2).sum(1)
    return n, squares


def _divide_or_none(part: float, whole: float) -> float | None:
    """Part / whole; None where the whole is 0 or smaller than the part."""
    if not whole > HAIR**2 or abs(part) > whole * (1 + HAIR):
        return None
    return float(part / whole)


ITSELF, JUDGE, HUMAN = KINDS = (
    "judge against itself",
    "judge against judge",
    "judge against human",
)
LABELLED = "judge against labels"
"""What is said of a judge's verdicts on single checks."""
OUTPUT = [*GROUP, *EVAL, "configuration", "run_number", "dimension"]
"""What is scored: a run's output on a dimension."""
KEYS = [*GROUP, "dimension", "kind", "judge", "other"]
"""What one comparison of raters is."""
SOMEBODY = "human"
"""What a human is called that no file names."""


@dataclass(frozen=True, slots=True)
class Raters:
    """The scores that raters gave the same outputs.

    `matrix` has a row an output and a column a judging; for two raters, a row for every pair
    of their judgings of an output and a column a rater. `outputs` and `evals` say by whole
    numbers from 0 which output and eval a row is of, `scores` holds each score once, and
    `stray` counts the human scores that are of no judged output.
    """

    keys: tuple[str, ...]
    matrix: Array
    outputs: Array
    evals: Array
    scores: Array
    stray: int = 0

    @property
    def two(self) -> bool:
        """Whether the columns are two raters, and not the judgings of one."""
        return self.keys[KEYS.index("kind")] != ITSELF


def pair_raters(data: Any, human: Any = None) -> list[Raters]:
    """Every pair of raters that the scores allow, a judge against itself first.

    Args:
        data: a `Workspace` or a table of rubric scores (polars or pandas).
        human: as for `agreement`.

    Raises:
        ValueError: for a table `human` that does not say what was scored.
    """
    import polars as pl

    judged = _order_scores(rows_of_runs(data, "rubric_scores"))
    several = pl.col("judge").n_unique().over("output") > 1
    shared = judged.filter(several)
    found = [*_pair_judgings(judged), *_pair_judges(shared, shared, JUDGE)]
    if human is not None:
        scored, stray = _match_human_scores(human, judged)
        found += _pair_judges(judged, scored, HUMAN, stray)
    return found


def _order_scores(scores: pl.DataFrame) -> pl.DataFrame:
    """OUTPUT, judge, score, `output` and `eval`, in an order of their own.

    `output` numbers the runs × dimensions, `eval` the evals; scores that are no finite numbers
    are left out. Texts become enums, by which all that follows is three times as fast.
    """
    import polars as pl

    kept = scores.filter(pl.col("score").is_finite()).select(
        *OUTPUT, pl.col("judge_model").fill_null(UNSTATED).alias("judge"), "judging", "score"
    )
    texts = kept.select(pl.col(pl.String)).columns
    kept = kept.cast({name: pl.Enum(kept[name].drop_nulls().unique().sort()) for name in texts})
    evals = pl.struct(*GROUP, *EVAL).rle_id().cast(pl.Int64)
    numbered = (
        kept.select(OUTPUT)
        .unique()
        .sort(OUTPUT)
        .with_columns(pl.int_range(pl.len()).alias("output"), evals.alias("eval"))
    )
    order = ["output", "judge", "judging", "score"]
    return kept.join(numbered, on=OUTPUT, nulls_equal=True).sort(order).drop("judging")


def _pair_judgings(judged: pl.DataFrame) -> Iterator[Raters]:
    """For each judge, its judgings of an output as the columns of a row, in their order."""
    import numpy as np
    import polars as pl

    judge = judged.with_columns(pl.lit(ITSELF).alias("kind"), other="judge")
    for keys, rows in judge.partition_by(KEYS, as_dict=True, include_key=False).items():
        outputs, first, row = np.unique(rows["output"], return_index=True, return_inverse=True)
        place = np.arange(rows.height) - first[row]
        matrix = np.full((len(outputs), place.max() + 1), np.nan)
        matrix[row, place] = score = rows["score"].to_numpy()
        evals = _from_zero(rows["eval"].to_numpy()[first])
        yield Raters(keys, matrix, np.arange(len(outputs)), evals, score)


def _pair_judges(
    judged: pl.DataFrame, others: pl.DataFrame, kind: str, stray: int = 0
) -> Iterator[Raters]:
    """Each judge with each of the others, over the outputs that both scored."""
    import numpy as np
    import polars as pl

    beside = others.with_row_index("other_at").select(
        "output", "other_at", other="judge", other_score="score"
    )
    pairs = (
        judged.with_row_index("at")
        .join(beside, on="output", maintain_order="left_right")
        .filter(pl.col("judge") < pl.col("other") if kind == JUDGE else True)
        .with_columns(pl.lit(kind).alias("kind"))
    )
    for keys, rows in pairs.partition_by(KEYS, as_dict=True, include_key=False).items():
        once = (rows.unique("at")["score"], rows.unique("other_at")["other_score"])
        yield Raters(
            keys,
            rows.select("score", "other_score").to_numpy(),
            _from_zero(rows["output"].to_numpy()),
            _from_zero(rows["eval"].to_numpy()),
            np.sort(np.concatenate(once)),
            stray,
        )


def _match_human_scores(human: Any, judged: pl.DataFrame) -> tuple[pl.DataFrame, int]:
    """Human scores of judged outputs as in `_order_scores`; how many match no judged output."""
    import narwhals as nw
    import polars as pl
    from polars import selectors as cs

    there = nw.from_native(human, eager_only=True).columns
    keys = [name for name in RUN if name in there]
    lacking = [name for name in ("dimension", "score") if name not in there]
    if lacking or not keys:
        raise ValueError(
            f"`human` must have the columns `dimension`, `score` and those of {', '.join(RUN)} "
            f"that tell the runs apart. It has: {', '.join(there)}."
        )
    scores = frame_of(human, "rubric_scores").filter(pl.col("score").is_finite())
    if scores.is_empty():
        raise ValueError("`human` holds no score.")
    outputs = judged.select(*OUTPUT, "output").unique().sort("output").cast({cs.enum(): pl.String})
    on = [*keys, "dimension"]
    if outputs.select(on).is_duplicated().any():
        more = [name for name in RUN if name not in there]
        raise ValueError(
            f"The columns {', '.join(keys)} of `human` do not tell the runs apart. "
            f"Add those of {', '.join(more)} that do."
        )
    named = scores.select(*on, pl.col("judge_model").fill_null(SOMEBODY).alias("judge"), "score")
    matched = outputs.join(named, on=on, nulls_equal=True)
    if matched.is_empty():
        example = f"A judged run has {_first_row(outputs, on)}." if len(outputs) else ""
        raise ValueError(
            f"No row of `human` matches a judged run: there is none with {_first_row(named, on)}. "
            f"{example or 'No run was judged.'}"
        )
    return matched.sort("output", "judge", "score"), scores.height - matched.height


def _from_zero(numbers: Array) -> Array:
    """The numbers by their rank: 0, 1, and so on."""
    import numpy as np

    return np.unique(numbers, return_inverse=True)[1]


def _first_row(frame: pl.DataFrame, columns: list[str]) -> str:
    """The first row in words."""
    row = frame.select(columns).row(0, named=True)
    return ", ".join(f"{name} `{value}`" for name, value in row.items())


FEW = 20
"""Outputs judged twice below which a coefficient is a rough guess."""
CROWDED = 0.9
"""Share of one score above which alpha, ICC and kappa have too little spread to work with."""


def describe_doubts(found: Row, raters: Raters) -> str | None:
    """What to bear in mind with the figures of one comparison, or None.

    Args:
        found: its figures, as `agreement` gives them.
        raters: whose they are.
    """
    import numpy as np

    notes = []
    values, counts = np.unique(raters.scores, return_counts=True)
    most, share = values[counts.argmax()], counts.max() / counts.sum()
    off = int(((raters.scores < SCORES[0]) | (raters.scores > SCORES[-1])).sum())
    if not found["n_repeated"]:
        notes.append("No output was scored twice: judge again to see how reliable the scores are.")
    elif len(values) == 1:
        notes.append(f"All scores are {most:g}: without spread there is no alpha, ICC or kappa.")
    else:
        if share > CROWDED:
            notes.append(
                f"{share:.0%} of the scores are {most:g}: alpha, ICC and kappa are then low "
                "however often the scores agree; use exact agreement and AC2."
            )
        if found["icc_a1"] is None:
            notes.append("The outputs are too few or too alike for an ICC.")
        if found["n_repeated"] < FEW:
            notes.append(f"With {found['n_repeated']} outputs the coefficients are rough guesses.")
    if off:
        notes.append(f"Scores outside {SCORES[0]}–{SCORES[-1]}: {off:,}.")
    if raters.two and found["n_repeated"] and found["low"] is None:
        notes.append("The difference has no interval: that takes two evals with different values.")
    if raters.stray:
        notes.append(f"Human scores that match no judged run: {raters.stray:,}.")
    return " ".join(notes) or None


RATES = {"exact": (True, False), "sensitivity": (True,), "specificity": (False,)}
"""Shares of checks on which the judge is right, and the human's verdicts on those checks."""
ON_LABELS = tuple(f"{rate}{end}" for rate in RATES for end in ("", "_low", "_high"))[1:]
"""What `agreement` says of a judge on the checks that a human labelled, beside `exact`."""


def trust_judges(ws: Any, level: float) -> list[dict[str, Any]]:
    """A row a judge of what it says of labelled checks; those not drawn at random in the note."""
    import polars as pl

    judges = runs_of(ws).select(*RUN, judge=pl.col("judge_model").fill_null(UNSTATED)).unique(RUN)
    checks = find_judged_checks(ws).drop_nulls("label").join(judges, on=RUN, nulls_equal=True)
    rows = []
    for key, own in checks.group_by([*GROUP, "judge"], maintain_order=True):
        drawn = own.filter("sampled")
        n = drawn.height
        row: dict[str, Any] = dict(zip([*GROUP, "judge"], key, strict=True))
        row |= {"n_evals": drawn.select(EVAL).n_unique(), "n_outputs": n, "n_repeated": n}
        for rate, labels in RATES.items():
            of = drawn.filter(pl.col("label").is_in(labels))
            right = int((of["passed"] == of["label"]).sum())
            low, high = Wins(right, of.height - right, 0).interval(level)
            share = right / of.height if of.height else None
            row |= {rate: share, f"{rate}_low": low, f"{rate}_high": high}
        more = count(own.height - n, "label")
        note = f"{more} left out: checks not drawn at random." if own.height > n else None
        rows.append(row | {"note": note})
    return rows


COUNTS = ("n_evals", "n_outputs", "n_repeated", "n_judgings")
DISTRIBUTION = (*(f"n_score_{score}" for score in SCORES), "n_score_other")
MEASURES = (
    "exact",
    "within_one",
    "icc_a1",
    "icc_ak",
    "sem",
    "alpha",
    "ac2",
    "kappa",
    "difference",
    "low",
    "high",
)


def agreement(data: Any, human: Any = None, *, level: float = 0.95) -> Any:
    """How well scores of the same outputs agree: coefficients, and the raw agreement with each.

    A judge is compared with itself over the judgings of each output; two judges, or a judge and
    a human, over every pair of their judgings of each output that both scored. Do not read any
    coefficient alone: if nearly all scores are equal, alpha and ICC are near 0 however well the
    scores agree, and `note` says so.

    The judgings of one judge are exchangeable, so their numbers mean nothing and ICC(1) would be
    enough. ICC(A,1) treats the numbers as raters, has the same expected value, and is what
    others report. `icc_ak` is for the mean of as many judgings as an output has.

    Args:
        data: a `Workspace`, or a table of rubric scores (polars or pandas).
        human: scores given by people, as a table with the columns `dimension`, `score` and those
            of workspace, skill, iteration, eval_id, eval_name, configuration and run_number that
            tell the runs apart; `judge_model`, if present, names the human.
        level: confidence of the interval of the difference.

    Returns:
        In the kind of `data`, one row a workspace × skill × iteration × dimension × comparison,
        and of each model and harness that was judged as for `deltas`, in natural order.

        - `kind`: `judge against itself`, `judge against judge` or `judge against human`;
          `judge` and `other` name the two, `unstated` if no file names a judge;
        - `n_evals`, `n_outputs` (scored), `n_repeated` (scored at least twice, and so
          compared), `n_judgings` (scores);
        - `n_score_1` … `n_score_5`, `n_score_other`: how often each score was given;
        - `exact`, `within_one`: share of pairs of judgings of an output that are equal, or no
          more than one point apart, every output counting once (0-1);
        - `icc_a1`, `icc_ak`: agreement of one judging, of the mean of k (ICC(A,1) and ICC(A,k),
          also for missing cells); `sem`: the standard error of
          measurement, in points; `alpha`: Krippendorff's, ordinal; `ac2`: Gwet's, quadratic
          weights from 1 to 5; `kappa`: Cohen's, quadratic weights, for two raters;
        - `difference`: `judge` minus `other`, the mean over evals of their mean over outputs,
          in points, and Student's t interval `low` to `high` with the eval as the unit, as
          outputs of one eval are alike; for two raters;
        - `note`: why a figure is null or not to be trusted, else null.

        Where a human labelled checks of a `Workspace` (see `sen.review(ws, "checks")`), there is
        a row more for each judge, `judge against labels`, without a dimension, about the labels
        of checks that were drawn at random:
        `n_outputs`, how many; `exact`, the share of them on which the judge is right;
        `sensitivity`, the share that it passes of those that the human passes; `specificity`, the
        share that it fails of those that the human fails; each with its exact interval (`…_low`,
        `…_high`: Clopper and Pearson, 1934), as if no two checks were of one run. Other figures
        are null.

    Raises:
        ValueError: for a table `human` that fits no run.

    >>> import polars as pl
    >>> scores = pl.DataFrame({
    ...     "eval_id": ["1", "1", "2", "2"], "configuration": "with_skill", "run_number": 1,
    ...     "dimension": "clarity", "judging": [1, 2, 1, 2], "score": [5, 5, 4, 3],
    ... })
    >>> agreement(scores).select("exact", "within_one", "note").rows()
    [(0.5, 1.0, 'With 2 outputs the coefficients are rough guesses.')]
    """
    import polars as pl

    schema = dict.fromkeys(KEYS, pl.String) | dict.fromkeys((*COUNTS, *DISTRIBUTION), pl.Int64)
    schema |= dict.fromkeys((*MEASURES, *ON_LABELS), pl.Float64)
    rows = [
        dict(zip(KEYS, each.keys, strict=True)) | _measure_raters(each, level)
        for each in pair_raters(data, human)
    ]
    labelled = [] if is_table(data) else trust_judges(data, level)
    rows += [{"kind": LABELLED, "other": SOMEBODY} | row for row in labelled]
    kinds = (*KINDS, LABELLED)
    names = dict.fromkeys(KEYS, natural_key) | {"kind": lambda kind: (kinds.index(kind),)}
    table = sort_rows(pl.DataFrame(rows, schema | {"note": pl.String}), **names)
    return to_backend_of(data, order_answer(data, table))


def _measure_raters(raters: Raters, level: float) -> dict[str, Any]:
    """COUNTS, DISTRIBUTION, MEASURES and note of a comparison."""
    import numpy as np

    repeated = raters.outputs[(~np.isnan(raters.matrix)).sum(1) > 1]
    groups = (raters.evals, raters.outputs, repeated)
    counts = [*(len(np.unique(group)) for group in groups), len(raters.scores)]
    given = [int((raters.scores == score).sum()) for score in SCORES]
    beyond = len(raters.scores) - sum(given)
    measures = [
        *shares(raters.matrix, raters.outputs),
        *icc(raters.matrix),
        sem(raters.matrix),
        alpha(raters.matrix),
        ac2(raters.matrix),
        *([kappa(raters.matrix), *_rater_difference(raters, level)] if raters.two else [None] * 4),
    ]
    names = (*COUNTS, *DISTRIBUTION, *MEASURES)
    found: dict[str, Any] = dict(zip(names, [*counts, *given, beyond, *measures], strict=True))
    return found | {"note": describe_doubts(found, raters)}


def _rater_difference(
    raters: Raters, level: float
) -> tuple[float | None, float | None, float | None]:
    """The first rater minus the second, evals averaged last, with its t interval."""
    import polars as pl

    apart = raters.matrix[:, 0] - raters.matrix[:, 1]
    rows = pl.DataFrame({"eval": raters.evals, "output": raters.outputs, "apart": apart})
    rows, mean = rows.drop_nans("apart"), pl.col("apart").mean()
    by_output = rows.group_by("eval", "output", maintain_order=True).agg(mean)
    by_eval = by_output.group_by("eval", maintain_order=True).agg(mean)["apart"].to_list()
    if not by_eval:
        return None, None, None
    estimate, noise = fmean(by_eval), eval_noise(by_eval)
    low, high = noise.interval(estimate, level) if noise else (None, None)
    return estimate, low, high
