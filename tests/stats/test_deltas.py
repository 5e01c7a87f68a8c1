from __future__ import annotations

import random
from itertools import product
from math import nan
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import false_discovery_control

from skill_eval_nb.stats import deltas, deltas_by_dimension, deltas_by_eval, notes, summarize
from skill_eval_nb.stats.values import RUN
from skill_eval_nb.tables import Workspace
from skill_eval_nb.tables.frames import to_pandas
from tests.stats.dealt import doubled_tail, every_deal, every_flip
from tests.stats.made import (
    KEYS,
    SIDES,
    Row,
    examples,
    kinds,
    near,
    plain,
    run_rows,
    runs_table,
    scores_table,
    table_of,
    two_sides,
    workspace,
)

COLUMNS = """workspace skill iteration executor_model harness configuration baseline metric
scope estimate low high p mde mde_twice_evals mde_twice_runs worth level
weighted verdict reason warnings verdict_with_errors estimate_with_errors
lean lean_low lean_high lean_p improved next_step next_runs stand_in
n_evals n_runs n_runs_baseline n_errored n_errored_baseline n_unscored
n_unscored_baseline n_unpaired unpaired""".split()
# Three evals; the third lacks its baseline. d = 0.5, 0.25; runs of an eval are averaged first.
RUNS = [
    {"eval_id": eval_id, "configuration": side, "pass_rate": rate}
    for eval_id, own, other in (
        ("1", (1.0, 1.0, 0.25), (0.25, None)),
        ("2", (0.5,), (0.5, 0.0)),
        ("10", (1.0,), ()),
    )
    for side, rates in zip(SIDES, (own, other), strict=True)
    for rate in rates
]


def _scored(rows: list[Row], dimension: str, column: str = "pass_rate") -> list[Row]:
    table = runs_table(rows).to_dicts()
    return [
        {key: row[key] for key in RUN} | {"dimension": dimension, "score": row[column]}
        for row in table
    ]


@pytest.mark.parametrize("kind", kinds([]))
def test_by_hand_in_every_kind(kind: str) -> None:
    data = kinds(RUNS)[kind]
    found = deltas(data)
    assert list(found.columns) == COLUMNS
    (row,) = plain(found)
    assert (row["configuration"], row["baseline"]) == SIDES
    assert row["estimate"] == pytest.approx((0.5 + 0.25) / 2)
    assert (row["n_evals"], row["n_runs"], row["n_runs_baseline"]) == (2, 4, 3)
    assert (row["n_unscored"], row["n_unscored_baseline"]) == (0, 1)
    assert (row["n_unpaired"], row["unpaired"]) == (1, ["10"])

    names = ("eval_id", "mean", "baseline_mean", "estimate", "n_runs", "n_runs_baseline")
    by_eval = plain(deltas_by_eval(data))
    assert [tuple(row[name] for name in names) for row in by_eval] == [
        ("1", 0.75, 0.25, 0.5, 3, 1),
        ("2", 0.5, 0.25, 0.25, 1, 2),
        ("10", 1.0, None, None, 1, 0),
    ]
    assert [row["unpaired"] for row in by_eval] == [None, None, "no run of without_skill"]


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


@pytest.mark.parametrize("metric", ["clarity", "rubric:clarity"])
def test_a_rubric_dimension_is_a_metric(metric: str) -> None:
    ws = workspace(RUNS, _scored(RUNS, "clarity"))
    (row,) = plain(deltas(ws, metric))
    (same,) = plain(deltas(ws))
    assert row["metric"] == "rubric:clarity"
    other = {name for name in COLUMNS if row[name] != same[name]}
    assert {"metric", "worth", "reason"} <= other <= {"metric", "worth", "reason", "high", "mde"}


def both(own: list[Any], other: list[Any], **more: Any) -> list[Row]:
    """Runs of an eval on both sides."""
    return [
        {"configuration": name, "pass_rate": rate} | more
        for name, rates in zip(SIDES, (own, other), strict=True)
        for rate in rates
    ]


