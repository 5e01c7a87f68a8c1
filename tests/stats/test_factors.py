"""Models as a factor: with which the skill helps, and whether its effect differs between them."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy import stats as scipy_stats
from statsmodels.stats.oneway import anova_oneway

from skill_eval_nb.stats import deltas, factors
from skill_eval_nb.stats.factors import ADDED
from skill_eval_nb.tables.columns import to_pandas
from tests.stats.made import SIDES, Row, near, plain, runs_table

LARGE, SMALL = "large", "small"
PUBLISHED = [
    *([0.07, 0.46, 0.37], [-0.26, 0.48, 0.39], [-0.11, 0.42, 0.37], [0.06, 0.31, 0.41]),
    *([-0.15, 0.27, 0.2], [0.12, 0.31, 0.24], [-0.16, 0.25, 0.3], [-0.06, 0.56, 0.5]),
]
NOISE = np.random.default_rng(7)
BEGIN = NOISE.bit_generator.state


@pytest.fixture(autouse=True)
def same_noise() -> None:
    """Every test has the same, whichever others ran before."""
    NOISE.bit_generator.state = BEGIN


def runs_of(cells: Mapping[tuple[str, Any], Any], **more: Any) -> list[Row]:
    """Runs of eval and model, from each one's rates on both sides; a run without a rate errored."""
    return [
        {"eval_id": name, "executor_model": model, "configuration": side, "pass_rate": rate, **more}
        | ({"status": "errored"} if rate is None else {})
        for (name, model), sides in cells.items()
        for side, rates in zip(SIDES, sides, strict=True)
        for rate in rates
    ]


def of_differences(d: Any, **more: Any) -> list[Row]:
    """A run a side, so that eval and model differ by so much: evals × models."""
    places = product(range(len(d)), range(len(d[0])))
    return runs_of({(str(i), f"m{m}"): ([d[i][m] + 0.5], [0.5]) for i, m in places}, **more)


def noisy(*means: float, k: int = 3, spread: float = 0.1) -> list[list[float]]:
    """So many runs around each mean."""
    return [[mean + spread * NOISE.standard_normal() for _ in range(k)] for mean in means]


def grid(n: int = 8, **lifts: float) -> dict[tuple[str, str], Any]:
    """Three runs a side of so many evals with each model, which the skill lifts by so much."""
    return {(str(i), m): noisy(0.5 + by, 0.5) for i in range(n) for m, by in lifts.items()}


def told(rows: list[Row], **how: Any) -> list[Row]:
    return plain(factors(runs_table(rows), **how))


def flip_all(vectors: Any) -> list[float]:
    """Each column's p, adjusted: every sign of whole rows, one after the other, by scipy's t."""
    signs = np.array([*product((1, -1), repeat=len(vectors))])
    t = np.abs(scipy_stats.ttest_1samp(vectors * signs[:, :, None], 0, axis=1)[0])
    return [float((t.max(axis=1) >= own * (1 - 1e-9)).mean()) for own in t[0]]


@pytest.mark.parametrize(("n", "models"), [(6, 2), (8, 3)])
def test_of_tasks_like_these_the_vectors_of_evals_are_flipped_jointly(n: int, models: int) -> None:
    d = np.random.default_rng(n).normal([0.4, 0.2, 0.1][:models], 0.25, (n, models)).round(3)
    rows = told(of_differences(d), scope="population")
    expected = flip_all(d - d.mean(axis=1, keepdims=True))
    assert near([row["deviation_p"] for row in rows], expected)
    assert near([row["interaction_p"] for row in rows], [min(expected)] * models)
    assert near([row["deviation"] for row in rows], d.mean(axis=0) - d.mean())
    assert {row["differs"] for row in rows} == {min(expected) <= 0.05}
    alone = [row["p"] for row in plain(deltas(runs_table(of_differences(d)), scope="population"))]
    assert near([row["p"] for row in rows], alone)
    adjusted = np.maximum(alone, flip_all(d))
    assert near([row["p_adjusted"] for row in rows], adjusted)


