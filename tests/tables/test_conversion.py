"""A loaded workspace in our own form: it loads again to the same, and every loss is named."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import skill_eval_nb as sen
from skill_eval_nb.documents.dialects import DIALECTS
from skill_eval_nb.tables.conversion import Converted, convert
from tests.checkout import ROOT
from tests.corpus.build import expectations, graded, lay, parts

BUNDLED = {
    "skill-creator": "skill-creator-workspace",
    "skill-evaluator": "tdd-workspace",
    "iterations": "iterations-workspace",
    "codingbuddy": "codingbuddy-workspace",
    "test-cases": "test-cases-workspace",
}

# ── what is the same, and what is named ──────────────────────────────────────────────────────

PLACES = {"workspace", "path", "analysis", "comparison"}
"""Columns that say where something lies, which is elsewhere."""


def differences(
    before: sen.Workspace, after: sen.Workspace, converted: Converted
) -> list[tuple[Any, ...]]:
    """The tables that are not the same, with rows that are gone and rows that are new."""
    several = max(before.runs["workspace"].n_unique(), before.evals["workspace"].n_unique()) > 1
    left_out = PLACES | ({"skill"} if several else set())  # suites find their workspaces anew
    for column in ("iteration", "configuration"):
        if any(f"the {column} " in one.message for one in converted.losses):  # it is renamed
            left_out |= {column}
    found = []
    for table in sen.tables.TABLES:
        if table == "problems" or (table == "evals" and several):
            continue
        names = [one for one in after.polars(table).columns if one not in left_out]
        left, right = (_count_rows(ws, table, names) for ws in (before, after))
        if left != right:
            found.append((table, names, list(left - right)[:2], list(right - left)[:2]))
    return found


def _count_rows(ws: sen.Workspace, table: str, names: list[str]) -> Counter[tuple[Any, ...]]:
    """The rows; means over a file's rows are not counted, which get the figures of their runs."""
    rows = (row for row in ws.polars(table).to_dicts() if row.get("statistic") != "runs")
    return Counter(tuple(_plain(row[name]) for name in names) for row in rows)


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, 9)
    return tuple(value) if isinstance(value, list) else value


def read(path: Path) -> Any:
    return json.loads(path.read_text())


def assert_same(source: Path, out: Path, before: sen.Workspace | None = None) -> Converted:
    """Convert, and check everything that holds for every conversion; `before` is the source."""
    converted = convert(source, out)
    assert {str(path) for path in converted.written} == {
        str(path) for path in out.rglob("*") if path.is_file()
    }
    assert all(Path(one.path).exists() for one in converted.losses)
    if converted.written:
        assert differences(before or sen.load(source), sen.load(out), converted) == []
    return converted


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    """The bundled workspaces; of the largest one iteration is enough."""
    folder = tmp_path_factory.mktemp("data")
    for name in BUNDLED.values():
        left = shutil.ignore_patterns("iteration-2" if name == "tdd-workspace" else "")
        shutil.copytree(ROOT / "data" / name, folder / name, ignore=left)
    return folder


@pytest.mark.parametrize("source", DIALECTS)
def test_a_bundled_workspace_loads_again_to_the_same(data, source, tmp_path):
    path = data / BUNDLED[source]
    converted = assert_same(path, tmp_path / path.name)
    assert {one.severity for one in converted.losses} <= {"info"}


@pytest.mark.slow
def test_workspaces_of_the_corpus_load_again(corpus_workspaces, tmp_path):
    for at, path in enumerate(part for one in corpus_workspaces for part in parts(one)):
        before = None
        with suppress(sen.NothingToLoad):
            before = sen.load(path)
            before.tables()  # whole at once: figures alone would be read first, and again
        assert_same(path, tmp_path / str(at) / path.name, before)


# ── any workspace ────────────────────────────────────────────────────────────────────────────


