"""What should come out of runs by the stand-in: the truth, by its model of chance.

It holds for outputs that state their quality (`stand-in quality: 3.42`), which is every output but
those of the demo skill's evals.
"""

from __future__ import annotations

from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from skill_eval_nb.models.stand_in import StandIn

EQUALLY_LIKELY = np.array([NormalDist().inv_cdf((step + 0.5) / 101) for step in range(101)])


class Truth(NamedTuple):
    """Mean and standard deviations of the scores of one configuration, whole ones from 1 to 5.

    `eval_sd`: of the evals' expected scores. `run_sd`: of the runs' expected scores within
    one eval (root mean square over evals). `judging_sd`: of single scores of one output.
    """

    mean: float
    eval_sd: float
    run_sd: float
    judging_sd: float


def truth(stand_in: StandIn, *, skill: bool) -> Truth:
    """What the scores of a configuration have for mean and standard deviations.

    Every eval, run and judging that is equally likely is gone through; the skill was opened in
    all of the runs, or in none.
    """
    spread = EQUALLY_LIKELY / EQUALLY_LIKELY.std()
    mean = stand_in.base + skill * stand_in.effect
    of_eval = mean + spread[:, None, None] * np.hypot(stand_in.eval_sd, skill * stand_in.effect_sd)
    quality = of_eval + spread[None, :, None] * stand_in.run_sd
    scores = np.clip(np.floor(quality + spread * stand_in.judging_sd + 0.5), 1, 5)
    runs = scores.mean(axis=2)
    return Truth(
        *(float(scores.mean()), float(runs.mean(axis=1).std())),
        *(float(runs.var(axis=1).mean() ** 0.5), float(scores.var(axis=2).mean() ** 0.5)),
    )
