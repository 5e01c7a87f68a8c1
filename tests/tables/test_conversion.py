"""A loaded workspace in every dialect: it loads again to the same, and every loss is named."""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
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
from skill_eval_nb.disk import write_atomic
from skill_eval_nb.documents.dialects import DIALECTS, NoSuchDocument, kind_of
from skill_eval_nb.tables.conversion import Converted, convert
from skill_eval_nb.workspace import check
from tests.checkout import ROOT
from tests.corpus.build import expectations, graded, lay, parts, row
from tests.tables.made import two_sides

BUNDLED = {
    "skill-creator": "skill-creator-workspace",
    "skill-evaluator": "tdd-workspace",
    "iterations": "iterations-workspace",
    "codingbuddy": "codingbuddy-workspace",
    "test-cases": "test-cases-workspace",
}
each = pytest.mark.parametrize("to", DIALECTS)

# ── what is the same, and what is named ──────────────────────────────────────────────────────

PLACES = {"workspace", "path", "analysis", "comparison"}
"""Columns that say where something lies, which is elsewhere."""

SIDES = {"codingbuddy": ("with_skill", "without_skill"), "test-cases": ("with_skill",)}
COUNTED = {"iteration": "iteration", "eval_id": "eval", "configuration": "configuration"}
"""The keys that a dialect may write otherwise, and how that is told."""