def test_beyond_twelve_evals_the_signs_are_drawn() -> None:
    many = np.tile(PUBLISHED, (2, 1)) + np.random.default_rng(1).normal(0, 0.4, (16, 3))
    apart = many - many.mean(axis=1, keepdims=True)
    signs = np.random.default_rng(2).choice([-1.0, 1.0], (20_000, 16))
    t = np.abs(scipy_stats.ttest_1samp(apart * signs[:, :, None], 0, axis=1)[0]).max(axis=1)
    expected = [(t >= own).mean() for own in np.abs(scipy_stats.ttest_1samp(apart, 0)[0])]
    rows = told(of_differences(many), scope="population")
    assert [row["deviation_p"] for row in rows] == pytest.approx(expected, abs=0.02)


@pytest.mark.parametrize("k", [(2, 5), (4, 3, 6)])
def test_of_these_evals_it_is_welchs_test_of_the_models_means(k: tuple[int, ...]) -> None:
    """Of one eval whose baseline never varies, it is that of the runs themselves."""
    groups = [0.5 + NOISE.normal(0.1 * at, 0.1 + 0.05 * at, number) for at, number in enumerate(k)]
    cells = {("1", f"m{at}"): (own, [0.4] * len(own)) for at, own in enumerate(groups)}
    rows = told(runs_of(cells))
    expected = anova_oneway(groups, use_var="unequal").pvalue
    assert near([row["interaction_p"] for row in rows], [expected] * len(k))
    assert all(row["deviation_p"] is None for row in rows)
    if len(k) == 2:
        student = scipy_stats.ttest_ind(*groups, equal_var=False)[1]
        assert rows[0]["interaction_p"] == pytest.approx(student)


def test_of_several_evals_the_noise_is_that_of_the_mean_over_evals() -> None:
    cells = grid(4, a=0.6, b=0.3)
    rows = told(runs_of(cells))
    mean, error, df = [], [], []
    for model in "ab":
        own = [cells[str(i), model] for i in range(4)]
        terms = np.array([np.var(side, ddof=1) / 3 / 16 for sides in own for side in sides])
        mean.append(np.mean([np.mean(one) - np.mean(other) for one, other in own]))
        error.append(terms.sum())
        df.append(terms.sum() ** 2 / (terms**2 / 2).sum())
    t = (mean[0] - mean[1]) / np.sqrt(sum(error))  # of two, Welch's F is his t squared
    whole = sum(error) ** 2 / sum(own**2 / of for own, of in zip(error, df, strict=True))
    assert rows[0]["interaction_p"] == pytest.approx(2 * scipy_stats.t.sf(abs(t), whole))


LACKING: dict[str, tuple[list[Row], str, str]] = {
    "one model": (
        runs_of(grid(large=0.4)),
        "population",
        "this takes two with both sides; there is large",
    ),
    "no eval in common": (
        runs_of(
            grid(4, large=0.4) | {(f"s{i}", m): one for (i, m), one in grid(small=0.4).items()}
        ),
        "suite",
        "no eval has both sides with all of them",
    ),
    "eight evals of which two differ": (
        of_differences([[0.2, 0.2 + 0.1 * (i < 2)] for i in range(8)]),
        "population",
        "they must differ on 6 evals, and they differ on 2",
    ),
    "single runs": (
        of_differences(PUBLISHED),
        "suite",
        "this takes two runs of an eval per side with each of them",
    ),
    "no noise": (
        runs_of(grid(small=0.4) | {(str(i), LARGE): ([1.0] * 3, [1.0] * 3) for i in range(8)}),
        "suite",
        "no run noise was seen with large",
    ),
}


@pytest.mark.parametrize("case", LACKING)
def test_where_it_cannot_be_told_there_is_no_figure_but_a_reason(case: str) -> None:
    rows, scope, why = LACKING[case]
    for row in told(rows, scope=scope):
        assert [row[name] for name in ("interaction_p", "differs", "deviation_p")] == [None] * 3
        assert row["interaction"].endswith(f"between models: {why}.")


