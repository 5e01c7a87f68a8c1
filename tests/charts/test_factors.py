"""Models as a factor, drawn: with which of them the skill helps, and whether that differs."""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np
import pytest

from skill_eval_nb import charts
from skill_eval_nb.stats import factors
from tests.charts.specs import rows_of, spec_of, subtitle_of, texts_of, title_of
from tests.charts.worlds import SIDES, run_keys, workspace


@cache
def models(k: int = 3, evals: int = 8, column: str = "executor_model", **lifts: float):
    """Runs of models, each of which the skill lifts by so much; half of them in two harnesses."""
    rng = np.random.default_rng(evals)
    runs = [
        run_keys(eval_id=str(at), eval_name=f"eval-{at}", configuration=side)
        | {"run_number": run + 1 + 10 * place, column: model, "status": "graded", "path": "."}
        | {"pass_rate": 0.4 + lift * (side == SIDES[0]) + 0.05 * rng.standard_normal()}
        for (place, (model, lift)), at, side, run in product(
            enumerate(lifts.items()), range(evals), SIDES, range(k)
        )
    ]
    return workspace(runs=runs)


@pytest.mark.parametrize(
    ("ws", "how", "title", "said"),
    [
        (
            models(large=0.4, middle=0.2, small=0.0),
            {},
            "Pass rate: with_skill helps in 2 of 3 models, hurts in 0 (n = 24",
            "The effect differs between models on tasks like these (8 evals each), p = 0.00781.",
        ),
        (
            models(large=0.4, small=-0.4),
            {"level": 0.9},
            "Pass rate: with_skill helps in 1 of 2 models, hurts in 1 (n = 24",
            "it must be at most 0.1",
        ),
        (
            models(k=1, large=0.3, small=0.3),
            {},
            "Pass rate: with_skill helps in 2 of 2 models, hurts in 0 (n = 8 and 8 runs, tasks",
            "Whether the effect differs between models cannot be told: it takes two runs",
        ),
        (
            models(k=1, evals=3, large=0.3, small=0.3),
            {},
            "Pass rate: with_skill helps in 0 of 2 models, hurts in 0 (n = 3 and 3 runs, tasks",
            "it takes 6 evals on which they differ, and there are 3.",
        ),
        (
            models(column="harness", one=0.4, other=0.0),
            {"factor": "harness"},
            "Pass rate: with_skill helps in 1 of 2 harnesses, hurts in 0 (n = 24",
            "p allows for the number of harnesses",
        ),
    ],
)
def test_the_answer_stands_in_the_title_and_a_row_is_a_model(ws, how, title, said) -> None:
    chart = charts.factors(ws, **how)
    assert title_of(chart).startswith(title)
    assert said in subtitle_of(spec_of(chart))
    rows = factors(ws, **how)
    column = how.get("factor", "executor_model")
    labels = dict.fromkeys(row["label"] for row in rows_of(chart, "label"))
    assert [*labels] == rows[column].to_list()
    assert {row["estimate"] for row in rows_of(chart, "low")} == {
        100 * estimate for estimate in rows["estimate"]
    }
    assert set(rows[column]) <= set(texts_of(spec_of(chart)))


def test_several_comparisons_have_a_heading_each_and_one_model_is_nothing_to_compare() -> None:
    one, other = models(large=0.4, small=0.0), models(evals=7, large=0.3, small=0.3)
    rows = one.polars("runs").to_dicts()
    rows += [row | {"workspace": "other"} for row in other.polars("runs").to_dicts()]
    chart = charts.factors(workspace(runs=rows))
    assert "The effect differs in 1 of 2 comparisons." in subtitle_of(spec_of(chart))
    sides = "with_skill against without_skill"
    assert {f"other · {sides}", f"tdd-workspace · {sides}"} <= set(texts_of(spec_of(chart)))
    alone = charts.factors(models(large=0.4))
    assert title_of(alone) == "No models to compare"
    assert "it takes two with both sides, and there is large" in rows_of(alone, "line")[0]["line"]
    empty = charts.factors(workspace())
    assert rows_of(empty, "line")[0]["line"].startswith("There are no runs")
    with pytest.raises(ValueError, match="no factor `judge`"):
        charts.factors(models(large=0.4), factor="judge")
