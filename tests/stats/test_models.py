"""No figure is of several models or harnesses at once, unless that is asked for."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

import pytest

from skill_eval_nb import stats
from skill_eval_nb.stats.values import MODEL
from skill_eval_nb.tables import Workspace
from tests.stats.made import SIDES, Row, plain, world

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


def of_models(*models: tuple[Row, tuple[float, float]], at: int = 0) -> Workspace:
    """Six evals × four runs a side of each model; two judges, each twice; one slow run."""
    made: dict[str, list[Row]] = {"runs": [], "verdicts": [], "scores": []}
    for number, (model, rates) in enumerate(models, at):
        for ev, (side, rate), run in product(range(6), zip(SIDES, rates, strict=True), range(4)):
            key: Row = {
                "eval_id": str(ev),
                "configuration": side,
                "run_number": run + 1 + 4 * number,
            }
            noise = (ev * 7 + run * 3 + number) % 5
            slow = (ev, side, run) == (0, SIDES[0], 0)
            seconds = 900.0 if slow else 20.0 * (1 + number) + noise
            made["runs"].append(key | model | {"pass_rate": rate, "time_seconds": seconds})
            for text in ("a check", "another"):
                made["verdicts"].append({**key, "text": text, "passed": noise < 5 * rate})
            for judge, judging in product(("mild", "harsh"), (1, 2)):
                score = min(5.0, 1 + 4 * rate * (noise + judging + len(judge)) / 9)
                own = {"dimension": "clarity", "judge_model": judge, "judging": judging}
                made["scores"].append(key | own | {"score": score})
    return world(**made)


@pytest.mark.parametrize("models", WORLDS.values(), ids=WORLDS)
@pytest.mark.parametrize("name", sorted({*stats.__all__} - OF_NO_MODEL - ACROSS))
def test_no_statistic_pools_models(name: str, models: tuple[Row, ...]) -> None:
    """What it says of a model among others is what it says where there is no other."""
    given = {"looks": (2, 4)} if name == "sequential" else {}
    statistic: Callable[[Any], Any] = partial(getattr(stats, name), **given)
    each = list(zip(models, RATES, strict=False))
    together = plain(statistic(of_models(*each)))
    seen = 0
    for at, (model, rates) in enumerate(each):
        alone = plain(statistic(of_models((model, rates), at=at)))
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
    both = of_models(*zip(WORLDS["two models"], RATES, strict=False))
    for name in ("notes", "deltas"):
        for row in plain(getattr(stats, name)(both)):
            assert row["text" if name == "notes" else "reason"].startswith(row["executor_model"])
