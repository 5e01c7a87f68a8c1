"""A loaded workspace in every dialect: it loads again to the same, and every loss is named."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import skill_eval_nb as sen
from skill_eval_nb.documents.dialects import DIALECTS, kind_of
from skill_eval_nb.tables.conversion import Converted, convert as _convert


def convert(path, to, out, **more):
    del to
    return _convert(path, out, **more)

from tests.checkout import ROOT
from tests.corpus.build import expectations, graded, lay, parts

BUNDLED = {
    "skill-creator": "skill-creator-workspace",
    "skill-evaluator": "tdd-workspace",
    "iterations": "iterations-workspace",
    "codingbuddy": "codingbuddy-workspace",
    "test-cases": "test-cases-workspace",
}
each = pytest.mark.parametrize("to", ["skill-evaluator"])

# ── what is the same, and what is named ──────────────────────────────────────────────────────

PLACES = {"workspace", "path", "analysis", "comparison"}
"""Columns that say where something lies, which is elsewhere."""

SIDES = {"codingbuddy": ("with_skill", "without_skill"), "test-cases": ("with_skill",)}
COUNTED = {"iteration": "iteration", "eval_id": "eval", "configuration": "configuration"}
"""The keys that a dialect may write otherwise, and how that is told."""

_RUBRIC = "rubric|judging"
_CHECKS = "expectations|structural|summary|grading|pass_rate"
LOST_BY = {
    column: pattern
    for columns, pattern in (
        ("status overall_efficiency", f"{_CHECKS}|{_RUBRIC}|status|exit_code"),
        ("pass_rate passed failed total layer expectations", _CHECKS),
        ("structural_pass_rate gate_passed critical n_structural", "structural"),
        ("rubric_weighted_mean rubric_normalized n_dimensions rubric_scores dimensions", _RUBRIC),
        ("time_seconds tokens started_at", "timing|duration|time_seconds|total_tokens|start"),
        ("tool_calls steps errors output_chars", "metrics|tool_calls|result"),
        ("transcript_chars cost_usd skill_used", "metrics|tool_calls|result"),
        ("harness executor_model", "model|harness|executor|timing"),
        ("judge_model", "judge_model|analyzer_model|metadata|judging|rubric"),
        ("skill", r"\bskill\b|skill_name"),
        ("eval_name", "name|eval_metadata|demands"),
        ("prompt", "prompt|eval_metadata|evals"),
        ("expected_output", "expected_output|evals"),
        ("n_expectations", "expectations|eval_metadata"),
        ("expectation_id", r"\.id\b|structural|expectations"),
        ("notes", "notes|factual_issues"),
        ("suggestions", "eval_feedback|eval_critique|suggestions"),
        ("evals", "a run of|nothing of this run|metadata of eval"),
        ("stated", "run_summary|benchmark|summary|description-"),
        ("feedback", "feedback|review"),
        ("comparisons", "comparison|rubric|eval_id|version"),
        ("claims", "claims"),
        ("analyses", "analysis"),
        ("optimizations", "optimization"),
    )
    for column in columns.split()
}
"""What names the loss of a column, or of rows of a table; else its own name does."""


class Lost(NamedTuple):
    """What is otherwise in a table: so many rows are missing, these columns differ."""

    table: str
    rows: int
    columns: set[str]


def told(converted: Converted, pattern: str) -> list[str]:
    """The losses that speak of something; what the dialect is called does not count."""
    names = "|".join(f"`{name}`" for name in DIALECTS)
    found = [re.sub(names, "", f"{one.where} {one.message}") for one in converted.losses]
    return [one for one in found if re.search(pattern, one)]


def times(lines: list[str]) -> int:
    counts = [re.search(r"\((\d+) times", one) for one in lines]
    return sum(int(one[1]) if one else 1 for one in counts)


def held(ws: sen.Workspace, to: str, table: str) -> list[dict[str, Any]]:
    """The rows of a table that the dialect has runs for: some have few sides, or few runs."""
    found = ws.polars(table).to_dicts()
    if to not in SIDES or "run_number" not in ws.polars(table).columns:
        return found
    at = ("workspace", "skill", "iteration", "eval_id", "configuration")
    first: dict[Any, int] = {}
    for one in ws.polars("runs").to_dicts():
        key = tuple(one[name] for name in at)
        first[key] = min(first.get(key, one["run_number"]), one["run_number"])
    return [
        one
        for one in found
        if one["configuration"] in SIDES[to]
        and (to != "codingbuddy" or one["run_number"] == first.get(tuple(one[name] for name in at)))
    ]


def differences(
    before: sen.Workspace, after: sen.Workspace, converted: Converted, to: str
) -> list[Lost]:
    """What is not in the tables any more, and what is otherwise there."""
    renamed = {key for key, name in COUNTED.items() if told(converted, f"the {name} .* is written")}
    if to == "codingbuddy":
        renamed.add("run_number")
    found = []
    apart = before.runs["workspace"].n_unique() < 2 and before.evals["workspace"].n_unique() < 2
    renamed |= set() if apart else {"skill"}  # suites find the workspaces of their skills anew
    for table in sen.tables.TABLES:
        if table == "problems" or (table == "evals" and not apart):
            continue
        names = [one for one in after.polars(table).columns if one not in PLACES | renamed]
        left, right = (
            [tuple(_plain(one[name]) for name in names) for one in rows]
            for rows in (held(before, to, table), after.polars(table).to_dicts())
        )
        assert len(right) <= len(left) or table in ("evals", "stated"), (table, len(left))
        gone = Counter(left) - Counter(right)
        new = Counter(right) - Counter(left)
        missing = max(0, len(left) - len(right))
        columns = {
            name
            for place, name in enumerate(names)
            if (
                Counter(one[place] for one in gone.elements())
                - Counter(one[place] for one in new.elements())
            ).total()
            > missing
        }
        if gone:
            found.append(Lost(table, missing, columns))
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, 9)
    return tuple(value) if isinstance(value, list) else value


def assert_named(
    before: sen.Workspace, after: sen.Workspace, converted: Converted, to: str
) -> None:
    """Whatever differs, a loss names it; whoever is left out is counted."""
    for lost in differences(before, after, converted, to):
        if lost.table == "runs":
            assert lost.rows <= times(told(converted, "nothing of this run|demands")), lost
        elif lost.rows:
            named = told(converted, f"{lost.table}|{LOST_BY.get(lost.table, '-')}")
            assert named or told(converted, "nothing of this run"), lost
        for column in lost.columns if not (lost.rows and lost.table != "runs") else ():
            pattern = rf"\b{column}\b|{LOST_BY.get(column, lost.table)}"
            pattern += "" if lost.table == "runs" else f"|{LOST_BY.get(lost.table, '-')}"
            assert told(converted, pattern), (lost, column)


def assert_schema(out: Path, to: str) -> int:
    """Every document passes the strict reading of the dialect's own type; gives their number."""
    checked = 0
    for path in out.rglob("*.json"):
        if "outputs" in path.parts and path.name != "metrics.json":
            continue
        named = "judging" if "judgings" in path.parts else path.stem
        kind = named if named in DIALECTS[to] else kind_of(path.name, read(path))
        form = DIALECTS[to].get(kind or "")
        if form is not None:
            value = read(path)
            plain = form.wire.plain
            msgspec.convert(value if plain is None else {plain: value}, form.wire)
            checked += 1
    return checked


