"""One configuration against the baseline over paired evals: how far they differ, how sure that is.

And whether what the skill changes differs between models, on the evals that each of them has.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from skill_eval_nb.text import clip, count, format_p, some

from .inference import (
    MANY,
    SPREAD_DF,
    Noise,
    Sides,
    cells_of,
    detectable_by_flips,
    detectable_effect,
    eval_noise,
    exact_p,
    flip_signs,
    least_p,
    run_noise,
    settle_interval,
    shrink_spread,
    studentised_p,
    tango_interval,
    typical_values,
)

if TYPE_CHECKING:
    import numpy as np
    import polars as pl

    Array = np.ndarray[Any, Any]

Side = list[Sequence[float]]
"""The values of each eval on one side."""
Scope = Literal["suite", "population"]
SCOPES: tuple[Scope, Scope] = ("suite", "population")
OF_RATES = 1.0
"""The largest difference between two rates."""
MOST_FLIPPED = 12
"""Evals up to which the interval for tasks like these is that of their sign flip."""
TINY = 1e-9
"""Figures that differ by less are the same: 1 - 0.95 is less than 0.05 in binary."""


def fewest_moved(level: float = 0.95) -> int:
    """Evals that have to differ between the sides before anything is claimed of tasks like these.

    The signs of n such evals can be flipped in 2^n ways, so no p lies below 2 / 2^n.

    >>> fewest_moved(), fewest_moved(0.99)
    (6, 8)
    """
    return math.ceil(math.log2(2 / (1 - level)) - TINY)


@dataclass(frozen=True, slots=True)
class PairedResult:
    """What paired evals say under one scope; None if they cannot say it.

    `runs` are those of all evals on either side, `baseline` is its mean over the evals, `moved`
    how many evals (or families of them) differ between the sides. `sufficient` is whether there
    are as many runs (suite), or evals that moved (population), as a claim needs, `least_p` the
    smallest p that these values could have given under other labels. `margin`: the difference
    beyond which two one-sided tests at 1 - level rule any out, the farther end of the interval of
    2 level - 1; None if that is no news. `families` is how many were flipped, None if each
    eval was by itself.
    """

    scope: Scope
    level: float
    n_evals: int
    runs: tuple[int, int]
    sufficient: bool
    least_p: float
    moved: int = 0
    estimate: float | None = None
    baseline: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    mde: float | None = None
    mde_twice_evals: float | None = None
    mde_twice_runs: float | None = None
    margin: float | None = None
    families: int | None = None
    weighted: bool = False


def compare(evals: Sides, scope: Scope = "suite", level: float = 0.95, **how: Any) -> PairedResult:
    """What `PairedEvals` say at a level; `how` are its other arguments.

    >>> these = compare([([1.0, 0.9], [0.5, 0.6]), ([0.8, 0.8], [0.8, 0.7])])
    >>> round(these.estimate, 3), round(these.low, 3), round(these.high, 3)
    (0.225, 0.0, 0.363)
    """
    return PairedEvals(evals, scope, **how).answer_at(level)


class PairedEvals:
    """The two sides of each eval, compared as STATISTICS knows them: runs first, then evals.

    What they say whatever the level is worked out once, the exact p above all.
    """

    def __init__(
        self,
        evals: Sides,
        scope: Scope = "suite",
        reach: float | None = None,
        strata: int = 1,
        weights: Sequence[float] | None = None,
        families: Sequence[str | None] | None = None,
    ) -> None:
        """Work out means and noise.

        Args:
            evals: for each paired eval its runs' values on the one side and on the baseline's.
            scope: `suite`, these evals: another run would come out differently. Welch's interval
                over the eval x configuration cells, and the permutation of labels within each
                eval; where the sides' runs of an eval differ in number its p is at least that
                of the studentised one and that of Welch's t. `population`, tasks like these:
                other evals would have been asked, too. The sign flip of the evals' differences,
                and all differences that it does not rule out (above `MOST_FLIPPED` evals the
                paired t); where every eval has a single run a side that passes or fails, Tango's
                interval and McNemar's exact test.
            reach: the largest difference that there can be; None for no bound. Of rates
                detectable effects on tasks like these rest on a spread that is drawn to the
                usual one.
            strata: so many in a row of `evals` are one eval, whose difference is the mean of
                theirs: labels are dealt inside each, and the signs of their mean flipped.
            weights: above 0, of each eval in the means; None for all alike.
            families: of each eval the one that it belongs to, None for its own. For `population`
                the evals of a family are flipped together, and families are what is counted.
        """
        self.scope: Scope = scope
        self.evals, self.reach = evals, reach
        self.families = families if scope == "population" else None
        self.weighted = weights is not None and len(set(weights)) > 1
        self.plain = not self.weighted and families is None and strata == 1
        ones, others = [scores for scores, _ in evals], [other for _, other in evals]
        shares = [1.0] * (len(evals) // strata)
        if weights is not None and self.weighted:
            shares = [len(weights) * weight / math.fsum(weights) for weight in weights]
            own = [share for share in shares for _ in range(strata)]
            ones, others = (_scale_values(side, own) for side in (ones, others))
        self.means = list(
            zip(_mean_strata(ones, strata), _mean_strata(others, strata), strict=True)
        )
        self.cells = cells_of(ones), cells_of(others)
        flipped, self.shares = _sum_families(self.means, shares, self.families)
        self.differences = [mean - other for mean, other in flipped]
        self.moved = sum(abs(difference) > TINY for difference in self.differences)
        self.of_runs = self.noise = run_noise(*self.cells)
        self.sides = list(zip(ones, others, strict=True))
        if scope == "population":
            self.noise = _estimate_family_noise(self.differences, self.shares) if evals else None
            self.sides = [([mean], [other]) for mean, other in flipped]

    @cached_property
    def estimate(self) -> float:
        """The mean difference over the evals."""
        return _mean([mean - other for mean, other in self.means])

    @cached_property
    def p(self) -> float | None:
        """The exact p; None on these evals where there are too few runs."""
        if self.scope == "suite" and not all(side.has_repeats for side in self.cells):
            return None
        p = exact_p(self.sides)
        if all(len(scores) == len(other) for scores, other in self.sides):
            return p
        welch = self.noise.p(self.estimate) if self.noise else 0.0
        return max(p, studentised_p(self.sides), welch)

    @cached_property
    def least_p(self) -> float:
        """The smallest p that these values could have given under other labels."""
        return least_p(self.sides)

    def is_sufficient(self, level: float) -> bool:
        """Whether there are as many runs, or evals that moved, as a claim needs."""
        if self.scope == "population":
            return self.moved >= fewest_moved(level)
        return all(side.has_repeats for side in self.cells)

    def interval(self, level: float) -> dict[str, float | None]:
        """Both ends of the interval, and the margin: see `PairedResult`."""
        if not self.is_sufficient(level):
            return dict.fromkeys(("low", "high", "margin"))
        low, high = self._settle_ends(level) or (None, None)
        inner = self._settle_ends(2 * level - 1) if level > 0.5 else None
        margin = max(-inner[0], inner[1]) if inner else None
        is_news = margin is not None and (self.reach is None or margin < self.reach)
        return {"low": low, "high": high, "margin": margin if is_news else None}

    def _settle_ends(self, level: float) -> tuple[float, float] | None:
        """An interval of any level; it holds 0 exactly where p is above 1 - level."""
        population, found = self.scope == "population", None
        if population and self.plain:
            found = _tango_if_passes(self.evals, level)
        if found is None and population and self.noise and len(self.shares) <= MOST_FLIPPED:
            both = zip(self.differences, self.shares, strict=True)
            found = typical_values([own / share for own, share in both], level, self.shares)
        elif found is None and self.noise:
            found = self.noise.interval(self.estimate, level)
        if found is None or self.p is None:
            return found
        differs = self.p <= 1 - level + TINY
        return settle_interval(found, self.estimate, differs=differs, reach=self.reach)

    @cached_property
    def _designs(self) -> list[tuple[Noise | None, int]]:
        """Noise and evals: as it is, with twice the evals, with twice the runs."""
        planned, within, units, more = self.noise, self.of_runs, len(self.sides), 1
        if self.scope == "suite":
            units, more = MANY, 0
            twice_runs = within and run_noise(*(side.with_twice_the_runs() for side in self.cells))
        else:
            planned = _draw_to_usual(planned, units) if self.reach == OF_RATES else planned
            twice_runs = planned and within and _with_twice_the_runs(planned, within)
        twice_evals = planned and Noise(planned.se / math.sqrt(2), 2 * planned.df + more)
        return [(planned, units), (twice_evals, 2 * units), (twice_runs, units)]

    def answer_at(self, level: float) -> PairedResult:
        """What they say at this level."""
        runs = sum(len(own) for own, _ in self.evals), sum(len(own) for _, own in self.evals)
        if not self.evals:
            return PairedResult(self.scope, level, 0, runs, sufficient=False, least_p=1.0)
        sufficient, least = self.is_sufficient(level), self.least_p
        able = sufficient and least <= 1 - level + TINY
        reach = math.inf if self.reach is None else self.reach
        found = [_smallest_detectable(noise, level, n) for noise, n in self._designs]
        mde, twice_evals, twice_runs = (
            None if own is None or own > reach else own for own in found
        )
        return PairedResult(
            scope=self.scope,
            level=level,
            n_evals=len(self.means),
            runs=runs,
            sufficient=sufficient,
            least_p=least,
            moved=self.moved,
            estimate=self.estimate,
            baseline=_mean([other for _, other in self.means]),
            p=self.p,
            mde=mde if able else None,
            mde_twice_evals=twice_evals,
            mde_twice_runs=twice_runs if able or self.scope == "suite" else None,
            families=None if self.families is None else len(self.sides),
            weighted=self.weighted,
            **self.interval(level),
        )


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _mean_strata(side: Side, strata: int) -> list[float]:
    """Each eval's mean: over its runs, then over its strata."""
    each = [_mean(own) for own in side]
    return [_mean(each[at : at + strata]) for at in range(0, len(each), strata)]


