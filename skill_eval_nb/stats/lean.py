"""What benchmarks too small for a verdict lean to, and what would decide them.

They lean by noise that other benchmarks have shown. More runs of their evals would decide, or more
evals.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from skill_eval_nb.text import count, dollars, duration

from .comparison import TINY, Scope, fewest_moved
from .confounds import DECIDED, ERRORS_DECIDE, Known, were_run_alike
from .inference import POWER, SPREAD, SPREAD_DF, Noise, detectable_effect, flip_signs, variance
from .pairing import Pairs
from .values import ENDS, EVAL, GROUP, HEADLINE, by_model, join_sides, runs_of
from .verdict import LEANS, NO_LEAN, TOO_SMALL, Row

if TYPE_CHECKING:
    import numpy as np
    import polars as pl


# Fitted on public benchmarks that repeat their runs (46 repositories, 135 skills, 396 comparisons;
# docs/pages/small.md says what they are and where this does not hold).
NOISE_FACTOR = 1.5
"""The variance of a run's pass rate, over that of a binomial with as many checks: .8 over eleven
repositories, 1.21 in the highest with more than three cells; this is the cautious side of both."""
NOISE_DF = 6.0
"""Degrees of freedom that this is worth beside the runs seen: own runs take over as they grow."""


class SideRuns(NamedTuple):
    """An eval's runs on one side: what each reached, and of how many checks; None if unknown."""

    rates: Sequence[float]
    checks: Sequence[int] | None

    @property
    def mean(self) -> float:
        """The mean over runs."""
        return math.fsum(self.rates) / len(self.rates)

    def with_failures(self, n: int, checks: int) -> SideRuns:
        """With so many more runs that failed all their checks."""
        return SideRuns([*self.rates, *[0.0] * n], [*(self.checks or ()), *[checks] * n])


EvalRuns = tuple[SideRuns, SideRuns]
"""Both sides of an eval, the baseline last."""


def borrow_variance(side: SideRuns, factor: float = NOISE_FACTOR) -> tuple[float, float]:
    """The variance between runs of an eval, also of one run; its degrees of freedom.

    s^2 = [6 factor q (1 - q) K / m + sum (r_k - mean)^2] / (6 + K - 1), where q = (x + 1/2) /
    (m + 1) and x of the m checks of all K runs passed: a moderated variance (Smyth 2004) that is
    drawn to `factor` times a binomial's. Without known checks the variance of the runs.

    >>> borrow_variance(SideRuns([0.6], [5]))
    (0.0729..., 6.0)
    """
    k = len(side.rates)
    if side.checks is None:
        return variance(side.rates), k - 1.0
    checks = sum(side.checks)
    passed = sum(rate * n for rate, n in zip(side.rates, side.checks, strict=True))
    q = (passed + 0.5) / (checks + 1)
    df = NOISE_DF + k - 1
    own = sum((rate - side.mean) ** 2 for rate in side.rates)
    return (NOISE_DF * factor * q * (1 - q) * k / checks + own) / df, df


def borrow_noise(evals: Sequence[EvalRuns], level: float) -> tuple[float, float, float, float]:
    """These evals' mean difference in pass rate, by borrowed noise: low, high, p, estimate.

    V = sum (s^2 / K) / n^2 over all eval x side cells, its degrees of freedom by Welch and
    Satterthwaite; rates come in whole checks, so that half a step, c = sum (1 / 4m) / n, is taken
    off the difference and added to the interval, which ends at +- 1.

    >>> ones = [SideRuns([rate], [n]) for rate, n in ((1.0, 5), (1.0, 4), (1.0, 6), (1.0, 5))]
    >>> others = [SideRuns([rate], [n]) for rate, n in ((0.6, 5), (0.5, 4), (0.5, 6), (1.0, 5))]
    >>> [round(value, 3) for value in borrow_noise(list(zip(ones, others)), level=0.95)]
    [-0.052, 0.752, 0.102, 0.35]
    """
    n = len(evals)
    terms = [
        (variance / len(side.rates) / n**2, df)
        for both in evals
        for side in both
        for variance, df in [borrow_variance(side)]
    ]
    whole = math.fsum(term for term, _ in terms)
    noise = Noise(math.sqrt(whole), whole**2 / math.fsum(term**2 / df for term, df in terms))
    estimate = math.fsum(one.mean - other.mean for one, other in evals) / n
    step = math.fsum(1 / (4 * sum(side.checks or ())) for both in evals for side in both) / n
    low, high = noise.interval(estimate, level)
    p = noise.p(max(abs(estimate) - step, 0))
    return max(low - step, -1.0), min(high + step, 1.0), p, estimate


