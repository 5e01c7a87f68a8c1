"""A page of many metrics keeps its promise as a whole, and so do planned looks."""

from __future__ import annotations

from itertools import product
from math import comb
from typing import Any

import numpy as np
import pytest
from scipy import stats

import skill_eval_nb as sen
from bench.calibrate import pages as calibrate
from skill_eval_nb.charts import forest
from skill_eval_nb.report.measured import list_slices, measure
from skill_eval_nb.stats import deltas_by_dimension
from skill_eval_nb.stats.overview import answer_headline, overview, overview_by_eval
from tests.charts.specs import rows_of
from tests.checkout import ROOT
from tests.stats.made import SIDES, Row, doubled_tail, every_deal, plain, runs_table, two_sides

PAGES = 40
CLAIMS = ("helps", "hurts")


def pages(size, n=6, k=3, effect=0.0):
    return calibrate.pages(size, n, k, effect, np.random.default_rng(1))


def test_what_the_skill_does_take_is_still_seen_on_every_page_alike():
    ws = pages(1, n=8, effect=0.6)
    rows = {(row["metric"], row["scope"]): row for row in overview(ws)}
    assert rows["tokens", "suite"]["verdict"] == "hurts"
    assert rows["tokens", "suite"]["level"] == 0.99
    assert rows["pass_rate", "suite"]["level"] == 0.95
    own = measure(ws, list_slices(ws)[0]).deltas["with_skill", "tokens"]
    assert own["reason"] == rows["tokens", "suite"]["reason"]


def test_the_answer_calls_its_metric_by_its_name():
    runs = [{"run_number": 1, "rubric_normalized": 0.5} | {"configuration": side} for side in SIDES]
    [answer] = answer_headline(sen.from_table([{"eval_id": "1"} | run for run in runs]))
    assert answer.claims[0].reason.startswith("Rubric weighted mean: 0")


def test_a_verdict_on_other_tasks_is_not_followed_by_a_lean_on_these_evals():
    rates = dict(zip(SIDES, (1.0, 0.5), strict=True))
    runs = [
        {"eval_id": f"{at}", "configuration": side, "run_number": 1, "pass_rate": rates[side]}
        for at, side in product(range(6), SIDES)
    ]
    [answer] = answer_headline(sen.from_table(runs))
    answer = answer._replace(lean="It leans up.")
    assert answer.short.startswith("with_skill helps on tasks like these. Pass rate: +50 pp")
    these_first = answer._replace(claims=answer.claims[::-1])
    assert these_first.short.endswith("on these 6 evals. It leans up.")


def test_evals_of_all_other_metrics_are_adjusted_together():
    ws = pages(1, k=6, effect=0.6)
    rows = overview_by_eval(ws)
    assert {row["level"] for row in rows if row["metric"] == "pass_rate"} == {0.95}
    others = [row for row in rows if row["metric"] != "pass_rate" and row["p"] is not None]
    expected = stats.false_discovery_control([row["p"] for row in others])
    assert np.allclose([row["p_adjusted"] for row in others], expected)


def test_a_dimension_has_one_verdict_wherever_it_is_shown():
    ws = sen.load(ROOT / "data" / "tdd-workspace")
    found = {
        (row["iteration"], row["configuration"], row["metric"], scope): row
        for scope in ("suite", "population")
        for row in deltas_by_dimension(ws, scope=scope).drop("dimension").to_dicts()
    }
    page = [row for row in overview(ws) if row["metric"].startswith("rubric:")]
    assert len(page) == len(found) > 0
    for row in page:
        assert found[row["iteration"], row["configuration"], row["metric"], row["scope"]] == row
    for slice_ in list_slices(ws):
        for row in rows_of(forest(ws, by="dimension", iteration=slice_.iteration), "verdict"):
            place = (slice_.iteration, "with_skill", f"rubric:{row['label']}", "suite")
            assert row["verdict"] == found[place]["verdict"]


# ── planned looks ──────────────────────────────────────────────────────────────────────────────

LOOKS = (2, 4, 6, 10)


def rates(seed: int, gain: float, evals: int, k: int = 10) -> list[Row]:
    """Runs of which all figures differ, so that no arrangement ties with another."""
    rng = np.random.default_rng(seed)
    own, other = rng.uniform(0.2, 0.7, (2, evals, k)).round(3)
    return two_sides(lambda at, run: own[at, run] + gain, lambda at, run: other[at, run], evals, k)


