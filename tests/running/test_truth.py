"""What is known beforehand of the stand-in comes out of the whole pipeline, over many seeds.

Each seed is a benchmark: planned, run, judged, written to disk, loaded, and only then looked at.
An interval of 95 % may miss the truth; that it misses more often than chance allows is the fault
that is looked for. The truth itself is the stand-in's model of chance, worked out from its
definition and not from its answers.
"""

from __future__ import annotations

import os
from collections import Counter
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
import polars as pl
import pytest
from scipy import stats

import skill_eval_nb as sen
from skill_eval_nb.models import StandIn
from tests.corpus.build import lay

SEEDS = int(os.environ.get("SKILL_EVAL_NB_SEEDS", "6"))
"""Benchmarks that are made; 50 take a minute or three, and have been gone through."""


def least(intervals: int) -> int:
    """How many of these hold the truth, where 95 of 100 do: fewer do once in a thousand times."""
    return int(stats.binom.ppf(0.001, intervals, 0.95))


DIMENSION = "depth"
SKILL = """---
name: advice
description: Writes advice about gardens, water and soil for gardeners.
---

# Advice

Say what to do, then why.
"""
RUBRIC = {"dimensions": [{"name": DIMENSION, "weight": 1.0, "scoring": {"1": "no", "5": "yes"}}]}
TASK = "Write advice for gardeners: water and soil of bed"
EVALS = [{"id": n, "prompt": f"{TASK} {n}.", "quality_rubric": RUBRIC} for n in range(1, 7)]


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

    By the stand-in's model of chance, for outputs that state their quality (`stand-in quality:
    3.42`), which is every output but those of the demo skill's evals. Every eval, run and judging
    that is equally likely is gone through; the skill was opened in all of the runs, or in none.
    """
    spread = EQUALLY_LIKELY / EQUALLY_LIKELY.std()
    mean = stand_in.base + skill * stand_in.effect
    of_eval = mean + spread[:, None, None] * stand_in.eval_sd
    quality = of_eval + spread[None, :, None] * stand_in.run_sd
    scores = np.clip(np.floor(quality + spread * stand_in.judging_sd + 0.5), 1, 5)
    runs = scores.mean(axis=2)
    return Truth(
        *(float(scores.mean()), float(runs.mean(axis=1).std())),
        *(float(runs.var(axis=1).mean() ** 0.5), float(scores.var(axis=2).mean() ** 0.5)),
    )


@pytest.fixture(scope="module")
def benchmarks(tmp_path_factory) -> list[sen.Workspace]:
    """The workspace of each seed: six evals, two runs a side, two judgings a run."""
    folder = tmp_path_factory.mktemp("benchmarks")
    skill = lay(folder / "advice", {"SKILL.md": SKILL, "evals/evals.json": {"evals": EVALS}})
    for seed in range(SEEDS):
        plan = sen.plan_runs(
            skill,
            workspace=folder / str(seed),
            executor_options={"stand_in": StandIn(seed=seed)},
            runs=2,
            judgings=2,
            sandbox="none",
        )
        assert plan.start().wait().status == "done"
    found = [sen.load(folder / str(seed)) for seed in range(SEEDS)]
    for ws in found:
        assert (set(ws.runs["status"]), ws.rubric_scores.height) == ({"graded"}, 48)
        assert ws.problems.is_empty()
    return found


@pytest.mark.slow
@pytest.mark.parametrize("scope", ["suite", "population"])
def test_the_effect_of_the_skill_comes_back(benchmarks, scope):
    with_skill, without = (truth(StandIn(), skill=side).mean for side in (True, False))
    effect = with_skill - without
    found = [sen.stats.deltas(ws, f"rubric:{DIMENSION}", scope=scope) for ws in benchmarks]
    all_found = pl.concat(found)
    given = all_found.drop_nulls("low")  # there is none where too few evals differ
    held = given.filter(pl.col("low") <= effect, pl.col("high") >= effect).height
    assert given.height >= SEEDS / 2
    assert held >= least(given.height)
    mean, sd = (getattr(all_found["estimate"], name)() for name in ("mean", "std"))
    assert abs(mean - effect) < 4 * sd / SEEDS**0.5


@pytest.mark.slow
def test_the_noise_comes_back(benchmarks):
    held: Counter[tuple[str, str]] = Counter()
    for row in (row for ws in benchmarks for row in sen.stats.variance(ws).to_dicts()):
        if row["dimension"] == DIMENSION:
            side, part = row["configuration"], row["component"]
            true = truth(StandIn(), skill=side == "with_skill")
            sd = {"eval": true.eval_sd, "run": true.run_sd, "judge": true.judging_sd}[part]
            # Where no two judgings of an output differ, there is no interval: it has not held.
            held[side, part] += row["high"] is not None and row["low"] <= sd**2 <= row["high"]
    assert len(held) == 6
    assert min(held.values()) >= least(SEEDS), held
