from typing import Any

import pytest
from hypothesis import given

from skill_eval_nb.stats import summarize
from skill_eval_nb.tables.columns import to_pandas
from tests.stats.made import (
    FIGURES,
    Row,
    examples,
    near,
    plain,
    run_rows,
    runs_table,
    world,
)

COLUMNS = """workspace skill iteration executor_model harness configuration metric mean
stddev min max n n_runs n_errored""".split()


def _by(rows: list[Row], *keys: str) -> dict[Any, Row]:
    found = {tuple(row[key] for key in keys): row for row in rows}
    assert len(found) == len(rows)
    return found


@examples
@given(run_rows())
def test_agrees_with_pandas_on_any_runs(rows: list[Row]) -> None:
    """And consistency is 1 - the coefficient of variation of the efficiency."""
    summary = summarize(runs_table(rows))
    assert list(summary.columns) == COLUMNS
    found = _by(plain(summary), "iteration", "configuration", "metric")
    table = to_pandas(runs_table(rows)).astype(dict.fromkeys(FIGURES, float))
    metrics = [name for name in FIGURES if table[name].notna().any() or name == "pass_rate"]
    for group, runs in table.groupby(["iteration", "configuration"]):
        for metric in metrics:
            row, figures = found.pop((*group, metric)), runs[metric]
            expected = [figures.mean(), figures.std(), figures.min(), figures.max()]
            assert near([row[name] for name in ("mean", "stddev", "min", "max")], expected)
            assert (row["n"], row["n_runs"]) == (figures.count(), len(runs))
        if row := found.pop((*group, "consistency"), None):
            x = runs["overall_efficiency"]
            if x.count() > 1 and x.mean():
                expected = 1 - x.std() / x.mean()
                assert row["mean"] == pytest.approx(expected, rel=1e-6, abs=1e-6)
            else:
                assert row["mean"] is None
            assert (row["stddev"], row["min"], row["max"], row["n"]) == (*[None] * 3, x.count())
    assert not found


def test_a_run_judged_thrice_weighs_as_much_as_a_run_judged_once() -> None:
    runs = [{"configuration": name} for name in ("with_skill", "with_skill", "old")]
    judged = [(1, 1, 1.0), (1, 2, 1.0), (1, 3, 4.0), (2, 1, 5.0), (2, 2, None)]
    scores = [
        {"configuration": "with_skill", "run_number": run, "judging": judging, "score": score}
        | {"eval_name": "1", "dimension": "clarity"}
        for run, judging, score in judged
    ]
    found = _by(plain(summarize(world(runs, scores=scores))), "configuration", "metric")
    row = found["with_skill", "rubric:clarity"]
    assert (row["mean"], row["min"], row["max"], row["n"]) == (3.5, 2.0, 5.0, 2)
    assert (found["old", "rubric:clarity"]["n"], found["old", "rubric:clarity"]["n_runs"]) == (0, 1)