_METRICS = "metrics|tool_calls|result"
_RUBRIC = "rubric|judging"
_CHECKS = "expectations|structural|summary|grading|pass_rate"
_TIMES = "timing|duration|time_seconds|total_tokens|tokens|start"
LOST_BY = {
    **dict.fromkeys(("status", "overall_efficiency"), f"{_CHECKS}|{_RUBRIC}|status|exit_code"),
    **dict.fromkeys(("pass_rate", "passed", "failed", "total", "layer", "passed"), _CHECKS),
    **dict.fromkeys(("structural_pass_rate", "gate_passed", "critical"), "structural"),
    **dict.fromkeys(("rubric_weighted_mean", "rubric_normalized"), _RUBRIC),
    **dict.fromkeys(("time_seconds", "tokens", "started_at"), _TIMES),
    **dict.fromkeys(("tool_calls", "steps", "errors"), _METRICS),
    **dict.fromkeys(("output_chars", "transcript_chars", "cost_usd", "skill_used"), _METRICS),
    **dict.fromkeys(("harness", "executor_model"), "model|harness|executor|timing"),
    "judge_model": "judge_model|analyzer_model|metadata|judging|rubric",
    "skill": r"\bskill\b|skill_name",
    "eval_name": "name|eval_metadata|demands",
    "prompt": "prompt|eval_metadata|evals",
    "expected_output": "expected_output|evals",
    "n_expectations": "expectations|eval_metadata",
    "n_structural": "structural",
    "n_dimensions": _RUBRIC,
    "expectation_id": r"\.id\b|structural|expectations",
    "claims": "claims",
    "notes": "notes|factual_issues",
    "suggestions": "eval_feedback|eval_critique|suggestions",
    "rubric_scores": _RUBRIC,
    "dimensions": _RUBRIC,
    "expectations": _CHECKS,
    "evals": "a run of|nothing of this run|metadata of eval",
    "stated": "run_summary|benchmark|summary|description-",
    "feedback": "feedback|review",
    "comparisons": "comparison|rubric|eval_id|version",
    "analyses": "analysis",
    "optimizations": "optimization",
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


@each
@pytest.mark.parametrize("source", DIALECTS)
def test_a_bundled_workspace_loads_again_to_the_same_or_says_what_is_lost(source, to, tmp_path):
    path = ROOT / "data" / BUNDLED[source]
    converted = both(path, to, tmp_path / path.name)
    if to == source:
        assert differences(sen.load(path), sen.load(tmp_path / path.name), converted, to) == []
        assert {one.severity for one in converted.losses} <= {"info"}


@pytest.mark.slow
def test_workspaces_of_the_corpus_load_again(corpus_workspaces, tmp_path):
    """Each in one dialect, the next one in the next."""
    dialects = list(DIALECTS)
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
@given(workspaces(), st.sampled_from(list(DIALECTS)))
def test_any_workspace_loads_again_to_the_same_or_says_what_is_lost(tmp_path_factory, files, to):
    root = tmp_path_factory.mktemp("any")
    both(lay(root / "in/tidy-workspace", files), to, root / "out/tidy-workspace")


# ── figures that the runs give ───────────────────────────────────────────────────────────────


@pytest.mark.parametrize("source", DIALECTS)
def test_a_benchmark_of_codingbuddy_has_all_that_its_schema_demands(source, tmp_path):
    """Where the other dialect states no deviation, or no figures, those of the runs are taken."""
    convert(ROOT / "data" / BUNDLED[source], "codingbuddy", tmp_path / "out")
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


# ── damaged trees, and what was cut off ────────────────────────────────────────────────────────


LONE = {
    "iteration-3/feedback.json": {"reviews": [{"run_id": "eval-1-with_skill", "feedback": "x"}]},
    "iteration-4/comparison-1.json": {"winner": "A", "reasoning": "r", "eval_id": 7},
    "iteration-5/analysis.json": {"comparison_summary": {"winner": "A"}},
    "iteration-6/eval-9-x/feedback.json": {"reviews": []},
}


@each
def test_iterations_of_which_only_a_little_is_left(to, tmp_path):
    heights = []
    for name, more in (("whole", {}), ("damaged", LONE)):
        convert(lay(tmp_path / name, two_sides() | more), to, tmp_path / f"{name}-out")
        heights.append(sen.load(tmp_path / f"{name}-out").runs.height)
    assert heights[0] == heights[1] > 0


@each
def test_rows_that_no_eval_can_be_told_of_get_no_name_that_is_none(to, tmp_path):
    rows = [
        {"configuration": side, "result": {"pass_rate": rate}}
        for side, rate in (("with_skill", 1.0), ("without_skill", 0.0))
    ]
    ws = lay(tmp_path / "ws", {"iteration-1/benchmark.json": {"runs": rows, "run_summary": {}}})
    written = convert(ws, to, tmp_path / "out").written
    assert not any("None" in path.read_text() for path in written)


@pytest.mark.parametrize("dialect", [one for one, forms in DIALECTS.items() if "triggers" in forms])
def test_a_trigger_set_keeps_its_skill(dialect, tmp_path):
    sets = {
        f"triggers/{name}.json": {
            "skill_name": name,
            "queries": [{"query": f"{name} up", "should_trigger": True}],
        }
        for name in ("tidy", "neat")
    }
    convert(lay(tmp_path / "ws", two_sides() | sets), dialect, tmp_path / "out")
    asked = sen.load(tmp_path / "out").triggers.select("skill", "query").rows()
    assert {("tidy", "tidy up"), ("neat", "neat up")} <= set(asked)


def test_what_was_cut_off_begins_anew(tmp_path, monkeypatch):
    ws, out = ROOT / "data" / BUNDLED["skill-evaluator"], tmp_path / "out"
    convert(ws, "iterations", tmp_path / "whole")
    written = iter(range(5))

    def killed(*arguments, **more):
        if next(written, None) is None:
            raise KeyboardInterrupt
        return write_atomic(*arguments, **more)

    with monkeypatch.context() as patch:
        patch.setattr(sys.modules["skill_eval_nb.tables.conversion"], "write_atomic", killed)
        with pytest.raises(KeyboardInterrupt):
            convert(ws, "iterations", out)
    assert 0 < len(tree(out)) < len(tree(tmp_path / "whole"))
    convert(ws, "iterations", out)
    assert tree(out) == tree(tmp_path / "whole")
    with pytest.raises(FileExistsError):
        convert(ws, "iterations", out)


# ── what is told ───────────────────────────────────────────────────────────────────────────────


RUN = "iteration-1/eval-0-login/with_skill/run-1"
SECOND = "iteration-1/eval-0-login/with_skill/run-2"
THIRD_SIDE = "iteration-1/eval-0/old_skill/run-1"
REVIEWS = [
    {"run_id": f"eval-0-login-with_skill-run-{n}", "feedback": f"{n}", "timestamp": "t"}
    for n in (1, 2)
]


@pytest.mark.parametrize(
    ("to", "files", "of", "paths"),
    [
        (  # a run that is left out, once, however many documents it has
            "codingbuddy",
            {
                f"{THIRD_SIDE}/grading.json": graded("p"),
                f"{THIRD_SIDE}/timing.json": {"total_tokens": 1},
                f"{THIRD_SIDE}/outputs/metrics.json": {"total_steps": 1},
            },
            "old_skill",
            [THIRD_SIDE],
        ),
        ("test-cases", {f"{RUN}/outputs/a.txt": "a"}, "outputs", [RUN]),
        # A file that cannot be read, and one that is no document.
        ("skill-creator", {f"{RUN}/timing.json": "{"}, "", [f"{RUN}/timing.json"]),
        ("skill-creator", {"eval-colours.json": {"a": 1}}, "", ["eval-colours.json"]),
        (
            "codingbuddy",
            {
                f"{SECOND}/grading.json": graded("f"),
                "iteration-1/feedback.json": {"reviews": REVIEWS, "status": "complete"},
            },
            "a review of a run that is left out",
            ["iteration-1/feedback.json"],
        ),
    ],
)
def test_what_has_no_place_is_left_out_and_told(tmp_path, to, files, of, paths):
    ws = lay(tmp_path / "ws", {f"{RUN}/grading.json": graded("p")} | files)
    converted = convert(ws, to, tmp_path / "out")
    lost = [one.path for one in converted.losses if of in one.message]
    assert lost == [str(ws / path) for path in paths]
    assert not list((tmp_path / "out").rglob("*old_skill*"))
    for path in (tmp_path / "out").rglob("feedback.json"):
        reviews = read(path)["reviews"]
        assert [(one["run_id"], one["feedback"]) for one in reviews] == [("eval-0-with_skill", "1")]


# ── ids ────────────────────────────────────────────────────────────────────────────────────────


def counted(first: int) -> dict[str, Any]:
    """Two iterations of two evals whose folders and suite count from `first`."""
    ids, sides = (first, first + 1), ("with_skill", "without_skill")
    evals = [{"id": n, "prompt": f"P{n}", "expectations": ["e"]} for n in ids]
    files: dict[str, Any] = {"evals/evals.json": {"skill_name": "x", "evals": evals}}
    rows = [row(n, side, "p" * n + "f") for n, side in product(ids, sides)]
    reviews = [
        {"run_id": f"eval-{n}-with_skill", "feedback": str(n), "timestamp": "t"} for n in ids
    ]
    for iteration in ("iteration-1", "iteration-2"):
        files |= {
            f"{iteration}/eval-{n}-name{n}/{side}/run-1/grading.json": graded("p" * n + "f")
            for n, side in product(ids, sides)
        }
        files[f"{iteration}/benchmark.json"] = {"metadata": {"skill_name": "x"}, "runs": rows}
        files[f"{iteration}/feedback.json"] = {"reviews": reviews, "status": "complete"}
    return files


@pytest.mark.parametrize("first", [0, 1])
def test_all_documents_agree_on_the_ids_of_codingbuddy(tmp_path, first):
    lay(tmp_path / "ws", counted(first))
    convert(tmp_path / "ws", "codingbuddy", tmp_path / "out")
    out = tmp_path / "out"
    assert [one["id"] for one in read(out / "evals.json")["evals"]] == [1, 2]
    for iteration in (1, 2):
        here = out / f"iteration-{iteration}"
        assert sorted(path.name for path in here.glob("eval-*")) == ["eval-0", "eval-1"]
        for n in (0, 1):
            metadata = read(here / f"eval-{n}/with_skill/eval_metadata.json")
            assert (metadata["eval_id"], metadata["prompt"]) == (n, f"P{n + first}")
        results = read(here / "benchmark.json")["eval_results"]
        assert [one["eval_id"] for one in results] == [0, 1]
        reviews = read(here / "feedback.json")["reviews"]
        assert [one["run_id"] for one in reviews] == ["eval-0-with_skill", "eval-1-with_skill"]
    of_ids = {"unknown-run", "other-id", "missing-folder", "unknown-eval", "other-iteration"}
    assert [one for one in check(out, "codingbuddy") if one.code in of_ids] == []


def test_an_eval_is_the_same_in_two_iterations_whatever_its_folder_is_called(tmp_path):
    about = {"eval_id": "a", "prompt": "P"}
    files = {
        **{
            f"iteration-{n}/{name}/with_skill/grading.json": graded("p")
            for n, name in ((1, "inbox"), (2, "renamed"), (2, "other"))
        },
        "iteration-1/inbox/eval_metadata.json": about | {"eval_name": "inbox"},
        "iteration-2/renamed/eval_metadata.json": about | {"eval_name": "new"},
    }
    convert(lay(tmp_path / "ws", files), "codingbuddy", tmp_path / "out")
    found = {
        (path.parts[-4], path.parts[-3], read(path)["eval_id"])
        for path in (tmp_path / "out").rglob("eval_metadata.json")
        if read(path).get("prompt") == "P"
    }
    assert len({number for _, _, number in found}) == len({folder for _, folder, _ in found}) == 1
    assert {iteration for iteration, _, _ in found} == {"iteration-1", "iteration-2"}


# ── places ─────────────────────────────────────────────────────────────────────────────────────


def test_comparisons_and_analyses_stay_with_their_eval_and_iteration(tmp_path):
    comparison = {"winner": "A", "reasoning": "x", "rubric": {"A": {}, "B": {}}}
    analysis = {"improvement_suggestions": [{"suggestion": "x"}]}
    eval_ = "iteration-1/eval-0-login"
    files = {
        f"{eval_}/with_skill/run-1/grading.json": graded("p"),
        f"{eval_}/comparison-1.json": comparison,
        f"{eval_}/analysis.json": analysis,
        "iteration-1/comparison-2.json": comparison,
        "comparison-3.json": comparison,
        "history.json": {"skill_name": "x", "iterations": [{"version": "v0"}]},
    }
    convert(lay(tmp_path / "ws", files), "skill-creator", tmp_path / "out")
    assert set(files) <= set(tree(tmp_path / "out"))


def test_workspaces_of_one_name_stay_apart(tmp_path):
    for name in ("a", "b"):
        lay(tmp_path / name / "ws" / "iteration-1", {"eval-0/with_skill/grading.json": graded("p")})
    paths = [tmp_path / name / "ws" / "iteration-1" for name in ("a", "b")]
    convert(str(tmp_path / "?" / "ws" / "iteration-1"), "skill-creator", tmp_path / "out")
    assert len(list((tmp_path / "out").rglob("grading.json"))) == len(paths)


def test_outputs_go_along_and_nothing_else_does(tmp_path):
    """No documents among them; a link within as a file, others never; a pipe is not waited for."""
    lay(tmp_path / "elsewhere", {"secret.txt": "secret", "deep/x.txt": "x"})
    kept = {
        "transcript.md": "said",
        "transcript.jsonl": "{}",
        "outputs/a.txt": "a",
        "outputs/deep/er/metrics.json": "{}",
        "outputs/data.json": b"\xff\x00",
    }
    left = {"grading.json": graded("p"), "outputs/metrics.json": {}, "outputs/grading.json": {}}
    outputs = lay(tmp_path / "ws" / RUN, kept | left) / "outputs"
    (outputs / "same").symlink_to("a.txt")
    (outputs / "file").symlink_to(tmp_path / "elsewhere" / "secret.txt")
    (outputs / "folder").symlink_to(tmp_path / "elsewhere")
    (outputs / "loop").symlink_to(outputs)
    (outputs / "gone").symlink_to("nothing")
    os.mkfifo(outputs / "pipe")
    converted = convert(tmp_path / "ws", "codingbuddy", tmp_path / "out")
    run = tmp_path / "out/iteration-1/eval-0/with_skill"
    documents = {"grading.json", "eval_metadata.json", "timing.json"}
    found = {
        str(path.relative_to(run)): path.read_bytes() for path in run.rglob("*") if path.is_file()
    }
    wanted = kept | {"outputs/same": "a"}
    assert {name: found[name] for name in set(found) - documents} == {
        name: text if isinstance(text, bytes) else text.encode() for name, text in wanted.items()
    }
    names = {Path(one.path).name for one in converted.losses if Path(one.path).parent == outputs}
    assert names >= {"file", "folder", "gone", "loop", "pipe"}
    assert not any(path.is_symlink() for path in (tmp_path / "out").rglob("*"))
    assert set(converted.written) == {
        path for path in (tmp_path / "out").rglob("*") if path.is_file()
    }


# ── refusals, safety ───────────────────────────────────────────────────────────────────────────


def tree(root: Path) -> dict[str, str]:
    """Every file below a folder by its path, with what it holds, links and all."""
    return {
        os.path.relpath(Path(folder, name), root): hashlib.sha256(
            Path(folder, name).read_bytes() if Path(folder, name).is_file() else b"?"
        ).hexdigest()
        for folder, _, names in os.walk(root)
        for name in names
    }


def test_a_folder_that_is_not_empty_is_refused_and_stays_as_it_was(tmp_path):
    lay(tmp_path / "ws", {f"{RUN}/grading.json": graded("p")})
    lay(tmp_path / "out", {"mine.txt": "x"})
    for target in (tmp_path / "out", tmp_path / "out" / "mine.txt"):
        with pytest.raises(FileExistsError, match="give a new folder"):
            convert(tmp_path / "ws", "codingbuddy", target)
    assert set(tree(tmp_path / "out")) == {"mine.txt"}


@pytest.mark.parametrize("inside", [".", "new", "iteration-1/new"])
def test_a_folder_inside_of_the_workspace_is_refused(tmp_path, inside):
    lay(tmp_path / "ws", {f"{RUN}/grading.json": graded("p")})
    before = tree(tmp_path)
    with pytest.raises(FileExistsError):
        convert(tmp_path / "ws", "codingbuddy", tmp_path / "ws" / inside)
    assert tree(tmp_path) == before
    assert not (tmp_path / "ws" / "new").exists()


def test_an_unknown_dialect_is_refused_before_anything_is_read(tmp_path):
    with pytest.raises(NoSuchDocument, match="skill-evaluator"):
        convert(tmp_path / "gone", "cobol", tmp_path / "out")
    with pytest.raises(FileNotFoundError):
        convert(tmp_path / "gone", "codingbuddy", tmp_path / "out")


NAMES = ["../../up", "..", ".", "/abs", "a/b", "c:\\d", "🎉 party", "eval-0", "x" * 300]
NAMES += ["", "\x00", "<b>"]
name = st.one_of(st.sampled_from(NAMES), st.text(max_size=12))


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(name, name, name), min_size=1, max_size=3), st.sampled_from(list(DIALECTS))
)
def test_whatever_documents_call_things_nothing_is_written_outside(tmp_path_factory, said, to):
    """Names in documents lead nowhere: all files lie below `out`, the source stays as it is."""
    home = tmp_path_factory.mktemp("any")
    files: dict[str, Any] = {
        "evals/evals.json": {
            "skill_name": said[0][0],
            "evals": [{"id": id_, "prompt": "P", "name": title} for id_, title, _ in said],
        },
        "benchmark.json": {
            "metadata": {"skill_name": said[0][2], "iteration": said[0][1]},
            "runs": [row(id_, side or "x", "p", eval_name=title) for id_, title, side in said],
        },
        "feedback.json": {"reviews": [{"run_id": f"{said[0][0]}-with_skill", "feedback": "x"}]},
    }
    for n, (id_, title, side) in enumerate(said):
        eval_ = f"iteration-1/folder{n}"
        files[f"{eval_}/eval_metadata.json"] = {"eval_id": id_, "eval_name": title, "prompt": "P"}
        grading = graded("p", configuration=side, run_id=title, eval_id=id_)
        files[f"{eval_}/grading.json"] = grading
        files[f"{eval_}/outputs/a.txt"] = "a"
        files[f"{eval_}/comparison-{n}.json"] = {"winner": "A", "eval_id": id_, "rubric": {"A": {}}}
    lay(home / "box" / "ws", files)
    before = tree(home)
    converted = convert(home / "box" / "ws", to, home / "box" / "out")
    after = tree(home)
    new = set(after) - set(before)
    assert {path: after[path] for path in before} == before
    assert all(path.startswith("box/out/") for path in new)
    assert {os.path.relpath(path, home) for path in converted.written} == new


def test_folders_with_odd_names(tmp_path):
    names = ["with space", "naïve 🎉", "<script>", "a'b\"c", "-rf", "%2e%2e"]
    files = {f"iteration-1/{name}/with_skill/run-1/grading.json": graded("p") for name in names}
    convert(lay(tmp_path / "ws", files), "skill-creator", tmp_path / "out")
    ids = set(sen.load(tmp_path / "out").runs["eval_id"])
    assert ids == set(names)
