"""No figure is of several models or harnesses at once, unless that is asked for."""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from skill_eval_nb import stats
from skill_eval_nb.stats.values import MODEL
from skill_eval_nb.tables import Workspace
from tests.stats.made import SIDES, Row, plain, runs_table, scores_table, two_sides
from tests.stats.verdicts import verdicts_table

if TYPE_CHECKING:
    from collections.abc import Callable

WORLDS = {
    # what tells the runs apart: for each of two that, and the pass rates of both sides
    "two models": ({"executor_model": "large"}, {"executor_model": "small"}),
    "two harnesses": ({"harness": "one"}, {"harness": "other"}),
    "one of three unstated": ({"executor_model": "large"}, {"executor_model": "small"}, {}),
    "models and harnesses": (
        {"executor_model": "large", "harness": "one"},
        {"executor_model": "small", "harness": "other"},
    ),
}
RATES = ((1.0, 0.0), (0.2, 0.7), (0.5, 0.5))
"""Of the first the skill's side passes everything; the second does worse with the skill."""
OF_NO_MODEL = {
    "audit",
    "next_step",
    "preference",
    "second_opinion",
    *(name for name in stats.__all__ if "trigger" in name),
}
"""Those of what a file states, of comparisons and of queries, which no run's model stands in; and
`next_step`, which has the rows of `deltas`. What is stated has a second opinion for each model, and
its p allows for all of them: `test_second_opinion` has that."""
ACROSS = {"factors"}
"""Those that are asked how models differ."""
WORDS = ("reason", "note", "text", "warnings")


def world(*models: tuple[Row, tuple[float, float]], at: int = 0) -> Workspace:
    """Six evals × four runs a side of each model; two judges, each twice; one slow run."""
    runs: list[Row] = []
    verdicts: list[Row] = []
    scores: list[Row] = []
    for number, (model, rates) in enumerate(models, at):
        for ev, (side, rate), run in product(range(6), zip(SIDES, rates, strict=True), range(4)):
            key: Row = {"eval_id": str(ev), "eval_name": str(ev), "configuration": side}
            key["run_number"] = run + 1 + 4 * number
            slow = (ev, side, run) == (0, SIDES[0], 0)
            noise = (ev * 7 + run * 3 + number) % 5
            seconds = 900.0 if slow else 20.0 * (1 + number) + noise
            runs.append({**key, **model, "pass_rate": rate, "time_seconds": seconds})
            passed = noise < 5 * rate
            verdicts += [{**key, "text": text, "passed": passed} for text in ("a check", "another")]
            scores += [
                {**key, "dimension": "clarity", "judge_model": judge, "judging": judging}
                | {"score": min(5.0, 1 + 4 * rate * (noise + judging + len(judge)) / 9)}
                for judge, judging in product(("mild", "harsh"), (1, 2))
            ]
    tables = {
        "runs": runs_table(runs),
        "expectations": verdicts_table(verdicts),
        "rubric_scores": scores_table(scores),
    }
    return Workspace.from_tables(tables)


@pytest.mark.parametrize("models", WORLDS.values(), ids=WORLDS)
@pytest.mark.parametrize("name", sorted({*stats.__all__} - OF_NO_MODEL - ACROSS))
def test_no_statistic_pools_models(name: str, models: tuple[Row, ...]) -> None:
    """What it says of a model among others is what it says where there is no other."""
    given = {"looks": (2, 4)} if name == "sequential" else {}
    statistic: Callable[[Any], Any] = partial(getattr(stats, name), **given)
    each = list(zip(models, RATES, strict=False))
    together = plain(statistic(world(*each)))
    seen = 0
    for at, (model, rates) in enumerate(each):
        alone = plain(statistic(world((model, rates), at=at)))
        assert alone
        own = [row for row in together if all(row[key] == model.get(key) for key in MODEL)]
        assert [_figures(row) for row in own] == [_figures(row) for row in alone]
        seen += len(own)
    assert seen == len(together)  # and says nothing more


def _figures(row: Row) -> Row:
    """A row without sentences, which name the model where there are several."""
    return {
        key: pytest.approx(value, rel=1e-9) if isinstance(value, float) else value
        for key, value in row.items()
        if key not in WORDS
    }


def test_sentences_name_the_model_where_there_are_several() -> None:
    both = world(*zip(WORLDS["two models"], RATES, strict=False))
    for name in ("notes", "deltas"):
        for row in plain(getattr(stats, name)(both)):
            assert row["text" if name == "notes" else "reason"].startswith(row["executor_model"])


@pytest.mark.parametrize(
    "name", ["variance", "discrimination", "agreement", "pass_at_k", "outliers", "plan"]
)
def test_a_bare_table_says_itself_who_ran_its_rows(name: str) -> None:
    both = world(*zip(WORLDS["two models"], RATES, strict=False))
    of = {"discrimination": "expectations", "variance": "rubric_scores"}
    table = of.get(name, "rubric_scores" if name == "agreement" else "runs")
    frame, runs = both.polars(table), both.polars("runs")
    if table != "runs":
        keys = [key for key in frame.columns if key in runs.columns][:7]
        frame = frame.join(runs.select(*keys, *MODEL), on=keys)
    statistic = getattr(stats, name)
    assert plain(statistic(frame)) == plain(statistic(both))


def test_a_mean_over_models_names_opposite_signs() -> None:
    rows = [
        row | {"run_number": row["run_number"] + 3 * at}
        for at, (model, rates) in enumerate(
            zip(WORLDS["two models"], ((1.0, 0.0), (0.0, 0.5)), strict=True)
        )
        for row in runs_table([one | model for one in two_sides(*rates, evals=6)]).to_dicts()
    ]
    (row,) = plain(stats.deltas(pl.DataFrame(rows, infer_schema_length=None), pool="model"))
    assert row["estimate"] == pytest.approx(0.25)
    said = "large +100 pp; small −50 pp. Their signs are opposite"
    assert said in row["reason"]
    assert said in " ".join(row["warnings"])
