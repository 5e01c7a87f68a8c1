"""A page of many metrics keeps its promise as a whole."""

import numpy as np
import polars as pl
from scipy import stats

from bench.calibrate import pages as calibrate
from skill_eval_nb import load
from skill_eval_nb.charts import forest
from skill_eval_nb.report.measured import measure, slices
from skill_eval_nb.stats import deltas, deltas_by_dimension
from skill_eval_nb.stats.overview import overview, overview_by_eval
from skill_eval_nb.stats.values import headline_of, metrics_of
from skill_eval_nb.tables import Workspace
from skill_eval_nb.widgets.explore import explore
from tests.charts.specs import rows_of
from tests.checkout import ROOT
from tests.widgets.trees import text

PAGES, EVALS, RUNS = 40, 6, 3
CLAIMS = ("helps", "hurts")


def pages(size, n=EVALS, k=RUNS, effect=0.0):
    return calibrate.pages(size, n, k, effect, np.random.default_rng(1))


def test_hardly_a_page_has_a_false_word_where_nothing_differs():
    ws = pages(PAGES)
    alone, found = set(), set()
    for metric in metrics_of(ws):
        for scope in ("suite", "population"):
            rows = deltas(ws, metric, scope=scope)
            alone |= set(rows.filter(pl.col("verdict").is_in(CLAIMS))["iteration"])
    for row in overview(ws):
        claims = row["verdict"] in CLAIMS
        assert claims <= (row["low"] is None or not row["low"] <= 0 <= row["high"])
        if claims:
            found.add(row["iteration"])
    most = stats.binom.ppf(0.99, PAGES, 0.05)
    assert len(found) <= most < len(alone) / 2


def test_what_the_skill_does_take_is_still_seen_on_every_page_alike():
    ws = pages(1, n=8, effect=0.6)
    rows = {(row["metric"], row["scope"]): row for row in overview(ws)}
    assert rows["tokens", "suite"]["verdict"] == "hurts"
    assert rows["tokens", "suite"]["level"] == 0.99
    assert rows["pass_rate", "suite"]["level"] == 0.95
    own = measure(ws, slices(ws)[0]).deltas["with_skill", "tokens"]
    panel = explore(ws, metric="tokens")
    assert panel.settle()
    shown = text(panel._tree)
    assert own["reason"] == rows["tokens", "suite"]["reason"]
    assert own["reason"] in shown
    assert "uses more tokens" in shown
    assert "The pass rate is the headline." in shown
    assert "hurts" not in shown


def test_evals_of_all_other_metrics_are_adjusted_together():
    ws = pages(1, k=6, effect=0.6)
    rows = overview_by_eval(ws)
    assert {row["level"] for row in rows if row["metric"] == "pass_rate"} == {0.95}
    p = [row["p"] for row in rows if row["metric"] != "pass_rate" and row["p"] is not None]
    adjusted = [
        row["p_adjusted"] for row in rows if row["metric"] != "pass_rate" and row["p"] is not None
    ]
    assert np.allclose(adjusted, stats.false_discovery_control(p))


def test_where_there_is_no_pass_rate_the_first_figure_is_the_headline():
    runs = pages(1).polars("runs").with_columns(pass_rate=pl.lit(None, pl.Float64))
    ws = Workspace.from_tables({"runs": runs})
    assert headline_of(metrics_of(ws)) == "structural_pass_rate"
    levels = {row["metric"]: row["level"] for row in overview(ws)}
    assert (levels["structural_pass_rate"], levels["tokens"]) == (0.95, 0.99)
    assert overview(Workspace.from_tables({})) == []


def test_a_dimension_has_one_verdict_wherever_it_is_shown():
    ws = load(ROOT / "data" / "tdd-workspace")
    found = {
        (row["iteration"], row["configuration"], row["metric"], scope): row
        for scope in ("suite", "population")
        for row in deltas_by_dimension(ws, scope=scope).drop("dimension").to_dicts()
    }
    page = [row for row in overview(ws) if row["metric"].startswith("rubric:")]
    assert len(page) == len(found) > 0
    for row in page:
        assert found[row["iteration"], row["configuration"], row["metric"], row["scope"]] == row
    for slice_ in slices(ws):
        for key, own in measure(ws, slice_).deltas.items():
            assert found.get((slice_.iteration, *key, "suite"), own) == own
        for row in rows_of(forest(ws, by="dimension", iteration=slice_.iteration), "verdict"):
            place = (slice_.iteration, "with_skill", f"rubric:{row['label']}", "suite")
            assert row["verdict"] == found[place]["verdict"]
