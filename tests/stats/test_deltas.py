from __future__ import annotations

import math
import random
from itertools import combinations, permutations, product
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import false_discovery_control

from skill_eval_nb.stats import deltas, deltas_by_eval
from skill_eval_nb.stats.pairing import choose_baseline
from skill_eval_nb.tables.columns import to_pandas
from tests.stats.made import (
    SIDES,
    Row,
    doubled_tail,
    every_deal,
    every_flip,
    examples,
    near,
    pair,
    plain,
    run_rows,
    runs_table,
    two_sides,
    world,
)

COLUMNS = """workspace skill iteration executor_model harness configuration baseline metric
scope estimate low high p mde mde_twice_evals mde_twice_runs worth level
weighted verdict reason warnings verdict_with_errors estimate_with_errors
lean lean_low lean_high lean_p improved next_step next_runs stand_in
n_evals n_runs n_runs_baseline n_errored n_errored_baseline n_unscored
n_unscored_baseline n_unpaired unpaired""".split()


def test_by_hand_with_what_is_left_out() -> None:
    """Runs of an eval are averaged first; the third lacks its baseline, the fourth errored."""
    evals = {
        "1": ((1.0, 1.0, 0.25), (0.25,)),
        "2": ((0.5,), (0.5, 0.0)),
        "10": ((1.0,), ()),
        "11": ((None,), (0.5,)),
    }
    rows = [row for name, both in evals.items() for row in pair(*both, eval_id=name)]
    rows.append({"configuration": SIDES[1], "eval_id": "1"})  # without a figure
    found = deltas(runs_table(rows))
    assert list(found.columns) == COLUMNS
    (row,) = plain(found)
    assert (row["configuration"], row["baseline"]) == SIDES
    assert row["estimate"] == pytest.approx((0.5 + 0.25) / 2)
    assert [row[f"n_{name}"] for name in ("evals", "runs", "runs_baseline")] == [2, 4, 3]
    assert [row[f"n_{name}"] for name in ("unscored", "unscored_baseline", "errored")] == [0, 1, 1]
    assert (row["n_unpaired"], row["unpaired"]) == (2, ["10", "11"])
    names = ("eval_id", "mean", "baseline_mean", "estimate", "n_runs", "n_runs_baseline")
    by_eval = plain(deltas_by_eval(runs_table(rows)))
    assert [tuple(row[name] for name in names) for row in by_eval][:3] == [
        ("1", 0.75, 0.25, 0.5, 3, 1),
        ("2", 0.5, 0.25, 0.25, 1, 2),
        ("10", 1.0, None, None, 1, 0),
    ]
    assert [row["unpaired"] for row in by_eval][:3] == [None, None, "no run of without_skill"]


@examples
@given(run_rows(figures=["pass_rate", "tokens"]), st.sampled_from(["pass_rate", "tokens"]))
def test_agrees_with_pandas_on_any_runs(rows: list[Row], metric: str) -> None:
    rows = [*rows, {"iteration": "other", "configuration": SIDES[1]}]
    table = to_pandas(runs_table(rows)).astype({metric: float})
    means = table.groupby(["iteration", "eval_id", "configuration"])[metric].mean().unstack()
    evals = table.groupby("iteration")["eval_id"].nunique()
    apart = means.sub(means[SIDES[1]], axis=0)
    sides = table.groupby(["iteration", "configuration"]).groups
    expected = {key: apart.loc[key[0], key[1]].dropna() for key in sides if key[1] != SIDES[1]}
    found = {
        (row["iteration"], row["configuration"]): row
        for row in plain(deltas(runs_table(rows), metric, baseline=SIDES[1]))
    }
    assert set(found) == set(expected)
    for key, differences in expected.items():
        row = found[key]
        assert row["n_evals"] == len(differences)
        assert row["n_evals"] + row["n_unpaired"] == evals[key[0]]
        assert near([row["estimate"]], [differences.mean()])


