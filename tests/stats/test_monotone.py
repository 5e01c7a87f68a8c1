"""More evidence for the same effect never weakens a verdict, and neither does a larger win."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skill_eval_nb import stats
from tests.stats.made import examples, pair, plain, runs_table

Side = tuple[float, ...]
Eval = tuple[Side, Side]
"""The pass rates of an eval's runs, with the skill and without."""

NEAR = 0.2

SCOPES = pytest.mark.parametrize("scope", ["suite", "population"])


def rates(checks: int, runs: int, above: Side = ()) -> st.SearchStrategy[Side]:
    """The runs of one side, so many checks each; none worse than the best of `above`."""
    passed = st.integers(round(max(above, default=0.0) * checks), checks)
    return st.lists(passed.map(lambda k: k / checks), min_size=runs, max_size=runs).map(tuple)


@st.composite
def designs(draw: st.DrawFn) -> list[Eval]:
    """A few evals, one to four runs a side; the skill mostly wins, so that verdicts fall.

    Either side of an eval has as many runs: where they differ in number the difference is held
    against its noise, and a larger win may show more of that.
    """
    checks, fewest = draw(st.sampled_from([1, 2, 3, 5, 8])), draw(st.sampled_from([2, 1]))
    n = draw(st.sampled_from([7, 8, 6, 9, 4, 3, 2, 1]))
    evals: list[Eval] = []
    for wins in draw(st.lists(st.sampled_from([True] * 5 + [False]), min_size=n, max_size=n)):
        runs = draw(st.integers(fewest, 4))
        without = draw(rates(checks, runs))
        evals.append((draw(rates(checks, runs, without if wins else ())), without))
    return evals


def answers(*worlds: Sequence[Eval], scope: str) -> list[dict[str, Any]]:
    """What `deltas` says of each design; they are iterations of one table."""
    rows = [
        row
        for at, evals in enumerate(worlds, start=1)
        for number, sides in enumerate(evals, start=1)
        for row in pair(*sides, iteration=f"iteration-{at}", eval_id=str(number))
    ]
    return plain(stats.deltas(runs_table(rows), scope=scope))


def raised(evals, data):
    more = data.draw(st.lists(st.sampled_from([0.0, 0.0, 0.25, 3.0]), min_size=9, max_size=9))
    return [((one[0] + by, *one[1:]), other) for (one, other), by in zip(evals, more, strict=False)]


def with_another(evals, data):
    """At least two runs a side: of these evals nothing can be claimed without seeing noise."""
    runs = data.draw(st.integers(2, 4))
    without = data.draw(rates(4, runs))
    return [*evals, (data.draw(rates(4, runs, without)), without)]


MORE = {
    "a larger win": raised,
    "the same runs once more": lambda evals, _: [(one * 2, other * 2) for one, other in evals],
    "the same evals once more": lambda evals, _: evals * 2,
    "another eval on which every run is at least as good": with_another,
}


@SCOPES
@pytest.mark.parametrize("how", MORE)
@examples
@given(designs(), st.data())
def test_no_verdict_is_lost_by(how, scope, evals, data):
    """Neither `helps` nor, with the sides exchanged, `hurts` is lost.

    And a p that comes near a verdict stays near it; one far from it may come and go.
    """
    worlds = evals, MORE[how](evals, data)
    turned = ([(other, one) for one, other in own] for own in worlds)
    found = answers(*worlds, *turned, scope=scope)
    for then, now, word in ((*found[:2], "helps"), (*found[2:], "hurts")):
        assert then["verdict"] != word or now["verdict"] == word, (then["reason"], now["reason"])
        towards = then["estimate"] is not None and (then["estimate"] > 0) == (word == "helps")
        if towards and then["p"] is not None and then["p"] <= NEAR:
            assert now["p"] <= NEAR + 1e-9


@pytest.mark.parametrize(("scope", "few"), [("suite", 2), ("population", 4)])
def test_the_verdicts_fall_at_all(scope, few):
    """What the properties rest on: the designs above reach `helps`, and from few evals on."""
    win = ((0.9, 1.0, 0.8), (0.1, 0.2, 0.0))
    words = [one["verdict"] for one in answers(*([win] * n for n in range(1, 9)), scope=scope)]
    assert "helps" not in words[: few - 1]
    assert set(words[few + 1 :]) == {"helps"}
