"""Files: which, where, the same bytes every time, and read back."""

import csv
import json
import shutil

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from skill_eval_nb import load, stats
from skill_eval_nb.documents.dialects import DIALECTS, read_as_shared
from skill_eval_nb.report import write_benchmark, write_report, write_tables
from skill_eval_nb.tables import TABLES
from tests.checkout import ROOT
from tests.report.made import balanced, check, hostile, of_two_models, run, score, workspace

REPORT = ["benchmark.json", "benchmark.md", "report.html"]
WITH_BENCHMARK = [name for name, forms in DIALECTS.items() if "benchmark" in forms]


def made(**more):
    rows = balanced(**more)
    checks = [
        check(row, text, text == "is there") for row in rows for text in ("is there", "is right")
    ]
    scores = [score(row, "clarity", 3.0 + (row["run_number"] == 1)) for row in rows]
    return {"runs": rows, "expectations": checks, "rubric_scores": scores}


def files(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.fixture(scope="module")
def benchmarks(tmp_path_factory):
    """What was written of one workspace in each dialect, and where."""
    written = {}
    for dialect in WITH_BENCHMARK:
        folder = tmp_path_factory.mktemp(dialect)
        written[dialect] = folder, write_benchmark(workspace(**made()), folder, dialect)
    return written


def single(**more):
    """A run alone, where only the names of files are looked at."""
    return run("1", "with_skill", 1, 1.0, **more)


def test_one_iteration_stands_in_the_folder_itself_with_the_same_bytes_every_time(tmp_path):
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "report.html").write_text("of another time")
    for name in "ab":
        written = write_report(workspace(**made()), tmp_path / name)
        assert sorted(files(tmp_path / name)) == REPORT
        assert sorted(path.name for path in written) == sorted(files(tmp_path / name))
        assert all(path.exists() for path in written)
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


@pytest.mark.parametrize("dialect", ["iterations", "test-cases"])
def test_a_benchmark_over_iterations_is_one_file_a_workspace(tmp_path, dialect):
    rows = [single(iteration=f"iteration-{n}") for n in (1, 2)] + [single(workspace="other")]
    write_benchmark(workspace(runs=rows), tmp_path, dialect)
    assert sorted(files(tmp_path)) == [
        f"{name}/benchmark.{ending}"
        for name in ("other", "tdd-workspace")
        for ending in ("json", "md")
    ]
    value = json.loads((tmp_path / "tdd-workspace/benchmark.json").read_bytes())
    assert len(value["iterations" if dialect == "iterations" else "entries"]) == 2
    text = (tmp_path / "tdd-workspace/benchmark.md").read_text(encoding="utf-8")
    assert text.startswith("# Benchmarks of tdd\n")


@pytest.mark.parametrize("dialect", WITH_BENCHMARK)
def test_every_dialect_with_a_benchmark_is_written_and_read_back(benchmarks, dialect):
    folder, _ = benchmarks[dialect]
    value = json.loads((folder / "benchmark.json").read_bytes())
    (back,), _ = read_as_shared("benchmark", value)
    assert back.metadata.skill_name == "tdd"
    rates = [one.result.pass_rate for one in back.runs if one.configuration == "with_skill"]
    mean = pytest.approx(0.8125 if dialect != "iterations" else 0.5)  # it has verdicts, no rates
    assert sum(rates) / len(rates) == mean


def test_the_order_of_rows_changes_no_figure(tmp_path, benchmarks):
    backwards = {name: rows[::-1] for name, rows in made().items()}
    write_benchmark(workspace(**backwards), tmp_path)
    one, other = (files(folder) for folder in (benchmarks["skill-creator"][0], tmp_path))
    assert one["benchmark.md"] == other["benchmark.md"]
    summaries = [json.loads(each["benchmark.json"])["run_summary"] for each in (one, other)]
    assert summaries[0] == summaries[1]


def test_what_a_dialect_cannot_hold_is_told(benchmarks):
    _, written = benchmarks["codingbuddy"]
    assert any("rubric scores" in loss for loss in written.losses)
    assert len(written.losses) == len(set(written.losses))


