"""Judging by batches: at half the price, resumed after a kill, asked anew where it expired."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

import skill_eval_nb as sen
from skill_eval_nb.models import Connection
from skill_eval_nb.running import batch as batching
from skill_eval_nb.running.protocol import Limits
from tests.running.made_jobs import job_plan, journal, until
from tests.stand_in import Fault, RiggedStandIn, logged, serve

LIMITS = Limits(usd=0.001)


@pytest.fixture(autouse=True)
def soon(monkeypatch):
    monkeypatch.setattr(batching, "EVERY", 0.05)


def start(folder: Path, address: str, **options):
    given = {"judge_batch": True, "judgings": 2, "judge_model": "judge", "limits": LIMITS}
    return job_plan(folder, connection=Connection(address), **{**given, **options}).start()


def requests(log: Path) -> list[str]:
    return [f"{one['via']} {one['method']} {one['path']}" for one in logged(log)]


def test_all_judgings_go_as_one_batch_at_half_the_price(tmp_path):
    log = tmp_path / "log"
    with serve(RiggedStandIn(log=str(log))) as address:
        progress = start(tmp_path, address, budget_usd=5.0).wait(60)
        alone = start(tmp_path / "b", address, judge_batch=False).wait(60)
    assert (progress.status, progress.finished) == ("done", 6), progress
    asked = requests(log)
    assert asked.count("server POST /v1/messages/batches") == 1
    assert asked.count("batch POST /v1/messages") == 12
    runs = sen.load(tmp_path / "ws").polars("runs")
    assert runs["status"].to_list() == ["graded"] * 6
    told = journal(tmp_path)
    assert not told.open
    assert [len(ids) for ids in told.batches.values()] == [1]
    assert progress.spent_usd == pytest.approx(alone.spent_usd / 2, rel=0.05)


def test_a_batch_is_collected_by_the_next_start_and_not_paid_for_again(tmp_path):
    log = str(tmp_path / "log")
    with serve(RiggedStandIn(log=log, batch_seconds=4.0)) as address:
        job = start(tmp_path, address, budget_usd=5.0)
        until(lambda: journal(tmp_path).batches)
        job.stop()
        stopped = job.wait(60)
    assert (stopped.status, stopped.finished) == ("stopped", 0)
    assert [one.step for one in journal(tmp_path).open.values()] == ["batch"]
    worst = journal(tmp_path).spent_usd  # until it is known
    with serve(RiggedStandIn(log=log)) as address:
        more = start(tmp_path, address, budget_usd=5.0).wait(60)
    assert (more.status, more.finished) == ("done", 6), more
    assert requests(tmp_path / "log").count("server POST /v1/messages/batches") == 1
    assert not journal(tmp_path).open
    assert math.isclose(journal(tmp_path).spent_usd, more.spent_usd, abs_tol=1e-9)
    assert 0 < journal(tmp_path).spent_usd < worst


@pytest.mark.parametrize(
    ("fault", "finished", "told", "number"),
    [
        (
            Fault("silence", role="judge", first=1),
            6,
            "is done on its own",
            12,
        ),  # in a batch: expired
        (Fault("refusal", role="judge"), 0, "judge: the judge model refused", 6),
    ],
)
def test_what_a_batch_did_not_answer_is_judged_alone_and_a_refusal_is_an_errored_run(
    tmp_path, fault, finished, told, number
):
    with serve(RiggedStandIn(faults=(fault,))) as address:
        end = start(tmp_path, address).wait(60)
    assert (end.status, end.finished, end.errored) == ("done", finished, 6 - finished)
    assert len(end.problems) == number
    assert all(told in one for one in end.problems)
    assert len([*tmp_path.rglob("judgings/*.json")]) == 2 * finished


def test_a_budget_that_holds_some_judgings_judges_those(tmp_path):
    with serve(RiggedStandIn()) as address:
        progress = start(tmp_path, address, budget_usd=0.02).wait(60)
        assert progress.status == "partial", progress
        assert progress.finished < 6
        assert progress.spent_usd <= 0.02
        whole = start(tmp_path, address, budget_usd=5.0).wait(60)
    assert (whole.status, whole.finished) == ("done", 6)