def test_a_verdict_on_an_eval_rests_on_its_p_adjusted_as_scipy_does() -> None:
    """4 against 4 runs give p = 2 / 70: enough for one question, and never for 41."""
    clear, flat = pair([1.0, 1.0, 1.0, 0.9], [0.0, 0.1, 0.0, 0.0]), [0.5] * 4
    single = pair([0.7], [0.1], eval_id="alone")
    for others, word in ((0, "helps"), (40, "too few runs")):
        rows = clear + single + [row | {"iteration": "iteration-2"} for row in clear]
        rows += [row for at in range(others) for row in pair(flat, flat, eval_id=f"e{at}")]
        *found, later = plain(deltas_by_eval(runs_table(rows)))
        assert (later["iteration"], later["p_adjusted"]) == ("iteration-2", later["p"])
        p = [row["p"] for row in found if row["p"] is not None]
        adjusted = [row["p_adjusted"] for row in found if row["p"] is not None]
        assert adjusted == pytest.approx(false_discovery_control(p))
        (row,) = (row for row in found if row["eval_id"] == "1")
        assert row["p"] == pytest.approx(2 / 70)
        assert (row["verdict"], row["low"] > 0) == (word, word == "helps")
        (row,) = (row for row in found if row["eval_id"] == "alone")
        assert (row["p"], row["p_adjusted"]) == (None, None)


METRICS = ["pass_rate", "tokens"]


@pytest.mark.parametrize(("scope", "evals", "k"), [("suite", 2, 3), ("population", 7, 1)])
def test_several_metrics_are_adjusted_as_westfall_and_young_have_it(scope, evals, k) -> None:
    """All ways to deal the labels out inside evals, for all metrics at once; a run lacks one."""
    noise = random.Random(4)
    rows = two_sides(lambda at, _: noise.random() + 0.1 * at, lambda *_: noise.random(), evals, k)
    rows = [row | {"tokens": noise.randrange(140)} for row in rows]
    rows[1]["tokens"] = None if scope == "suite" else 7
    each: dict[tuple[str, str], list[list[float]]] = {}
    for row in rows:
        figures = [math.nan if row[name] is None else row[name] for name in METRICS]
        each.setdefault((row["eval_id"], row["configuration"]), []).append(figures)

    def deal_labels(name: str) -> list[Any]:
        pool = np.array([*each[name, SIDES[0]], *each[name, SIDES[1]]])
        chosen = map(list, combinations(range(2 * k), k))
        both = ((pool[own], np.delete(pool, own, axis=0)) for own in chosen)
        return [np.nanmean(one, axis=0) - np.nanmean(other, axis=0) for one, other in both]

    dealt = np.array([sum(own) for own in product(*map(deal_labels, map(str, range(evals))))])
    sizes = abs(dealt).round(12)
    smallest = np.min([[np.mean(own >= size) for size in own] for own in sizes.T], axis=0)
    for row in plain(deltas(runs_table(rows), METRICS, scope=scope)):
        expected = np.mean(smallest <= row["p"] + 1e-9)
        drawn = 0.02 if scope == "suite" else 1e-9  # of these evals 5,000 deals are drawn
        assert row["p_adjusted"] == pytest.approx(max(row["p"], expected), abs=drawn)
        assert row["p"] <= row["p_adjusted"] <= 2 * row["p"]


# A hard eval, which weighs much, gains nothing; two belong together.
SUITE = two_sides(lambda at, _: (0.5, 0.8, 0.7, 0.9, 0.8, 0.7, 0.6, 0.9)[at], 0.5, k=2)


def _suite(**columns: list[Any]) -> Any:
    """SUITE with a table of its evals."""
    evals = [
        {"eval_id": str(at), "eval_name": str(at)}
        | {name: own[at] for name, own in columns.items()}
        for at in range(8)
    ]
    return world(SUITE, evals=evals)


