"""The known truth comes back: from its formula by brute force, and from many requests."""

from __future__ import annotations

import inspect
import json
from statistics import fmean, stdev

import numpy as np
import pytest

from skill_eval_nb.models.stand_in import StandIn, transport
from skill_eval_nb.models.stand_in.app import App, ReceivedRequest
from skill_eval_nb.models.stand_in.reading import as_score
from tests.models.stand_in.asking import LISTING, TOOLS, judging, plain
from tests.models.stand_in.truth import passing, truth

STAND_IN = StandIn(seed=3, base=2.9, effect=0.8, eval_sd=0.5, run_sd=0.4, judging_sd=0.6)
EVALS, RUNS, JUDGINGS = 60, 6, 3


@pytest.mark.parametrize("skill", [False, True])
@pytest.mark.parametrize(
    "sds", [(0.5, 0.4, 0.6), (0.3, 0.7, 0.1), (0.0, 0.5, 0.5), (1.0, 1.0, 1.0)]
)
def test_the_formula_agrees_with_drawing(sds, skill):
    """An independent way to the same figures: draw 40,000 runs, two judgings each."""
    eval_sd, run_sd, judging_sd = sds
    stand_in = StandIn(eval_sd=eval_sd, run_sd=run_sd, judging_sd=judging_sd)
    mean = stand_in.base + skill * stand_in.effect
    drawn = np.random.default_rng(5)
    of_eval = drawn.normal(mean, eval_sd, (2_000, 1, 1))
    quality = drawn.normal(of_eval, run_sd, (2_000, 20, 1))
    scores = np.vectorize(as_score)(drawn.normal(quality, judging_sd, (2_000, 20, 2)))
    first, second = scores[..., 0], scores[..., 1]
    known = truth(stand_in, skill=skill)
    assert known.mean == pytest.approx(first.mean(), abs=0.05 + 3 * eval_sd / 2_000**0.5)
    within_output = ((first - second) ** 2 / 2).mean()
    assert known.judging_sd**2 == pytest.approx(within_output, abs=0.02)
    # Covariance of two judgings of one output, within an eval: what the runs differ by.
    off = scores - scores.mean(axis=1, keepdims=True)
    runs_var = off.prod(axis=2).sum(axis=1).mean() / 19
    assert known.run_sd**2 == pytest.approx(runs_var, abs=0.03)
    total = first.var()
    assert known.eval_sd**2 == pytest.approx(total - within_output - runs_var, abs=0.06)


@pytest.mark.parametrize("skill", [False, True])
def test_over_many_requests_the_truth_comes_back(skill):
    """60 evals × 6 runs × 3 judgings through the app, as harness and judge would ask it.

    Tolerances are about four standard errors of the estimates, at a fixed seed.
    """
    app = App(STAND_IN)
    scores, qualities, passed = [], [], []
    check = "The text is fit to be printed"
    for number in range(EVALS):
        of_eval, stated = [], []
        for run in range(RUNS):
            text = _written(
                app, f"Tell tale {number} of commits and notes.", f"{number}/{run}", skill
            )
            stated.append(float(text.rpartition("stand-in quality: ")[2]))
            judgings = [_judged(app, text, f"{number}/{run}/{j}", check) for j in range(JUDGINGS)]
            of_eval.append([score for score, _ in judgings])
            passed += [verdict for _, verdict in judgings]
        scores.append(of_eval)
        qualities.append(stated)

    plain_truth = truth(STAND_IN, skill=skill, rounded=False)
    spread_of_mean = (0.5**2 / EVALS + 0.4**2 / (EVALS * RUNS)) ** 0.5
    assert fmean(fmean(s) for s in qualities) == pytest.approx(
        plain_truth.mean, abs=4 * spread_of_mean
    )
    within = fmean(stdev(s) ** 2 for s in qualities) ** 0.5
    assert within == pytest.approx(0.4, rel=4 / (2 * EVALS * (RUNS - 1)) ** 0.5)
    between = (stdev([fmean(s) for s in qualities]) ** 2 - within**2 / RUNS) ** 0.5
    assert between == pytest.approx(0.5, rel=4 / (2 * (EVALS - 1)) ** 0.5)

    known = truth(STAND_IN, skill=skill)
    flat = [score for of_eval in scores for run in of_eval for score in run]
    assert fmean(flat) == pytest.approx(known.mean, abs=4 * spread_of_mean + 0.02)
    judging_var = fmean(stdev(run) ** 2 for of_eval in scores for run in of_eval)
    assert judging_var**0.5 == pytest.approx(
        known.judging_sd, rel=4 / (2 * 2 * EVALS * RUNS) ** 0.5
    )
    run_means = [[fmean(run) for run in of_eval] for of_eval in scores]
    run_var = fmean(stdev(means) ** 2 for means in run_means) - judging_var / JUDGINGS
    assert run_var**0.5 == pytest.approx(known.run_sd, rel=0.2)
    assert fmean(passed) == pytest.approx(
        passing(STAND_IN, check, skill=skill), abs=4 * 0.25 / EVALS**0.5
    )


def _written(app, task, session, skill):
    request = plain(task, session, tools=TOOLS, system=LISTING if skill else "x")
    while True:
        answer = _post(app, request)
        assert answer["stop_reason"] == "tool_use"
        block = answer["content"][-1]
        if block["name"] == "Bash" and "<<" in block["input"]["command"]:
            return block["input"]["command"].rpartition("\n")[0]
        result = {
            "type": "tool_result",
            "tool_use_id": block["id"],
            "content": "Notes, as they are.",
        }
        request["messages"] += [
            {"role": "assistant", "content": answer["content"]},
            {"role": "user", "content": [result]},
        ]


def _judged(app, text, session, check):
    answer = _post(app, judging(text, session, expectations=(check,)))
    found = json.loads(answer["content"][0]["text"])
    return found["dimensions"][0]["score"], found["expectations"][0]["passed"]


def _post(app, request):
    asked = ReceivedRequest("POST", "/v1/messages", {}, json.dumps(request).encode(), "test")
    answer = app.answer(asked)
    assert answer.status == 200, answer.pieces
    return json.loads(b"".join(answer.pieces))


def test_a_stand_in_is_a_value_that_can_be_sent_to_a_worker():
    import pickle

    assert pickle.loads(pickle.dumps(STAND_IN)) == STAND_IN
    assert inspect.iscoroutinefunction(transport(STAND_IN).handle_async_request)
