"""A job that is killed again and again (`python -m tests.running.killing` does more of it).

And one whose kernel is restarted in the middle: what that cut off is no error of any run.
"""

from __future__ import annotations

import subprocess
import sys

import pytest
from jupyter_client.manager import start_new_kernel

from skill_eval_nb.running.journal import read_journal
from tests.checkout import ROOT
from tests.running import killing
from tests.running.made_jobs import make_skill, until


@pytest.mark.slow
def test_a_job_that_is_killed_again_and_again_is_complete_and_pays_for_nothing_twice():
    # In a process of its own: it forks, which other tests' threads would not survive.
    command = [sys.executable, "-m", "tests.running.killing", "6", "18", "1"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.startswith("6 kills over ")
    assert "none of" in done.stdout


CELL = """
import sys
from pathlib import Path
sys.path.insert(0, {root!r})
from tests.running.killing import Job
job = Job(Path({folder!r}), {server!r}, {runs}).plan().start()
"""


def test_a_job_whose_kernel_is_restarted_has_no_error_and_pays_for_nothing_twice(tmp_path):
    make_skill(tmp_path / "skill")
    log = tmp_path / "log"
    with killing.served(log, 0.1) as server:
        job = killing.Job(tmp_path, server, 12)
        cell = CELL.format(root=str(ROOT), folder=str(tmp_path), server=server, runs=job.runs)
        manager, client = start_new_kernel()
        try:
            assert_ran(client, cell)
            until(lambda: any(job.workspace.glob("iteration-1/eval-*/*/*/judgings/1.json")), 180)
            manager.restart_kernel()
            job.look()
            client.wait_for_ready()
            assert_ran(client, f"{cell}assert job.wait().status == 'done'")
        finally:
            client.stop_channels()
            manager.shutdown_kernel()
    job.look()
    told = read_journal(job.workspace / "iteration-1")
    assert [one["event"] for one in told.events].count("started") == 2
    assert [one for one in told.events if one["event"] == "errored"] == []
    assert [one["status"] for one in told.events if one["event"] == "ended"].count("done") == 1
    killing.check_runs(job)
    assert killing.check_log(job, log) > job.runs


def assert_ran(client, cell):
    reply = client.execute(cell, reply=True)["content"]
    assert reply["status"] == "ok", "\n".join(reply["traceback"])