def test_evals_weigh_as_their_suite_says_where_that_is_asked_for() -> None:
    ws = _suite(weight=[10.0, *[1.0] * 6, 0.0])
    (plainly,) = plain(deltas(ws))
    assert (plainly["estimate"], plainly["weighted"]) == (pytest.approx(1.9 / 8), False)
    for scope in ("suite", "population"):
        (row,) = plain(deltas(ws, weights=True, scope=scope))
        assert (row["estimate"], row["weighted"]) == (pytest.approx(1.5 / 16), True)
        assert (row["n_evals"], row["unpaired"]) == (7, ["7"])
        assert "weighted" in row["reason"]
    assert plain(deltas(_suite(weight=[2.0] * 8), weights=True)) == [plainly]
    (own,) = plain(deltas(runs_table(SUITE).with_columns(weight=2.0), weights=True))
    assert own["estimate"] == plainly["estimate"]
    with pytest.raises(ValueError, match="no column of evals `weight`"):
        deltas(runs_table(SUITE), weights=True)


def test_families_of_evals_are_counted_as_one() -> None:
    tags = [["a"], ["a", "b"], ["b"], ["c"], ["c"], [], ["d"], ["e"]]
    named = dict(zip("01234567", "aaaccfde", strict=True))
    ws = _suite(tags=tags)
    rows = [
        plain(deltas(data, scope="population", cluster=cluster))[0]
        for data, cluster in (
            (ws, "tags"),
            (ws, named),
            (runs_table(SUITE).with_columns(pl.col("eval_id").replace(named).alias("kin")), "kin"),
        )
    ]
    assert rows[0] == rows[1] == rows[2]
    assert rows[0]["verdict"] == "too few evals"
    assert "on 8 evals in 5 families: 5 of 5 families differ" in rows[0]["reason"]
    (alone,) = plain(deltas(ws, scope="population"))
    assert (alone["verdict"], alone["p"]) == ("helps", 2 / 2**7)
    (these,) = plain(deltas(ws, cluster="tags"))
    assert these == plain(deltas(ws))[0], "runs of these evals are no kin"
    with pytest.raises(ValueError, match="no eval `9`"):
        deltas(ws, cluster={"9": "a"})


# ── sides ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("configurations", "baseline"),
    [
        (["with_skill", "without_skill"], "without_skill"),
        (["with_skill", "old_skill"], "old_skill"),
        (["with_skill", "old_skill", "without_skill"], "without_skill"),
        (["without_skill", "without_skill (iter1)", "with_skill"], "without_skill"),
        (["with_skill", "unstated"], None),
        (["with_skill", "golden", "bold"], None),
        (["a_without_skill", "b_without_skill", "with_skill"], None),
        ([], None),
    ],
)
def test_the_baseline_is_told_by_its_name_in_any_order(
    configurations: list[str], baseline: str | None
) -> None:
    answers = {choose_baseline(order) for order in permutations(configurations)}
    assert len(answers) == 1
    chosen, why = answers.pop()
    assert chosen == baseline
    assert bool(why) == (baseline is None)


# ── models ─────────────────────────────────────────────────────────────────────────────────────

LARGE, SMALL = "large", "small"


def runs(model: str | None, own: Any, other: Any, evals: int = 8, k: int = 3) -> list[Row]:
    """Runs of both sides by a model."""
    rows = two_sides(own, other, evals, k, executor_model=(model, model))
    return [row | {"tokens": 1000 + 10 * (at % k)} for at, row in enumerate(rows)]


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        (runs(SMALL, 0.5, None), {LARGE: 8, SMALL: 0}),
        # beside one stated model alone, runs that state none are taken for its
        (runs(None, 0.5, 0.25, evals=10), {LARGE: 10}),
        (runs(None, 0.5, 0.25) + runs(SMALL, 0.5, 0.5), {LARGE: 8, SMALL: 8, None: 8}),
        (runs(SMALL, 0.5, None) + runs(None, None, 0.5), {LARGE: 8, SMALL: 0, None: 0}),
        (runs(SMALL, 0.5, 0.5, evals=3), {LARGE: 8, SMALL: 3}),
    ],
)
def test_no_run_goes_without_a_row_and_a_reason(more, expected) -> None:
    rows = runs(LARGE, 1.0, 0.5) + more
    found = plain(deltas(runs_table(rows)))
    assert {row["executor_model"]: row["n_evals"] for row in found} == expected
    assert all("no run of" in row["reason"] for row in found if not row["n_evals"])
    counted = plain(deltas_by_eval(runs_table(rows)))
    assert sum(row["n_runs"] + row["n_runs_baseline"] for row in counted) == len(rows)


