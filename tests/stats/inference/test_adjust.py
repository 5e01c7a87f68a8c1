import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import false_discovery_control

from skill_eval_nb.stats.inference.adjust import benjamini_hochberg

P = st.floats(0, 1, allow_subnormal=False)


@given(st.lists(P, min_size=1, max_size=30))
def test_agrees_with_scipy(p: list[float]) -> None:
    assert benjamini_hochberg(p) == pytest.approx(list(false_discovery_control(p)))


@given(st.lists(st.none() | P, max_size=30))
def test_nulls_stay_and_are_not_counted(p: list[float | None]) -> None:
    found = benjamini_hochberg(p)
    assert [one is None for one in found] == [one is None for one in p]
    known = [one for one in p if one is not None]
    assert [one for one in found if one is not None] == benjamini_hochberg(known)
