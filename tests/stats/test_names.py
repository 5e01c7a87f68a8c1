import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skill_eval_nb.stats.names import in_order, natural, no_such


def test_digits_are_read_as_numbers() -> None:
    names = ["iteration-10", "iteration-9", "iteration-2-gpt", "iteration-2", "tier3", "none", "9"]
    assert sorted(names, key=natural) == [
        "9",
        "iteration-2",
        "iteration-2-gpt",
        "iteration-9",
        "iteration-10",
        "none",
        "tier3",
    ]


def test_zeros_in_front_do_not_count() -> None:
    assert sorted(["run-10", "run-009", "run-8"], key=natural) == ["run-8", "run-009", "run-10"]


@given(st.lists(st.integers(0, 10**30)))
def test_numbers_alone_are_in_the_order_of_numbers(numbers: list[int]) -> None:
    texts = [str(number) for number in numbers]
    assert [int(text) for text in sorted(texts, key=natural)] == sorted(numbers)


@given(st.lists(st.text(alphabet="a01٣²-", max_size=6), max_size=10))
def test_any_names_have_one_order(names: list[str]) -> None:
    backwards = names[::-1]
    assert sorted(names, key=natural) == sorted(backwards, key=natural)


def test_a_frame_is_sorted_by_several_columns_with_nulls_last() -> None:
    frame = pl.DataFrame({"a": ["x10", "x9", None, "x9"], "b": ["q", "r", "s", None]})
    found = in_order(frame, a=natural, b=natural)
    assert found.rows() == [("x9", "r"), ("x9", None), ("x10", "q"), (None, "s")]


def test_an_empty_frame_stays_empty() -> None:
    frame = pl.DataFrame(schema={"a": pl.String})
    assert in_order(frame, a=natural).equals(frame)


def test_a_wrong_name_is_answered_with_the_nearest_and_all() -> None:
    error = no_such("configuration", "witout_skill", ["with_skill", "without_skill"])
    assert str(error) == (
        "There is no configuration `witout_skill`. Did you mean `without_skill`? "
        "There are: with_skill, without_skill."
    )
    with pytest.raises(ValueError, match="There are none"):
        raise no_such("configuration", "x", [])


def test_what_is_the_same_everywhere_leaves_the_rows_as_they_are() -> None:
    frame = pl.DataFrame({"a": ["x", "x", "x"], "b": ["r", None, "r"], "c": [2, 1, 3]})
    assert in_order(frame, a=natural).equals(frame)
    assert in_order(frame, a=natural, b=natural)["c"].to_list() == [2, 3, 1]
