"""`agreement`: how far a judge's scores can be trusted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skill_eval_nb.tables.frames import like

from ..inference.intervals import eval_noise
from ..names import in_order, natural
from .coefficients import ac2, alpha, icc, kappa, sem, shares
from .doubts import doubts
from .raters import KEYS, KINDS, Raters, raters

if TYPE_CHECKING:
    import numpy as np

COUNTS = ("n_evals", "n_outputs", "n_repeated", "n_judgings")
SCORES = (1, 2, 3, 4, 5)
DISTRIBUTION = (*(f"n_score_{score}" for score in SCORES), "n_score_other")
MEASURES = (
    "exact",
    "within_one",
    "unanimous",
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


def agreement(
    data: Any, human: Any = None, *, scale: tuple[int, int] = (1, 5), level: float = 0.95
) -> Any:
    """How well scores of the same outputs agree, the raw agreement beside every coefficient.

    A judge is compared with itself over the judgings of each output; two judges, or a judge
    and a human, over every pair of their judgings of each output that both scored. No
    coefficient is to be read alone: where nearly all scores are equal, alpha and ICC are near
    0 however well the scores agree, and `note` says so.

    The judgings of one judge are exchangeable, so their numbers explain nothing and ICC(1)
    would do; ICC(A,1) takes the numbers for raters, expects the same value, and is what
    others report. `icc_ak` is for the mean of as many judgings as an output has.

    Args:
        data: a `Workspace`; a table of rubric scores (polars or pandas); or a matrix, outputs
            down and judgings across (array, lists, polars or pandas), NaN or null where
            missing. A matrix of two columns is taken for two raters.
        human: scores given by people, as a table with the columns `dimension`, `score` and
            those of workspace, skill, iteration, eval_id, eval_name, configuration and
            run_number that tell the runs apart; `judge_model`, where it is there, names the
            human. Not with a matrix.
        scale: the lowest and the highest score that the rubric allows.
        level: confidence of the interval of the difference.

    Returns:
        In the kind of `data` (polars for arrays and lists), one row a workspace × skill ×
        iteration × dimension × comparison, in natural order; one row for a matrix, without
        the columns up to `other`.

        - `kind`: `judge against itself`, `judge against judge` or `judge against human`;
          `judge` and `other` name the two, `unstated` where no file names a judge;
        - `n_evals`, `n_outputs` (scored), `n_repeated` (scored at least twice, and so
          compared), `n_judgings` (scores); for a matrix, each output is its own eval;
        - `n_score_1` … `n_score_5`, `n_score_other`: how often each score was given;
        - `exact`, `within_one`: share of pairs of judgings of an output that are equal, or no
          more than one point apart, every output counting once; `unanimous`: share of the
          outputs on which all are equal (0-1);
        - `icc_a1`, `icc_ak`: agreement of one judging, of the mean of k (see
          `coefficients.icc`, also for missing cells); `sem`: the standard error of
          measurement, in points; `alpha`: Krippendorff's, ordinal; `ac2`: Gwet's, quadratic
          weights over the scale; `kappa`: Cohen's, quadratic weights, for two raters;
        - `difference`: `judge` minus `other`, the mean over evals of their mean over outputs,
          in points, and Student's t interval `low` to `high` with the eval as the unit, as
          outputs of one eval are alike; for two raters;
        - `note`: why a figure is null or not to be trusted, else null.

    Raises:
        TypeError: for what is neither of the above.
        ValueError: for a matrix that is none, or a table `human` that fits no run.

    >>> found = agreement([[5, 5, 5], [4, 4, 3], [2, 2, 2], [1, 1, None]])
    >>> found.select("unanimous", "within_one", "n_score_5", "note").rows()
    [(0.75, 1.0, 3, 'With 4 outputs the coefficients are rough guesses.')]
    """
    import polars as pl

    if _is_table(data):
        keys = dict.fromkeys(KEYS, pl.String)
        found = raters(data, human)
    else:
        keys = {}
        found = [_raters(data)]
        if human is not None:
            raise ValueError("With a matrix, `human` is one of its columns.")
    schema = keys | dict.fromkeys((*COUNTS, *DISTRIBUTION), pl.Int64)
    schema |= dict.fromkeys(MEASURES, pl.Float64) | {"note": pl.String}
    rows = [dict(zip(KEYS, one.keys, strict=True)) | _figures(one, scale, level) for one in found]
    table = pl.DataFrame(rows, schema)
    if keys:
        names = dict.fromkeys(KEYS, natural) | {"kind": lambda kind: (KINDS.index(kind),)}
        table = in_order(table, **names)
    return like(data, table) if keys or hasattr(data, "columns") else table


def _figures(one: Raters, scale: tuple[int, int], level: float) -> dict[str, Any]:
    """COUNTS, DISTRIBUTION, MEASURES and note of a comparison."""
    import numpy as np

    repeated = one.outputs[(~np.isnan(one.matrix)).sum(1) > 1]
    groups = (one.evals, one.outputs, repeated)
    counts = [*(len(np.unique(group)) for group in groups), len(one.scores)]
    given = [int((one.scores == score).sum()) for score in SCORES]
    beyond = len(one.scores) - sum(given)
    measures = [
        *(shares(one.matrix, one.outputs) or [None] * 3),
        *icc(one.matrix),
        sem(one.matrix),
        alpha(one.matrix),
        ac2(one.matrix, scale),
        *([kappa(one.matrix), *_difference(one, level)] if one.two else [None] * 4),
    ]
    names = (*COUNTS, *DISTRIBUTION, *MEASURES)
    found: dict[str, Any] = dict(zip(names, [*counts, *given, beyond, *measures], strict=True))
    return found | {"note": doubts(found, one, scale)}


def _difference(one: Raters, level: float) -> tuple[float | None, float | None, float | None]:
    """The first rater minus the second, evals averaged last, with its t interval."""
    import numpy as np

    apart = one.matrix[:, 0] - one.matrix[:, 1]
    both = ~np.isnan(apart)
    if not both.any():
        return None, None, None
    outputs, where = np.unique(one.outputs[both], return_index=True)
    by_output = _means(apart[both], np.searchsorted(outputs, one.outputs[both]))
    by_eval = _means(by_output, np.unique(one.evals[both][where], return_inverse=True)[1])
    estimate = float(by_eval.mean())
    noise = eval_noise(by_eval)
    low, high = noise.interval(estimate, level) if noise else (None, None)
    return estimate, low, high


def _means(values: np.ndarray[Any, Any], groups: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The mean of each group, numbered from 0."""
    import numpy as np

    return np.bincount(groups, values) / np.bincount(groups)


