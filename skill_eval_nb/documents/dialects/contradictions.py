"""Figures of a benchmark that cannot all be true."""

from __future__ import annotations

from ..benchmark import Benchmark, RunResult
from ..faults import Faults

ROUNDING = 0.0101
"""How far a rate may be from its counts: rates are often printed with two digits."""


def contradictions(benchmark: Benchmark, where: str, faults: Faults) -> None:
    """Add a fault for each run whose pass rate and counts contradict each other."""
    for index, run in enumerate(benchmark.runs):
        if run.result is not None:
            place = f"{where}.runs[{index}].result"
            for message in _of(run.result):
                faults.add("warning", "contradiction", place, message)
        verdicts = [one.passed for one in run.expectations if one.passed is not None]
        if run.result is not None and run.result.passed is not None and verdicts:
            passed = sum(verdicts)
            if passed != run.result.passed and len(verdicts) == len(run.expectations):
                message = f"passed is {run.result.passed}, but {passed} expectations passed"
                faults.add("warning", "contradiction", f"{where}.runs[{index}]", message)


def _of(result: RunResult) -> list[str]:
    passed, failed, total = result.passed, result.failed, result.total
    told = []
    if passed is not None and total is not None and passed > total:
        told.append(f"{passed} passed of only {total}")
    scored = passed + failed if passed is not None and failed is not None else total
    if total is not None and scored is not None and scored > total:
        told.append(f"{passed} passed and {failed} failed, but {total} in all")
    if passed is not None and scored and result.pass_rate is not None and passed <= scored:
        shares = {passed / scored, passed / total if total else passed / scored}
        if all(abs(result.pass_rate - share) > ROUNDING for share in shares):
            told.append(f"pass_rate is {result.pass_rate:g}, but {passed} of {scored} passed")
    return told