def test_runs_are_those_of_paired_evals_and_losses_those_of_all() -> None:
    rows = both([1.0, 0.5], [0.0]) + both([1.0, 1.0, 1.0], [None], eval_id="2")
    rows += both([None], [0.5], eval_id="3", status="errored")
    (row,) = plain(deltas(runs_table(rows)))
    counts = [row[f"n_{name}{end}"] for name in ("runs", "unscored") for end in ("", "_baseline")]
    assert counts == [2, 1, 0, 1]
    assert (row["n_errored"], row["unpaired"]) == (1, ["2", "3"])


def test_a_verdict_on_an_eval_rests_on_its_p_adjusted_as_scipy_does() -> None:
    """4 against 4 runs give p = 2 / 70: enough for one question, and never for 41."""
    clear, flat = both([1.0, 1.0, 1.0, 0.9], [0.0, 0.1, 0.0, 0.0]), [0.5] * 4
    single = both([0.7], [0.1], eval_id="alone")
    for others, word in ((0, "helps"), (40, "too few runs")):
        rows = clear + single + [row | {"iteration": "iteration-2"} for row in clear]
        rows += [row for at in range(others) for row in both(flat, flat, eval_id=f"e{at}")]
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


# Six evals, each better by a little, with three runs a side that hardly differ.
CLEAR = [
    row | {"iteration": f"iteration-{n + 1}", "pass_rate": row["pass_rate"] + 0.1 * n}
    for n in (0, 1)
    for row in two_sides(
        lambda at, run: 0.3 + at / 10 + run / 50, lambda at, run: 0.1 + at / 10 + run / 50, evals=6
    )
]


def test_two_iterations_are_compared_configuration_by_configuration() -> None:
    found = plain(deltas(runs_table(CLEAR), versus=("iteration-2", "iteration-1")))
    assert [(row["iteration"], row["configuration"], row["baseline"]) for row in found] == [
        ("iteration-2", "with_skill", "iteration-1"),
        ("iteration-2", "without_skill", "iteration-1"),
    ]
    assert [row["estimate"] for row in found] == pytest.approx([0.1, 0.1])
    by_eval = plain(deltas_by_eval(runs_table(CLEAR), versus=("iteration-1", "iteration-2")))
    assert [row["estimate"] for row in by_eval] == pytest.approx([-0.1] * 12)


def test_the_verdict_on_several_dimensions_allows_for_their_number() -> None:
    rows = two_sides(lambda _, run: 3.0 + run, lambda _, run: 1.0 + run, evals=2)
    alone = plain(deltas_by_dimension(workspace(rows, _scored(rows, "d"))))
    noise = random.Random(0)
    flat = [{**row, "pass_rate": 3.0} for row in rows]
    more = [score for name in "tuvwxyz" for score in _scored(flat, name)]
    for name in "mnop":
        uneven = [{**row, "pass_rate": noise.uniform(1, 5)} for row in rows]
        more += _scored(uneven, name)
    among = plain(deltas_by_dimension(workspace(rows, [*_scored(rows, "d"), *more])))
    (row,) = alone
    (same,) = [row for row in among if row["dimension"] == "d"]
    assert row["p_adjusted"] == row["p"] == same["p"] < 0.05
    assert row["p"] < same["p_adjusted"] <= 5 * row["p"]  # what cannot move costs nothing
    assert (same["p_adjusted"] <= 0.05) == (same["low"] > 0) == (same["verdict"] == "helps")


def test_what_is_neither_better_as_more_nor_as_less_gets_no_verdict() -> None:
    rows = two_sides(1.0, 1.0, evals=6, output_chars=(20, 10), tokens=(20, 10))
    (row,) = plain(deltas(runs_table(rows), "output_chars"))
    assert (row["verdict"], row["p"] < 0.05) == (None, True)
    (row,) = plain(deltas(runs_table(rows), "tokens"))
    assert (row["verdict"], row["worth"], row["low"]) == ("hurts", 0.5, None)


DEGENERATE: dict[str, list[Row]] = {
    "every figure equal": [{**row, "pass_rate": 1.0} for row in CLEAR],
    "one eval": [row for row in CLEAR if row["eval_id"] == "1"],
    "one run": [{"configuration": "with_skill", "pass_rate": 1.0}],
    "one run a side": [{**row, "pass_rate": 0.5} for row in RUNS[2:4]],
    "one side missing": [row for row in CLEAR if row["configuration"] == "with_skill"],
    "all errored": [{**row, "pass_rate": None, "status": "errored"} for row in CLEAR],
    "beyond all bounds": [{**row, "pass_rate": row["pass_rate"] * 1e6} for row in CLEAR],
    "no numbers": [{**row, "pass_rate": nan} for row in CLEAR],
}