PLAIN = (0.005, 0.010, 0.015, 0.020)
CASES: dict[str, tuple[list[Row], tuple[Any, ...], tuple[Any, ...]]] = {
    # what is plain is decided at once, and nothing is looked at afterwards
    "at once": (rates(1, 0.5, 4), (0.005, None, None, None), ("helps", None, None, None)),
    "worse": (rates(1, -0.5, 4), (0.005, None, None, None), ("hurts", None, None, None)),
    # 2 / 6^3 = .009 is above .005, which the look at 4 runs has as well
    "passed on": (rates(1, 0.5, 3), (0.005, 0.015, None, None), ("too few runs", "helps")),
    "nothing": (rates(3, 0.0, 4), PLAIN, ("unclear",) * 4),
    # the seventh run of an eval is not there, and so the look at 10 runs is not reached
    "begun": (
        [row for at, row in enumerate(rates(3, 0.0, 4)) if at % 10 < 6 or at >= 10],
        (*PLAIN[:3], None),
        ("unclear",) * 3,
    ),
    # what is the same on both sides cannot be told apart: all is left for the last look
    "ties": (
        two_sides(0.5, 0.5, 4, 10),
        (0.005, 0.015, 0.03, 0.05),
        ("too few runs",) * 4,
    ),
}


def enumerated(rows: list[Row], runs: int) -> float:
    """The doubled smaller tail of all labels of the first runs, counted one by one."""
    sides: dict[tuple[str, str], list[float]] = {}
    for row in rows:
        sides.setdefault((row["eval_id"], row["configuration"]), []).append(row["pass_rate"])
    evals = {eval_id for eval_id, _ in sides}
    first = [tuple(sides[one, side][:runs] for side in SIDES) for one in evals]
    return doubled_tail(every_deal(first))


@pytest.mark.parametrize("case", CASES)
def test_each_look_is_held_to_its_part_and_what_was_decided_first_stands(case: str) -> None:
    rows, alphas, verdicts = CASES[case]
    found = plain(sen.stats.sequential(runs_table(rows), LOOKS))
    assert [row["look"] for row in found] == list(LOOKS)
    assert [row["alpha"] for row in found] == pytest.approx(list(alphas), nan_ok=True)
    said = [row["verdict"] for row in found]
    assert said == [*verdicts, *[None] * 4][:4]
    assert [row["decides"] for row in found] == [one and one in ("helps", "hurts") for one in said]
    for row in found:
        if row["verdict"] is None:
            why = "Decided at" if "helps" in verdicts or "hurts" in verdicts else "Not reached"
            assert why in row["reason"]
            assert row["p"] is row["estimate"] is row["low"] is None
        elif comb(2 * row["look"], row["look"]) ** row["n_evals"] < 1e6:
            assert row["p"] == pytest.approx(enumerated(rows, row["look"]))
        if row["p"] is not None:
            assert row["n_runs"] == row["n_runs_baseline"] == row["n_evals"] * row["look"]
        if row["low"] is not None:  # the interval is that of the look
            assert (row["low"] > 0 or row["high"] < 0) == (row["p"] <= row["alpha"])


@pytest.mark.parametrize(
    ("evals", "looks", "why"),
    [
        (3, None, "no looks were planned"),
        (3, (), "two or more increasing numbers"),
        (3, (10,), "two or more increasing numbers"),
        (3, (4, 2), "two or more increasing numbers"),
        (3, (2, 2.5), "two or more increasing numbers"),
        (3, (0, 4), "two or more increasing numbers"),
        (3, (1, 10), r"of 3 evals with 1 run per side the least p is 1, and 0.0167 is required"),
        (1, (2, 3), r"of 1 eval with 2 runs per side the least p is 0.333"),
    ],
)
def test_looks_that_could_not_decide_are_refused_with_the_reason(evals, looks, why) -> None:
    """The parts of any number of looks are as one, two, three."""
    found = sen.stats.sequential(runs_table(rates(3, 0.0, 6)), (3, 5, 10), level=0.9)
    assert found["alpha"].to_list() == pytest.approx([0.1 / 6, 0.2 / 6, 0.3 / 6])
    with pytest.raises(ValueError, match=why):
        sen.stats.sequential(runs_table(rates(0, 0.2, evals)), looks)


def test_hardly_a_page_has_a_false_word_where_nothing_differs():
    """One by one, two fifths of them would have one."""
    claims = [row for row in overview(pages(PAGES)) if row["verdict"] in CLAIMS]
    assert len({row["iteration"] for row in claims}) <= stats.binom.ppf(0.99, PAGES, 0.05)
    assert all(row["low"] is None or not row["low"] <= 0 <= row["high"] for row in claims)