def lean(evals: Sequence[EvalRuns], counted: Sequence[EvalRuns], level: float) -> dict[str, Any]:
    """LEANS of these evals.

    Args:
        evals: the paired evals, with checks known.
        counted: the same with errored runs as failures. Where the two lean otherwise, there is
            no lean, the interval holds both and p is the larger.
        level: of the interval; 1 - alpha.
    """
    found = [borrow_noise(each, level) for each in (evals, counted)]
    words = {
        NO_LEAN if p > 1 - level else "leans up" if estimate > 0 else "leans down"
        for *_, p, estimate in found
    }
    alike = len(words) == 1
    lows, highs, p_values, _ = zip(*found[: 1 if alike else 2], strict=True)
    improved = sum(one.mean > other.mean for one, other in evals)
    return {
        "lean": words.pop() if alike else NO_LEAN,
        "lean_low": min(lows),
        "lean_high": max(highs),
        "lean_p": max(p_values),
        "improved": f"{improved} of {len(evals)}",
    }


Counted = tuple[list[EvalRuns], list[EvalRuns]]
"""Paired evals with the checks of their runs; and the same with errored runs as failures."""


def count_checks(
    paired: pl.DataFrame, runs: pl.DataFrame, by: Sequence[str]
) -> Iterator[tuple[tuple[Any, ...], Counted]]:
    """The paired evals of each comparison whose runs' checks are known, and as many a side.

    Of pass rates alone: another figure, or one that is not passed / total, has no binomial noise.

    Args:
        paired: what `pair_evals` gives.
        runs: the runs, with the same names of sides, and MODEL as `by_model` gives it.
        by: what has one answer; `metric` is among them.
    """
    import polars as pl

    rate, checks = pl.col("pass_rate"), pl.coalesce(pl.col("passed") + pl.col("failed"), "total")
    passed = pl.col("passed").fill_null(rate * checks)
    cells = (
        runs.filter(rate.is_not_null())
        .with_columns(pl.when((rate * checks - passed).abs() < 0.1).then(checks).alias("checks"))
        .sort("pass_rate", "checks")
        .group_by(*GROUP, *EVAL, "configuration")
        .agg(rates="pass_rate", checks="checks")
    )
    both = join_sides(paired.filter(metric=HEADLINE), cells, [*GROUP, *EVAL])
    for key, rows in both.group_by(by, maintain_order=True):
        counted = _read_evals(rows.to_dicts())
        if counted[0]:
            yield key, counted


def _read_evals(rows: Sequence[Mapping[str, Any]]) -> Counted:
    """The evals of one comparison; none if checks are not known, or not as many on a side."""
    evals: list[EvalRuns] = []
    counted: list[EvalRuns] = []
    for row in rows:
        sides = [SideRuns(row[f"rates{end}"] or [], row[f"checks{end}"] or []) for end in ENDS]
        lost = [row[f"n_errored{end}"] for end in ENDS]
        there = [side for side in sides if side.rates]
        if row["estimate"] is None and not (len(there) == 1 and any(lost)):
            continue  # left out for another reason than errors
        most = {max(side.checks) if all(side.checks) else 0 for side in there if side.checks}
        if len(most) != 1 or 0 in most:
            return [], []
        if row["estimate"] is not None:
            evals.append((sides[0], sides[1]))
        failed = [side.with_failures(n, *most) for side, n in zip(sides, lost, strict=True)]
        if all(side.rates for side in failed):
            counted.append((failed[0], failed[1]))
    return evals, counted