@pytest.mark.parametrize("scope", ["suite", "population"])
@pytest.mark.parametrize("name", DEGENERATE)
def test_degenerate_data_have_sane_answers(name: str, scope: Any) -> None:
    for row in plain(deltas(runs_table(DEGENERATE[name]), scope=scope)):
        assert row["reason"]
        assert (row["low"] is None) == (row["high"] is None)
        if row["low"] is not None:
            assert row["low"] <= row["estimate"] <= row["high"]
        if name not in ("beyond all bounds", "one eval"):
            assert row["verdict"] not in ("helps", "hurts", "no worthwhile difference")


# Eight evals: a hard one, which weighs much, gains nothing; two belong together.
SUITE = [
    {"eval_id": str(at), "configuration": name, "pass_rate": 0.5 + gain * (name == "with_skill")}
    for at, gain in enumerate((0.0, 0.3, 0.2, 0.4, 0.3, 0.2, 0.1, 0.4), 1)
    for name in ("with_skill", "without_skill")
    for _ in range(2)
]


def _suite(**columns: list[Any]) -> Any:
    """SUITE with a table of its evals."""
    names = [KEYS | {"eval_id": str(at), "eval_name": str(at)} for at in range(1, 9)]
    evals = [
        name | {column: values[at] for column, values in columns.items()}
        for at, name in enumerate(names)
    ]
    return Workspace.from_tables({"runs": runs_table(SUITE), "evals": table_of("evals", evals)})


def test_evals_weigh_as_their_suite_says_where_that_is_asked_for() -> None:
    ws = _suite(weight=[10.0, *[1.0] * 6, 0.0])
    (plainly,) = plain(deltas(ws))
    assert (plainly["estimate"], plainly["weighted"]) == (pytest.approx(1.9 / 8), False)
    for scope in ("suite", "population"):
        (row,) = plain(deltas(ws, weights=True, scope=scope))
        assert (row["estimate"], row["weighted"]) == (pytest.approx(1.5 / 16), True)
        assert (row["n_evals"], row["unpaired"]) == (7, ["8"])
        assert "weighted" in row["reason"]
    assert plain(deltas(_suite(weight=[2.0] * 8), weights=True)) == [plainly]
    (own,) = plain(deltas(runs_table(SUITE).with_columns(weight=2.0), weights=True))
    assert own["estimate"] == plainly["estimate"]
    for lacking in (runs_table(SUITE), scores_table(_scored(SUITE, "d"))):
        with pytest.raises(ValueError, match="no column of evals `weight`"):
            (deltas_by_dimension if "score" in lacking.columns else deltas)(lacking, weights=True)


def test_families_of_evals_are_counted_as_one() -> None:
    tags = [["a"], ["a", "b"], ["b"], ["c"], ["c"], [], ["d"], ["e"]]
    named = dict(zip("12345678", "aaaccfde", strict=True))
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
    assert (
        "on 8 evals in 5 families: a claim about tasks like these takes 6 families that differ"
        in rows[0]["reason"]
    )
    (alone,) = plain(deltas(ws, scope="population"))
    assert (alone["verdict"], alone["p"]) == ("helps", 2 / 2**7)
    (these,) = plain(deltas(ws, cluster="tags"))
    assert these == plain(deltas(ws))[0], "runs of these evals are no kin"
    with pytest.raises(ValueError, match="no eval `9`"):
        deltas(ws, cluster={"9": "a"})


# ── models ─────────────────────────────────────────────────────────────────────────────────────

LARGE, SMALL = "large", "small"


def noisy(seed: int, better: float) -> Any:
    """A rate with noise, always the same one."""
    drawn = random.Random(seed)
    rates = {key: drawn.choice((0.0, 0.25, 0.5)) for key in product(range(20), range(9))}
    return lambda at, run: rates[at, run] + better