def of_any(**files: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Some of these keys or files, any of them missing."""
    return st.fixed_dictionaries({}, optional=files)


VERDICTS = st.text("pf-", max_size=3)
SCORES = st.dictionaries(st.sampled_from(["depth", "tone"]), st.integers(1, 5), max_size=2)


def rated(scores: dict[str, int], more: dict[str, Any]) -> dict[str, Any]:
    return {name: {"score": one, **more} for name, one in scores.items()}


JUDGING = st.builds(lambda scores: {"rubric_scores": rated(scores, {})}, SCORES)
GRADING = of_any(
    claims=st.sampled_from([True, None]).map(lambda one: [{"claim": "It works", "verified": one}]),
    rubric_scores=st.builds(rated, SCORES, st.sampled_from([{}, {"weight": 2.0}])),
    timing=st.just({"total_duration_seconds": 3.0, "executor_duration_seconds": 2.0}),
)
TIMING = of_any(
    total_duration_seconds=st.sampled_from([0, 1.5, 40]),
    total_tokens=st.sampled_from([0, 900]),
    status=st.just("errored"),
)
CRITICAL = VERDICTS.map(
    lambda marks: {"expectations": [one | {"critical": True} for one in expectations(marks)]}
)
RUNS = of_any(
    **{
        "grading.json": st.builds(lambda marks, more: graded(marks, **more), VERDICTS, GRADING),
        "structural.json": CRITICAL,
        "timing.json": TIMING,
        "outputs/metrics.json": st.just({"tool_calls": {"Bash": 2}, "total_steps": 900}),
        "outputs/report.md": st.just("done"),
        "judgings/1.json": JUDGING,
        "judgings/2.json": JUDGING,
    }
)
NAMES_OF_EVALS = ["eval-0", "eval-1-login", "eval-7", "inbox", "a b", "case-2-tidy"]
NAMES_OF_SIDES = ["with_skill", "without_skill", "old_skill", "v2"]


def some(names: list[str], most: int) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(names), min_size=1, max_size=most, unique=True)


@st.composite
def workspaces(draw: st.DrawFn) -> dict[str, Any]:
    """The files of a workspace: a suite, iterations, evals by any name, sides, runs, reviews."""
    names, sides = draw(some(NAMES_OF_EVALS, 3)), draw(some(NAMES_OF_SIDES, 2))
    levels = draw(st.sampled_from([("",), ("iteration-1/",), ("iteration-2/", "iteration-5b/")]))
    evals = [{"id": n, "name": name, "prompt": f"Do {name}"} for n, name in enumerate(names)]
    review = {"run_id": f"{names[0]}-{sides[0]}", "feedback": "x", "timestamp": "t"}
    described = {
        f"{level}{name}/eval_metadata.json": st.just(
            {"eval_name": name, "prompt": f"Do {name}", "assertions": ["It runs"]}
        )
        for level, name in product(levels, names)
    }
    reviewed = {
        f"{level}feedback.json": st.just({"reviews": [review], "status": "complete"})
        for level in levels
    }
    beside = {
        "evals/evals.json": st.just({"skill_name": "tidy", "evals": evals}),
        "trigger_eval.json": st.just([{"query": "tidy up", "should_trigger": True}]),
    }
    files = draw(of_any(**described, **reviewed, **beside))
    for level, name, side in product(levels, names, sides):
        for number in range(1, draw(st.integers(1, 2)) + 1):
            folder = f"{level}{name}/{side}/run-{number}"
            files |= {f"{folder}/{file}": one for file, one in draw(RUNS).items()}
    return files | {"iteration-9/eval-0/with_skill/run-1/grading.json": graded("pf")}


ERRORED = {
    "eval-7/without_skill/run-1/grading.json": graded(
        "", rubric_scores={"depth": {"score": 1, "weight": 2.0}}
    ),
    "eval-7/without_skill/run-1/timing.json": {"total_duration_seconds": 3, "status": "errored"},
}
"""A run that errored, whose grading has weights all the same."""
NAMED_ONCE = {
    "iteration-2/eval-1-login/without_skill/run-1/grading.json": graded(""),
    "iteration-5b/eval-1-login/eval_metadata.json": {
        "eval_name": "eval-1-login",
        "prompt": "Do eval-1-login",
        "assertions": ["It runs"],
    },
}
"""An eval whose name one iteration states, and the other only has in its folder."""


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(workspaces())
@example(ERRORED)
@example(NAMED_ONCE)
def test_any_workspace_loads_again_to_the_same(tmp_path_factory, files):
    root = tmp_path_factory.mktemp("any")
    assert_same(lay(root / "in/tidy-workspace", files), root / "out/tidy-workspace")