MOST_RUNS, MOST_EVALS = 12, 24
"""Runs a side and evals above which nobody adds more: then nothing usual decides."""
SURE = 2 / 3
"""Runs are enough if they find this much of the difference: what was seen may be luck."""
SHARES = {"as seen": 1.0, "half": 0.5}
"""How large the difference may be, as a share of what was seen."""
DRAWS, EXACT = 400, 12
"""Futures that are drawn, and evals up to which all their signs are flipped."""
FEWEST_SEEN = 3
"""Evals below which nothing is known of how a figure that is no pass rate differs between them."""


DESIGN: tuple[str, ...]
DESIGN = ("what", "difference", "n_evals", "n_runs", "new_runs", "price_usd", "seconds")
"""Fields of an addition that would decide: `runs` of these evals, `evals` of this kind, or `none`
if no usual one does; for a difference `as seen`, or `half` of it; how many evals in all, runs of
each on each side, new runs on both sides together; what these cost, and take one at a time.
"""


def find_runs(evals: Sequence[EvalRuns], share: float, level: float) -> int | None:
    """The least runs a side after which these evals decide in most cases; None above `MOST_RUNS`.

    The labels have to be able to (C(2K, K)^moved >= 2 / alpha), and the noise has to leave `SURE`
    of the difference detectable with 80 % power: each run's variance as `borrow_variance` has it
    at a binomial's own size, (sum s^2)^2 / sum s^4 (K - 1) degrees of freedom.

    >>> ones = [SideRuns([rate], [n]) for rate, n in ((1.0, 5), (1.0, 4), (1.0, 6), (1.0, 5))]
    >>> others = [SideRuns([rate], [n]) for rate, n in ((0.6, 5), (0.5, 4), (0.5, 6), (1.0, 5))]
    >>> find_runs(list(zip(ones, others)), share=1, level=0.95)
    3
    """
    differences = [one.mean - other.mean for one, other in evals]
    target = share * SURE * abs(math.fsum(differences)) / len(evals)
    moved = max(1, sum(abs(own) > TINY for own in differences))
    variances = [borrow_variance(side, 1.0)[0] for both in evals for side in both]
    whole = math.fsum(variances)
    fewest = min(len(side.rates) for both in evals for side in both)
    for runs in range(max(2, fewest + 1), MOST_RUNS + 1):
        if moved * math.log(math.comb(2 * runs, runs)) < math.log(2 / (1 - level)) - TINY:
            continue
        if whole <= 0:
            return runs if target else None
        df = whole**2 / math.fsum(own**2 for own in variances) * (runs - 1)
        if detectable_effect(math.sqrt(whole / runs) / len(evals), df, level) <= target:
            return runs
    return None


@lru_cache(maxsize=1024)
def find_evals(
    differences: tuple[float, ...], share: float, level: float, *, rate: bool
) -> int | None:
    """The least evals, those seen among them, whose sign flip decides in 80 % of drawn futures.

    New differences are 0 as often as those seen ((ties + 1/2) / (n + 2)), else around the mean of
    the others, with a variance drawn to the usual one of a pass rate (see `lean.SPREAD`); of
    another figure with that which was seen, of two evals at least. None above `MOST_EVALS`.

    >>> find_evals((0.4, 0.5, 0.5, 0.0), 1.0, 0.95, rate=True)
    9
    """
    import numpy as np

    d = np.array(differences)
    n, prior = len(d), SPREAD_DF if rate else 0.0
    if not d.any():
        return None
    df = prior + n - 1
    variance = (prior * SPREAD**2 + (n - 1) * (d.var(ddof=1) if n > 1 else 0.0)) / df
    ties = (np.count_nonzero(abs(d) < TINY) + 0.5) / (n + 2)
    drawn, shape = np.random.default_rng(0), (DRAWS, max(MOST_EVALS - n, 0))
    spread = np.sqrt(variance * df / drawn.chisquare(df, DRAWS))[:, None]
    new = share * d.mean() / (1 - ties) + spread * drawn.standard_normal(shape)
    new = np.clip(new, -1, 1) if rate else new
    new[drawn.random(shape) < ties] = 0
    futures = np.hstack([np.tile(d, (DRAWS, 1)), new])

    def is_enough(total: int) -> bool:
        return bool(np.mean(_flip_p(futures[:, :total]) <= 1 - level + TINY) >= POWER)

    totals = range(max(fewest_moved(level), n + 1), MOST_EVALS + 1)
    at = bisect_left(totals, x=True, key=is_enough)
    return totals[at] if at < len(totals) else None


