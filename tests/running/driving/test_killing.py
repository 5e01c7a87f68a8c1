"""A job that is killed again and again; `python -m tests.running.killing` does more of it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.checkout import ROOT
from tests.running import killing


@pytest.mark.slow
def test_a_job_that_is_killed_again_and_again_is_complete_and_pays_for_nothing_twice():
    # In a process of its own: it forks, which other tests' threads would not survive.
    command = [sys.executable, "-m", "tests.running.killing", "--kills", "6", "--runs", "12"]
    done = subprocess.run(
        [*command, "--longest", "1.2"],
        check=False,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.startswith("6 kills over ")
    assert "none of" in done.stdout


def test_the_looks_see_what_they_look_for(tmp_path):
    run = tmp_path / "ws" / "iteration-1" / "eval-1" / "with_skill" / "run-1"
    run.mkdir(parents=True)
    (run / "timing.json").write_text("{}")
    job = killing.Job(tmp_path, "http://127.0.0.1:1", 6)
    job.look()
    job.look()
    os.utime(run / "timing.json", (1, 1))
    with pytest.raises(AssertionError, match="was made again"):
        job.look()
    (run.parents[2] / "journal.jsonl").write_text(
        '{"event": "launched", "launch": 1, "step": "execute", "key": "k", "worst_usd": 1,'
        f' "folder": "{run.relative_to(tmp_path / "ws")}"}}\n'
    )
    log = tmp_path / "log"
    log.write_text('{"session": "k", "role": "executor", "time": "1970-01-01T00:00:00+00:00"}\n')
    assert killing.check_log(job, log) == 1
    log.write_text('{"session": "k", "role": "executor", "time": "1970-01-01T00:00:09+00:00"}\n')
    with pytest.raises(AssertionError, match="was made 8"):
        killing.check_log(job, log)
