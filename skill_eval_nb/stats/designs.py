"""What would decide a comparison that has no verdict: more runs of these evals, or more evals."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from skill_eval_nb.text import count, dollars, duration

from .comparison import TINY, Scope, fewest_moved
from .confounds import DECIDED, ERRORS_DECIDE, Known, were_run_alike
from .inference.intervals import POWER, detectable
from .inference.multiple import flip_signs
from .lean import LEANS, SPREAD, SPREAD_DF, EvalRuns, SideRuns, borrow_variance, count_checks, lean
from .pairing import Pairs
from .values import HEADLINE, by_model, runs_of
from .verdict import TOO_SMALL, Row

if TYPE_CHECKING:
    import numpy as np

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


@dataclass(frozen=True, slots=True)
class Design:
    """An addition that would decide, if the difference is what was seen, or half of it.

    Attributes:
        what: `runs` of these evals, `evals` of this kind, or `none` if no usual one decides.
        difference: `as seen` or `half`.
        n_evals: evals in all; None if none decides, and so of the others.
        n_runs: runs of each eval on each side.
        new_runs: how many runs that adds, on both sides together.
        price_usd: what these cost, as runs did here; None if that is not known.
        seconds: how long they take, one after the other.
    """

    what: str
    difference: str
    n_evals: int | None = None
    n_runs: int | None = None
    new_runs: int | None = None
    price_usd: float | None = None
    seconds: float | None = None


def find_runs(evals: Sequence[EvalRuns], share: float, level: float) -> int | None:
    """The least runs a side after which these evals decide in most cases; None above `MOST_RUNS`.

    The labels have to be able to (C(2K, K)^moved >= 2 / alpha), and the noise has to leave `SURE`
    of the difference detectable with 80 % power: each run's variance as `borrow_variance` has it
    at a binomial's own size, (sum s^2)^2 / sum s^4 (K - 1) degrees of freedom.

    >>> from skill_eval_nb.stats.lean import SideRuns
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
        if detectable(math.sqrt(whole / runs) / len(evals), df, level) <= target:
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
) -> list[Design]:
    """The least addition that decides, for each of SHARES; none if nothing can be told.

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
    designs: list[Design] = []
    for difference, share in SHARES.items():
        what, n_evals, n_runs, new = "none", None, None, [0, 0]
        if scope == "suite":
            found = find_runs(evals, share, level)
            if found is not None:
                what, n_evals, n_runs = "runs", n, found
                new = [sum(max(found - len(own.rates), 0) for own in side) for side in sides]
        else:
            differences = tuple(sorted(one.mean - other.mean for one, other in evals))
            n_evals = find_evals(differences, share, level, rate=rate)
            if n_evals is not None:
                runs = [sum(len(own.rates) for own in side) for side in sides]
                what, n_runs = "evals", round(sum(runs) / (2 * n)) or 1
                new = [(n_evals - n) * n_runs] * 2
        costs = _price_runs(new, facts) if what != "none" else {}
        designs.append(Design(what, difference, n_evals, n_runs, **costs))
    return designs


def word_designs(
    designs: Sequence[Design], evals: Sequence[EvalRuns], scope: Scope, level: float
) -> str:
    """The next step in a sentence, from what `find_designs` gives for these paired evals."""
    n, runs = len(evals), min(len(side.rates) for both in evals for side in both)
    if not designs and scope == "suite":
        return "Run each eval once more on each side: only repeats show how far runs scatter."
    if not designs:
        fewest = count(fewest_moved(level), "eval")
        return f"At least {fewest} that differ between the sides are needed."
    seen, half = designs
    rates = {rate for both in evals for side in both for rate in side.rates}
    if rates <= {1.0} and evals[0][0].checks:
        return "Every run on either side passed everything: only harder evals can tell more."
    if abs(math.fsum(one.mean - other.mean for one, other in evals)) < TINY:
        return ALIKE
    if seen.what == "none":
        most = f"evals (up to {MOST_EVALS})"
        if scope == "suite":
            most = f"runs (up to {MOST_RUNS} a side)"
        return f"No usual number of {most}{TOO_SMALL}"
    more, of_half = (
        (each.n_runs or 0) - runs if scope == "suite" else (each.n_evals or 0) - n
        for each in designs
    )
    unit = "run" if scope == "suite" else "eval"
    each = " of each eval a side" if scope == "suite" else ""
    costs = [count(seen.new_runs or 0, "run")]
    costs += [f"about {dollars(seen.price_usd)}"] if seen.price_usd else []
    if seen.seconds:
        most = 60 if seen.seconds > 600 else 1
        costs += [f"about {duration(most * round(seen.seconds / most))} one after the other"]
    after = f"; {'no usual number' if half.what == 'none' else f'{of_half:,}'} would if"
    after = ", also if" if of_half == more else after
    return (
        f"{count(more, f'more {unit}')}{each} ({', '.join(costs)}) would decide it in most cases"
        f"{after} the difference is half of this."
    )


ALIKE = (
    "On average the sides came out alike, so no number of runs or evals can be named: see whether "
    "these evals can show a difference."
)
ERRORS_FIRST = "Run those again that errored: they decide."


class Additions:
    """What stands beside verdicts: what the evals lean to, and what would decide it.

    Of figures that are no mean over models, and no difference of differences.
    """

    def __init__(self, known: Known, pairs: Pairs, by: Sequence[str]) -> None:
        paired, runs = pairs.paired, by_model(pairs.turn(runs_of(known.asked.data)))
        self._known, self._by, self._level = known, by, known.asked.level
        self._in_families = "family" in paired.columns
        self._checks = dict(count_checks(paired, runs, by))
        values = paired.drop_nulls("estimate").group_by(by).agg("values", "baseline_values")
        self._values = {tuple(row[: len(by)]): row[len(by) :] for row in values.rows()}

    def lean_of(self, row: Row) -> dict[str, Any]:
        """LEANS of a row, null if noise cannot be borrowed or need not be."""
        compared = self._known.of(row)
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
        facts, rate = self._known.of(row).sides, row["metric"] == HEADLINE
        designs = find_designs(evals, row["scope"], self._level, facts, rate=rate)
        words = word_designs(designs, evals, row["scope"], self._level)
        next_runs = designs[0].n_runs if designs else None
        if not designs and row["scope"] == "suite":  # repeats alone show how far runs scatter
            next_runs = 1 + min(len(side.rates) for both in evals for side in both)
        as_dicts = [asdict(design) for design in designs]
        return {"next_step": words, "next_runs": next_runs, "designs": as_dicts}

    def _row_key(self, row: Row) -> tuple[Any, ...]:
        return tuple(row[name] for name in self._by)
