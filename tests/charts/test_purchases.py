"""A plan in words: what to take, what it costs, and what one more would buy."""

from __future__ import annotations

from typing import Any

import pytest

from skill_eval_nb.charts.plan import (
    design,
    judged,
    paid,
    planned,
    purchases,
    sharpness,
    title,
)

Row = dict[str, Any]
BASE: Row = {
    "configuration": "with_skill",
    "baseline": "without_skill",
    "metric": "pass_rate",
    "wanted": 0.2,
    "n_evals": 10,
    "n_runs": 3,
    "n_judgings": 1,
    "se": 0.06,
    "mde": 0.19,
    "price_usd": 6.0,
    "seconds": 600.0,
    "calls": 30,
    "chosen": True,
    "changed": None,
}


def row(**more: Any) -> Row:
    return BASE | more


def plain(text: str) -> str:
    return text.replace("\xa0", " ")


def told(rows: list[Row]) -> str:
    return plain(title(rows, sharpness(rows), paid(rows)))


def bought(rows: list[Row]) -> str:
    return plain(purchases(rows, sharpness(rows), paid(rows)))


@pytest.mark.parametrize(
    ("known", "column", "axis"),
    [
        ({}, "price_usd", "price (US$)"),
        ({"price_usd": None}, "seconds", "time, one run after the other (s)"),
        (
            {"price_usd": None, "seconds": 7200.0},
            "seconds",
            "time, one run after the other (h)",
        ),
        ({"price_usd": None, "seconds": None}, "calls", "runs a side (number)"),
    ],
)
def test_money_where_it_is_known_else_time_else_runs(known: Row, column: str, axis: str) -> None:
    found = paid([row(**known)])
    assert (found.column, found.axis) == (column, axis)


def test_judgings_are_named_only_where_they_are_planned() -> None:
    fixed, free = [row()], [row(), row(changed="judgings", n_judgings=2)]
    assert (judged(fixed), judged(free)) == (False, True)
    assert plain(design(row(n_evals=1), planned(fixed))) == "1 eval × 3 runs"
    assert plain(design(row(), planned(free))) == "10 evals × 3 runs × 1 judging"
    unpaid = [one | {"price_usd": None, "seconds": None} for one in free]
    assert paid(unpaid).axis == "runs and judgings a side (number)"


@pytest.mark.parametrize(
    ("metric", "value", "axis", "said"),
    [
        ("pass_rate", 0.195, "smallest detectable effect (%)", "19.5 pp"),
        ("rubric:Clarity", 0.5, "smallest detectable effect (1–5)", "0.50 points"),
        ("time_seconds", 12.0, "smallest detectable effect (s)", "12.0 s"),
        (None, 0.12345, "smallest detectable effect", "0.123"),
    ],
)
def test_sharpness_is_in_the_metric_s_unit(
    metric: str | None, value: float, axis: str, said: str
) -> None:
    found = sharpness([row(metric=metric)])
    assert found.axis == axis
    assert plain(found.text(value)) == said


def test_without_a_detectable_effect_the_error_is_shown() -> None:
    assert sharpness([row(mde=None), row()]).column == "mde"
    assert sharpness([row(mde=None)]).column == "se"


def test_the_title_of_a_delta_and_of_a_mean() -> None:
    assert told([row()]) == (
        "10 evals × 3 runs would find a difference of 20 pp, for $6.00 "
        "(with_skill against without_skill, n = 10 evals × 3 runs)"
    )
    assert told([row(mde=None, baseline=None, metric="rubric:Clarity")]) == (
        "10 evals × 3 runs would have a standard error of at most 0.20 points, for $6.00 "
        "(with_skill, n = 10 evals × 3 runs)"
    )


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({}, "would find a difference of 20 pp; what was run finds 19 pp at the least (with_skill"),
        (
            {"mde": None},
            "have a standard error of 20 pp; what was run has 6 pp (with_skill",
        ),
        (
            {"configuration": "", "baseline": ""},
            "a difference of 20 pp; the largest of them finds 19 pp at the least (assumed",
        ),
    ],
)
def test_where_no_design_will_do_the_title_says_how_far_it_gets(more: Row, said: str) -> None:
    found = told([row(chosen=False, **more)])
    assert found.startswith("No design within the limits would")
    assert said in found


def test_where_what_was_run_can_claim_nothing_the_title_says_so() -> None:
    rows = [row(chosen=False, mde=None), row(changed="evals")]
    assert "; from what was run, nothing can be claimed (with_skill" in told(rows)
    assert bought(rows) == ""


def test_one_more_of_each_with_what_it_adds() -> None:
    rows = [
        row(),
        row(changed="evals", n_evals=11, mde=0.18, price_usd=6.6),
        row(changed="evals", n_evals=12, mde=0.17, price_usd=7.2),
        row(changed="runs", n_runs=2, mde=0.25, price_usd=4.0),
        row(changed="judgings", n_judgings=2, mde=0.185, price_usd=6.25),
    ]
    assert bought(rows) == (
        "The smallest detectable effect goes from 19 pp with one more eval to 18 pp (+$0.60) and "
        "one more judging of each output to 18.5 pp (+$0.25)."
    )
    assert bought(rows[:1]) == ""


def test_one_more_run_is_one_run() -> None:
    unpaid = {"price_usd": None, "seconds": None}
    rows = [row(**unpaid), row(changed="evals", n_evals=11, mde=0.18, calls=31, **unpaid)]
    assert bought(rows).endswith("one more eval to 18 pp (+1 run).")
