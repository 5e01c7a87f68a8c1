"""The generated workspaces are what they claim to be, and every method finds every run."""

from __future__ import annotations

import json
from collections import Counter

import msgspec
import pytest

import skill_eval_nb as sen
from skill_eval_nb.documents import Grading, Metrics, Structural, Timing
from tests.bench.generate import RUNS, shape, workspace, write
from tests.bench.methods import METHODS

DOCUMENTS = {
    "grading.json": Grading,
    "structural.json": Structural,
    "timing.json": Timing,
    "outputs/metrics.json": Metrics,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return workspace(80, tmp_path_factory.mktemp("bench"))


@pytest.fixture(scope="module")
def runs(folder):
    return sorted(folder.glob("iteration-*/eval-*/*/run-*"))


@pytest.mark.parametrize("name", DOCUMENTS)
def test_files_hold_documented_fields_only(runs, name):
    for run in runs:
        document = msgspec.json.decode((run / name).read_bytes(), type=DOCUMENTS[name])
        assert len(msgspec.json.encode(document)) > 100


def test_a_run_has_four_files_of_six_kilobytes(runs):
    sizes = [sum((run / name).stat().st_size for name in DOCUMENTS) for run in runs]
    assert len(sizes) == 80
    assert 6_000 < sum(sizes) / len(sizes) < 6_600


def test_no_evidence_comes_twice(folder):
    evidence = Counter()
    for path in folder.rglob("*.json"):
        json.loads(path.read_text(), object_hook=lambda one: evidence.update(_evidence(one)))
    assert len(evidence) == 80 * (8 + 5 + 4 + 2)
    assert max(evidence.values()) == 1


def _evidence(one):
    return [one["evidence"]] if "evidence" in one else []


def test_the_same_bytes_every_time(folder, tmp_path):
    write(tmp_path, 80)
    written = {path.relative_to(tmp_path): path.read_bytes() for path in tmp_path.rglob("*.json")}
    kept = {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*.json")}
    assert written == kept


def test_a_workspace_is_made_once(folder):
    made = folder.stat().st_ctime_ns
    assert workspace(80, folder.parent) == folder
    assert folder.stat().st_ctime_ns == made


@pytest.mark.parametrize("size", [20, 600, 6_000, 60_000])
def test_the_shape_holds_so_many_runs(size):
    iterations, evals = shape(size)
    assert iterations * evals * 2 * RUNS == size


def test_runs_come_in_twenties():
    with pytest.raises(ValueError, match="multiple of 20, not 30"):
        shape(30)


@pytest.mark.parametrize("name", [name for name, method in METHODS.items() if method.runs])
def test_every_method_finds_every_run(folder, name):
    method = METHODS[name]
    assert method.runs
    assert method.runs(method.get_ready()(str(folder))) == 80


def test_the_floor_reads_every_byte(folder):
    read = METHODS["floor"].get_ready()
    assert read(str(folder)) == sum(path.stat().st_size for path in folder.rglob("*.json"))


def test_the_loader_finds_nothing_wrong(folder):
    assert sen.load(folder).problems.height == 0
