"""Triggering: rates, precision, recall and F1, the confusion table, and doubts, counted by hand."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats
from statsmodels.stats.proportion import proportion_confint

from skill_eval_nb.stats import (
    trigger_confusion,
    trigger_doubts,
    trigger_rates,
    trigger_scores,
)
from tests.stats.made import attempts, examples, near, only, plain, queries, rate_of
from tests.tables.made import table_of

NAMES = ("precision", "recall", "f1", "accuracy")


CELLS = [(True, True), (True, False), (False, True), (False, False)]
"""What a query should do, and does: hit, missed, false, kept."""


def by_hand(hit: int, missed: int, false: int, kept: int) -> list[float | None]:
    """The four scores of a confusion table."""
    both = hit + missed and false + kept
    every = hit + missed + false + kept
    return [
        hit / (hit + false) if both and hit + false else None,
        hit / (hit + missed) if hit + missed else None,
        2 * hit / (2 * hit + false + missed) if both else None,
        (hit + kept) / every if every else None,
    ]


@examples
@given(queries)
def test_scores_are_those_counted_by_hand(asked) -> None:
    """And what is not defined is null, with its interval."""
    row = only(trigger_scores(attempts(*asked)))
    known = [(should, runs) for should, runs in asked if should is not None]
    verdicts = [
        (should, rate_of(runs) >= 0.5) for should, runs in known if rate_of(runs) is not None
    ]
    assert near([row[name] for name in NAMES], by_hand(*map(verdicts.count, CELLS)))
    of_runs = [
        sum(runs.count("t" if hit else "n") for should, runs in known if should == wanted)
        for wanted, hit in CELLS
    ]
    assert near([row[f"run_{name}"] for name in NAMES], by_hand(*of_runs))
    assert row["n_queries"] == len(verdicts) == row["n_positive"] + row["n_negative"]
    assert row["n_queries"] + row["n_unmeasured"] + row["n_unlabelled"] == len(asked)
    assert row["n_errored"] == sum(runs.count("e") for _, runs in asked)
    for name in (*NAMES, *(f"run_{name}" for name in NAMES)):
        estimate, low, high = (row[f"{name}{end}"] for end in ("", "_low", "_high"))
        assert (low is None) == (estimate is None) == (high is None)
        assert estimate is None or 0 <= low <= estimate <= high <= low + 1
        assert estimate is None or high - low > 0.01


def test_parts_by_split_and_what_is_wrong_with_the_data() -> None:
    asked = attempts(
        (True, "t", {"split": "train"}),
        (False, "n", {"split": "train"}),
        (True, "n", {"split": "test"}),
    )
    by_split = plain(trigger_scores(asked, by="split"))
    assert [(row["split"], row["recall"]) for row in by_split] == [("train", 1.0), ("test", 0.0)]
    misspelt = asked.with_columns(outcome=pl.lit("not-triggered"))
    for wrong, told, says in (
        (asked, {"by": "splits"}, "Did you mean `split`"),
        (asked.drop("should_trigger"), {}, "this lacks should_trigger"),
        (misspelt, {}, "Did you mean `not triggered`"),
        (asked, {"level": 95}, "`level` must lie between 0 and 1"),
        (asked, {"threshold": 0}, "`threshold` must be above 0"),
    ):
        with pytest.raises(ValueError, match=says):
            trigger_scores(wrong, **told)


# ── rates ──────────────────────────────────────────────────────────────────────────────────────


@examples
@given(queries)
def test_rates_are_those_counted_by_hand(asked) -> None:
    rows = plain(trigger_rates(attempts(*asked)))
    assert len(rows) == len(asked)
    for row, (should, runs) in zip(rows, asked, strict=True):
        names = ("n_triggered", "n_not_triggered", "n_errored", "n_not_run")
        assert [row[name] for name in names] == [runs.count(one) for one in "tne-"]
        rate = rate_of(runs)
        assert (row["rate"], row["should_trigger"]) == (rate, should)
        if rate is None:
            figures = ("low", "high", "triggers", "right", "flips")
            assert [row[name] for name in figures] == [None] * 5
            continue
        assert (row["triggers"], row["flips"]) == (rate >= 0.5, "t" in runs and "n" in runs)
        assert near([row["right"]], [None if should is None else rate if should else 1 - rate])


@given(st.integers(1, 200), st.data(), st.sampled_from([0.8, 0.95, 0.99]))
def test_the_interval_is_that_of_statsmodels(n, data, level) -> None:
    hits = data.draw(st.integers(0, n))
    row = only(trigger_rates(triggers([{"triggered": hits, "runs": n}]), level=level))
    expected = proportion_confint(hits, n, alpha=1 - level, method="wilson")
    assert (row["low"], row["high"]) == pytest.approx(expected, abs=1e-12)
    assert row["low"] <= hits / n <= row["high"]


def test_a_stated_rate_without_counts_has_no_interval_and_counts_are_believed_first() -> None:
    row = only(trigger_rates(triggers([{"trigger_rate": 0.67}])))
    assert (row["rate"], row["low"], row["n_triggered"]) == (0.67, None, None)
    assert (row["triggers"], row["right"], row["flips"]) == (True, 0.67, True)
    row = only(trigger_rates(triggers([{"triggered": 1, "runs": 4, "trigger_rate": 0.9}])))
    assert (row["rate"], row["n_triggered"], row["n_not_triggered"]) == (0.25, 1, 3)
    assert (row["n_errored"], row["n_not_run"]) == (None, None)
    rows = plain(trigger_confusion(triggers([{"triggered": 2, "runs": 3}])))
    assert [row["n_runs"] for row in rows[:4]] == [2, 1, None, None], "and not zero"


def triggers(rows) -> pl.DataFrame:
    """The table `triggers`."""
    known = {"workspace": "w", "skill": "s", "query": "q", "should_trigger": True}
    return table_of("triggers", [known | row for row in rows])


# ── doubts ─────────────────────────────────────────────────────────────────────────────────────

SOUND = ((True, "ttn"), (True, "ttt"), (False, "nnn"))
OTHER = {"opened": ["tidy-tables", "x"]}
OTHERS = ((True, "nn", OTHER), (True, "nn", {"opened": ["y"]}))


def said(*asked, **more) -> dict[str, tuple[bool, str]]:
    rows = plain(trigger_doubts(attempts(*asked, **more)))
    return {row["doubt"]: (row["broken"], row["message"]) for row in rows}


@pytest.mark.parametrize(
    ("asked", "doubt", "broken", "says"),
    [
        ([(True, "nnn"), (False, "nnn")], "never triggers", True, "not on offer"),
        ([(True, "nnn", OTHER), (False, "n")], "never triggers", True, "‘tidy-tables’"),
        ([*OTHERS, (False, "n")], "never triggers", True, "Other skills were opened"),
        ([(True, "tt"), (False, "tt")], "always triggers", True, "also those of 1 query"),
        ([(True, "e-"), (False, "--")], "nothing measured", True, "1 run errored"),
        ([(True, "--"), (False, "--")], "nothing measured", True, "budget ran out"),
        ([(True, "ttn")], "no negatives", True, "trigger exists"),
        ([(False, "nnn"), (True, "ee")], "no positives", True, "trigger has a run that counts"),
        ([*SOUND, (True, "tnnn", OTHER)], "shadowed", False, "3 of 4 runs"),
        ([*SOUND, (True, "tee")], "errored", False, "2 of 12 runs errored"),
        ([*SOUND, (True, "teeeeeeeeeee")], "errored", True, "11 of 21"),
        ([*SOUND, (True, "t--")], "not run", False, "Of 12 runs, 2 not made"),
        ([(True, "t"), (False, "n")], "one run a query", False, "at least three times"),
        ([*SOUND, (None, "tt")], "unlabelled", False, "1 query"),
    ],
)
def test_each_doubt_is_said(asked, doubt, broken, says) -> None:
    found = said(*asked)
    assert found[doubt][0] is broken
    assert says in found[doubt][1]
    assert said(*SOUND) == {}


# ── resampling ─────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("right", "n"), [(0, 10), (3, 10), (40, 50)])
def test_by_query_the_recall_has_the_interval_of_clopper_and_pearson(right, n) -> None:
    queries = [(True, "t")] * right + [(True, "n")] * (n - right) + [(False, "n")] * 5
    row = only(trigger_scores(attempts(*queries)))
    expected = scipy_stats.binomtest(right, n).proportion_ci(method="exact")
    assert (row["recall_low"], row["recall_high"]) == pytest.approx(tuple(expected), abs=0.03)
