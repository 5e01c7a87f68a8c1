"""The known truth comes back from many requests."""

from __future__ import annotations

import json
import pickle
from statistics import NormalDist

import numpy as np
import pytest

from skill_eval_nb.models.stand_in import StandIn
from skill_eval_nb.models.stand_in.answers import threshold
from skill_eval_nb.models.stand_in.app import App
from tests.models.stand_in.asking import LISTING, TOOLS, judging, plain, post
from tests.models.stand_in.truth import truth

STAND_IN = StandIn(seed=3, base=2.9, effect=0.8, eval_sd=0.5, run_sd=0.4, judging_sd=0.6)
EVALS, RUNS, JUDGINGS = 40, 5, 3
CHECK = "The text is fit to be printed"


@pytest.mark.parametrize("skill", [False, True])
def test_over_many_requests_the_truth_comes_back(skill):
    """40 evals × 5 runs × 3 judgings through the app, as harness and judge would ask it.

    Tolerances are about four standard errors of the estimates, at a fixed seed.
    """
    app = App(pickle.loads(pickle.dumps(STAND_IN)))  # it can be sent to a worker
    stated, scores = np.zeros((EVALS, RUNS)), np.zeros((EVALS, RUNS, JUDGINGS))
    passed = np.zeros_like(scores)
    for at, run in np.ndindex(EVALS, RUNS):
        text = _written(app, f"Tell tale {at} of commits and notes.", f"{at}/{run}", skill)
        stated[at, run] = float(text.rpartition("stand-in quality: ")[2])
        for number in range(JUDGINGS):
            answer = post(app, judging(text, f"{at}/{run}/{number}", expectations=(CHECK,)))
            found = json.loads(answer["content"][0]["text"])
            scores[at, run, number] = found["dimensions"][0]["score"]
            passed[at, run, number] = found["expectations"][0]["passed"]

    mean = STAND_IN.base + skill * STAND_IN.effect
    of_mean = (0.5**2 / EVALS + 0.4**2 / (EVALS * RUNS)) ** 0.5
    assert stated.mean() == pytest.approx(mean, abs=4 * of_mean)
    within = stated.var(axis=1, ddof=1).mean()
    assert within**0.5 == pytest.approx(0.4, rel=4 / (2 * EVALS * (RUNS - 1)) ** 0.5)
    between = stated.mean(axis=1).var(ddof=1) - within / RUNS
    assert between**0.5 == pytest.approx(0.5, rel=4 / (2 * (EVALS - 1)) ** 0.5)

    known = truth(STAND_IN, skill=skill)
    assert scores.mean() == pytest.approx(known.mean, abs=4 * of_mean + 0.02)
    of_judgings = scores.var(axis=2, ddof=1).mean()
    rel = 4 / (2 * 2 * EVALS * RUNS) ** 0.5
    assert of_judgings**0.5 == pytest.approx(known.judging_sd, rel=rel)
    of_runs = scores.mean(axis=2).var(axis=1, ddof=1).mean() - of_judgings / JUDGINGS
    assert of_runs**0.5 == pytest.approx(known.run_sd, rel=0.2)
    margin = (mean - threshold(STAND_IN, CHECK)) / np.hypot(np.hypot(0.5, 0.4), 0.6)
    assert passed.mean() == pytest.approx(NormalDist().cdf(margin), abs=4 * 0.25 / EVALS**0.5)


def _written(app, task, session, skill):
    request = plain(task, session, tools=TOOLS, system=LISTING if skill else "x")
    while True:
        answer = post(app, request)
        assert answer["stop_reason"] == "tool_use"
        block = answer["content"][-1]
        if block["name"] == "Bash" and "<<" in block["input"]["command"]:
            return block["input"]["command"].rpartition("\n")[0]
        result = {"type": "tool_result", "tool_use_id": block["id"], "content": "Notes."}
        request["messages"] += [
            {"role": "assistant", "content": answer["content"]},
            {"role": "user", "content": [result]},
        ]
