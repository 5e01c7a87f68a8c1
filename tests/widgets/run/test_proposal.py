"""The next best design: from the noise that was seen, in a sentence that a button obeys."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest

import skill_eval_nb as sen
from skill_eval_nb.widgets.run.form import Question, _size, best_design, proposal_view, size
from tests.checkout import ROOT
from tests.widgets.trees import find, text

if TYPE_CHECKING:
    from pathlib import Path


def runs(cost: float | None = 0.05) -> sen.Workspace:
    """Six evals, three runs on each side, with noise of a size that is known."""
    same = {"workspace": "w", "skill": "s", "iteration": "iteration-2", "status": "graded"}
    rows = [
        same
        | {"eval_id": str(eval_id), "eval_name": f"eval-{eval_id}", "cost_usd": cost}
        | {"configuration": side, "run_number": run}
        | {"pass_rate": 0.5 + 0.2 * (side == "with_skill") + 0.15 * (run - 2)}
        for eval_id in range(1, 7)
        for side in ("with_skill", "without_skill")
        for run in (1, 2, 3)
    ]
    return sen.Workspace.from_tables({"runs": pl.DataFrame(rows)})


def test_it_is_that_of_the_statistics_with_the_price_that_was_measured(tmp_path: Path) -> None:
    found = best_design(runs(), tmp_path, Question(effect=0.1), 6)
    wanted = sen.stats.plan(runs(), metric="pass_rate", effect=0.1, scope="suite", max_evals=6)
    best = wanted.filter("chosen").row(0, named=True)
    assert found.design["chosen"]
    assert _size(found.design) == (best["n_evals"], best["n_runs"], best["n_judgings"])
    assert found.design["price_usd"] == pytest.approx(best["price_usd"])
    assert found.design["price_usd"] == pytest.approx(0.05 * 2 * 6 * best["n_runs"])
    view = proposal_view(found, busy=False, costs=True)
    assert f"{size(found.design)} would detect" in text([view])
    take = [one for one in find([view], tag="button") if text([one]) == "Put it into the form"]
    assert take[0][1]["on"]["click"] == ("take_design", *_size(found.design))


def test_a_question_that_cannot_be_answered_says_so(tmp_path: Path) -> None:
    found = best_design(runs(), tmp_path, Question(effect=0.001), 6)
    assert not found.design["chosen"]
    said = text([proposal_view(found, busy=False, costs=True)]).replace("\xa0", " ")
    assert "No design up to " in said
    assert "Put it into the form" not in said


def test_other_peoples_workspaces_have_their_dimensions_to_ask_about(tmp_path: Path) -> None:
    home = ROOT / "data" / "tdd-workspace"
    ws = sen.load(home)
    found = best_design(ws, home, Question(), 3)
    dimensions = [one for one in found.metrics if one.startswith("rubric:")]
    assert dimensions
    asked = best_design(ws, home, Question(dimensions[0]), 3)
    assert asked.question.effect == 0.5
    assert "points" in text([proposal_view(asked, busy=False, costs=True)])
    assert best_design(sen.Workspace.from_tables({}), tmp_path, Question(), 3) is None
