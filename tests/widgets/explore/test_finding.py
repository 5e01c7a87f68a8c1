"""Runs that are searched for, in the page and in Python, and what is taken away of them."""

from __future__ import annotations

import csv
import io

import polars as pl
import pytest

import skill_eval_nb as sen
from skill_eval_nb import stats
from skill_eval_nb.widgets.ui import read_blob
from skill_eval_nb.widgets.ui.source import key_of
from tests.charts.worlds import run_keys, workspace
from tests.widgets.explore.made import TDD, after, bundled, explorer
from tests.widgets.hostile import TEXTS
from tests.widgets.trees import elements

RUNS = bundled().runs.filter(iteration="iteration-2")


def test_a_condition_selects_the_runs_that_are_listed_and_no_figure():
    panel = explorer(where=pl.col("tokens") > 20_000)
    assert set(panel.selection["path"]) == set(RUNS.filter(RUNS["tokens"] > 20_000)["path"])
    assert panel._tree[0][2][2] == explorer()._tree[0][2][2]  # the verdict and the means
    with pytest.raises(ValueError, match="no condition on runs"):
        explorer(where="tokens + 1")


def test_csv_has_every_run_that_is_found_as_it_is():
    keys = [
        run_keys(eval_id=str(at), eval_name=text, configuration=side)
        for at, text in enumerate([*TEXTS, "=1+1", 'a "b", c', "-5"])
        for side in ("with_skill", "without_skill")
    ]
    rows = [one | {"path": str(at), "status": "graded"} for at, one in enumerate(keys)]
    panel = explorer(workspace(runs=rows))
    after(panel, "find", "Side", "with_skill")
    blob = next(
        one[1]["blob"] for one in elements(panel._tree) if one[1].get("download") == "runs.csv"
    )
    data, kind = read_blob(blob)
    assert kind == "text/csv"
    read = list(csv.DictReader(io.StringIO(data.decode(), newline="")))
    assert [row["eval_name"] for row in read] == list(panel.selection["eval_name"])
    assert {row["configuration"] for row in read} == {"with_skill"}
    assert data.startswith(b"workspace,")
    assert data.endswith(b"\r\n")


@pytest.mark.parametrize(
    ("tab", "column", "wanted"),
    [
        ("evals", "estimate", stats.deltas_by_eval(bundled())),
        ("checks", "pass_rate", stats.discrimination(bundled())),
    ],
)
def test_csv_of_figures_has_what_the_statistics_say(tab, column, wanted):
    panel = explorer()
    after(panel, "see", "tab", tab)
    (blob,) = (
        one[1]["blob"] for one in elements(panel._tree) if one[1].get("download") == f"{tab}.csv"
    )
    read = csv.DictReader(io.StringIO(read_blob(blob)[0].decode(), newline=""))
    own = wanted.filter(iteration="iteration-2")[column].drop_nulls()
    found = [float(row[column]) for row in read if row[column]]
    assert sorted(found) == pytest.approx(sorted(own))


def test_one_run_is_shown_by_the_line_that_is_copied():
    run = bundled().runs.row(7, named=True)
    panel = sen.show(bundled(), tuple(key_of(run)))
    code = next(one[1]["copies"] for one in elements(panel._tree) if "copies" in one[1])
    assert code == f"sen.show({str(TDD)!r}, {run['path']!r})"
    assert eval(code, {"sen": sen}).key == panel.key
    with pytest.raises(ValueError, match=f"Did you mean `{run['path']}`"):
        sen.show(bundled(), run["path"] + "0")
