"""Whatever a model does wrong ends in a graded run after a retry, or in an errored one."""

from __future__ import annotations

import errno
import json
import re
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

import skill_eval_nb as sen
from skill_eval_nb.grading import sandbox
from skill_eval_nb.models import Connection, StandIn, ask
from skill_eval_nb.running import steps
from skill_eval_nb.running.job import Progress
from skill_eval_nb.running.pool import JobFailed
from skill_eval_nb.running.protocol import Limits
from tests.running.made_jobs import Writer, job_plan
from tests.stand_in import Fault, RiggedStandIn, serve

pytestmark = pytest.mark.skipif(
    sandbox.available() is not None, reason=f"no sandbox here: {sandbox.available()}"
)

DEADLINE = 2.0
"""Seconds that an answer may take here."""

WAITED_FOR = ("rate_limited_429", "server_error_500", "overloaded_529", "silence", "cut")
"""Faults after which there is waited, or asked again, as long as there is time: little, here."""


def carried_out(folder: Path, stand_in: StandIn, **options):
    """A job with real executors over a real connection, and the rows of its runs."""
    given = {"executor_model": "stand-in", "evals_only": ["No log"], "concurrency": 4, **options}
    with serve(stand_in) as address:
        made = job_plan(folder, "messages-api", connection=Connection(address), **given)
        begin = time.monotonic()
        progress = made.start().wait(120)
        seconds = time.monotonic() - begin
    return progress, sen.load(folder / "ws").polars("runs"), seconds


ONCE = [
    Fault("rate_limited_429", first=1, retry_after=0.1),
    Fault("cut", first=1),
    Fault("stream_error", first=1),
    Fault("invalid_json", role="judge", first=1),
    Fault("no_evidence", role="judge", first=1),
    Fault("huge_output", role="executor", first=1, size=2_000_000),
]


@pytest.mark.parametrize("fault", ONCE, ids=lambda one: one.kind)
def test_what_goes_wrong_once_is_graded_after_a_retry(tmp_path, fault):
    progress, runs, _ = carried_out(
        tmp_path, RiggedStandIn(faults=(fault,)), limits=Limits(seconds=60.0)
    )
    assert (progress.status, progress.errored) == ("done", 0), progress.problems
    assert runs["status"].to_list() == ["graded", "graded"]


ALWAYS = [
    Fault("rate_limited_429", role="executor", retry_after=0.1),
    Fault("huge_answer", role="executor", size=300_000),
    *(Fault(kind, role="executor") for kind in ("unauthorized_401", "server_error_500")),
    *(Fault(kind, role="executor") for kind in ("silence", "cut", "refusal", "max_tokens")),
    Fault("rate_limited_429", role="judge", retry_after=3600.0),
    *(Fault(kind, role="judge") for kind in ("bad_request_400", "overloaded_529", "silence")),
    *(Fault(kind, role="judge") for kind in ("refusal", "max_tokens", "no_evidence")),
]


@pytest.mark.parametrize("fault", ALWAYS, ids=lambda one: f"{one.role}-{one.kind}")
def test_what_goes_wrong_each_time_is_an_errored_run_with_the_reason(tmp_path, fault, monkeypatch):
    given = DEADLINE / 4 if fault.kind in WAITED_FOR else DEADLINE
    monkeypatch.setattr(ask, "DEADLINE", given)
    # What executes may take its time where it is the judge that fails.
    limits = Limits(seconds=3 * (given if fault.role == "executor" else DEADLINE))
    progress, runs, seconds = carried_out(tmp_path, RiggedStandIn(faults=(fault,)), limits=limits)
    assert (progress.status, progress.finished, progress.errored) == ("done", 0, 2)
    assert runs["status"].to_list() == ["errored", "errored"]
    assert runs["pass_rate"].null_count() == runs["rubric_weighted_mean"].null_count() == 2
    assert seconds < 30 + limits.seconds
    for path in (tmp_path / "ws").glob("iteration-1/*/*/run-1/timing.json"):
        timing = json.loads(path.read_bytes())
        assert timing["status"] == "errored"
        assert timing["reason"].startswith("judge: ") is (fault.role == "judge")
        assert len(timing["reason"]) > 20
        assert not path.with_name("grading.json").exists()
    assert len(progress.problems) == 2


@pytest.mark.parametrize("role", ["executor", "judge"])
def test_a_server_that_cannot_be_reached_is_told_while_it_is_tried_again_and_at_the_end(
    tmp_path, role, monkeypatch
):
    """On a port that nobody listens to; the panel and the shell show the line of the progress."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        closed = Connection(f"http://127.0.0.1:{listening.getsockname()[1]}")
    monkeypatch.setattr(ask, "DEADLINE", DEADLINE)
    executor = "messages-api" if role == "executor" else Writer()
    limits = Limits(seconds=DEADLINE)
    looks: list[Progress] = []
    given = {"evals_only": ["No log"], "limits": limits, "connection": closed}
    job = job_plan(tmp_path, executor, **given).start(on_progress=looks.append)
    end = job.wait(30 + DEADLINE)
    said = [str(look) for look in looks if look.retrying]
    found = f"The server {closed.base_url} could not be reached (ConnectError: "
    assert found in said[0]
    retry = r"\)\. Retry 1, (next in 1 s|now) \([12] of [12] steps? in flight\)\.$"
    assert re.search(retry, said[0])  # the one may be there before the other
    assert any("of 2 steps in flight" in line for line in said)
    assert (end.errored, end.retrying, len(end.problems)) == (2, "", 2)
    for problem in end.problems:
        assert found in problem
        assert re.search(r" Its time of 2 s is over\. \(\d+ attempts in ", problem)


@dataclass(frozen=True)
class Priced(Writer):
    """Asks no meter, and says itself what it cost."""

    async def execute(self, task, meter):
        return replace(await super().execute(task, meter), cost_usd=0.5)


@pytest.mark.parametrize("pool", [None, ThreadPoolExecutor], ids=["here", "pool"])
def test_what_an_executor_says_it_cost_counts_though_the_run_cannot_be_written(
    tmp_path, pool, monkeypatch
):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(steps, "put_in_place", full)
    given = {"evals_only": ["No log"], "configurations": ["with_skill"]}
    made = job_plan(tmp_path, Priced(), **given)
    with pool(1) if pool else nullcontext() as workers:
        job = made.start(pool=workers)
        with pytest.raises(JobFailed, match="No space left on device"):
            job.wait(60)
    assert job.progress.spent_usd == 0.5
    [journal] = tmp_path.rglob("journal.jsonl")
    assert 0.5 in [json.loads(line).get("usd") for line in journal.read_text().splitlines()]
