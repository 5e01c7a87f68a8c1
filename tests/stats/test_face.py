"""What holds for every statistic: a light import, any kind of tables, and no models pooled."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

import pandas as pd
import polars as pl
import pytest

import skill_eval_nb as sen
from skill_eval_nb import stats
from skill_eval_nb.stats.values import MODEL
from skill_eval_nb.tables import TABLES, Workspace
from tests.checkout import ROOT
from tests.stats.made import KEYS, SIDES, Row, plain, runs_table, scores_table, table_of, world


def test_importing_it_imports_nothing_heavy() -> None:
    heavy = "polars pandas numpy scipy altair narwhals pyarrow".split()
    code = f"import sys, skill_eval_nb.stats; print([n for n in {heavy} if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.fixture(scope="module")
def bundled() -> Workspace:
    """Bundled runs and comparisons; and what they lack: judges, a slow run, triggers."""
    names = ("tdd-workspace", "skill-creator-workspace")
    ws = sen.load([ROOT / "data" / name for name in names])
    noise = random.Random(1)
    slow = [{"time_seconds": 20.0 + at % 5} for at in range(11)] + [{"time_seconds": 900.0}]
    scores = [
        {"eval_id": str(at), "run_number": 1, "judge_model": judge, "dimension": "clarity"}
        | {"configuration": "with_skill", "score": float(noise.randint(1, 5))}
        for at in range(6)
        for judge in ("one", "other")
    ]
    asked = [
        {**KEYS, "query": f"query {at}", "should_trigger": at % 2 == 0, "runs": 3}
        | {"triggered": noise.randint(0, 3) * (at < 8), "skill": "st"[at // 8]}
        for at in range(16)
    ]
    more = {"runs": runs_table(slow), "rubric_scores": scores_table(scores)}
    more |= {"triggers": table_of("triggers", asked)}
    tables = {one: ws.polars(one) for one in TABLES}
    tables |= {one: pl.concat([tables[one], rows]) for one, rows in more.items()}
    return Workspace.from_tables(tables)


@pytest.mark.parametrize("name", stats.__all__)
def test_any_kind_of_tables_in_any_order_gets_the_same_answer_in_its_kind(
    name: str, bundled: Workspace
) -> None:
    given = {"looks": (2, 4)} if name == "sequential" else {}
    statistic: Callable[[Any], Any] = partial(getattr(stats, name), **given)
    expected = plain(statistic(bundled))
    assert expected
    tables = {one: bundled.polars(one) for one in TABLES}
    shuffled = {
        one: table
        if one in ("stated", "triggers")
        else table.sample(fraction=1.0, shuffle=True, seed=7)
        for one, table in tables.items()  # these answers have the rows of a file
    }
    for backend, given in (("pandas", tables), ("polars", shuffled)):
        found = statistic(Workspace.from_tables(given, backend=backend))
        assert isinstance(found, pd.DataFrame) == (backend == "pandas")
        for row, wanted in zip(plain(found), expected, strict=True):
            assert row == {key: _near(value) for key, value in wanted.items()}


def test_a_path_is_refused_with_what_loads_it() -> None:
    for ask in (
        stats.deltas,
        sen.gate,
        sen.charts.forest,
        partial(sen.report.write_report, folder=""),
    ):
        with pytest.raises(TypeError, match=r"skill_eval_nb\.load\('mine'\)"):
            ask("mine")


def test_equal_questions_to_a_workspace_are_worked_out_once(bundled: Workspace) -> None:
    ws = Workspace.from_tables({one: bundled.polars(one) for one in TABLES}, backend="pandas")
    first = stats.deltas(ws, cluster={"late-fee": "dates"})
    expected = first.copy()
    first["estimate"] = 0.0  # pandas tables are whose they are given to
    again = stats.deltas(ws, "pass_rate", None, scope="suite", cluster={"late-fee": "dates"})
    pd.testing.assert_frame_equal(again, expected)
    stats.notes(ws)
    known = len(ws.figures)
    for scope in ("suite", "population"):  # which the notes rest on
        stats.deltas(ws, scope=scope)
    assert len(ws.figures) == known
    for how in ({"level": 0.9}, {"worth": 0.1}, {"metric": ["pass_rate"]}, {"other_checks": True}):
        stats.deltas(ws, **how)
        assert len(ws.figures) > known
        known = len(ws.figures)


def _near(value: Any) -> Any:
    return pytest.approx(value, rel=1e-9, abs=1e-12) if isinstance(value, float) else value


# ── models ─────────────────────────────────────────────────────────────────────────────────────

WORLDS = {
    # what tells the runs apart: for each of two that, and the pass rates of both sides
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
    return {key: _near(value) for key, value in row.items() if key not in WORDS}
