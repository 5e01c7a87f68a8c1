from __future__ import annotations

import pytest

from skill_eval_nb.charts import answers
from skill_eval_nb.charts.metrics import metric

SIDES = {"configuration": "with_skill", "baseline": "without_skill"}
N = {"n_runs": 15, "n_runs_baseline": 14, "n_evals": 5}


def plain(text):
    return text.replace("\xa0", " ")


def lane(**given):
    known = {"heading": "", "label": "Clarity", "mean": 4.0, "stddev": 0.5, "n": 15}
    return SIDES | N | known | {"estimate": 0.8} | given


def test_rubric_the_largest_difference_of_either_sign_is_named() -> None:
    lanes = [lane(), lane(label="Scope", estimate=-1.25), lane(estimate=None, baseline=None)]
    assert plain(answers.rubric_dimensions(lanes)) == (
        "The sides differ most on ‘Scope’: with_skill scores 1.25 points below without_skill "
        "(n = 15 and 14 runs of 5 evals)"
    )


def test_rubric_sides_that_score_alike_are_not_said_to_differ() -> None:
    said = answers.rubric_dimensions([lane(estimate=0.0), lane(estimate=0.004)])
    assert "score alike on every dimension" in said


def test_rubric_with_one_side_speaks_of_spread() -> None:
    lanes = [lane(estimate=None), lane(estimate=None, label="Scope", stddev=1.5, heading="w")]
    said = plain(answers.rubric_dimensions(lanes))
    assert said.startswith("Runs differ most on ‘Scope’ in ‘w’: with_skill has a mean of 4.00")
    assert said.endswith("standard deviation of 1.50 (n = 15 runs)")


def test_rubric_of_a_single_run_speaks_of_its_score() -> None:
    said = answers.rubric_dimensions([lane(estimate=None, stddev=None, n=1)])
    assert plain(said) == "with_skill scores 4.00 on ‘Clarity’ (n = 1 run)"


@pytest.mark.parametrize(
    ("estimates", "said"),
    [
        ([0.5, 0.25, 0.0], "is above without_skill on 2 of 3 evals, +25 pp on average"),
        ([-0.5, 0.25, -0.5], "is below without_skill on 2 of 3 evals, −25 pp on average"),
        ([0.0], "and without_skill are equal on 1 eval"),
    ],
)
def test_deltas_of_one_comparison(estimates, said) -> None:
    row = SIDES | N | {"estimate": sum(estimates) / len(estimates)}
    answer = plain(answers.deltas([row], estimates, metric("pass_rate")))
    assert answer == f"Pass rate: with_skill {said} (n = 15 and 14 runs)"


def test_deltas_of_several_comparisons_are_added_up() -> None:
    row = SIDES | N | {"estimate": 0.5}
    answer = answers.deltas([row, row], [0.5, -0.5, 0.5], metric("tokens"))
    assert plain(answer) == (
        "Tokens: above the baseline on 2 of 3 evals in 2 comparisons (n = 30 and 28 runs)"
    )


def line(*means):
    return [
        {"configuration": "with_skill", "iteration": f"iteration-{at}", "mean": mean, "n": at}
        for at, mean in enumerate(means, 1)
    ]


@pytest.mark.parametrize(
    ("means", "said"),
    [
        ((0.5, 0.9, 0.75), "rises from 50% in ‘iteration-1’ to 75% in ‘iteration-3’"),
        ((0.5, 0.9, 0.25), "falls from 50% in ‘iteration-1’ to 25% in ‘iteration-3’"),
        ((0.5, 0.9, 0.5), "is 50% in ‘iteration-3’ as it was in ‘iteration-1’"),
    ],
)
def test_iterations_from_first_to_last(means, said) -> None:
    answer = answers.iterations([line(*means)], metric("pass_rate"))
    assert plain(answer) == f"with_skill: the pass rate {said} (n = 1 and 3 runs)"


def test_iterations_of_one_and_of_several_workspaces() -> None:
    rate = metric("pass_rate")
    assert plain(answers.iterations([line(0.5)], rate)) == (
        "with_skill has a pass rate of 50% in its only iteration (n = 1 run)"
    )
    several = answers.iterations([line(0.5, 0.6), line(0.5, 0.4), line(0.5)], rate)
    assert plain(several) == (
        "The pass rate rises in 1 of 2 workspaces from the first to the last iteration "
        "(n = 5 runs in the last)"
    )
    assert plain(answers.iterations([line(0.5), line(0.4)], rate)).startswith("2 workspaces")


def side(name, **costs):
    return {"configuration": name, "value": 0.8, "n": 15, "costs": costs}


def test_a_bargain_names_the_gain_and_each_known_cost() -> None:
    own = side("with_skill", tokens=20_000, cost_usd=0.03)
    other = side("without_skill", tokens=10_000, cost_usd=0.0)
    said = answers.bargain(own, other, SIDES | N | {"estimate": 0.1}, metric("pass_rate"))
    assert plain(said) == (
        "with_skill against without_skill: +10 pp pass rate for 2.0 × the tokens "
        "(n = 15 and 14 runs)"
    )


def test_without_a_pair_a_bargain_is_what_a_run_costs() -> None:
    said = answers.bargain(
        side("a", tokens=1500, time_seconds=9.0), None, None, metric("pass_rate")
    )
    assert plain(said) == "a: 80% pass rate at 1,500 tokens and 9.0 s a run (n = 15 runs)"


def test_bargains_count_the_comparisons_that_gain() -> None:
    gains = [N | {"estimate": estimate} for estimate in (0.1, 0.0, -0.1)]
    said = plain(answers.bargains([*gains, None], metric("pass_rate")))
    assert said == "Pass rate is above the baseline in 1 of 3 comparisons (n = 45 and 42 runs)"


def cell(passes, scored):
    return {"passes": passes, "scored": scored}


def test_expectations_are_compared_by_share() -> None:
    pairs = [(cell(3, 3), cell(1, 2)), (cell(1, 3), cell(2, 3)), (cell(1, 2), cell(2, 4))]
    said = plain(answers.expectations(pairs, ("A", "B")))
    assert said == (
        "1 of 3 expectations pass more often in A than in B, 1 less often (n = 8 and 9 verdicts)"
    )
    assert "equally often on 1 expectation" in plain(answers.expectations(pairs[2:], ("A", "B")))


def test_verdicts_that_cannot_be_compared_are_counted() -> None:
    rows = [{"passed": passed, "scored": scored} for passed, scored in ((2, 2), (0, 3), (0, 0))]
    said = plain(answers.verdicts(rows))
    assert said == "1 of 2 expectations always pass, 1 never (n = 5 verdicts)"
    assert plain(answers.verdicts(rows[2:])) == "None of 1 expectation has been scored"