def _is_table(data: Any) -> bool:
    """Whether `data` is a `Workspace` or a table of rubric scores, and no matrix."""
    columns = getattr(data, "columns", ())
    return callable(getattr(type(data), "polars", None)) or "dimension" in columns


def _raters(matrix: Any) -> Raters:
    """A matrix, each of whose outputs stands for itself."""
    import numpy as np

    scores = _numbers(matrix)
    if scores.ndim != 2:
        raise ValueError(
            f"A matrix has outputs down and judgings across; this has {scores.ndim} dimensions."
        )
    scores = np.where(np.isfinite(scores), scores, np.nan)
    scores = scores[~np.isnan(scores).all(1)]
    at = np.arange(len(scores))
    kind = "two raters" if scores.shape[1] == 2 else KINDS[0]
    return Raters(("", "", "", "", kind, "", ""), scores, at, at, scores[~np.isnan(scores)])


def _numbers(matrix: Any) -> np.ndarray[Any, Any]:
    """The matrix as floats.

    Raises:
        TypeError: where it does not hold numbers.
    """
    import numpy as np
    import polars as pl

    try:
        if hasattr(matrix, "columns"):
            import narwhals as nw

            frame = nw.from_native(matrix, eager_only=True).to_polars()
            return frame.cast(pl.Float64).to_numpy()
        return np.array(matrix, dtype=float)
    except (TypeError, ValueError, pl.exceptions.PolarsError) as fault:
        raise TypeError(
            "`agreement` takes a Workspace, its table `rubric_scores`, or a matrix of numbers, "
            f"outputs down and judgings across; this is no such thing: {fault}"
        ) from fault
