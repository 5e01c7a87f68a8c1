"""From Python values to frames, from frames to the other backend, and back."""

from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from skill_eval_nb.tables import Column, Table
from skill_eval_nb.tables.columns import frame_of, to_pandas, to_polars

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


@given(st.lists(st.fixed_dictionaries(VALUES)))
@example(
    [dict.fromkeys(VALUES) | {"whole": 2**53 + 1, "list": []}]
)  # the first that no float can hold
@example([dict.fromkeys(VALUES) | {"list": []}])
def test_values_come_back_as_they_went_in_and_nulls_as_nulls_in_both_backends(rows):
    frame = to_polars(SMALL, {name: [row[name] for row in rows] for name in VALUES})
    assert frame.to_dicts() == rows
    other = to_pandas(frame)
    assert other["flag"].dtype == pd.BooleanDtype()
    for name in ("text", "whole", "number", "flag"):
        assert other[name].isna().tolist() == [row[name] is None for row in rows]
        assert other[name].dropna().tolist() == [row[name] for row in rows if row[name] is not None]
    assert [list(one) for one in other["list"]] == [row["list"] for row in rows]


@given(st.text(st.characters(exclude_categories=()), min_size=1))
@example("a \ud800 b")
def test_half_surrogate_pairs_become_the_replacement_character(text):
    frame = to_polars(SMALL, {"text": [text, None], "list": [[text], []]})
    for back in (frame["text"][0], frame["list"][0][0]):
        halves = any("\ud800" <= character <= "\udfff" for character in text)
        assert (back == text) != halves
        back.encode()


def test_what_statistics_and_charts_are_given_is_a_frame_or_a_type_error():
    given_frame = pd.DataFrame({"passed": pd.array([1, None], "Int64"), "pass_rate": [0.5, None]})
    assert frame_of(given_frame, "runs")["passed", "pass_rate"].rows() == [(1, 0.5), (None, None)]
    for data in (None, 3, "runs", [{"workspace": "ws"}], {"runs": 1}):
        with pytest.raises(TypeError):
            frame_of(data, "runs")
