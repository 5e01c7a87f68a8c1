"""Judging by batches: at half the price, resumed after a kill, asked anew where it expired."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

import skill_eval_nb as sen
from skill_eval_nb.models import Connection, StandIn
from skill_eval_nb.running import batch as batching
from skill_eval_nb.running.journal import read_journal
from skill_eval_nb.running.protocol import Limits
from tests.running.made_jobs import job_plan, until
from tests.stand_in import Fault, RiggedStandIn, serve

LIMITS = Limits(usd=0.001)


@pytest.fixture(autouse=True)
def soon(monkeypatch):
    monkeypatch.setattr(batching, "EVERY", 0.05)


def batch_plan(folder: Path, address: str, **options):
    given = {"judge_batch": True, "judgings": 2, "judge_model": "judge", "limits": LIMITS}
    return job_plan(folder, connection=Connection(base_url=address), **{**given, **options})


def requests(log: Path) -> list[str]:
    lines = (json.loads(line) for line in log.read_text().splitlines())
    return [f"{one['via']} {one['method']} {one['path']}" for one in lines]


def test_all_judgings_go_as_one_batch_at_half_the_price(tmp_path):
    log = tmp_path / "log"
    with serve(RiggedStandIn(log=str(log))) as address:
        progress = batch_plan(tmp_path, address, budget_usd=5.0).start().wait(60)
        alone = batch_plan(tmp_path / "b", address, judge_batch=False).start().wait(60)
    assert (progress.status, progress.finished) == ("done", 6), progress
    asked = requests(log)
    assert asked.count("server POST /v1/messages/batches") == 1
    assert asked.count("batch POST /v1/messages") == 12
    runs = sen.load(tmp_path / "ws").polars("runs")
    assert runs["status"].to_list() == ["graded"] * 6
    told = read_journal(tmp_path / "ws" / "iteration-1")
    assert not told.open
    assert [len(ids) for ids in told.batches.values()] == [1]
    assert progress.spent_usd == pytest.approx(alone.spent_usd / 2, rel=0.05)


def test_a_batch_is_collected_by_the_next_start_and_not_paid_for_again(tmp_path):
    log, store = tmp_path / "log", tmp_path / "store"
    slow = RiggedStandIn(log=str(log), store=str(store), batch_seconds=4.0)
    with serve(slow) as address:
        job = batch_plan(tmp_path, address, budget_usd=5.0).start()
        until(lambda: read_journal(tmp_path / "ws" / "iteration-1").batches)
        job.stop()
        stopped = job.wait(60)
    assert (stopped.status, stopped.finished) == ("stopped", 0)
    told = read_journal(tmp_path / "ws" / "iteration-1")
    assert [one.step for one in told.open.values()] == ["batch"]
    assert told.spent_usd > 0  # at its worst, until it is known
    with serve(RiggedStandIn(log=str(log), store=str(store))) as address:
        more = batch_plan(tmp_path, address, budget_usd=5.0).start().wait(60)
    assert (more.status, more.finished) == ("done", 6), more
    assert requests(log).count("server POST /v1/messages/batches") == 1
    after = read_journal(tmp_path / "ws" / "iteration-1")
    assert not after.open
    assert math.isclose(after.spent_usd, more.spent_usd, abs_tol=1e-9)
    assert after.spent_usd < told.spent_usd


def test_what_a_batch_did_not_answer_is_judged_alone(tmp_path):
    fault = Fault("silence", role="judge", first=1)  # in a batch: expired
    with serve(RiggedStandIn(faults=(fault,))) as address:
        progress = batch_plan(tmp_path, address).start().wait(60)
    assert (progress.status, progress.finished, progress.errored) == ("done", 6, 0)
    assert len(progress.problems) == 12
    assert all("is done alone" in one for one in progress.problems)
    assert dict(progress.steps)["judge"] == 12


def test_a_refusal_in_a_batch_is_an_errored_run(tmp_path):
    with serve(RiggedStandIn(faults=(Fault("refusal", role="judge"),))) as address:
        progress = batch_plan(tmp_path, address).start().wait(60)
    assert (progress.status, progress.finished, progress.errored) == ("done", 0, 6)
    assert all("judge: the judge model refused" in one for one in progress.problems)


def test_a_budget_that_holds_some_judgings_judges_those(tmp_path):
    with serve(StandIn()) as address:
        progress = batch_plan(tmp_path, address, budget_usd=0.02).start().wait(60)
        assert progress.status == "partial", progress
        assert progress.finished < 6
        assert progress.spent_usd <= 0.02
        whole = batch_plan(tmp_path, address, budget_usd=5.0).start().wait(60)
    assert (whole.status, whole.finished) == ("done", 6)
