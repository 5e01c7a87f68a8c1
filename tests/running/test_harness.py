"""The real harness runs the demo skill, from the plan to tables, with no network and no key."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import skill_eval_nb as sen
from skill_eval_nb.models import StandIn
from skill_eval_nb.running.executors.harness import session_id
from tests.checkout import ROOT
from tests.running.needs_harness import needs_harness
from tests.running.scripted_agent import scripted_agent

pytestmark = pytest.mark.slow

DEMO = ROOT / "data" / "release-notes"
EVALS = ("mixed-commits",)


@pytest.fixture(scope="module", autouse=True)
def _harness() -> None:
    needs_harness()


@dataclass(frozen=True)
class Benchmark:
    """A job's workspace as it is loaded, and the stand-in's log of it, by the run's folder."""

    ws: sen.Workspace
    folder: Path
    log: dict[str, list[dict[str, Any]]]

    def runs(self, side: str) -> list[dict[str, Any]]:
        return [row for row in self.ws.runs.to_dicts() if row["configuration"] == side]

    def document(self, run: dict[str, Any], name: str) -> Any:
        return json.loads((self.folder / run["path"] / name).read_text())


def _benchmark(root: Path, opens: float) -> Benchmark:
    log = root / "log.jsonl"
    plan = sen.plan_runs(
        DEMO,
        workspace=root / "ws",
        executor="offline",
        executor_options={
            "through": "claude-code",
            "stand_in": StandIn(opens=opens, log=str(log)),
        },
        evals_only=EVALS,
        runs=1,
    )
    progress = plan.start().wait(300)
    assert progress.status == "done", progress
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    asked = {
        cell.folder: [line for line in lines if line["session"] == session_id(cell.key)]
        for cell in plan.cells
    }
    return Benchmark(sen.load(root / "ws"), root / "ws", asked)


@pytest.fixture(scope="module")
def opened(tmp_path_factory) -> Benchmark:
    return _benchmark(tmp_path_factory.mktemp("opened"), opens=1.0)


@pytest.fixture(scope="module")
def left_closed(tmp_path_factory) -> Benchmark:
    return _benchmark(tmp_path_factory.mktemp("closed"), opens=0.0)


@pytest.fixture(params=["opened", "left_closed"])
def benchmark(request) -> Benchmark:
    return request.getfixturevalue(request.param)


def test_every_run_is_graded_and_loads(benchmark):
    runs = benchmark.ws.runs
    assert sorted(zip(runs["eval_name"], runs["configuration"], strict=True)) == sorted(
        (name, side) for name in EVALS for side in ("with_skill", "without_skill")
    )
    assert set(runs["status"]) <= {"graded", "gated"}
    assert runs["gate_passed"].null_count() == 0
    assert set(runs.filter(runs["status"] == "graded")["rubric_weighted_mean"].is_null()) == {False}
    assert "graded" in set(runs["status"])
    assert benchmark.ws.problems.filter(benchmark.ws.problems["severity"] != "info").is_empty()


def test_the_skill_counts_as_used_where_it_was_opened(opened, left_closed):
    assert [run["skill_used"] for run in opened.runs("with_skill")] == [True]
    assert [run["skill_used"] for run in left_closed.runs("with_skill")] == [False]
    for one in (opened, left_closed):
        assert [run["skill_used"] for run in one.runs("without_skill")] == [None]


def test_what_was_opened_is_in_what_the_model_was_sent(opened, left_closed):
    """The log is the oracle of the test above: the skill's body was sent, or it was not."""
    body = (DEMO / "SKILL.md").read_text().splitlines()[-1].strip()
    for one, expected in ((opened, True), (left_closed, False)):
        for run in one.runs("with_skill"):
            sent = json.dumps(one.log[run["path"]])
            assert (body in sent) is expected
            assert "release-notes" in sent


def test_errors_in_a_transcript_are_found_where_they_are(benchmark):
    """By what the harness itself told the model: it marks what failed."""
    for run in benchmark.ws.runs.to_dicts():
        last = benchmark.log[run["path"]][-1]["body"]
        failed = '"is_error": true' in json.dumps(last["messages"])
        check = _no_errors(benchmark, run)
        assert check["passed"] is not failed
        assert "transcript.jsonl" in check["evidence"]


def test_an_error_fails_the_check_with_its_place(tmp_path):
    with scripted_agent({"release notes": ["cat nowhere.txt", "echo '# 2.4.0' > n.md"]}) as server:
        plan = sen.plan_runs(
            DEMO,
            workspace=tmp_path / "ws",
            executor="claude-code",
            configurations=["with_skill"],
            executor_model="stand-in",
            judge_model="stand-in-judge",
            connection=server.connection,
            evals_only=EVALS,
            runs=1,
        )
        assert plan.start().wait(300).status == "done"
    (run,) = (one := Benchmark(sen.load(tmp_path / "ws"), tmp_path / "ws", {})).runs("with_skill")
    assert run["errors"] == 1
    assert run["skill_used"] is False
    check = _no_errors(one, run)
    assert check["passed"] is False
    lines = (one.folder / run["path"] / "transcript.jsonl").read_text().splitlines()
    place = next(number for number, line in enumerate(lines, 1) if '"is_error": true' in line)
    told = f"transcript.jsonl:{place}: Bash failed: Exit code 1: cat: nowhere.txt: No such file"
    assert told in check["evidence"]


def _no_errors(benchmark: Benchmark, run: dict[str, Any]) -> dict[str, Any]:
    checks = benchmark.document(run, "structural.json")["expectations"]
    (check,) = (one for one in checks if one["type"] == "no_errors")
    return check
