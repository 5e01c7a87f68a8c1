"""From Python values to frames, from frames to the other backend, and back."""

from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from skill_eval_nb.tables import Column, Table
from skill_eval_nb.tables.frames import frame_of, to_pandas, to_polars

SMALL = Table(
    "small",
    "a row",
    tuple(Column(kind, kind, "…") for kind in ("text", "whole", "number", "flag", "list")),
)
VALUES = {
    "text": st.none() | st.text(),
    "whole": st.none() | st.integers(-(2**63), 2**63 - 1),
    "number": st.none() | st.floats(allow_nan=False),
    "flag": st.none() | st.booleans(),
    "list": st.lists(st.text()),
}
RUN = {"workspace": "ws", "run_number": 1, "passed": 2, "pass_rate": 0.5, "gate_passed": True}


@given(st.lists(st.fixed_dictionaries(VALUES)))
def test_values_come_back_as_they_went_in(rows):
    frame = to_polars(SMALL, {name: [row[name] for row in rows] for name in VALUES})
    assert frame.to_dicts() == rows


@given(st.lists(st.fixed_dictionaries(VALUES)))
def test_pandas_holds_the_same_nulls_and_values(rows):
    frame = to_pandas(to_polars(SMALL, {name: [row[name] for row in rows] for name in VALUES}))
    for name in ("text", "whole", "number", "flag"):
        nulls = [row[name] is None for row in rows]
        assert frame[name].isna().tolist() == nulls
        assert [value for value, null in zip(frame[name], nulls, strict=True) if not null] == [
            row[name] for row in rows if row[name] is not None
        ]
    assert [list(one) for one in frame["list"]] == [row["list"] for row in rows]


def test_whole_numbers_with_nulls_stay_whole_in_pandas():
    largest = 2**53 + 1  # the first that no float can hold
    frame = to_pandas(to_polars(SMALL, {"whole": [largest, None]}))
    assert frame["whole"][0] == largest
    assert frame["whole"][1] is pd.NA
    assert frame["flag"].dtype == pd.BooleanDtype()


@given(st.text(st.characters(exclude_categories=()), min_size=1))
@example("a \ud800 b")
def test_half_surrogate_pairs_become_the_replacement_character(text):
    frame = to_polars(SMALL, {"text": [text, None], "list": [[text], []]})
    for back in (frame["text"][0], frame["list"][0][0]):
        halves = any("\ud800" <= character <= "\udfff" for character in text)
        assert (back == text) != halves
        back.encode()


class TestFrameOf:
    """`frame_of`: what statistics and charts see of what they are given."""

    def test_pandas_nulls_are_nulls(self):
        given_frame = pd.DataFrame(
            {"passed": pd.array([1, None], "Int64"), "pass_rate": [0.5, None]}
        )
        frame = frame_of(given_frame, "runs")
        assert frame["passed"].to_list() == [1, None]
        assert frame["pass_rate"].to_list() == [0.5, None]

    @pytest.mark.parametrize("data", [None, 3, "runs", [RUN], {"runs": 1}])
    def test_anything_else_is_a_type_error(self, data):
        with pytest.raises(TypeError):
            frame_of(data, "runs")