@pytest.mark.parametrize("scope", ["suite", "population"])
def test_rows_are_those_of_deltas_whose_mean_names_an_effect_that_differs(scope: Any) -> None:
    frame = runs_table(runs_of(grid(large=0.4, small=0.4) | {("9", LARGE): noisy(0.9, 0.5)}))
    found, whole = factors(frame, scope=scope), deltas(frame, scope=scope)
    assert found.drop(ADDED).equals(whole)
    assert (found["n_shared"].to_list(), found["n_evals"].to_list()) == ([8, 8], [9, 8])
    assert near(found["p_adjusted"], (2 * whole["p"]).clip(0, 1)), "on other evals each"
    assert plain(factors(to_pandas(frame), scope=scope)) == plain(found)
    for small, differs in ((0.0, True), (0.4, False)):
        rows = runs_of(grid(large=0.4, small=small))
        (mean,) = plain(deltas(runs_table(rows), scope=scope, pool="model"))
        p = told(rows, scope=scope)[0]["interaction_p"]
        named = [text for text in mean["warnings"] if "The effect differs between them" in text]
        assert bool(named) == differs == (p <= 0.05)
        assert all(f"p {'= ' if p >= 1e-4 else '< '}" in text for text in named)
        assert all(text in mean["reason"] for text in named)
    with pytest.raises(ValueError, match=r"no factor `modle`\. Did you mean `model`"):
        factors(frame, factor="modle")


def test_a_claim_that_the_number_of_models_explains_is_taken_back() -> None:
    """Of three models, two of which show nothing: p is .03 alone, and .09 for all three."""
    rng = np.random.default_rng(3)
    d = rng.normal(0, 0.3, (6, 3)).round(2)
    d[:, 0] = [0.31, 0.02, 0.22, 0.4, 0.01, 0.35]
    alone, *_ = plain(deltas(runs_table(of_differences(d)), scope="population"))
    row, *_ = told(of_differences(d), scope="population")
    assert (alone["verdict"], row["verdict"]) == ("helps", "unclear")
    assert row["p_adjusted"] > 0.05
    assert row["low"] <= 0 <= row["high"]
    assert row["reason"].startswith("Not clear when corrected for 3 models (p = ")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            {"status": "errored", "pass_rate": None},
            "Errored runs decide this. The effect differs between",
        ),
        ({"executor_model": "stand-in"}, "There is no verdict for stand-in. The effect"),
        ({"judge_model": "mild"}, "Not all models had the same judges, which may"),
    ],
)
def test_what_may_turn_the_answer_is_said_with_it(change: Row, sentence: str) -> None:
    rows = runs_of(grid(large=0.6, small=0.2), judge_model="harsh")
    assert told(rows)[0]["differs"]
    for at, row in enumerate(rows):
        errs = row["configuration"] == SIDES[0] and not at % 3  # one of three runs with the skill
        if row["executor_model"] == LARGE and (errs or "status" not in change):
            rows[at] = row | change
    for row in told(rows):
        assert sentence in row["interaction"]
        assert row["differs"] is (True if "judge_model" in change else None)


def test_families_are_flipped_as_one() -> None:
    rows = of_differences([*PUBLISHED, *PUBLISHED])
    kin = {str(i): f"family {i % 8}" for i in range(16)}
    alone, together = (told(rows, scope="population", cluster=of)[0] for of in (None, kin))
    assert (
        together["interaction_p"]
        == flip_all(2 * (np.array(PUBLISHED) - np.mean(PUBLISHED, axis=1, keepdims=True)))[0]
    )
    assert alone["interaction_p"] < together["interaction_p"]
    (few, *_) = told(rows, scope="population", cluster={str(i): str(i % 5) for i in range(16)})
    assert "they must differ on 6 families, and they differ on 5" in few["interaction"]
