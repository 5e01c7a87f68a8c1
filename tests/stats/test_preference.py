"""Blind comparisons in both orders: who wins, and what the order decides."""

from __future__ import annotations

import statistics
from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from skill_eval_nb.stats import preference
from skill_eval_nb.stats.preference import Wins
from skill_eval_nb.tables import Workspace
from skill_eval_nb.tables.frames import to_pandas
from tests.stats.made import examples, only, table_of

NEW, OLD = "with_skill", "without_skill"
CONSISTENT = {("A", "B"), ("B", "A"), ("tie", "tie")}
PRIMACY = {("A", "A"), ("A", "tie"), ("tie", "A")}
RECENCY = {("B", "B"), ("B", "tie"), ("tie", "B")}
winner = st.sampled_from(["A", "B", "tie"])
choices = st.lists(st.tuples(winner, winner), max_size=12)


def seen(*comparisons: tuple) -> pl.DataFrame:
    """Rows of pair, first, second, winner."""
    schema = dict.fromkeys(("pair", "first", "second", "winner"), pl.String)
    return pl.DataFrame(list(comparisons), schema, orient="row")


def both_orders(pairs) -> pl.DataFrame:
    rows = []
    for at, (forth, back) in enumerate(pairs):
        rows += [(str(at), NEW, OLD, forth), (str(at), OLD, NEW, back)]
    return seen(*rows)


@examples
@given(choices)
def test_the_measures_of_shi_et_al_over_their_choice_pairs(pairs) -> None:
    """And who wins: a winner that changes with the order is a tie, what is left is binomial."""
    found = preference(both_orders(pairs))
    if not pairs:
        assert found.is_empty()
        return
    row, n = only(found), len(pairs)
    consistent, primacy, recency = (
        sum(pair in group for pair in pairs) for group in (CONSISTENT, PRIMACY, RECENCY)
    )
    assert consistent + primacy + recency == n
    assert row["position_consistency"] == consistent / n
    assert (row["primacy"], row["recency"]) == (primacy, recency)
    changed = primacy + recency
    raw = recency * recency / changed - primacy * primacy / changed if changed else 0
    scaled = (raw + n) / (2 * n) * 2 - 1
    assert row["preference_fairness"] == pytest.approx(scaled)
    wins, losses = pairs.count(("A", "B")), pairs.count(("B", "A"))
    assert (row["wins"], row["losses"], row["ties"]) == (wins, losses, n - wins - losses)
    if not wins + losses:
        assert (row["win_rate"], row["p"], row["low"], row["high"]) == (None,) * 4
        return
    oracle = scipy_stats.binomtest(wins, wins + losses)
    ends = oracle.proportion_ci(0.95, method="exact")
    assert (row["win_rate"], row["p"]) == pytest.approx((oracle.statistic, oracle.pvalue))
    assert (row["low"], row["high"]) == pytest.approx(tuple(ends))


@given(st.lists(st.lists(winner, min_size=1, max_size=5), min_size=1, max_size=6))
def test_what_is_repeated_counts_as_the_commonest_answer(repeats) -> None:
    """Several as common are a tie; the same turned round is seen in the other order."""
    turn = {"A": "B", "B": "A", "tie": "tie"}
    rows = [(str(at), NEW, OLD, won) for at, own in enumerate(repeats) for won in own]
    shares = [Counter(own).most_common(1)[0][1] / len(own) for own in repeats if len(own) > 1]
    expected = sum(shares) / len(shares) if shares else None
    row = only(preference(seen(*rows)))
    assert row["repetition_stability"] == (expected and pytest.approx(expected))
    assert row["n_repeated"] == len(shares)
    assert row["n_both_orders"] == 0
    assert row["position_consistency"] is row["preference_fairness"] is row["p"] is None
    back = [(pair, second, first, turn[won]) for pair, first, second, won in rows]
    row = only(preference(seen(*rows, *back)))
    said = [statistics.multimode(own) for own in repeats]
    assert [row["wins"], row["losses"]] == [said.count([one]) for one in "AB"]
    assert row["ties"] == len(repeats) - row["wins"] - row["losses"]