def runs(model: str | None, own: Any, other: Any, evals: int = 8, k: int = 3) -> list[Row]:
    """Runs of both sides by a model."""
    rows = two_sides(own, other, evals, k, executor_model=(model, model))
    return [row | {"tokens": 1000 + 10 * (at % k)} for at, row in enumerate(rows)]


APART = runs(LARGE, 1.0, 0.0) + runs(SMALL, 0.25, 0.75)
"""What helps the one model by 100 pp and takes 50 pp from the other: +25 pp, if pooled."""


def by_model(found: Any) -> dict[tuple[str | None, str | None], Row]:
    rows = plain(found)
    named = {(row["executor_model"], row["harness"]): row for row in rows}
    assert len(named) == len(rows)
    return named


def test_each_model_has_a_row_of_its_own() -> None:
    found = by_model(deltas(runs_table(APART)))
    assert {name: (row["estimate"], row["verdict"]) for (name, _), row in found.items()} == {
        LARGE: (1.0, "helps"),
        SMALL: (-0.5, "hurts"),
    }
    assert found[LARGE, None]["reason"].startswith("large: +100 pp")
    assert found[LARGE, None]["n_runs"] == 24
    means = plain(summarize(runs_table(APART)).filter(metric="pass_rate"))
    assert [(row["executor_model"], row["mean"]) for row in means] == [
        *((LARGE, 1.0), (LARGE, 0.0), (SMALL, 0.25), (SMALL, 0.75)),
    ]
    each = plain(deltas_by_eval(runs_table(APART)))
    assert [row["estimate"] for row in each] == [1.0] * 8 + [-0.5] * 8
    told = [row["text"] for row in plain(notes(workspace(APART))) if row["kind"] == "gain and cost"]
    assert len(told) == 2


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        (runs(SMALL, 0.5, None), {LARGE: 8, SMALL: 0}),
        (runs(None, 0.5, 0.25, evals=10), {LARGE: 10}),
        (runs(None, 0.5, 0.25) + runs(SMALL, 0.5, 0.5), {LARGE: 8, SMALL: 8, None: 8}),
        (runs(SMALL, 0.5, None) + runs(None, None, 0.5), {LARGE: 8, SMALL: 0, None: 0}),
        (runs(SMALL, 0.5, 0.5, evals=3), {LARGE: 8, SMALL: 3}),
    ],
)
def test_no_run_goes_without_a_row_and_a_reason(
    more: list[Row], expected: dict[str | None, int]
) -> None:
    """A model with one side, runs that state none, models that ran other evals.

    Beside one stated model alone, runs that state none are taken for its.
    """
    rows = runs(LARGE, 1.0, 0.5) + more
    found = plain(deltas(runs_table(rows)))
    assert {row["executor_model"]: row["n_evals"] for row in found} == expected
    assert all("no run of" in row["reason"] for row in found if not row["n_evals"])
    counted = plain(deltas_by_eval(runs_table(rows)))
    assert sum(row["n_runs"] + row["n_runs_baseline"] for row in counted) == len(rows)
    summary = plain(summarize(runs_table(rows)).filter(metric="pass_rate"))
    assert sum(row["n_runs"] for row in summary) == len(rows)


def test_the_mean_over_models_of_these_evals_deals_labels_inside_eval_and_model() -> None:
    cells = {
        ("1", LARGE): ((1.0, 0.75), (0.25, 0.5)),
        ("1", SMALL): ((0.5, 0.5, 1.0), (0.25, 0.0, 0.75)),
        ("2", LARGE): ((1.0, 0.5), (0.0, 0.75)),
        ("2", SMALL): ((0.75, 0.25, 0.25), (0.5, 0.25, 0.0)),
    }
    rows = [
        row
        for (eval_id, model), sides in cells.items()
        for row in both(*sides, eval_id=eval_id, executor_model=model)
    ]
    (row,) = plain(deltas(runs_table(rows), pool="model"))
    dealt = every_deal([*cells.values()], [0.25] * 4)
    assert row["estimate"] == pytest.approx(dealt[0])
    assert row["p"] == pytest.approx(doubled_tail(dealt))
    assert (row["executor_model"], row["n_evals"], row["n_runs"]) == (None, 2, 10)
    assert "on these 2 evals" in row["reason"]
    assert row["warnings"] == [
        "The mean over 2 models, each as much: large +43.8 pp; small +25 pp."
    ]
    by_eval = plain(deltas_by_eval(runs_table(rows), pool="model"))
    of_each = [every_deal([sides], [0.5])[0] for sides in cells.values()]
    expected = [of_each[0] + of_each[1], of_each[2] + of_each[3]]
    assert [one["estimate"] for one in by_eval] == pytest.approx(expected)