def _scale_values(side: Side, shares: Sequence[float]) -> Side:
    return [[share * value for value in values] for values, share in zip(side, shares, strict=True)]


def _sum_families(
    means: Sequence[tuple[float, float]],
    shares: Sequence[float],
    families: Sequence[str | None] | None,
) -> tuple[list[tuple[float, float]], list[float]]:
    """The sums of each family's means and of its shares; of each eval if there is none."""
    if families is None:
        return list(means), list(shares)
    members = members_of(families)
    sums = [
        (math.fsum(means[at][0] for at in places), math.fsum(means[at][1] for at in places))
        for places in members
    ]
    return sums, [math.fsum(shares[at] for at in places) for places in members]


def members_of(families: Sequence[str | None]) -> list[list[int]]:
    """The places of the evals of each family; one without a family is its own.

    >>> members_of(["a", None, "a"])
    [[0, 2], [1]]
    """
    members: dict[str | int, list[int]] = {}
    for at, family in enumerate(families):
        members.setdefault(at if family is None else family, []).append(at)
    return list(members.values())


def _estimate_family_noise(sums: Sequence[float], shares: Sequence[float]) -> Noise | None:
    """The noise of the mean over families that others would show, from their sums.

    What is left of each sum, once its share of the mean is taken, is what varies; families of
    unlike size are as many as Kish's effective number of them.
    """
    whole = math.fsum(shares)
    if len(set(shares)) == 1:
        return eval_noise([own / shares[0] for own in sums])
    mean = math.fsum(sums) / whole
    rest = [own - share * mean for own, share in zip(sums, shares, strict=True)]
    noise = eval_noise([own * len(sums) / whole for own in rest])
    effective = whole**2 / math.fsum(share * share for share in shares)
    return noise and Noise(noise.se, max(effective - 1, 1))


