"""What other rooms may rely on: the names, the weight of the import, the kinds of tables."""

import random
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import pandas as pd
import polars as pl
import pytest

import skill_eval_nb as sen
from skill_eval_nb import stats
from skill_eval_nb.tables import TABLES, Workspace
from tests.checkout import ROOT
from tests.stats.made import KEYS, plain, runs_table, scores_table, table_of


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
