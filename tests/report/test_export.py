"""Files: which, where, the same bytes every time, read back; what a form cannot take is said."""

from __future__ import annotations

import csv
import json
import shutil
from functools import partial

import jsonschema
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import skill_eval_nb as sen
from skill_eval_nb import load, stats
from skill_eval_nb.documents.dialects import DIALECTS, read_as_shared
from skill_eval_nb.report import write_benchmark, write_report, write_tables
from skill_eval_nb.report.document import NO_SPREAD
from skill_eval_nb.report.measured import Slice, list_slices, name_folders
from skill_eval_nb.tables import TABLES
from tests.checkout import ROOT
from tests.report.made import (
    HOSTILE,
    SIDES,
    balanced,
    check,
    in_iterations,
    of_two_models,
    one_side,
    run,
    score,
    whole,
    workspace,
)

REPORT = ["benchmark.json", "benchmark.md", "report.html"]
WITH_BENCHMARK = [name for name, forms in DIALECTS.items() if "benchmark" in forms]


def files(folder):
    found = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def single(**more):
    """A run alone, where only the names of files are looked at."""
    return run("1", "with_skill", 1, 1.0, **more)


def test_one_iteration_stands_in_the_folder_itself_with_the_same_bytes_every_time(tmp_path):
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "report.html").write_text("of another time")
    for name in "ab":
        written = write_report(workspace(**whole()), tmp_path / name)
        assert sorted(path.name for path in written) == sorted(files(tmp_path / name)) == REPORT
    assert files(tmp_path / "a") == files(tmp_path / "b")


def test_a_report_beside_the_runs_is_the_same_when_it_is_written_once_more(tmp_path):
    """A benchmark in the folder of a workspace with one iteration is no benchmark of another."""
    own = ROOT / "data" / "skill-creator-workspace" / "iteration-1"
    shutil.copytree(own, tmp_path / "iteration-1")
    for _ in range(2):
        written = write_report(load(tmp_path), tmp_path)
        assert [path.relative_to(tmp_path).as_posix() for path in written] == REPORT
    ws = load(tmp_path)
    assert set(ws.stated["iteration"]) == set(ws.runs["iteration"]) == {"iteration-1"}


@pytest.mark.parametrize(("dialect", "key"), [("iterations",) * 2, ("test-cases", "entries")])
def test_a_benchmark_over_iterations_is_one_file_a_workspace(tmp_path, dialect, key):
    rows = [single(iteration=f"iteration-{n}") for n in (1, 2)] + [single(workspace="other")]
    write_benchmark(workspace(runs=rows), tmp_path, dialect)
    found = files(tmp_path)
    assert sorted(found) == [
        f"{name}/{one}" for name in ("other", "tdd-workspace") for one in REPORT[:2]
    ]
    assert len(json.loads(found["tdd-workspace/benchmark.json"])[key]) == 2
    assert found["tdd-workspace/benchmark.md"].startswith(b"# Benchmarks of tdd\n")


@pytest.mark.parametrize("dialect", WITH_BENCHMARK)
def test_every_dialect_is_read_back_and_no_order_of_rows_matters(tmp_path, dialect):
    written = write_benchmark(workspace(**whole()), tmp_path, dialect)
    value = json.loads((tmp_path / "benchmark.json").read_bytes())
    (back,), _ = read_as_shared("benchmark", value)
    assert back.metadata.skill_name == "tdd"
    rates = [one.result.pass_rate for one in back.runs if one.configuration == "with_skill"]
    mean = pytest.approx(0.8125 if dialect != "iterations" else 0.5)  # it has verdicts, no rates
    assert sum(rates) / len(rates) == mean
    assert len(written.losses) == len(set(written.losses))
    assert any("rubric scores" in loss for loss in written.losses) or dialect != "codingbuddy"
    backwards = {name: rows[::-1] for name, rows in whole().items()}
    write_benchmark(workspace(**backwards), tmp_path / "b", dialect)
    assert files(tmp_path)["benchmark.md"] == files(tmp_path / "b")["benchmark.md"]
    other = json.loads((tmp_path / "b" / "benchmark.json").read_bytes())
    assert other.get("run_summary") == value.get("run_summary")


