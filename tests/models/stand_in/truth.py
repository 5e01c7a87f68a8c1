"""What should come out of runs by the stand-in: the truth, by its formula.

It holds for outputs that state their quality (`stand-in quality: 3.42`), which is every output but
those of the demo skill's evals.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist, fmean

from skill_eval_nb.models.stand_in import StandIn
from skill_eval_nb.models.stand_in.answers import threshold
from skill_eval_nb.models.stand_in.reading import as_score


@dataclass(frozen=True, slots=True)
class Truth:
    """Mean and standard deviations of the scores of one configuration, scale 1 to 5.

    `eval_sd`: of the evals' expected scores. `run_sd`: of the runs' expected scores within
    one eval (root mean square over evals). `judging_sd`: of single scores of one output.
    """

    mean: float
    eval_sd: float
    run_sd: float
    judging_sd: float


def truth(stand_in: StandIn, *, skill: bool, rounded: bool = True) -> Truth:
    """What the scores of a configuration have for mean and standard deviations.

    Args:
        stand_in: The model of chance.
        skill: Whether the skill was opened in all of the runs.
        rounded: As the judge gives them, rounded to whole numbers within 1 to 5, which
            pulls means to the middle and adds to the judgings' spread. False: before
            rounding, the fields of `stand_in` as they are.
    """
    mean = stand_in.base + (stand_in.effect if skill else 0.0)
    eval_sd = math.hypot(stand_in.eval_sd, stand_in.effect_sd if skill else 0.0)
    if not rounded:
        return Truth(mean, eval_sd, stand_in.run_sd, stand_in.judging_sd)
    by_eval = [_of_eval(stand_in, at) for at in _spread(mean, eval_sd)]
    return Truth(
        mean=fmean(of for of, _, _ in by_eval),
        eval_sd=_sd([of for of, _, _ in by_eval]),
        run_sd=math.sqrt(fmean(runs for _, runs, _ in by_eval)),
        judging_sd=math.sqrt(fmean(judgings for _, _, judgings in by_eval)),
    )


def passing(stand_in: StandIn, expectation: str, *, skill: bool) -> float:
    """The rate at which a judged expectation should pass, by its text.

    It passes where quality + N(judging) ≥ 3 + N(expectation), the last drawn once from the
    expectation's text with sd `check_sd`.
    """
    plain = truth(stand_in, skill=skill, rounded=False)
    spread = math.hypot(plain.eval_sd, plain.run_sd, plain.judging_sd)
    margin = plain.mean - threshold(stand_in, expectation)
    return NormalDist().cdf(margin / spread) if spread else float(margin >= 0)


def _of_eval(stand_in: StandIn, mean: float) -> tuple[float, float, float]:
    """Mean, variance of runs, mean variance of judgings, of an eval with this mean quality."""
    runs = [_of_output(stand_in, at) for at in _spread(mean, stand_in.run_sd)]
    expected = [of for of, _ in runs]
    return fmean(expected), _sd(expected) ** 2, fmean(spread for _, spread in runs)


def _of_output(stand_in: StandIn, quality: float) -> tuple[float, float]:
    """Mean and variance of the whole scores of one output."""
    if stand_in.judging_sd <= 0:
        return float(as_score(quality)), 0.0
    below = NormalDist(quality, stand_in.judging_sd).cdf
    reaching = [1 - below(score - 0.5) for score in range(2, 6)]
    mean = 1 + sum(reaching)
    # E[X²] over steps: each score s that is reached adds s² - (s - 1)².
    square = 1 + sum((2 * s - 1) * p for s, p in enumerate(reaching, start=2))
    return mean, max(0.0, square - mean * mean)


def _spread(mean: float, sd: float, steps: int = 101) -> list[float]:
    """A normal distribution as equally likely values, of exactly this mean and sd."""
    if sd <= 0:
        return [mean]
    drawn = [NormalDist().inv_cdf((step + 0.5) / steps) for step in range(steps)]
    return [mean + value * sd / _sd(drawn) for value in drawn]


def _sd(values: list[float]) -> float:
    mean = fmean(values)
    return math.sqrt(fmean((value - mean) ** 2 for value in values))
