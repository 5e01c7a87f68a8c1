"""The commands that read: their exit codes, and what they print and write."""

from __future__ import annotations

import json
import re

import jsonschema
import polars as pl
import pytest

import skill_eval_nb as sen
from skill_eval_nb.documents.dialects import DIALECTS
from skill_eval_nb.documents.dialects.recognition import document_names
from skill_eval_nb.report.export import FORMATS
from tests.checkout import ROOT
from tests.cli.calls import run
from tests.corpus.build import graded, lay


class TestCheck:
    def test_a_sound_workspace(self, ws):
        result = run("check", ws)
        assert result.exit_code == 0
        assert result.stdout.splitlines()[-1].startswith("0 errors, 0 warnings")

    def test_an_error_is_exit_code_1(self, faulty):
        result = run("check", faulty)
        assert result.exit_code == 1
        severities = [line.split()[0] for line in result.stdout.splitlines()[:-1]]
        assert severities == sorted(severities, key=["error", "warning", "info"].index)
        assert re.search(
            r"^error \S+grading.json \$\.expectations\[0\]", result.stdout, re.MULTILINE
        )

    def test_json_lines(self, faulty):
        result = run("check", faulty, "--json")
        problems = [json.loads(line) for line in result.stdout.splitlines()]
        assert result.exit_code == 1
        assert "error" in {one["severity"] for one in problems}
        assert {frozenset(one) for one in problems} == {
            frozenset(("severity", "code", "path", "where", "message"))
        }

    def test_markup_in_names_is_shown_as_it_is(self, tmp_path):
        named = "eval-1-[bold]x[/bold]/with_skill"
        result = run("check", lay(tmp_path / "ws", {f"{named}/grading.json": "{"}))
        assert named in result.stdout


SCHEMAS = [
    (name, dialect)
    for name in document_names()
    for dialect in (None, *(one for one, forms in DIALECTS.items() if name in forms))
]


class TestSchema:
    @pytest.mark.parametrize(("name", "dialect"), SCHEMAS)
    def test_every_document_has_a_valid_one(self, name, dialect):
        result = run("schema", name, *(("--dialect", dialect) if dialect else ()))
        assert result.exit_code == 0
        schema = json.loads(result.stdout)
        jsonschema.Draft202012Validator.check_schema(schema)
        assert schema["$schema"] == jsonschema.Draft202012Validator.META_SCHEMA["$id"]

    def test_a_document_passes_its_own_and_another_does_not(self):
        schema = json.loads(run("schema", "grading").stdout)
        jsonschema.validate(graded("pf-"), schema)
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({"expectations": "all fine"}, schema)


class TestConvert:
    @pytest.mark.parametrize("dialect", DIALECTS)
    def test_what_was_written_loads(self, dialect, ws, tmp_path):
        out = tmp_path / "out"
        result = run("convert", ws, "--to", dialect, "--out", out)
        assert result.exit_code == 0
        written = sum(path.is_file() for path in out.rglob("*"))
        assert result.stdout.splitlines()[-1] == f"Wrote {written} files to {out}."
        assert sen.load(out).runs.height

    def test_losses_are_told_on_the_standard_error(self, tmp_path):
        data = ROOT / "data" / "codingbuddy-workspace"
        result = run("convert", data, "--to", "test-cases", "--out", tmp_path / "out")
        assert result.exit_code == 0
        assert len(result.stdout.splitlines()) == 1
        *losses, counts = result.stderr.splitlines()
        assert all(one.endswith("[loss]") for one in losses)
        times = [re.search(r"\((\d+) times", one) for one in losses if one.startswith("warning")]
        assert f", {sum(int(one[1]) if one else 1 for one in times)} warnings" in counts
        assert any(times)

    def test_where_nothing_can_be_written_the_exit_code_says_so(self, tmp_path):
        versions = {"skill_name": "x", "iterations": [{"version": "v0"}]}
        path = lay(tmp_path / "ws", {"history.json": versions})
        result = run("convert", path, "--to", "test-cases", "--out", tmp_path / "out")
        assert result.exit_code == 2
        assert "has no document `history`" in result.stderr
        assert list((tmp_path / "out").iterdir()) == []


def test_a_report_is_three_files_of_the_time_that_was_given(ws, tmp_path):
    out, time = tmp_path / "out", "2026-01-02T03:04:05Z"
    result = run("report", ws, "--out", out, "--timestamp", time)
    assert result.exit_code == 0
    names = ["benchmark.json", "benchmark.md", "report.html"]
    assert sorted(path.name for path in out.iterdir()) == names
    assert all(f"wrote {out / name}" in result.stdout for name in names)
    assert "2 runs (2 graded)" in result.stdout
    assert json.loads((out / "benchmark.json").read_text())["metadata"]["timestamp"] == time


READ = {"parquet": pl.read_parquet, "csv": pl.read_csv, "json": pl.read_json}


@pytest.mark.parametrize("format_", FORMATS)
def test_a_table_of_every_format_reads_back(format_, ws, tmp_path):
    run("tables", ws, "--out", tmp_path, "--format", format_, "--table", "runs")
    back = READ[format_](tmp_path / f"runs.{format_}")
    assert back["pass_rate"].to_list() == sen.load(ws).runs["pass_rate"].to_list()


class TestSides:
    """The side of a tool's results that state none, said on the shell."""

    @pytest.fixture
    def results(self, tmp_path):
        def suite(passed):
            verdict = {"right": {"type": "text", "score": 1, "passed": passed}}
            run_ = {"run_number": 1, "status": "passed", "validations": verdict}
            tasks = [{"test_id": "t1", "runs": [run_]}]
            return {"eval_id": str(passed), "skill": "x", "config": {}, "tasks": tasks}

        return lay(tmp_path / "in", {"x.json": suite(False), "y.json": suite(True)})

    def rates(self, folder):
        return dict(sen.load(folder).runs.select("configuration", "pass_rate").rows())

    def test_of_a_file_and_of_all_others(self, results, tmp_path):
        sides = ("--configuration", "with_skill", "--configuration", "x.json=without_skill")
        assert run("tables", results, "--out", tmp_path / "t", *sides).exit_code == 0
        rows = pl.read_parquet(tmp_path / "t" / "runs.parquet")
        wanted = {"with_skill": 1.0, "without_skill": 0.0}
        assert dict(rows.select("configuration", "pass_rate").rows()) == wanted
        converted = ("--to", "skill-creator", "--out", tmp_path / "c")
        assert run("convert", results, *converted, *sides).exit_code == 0
        assert self.rates(tmp_path / "c") == wanted
        result = run("report", results, "--out", tmp_path / "r", *sides)
        assert result.exit_code == 0
        assert "without_skill" in (tmp_path / "r" / "benchmark.md").read_text()

    def test_two_for_all_are_refused(self, results, tmp_path):
        sides = ("--configuration", "with_skill", "--configuration", "without_skill")
        result = run("tables", results, "--out", tmp_path / "t", *sides)
        assert result.exit_code == 2
        assert "two sides for all files" in result.stderr