def read(path: Path) -> Any:
    return json.loads(path.read_text())


def both(source: Path, to: str, out: Path, before: sen.Workspace | None = None) -> Converted:
    """Convert and check everything that holds for every conversion; `before` is the source."""
    converted = convert(source, to, out)
    assert {str(path) for path in converted.written} == {
        str(path) for path in out.rglob("*") if path.is_file()
    }
    assert all(Path(one.path).exists() for one in converted.losses)
    assert_schema(out, to)
    if converted.written:
        assert_named(before or sen.load(source), sen.load(out), converted, to)
    return converted


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    """The bundled workspaces; of the largest one iteration is enough."""
    folder = tmp_path_factory.mktemp("data")
    for name in BUNDLED.values():
        left = shutil.ignore_patterns("iteration-2" if name == "tdd-workspace" else "")
        shutil.copytree(ROOT / "data" / name, folder / name, ignore=left)
    return folder


@each
@pytest.mark.parametrize("source", DIALECTS)
def test_a_bundled_workspace_loads_again_to_the_same_or_says_what_is_lost(
    data, source, to, tmp_path
):
    path = data / BUNDLED[source]
    converted = both(path, to, tmp_path / path.name)
    if to == source:
        assert differences(sen.load(path), sen.load(tmp_path / path.name), converted, to) == []
        assert {one.severity for one in converted.losses} <= {"info"}


