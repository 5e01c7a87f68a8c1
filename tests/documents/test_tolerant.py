"""Tolerant reading: what has one clear meaning is taken, the rest is a fault and null."""

from __future__ import annotations

from typing import Any

import pytest

from skill_eval_nb.documents import (
    Benchmark,
    Grading,
    Metrics,
    Timing,
    dump,
    mend,
)
from skill_eval_nb.documents.repair import MOST_VALUES


@pytest.mark.parametrize(
    ("element", "verdict"),
    [
        ({"text": "x", "passed": True}, True),
        ({"description": "x", "result": "PASS"}, True),
        ({"name": "x", "met": "no"}, False),
        ({"expectation": "x", "status": "Passed."}, True),
        ({"criterion": "x", "grade": "✗"}, False),
        ({"check": "x", "verdict": 1}, True),
        ({"text": "x", "passed": None}, None),
        ({"text": "x", "passed": "false"}, False),
        ({"text": "x", "passed": "✅"}, True),
        ({"text": "x", "passed": 0}, False),
        ({"text": "x", "passed": "n/a"}, None),
        ({"text": "x", "passed": 7}, None),
        ({"text": "x", "passed": "skipped"}, None),
        ({"text": "x"}, None),
    ],
)
def test_verdicts(element: dict[str, Any], verdict: bool | None) -> None:
    grading, faults = mend({"expectations": [element]}, Grading)
    [one] = grading.expectations
    assert (one.text, one.passed) == ("x", verdict)
    plain = "passed" in element and element["passed"] in (True, None)
    assert bool(faults) is not plain
    assert dump(grading) == {"expectations": [element]}


@pytest.mark.parametrize(
    ("value", "read"),
    [
        *[(0.5, 0.5), ("50%", 0.5), ("1/2", 0.5), (50, 0.5), ("+0.5", 0.5), (1, 1.0), (100, 1.0)],
        *[(" 75 % ", 0.75), (33.3, pytest.approx(0.333)), ("0.75", 0.75), (0, 0.0)],
        *[(none, None) for none in (-0.5, 1.5, 250, "most", True, [0.5], 101)],
    ],
)
def test_rates(value: Any, read: float | None) -> None:
    grading, faults = mend({"expectations": [], "summary": {"pass_rate": value}}, Grading)
    assert grading.summary is not None
    assert grading.summary.pass_rate == read
    assert any(fault.severity == "error" for fault in faults) is (read is None)


@pytest.mark.parametrize(
    ("raw", "name", "value"),
    [
        ({"total_duration_seconds": "12.5 s"}, "total_duration_seconds", 12.5),
        ({"duration_seconds": 12}, "total_duration_seconds", 12.0),
        ({"elapsed_s": "1,5"}, "total_duration_seconds", 1.5),
        ({"total_seconds": "250 ms"}, "total_duration_seconds", 0.25),
        ({"total_duration_seconds": -1}, "total_duration_seconds", None),
        ({"total_duration_seconds": "soon"}, "total_duration_seconds", None),
        # A unit that does not fit is refused.
        ({"total_tokens": "45 s"}, "total_tokens", None),
        ({"total_tokens": "12,345"}, "total_tokens", 12345),
        ({"total_tokens": 12345.0}, "total_tokens", 12345),
        ({"duration_ms": "2 s"}, "duration_ms", 2000),
    ],
)
def test_times_and_counts(raw: dict[str, Any], name: str, value: float | None) -> None:
    assert getattr(mend(raw, Timing)[0], name) == value


def test_every_fault_at_once_and_where_it_is() -> None:
    rows = [{"configuration": {}, "result": {"tokens": "many"}}, "nothing", {"config": "a"}]
    raw = {
        "metadata": {"evals_run": 3, "runs_per_configuration": -1},
        "runs": rows,
        "run_summary": {"with_skill": 1},
    }
    mended, faults = mend(raw, Benchmark)
    assert [(fault.code, fault.where) for fault in faults] == [
        ("other-form", "$.metadata.evals_run"),
        ("wrong-type", "$.metadata.runs_per_configuration"),
        ("wrong-type", "$.runs[0].configuration"),
        ("wrong-type", "$.runs[0].result.tokens"),
        ("wrong-type", "$.runs[1]"),
        ("other-name", "$.runs[2].config"),
        ("wrong-type", "$.run_summary.with_skill"),
    ]
    assert dump(mended) == raw


def test_a_name_that_is_nearly_right_is_offered() -> None:
    [fault] = mend({"expectatons": []}, Grading)[1]
    assert "did you mean `expectatons`" in fault.message


@pytest.mark.parametrize("text", ["{}x", "1{}y", "1{}", "$ {}1", "1/{}x", "- {}"])
def test_a_text_where_a_number_belongs_is_read_in_one_go(text: str) -> None:
    """It took minutes: blanks could be shared out in as many ways as there were pairs of them."""
    found = mend({"total_tool_calls": text.format(" " * 200_000)}, Metrics)[0]
    assert found.total_tool_calls in (None, 1)


@pytest.mark.parametrize(
    "raw",
    [
        {"expectations": [1] * (MOST_VALUES + 1)},
        {str(number): 1 for number in range(MOST_VALUES + 1)},
    ],
    ids=["values", "keys"],
)
def test_too_many_values_to_repair_are_refused_as_a_whole(raw: Any) -> None:
    grading, faults = mend(raw, Grading)
    assert [fault.code for fault in faults] == ["too-large"]
    assert "it was not used" in faults[0].message
    assert grading.expectations == []