def test_nothing_to_report_writes_no_benchmark(tmp_path):
    assert write_benchmark(workspace(), tmp_path) == []
    assert [path.name for path in write_report(workspace(), tmp_path)] == ["report.html"]


@pytest.mark.parametrize("writer", [write_benchmark, write_report])
def test_an_unknown_dialect_is_an_error_before_anything_is_written(tmp_path, writer):
    with pytest.raises(ValueError, match="did you mean `skill-creator`"):
        writer(workspace(**made()), tmp_path, "skill-creater")
    assert files(tmp_path) == {}


def test_hostile_names_stay_below_the_folder(tmp_path):
    ws = hostile()
    folder = tmp_path / "out"
    rows = [ws.runs.to_dicts()[0], single(workspace="../../up", skill="../s")]
    write_report(workspace(runs=rows), folder)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert len([name for name in files(folder) if name.endswith("benchmark.json")]) == 2


EVAL = {"workspace": "w", "skill": "s", "eval_id": "1", "eval_name": "e", "weight": 1.0}


@pytest.mark.parametrize("ending", ["parquet", "csv", "json"])
def test_tables_are_read_back(tmp_path, ending):
    own = EVAL | {"eval_name": 'say "hi"\n| there', "files": ["a.csv", "b, c.csv"], "tags": []}
    written = write_tables(workspace(**made(), evals=[own]), tmp_path, ending)
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


def test_csv_tells_null_from_empty(tmp_path):
    write_tables(workspace(evals=[EVAL | {"expected_output": ""}]), tmp_path, "csv", ["evals"])
    assert (tmp_path / "evals.csv").read_text().splitlines()[1].startswith('w,s,1,e,,"",')


def test_a_text_that_a_spreadsheet_would_run_is_quoted_where_that_is_asked(tmp_path):
    texts = ["=1+1", "+1", "-1", "@x", "\tx", "\rx", "a=1", ""]
    evals = [
        EVAL | {"eval_name": "-n", "prompt": text, "files": ["=f", "=g"], "weight": -1.0}
        for text in texts
    ]
    plain = write_tables(workspace(evals=evals), tmp_path, "csv", ["evals"])
    assert [row["prompt"] for row in rows_of(plain[0])] == texts
    quoted = write_tables(workspace(evals=evals), tmp_path, "csv", ["evals"], quote_formulas=True)
    rows = rows_of(quoted[0])
    assert [row["prompt"] for row in rows] == [*(f"'{text}" for text in texts[:6]), *texts[6:]]
    assert {(row["eval_name"], row["files"], row["weight"]) for row in rows} == {
        ("'-n", "'=f; =g", "-1.0")
    }


def test_an_unknown_format_or_table_names_the_nearest(tmp_path):
    with pytest.raises(ValueError, match="Did you mean `parquet`"):
        write_tables(workspace(), tmp_path, "parket")
    with pytest.raises(KeyError, match="Did you mean `runs`"):
        write_tables(workspace(), tmp_path, names=["run"])
    assert files(tmp_path) == {}


@pytest.mark.parametrize("baseline", ["without_skill", "old_skill"])
def test_what_is_written_loads_as_it_was(tmp_path, baseline):
    rows = balanced(baseline, executor_model="m", started_at="2026-01-15T10:30:00Z")
    uneven = [*rows, run("2", "with_skill", 3, 0.0, tokens=9, time_seconds=1.5)]
    write_benchmark(workspace(runs=uneven), tmp_path)
    back = load(tmp_path)
    figures = ["eval_id", "configuration", "run_number", "pass_rate", "tokens", "time_seconds"]
    figures += ["passed", "failed", "total"]
    expected = workspace(runs=uneven).runs.select(figures)
    assert_frame_equal(back.runs.select(figures), expected, check_row_order=False)
    audited = stats.audit(back)
    assert audited.height > 20
    assert audited["agrees"].all()


def test_each_model_has_files_of_its_own(tmp_path):
    written = write_benchmark(workspace(runs=of_two_models()), tmp_path)
    found = [path for path in written if path.suffix == ".json"]
    runs = {path.parent.name: len(json.loads(path.read_text())["runs"]) for path in found}
    assert runs == {"large": 8, "small": 8, "third": 1}
