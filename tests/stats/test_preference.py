"""Blind comparisons in both orders: who wins, and what the order decides."""

from __future__ import annotations

from collections import Counter

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from skill_eval_nb.stats import preference
from skill_eval_nb.stats.preference import Wins, majority, most_often
from skill_eval_nb.tables import TABLES, Workspace
from skill_eval_nb.tables.frames import to_pandas, to_polars
from tests.stats.made import examples, plain

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


def only(found) -> dict:
    [row] = plain(found)
    return row


@examples
@given(choices)
def test_the_measures_of_shi_et_al_over_their_choice_pairs(pairs) -> None:
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


@examples
@given(choices)
def test_a_winner_that_changes_with_the_order_is_a_tie(pairs) -> None:
    for row in plain(preference(both_orders(pairs))):
        wins, losses = pairs.count(("A", "B")), pairs.count(("B", "A"))
        assert (row["wins"], row["losses"], row["ties"]) == (
            wins,
            losses,
            len(pairs) - wins - losses,
        )
        if wins + losses:
            expected = scipy_stats.binomtest(wins, wins + losses).pvalue
            assert row["p"] == pytest.approx(expected)
        else:
            assert row["p"] is None


@given(st.lists(st.lists(winner, min_size=1, max_size=5), min_size=1, max_size=6))
def test_repetition_stability_is_the_share_of_the_commonest(repeats) -> None:
    rows = [(str(at), NEW, OLD, won) for at, own in enumerate(repeats) for won in own]
    row = only(preference(seen(*rows)))
    shares = [Counter(own).most_common(1)[0][1] / len(own) for own in repeats if len(own) > 1]
    expected = sum(shares) / len(shares) if shares else None
    assert row["repetition_stability"] == (expected and pytest.approx(expected))
    assert row["n_repeated"] == len(shares)
    assert row["n_both_orders"] == 0
    assert row["position_consistency"] is row["preference_fairness"] is row["p"] is None


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
    every = [row for own in rows for row in own]
    names = TABLES["comparisons"].names
    return to_polars(TABLES["comparisons"], {n: [r.get(n) for r in every] for n in names})


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
    """Two evals: in the first two of three runs win; the second is lost. The pairs say so."""
    won = {"1": ["A", "A", "B"], "2": ["B"]}
    table = comparisons(
        *(
            comparison(
                f"{eval_}-{run}-{order}", winner, *sides, eval_id=eval_, pair=f"{eval_}{run}"
            )
            for eval_, winners in won.items()
            for run, for_new in enumerate(winners)
            for order, winner, sides in (
                (1, for_new, (NEW, OLD)),
                (2, "B" if for_new == "A" else "A", (OLD, NEW)),
            )
        )
    )
    row = only(preference(table))
    assert (row["n_pairs"], row["n_both_orders"], row["n_evals"]) == (4, 4, 2)
    assert (row["wins"], row["losses"], row["win_rate"]) == (2, 2, 0.5)
    assert (row["eval_wins"], row["eval_losses"], row["eval_ties"]) == (1, 1, 0)
    low, high = scipy_stats.binomtest(2, 4).proportion_ci(method="exact")
    assert (row["low"], row["high"]) == (pytest.approx(low), pytest.approx(high))
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


# ── winning ────────────────────────────────────────────────────────────────────────────────────

counts = st.integers(0, 60)


@given(counts, counts, counts)
def test_rate_interval_and_p_are_those_of_the_exact_binomial(wins, losses, ties) -> None:
    found = Wins(wins, losses, ties)
    if not wins + losses:
        assert (found.rate, found.p, found.interval()) == (None, None, (None, None))
        return
    oracle = scipy_stats.binomtest(wins, wins + losses)
    assert found.rate == pytest.approx(oracle.statistic)
    assert found.p == pytest.approx(oracle.pvalue)
    for level in (0.8, 0.95):
        assert found.interval(level) == pytest.approx(
            tuple(oracle.proportion_ci(level, method="exact"))
        )


@pytest.mark.parametrize("rate", [0.1, 0.5, 0.8])
def test_the_interval_covers_at_least_its_level_also_where_evals_differ(rate) -> None:
    """Pairs of different evals have different chances; their mean is what is told of."""
    chances = [max(0.0, rate - 0.1), min(1.0, rate + 0.1)] * 6
    missed = 0.0
    totals = {0: 1.0}
    for chance in chances:
        grown: Counter[int] = Counter()
        for wins, weight in totals.items():
            grown[wins] += weight * (1 - chance)
            grown[wins + 1] += weight * chance
        totals = grown
    for wins, weight in totals.items():
        low, high = Wins(wins, len(chances) - wins, 0).interval()
        missed += weight * (not low <= rate <= high)
    assert missed <= 0.05


@given(st.lists(st.sampled_from(["A", "B", "tie"]), max_size=9))
def test_what_is_said_most_often_is_said_and_who_wins_more_has_the_eval(winners) -> None:
    ranked = Counter(winners).most_common()
    alone = len(ranked) == 1 or (len(ranked) > 1 and ranked[0][1] > ranked[1][1])
    assert most_often(Counter(winners)) == (
        None if not ranked else ranked[0][0] if alone else "tie"
    )
    more = winners.count("A") - winners.count("B")
    assert majority(winners) == ("A" if more > 0 else "B" if more < 0 else "tie")