def test_nothing_to_report_writes_no_benchmark(tmp_path):
    assert write_benchmark(workspace(), tmp_path) == []
    assert [path.name for path in write_report(workspace(), tmp_path)] == ["report.html"]


def test_what_is_unknown_names_the_nearest_before_anything_is_written(tmp_path):
    ws = workspace(**whole())
    for writer in (write_benchmark, write_report):
        with pytest.raises(ValueError, match="did you mean `skill-creator`"):
            writer(ws, tmp_path, "skill-creater")
    with pytest.raises(ValueError, match="Did you mean `parquet`"):
        write_tables(ws, tmp_path, "parket")
    with pytest.raises(KeyError, match="Did you mean `runs`"):
        write_tables(ws, tmp_path, names=["run"])
    assert files(tmp_path) == {}


def test_hostile_names_stay_below_the_folder_and_each_model_has_files_of_its_own(tmp_path):
    rows = [single(), single(workspace="../../up", skill="../s")]
    write_report(workspace(runs=rows), tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert len([name for name in files(tmp_path) if name.endswith("benchmark.json")]) == 2
    written = write_benchmark(workspace(runs=of_two_models()), tmp_path)
    found = [path for path in written if path.suffix == ".json"]
    runs = {path.parent.name: len(json.loads(path.read_text())["runs"]) for path in found}
    assert runs == {"large": 8, "small": 8, "third": 1}


EVAL = {"workspace": "w", "skill": "s", "eval_id": "1", "eval_name": "e", "weight": 1.0}


@pytest.mark.parametrize("ending", ["parquet", "csv", "json"])
def test_tables_are_read_back(tmp_path, ending):
    own = EVAL | {"eval_name": 'say "hi"\n| there', "files": ["a.csv", "b, c.csv"], "tags": []}
    written = write_tables(workspace(**whole(), evals=[own]), tmp_path, ending)
    assert [path.name for path in written] == [f"{name}.{ending}" for name in TABLES]
    (one,) = rows_of(tmp_path / f"evals.{ending}")
    joined = "a.csv; b, c.csv" if ending == "csv" else ["a.csv", "b, c.csv"]
    assert (one["eval_name"], one["files"]) == ('say "hi"\n| there', joined)
    assert one["prompt"] in (None, "")
    runs = rows_of(tmp_path / f"runs.{ending}")
    assert [float(row["pass_rate"]) for row in runs] == [row["pass_rate"] for row in balanced()]
    assert list(runs[0]) == TABLES["runs"].names


def rows_of(path):
    if path.suffix == ".parquet":
        return pl.read_parquet(path).to_dicts()
    if path.suffix == ".json":
        return json.loads(path.read_bytes())
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_csv_tells_null_from_empty_and_quotes_what_a_spreadsheet_would_run_where_asked(tmp_path):
    texts = ["=1+1", "+1", "-1", "@x", "\tx", "\rx", "a=1", ""]
    own = EVAL | {"eval_name": "-n", "files": ["=f", "=g"], "weight": -1.0}
    ws = workspace(evals=[own | {"prompt": text} for text in texts] + [EVAL])
    (plain,) = write_tables(ws, tmp_path, "csv", ["evals"])
    assert [row["prompt"] for row in rows_of(plain)] == [*texts, ""]
    assert [line[5:12] for line in plain.read_text().splitlines()[-2:]] == [',-n,"",', ",e,,,,,"]
    (quoted,) = write_tables(ws, tmp_path, "csv", ["evals"], quote_formulas=True)
    *rows, _ = rows_of(quoted)
    assert [row["prompt"] for row in rows] == [*(f"'{text}" for text in texts[:6]), *texts[6:]]
    assert {(row["eval_name"], row["files"], row["weight"]) for row in rows} == {
        ("'-n", "'=f; =g", "-1.0")
    }


@pytest.mark.parametrize("baseline", ["without_skill", "old_skill"])
def test_what_is_written_loads_as_it_was(tmp_path, baseline):
    rows = balanced(baseline, executor_model="m", started_at="2026-01-15T10:30:00Z")
    uneven = [*rows, run("2", "with_skill", 3, 0.0, tokens=9, time_seconds=1.5)]
    write_benchmark(workspace(runs=uneven), tmp_path)
    back = load(tmp_path)
    figures = "eval_id configuration run_number pass_rate tokens time_seconds passed failed total"
    expected = workspace(runs=uneven).runs.select(figures.split())
    assert_frame_equal(back.runs.select(figures.split()), expected, check_row_order=False)
    audited = stats.audit(back)
    assert (audited.height > 20, audited["agrees"].all()) == (True, True)


# ── what viewers and schemas cannot take ─────────────────────────────────────────────────────

RATE = {"type": "number", "minimum": 0, "maximum": 1}
AMOUNT = {"type": "number", "minimum": 0}


def record(**fields):
    return {"type": "object", "required": list(fields), "properties": fields}


SPREAD = record(mean=AMOUNT, stddev=AMOUNT)
SIDE = record(pass_rate=RATE, tokens={"type": "integer", "minimum": 0}, duration=AMOUNT)
RESULT = record(eval_id={"type": "integer", "minimum": 0}, with_skill=SIDE, baseline=SIDE)
CODINGBUDDY = record(
    skill_name={"type": "string", "pattern": "^[a-z][a-z0-9-]*$"},
    iteration={"type": "integer", "minimum": 1},
    summary=record(
        pass_rate=record(mean=RATE, stddev=AMOUNT), tokens=SPREAD, duration_seconds=SPREAD
    ),
    eval_results={"type": "array", "items": RESULT},
) | {"$schema": "http://json-schema.org/draft-07/schema#"}
"""What the dialect's document demands of benchmark.json."""


@pytest.fixture
def write(tmp_path):
    """Writes runs in a dialect, one benchmark of them: the document, and what is told of it."""

    def write_runs(dialect, runs, demanded=None, **tables):
        written = write_benchmark(workspace(runs=runs, **tables), tmp_path, dialect)
        value = json.loads((tmp_path / "benchmark.json").read_bytes())
        if dialect == "codingbuddy" and not demanded:
            jsonschema.validate(value, CODINGBUDDY, jsonschema.Draft7Validator)
        told = " ".join(written.losses)
        assert ("is required" in told, (demanded or "") in told) == (demanded is not None, True)
        return value, told

    return write_runs


def test_a_viewer_gets_no_run_without_a_pass_rate_and_no_verdict_that_was_not_scored(write):
    first = run("1", "with_skill", 1, 0.5, total=5)
    checks = [check(first, str(place), passed) for place, passed in enumerate((True, None, False))]
    runs = [first, run("2", "with_skill", 3, None)]
    value, told = write("skill-creator", runs, expectations=checks)
    (one,) = value["runs"]
    lacking = "Not in the list of runs, for lack of a pass rate: 1 run, eval 2 with_skill 3."
    assert lacking in told
    assert lacking in value["notes"]
    assert [each["text"] for each in one["expectations"]] == ["0", "2"]
    assert one["result"]["total"] == one["result"]["passed"] + one["result"]["failed"]
    assert "Verdicts that were not scored are not in the lists of expectations." in told


@pytest.mark.parametrize("dialect", ["skill-creator", "skill-evaluator"])
def test_a_viewer_gets_numbers_for_every_spread(write, dialect):
    rows = [row for row in balanced() if row["run_number"] == 1 and row["eval_id"] == "1"]
    value, told = write(dialect, rows, rubric_scores=[score(row, "clarity", 3.0) for row in rows])
    found = [one for side in SIDES for one in value["run_summary"][side].values()]
    assert {one["stddev"] for one in found if isinstance(one, dict) and "mean" in one} == {0.0}
    assert NO_SPREAD in told
    assert NO_SPREAD in value["notes"]


def test_the_schema_is_met_where_things_are_missing(write):
    cost = {"tokens": 10, "time_seconds": 1.0, "iteration": "master"}
    given = [("1", "with_skill", 1.0), ("1", "a_baseline", 0.5), ("1", "third", 1.0)]
    given += [("3", "with_skill", 1.0), ("4", "with_skill", None), ("4", "a_baseline", 1.0)]
    rows = [run(of, side, 1, rate, **cost) for of, side, rate in given]
    value, told = write("codingbuddy", rows)
    assert (value["iteration"], [one["eval_id"] for one in value["eval_results"]]) == (1, [1])
    for part in (
        "a_baseline is written as without_skill.",
        "Left out: third",
        "2 evals, eval 3 and eval 4",
        "The iteration master is written as 1.",
    ):
        assert part in told
    value, told = write("codingbuddy", one_side())
    assert value["eval_results"] == []
    assert "for lack of figures on both sides: 2 evals" in told
    value, _ = write("codingbuddy", balanced())
    assert value["eval_results"][0]["baseline"] == {
        "pass_rate": 0.375,
        "tokens": 3150,
        "duration": 55.0,
    }
    rows = [row | {"tokens": None} for row in balanced()]
    value, _ = write("codingbuddy", rows, demanded="`summary.tokens` is required")
    assert "tokens" not in value["summary"]
    assert [one["with_skill"]["pass_rate"] for one in value["eval_results"]] == [0.875, 0.75]


# ── the parts of a workspace, and a folder for each ───────────────────────────────────────────────


ODD = ["", ".", "..", "/", "../../etc", "a/b", "C:\\x", "nul", "a" * 300, "none", *HOSTILE]
NAMES = st.one_of(st.sampled_from(ODD), st.text(max_size=20))


@given(st.lists(st.builds(Slice, NAMES, NAMES, NAMES), unique=True, max_size=8))
@example([Slice("a", "s", "i"), Slice("A", "s", "i")])
def test_folders_are_apart_and_below(parts):
    found = name_folders(parts)
    assert len(found) == len({str(folder).casefold() for folder in found}) == len(parts)
    for folder in found:
        assert not folder.is_absolute()
        assert ".." not in folder.parts
        assert not [step for step in folder.parts if not 0 < len(step.encode()) < 256]
        assert not set("".join(folder.parts)) & set('<>:"/\\|?*\0\n')


def test_the_skill_stands_between_where_a_workspace_has_several():
    parts = [Slice("w", "a", "i"), Slice("w", "b", "i"), Slice("v", "a", "i")]
    assert [str(folder) for folder in name_folders(parts)] == ["w/a/i", "w/b/i", "v/i"]


FIGURES = (
    *(stats.summarize, stats.variance, stats.outliers, stats.notes, stats.audit, stats.next_step),
    *(stats.discrimination, stats.deltas_by_eval, stats.deltas_by_dimension),
    *(partial(stats.deltas, scope=scope) for scope in ("suite", "population")),
    partial(stats.deltas, metric=("tokens", "time_seconds"), level=0.99),
)


@pytest.mark.parametrize("name", ["tdd-workspace", "made"])
def test_what_is_worked_out_for_all_iterations_in_one_go_is_that_of_each_alone(name):
    if name == "made":  # evals that belong together, in one of them more than in the other
        rows = in_iterations(1, 2) + [
            run(eval_id, side, 1, 0.5, eval_name=f"{word} {eval_id}", iteration="iteration-2")
            for eval_id, word in (("7", "table"), ("8", "table"), ("9", "chart"), ("10", "chart"))
            for side in SIDES
        ]
        other = [run("1", side, 1, 1.0, skill="other") for side in ("with_skill", "old_skill")]
        ws = workspace(runs=[*rows, *other])
    else:
        ws = sen.load(ROOT / "data" / name)
    places = list_slices(ws)
    assert len(places) > 1
    for place in places:
        part, alone = place.select(ws), place.select(ws)
        alone.part_of = None
        for figures in FIGURES:
            assert_frame_equal(figures(part), figures(alone), rel_tol=1e-9)
