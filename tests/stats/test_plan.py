"""Plans: no cheaper design is as sharp, and what the data say of noise and prices."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.power import TTestPower

from skill_eval_nb.stats import plan
from skill_eval_nb.stats.inference import detectable_effect, exact_p
from skill_eval_nb.stats.plan import Variances
from tests.stats.made import SIDES, Row, drawn, examples, plain, runs_table, scores_of, two_sides

parts = st.sampled_from([0.0, 0.01, 0.16, 0.64])
prices = st.sampled_from([0.0, 0.02, 0.5])


def nested_sides(
    sets: int, evals: int, runs: int, judgings: int, effect: float, seed: int = 0
) -> pl.DataFrame:
    """Two configurations on the same evals, whose hardness has variance 4, the effect `effect`."""
    rng = np.random.default_rng(seed)
    hard = rng.normal(0, 2, (sets, evals, 1, 1))
    gain = rng.normal(0.5, np.sqrt(effect), (sets, evals, 1, 1))
    one, other = (drawn((sets, evals, runs, judgings), (0, 0.25, 0.16), seed + at) for at in (1, 2))
    sides = {"with_skill": one + hard + gain, "without_skill": other + hard}
    return pl.concat(scores_of(values, name) for name, values in sides.items())


def chosen(frame: Any) -> Row:
    (row,) = (row for row in plain(frame) if row["chosen"])
    return row


def design(row: Row) -> tuple[int, int, int]:
    return row["n_evals"], row["n_runs"], row["n_judgings"]


@examples
@given(parts, parts, parts, prices, prices, st.sampled_from([0.1, 0.2, 0.4]))
def test_no_cheaper_design_has_the_standard_error(
    evals: float, run: float, judge: float, per_run: float, per_judging: float, target: float
) -> None:
    found = plan(
        components={"eval": evals, "run": run, "judge": judge},
        target_se=target,
        price_per_run=per_run,
        price_per_judging=per_judging,
        max_evals=15,
        max_runs=6,
        max_judgings=3,
    )
    sharp = {
        (e, r, j): e * r * (per_run + j * per_judging)
        for e, r, j in product(range(6, 16), range(1, 7), range(1, 4))
        if math.sqrt(evals / e + run / (e * r) + judge / (e * r * j)) <= target
    }
    first = plain(found)[0]
    assert first["chosen"] == bool(sharp)
    if sharp:
        assert design(first) in sharp
        assert first["price_usd"] == pytest.approx(min(sharp.values()))
        assert first["se"] <= target
    else:
        assert design(first) == (15, 6, 3)
        assert "No design with up to 15 evals × 6 runs × 3 judgings" in first["note"]


def test_the_data_s_design_stands_beside_the_chosen_one() -> None:
    """With as many runs and judgings everywhere its noise is that of the differences."""
    table = nested_sides(1, 8, 3, 2, effect=0.3, seed=5)
    found = plan(table, metric="clarity", effect=1.0)
    (was,) = found.filter(changed="as it was run").to_dicts()
    assert design(was) == (8, 3, 2)
    assert (was["configuration"], was["baseline"]) == SIDES
    assert was["metric"] == "rubric:clarity"
    means = table.group_by("eval_id", "configuration").agg(pl.col("score").mean())
    wide = means.pivot("configuration", index="eval_id", values="score")
    apart = wide.select((pl.col(SIDES[0]) - pl.col(SIDES[1])).var()).item()
    assert was["se"] ** 2 == pytest.approx(apart / 8)
    never = plan(table, metric="clarity", effect=0.001)
    assert (design(plain(never)[0]), never["chosen"].any()) == ((8, 3, 2), False)
    assert "this is what was run" in plain(never)[0]["note"]


def test_prices_and_seconds_are_the_means_of_the_data_s_runs_unless_given() -> None:
    rates = (lambda e, r: (e + r) % 3 / 2), (lambda e, r: (e + r + 1) % 3 / 2)
    rows = two_sides(*rates, cost_usd=(0.3, 0.1), time_seconds=(None, 5.0))
    rows = [row | {"cost_usd": row["cost_usd"] if at % 3 else None} for at, row in enumerate(rows)]
    row = chosen(plan(runs_table(rows), effect=0.5))
    runs = row["n_evals"] * row["n_runs"]
    assert row["price_usd"] == pytest.approx(0.4 * runs)
    assert row["seconds"] is None  # of one side none is known
    own = [one for one in plain(plan(runs_table(rows), target_se=0.1)) if one["chosen"]]
    assert [one["configuration"] for one in own] == [*SIDES]
    assert [one["seconds"] for one in own] == [None, 5.0 * own[1]["n_evals"] * own[1]["n_runs"]]
    row = chosen(plan(runs_table(rows), effect=0.5, price_per_run=1.0, seconds_per_run=1))
    runs = 2 * row["n_evals"] * row["n_runs"]
    assert (row["price_usd"], row["seconds"]) == (runs, runs)


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ({}, "Give `data` or `components`"),
        ({"components": {"run": 1.0}}, "Say what is wanted"),
        ({"components": {"run": 1.0}, "target_se": 1}, "lacks `eval`"),
        ({"components": {"run": 1}, "target_se": 1, "effect": 1}, "not both"),
        ({"components": {"run": 1}, "effect": -1}, "`effect` must be a number above 0"),
        ({"components": {"run": 1}, "effect": 1, "scope": "all"}, "no scope `all`"),
        ({"components": {"run": 1}, "effect": 1, "power": 80}, "`power` must lie between"),
        ({"components": {"run": 1}, "effect": 1, "level": 95}, "`level` must lie between"),
        ({"components": {"run": 1}, "effect": 1, "max_runs": 0}, "at least 1"),
    ],
)
def test_what_makes_no_sense_is_an_error(told: Row, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        plan(**told)


# ── designs ────────────────────────────────────────────────────────────────────────────────────

WORKED = {(6, 3, 1): 0.287, (6, 3, 3): 0.277, (6, 10, 1): 0.260, (20, 3, 1): 0.157}
"""Designs of a printed example with the standard errors printed beside them."""
DETECTABLE = {(3, 3): 0.93, (5, 3): 0.48, (8, 3): 0.33, (12, 3): 0.25, (20, 10): 0.15}
"""Evals and runs, and the effect found with 80 %: SD of true effects .2, of runs .25."""


def designs(*rows: tuple[int, ...]) -> np.ndarray:
    return np.array(rows)


def test_standard_errors_and_effects_of_the_reference_points() -> None:
    """The standard errors printed are those of variances .367, .23 and .155."""
    found = Variances(0.367, ((0.23, 0.155),)).se(designs(*WORKED))
    assert found == pytest.approx(list(WORKED.values()), abs=6e-4)
    variances = Variances(0.2**2, ((0.25**2, 0.0),) * 2)
    points = designs(*((evals, runs, 1) for evals, runs in DETECTABLE))
    found = variances.se(points) * detectable_effect(
        1.0, variances.degrees_of_freedom(points, "population")
    )
    assert found.round(2).tolist() == list(DETECTABLE.values())
    assert variances.mde(points, "population", 0.95)[2:] == pytest.approx(found[2:])


@pytest.mark.parametrize("evals", [6, 8, 11, 40])
def test_smallest_detectable_effect_is_that_of_statsmodels(evals: int) -> None:
    """And of few evals, what their sign flip finds."""
    variances = Variances(0.3, ((0.2, 0.1), (0.4, 0.3)))
    spread = float(np.sqrt(0.3 + (0.2 + 0.1 / 3 + 0.4 + 0.3 / 3) / 2))
    if evals == 6:
        (found,) = variances.mde(designs((evals, 2, 3)), "population", 0.95)
        drawn = np.random.default_rng(3).normal(found, spread, (1000, evals))
        claims = [exact_p([([one], [0.0]) for one in each]) <= 0.05 for each in drawn]
        assert np.mean(claims) == pytest.approx(0.8, abs=0.04)
        return
    (found,) = variances.mde(designs((evals, 2, 3)), "population", 0.9, 0.7)
    expected = TTestPower().solve_power(nobs=evals, alpha=0.1, power=0.7) * spread
    assert found == pytest.approx(expected, rel=1e-4)


def test_degrees_of_freedom_of_these_evals_are_those_of_welch_over_all_cells() -> None:
    variances = Variances(0.0, ((0.2, 0.1), (0.9, 0.0)))
    found = variances.degrees_of_freedom(designs((4, 3, 2)), "suite")
    cells = [0.25 / 3] * 4 + [0.9 / 3] * 4
    assert found[0] == pytest.approx(sum(cells) ** 2 / sum(part**2 / 2 for part in cells))
    alike = Variances(0.0, ((0.5, 0.0),) * 2)
    assert alike.degrees_of_freedom(designs((4, 3, 1)), "suite")[0] == pytest.approx(
        2 * 4 * (3 - 1)
    )


# ── measured ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("table", "wanted", "says"),
    [
        (scores_of(drawn((1, 8, 3, 2))), "effect", "no baseline among the configurations: with"),
        (
            scores_of(drawn((1, 8, 3, 2)), "without_skill"),
            "effect",
            "no configuration to compare with without_skill",
        ),
        (nested_sides(1, 1, 3, 2, effect=1.0), "effect", "Fewer than two evals have both sides"),
        (scores_of(drawn((1, 1, 3, 2))), "target_se", "With one eval"),
        (
            scores_of(np.full((1, 5, 2, 2), 4.0)),
            "target_se",
            "No noise was seen in 5 × 2 runs, so there is nothing to plan from.",
        ),
    ],
)
def test_what_cannot_be_planned_is_a_row_that_says_why(
    table: pl.DataFrame, wanted: str, says: str
) -> None:
    (row,) = plain(plan(table, metric="clarity", **{wanted: 0.1}))
    assert row["n_evals"] is row["se"] is row["mde"] is None
    assert not row["chosen"]
    assert says in row["note"]