@pytest.mark.slow
def test_workspaces_of_the_corpus_load_again(corpus_workspaces, tmp_path):
    """Each in one dialect, the next one in the next."""
    dialects = ["skill-evaluator"]
    for at, path in enumerate(part for one in corpus_workspaces for part in parts(one)):
        before = None
        with suppress(sen.NothingToLoad):
            before = sen.load(path)
            before.tables()  # whole at once: figures alone would be read first, and again
        both(path, dialects[at % len(dialects)], tmp_path / str(at) / path.name, before)


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


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(workspaces(), st.just("skill-evaluator"))
def test_any_workspace_loads_again_to_the_same_or_says_what_is_lost(tmp_path_factory, files, to):
    root = tmp_path_factory.mktemp("any")
    both(lay(root / "in/tidy-workspace", files), to, root / "out/tidy-workspace")


# ── figures that the runs give ───────────────────────────────────────────────────────────────


@pytest.mark.parametrize("source", DIALECTS)
def test_a_benchmark_of_codingbuddy_has_all_that_its_schema_demands(data, source, tmp_path):
    """Where the other dialect states no deviation, or no figures, those of the runs are taken."""
    convert(data / BUNDLED[source], "codingbuddy", tmp_path / "out")
    written = list((tmp_path / "out").glob("iteration-*/benchmark.json"))
    assert bool(written) == (source != "test-cases")  # whose benchmarks are of no iteration
    for path in written:
        for figures in read(path)["summary"].values():
            assert set(figures) == {"mean", "stddev"}
        assert read(path)["eval_results"]


def test_a_deviation_comes_from_the_evals_of_the_runs(tmp_path):
    files: dict[str, Any] = {}
    for n, marks in enumerate(("pp", "pf")):
        for side in ("with_skill", "without_skill"):
            run = f"iteration-1/eval-{n}/{side}"
            files[f"{run}/grading.json"] = graded(marks)
            files[f"{run}/timing.json"] = {"total_duration_seconds": 2 * n + 1, "total_tokens": 10}
    rows = [
        {"eval_id": n, "configuration": side}
        for n in (0, 1)
        for side in ("with_skill", "without_skill")
    ]
    files["iteration-1/benchmark.json"] = {"metadata": {"skill_name": "x"}, "runs": rows}
    convert(lay(tmp_path / "ws", files), "codingbuddy", tmp_path / "out")
    written = read(tmp_path / "out/iteration-1/benchmark.json")
    assert written["summary"] == {
        "pass_rate": {"mean": 0.75, "stddev": pytest.approx(0.125**0.5)},
        "tokens": {"mean": 10, "stddev": 0},
        "duration_seconds": {"mean": 2, "stddev": pytest.approx(2**0.5)},
    }
    assert written["eval_results"][1]["baseline"] == {"pass_rate": 0.5, "tokens": 10, "duration": 3}