def test_the_mean_over_models_of_these_evals_deals_labels_inside_eval_and_model() -> None:
    cells = {
        ("1", LARGE): ((1.0, 0.75), (0.25, 0.5)),
        ("1", SMALL): ((0.25, 0.0, 0.75), (0.5, 0.5, 1.0)),
        ("2", LARGE): ((1.0, 0.5), (0.0, 0.75)),
        ("2", SMALL): ((0.5, 0.25, 0.0), (0.75, 0.25, 0.25)),
    }
    rows = [
        row
        for (eval_id, model), sides in cells.items()
        for row in pair(*sides, eval_id=eval_id, executor_model=model)
    ]
    (row,) = plain(deltas(runs_table(rows), pool="model"))
    dealt = every_deal([*cells.values()], [0.25] * 4)
    assert row["estimate"] == pytest.approx(dealt[0])
    assert row["p"] == pytest.approx(doubled_tail(dealt))
    assert (row["executor_model"], row["n_evals"], row["n_runs"]) == (None, 2, 10)
    assert "on these 2 evals" in row["reason"]
    assert row["warnings"][0].endswith("equally weighted: large +43.8 pp; small −25 pp.")
    opposite = runs(LARGE, 1.0, 0.0, evals=6) + runs(SMALL, 0.0, 0.5, evals=6)
    (of_both,) = plain(deltas(runs_table(opposite), pool="model"))
    said = "large +100 pp; small −50 pp. Their signs differ"
    assert said in of_both["reason"]
    assert said in " ".join(of_both["warnings"])
    by_eval = plain(deltas_by_eval(runs_table(rows), pool="model"))
    of_each = [every_deal([sides], [0.5])[0] for sides in cells.values()]
    expected = [of_each[0] + of_each[1], of_each[2] + of_each[3]]
    assert [one["estimate"] for one in by_eval] == pytest.approx(expected)


def test_the_mean_over_models_of_tasks_like_these_flips_signs_of_evals_that_each_has() -> None:
    """Else it would be of other evals for the one model than for the other; and runs count once."""
    draw = random.Random(1)
    rate = lambda more: lambda *_: draw.choice((0.0, 0.25, 0.5)) + more  # noqa: E731
    rows = runs(LARGE, rate(0.3), rate(0.0), evals=9, k=1) + runs(SMALL, rate(0.2), rate(0.0), 7)
    rows += runs("alone", 0.5, None)
    (row,) = plain(deltas(runs_table(rows), scope="population", pool="model"))
    means = to_pandas(runs_table(rows)).pivot_table(
        "pass_rate", ["eval_id", "executor_model"], "configuration"
    )
    d = (means[SIDES[0]] - means[SIDES[1]]).loc[list("0123456")].groupby("eval_id").mean() / 7
    assert row["estimate"] == pytest.approx(d.sum())
    assert row["p"] == pytest.approx(doubled_tail(every_flip([*d])))
    assert (row["n_evals"], row["unpaired"], row["executor_model"]) == (7, ["7", "8"], None)
    assert row["warnings"][-1] == "Left out for lack of a pair: alone."
    with pytest.raises(ValueError, match=r"no pool `models`\. Did you mean `model`"):
        deltas(runs_table(rows), pool="models")
