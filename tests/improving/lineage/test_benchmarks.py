"""The benchmarks that span versions are written from the same workspace, with the same figures."""

from __future__ import annotations

import json
from statistics import fmean

import pytest

import skill_eval_nb as sen
from skill_eval_nb.improving import history
from skill_eval_nb.improving.lineage import by_version
from tests.checkout import ROOT
from tests.corpus.build import lay
from tests.improving.lineage.made import iteration

DATA = ROOT / "data"


def written(ws, folder, dialect):
    paths = sen.report.write_benchmark(ws, folder, dialect=dialect)
    (path,) = [one for one in paths if one.suffix == ".json"]
    return json.loads(path.read_text())


def test_the_versions_of_a_description_are_the_entries(tmp_path):
    ws = sen.load(DATA / "tdd-workspace")
    entries = written(ws, tmp_path, "test-cases")["entries"]
    versions = history(ws).versions
    assert [one["description_version"] for one in entries] == [1, 2]
    for one, entry in zip(versions, entries, strict=True):
        scores = [case["score"] for case in entry["per_test_case"]]
        assert fmean(scores) == pytest.approx(one.expectation_pass_rate, abs=1e-4)
        assert len(scores) == one.n_evals


def test_a_benchmark_of_descriptions_comes_out_as_it_was_stated(tmp_path):
    ws = sen.load(DATA / "test-cases-workspace")
    ours = written(by_version(ws), tmp_path, "test-cases")["entries"]
    theirs = json.loads((DATA / "test-cases-workspace/eval/benchmark.json").read_text())["entries"]
    assert [one["description_version"] for one in ours] == [1, 2, 3]
    for one, other in zip(ours, theirs, strict=True):
        for name in ("mean", "std_dev", "min", "max"):
            assert one["scores"][name] == pytest.approx(other["scores"][name], abs=1e-4)
        scores = [
            {case["test_case_id"]: case["score"] for case in entry["per_test_case"]}
            for entry in (one, other)
        ]
        assert scores[0] == pytest.approx(scores[1], abs=1e-4)


def test_passes_that_are_not_the_stated_versions_stay_passes():
    ws = sen.load(DATA / "test-cases-workspace")
    stated = ws.polars("stated")
    other = {"runs": ws.polars("runs"), "stated": stated.with_columns(value=stated["value"] + 0.1)}
    changed = sen.Workspace.from_tables(other)
    assert by_version(changed) is changed
    assert len(history(changed).versions) == 1


def test_the_versions_are_the_iterations(tmp_path):
    files: dict = {}
    for number, share in enumerate((0.3, 0.8, 0.75), 1):
        files |= iteration(number, share, evals=3) | iteration(number, 0.2, "without_skill", 3)
    ws = sen.load(lay(tmp_path / "made-workspace", files))
    iterations = written(ws, tmp_path / "out", "iterations")["iterations"]
    versions = history(ws).versions
    assert [one["iteration"] for one in iterations] == [1, 2, 3]
    for one, entry in zip(versions, iterations, strict=True):
        named = {side["name"]: side for side in entry["configurations"]}
        # Every eval has as many runs, so pooled runs and evals first come to the same.
        overall = named[one.configuration]["overall"]["pass_rate"]
        assert overall == pytest.approx(one.expectation_pass_rate, abs=1e-4)
        tested = [
            fmean(check["pass_rate"] for check in test["assertions"])
            for test in named[one.configuration]["tests"]
        ]
        assert fmean(tested) == pytest.approx(one.expectation_pass_rate, abs=1e-4)