def _flip_p(rows: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The two-sided p of each row under the sign flip; above `EXACT` evals that of the paired t."""
    import numpy as np
    from scipy import special

    n = rows.shape[1]
    if n > EXACT:
        noise = np.maximum(rows.std(axis=1, ddof=1), TINY) / math.sqrt(n)
        return 2 * special.stdtr(n - 1, -abs(rows.mean(axis=1)) / noise)
    sums = abs(flip_signs(rows.T))
    return (sums >= sums[0] - TINY).mean(axis=0)


def _price_runs(new: Sequence[int], sides: Sequence[Row]) -> dict[str, Any]:
    """What so many new runs of either side are, cost and take; None if a side does not say."""
    costs: dict[str, Any] = {"new_runs": sum(new)}
    for name in ("price_usd", "seconds"):
        rates = [side.get(name) for side in sides]
        known = [n * rate for n, rate in zip(new, rates, strict=True) if rate is not None]
        costs[name] = sum(known) if len(known) == len(new) else None
    return costs


def find_designs(
    evals: Sequence[EvalRuns], scope: Scope, level: float, facts: Sequence[Row], *, rate: bool
) -> list[Row]:
    """The least addition that decides, as DESIGN, for each of SHARES; none if nothing can be told.

    Args:
        evals: the paired evals.
        scope: `suite` for more runs of these evals, `population` for more evals.
        level: 1 - alpha.
        facts: of either side what a run costs and takes, as `facts_of` has it.
        rate: whether the figure is a pass rate, whose noise and spread are known elsewhere.
    """
    known = all(side.checks or len(side.rates) > 1 for both in evals for side in both)
    little = not known if scope == "suite" else not rate and len(evals) < FEWEST_SEEN
    if not evals or little:
        return []
    n, sides = len(evals), list(zip(*evals, strict=True))
    usual = round(sum(len(own.rates) for side in sides for own in side) / (2 * n)) or 1
    differences = tuple(sorted(one.mean - other.mean for one, other in evals))
    designs: list[Row] = []
    for difference, share in SHARES.items():
        design: dict[str, Any] = dict.fromkeys(DESIGN)
        design |= {"what": "none", "difference": difference}
        if scope == "suite" and (found := find_runs(evals, share, level)):
            new = [sum(max(found - len(own.rates), 0) for own in side) for side in sides]
            design |= {"what": "runs", "n_evals": n, "n_runs": found} | _price_runs(new, facts)
        elif scope != "suite" and (found := find_evals(differences, share, level, rate=rate)):
            new = [(found - n) * usual] * 2
            design |= {"what": "evals", "n_evals": found, "n_runs": usual}
            design |= _price_runs(new, facts)
        designs.append(design)
    return designs


def word_designs(
    designs: Sequence[Row], evals: Sequence[EvalRuns], scope: Scope, level: float
) -> str:
    """The next step in a sentence, from what `find_designs` gives for these paired evals."""
    suite = scope == "suite"
    if not designs and suite:
        return "Run each eval once more on each side: only repeats show how much runs vary."
    if not designs:
        fewest = count(fewest_moved(level), "eval")
        return f"At least {fewest} that differ between the sides are needed."
    rates = {rate for both in evals for side in both for rate in side.rates}
    if rates <= {1.0} and evals[0][0].checks:
        return "Every run on both sides passed everything: only harder evals can show a difference."
    if abs(math.fsum(one.mean - other.mean for one, other in evals)) < TINY:
        return ALIKE
    seen, half = designs
    if seen["what"] == "none":
        most = f"runs (up to {MOST_RUNS} per side)" if suite else f"evals (up to {MOST_EVALS})"
        return f"No realistic number of {most}{TOO_SMALL}"
    runs = min(len(side.rates) for both in evals for side in both)
    of, there, unit = ("n_runs", runs, "run") if suite else ("n_evals", len(evals), "eval")
    more = seen[of] - there
    costs = [count(seen["new_runs"], "run")]
    costs += [f"about {dollars(seen['price_usd'])}"] if seen["price_usd"] else []
    if seen["seconds"]:
        step = 60 if seen["seconds"] > 600 else 1
        costs += [f"about {duration(step * round(seen['seconds'] / step))} one at a time"]
    after = "; no realistic number would if" if half["what"] == "none" else ", also if"
    if half["what"] != "none" and half[of] != seen[of]:
        after = f"; {half[of] - there:,} would if"
    return (
        f"{count(more, f'more {unit}')}{' per eval and side' if suite else ''} "
        f"({', '.join(costs)}) would settle it in most cases{after} the difference is half of this."
    )


ALIKE = (
    "On average the sides came out the same, so no number of runs or evals helps: check whether "
    "these evals can show a difference."
)
ERRORS_FIRST = "Rerun the runs that errored: they decide the verdict."


class Additions:
    """What is shown next to verdicts: what the evals lean to, and what would decide it.

    Of figures that are no mean over models, and no difference of differences.
    """

    def __init__(self, known: Known, pairs: Pairs, by: Sequence[str]) -> None:
        paired, runs = pairs.paired, by_model(pairs.swap_if_iterations(runs_of(known.asked.data)))
        self._known, self._by, self._level = known, by, known.asked.level
        self._in_families = "family" in paired.columns
        self._checks = dict(count_checks(paired, runs, by))
        values = paired.drop_nulls("estimate").group_by(by).agg("values", "baseline_values")
        self._values = {tuple(row[: len(by)]): row[len(by) :] for row in values.rows()}

    def lean_of(self, row: Row) -> dict[str, Any]:
        """LEANS of a row, null if noise cannot be borrowed or need not be."""
        compared = self._known.facts_about(row)
        evals, counted = self._checks.get(self._row_key(row), ([], []))
        single = any(len(side.rates) == 1 for both in evals for side in both)
        if (
            row["scope"] == "population"
            or not evals
            or not (single or row["verdict"] == "too few runs")
            or not were_run_alike(compared.sides, sessions=self._known.iterations)
            or compared.checks
        ):
            return dict.fromkeys(LEANS)
        return lean(evals, counted, self._level)

    def step_of(self, row: Row) -> dict[str, Any]:
        """The `next_step` in words and its `designs`, null if there is a verdict or no pair.

        Nor is there one for tasks like these in families: how alike new evals would be to those
        of their family is not known.
        """
        key = self._row_key(row)
        in_families = self._in_families and row["scope"] == "population"
        if row["verdict"] in (*DECIDED, None) or key not in self._values or in_families:
            return dict.fromkeys(("next_step", "next_runs", "designs"))
        if row["verdict"] == ERRORS_DECIDE:
            return {"next_step": ERRORS_FIRST, "next_runs": None, "designs": None}
        evals = self._checks.get(key, ([], []))[0] or [
            (SideRuns(one, None), SideRuns(other, None))
            for one, other in zip(*self._values[key], strict=True)
        ]
        facts, rate = self._known.facts_about(row).sides, row["metric"] == HEADLINE
        designs = find_designs(evals, row["scope"], self._level, facts, rate=rate)
        words = word_designs(designs, evals, row["scope"], self._level)
        next_runs = designs[0]["n_runs"] if designs else None
        if not designs and row["scope"] == "suite":  # repeats alone show how far runs scatter
            next_runs = 1 + min(len(side.rates) for both in evals for side in both)
        return {"next_step": words, "next_runs": next_runs, "designs": designs}

    def _row_key(self, row: Row) -> tuple[Any, ...]:
        return tuple(row[name] for name in self._by)
