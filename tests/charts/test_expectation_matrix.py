from __future__ import annotations

from collections import defaultdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skill_eval_nb.charts import expectation_matrix
from tests.charts.specs import marks_of, rows_of, subtitle_of, texts_of, title_of, tooltips_of
from tests.charts.worlds import run_keys, workspace, world

verdicts = st.lists(
    st.fixed_dictionaries(
        {
            "eval_id": st.sampled_from("12"),
            "configuration": st.sampled_from(["with_skill", "without_skill"]),
            "run_number": st.integers(1, 4),
            "text": st.sampled_from(["reads", "writes"]),
            "passed": st.sampled_from([True, False, None]),
        }
    ),
    max_size=40,
)


def checked(rows):
    """A workspace of these verdicts."""
    return workspace(
        expectations=[
            run_keys(eval_name=f"e{row.get('eval_id', '0')}", layer="judged") | row for row in rows
        ]
    )


@settings(max_examples=8)
@given(verdicts)
def test_cells_count_what_passed_of_what_was_scored(rows) -> None:
    own = defaultdict(list)
    for row in rows:
        own[f"e{row['eval_id']}", row["text"], row["configuration"]].append(row["passed"])
    expected = {
        key: (f"{said.count(True)}/{len(said) - said.count(None)}", said.count(None))
        if said.count(None) < len(said)
        else ("–", said.count(None))
        for key, said in own.items()
    }
    cells = rows_of(expectation_matrix(checked(rows)), "verdicts", "share")
    found = {
        (row["eval"], row["expectation"], row["configuration"]): (row["verdicts"], row["unscored"])
        for row in cells
    }
    assert found == expected


def test_failed_and_not_scored_look_different() -> None:
    row = {"eval_id": "1", "text": "reads", "run_number": 1}
    chart = expectation_matrix(
        checked(
            [
                row | {"configuration": "with_skill", "passed": None},
                row | {"configuration": "without_skill", "passed": False},
            ]
        )
    )
    cells = {row["configuration"]: row for row in rows_of(chart, "verdicts", "share")}
    assert (cells["with_skill"]["verdicts"], cells["with_skill"]["share"]) == ("–", None)
    assert (cells["without_skill"]["verdicts"], cells["without_skill"]["share"]) == ("0/1", 0)
    assert {"rect", "text"} <= marks_of(chart)


def test_a_configuration_without_the_eval_has_no_cell() -> None:
    row = {"run_number": 1, "passed": True}
    chart = expectation_matrix(
        checked(
            [
                row | {"eval_id": "1", "text": "reads", "configuration": "with_skill"},
                row | {"eval_id": "2", "text": "reads", "configuration": "without_skill"},
            ]
        )
    )
    assert len(rows_of(chart, "verdicts", "share")) == 2


def test_evidence_is_that_of_a_failure_where_there_is_one() -> None:
    row = {"eval_id": "1", "text": "reads", "configuration": "with_skill"}
    said = [(1, True, "line 3"), (2, False, "no such line"), (3, None, "?")]
    chart = expectation_matrix(
        checked(
            [
                row | {"run_number": number, "passed": passed, "evidence": evidence}
                for number, passed, evidence in said
            ]
        )
    )
    (cell,) = rows_of(chart, "verdicts", "share")
    assert cell["evidence"] == "run 2, failed: no such line"
    asked = {"Eval", "Expectation", "Layer", "Configuration", "Passed/scored", "Not scored"}
    assert asked | {"Evidence"} <= tooltips_of(chart)


def test_long_texts_are_cut_and_whole_in_the_tooltip() -> None:
    text = "The report names each test " * 12
    row = {"eval_id": "1", "text": text, "configuration": "with_skill", "run_number": 1}
    chart = expectation_matrix(checked([row | {"passed": True}]))
    assert rows_of(chart, "verdicts", "share")[0]["expectation"] == text.strip()
    [line] = [line for line in texts_of(chart) if "report" in line]
    assert line.endswith("…")


def test_the_same_text_in_another_eval_or_layer_is_another_expectation() -> None:
    row = {"text": "reads", "configuration": "with_skill", "run_number": 1, "passed": True}
    rows = [
        row | {"eval_id": "1"},
        row | {"eval_id": "2"},
        row | {"eval_id": "2", "layer": "structural"},
    ]
    assert len(rows_of(expectation_matrix(checked(rows)), "verdicts", "share")) == 3


def test_of_many_expectations_those_that_differ_most_are_shown() -> None:
    rows = [
        {
            "eval_id": "1",
            "text": f"check {number}",
            "configuration": side,
            "run_number": 1,
            "passed": side == "with_skill" or number % 2 == 0,
        }
        for number in range(60)
        for side in ("with_skill", "without_skill")
    ]
    chart = expectation_matrix(checked(rows))
    shown = {row["expectation"] for row in rows_of(chart, "verdicts", "share")}
    assert len(shown) == 40
    assert {f"check {number}" for number in range(1, 60, 2)} <= shown
    assert "The 40 of 60 expectations that differ most" in subtitle_of(chart)
    assert "30 of 60 expectations pass more often in with_skill" in title_of(chart)


def test_two_hundred_expectations_stay_readable() -> None:
    chart = expectation_matrix(world(evals=12, runs=5, expectations=17))
    assert len({row["row"] for row in rows_of(chart, "verdicts", "share")}) == 40


@pytest.mark.parametrize("passed", [True, None])
def test_one_side_alone_is_told_as_such(passed) -> None:
    row = {"eval_id": "1", "text": "reads", "configuration": "with_skill", "run_number": 1}
    said = title_of(expectation_matrix(checked([row | {"passed": passed}])))
    assert said == (
        "1 of 1 expectation always pass, 0 never (n = 1 verdict)"
        if passed
        else "None of 1 expectation has been scored"
    )