def _draw_to_usual(noise: Noise | None, n: int) -> Noise:
    """The noise of a mean difference between rates over n evals, to plan with: few say little."""
    variance = shrink_spread(noise.se**2 * n if noise else 0.0, n)
    return Noise(math.sqrt(variance / n), n - 1 + SPREAD_DF)


def _tango_if_passes(evals: Sides, level: float) -> tuple[float, float] | None:
    """Tango's interval where every eval has a single run a side that passes or fails."""
    if any(len(own) > 1 or own[0] not in (0, 1) for sides in evals for own in sides):
        return None
    better = sum(scores[0] > other[0] for scores, other in evals)
    worse = sum(scores[0] < other[0] for scores, other in evals)
    return tango_interval(better, worse, len(evals), level)


def _with_twice_the_runs(between: Noise, within: Noise) -> Noise:
    """Paired noise once the runs' part of it is halved; that is at most all of it."""
    halved = max(between.se**2 - within.se**2 / 2, between.se**2 / 2)
    return Noise(math.sqrt(halved), between.df)


def _smallest_detectable(noise: Noise | None, level: float, n: int) -> float | None:
    """The effect found in 4 of 5 cases, where the signs of `n` evals are flipped."""
    if noise is None:
        return None
    if n < MANY:
        found = detectable_by_flips(n, level)
        return None if found is None else found * noise.se * math.sqrt(n)
    return float(detectable_effect(noise.se, noise.df, level))


WHERE = {"suite": "these evals", "population": "tasks like these"}
"""What an answer is about."""


def flip_jointly(vectors: Array) -> list[float]:
    """The p of each column's mean, adjusted for the others; the smallest holds for all of them.

    The signs of whole rows are flipped, so that columns that go together are not paid for twice.
    A column's p is the share of flips in which the largest t of any column, |mean| / (SD / √n),
    is at least its own (Westfall and Young 1993).

    Args:
        vectors: evals × models, at least two evals.

    >>> import numpy as np
    >>> flip_jointly(np.array([[0.3, 0.0], [0.4, 0.1], [0.5, -0.1], [0.4, 0.0]]))
    [0.125, 1.0]
    """
    import numpy as np

    n = len(vectors)
    means = flip_signs(vectors) / n
    squares = np.maximum((vectors**2).sum(axis=0) - n * means**2, 1e-12)
    sizes = np.where(np.abs(means) < 1e-12, 0.0, np.abs(means))
    t = sizes / np.sqrt(squares / (n - 1) / n)
    largest = t.max(axis=1)
    return [float((largest >= own * (1 - 1e-9)).mean()) for own in t[0]]


