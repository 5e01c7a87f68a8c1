"""The commands that read: their exit codes, and what they print and write."""

from __future__ import annotations

import json
import re

import jsonschema
import polars as pl
import pytest

import skill_eval_nb as sen
from tests.checkout import ROOT
from tests.cli.calls import done, refused, run
from tests.corpus.build import graded, lay
from tests.tables.made import two_sides


def test_a_sound_workspace_is_exit_code_0_and_an_error_is_1(ws, tmp_path):
    """Markup in a name is shown as it is."""
    assert done("check", ws).splitlines()[-1].startswith("0 errors, 0 warnings")
    place = "iteration-1/eval-1-[bold]x[/bold]/with_skill/run-1/grading.json"
    verdict = {"expectations": [{"name": "it works", "met": "perhaps"}]}
    faulty = lay(tmp_path / "faulty", two_sides() | {place: verdict})
    result = run("check", faulty)
    severities = [line.split()[0] for line in result.stdout.splitlines()[:-1]]
    assert severities == sorted(severities, key=["error", "warning", "info"].index)
    assert re.search(rf"(?m)^error \S+{re.escape(place)} \$\.expectations\[0\]", result.stdout)
    told = run("check", faulty, "--json")
    problems = [json.loads(line) for line in told.stdout.splitlines()]
    assert (result.exit_code, told.exit_code, len(problems)) == (1, 1, len(severities))
    assert "error" in {one["severity"] for one in problems}
    assert {tuple(one) for one in problems} == {("severity", "code", "path", "where", "message")}


def test_a_flood_is_a_few_lines_of_each_kind(tmp_path):
    files = {}
    for n in range(30):
        files[f"eval-{n}/with_skill/grading.json"] = graded("pf", summary={"passed": 2, "total": 2})
        files[f"eval-{n}/with_skill/timing.json"] = "{" if n % 2 else {"total_tokens": f"{n} loops"}
    result = run("check", lay(tmp_path / "ws", files))
    *lines, counts = result.stdout.splitlines()
    kinds = [re.findall(r"\[([a-z-]+)\]$", line)[0] for line in lines]
    assert all(kinds.count(kind) <= 4 for kind in kinds)
    assert any(re.match(r"error … and 12 more of this kind.*\[not-json\]", line) for line in lines)
    assert any(re.match(r"error .*\(15 times in 15 places.*\[wrong-type\]", line) for line in lines)
    assert counts.startswith("16 errors, 30 warnings")
    every = run("check", tmp_path / "ws", "--json").stdout.splitlines()
    assert sum('"not-json"' in line for line in every) == 15


def test_a_document_passes_its_own_schema_and_another_does_not():
    for dialect in ((), ("--dialect", "iterations")):
        schema = json.loads(run("schema", "grading", *dialect).stdout)
        jsonschema.validate(graded("pf-"), schema)
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({"expectations": "all fine"}, schema)


def suite(passed, **more):
    """Results of another tool: a run of which no file says the side."""
    verdict = {"right": {"type": "text", "score": 1, "passed": passed, **more}}
    tasks = [{"test_id": "t1", "runs": [{"run_number": 1, "validations": verdict}]}]
    return {"eval_id": str(passed), "skill": "x", "config": {}, "tasks": tasks}


def test_what_was_converted_loads_and_losses_are_told_on_the_standard_error(tmp_path):
    """What has no place in a workspace of ours: here, the score of the tool that ran it."""
    path, out = lay(tmp_path / "in", {"with_skill.json": suite(True, score=0.5)}), tmp_path / "out"
    result = run("convert", path, "--out", out)
    written = sum(one.is_file() for one in out.rglob("*"))
    assert (result.exit_code, result.stdout) == (0, f"Wrote {written} files to {out}.\n")
    assert "score" in result.stderr
    assert sen.load(out).runs.height


def test_a_report_is_three_files_of_the_time_that_was_given(ws, tmp_path):
    out, time = tmp_path / "out", "2026-01-02T03:04:05Z"
    told = done("report", ws, "--out", out, "--timestamp", time)
    paths = [out / name for name in ("benchmark.json", "benchmark.md", "report.html")]
    assert sorted(out.iterdir()) == paths
    assert told.splitlines()[-1] == "Wrote {}, {} and {}.".format(*paths)
    assert "2 runs (2 graded)" not in told
    more = done("report", ws, "--out", out, "--timestamp", time, "-v")
    assert all(part in more for part in ("2 runs (2 graded)", *(f"wrote {one}" for one in paths)))
    assert json.loads((out / "benchmark.json").read_text())["metadata"]["timestamp"] == time


