"""Home-made benchmarks: the shapes that people came up with, in figures of our own.

The documents, and what is read of each, are the cases of `tests/kept/wild.txt`.
"""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from skill_eval_nb.documents.dialects import check, read_as_shared, recognise
from skill_eval_nb.workspace.benchmarks import find_contradictions
from tests.cases import Case, cases
from tests.corpus.build import expectations
from tests.golden import lines_of

Raw = dict[str, Any]


@pytest.mark.parametrize("case", cases("wild"))
def test_what_is_read_of_each(case: Case) -> None:
    [path] = case.files
    kind, raw = path.removesuffix(".json"), case.json(path)
    found, faults = read_as_shared(kind, raw)
    documents = found if isinstance(found, list) else [found]
    if recognise(kind, raw) == "wild":
        assert "no-dialect" in [fault.code for fault in check(kind, raw)]
    case.hold(
        [
            f"as {recognise(kind, raw)}",
            *lines_of([msgspec.to_builtins(one) for one in documents]),
            *(f"{fault.code} {fault.where}" for fault in faults.collapsed()),
        ]
    )


@pytest.mark.parametrize(
    ("stated", "rate"),
    [
        *((text, 0.6) for text in ("3/5", " 3 / 5 ", "3/5 passed", "3/5 checks passed.")),
        *((text, None) for text in ("3/5 failed", "2/3 extra text", "1/2/2026", "5/3")),
    ],
)
def test_a_share_is_all_that_a_text_says(stated, rate) -> None:
    raw = {"runs": [{"eval_id": "a", "configuration": "with_skill", "pass_rate": stated}]}
    found, faults = read_as_shared("benchmark", raw)
    rates = [run.result.pass_rate for benchmark in found for run in benchmark.runs]
    assert [one for one in rates if one is not None] == ([] if rate is None else [rate])
    assert rate is not None or any(fault.severity != "info" for fault in faults)


@pytest.mark.parametrize("raw", [{}, [], "text", 3, {"runs": "none"}, {"cases": [{"eval_id": 1}]}])
def test_of_which_nothing_is_understood(raw: Any) -> None:
    found, faults = read_as_shared("benchmark", raw)
    assert found[0].runs == []
    assert [fault for fault in faults if fault.severity == "error" and fault.code == "no-figures"]


@pytest.mark.parametrize(
    ("passed", "failed", "total", "rate", "contradicts"),
    [
        (1, 1, 2, 0.9, True),
        (3, None, 2, None, True),
        (2, 2, 3, None, True),
        (2, 1, 3, 0.67, False),  # rounded
    ],
)
def test_figures_that_contradict_each_other(
    passed: int, failed: int | None, total: int, rate: float | None, contradicts: bool
) -> None:
    run = {"eval_id": 1, "configuration": "with_skill", "run_number": 1}
    result = {"pass_rate": rate, "passed": passed, "failed": failed, "total": total}
    runs = [{**run, "result": result, "expectations": expectations("ppppp")}]
    raw = {"metadata": {"skill_name": "s"}, "runs": runs}
    [benchmark], _ = read_as_shared("benchmark", raw)
    found = [where for where, _ in find_contradictions(benchmark)]
    assert found == [*["runs[0].result"] * contradicts, "runs[0]"]  # of five verdicts
