"""What a grader wrote, row by row: verdicts, scores, claims, remarks, critique; and tools."""

from __future__ import annotations

from typing import Any

import pytest

from tests.tables.made import RUN, load

GRADING: dict[str, Any] = {
    "expectations": [
        {"text": "A session exists", "passed": True, "evidence": "line 3", "confidence": "high"},
        {"text": "It is encrypted", "passed": None, "evidence": None},
    ],
    "rubric_scores": {"depth": {"score": 4, "evidence": "covers all", "weight": 0.5}, "style": 2},
    "claims": [
        {"claim": "It is fast", "type": "quality", "verified": False, "evidence": "3 s"},
    ],
    "user_notes_summary": {
        "uncertainties": ["Which port?"],
        "needs_review": ["The schema"],
        "workarounds": ["No network"],
    },
    "factual_issues": ["Port 80 is not TLS"],
    "eval_feedback": {
        "suggestions": [{"assertion": "A session exists", "reason": "Too weak"}],
        "overall": "Fine otherwise",
    },
    "eval_critique": {
        "vague_assertions": ["It works"],
        "missing_coverage": ["Expiry"],
        "suggested_assertions": ["A session expires"],
    },
    "judge_model": "m-2",
    "execution_metrics": {"tool_calls": {"Read": 2, "Bash": 0, "Write": None}},
}
NO_FILE = {
    "id": "S1",
    "text": "a.ts",
    "type": "file_exists",
    "passed": False,
    "critical": True,
    "evidence": "no such file",
}
STRUCTURAL = {"expectations": [NO_FILE], "gate_passed": True}


def values(ws: Any, table: str, *names: str) -> list[tuple[Any, ...]]:
    return ws.polars(table).select(names).rows()


@pytest.fixture(scope="module")
def ws(tmp_path_factory):
    files = {f"{RUN}/grading.json": GRADING, f"{RUN}/structural.json": STRUCTURAL}
    return load(tmp_path_factory.mktemp("texts"), files)


def test_verdicts_of_both_layers(ws):
    names = ("layer", "expectation_id", "text", "type", "passed", "critical")
    assert values(ws, "expectations", *names, "confidence", "evidence") == [
        ("structural", "S1", "a.ts", "file_exists", False, True, None, "no such file"),
        ("judged", None, "A session exists", None, True, None, "high", "line 3"),
        ("judged", None, "It is encrypted", None, None, None, None, None),
    ]


def test_scores(ws):
    names = ("judging", "judge_model", "dimension", "score", "weight", "evidence")
    assert values(ws, "rubric_scores", *names) == [
        (1, "m-2", "depth", 4.0, 0.5, "covers all"),
        (1, "m-2", "style", 2.0, 1.0, None),
    ]


def test_scores_of_several_judgings_with_the_weights_of_the_suite(tmp_path):
    rubric = {"dimensions": [{"name": "depth", "weight": 3}]}
    suite = {"evals": [{"id": 1, "name": "login", "prompt": "Log in.", "quality_rubric": rubric}]}
    files = {
        "evals.json": suite,
        f"{RUN}/grading.json": GRADING,
        f"{RUN}/judgings/1.json": {"rubric_scores": {"depth": {"score": 5}}, "judge_model": "a"},
        f"{RUN}/judgings/2.json": {"rubric_scores": {"depth": {"score": 3}}, "judge_model": "b"},
        f"{RUN}/judgings/10.json": {"rubric_scores": {"depth": {"score": None}}, "judging": 7},
    }
    found = load(tmp_path, files)
    assert values(
        found, "rubric_scores", "judging", "judge_model", "dimension", "score", "weight"
    ) == [
        (1, "a", "depth", 5.0, 3.0),
        (2, "b", "depth", 3.0, 3.0),
        (7, None, "depth", None, 3.0),
    ]


def test_claims(ws):
    assert values(ws, "claims", "claim", "type", "verified", "evidence") == [
        ("It is fast", "quality", False, "3 s")
    ]


def test_remarks(ws):
    assert values(ws, "notes", "kind", "text") == [
        ("uncertainty", "Which port?"),
        ("needs_review", "The schema"),
        ("workaround", "No network"),
        ("factual_issue", "Port 80 is not TLS"),
    ]


def test_critique_of_the_evals(ws):
    assert values(ws, "suggestions", "kind", "expectation", "reason") == [
        ("critique", "A session exists", "Too weak"),
        ("overall", None, "Fine otherwise"),
        ("vague", None, "It works"),
        ("missing_coverage", None, "Expiry"),
        ("suggested", None, "A session expires"),
    ]


def test_tools_that_are_counted(ws):
    assert values(ws, "tool_calls", "tool", "count") == [("Read", 2), ("Bash", 0)]


@pytest.mark.parametrize(
    "table", ["expectations", "rubric_scores", "claims", "notes", "suggestions"]
)
def test_every_row_has_the_keys_of_its_run(ws, table):
    key = ("iteration-1", "1", "login", "with_skill", 1)
    names = ("iteration", "eval_id", "eval_name", "configuration", "run_number")
    assert set(values(ws, table, *names)) == {key}
