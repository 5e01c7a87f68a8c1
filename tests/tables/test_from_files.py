"""Layouts that somebody tells: rows in any files as runs, checks, dimensions and queries."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import skill_eval_nb as sen
from tests.checkout import ROOT

PAGE = (ROOT / "docs" / "pages" / "own_layout.md").read_text()


def lay(folder: Path, files: Mapping[str, Any]) -> Path:
    """Files of JSON; a list under a name that ends in `.jsonl` a line each, a text as it is."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        text = content if isinstance(content, str) else json.dumps(content)
        if name.endswith(".jsonl"):
            text = "\n".join(map(json.dumps, content))
        path.write_text(text)
    return folder


def rates(ws: sen.Workspace) -> dict[tuple[str, str], list[float | None]]:
    """Eval and side to the pass rates of its runs."""
    found: dict[tuple[str, str], list[float | None]] = {}
    for eval_, side, rate in ws.runs.select("eval_id", "configuration", "pass_rate").rows():
        found.setdefault((eval_, side), []).append(rate)
    return found


def codes(ws: sen.Workspace) -> dict[str, str]:
    return dict(ws.problems.select("code", "message").rows())


def criteria(*met: bool) -> list[dict[str, Any]]:
    return [{"criterion": f"c{at}", "met": ok} for at, ok in enumerate(met)]


def sample(doc: int, right: float) -> dict[str, Any]:
    return {
        "doc_id": doc,
        "doc": {"question": "2 + 2?"},
        "target": str(doc),
        "resps": [["4"]],
        "filtered_resps": ["4"],
        "exact_match": right,
    }


def line(test: str, target: str, at: str, *ok: bool) -> dict[str, Any]:
    checks = [{"text": f"check {n}", "passed": passed} for n, passed in enumerate(ok)]
    graders = [{"name": "rubric", "score": 1, "target": "judge", "assertions": checks}]
    return {"timestamp": at, "test_id": test, "target": target, "duration_ms": 7000,
            "scores": graders}  # fmt: skip


def metric(name: str, *, ok: bool) -> dict[str, Any]:
    return {"name": name, "score": 0.6, "threshold": 0.5, "success": ok, "reason": "so",
            "evaluationModel": "judge-1"}  # fmt: skip


EXAMPLES: dict[str, tuple[dict[str, Any], dict[tuple[str, str], list[float | None]]]] = {
    "A file a case, with scores of its own": (
        {
            f"results/{side}/{case}/results.json": {
                "skill": "s",
                "results": [
                    {"name": "a", "weight": 2, "passed": True, "score": 2},
                    {"name": "b", "weight": 1, "passed": ok, "score": int(ok)},
                ],
                "total_passed": 1 + ok,
                "max_score": 3,
            }
            for side, ok in (("v1", False), ("v2", True))
            for case in ("refund", "size")
        },
        {(case, side): [rate] for side, rate in (("v1", 0.5), ("v2", 1.0))
         for case in ("refund", "size")},
    ),
    "Counts by concern": (
        {
            "rows.json": {
                "rows": [
                    {"eval_id": "e1", "arm": "on", "concerns": {"find": [3, 4], "fix": [1, 1]}},
                    {"eval_id": "e1", "arm": "off", "concerns": {"find": [1, 4], "fix": [0, 1]}},
                ]
            }
        },
        {("e1", "on"): [0.8], ("e1", "off"): [0.2]},
    ),
    "A list of criteria": (
        {
            "with_skill/grading.json": [{"id": "e1", "acceptance": criteria(True, True)}],
            "without_skill/grading.json": [{"id": "e1", "acceptance": criteria(True, False)}],
        },
        {("e1", "with_skill"): [1.0], ("e1", "without_skill"): [0.5]},
    ),
    "Time and tokens beside the verdicts": (
        {
            f"{side}.json": {
                "results": [{"eval": "a", "passed": True}, {"eval": "b.1", "passed": ok}],
                "per_eval": {"a": {"seconds": 3, "tokens": 40}, "b.1": {"seconds": 5}},
            }
            for side, ok in (("new", True), ("old", False))
        },
        {("a", "new"): [1.0], ("b.1", "new"): [1.0], ("a", "old"): [1.0], ("b.1", "old"): [0.0]},
    ),
    "Figures by eval": (
        {
            "summary.json": {
                "with_skill": {"per_eval": {"a": {"passed": 3, "total": 4}}},
                "without_skill": {"per_eval": {"a": {"passed": 1, "total": 4}}},
            }
        },
        {("a", "with_skill"): [0.75], ("a", "without_skill"): [0.25]},
    ),
    "lm-evaluation-harness": (
        {
            f"{side}/org__m/samples_gsm8k_2026-01-02T03-04-05.jsonl": [
                sample(0, 1.0), sample(1, right)
            ]
            for side, right in (("with", 1.0), ("without", 0.0))
        },
        {("0", "with"): [1.0], ("1", "with"): [1.0], ("0", "without"): [1.0],
         ("1", "without"): [0.0]},
    ),
    "agentv": (
        {
            "results/2026-07-05/index.jsonl": [
                line("t", "pi", "10:00", True, True),
                line("t", "pi", "10:01", True, False),
                line("t", "bare", "10:02", False, False),
            ]
        },
        {("t", "pi"): [1.0, 0.5], ("t", "bare"): [0.0]},
    ),
    "DeepEval": (
        {
            f"{side}.json": {
                "testCases": [
                    {
                        "name": "case 1",
                        "success": ok,
                        "runDuration": 2.5,
                        "metricsData": [metric("Relevancy", ok=True), metric("Faith", ok=ok)],
                    }
                ]
            }
            for side, ok in (("new", True), ("old", False))
        },
        {("case 1", "new"): [1.0], ("case 1", "old"): [0.5]},
    ),
}  # fmt: skip


def call_of(example: str) -> str:
    """The call that the page has for an example."""
    found = re.search(rf"### {re.escape(example)}\n.*?```python\n(.*?)```", PAGE, re.DOTALL)
    assert found
    return found[1]


@pytest.mark.parametrize("example", EXAMPLES)
def test_the_examples_of_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, example: str
) -> None:
    files, right = EXAMPLES[example]
    monkeypatch.chdir(lay(tmp_path, files))
    told: dict[str, Any] = {"sen": sen}
    exec(call_of(example), told)
    ws = told["ws"]
    assert rates(ws) == right
    assert set(codes(ws)) <= {"columns", "missing-side"}
    known = {path: ws.runs[path].drop_nulls().to_list() for path in ("time_seconds", "tokens")}
    if example.startswith("Time"):
        assert known == {"time_seconds": [3.0, 5.0, 3.0, 5.0], "tokens": [40, 40]}
    if example == "agentv":
        assert known["time_seconds"] == [7.0, 7.0, 7.0]
    if example.startswith("lm"):
        assert set(ws.runs["executor_model"]) == {"org__m"}
        assert set(ws.runs["skill"]) == {"gsm8k"}
