"""Steps in pools: threads, processes and a Dask cluster make the same files."""

from __future__ import annotations

import contextlib
import dataclasses
import multiprocessing
import os
import signal
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from unittest.mock import Mock

import pytest

import skill_eval_nb as sen
from skill_eval_nb.running.pool import JobFailed, local_dask
from skill_eval_nb.running.protocol import Limits
from tests.running.made_jobs import ONE_CENT, Writer, job_plan, journal, until

OPTIONS = {"judgings": 2, "concurrency": 4, "budget_usd": 5.0, "limits": Limits(usd=0.1)}


def spawned():
    return ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn"))


@contextlib.contextmanager
def dask():
    pytest.importorskip("distributed", reason="Dask is not installed")
    psutil = pytest.importorskip("psutil", reason="Dask needs it")
    with local_dask(workers=2, threads=2) as pool:
        here = psutil.Process()
        processes = [here, *here.children(recursive=True)]
        heard = [one.laddr.ip for own in processes for one in own.net_connections("tcp")]
        assert not {"0.0.0.0", "::"} & set(heard)  # nobody else on the network is let in
        yield pool


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """What a job without a pool makes."""
    folder = tmp_path_factory.mktemp("alone")
    progress = job_plan(folder, Writer(calls=2), **OPTIONS).start().wait(60)
    assert progress.status == "done"
    return made_in(folder), progress


def made_in(folder: Path) -> dict[str, object]:
    """The files of a workspace, with those in full that no clock is in."""
    found = {}
    for path in sorted((folder / "ws").rglob("*")):
        if path.is_file():
            name = path.relative_to(folder).as_posix()
            plain = path.name in ("structural.json", "metrics.json", "notes.md", "log.txt")
            found[name] = path.read_bytes() if plain else None
    return found


@pytest.mark.slow
@pytest.mark.parametrize("pool", [lambda: ThreadPoolExecutor(4), dask])
def test_every_pool_makes_the_same_files_at_the_same_cost(tmp_path, alone, pool):
    files, whole = alone
    with pool() as given:
        progress = job_plan(tmp_path, Writer(calls=2), **OPTIONS).start(pool=given).wait(120)
    assert (progress.status, progress.finished) == ("done", 6), progress
    assert made_in(tmp_path) == files
    assert progress.spent_usd == pytest.approx(whole.spent_usd)
    runs = sen.load(tmp_path / "ws").polars("runs")
    assert set(runs["status"]) == {"graded"}


@dataclasses.dataclass(frozen=True)
class Deadly(Writer):
    """Kills its worker, the first time that it is at a run."""

    marks: str = ""

    async def execute(self, task, meter):
        ticket = meter.reserve(task.model, ONE_CENT)
        with contextlib.suppress(FileExistsError):
            os.close(os.open(f"{self.marks}/at-{task.key}", os.O_CREAT | os.O_EXCL))
            os.kill(os.getpid(), signal.SIGKILL)
        meter.release(ticket)
        return await super().execute(task, meter)


FEW = {"judgings": 0, "evals_only": ["No log"], "budget_usd": 1.0, "concurrency": 1}
FEW |= {"limits": Limits(usd=0.1)}


def events(folder):
    return [one["event"] for one in journal(folder).events]


def test_a_process_pool_that_breaks_ends_the_job_and_the_next_start_goes_on(tmp_path):
    options = {**FEW, "configurations": ["with_skill"]}
    made = job_plan(tmp_path, Deadly(marks=str(tmp_path)), **options)
    with spawned() as pool, pytest.raises(JobFailed, match="with a new pool"):
        made.start(pool=pool).wait(60)
    assert events(tmp_path)[-2:] == ["lost", "ended"]
    # What it had reserved, and not all of its limit.
    assert journal(tmp_path).spent_usd == pytest.approx(0.01)
    with spawned() as pool:
        last = made.start(pool=pool).wait(60)
    assert (last.status, last.finished) == ("done", 1)


def test_a_worker_that_is_lost_once_the_job_was_stopped_is_no_error_of_its_run(tmp_path):
    steps = [Future(), Future()]  # which come to no end of their own
    pool = Mock(submit=Mock(side_effect=steps))
    made = job_plan(tmp_path, judgings=0, concurrency=2)
    job = made.start(pool=pool)
    until(lambda: pool.submit.call_count == 2)
    job.stop()
    until((made.folder / ".staging" / "halt").exists)
    for one in steps:
        one.set_exception(OSError("the machine is gone"))
    assert job.wait(60).status == "stopped"
    again = job_plan(tmp_path, judgings=0).start().wait(60)
    assert (again.status, again.errored) == ("done", 0)


class Losing(ThreadPoolExecutor):
    """Loses steps: some before they begin, some after."""

    def __init__(self, after: bool, times: int) -> None:
        super().__init__(2)
        self.after, self.times = after, times

    def submit(self, fn, /, *given, **more):
        if self.times <= 0:
            return super().submit(fn, *given, **more)
        self.times -= 1
        lost: Future[object] = Future()
        if self.after:
            super().submit(fn, *given, **more).result()
        lost.set_exception(RuntimeError("the worker went away"))
        return lost


@pytest.mark.parametrize(("after", "times"), [(False, 1), (True, 1), (False, 2)])
def test_a_lost_step_is_sent_once_more_if_it_has_written_nothing(tmp_path, after, times):
    with Losing(after, times) as pool:
        progress = job_plan(tmp_path, Writer(calls=1), **FEW).start(pool=pool).wait(60)
    assert progress.status == "done"
    assert (progress.finished, progress.errored) == ((1, 1) if times == 2 else (2, 0))
    assert events(tmp_path).count("lost") == times
    assert events(tmp_path).count("launched") == 2 + (0 if after else 1)
    if not after:
        assert progress.spent_usd >= 0.1 * times - 1e-9  # nothing was noted: all that was allotted
    if times == 2:
        assert "the worker went away" in progress.problems[0]


def test_workers_stop_at_their_next_call(tmp_path):
    made = job_plan(tmp_path, Writer(calls=200, seconds=0.05), judgings=0, concurrency=2)
    with ThreadPoolExecutor(2) as pool:
        job = made.start(pool=pool)
        until(lambda: len(job.progress.in_flight) == 2)
        job.stop()
        progress = job.wait(60)
    assert (progress.status, progress.finished) == ("stopped", 0)
    assert events(tmp_path).count("cancelled") == 2
    assert not (tmp_path / "ws" / "iteration-1" / ".staging").exists()
