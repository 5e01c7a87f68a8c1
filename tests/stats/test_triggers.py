"""Triggering: rates, precision, recall and F1, the confusion table, and doubts, counted by hand."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats
from statsmodels.stats.proportion import proportion_confint

from skill_eval_nb.stats import trigger_confusion, trigger_doubts, trigger_rates, trigger_scores
from skill_eval_nb.stats.triggers import Class, intervals, scores, wilson
from skill_eval_nb.tables import TABLES
from skill_eval_nb.tables.frames import to_polars
from tests.stats.asked import LETTERS, attempts, queries, rate_of, rows_of
from tests.stats.made import examples, near

NAMES = ("precision", "recall", "f1", "accuracy")


def only(found) -> dict:
    [row] = rows_of(found)
    return row


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
    row = only(trigger_scores(attempts(*asked)))
    known = [(should, runs) for should, runs in asked if should is not None]
    verdicts = [
        (should, rate_of(runs) >= 0.5) for should, runs in known if rate_of(runs) is not None
    ]
    cells = [(True, True), (True, False), (False, True), (False, False)]
    assert near([row[name] for name in NAMES], by_hand(*map(verdicts.count, cells)))
    of_runs = [
        sum(runs.count("t" if hit else "n") for should, runs in known if should == wanted)
        for wanted, hit in cells
    ]
    assert near([row[f"run_{name}"] for name in NAMES], by_hand(*of_runs))
    assert row["n_queries"] == len(verdicts) == row["n_positive"] + row["n_negative"]
    assert row["n_queries"] + row["n_unmeasured"] + row["n_unlabelled"] == len(asked)
    assert row["n_errored"] == sum(runs.count("e") for _, runs in asked)


def test_a_query_that_flips_counts_once_by_query_and_as_it_is_by_run() -> None:
    row = only(trigger_scores(attempts((True, "ttn"), (False, "nnt"))))
    assert (row["f1"], row["accuracy"]) == (1.0, 1.0)
    assert near([row["run_recall"], row["run_precision"]], [2 / 3, 2 / 3])
    assert row["f1_low"] < row["f1"] == row["f1_high"]


@pytest.mark.parametrize(
    ("asked", "there"),
    [
        ([(True, "t"), (False, "n")], set(NAMES)),
        ([(True, "n"), (False, "n")], {"recall", "f1", "accuracy"}),
        ([(True, "t"), (True, "n")], {"recall", "accuracy"}),
        ([(False, "t"), (False, "n")], {"accuracy"}),
        ([(None, "t"), (True, "e-")], set()),
    ],
)
def test_what_is_not_defined_is_null_with_its_interval(asked, there) -> None:
    row = only(trigger_scores(attempts(*asked)))
    for name in NAMES:
        ends = [row[f"{name}{end}"] is not None for end in ("", "_low", "_high")]
        assert ends == [name in there] * 3


def test_parts_by_split_and_by_tag() -> None:
    asked = attempts(
        (True, "t", {"split": "train", "tags": ["a", "b", "a"]}),
        (False, "n", {"split": "train", "tags": ["a"]}),
        (True, "n", {"split": "test", "tags": []}),
    )
    by_split = rows_of(trigger_scores(asked, by="split"))
    assert [(row["split"], row["recall"]) for row in by_split] == [("train", 1.0), ("test", 0.0)]
    by_tag = rows_of(trigger_scores(asked, by="tag"))
    assert [(row["tag"], row["n_queries"]) for row in by_tag] == [("a", 2), ("b", 1), (None, 1)]
    with pytest.raises(ValueError, match="Did you mean `split`"):
        trigger_scores(asked, by="splits")


# ── rates ──────────────────────────────────────────────────────────────────────────────────────


@examples
@given(queries)
def test_rates_are_those_counted_by_hand(asked) -> None:
    rows = rows_of(trigger_rates(attempts(*asked)))
    assert len(rows) == len(asked)
    for row, (should, runs) in zip(rows, asked, strict=True):
        counted = [
            row[f"n_{name}"] for name in ("triggered", "not_triggered", "errored", "not_run")
        ]
        assert counted == [runs.count(one) for one in "tne-"]
        rate = rate_of(runs)
        assert row["rate"] == rate
        assert row["should_trigger"] is should
        if rate is None:
            figures = ("low", "high", "triggers", "right", "flips")
            assert [row[name] for name in figures] == [None] * 5
        else:
            assert row["triggers"] == (rate >= 0.5)
            assert row["flips"] == ("t" in runs and "n" in runs)
            right = None if should is None else rate if should else 1 - rate
            assert near([row["right"]], [right])


@given(st.integers(1, 200), st.data(), st.sampled_from([0.8, 0.95, 0.99]))
def test_the_interval_is_that_of_statsmodels(n, data, level) -> None:
    hits = data.draw(st.integers(0, n))
    low, high = wilson(pl.col("k"), pl.col("n"), level)
    found = pl.DataFrame({"k": [hits], "n": [n]}).select(low=low, high=high).row(0)
    expected = proportion_confint(hits, n, alpha=1 - level, method="wilson")
    assert found == pytest.approx(expected, abs=1e-12)
    assert found[0] <= hits / n <= found[1]


def test_a_stated_rate_without_counts_has_no_interval() -> None:
    [row] = rows_of(trigger_rates(triggers([{"trigger_rate": 0.67}])))
    assert (row["rate"], row["low"], row["n_triggered"]) == (0.67, None, None)
    assert (row["triggers"], row["right"], row["flips"]) == (True, 0.67, True)


def test_counts_are_believed_and_not_the_rate_beside_them() -> None:
    [row] = rows_of(trigger_rates(triggers([{"triggered": 1, "runs": 4, "trigger_rate": 0.9}])))
    assert (row["rate"], row["n_triggered"], row["n_not_triggered"]) == (0.25, 1, 3)
    assert (row["n_errored"], row["n_not_run"]) == (None, None)


def triggers(rows) -> pl.DataFrame:
    """The table `triggers`."""
    known = {"workspace": "w", "skill": "s", "query": "q", "should_trigger": True}
    table = TABLES["triggers"]
    full = [known | row for row in rows]
    return to_polars(table, {name: [row.get(name) for row in full] for name in table.names})


def test_what_is_wrong_with_the_data_is_said() -> None:
    asked = attempts((True, "t"))
    with pytest.raises(ValueError, match="this lacks should_trigger"):
        trigger_rates(asked.drop("should_trigger"))
    with pytest.raises(ValueError, match="Did you mean `not triggered`"):
        trigger_rates(asked.with_columns(outcome=pl.lit("not-triggered")))
    with pytest.raises(ValueError, match="`level` lies between 0 and 1"):
        trigger_rates(asked, level=95)
    with pytest.raises(ValueError, match="`threshold` is above 0"):
        trigger_rates(asked, threshold=0)


# ── doubts ─────────────────────────────────────────────────────────────────────────────────────

SOUND = ((True, "ttn"), (True, "ttt"), (False, "nnn"))
OTHER = {"opened": ["tidy-tables", "x"]}


def said(*asked, **more) -> dict[str, tuple[bool, str]]:
    rows = rows_of(trigger_doubts(attempts(*asked, **more)))
    return {row["doubt"]: (row["broken"], row["message"]) for row in rows}


def test_a_sound_measurement_leaves_no_doubt() -> None:
    assert said(*SOUND) == {}


@pytest.mark.parametrize(
    ("asked", "doubt", "broken", "says"),
    [
        ([(True, "nnn"), (False, "nnn")], "never triggers", True, "not on offer"),
        ([(True, "nnn", OTHER), (False, "n")], "never triggers", True, "‘tidy-tables’"),
        (
            [(True, "nn", OTHER), (True, "nn", {"opened": ["y"]}), (False, "n")],
            "never triggers",
            True,
            "Other skills were opened",
        ),
        ([(True, "tt"), (False, "tt")], "always triggers", True, "also those of 1 query"),
        ([(True, "e-"), (False, "--")], "nothing measured", True, "1 run errored"),
        ([(True, "--"), (False, "--")], "nothing measured", True, "budget or a stop"),
        ([(True, "ttn")], "no negatives", True, "there are none"),
        ([(False, "nnn"), (True, "ee")], "no positives", True, "none has a run that tells"),
        ([*SOUND, (True, "tnnn", OTHER)], "shadowed", False, "3 of 4 runs"),
        ([*SOUND, (True, "tee")], "errored", False, "2 of 12 runs errored"),
        ([*SOUND, (True, "teeeeeeeeeee")], "errored", True, "11 of 21"),
        ([*SOUND, (True, "t--")], "not run", False, "2 of 12 runs were not made"),
        ([(True, "t"), (False, "n")], "one run a query", False, "each three times"),
        ([*SOUND, (None, "tt")], "unlabelled", False, "1 query"),
    ],
)
def test_each_doubt_is_said(asked, doubt, broken, says) -> None:
    found = said(*asked)
    assert found[doubt][0] is broken
    assert says in found[doubt][1]


@examples
@given(queries)
def test_what_is_broken_is_known_from_the_counts(asked) -> None:
    broken = {name for name, (bad, _) in said(*asked).items() if bad and name != "errored"}
    scored = [(should, runs) for should, runs in asked if "t" in runs or "n" in runs]
    own = {
        should: "".join(runs for one, runs in scored if one is should) for should in (True, False)
    }
    if not scored:
        assert broken == {"nothing measured"}
        return
    expected = {
        name for name, label in (("no positives", True), ("no negatives", False)) if not own[label]
    }
    if own[True] and "t" not in own[True]:
        expected.add("never triggers")
    if own[True] and own[False] and "n" not in own[True] + own[False]:
        expected.add("always triggers")
    assert broken == expected


# ── resampling ─────────────────────────────────────────────────────────────────────────────────

counts = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=12).map(
    lambda pairs: Class([min(pair) for pair in pairs], [max(pair) for pair in pairs])
)


@settings(max_examples=40)
@given(counts, counts)
def test_intervals_hold_the_estimate_and_have_a_width(positives, negatives) -> None:
    estimates = scores(positives, negatives)
    for estimate, (low, high) in zip(
        estimates, intervals(positives, negatives, 0.95, seed=1), strict=True
    ):
        if estimate is None:
            assert (low, high) == (None, None)
        else:
            assert 0 <= low <= estimate <= high <= 1
            assert high - low > 0.01


@pytest.mark.parametrize(("right", "n"), [(0, 10), (3, 10), (10, 10), (40, 50)])
def test_by_query_the_recall_has_the_interval_of_clopper_and_pearson(right, n) -> None:
    positives = Class([1] * right + [0] * (n - right), [1] * n)
    _, (low, high), _, _ = intervals(positives, Class([0] * 5, [1] * 5), 0.95, seed=0)
    expected = scipy_stats.binomtest(right, n).proportion_ci(method="exact")
    assert (low, high) == pytest.approx(tuple(expected), abs=0.03)


def test_with_many_queries_it_is_the_plain_bootstrap() -> None:
    noise = np.random.default_rng(5)
    hits = [noise.binomial(3, rate, 400).tolist() for rate in (0.8, 0.15)]
    classes = [Class(own, [3] * 400) for own in hits]
    drawn = []
    for _ in range(2000):
        both = [noise.choice(own, 400) for own in hits]
        tp, fp = (int(own.sum()) for own in both)
        drawn.append(2 * tp / (tp + fp + 1200))
    expected = np.quantile(drawn, [0.025, 0.975])
    assert intervals(*classes, 0.95, seed=0)[2] == pytest.approx(expected, abs=0.006)


# ── confusion ────────────────────────────────────────────────────────────────────────────────────


def verdict(runs: str) -> str:
    rate = rate_of(runs)
    if rate is None:
        return "errored" if "e" in runs else "not run"
    return "triggered" if rate >= 0.5 else "not triggered"


@examples
@given(queries)
def test_cells_are_those_counted_by_hand(asked) -> None:
    rows = rows_of(trigger_confusion(attempts(*asked)))
    assert sum(row["n_queries"] for row in rows) == len(asked)
    assert sum(row["n_runs"] for row in rows) == sum(len(runs) for _, runs in asked)
    letters = {outcome: letter for letter, outcome in LETTERS.items()}
    for row in rows:
        own = [runs for should, runs in asked if should is row["should_trigger"]]
        outcome = row["outcome"]
        assert row["n_queries"] == [*map(verdict, own)].count(outcome)
        assert row["n_runs"] == sum(runs.count(letters[outcome]) for runs in own)
        scored = sum(rate_of(runs) is not None for runs in own)
        known = outcome in ("triggered", "not triggered") and scored
        assert near([row["query_share"]], [row["n_queries"] / scored if known else None])


def test_it_says_which_cells_are_right() -> None:
    rows = rows_of(trigger_confusion(attempts((True, "t"), (False, "n"), (None, "t"))))
    right = [(row["should_trigger"], row["outcome"], row["right"]) for row in rows]
    assert right == [
        (True, "triggered", True),
        (True, "not triggered", False),
        (True, "errored", None),
        (True, "not run", None),
        (False, "triggered", False),
        (False, "not triggered", True),
        (False, "errored", None),
        (False, "not run", None),
        (None, "triggered", None),
        (None, "not triggered", None),
        (None, "errored", None),
        (None, "not run", None),
    ]


def test_runs_that_nobody_counted_are_null_and_not_zero() -> None:
    rows = rows_of(trigger_confusion(triggers([{"triggered": 2, "runs": 3}])))
    assert [row["n_runs"] for row in rows[:4]] == [2, 1, None, None]