def test_the_mean_over_models_of_tasks_like_these_flips_the_signs_of_evals() -> None:
    """One model has a single run a side, the other three: both count alike."""
    rows = runs(LARGE, noisy(1, 0.3), noisy(2, 0.0), evals=7, k=1)
    rows += runs(SMALL, noisy(3, 0.2), noisy(4, 0.0), evals=7)
    (row,) = plain(deltas(runs_table(rows), scope="population", pool="model"))
    means = to_pandas(runs_table(rows)).pivot_table(
        "pass_rate", ["eval_id", "executor_model"], "configuration"
    )
    d = (means[SIDES[0]] - means[SIDES[1]]).groupby("eval_id").mean() / 7
    assert row["estimate"] == pytest.approx(d.sum())
    assert row["p"] == pytest.approx(doubled_tail(every_flip([*d])))
    assert (row["n_evals"], row["executor_model"]) == (7, None)


def test_a_mean_over_models_is_of_evals_that_each_has_and_names_what_it_leaves_out() -> None:
    """Else it would be of other evals for the one model than for the other."""
    rows = runs(LARGE, noisy(1, 0.5), noisy(2, 0.0)) + runs(SMALL, noisy(3, 0.4), noisy(4, 0.0), 6)
    rows += runs("alone", 0.5, None)
    (row,) = plain(deltas(runs_table(rows), pool="model"))
    assert (row["n_evals"], row["unpaired"]) == (6, ["6", "7"])
    assert row["warnings"] == [
        "The mean over 2 models, each as much: large +48.6 pp; small +48.3 pp.",
        "Without a pair, and so left out: alone.",
    ]
    with pytest.raises(ValueError, match=r"no pool `models`\. Did you mean `model`"):
        deltas(runs_table(rows), pool="models")  # type: ignore[arg-type]


def test_several_metrics_and_dimensions_are_adjusted_over_models_together() -> None:
    rows = runs_table(APART).with_columns(tokens=pl.int_range(pl.len()))
    for pool in (None, "model"):
        found = plain(deltas(rows, ["pass_rate", "tokens"], pool=pool))
        assert len(found) == (2 if pool else 4)
        assert all(row["p"] <= row["p_adjusted"] <= min(1, 2 * row["p"]) for row in found)
    keys = ("eval_id", "configuration", "run_number")
    scores = [
        {name: row[name] for name in keys} | {"dimension": "d", "score": 1 + 4 * row["pass_rate"]}
        for row in rows.to_dicts()
    ]
    ws = workspace([], []).from_tables({"runs": rows, "rubric_scores": scores_table(scores)})
    each = by_model(deltas_by_dimension(ws))
    assert [row["estimate"] for row in each.values()] == [4.0, -2.0]
    (mean,) = plain(deltas_by_dimension(ws, pool="model"))
    assert mean["estimate"] == 1.0


def test_where_a_figure_begins_to_count_changes_nothing_that_is_adjusted_jointly() -> None:
    """Of three runs against two, dealt sums would differ by what the third begins at."""
    draw = random.Random(7)
    rows = two_sides(lambda *_: draw.random(), lambda *_: draw.random(), evals=4)
    rows = [row | {"tokens": draw.randrange(140)} for at, row in enumerate(rows) if at % 6 != 5]
    found = [
        deltas(
            runs_table([row | {"tokens": row["tokens"] + more} for row in rows]),
            ["pass_rate", "tokens"],
        )
        for more in (0, 1000)
    ]
    assert found[0]["p"].to_list() == pytest.approx(found[1]["p"].to_list())
    assert found[0]["p_adjusted"].to_list() == pytest.approx(found[1]["p_adjusted"].to_list())
    assert found[0]["p"][1] < found[0]["p_adjusted"][1]