def welch_p(means: Sequence[float], noises: Sequence[Noise]) -> float:
    """Welch's p (Biometrika 1951) that means differ of which each has a noise of its own.

    >>> round(welch_p([0.1, 0.3], [Noise(0.05, 9), Noise(0.05, 9)]), 4)
    0.0111
    """
    import numpy as np
    from scipy import special

    m, mean = len(means), np.array(means)
    weight = np.array([noise.se**-2 for noise in noises])
    share = weight / weight.sum()
    spread = ((1 - share) ** 2 / np.array([noise.df for noise in noises])).sum()
    between = (weight * (mean - share @ mean) ** 2).sum() / (m - 1)
    f = between / (1 + 2 * (m - 2) / (m * m - 1) * spread)
    return float(special.fdtrc(m - 1, (m * m - 1) / (3 * spread), f))


class Interaction(NamedTuple):
    """What can be told of whether an effect differs between models, or harnesses.

    Attributes:
        scope: these evals or tasks like these.
        level: 1 - alpha.
        of: what the models are called.
        models: those with a pair; `left_out` are those without any.
        n_evals: how many evals each of them has on both sides, on which all here rests.
        estimates: the mean difference of each.
        p: of no difference between them; None if `lacks` says what is missing.
        deviations: of tasks like these, the adjusted p of how far each is from the mean over
            models; `mains` of each estimate itself. Nothing if that cannot be told.
    """

    scope: Scope
    level: float
    of: str
    models: list[str]
    left_out: list[str]
    n_evals: int
    estimates: list[float]
    p: float | None = None
    lacks: str = ""
    deviations: Sequence[float] = ()
    mains: Sequence[float] = ()

    @property
    def differs(self) -> bool | None:
        """Whether the effect differs; None if that cannot be told."""
        return None if self.p is None else self.p <= 1 - self.level + TINY

    def sentence(self) -> str:
        """The answer and what it rests on."""
        differs = f"effect differs between {self.of}"
        if self.p is None:
            return f"It is unknown whether the {differs}: {self.lacks}."
        rests = f"{WHERE[self.scope]} ({count(self.n_evals, 'eval')} each), p {format_p(self.p)}"
        begins = "The" if self.differs else "It is unclear whether the"
        return f"{begins} {differs} on {rests}."


def find_interaction(
    paired: pl.DataFrame, scope: Scope, level: float, of: str = "models"
) -> Interaction:
    """Whether the effect differs between the models of one comparison, as `pooled` has them.

    Of these evals by Welch's test of the models' means, of tasks like these by `flip_jointly` of
    what each model deviates from the mean over models, eval by eval.
    """
    import numpy as np

    models, left_out = paired.select("models", "left_out").row(0)
    evals = paired.drop_nulls("estimate")
    both = (zip(*evals[side].to_list(), strict=True) for side in ("values", "baseline_values"))
    runs = dict(zip(models, zip(*both, strict=True), strict=bool(len(evals))))
    effects = np.array(
        [
            [fmean(own) - fmean(other) for own, other in zip(*sides, strict=True)]
            for sides in runs.values()
        ]
    ).T
    means = effects.mean(axis=0).tolist() if len(evals) else []
    found = Interaction(scope, level, of, models, left_out, len(evals), means)
    if len(models) < 2:
        only = some(map(clip, models)) or "none"
        return found._replace(lacks=f"this takes two with both sides; there is {only}")
    if not len(evals):
        return found._replace(lacks="no eval has both sides with all of them")
    if scope == "suite":
        of_each = {name: list(map(cells_of, sides)) for name, sides in runs.items()}
        noises = {name: run_noise(*sides) for name, sides in of_each.items()}
        silent = [clip(name) for name, noise in noises.items() if noise is None]
        if not silent:
            return found._replace(p=welch_p(means, list(filter(None, noises.values()))))
        if all(side.has_repeats for sides in of_each.values() for side in sides):
            return found._replace(lacks=f"no run noise was seen with {some(silent)}")
        return found._replace(lacks="this takes two runs of an eval per side with each of them")
    if "family" in evals.columns:
        members = members_of(evals["family"].to_list())
        effects = np.array([effects[own].sum(axis=0) for own in members])
    apart = effects - effects.mean(axis=1, keepdims=True)
    moved, least = int((abs(apart) > TINY).any(axis=1).sum()), fewest_moved(level)
    if moved < least:
        units = "families" if "family" in evals.columns else "evals"
        lacks = f"they must differ on {least} {units}, and they differ on {moved}"
        return found._replace(lacks=lacks)
    each = flip_jointly(apart)
    return found._replace(p=min(each), deviations=each, mains=flip_jointly(effects))