def test_a_report_of_one_side_says_why_nothing_is_compared(tmp_path):
    home = lay(tmp_path / "kites-workspace", {"eval-1-e/with_skill/grading.json": graded("pf")})
    answer, wrote = run("report", home, "--out", tmp_path / "out").stdout.splitlines()
    assert answer == "Nothing to compare: no baseline among the configurations: with_skill."
    assert wrote.startswith("Wrote ")


def test_a_report_ends_with_what_single_runs_lean_to_and_what_would_decide_it(tmp_path):
    """The command of a tool's runs makes them anew; as JSON every figure is a field."""
    files = {
        f"iteration-1/eval-{n}-e{n}/{side}/grading.json": graded(verdicts)
        for n in range(1, 5)
        for side, verdicts in (("with_skill", "ppppp"), ("without_skill", "pffff"))
    }
    home, out = lay(tmp_path / "kites-workspace", files), tmp_path / "out"
    answer, step, wrote = run("report", home, "--out", out).stdout.splitlines()
    assert answer.startswith("Too few runs to say whether with_skill helps on these 4 evals. If ")
    assert "with_skill leans up: +80 pp (+" in answer
    assert answer.endswith("on these 4 evals; 4 of 4 improved.")
    assert step.startswith("Next: 1 more run of each eval a side (8 runs) would decide it in most")
    assert " --runs 2 --executor claude-code --executor-model MODEL" in step
    assert wrote.startswith("Wrote ")
    said = (out / "benchmark.md").read_text()
    assert str(tmp_path) not in said
    assert re.search(r"(?m)^Next: 1 more run .*: `skill-eval-nb run \w+ --runs 2 ", said)
    notes = json.loads((out / "benchmark.json").read_text())["notes"]
    assert any("leans up: +80 pp" in note for note in notes)
    fields = json.loads(run("report", home, "--out", out, "--json").stdout)
    own, beyond = fields["answers"]
    (row,) = sen.stats.deltas(sen.load(home)).to_dicts()
    assert own.pop("command") in step
    assert own == {name: row[name] for name in own}
    assert (own["verdict"], own["lean"]) == ("too few runs", "leans up")
    assert (beyond["scope"], beyond["verdict"]) == ("population", "too few evals")
    assert beyond["next_step"].startswith("2 more evals")
    assert fields["paths"] == [str(out / path.name) for path in sorted(out.iterdir())]


def test_one_table_of_another_format_reads_back(ws, tmp_path):
    run("tables", ws, "--out", tmp_path / "out", "--format", "csv", "--table", "runs")
    (file,) = (tmp_path / "out").iterdir()
    rates = sen.load(ws).runs["pass_rate"].to_list()
    assert pl.read_csv(file)["pass_rate"].to_list() == rates


def test_the_sides_of_results_that_state_none_are_said_of_a_file_and_of_all_others(tmp_path):
    results = lay(tmp_path / "in", {"x.json": suite(False), "y.json": suite(True)})
    out = tmp_path / "out"
    sides = ("--configuration", "with_skill", "--configuration", "x.json=without_skill")
    for name in ("tables", "report", "convert"):
        assert run(name, results, "--out", out / name, *sides).exit_code == 0
    rows = [pl.read_parquet(out / "tables" / "runs.parquet"), sen.load(out / "convert").runs]
    for found in rows:
        rates = dict(found.select("configuration", "pass_rate").rows())
        assert rates == {"with_skill": 1.0, "without_skill": 0.0}
    assert "without_skill" in (out / "report" / "benchmark.md").read_text()
    two = (*sides[:3], "without_skill")
    assert "two sides for all files" in refused("tables", results, "--out", tmp_path / "t", *two)


def test_a_library_is_shown_and_written_and_its_json_has_fields(tmp_path):
    shown = done("library", ROOT / "data", "--out", tmp_path)
    assert "Too few skills to say whether a skill helps on average" in shown
    assert shown.split()[-1] == str(tmp_path / "library.html")
    assert {path.name for path in tmp_path.iterdir()} == {"library.md", "library.html"}
    found = json.loads(run("library", ROOT / "data", "--out", tmp_path, "--json").stdout)
    assert (found["skills"][0]["skill"], found["answers"][0]["n_skills"]) == ("testing", 4)
