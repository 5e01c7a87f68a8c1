"""Models as a factor, drawn: a row is a model, its figures are those of the statistic."""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest

from skill_eval_nb import charts
from skill_eval_nb.stats import factors
from tests.charts.specs import rows_of, spec_of, texts_of
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
    ("made", "factor"),
    [
        ({"large": 0.4, "middle": 0.2, "small": 0.0}, "model"),
        ({"column": "harness", "one": 0.4, "other": 0.0}, "harness"),
    ],
)
def test_a_row_is_a_model_with_its_figures(made: Any, factor: Any) -> None:
    ws = models(**made)
    spec = spec_of(charts.factors(ws, factor=factor))
    rows = factors(ws, factor=factor)
    names = rows["executor_model" if factor == "model" else factor].to_list()
    assert [*dict.fromkeys(row["label"] for row in rows_of(spec, "label"))] == names
    estimates = {100 * estimate for estimate in rows["estimate"]}
    assert {row["estimate"] for row in rows_of(spec, "low")} == estimates
    assert set(names) <= set(texts_of(spec))
