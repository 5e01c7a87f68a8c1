"""The real harness runs the demo skill, from the plan to tables, with no network and no key."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import skill_eval_nb as sen
from skill_eval_nb.models import StandIn
from skill_eval_nb.running.executors.harness import TOOLS, session_id
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


def test_every_run_is_graded_and_loads_and_the_skill_is_used_where_the_model_was_sent_it(
    opened, left_closed
):
    body = (DEMO / "SKILL.md").read_text().splitlines()[-1].strip()
    for one, used in ((opened, True), (left_closed, False)):
        (with_it,), (without,) = one.runs("with_skill"), one.runs("without_skill")
        assert [run["skill_used"] for run in (with_it, without)] == [used, None]
        sent = json.dumps(one.log[with_it["path"]])  # the oracle of what was opened
        assert (body in sent) is used
        assert "release-notes" in sent
        assert {run["eval_name"] for run in (with_it, without)} == set(EVALS)
        for run in (with_it, without):
            assert run["status"] in ("graded", "gated")
            assert run["gate_passed"] is not None
            assert (run["rubric_weighted_mean"] is None) is (run["status"] == "gated")
            timing = json.loads((one.folder / run["path"] / "timing.json").read_text())
            assert timing["model_calls"] == len(one.log[run["path"]])
            assert timing["cost_usd"] == 0.0
            outputs = (one.folder / run["path"] / "outputs").iterdir()
            assert {path.stat().st_uid for path in outputs} == {os.geteuid()}
        assert "graded" in {run["status"] for run in (with_it, without)}
        assert set(one.ws.problems["severity"]) <= {"info"}


def test_both_sides_have_the_same_tools_and_limits_and_nearly_the_same_system_prompt(opened):
    (with_it,), (without,) = opened.runs("with_skill"), opened.runs("without_skill")
    one, other = (opened.log[run["path"]][0]["body"] for run in (with_it, without))
    for run in (with_it, without):
        lines = (opened.folder / run["path"] / "transcript.jsonl").read_text().splitlines()
        assert set(json.loads(lines[0])["tools"]) == set(TOOLS)
    for name in ("tools", "max_tokens", "thinking"):
        assert one.get(name) == other.get(name)
    said, unsaid = (
        set("\n".join(block["text"] for block in body["system"]).splitlines())
        for body in (one, other)
    )
    assert unsaid <= said
    assert len(said - unsaid) <= 2
    assert "invoke it via Skill" in "".join(said - unsaid)


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
    checks = json.loads((one.folder / run["path"] / "structural.json").read_text())["expectations"]
    (check,) = (each for each in checks if each["type"] == "no_errors")
    assert check["passed"] is False
    lines = (one.folder / run["path"] / "transcript.jsonl").read_text().splitlines()
    place = next(number for number, line in enumerate(lines, 1) if '"is_error": true' in line)
    told = f"transcript.jsonl:{place}: Bash failed: Exit code 1: cat: nowhere.txt: No such file"
    assert told in check["evidence"]
