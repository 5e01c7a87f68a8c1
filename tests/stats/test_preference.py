"""Blind comparisons in both orders: who wins, and what the order decides."""

from __future__ import annotations

import statistics
from collections import Counter

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from skill_eval_nb.stats import preference
from skill_eval_nb.tables import Workspace
from skill_eval_nb.tables.columns import to_pandas
from tests.stats.made import examples, only
from tests.tables.made import table_of

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


@examples
@given(choices)
def test_the_measures_of_shi_et_al_over_their_choice_pairs(pairs) -> None:
    """And who wins: a winner that changes with the order is a tie, what is left is binomial."""
    given = [((str(at), NEW, OLD, a), (str(at), OLD, NEW, b)) for at, (a, b) in enumerate(pairs)]
    found = preference(seen(*(row for both in given for row in both)))
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


def compared(name: str, won: str, *names: str | None, behind="configuration", **more) -> list[dict]:
    """A comparison as the table `comparisons` holds it: two sides, two criteria each."""
    keys = {"workspace": "w", "skill": "s", "comparison": name, "winner": won, "group": "content"}
    return [
        keys | {"side": side, behind: name_of, "criterion": one} | more
        for side, name_of in zip("AB", names, strict=True)
        for one in ("correctness", "completeness")
    ]


def test_the_table_of_the_workspace_whose_pairs_settle_into_evals() -> None:
    """Of the first eval's three runs two win; the second eval is lost, the third is tied."""
    turn, won = {"A": "B", "B": "A"}, {"1": "AAB", "2": "B", "3": "AB"}
    rows = [
        row
        for of, winners in won.items()
        for run, new in enumerate(winners)
        for answer, sides in ((new, (NEW, OLD)), (turn[new], (OLD, NEW)))
        for row in compared(f"{of}{run}{sides}", answer, *sides, eval_id=of, pair=f"{of}{run}")
    ]
    table = table_of("comparisons", rows)
    for data in (table, to_pandas(table), Workspace.from_tables({"comparisons": table})):
        row = only(preference(data))
        assert (row["n_comparisons"], row["n_pairs"], row["n_both_orders"]) == (12, 6, 6)
        assert (row["n_evals"], row["wins"], row["losses"], row["win_rate"]) == (3, 3, 3, 0.5)
        assert (row["eval_wins"], row["eval_losses"], row["eval_ties"]) == (1, 1, 1)
        ends = scipy_stats.binomtest(3, 6).proportion_ci(method="exact")
        assert (row["low"], row["high"], row["eval_p"]) == pytest.approx((*ends, 1.0))


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
    rows = compared("c1", "TIE", *configurations)
    for row in rows:
        row["version"] = versions[row["side"] == "B"]
    row = only(preference(table_of("comparisons", rows)))
    assert (row["configuration"], row["other"]) == names
