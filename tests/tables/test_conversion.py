"""A loaded workspace in our own form: it loads again to the same, and every loss is named.

What it makes of damaged trees, of ids and places, and what it refuses.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from collections import Counter
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import skill_eval_nb as sen
from skill_eval_nb.disk import write_atomic
from skill_eval_nb.documents.dialects import DIALECTS
from skill_eval_nb.tables.conversion import Converted, convert
from tests.cases import document
from tests.checkout import ROOT
from tests.corpus.build import expectations, graded, lay, parts, row
from tests.tables.made import RUN, two_sides

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
    for at, path in enumerate(part for one in corpus_workspaces[::3] for part in parts(one)):
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
    layer=st.just("structural"),
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


def named(*names: str) -> dict[str, Any]:
    """Evals that call themselves like this, a run each."""
    files: dict[str, Any] = {}
    for folder, name in zip(("one", "two"), names, strict=False):
        about = {"eval_id": name, "eval_name": "x", "prompt": "P"}
        files[f"iteration-1/{folder}/eval_metadata.json"] = about
        files[f"iteration-1/{folder}/with_skill/grading.json"] = graded("p" * len(files))
    return files


LIKE_PLACEHOLDERS = ("<script>", "eval-3-<b>", "none", "<eval-name>")
COMPARISON = {"winner": "A", "reasoning": "r", "rubric": {"A": {}, "B": {}}, "eval_id": 7}
ABOUT = {"eval_name": "x", "prompt": "P", "assertions": ["It runs"]}
CASES: dict[str, dict[str, Any]] = {
    "checks by a program: all that was due, half of it, and a grading without a verdict": {
        f"iteration-1/eval-{n}-x/{name}": one
        for n, own in enumerate((graded("p", layer="structural"), None, graded("")))
        for name, one in {
            "eval_metadata.json": ABOUT,
            "with_skill/run-1/structural.json": {"expectations": expectations("p")},
            "with_skill/run-1/timing.json": {"total_duration_seconds": 2},
            "with_skill/run-1/grading.json": own,
        }.items()
        if one is not None
    },
    "iterations of which only a little is left": two_sides()
    | {
        "iteration-3/feedback.json": {"reviews": [{"run_id": "eval-1-with_skill"}]},
        "iteration-4/comparison-1.json": COMPARISON,
        "iteration-5/analysis.json": {"comparison_summary": {"winner": "A"}},
        "iteration-6/eval-9-x/feedback.json": {"reviews": []},
    },
    "half a character, which no UTF-8 text can hold": {
        "trigger_eval.json": [{"query": "a \ud800 b", "should_trigger": True}],
        "benchmark.json": {"runs": [row("a \ud800 b", side, "pf") for side in ("a", "b")]},
    },
    "folders with odd names": {
        f"iteration-1/{name}/with_skill/run-1/grading.json": graded("p")
        for name in ("with space", "naïve 🎉", "a'b", "-rf", "%2e%2e", *LIKE_PLACEHOLDERS)
    },
    "two names that are one on some disks": named("Same", "same"),
}


@pytest.mark.parametrize("files", CASES.values(), ids=CASES)
def test_a_case_loads_again_to_the_same(tmp_path, files):
    out = tmp_path / "out" / "tidy-workspace"
    converted = assert_same(lay(tmp_path / "tidy-workspace", files), out)
    assert not any("None" in path.read_text() for path in converted.written)
    folders = [f"{path}" for path in out.rglob("*") if path.is_dir()]
    assert len({path.casefold() for path in folders}) == len(folders)


SAMPLE = document("tools", "inspect: sample")
TRIAL = document("tools", "harbor: trial") | {"verifier_result": {"rewards": {"reward": 0.5}}}


def log(**fields: Any) -> dict[str, Any]:
    """A log of inspect of a sample with these fields."""
    return document("tools", "inspect: log") | {"samples": [SAMPLE | fields]}


LEFT_OUT = ("own score", "stated pass rate is not", "has no result", "own summaries")


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({"a.json": log()}, [0, 1, 3]),
        ({"a.json": log(invalidation={"reason": "x"})}, [0, 2, 3]),
        ({"j/a/trial-result.json": TRIAL}, [0]),
        ({"iteration-1/eval-1/with_skill/run-1/grading.json": graded("pf")}, []),
    ],
)
def test_what_only_a_tool_says_is_named_where_it_is_left_out(tmp_path, files, told):
    lay(tmp_path / "in", files)
    converted = convert(tmp_path / "in", tmp_path / "out")
    said = [one.message for one in converted.losses]
    found = [sum(words in one for one in said) for words in LEFT_OUT]
    assert found == [number in told for number in range(len(LEFT_OUT))]
    rates = [sen.load(tmp_path / at).runs["pass_rate"].to_list() for at in ("in", "out")]
    assert rates[0] == rates[1]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(workspaces())
def test_any_workspace_loads_again_to_the_same(tmp_path_factory, files):
    root = tmp_path_factory.mktemp("any")
    assert_same(lay(root / "in/tidy-workspace", files), root / "out/tidy-workspace")


# ── places ─────────────────────────────────────────────────────────────────────────────────────


def tree(root: Path) -> dict[str, str]:
    """Every file below a folder by its path, with what it holds, links and all."""
    return {
        os.path.relpath(Path(folder, name), root): hashlib.sha256(
            Path(folder, name).read_bytes() if Path(folder, name).is_file() else b"?"
        ).hexdigest()
        for folder, _, names in os.walk(root)
        for name in names
    }


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
    converted = convert(tmp_path / "ws", tmp_path / "out")
    documents = {"grading.json", "eval_metadata.json", "timing.json", "outputs/metrics.json"}
    lay(tmp_path / "wanted", kept | {"outputs/same": "a"})
    found = tree(tmp_path / "out" / RUN)
    assert {name: found[name] for name in set(found) - documents} == tree(tmp_path / "wanted")
    names = {Path(one.path).name for one in converted.losses if Path(one.path).parent == outputs}
    assert names >= {"file", "folder", "gone", "loop", "pipe"}
    assert not any(path.is_symlink() for path in (tmp_path / "out").rglob("*"))
    assert set(converted.written) == {
        path for path in (tmp_path / "out").rglob("*") if path.is_file()
    }


NAMES = ["../../up", "..", ".", "/abs", "a/b", "c:\\d", "🎉 party", "eval-0", "x" * 300]
NAMES += ["", "\x00", "<b>"]
name = st.one_of(st.sampled_from(NAMES), st.text(max_size=12))


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(name, name, name), min_size=1, max_size=3))
def test_whatever_documents_call_things_nothing_is_written_outside(tmp_path_factory, said):
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
    converted = convert(home / "box" / "ws", home / "box" / "out")
    after = tree(home)
    new = set(after) - set(before)
    assert {path: after[path] for path in before} == before
    assert all(path.startswith("box/out/") for path in new)
    assert {os.path.relpath(path, home) for path in converted.written} == new


# ── refused, and cut off ───────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("into", ["out", "out/mine.txt", "ws", "ws/new", "ws/iteration-1/new"])
def test_a_folder_that_is_not_empty_or_in_the_workspace_is_refused(tmp_path, into):
    lay(tmp_path, {f"ws/{RUN}/grading.json": graded("p"), "out/mine.txt": "x"})
    before = tree(tmp_path)
    with pytest.raises(FileExistsError, match="give a new folder" if "out" in into else "ws"):
        convert(tmp_path / "ws", tmp_path / into)
    assert tree(tmp_path) == before
    assert not (tmp_path / "ws" / "new").exists()


def test_what_was_cut_off_begins_anew(tmp_path, monkeypatch):
    ws, out = ROOT / "data" / BUNDLED["codingbuddy"], tmp_path / "out"
    convert(ws, tmp_path / "whole")
    written = iter(range(5))

    def killed(*arguments, **more):
        if next(written, None) is None:
            raise KeyboardInterrupt
        return write_atomic(*arguments, **more)

    with monkeypatch.context() as patch:
        patch.setattr(sys.modules["skill_eval_nb.tables.conversion"], "write_atomic", killed)
        with pytest.raises(KeyboardInterrupt):
            convert(ws, out)
    assert 0 < len(tree(out)) < len(tree(tmp_path / "whole"))
    convert(ws, out)
    assert tree(out) == tree(tmp_path / "whole")
    with pytest.raises(FileExistsError):
        convert(ws, out)
