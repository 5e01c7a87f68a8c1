"""Whatever a model does wrong ends in a graded run after a retry, or in an errored one."""

from __future__ import annotations

import base64
import errno
import json
import re
import socket
import time
import traceback
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
from tests.models.scripted import Answer, Scripted, Seen
from tests.running.made_jobs import Writer, job_plan
from tests.stand_in import Fault, RiggedStandIn, serve

pytestmark = pytest.mark.skipif(
    sandbox.available() is not None, reason=f"no sandbox here: {sandbox.available()}"
)

DEADLINE = 2.0
"""Seconds that an answer may take here."""

WAITED_FOR = ("rate_limited_429", "silence")
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
    Fault("stream_error", first=1),
    Fault("invalid_json", role="judge", first=1),
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
    Fault("huge_answer", role="executor", size=300_000),
    *(Fault(kind, role="executor") for kind in ("silence", "refusal")),
    Fault("rate_limited_429", role="judge", retry_after=3600.0),
    *(Fault(kind, role="judge") for kind in ("silence", "no_evidence")),
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
        assert "ModelFault" not in timing["reason"]  # words, and no name of an error
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
        assert re.search(r" Its time limit of 2 s is over\. \(\d+ attempts in ", problem)


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


# ── a key that a server repeats ──────────────────────────────────────────────────────────────────

KEY = "sk-PLANTED-0123456789/abcdefghij+klmnop"
USER, PASSWORD = "PLANTED-USER", "PLANTED-PASSWORD"
PAIR = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()


def echo(seen: Seen, status: int, page: bool) -> Answer:
    """A gateway that repeats what it was sent, at the place where messages are cut too."""
    before = "x" * (160 if status == 200 else 270)
    said = f"{before} {seen.headers['authorization']} of {dict(seen.headers)}"
    body = json.dumps({"error": {"type": "authentication_error", "message": said}})
    if page:
        body = f"<html><p>{said}</p><p>http://{USER}:{PASSWORD}@host/</p></html>"
    return Answer(status, body.encode(), {"request-id": seen.headers["authorization"]})


def left_by(root: Path, url: str, **options) -> tuple[str, list[str]]:
    """What a job writes and shows, and where a secret is in it."""
    given = {"evals_only": ["No log"], "configurations": ["with_skill"], **options}
    plan = job_plan(root, connection=Connection(url), **given)
    job, failed = plan.start(), ""
    try:
        job.wait(120)
    except JobFailed as fault:
        failed = "".join(traceback.format_exception(fault))
    progress, ws = job.progress, sen.load(root / "ws")
    shown = [failed, plan._repr_html_(), str(progress), str(ws.polars("runs").to_dicts())]
    shown += map(repr, (plan, plan.connection, job, progress, ws.problems, ws))
    texts = dict(enumerate(shown))
    texts |= {file: file.read_text(errors="replace") for file in root.rglob("*") if file.is_file()}
    secrets = (KEY[:14], KEY[-14:], PASSWORD, PAIR)
    leaks = [f"{at}: {one}" for at, text in texts.items() for one in secrets if one in text]
    return "\n".join(texts.values()), leaks


WAYS = {
    "executor": {"executor": "messages-api", "limits": Limits(seconds=4.0)},
    "judge": {"executor": Writer(), "judge_model": "judge"},
    "batch": {"executor": Writer(), "judge_model": "judge", "judge_batch": True},
}


@pytest.mark.parametrize(
    ("way", "status", "user", "page"),
    [
        ("executor", 400, "", True),
        ("executor", 403, f"{USER}:{PASSWORD}@", False),
        ("executor", 200, "", True),
        ("executor", None, f"{USER}:{PASSWORD}@", False),
        ("judge", 401, "", False),
        ("batch", 400, "", False),
    ],
)
def test_a_gateway_that_repeats_the_key_or_is_not_there_is_not_quoted(
    tmp_path, monkeypatch, way, status, user, page
):
    """What the real harness is handed back: test_relay.py."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    with Scripted(lambda seen: echo(seen, status, page)) as server:
        url = server.base_url if status else "http://127.0.0.1:9"
        text, leaks = left_by(tmp_path, url.replace("//", f"//{user}"), **WAYS[way])
    assert bool(server.seen) is (status is not None)
    assert not leaks
    assert ("[hidden]" if status else "reached") in text