def comparison(name: str, won: str, first: str | None, second: str | None, **given) -> list[dict]:
    """A comparison as the table `comparisons` holds it: two sides, two criteria each."""
    keys = {"workspace": "w", "skill": "s", "comparison": name, "winner": won}
    behind = given.pop("behind", "configuration")
    return [
        keys | {"side": side, behind: name_of, "group": "content", "criterion": one} | given
        for side, name_of in (("A", first), ("B", second))
        for one in ("correctness", "completeness")
    ]


def comparisons(*rows: list[dict]) -> pl.DataFrame:
    return table_of("comparisons", [row for own in rows for row in own])


@pytest.mark.parametrize("behind", ["configuration", "version"])
def test_the_table_of_the_workspace(behind) -> None:
    table = comparisons(
        comparison("c1", "A", NEW, OLD, eval_id="1", behind=behind),
        comparison("c2", "B", OLD, NEW, eval_id="1", behind=behind),
        comparison("c3", "TIE", NEW, OLD, eval_id="2", behind=behind),
        comparison("c4", "A", OLD, NEW, eval_id="2", behind=behind),
    )
    for data in (table, to_pandas(table), Workspace.from_tables({"comparisons": table})):
        row = only(preference(data))
        assert (row["n_comparisons"], row["n_both_orders"]) == (4, 2)
        assert (row["wins"], row["losses"], row["ties"], row["primacy"]) == (1, 0, 1, 1)


def test_pairs_of_one_eval_are_told_apart_and_settled_into_the_eval() -> None:
    """Of the first eval's three runs two win; the second eval is lost, the third is tied."""
    turn, won = {"A": "B", "B": "A"}, {"1": "AAB", "2": "B", "3": "AB"}
    table = comparisons(
        *(
            comparison(f"{pair}{answer}{sides}", answer, *sides, eval_id=of, pair=pair)
            for of, winners in won.items()
            for run, new in enumerate(winners)
            for pair in [f"{of}{run}"]
            for answer, sides in ((new, (NEW, OLD)), (turn[new], (OLD, NEW)))
        )
    )
    row = only(preference(table))
    assert (row["n_pairs"], row["n_both_orders"], row["n_evals"]) == (6, 6, 3)
    assert (row["wins"], row["losses"], row["win_rate"]) == (3, 3, 0.5)
    assert (row["eval_wins"], row["eval_losses"], row["eval_ties"]) == (1, 1, 1)
    assert (row["low"], row["high"]) == pytest.approx(
        tuple(scipy_stats.binomtest(3, 6).proportion_ci(method="exact"))
    )
    assert row["eval_p"] == 1.0


@pytest.mark.parametrize(
    ("configurations", "versions", "names"),
    [
        ((NEW, OLD), ("iteration-1", "iteration-1"), (NEW, OLD)),
        ((NEW, NEW), ("iteration-2", "iteration-1"), ("iteration-1", "iteration-2")),
        ((NEW, OLD), ("2", "1"), (f"{NEW} of 2", f"{OLD} of 1")),
        ((NEW, NEW), (None, None), (None, None)),
    ],
)
def test_sides_are_told_by_what_differs(configurations, versions, names) -> None:
    rows = comparison("c1", "A", *configurations)
    for row in rows:
        row["version"] = versions[row["side"] == "B"]
    row = only(preference(comparisons(rows)))
    assert (row["configuration"], row["other"]) == names


@pytest.mark.parametrize("rate", [0.1, 0.5, 0.8])
def test_the_interval_covers_at_least_its_level_also_where_evals_differ(rate) -> None:
    """Pairs of different evals have different chances; their mean is what is told of."""
    chances = [max(0.0, rate - 0.1), min(1.0, rate + 0.1)] * 6
    totals = np.ones(1)
    for chance in chances:
        totals = np.convolve(totals, [1 - chance, chance])
    ends = [Wins(wins, len(chances) - wins, 0).interval() for wins in range(13)]
    missed = [not low <= rate <= high for low, high in ends]
    assert totals @ missed <= 0.05
