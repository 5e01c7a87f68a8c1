"""`python -m tests.running.killing`: a job that is killed again and again, and goes on each time.

The stand-in is a server in a process of its own, with a log. The job runs in a child process,
which is killed (SIGKILL) at a random instant and started again, until the job is complete; then
the next job begins, until so many kills are done. Looked at is then, from the outside:

- each run is there exactly once and complete, as `sen.load` tells;
- files of finished steps are the same files to the end: what a look after each kill found in
  place has the same inode and time of change at the end;
- a job of many runs has a planned look, which decides nothing of a stand-in, and goes on after it;
- nothing was paid for again: the server's log has no executor's request of a run from later
  than the timing.json that the run has, and no judge's request of a judging from later than its
  judgings/N.json. What was in flight when a job was killed is paid for twice; what was finished
  is not.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from skill_eval_nb.running.files import work_folders
from tests.running.made_jobs import make_skill
from tests.stand_in import logged

if TYPE_CHECKING:
    from skill_eval_nb.running import Plan

SLACK = 0.02
"""Seconds that a file's time may lag behind the clock that requests are stamped with."""

JUDGINGS = 2
PAID = ("timing.json", *(f"judgings/{number}.json" for number in range(1, JUDGINGS + 1)))
"""The files of a run that were paid for: made once, and never again."""

LONGEST = 180.0
"""Seconds that a job that nobody kills may take."""


@dataclass
class Job:
    """A job of three evals on two sides, and the finished files that were seen after each kill."""

    folder: Path
    server: str
    runs: int
    seen: dict[Path, tuple[int, int]] = field(default_factory=dict)
    kills: int = 0
    starts: int = 0

    def __post_init__(self) -> None:
        self.each = -(-self.runs // 6)
        self.workspace = self.folder / "ws"

    def plan(self) -> Plan:
        """The plan, as each start makes it; with a planned look between, where there is room."""
        from skill_eval_nb.models import Connection
        from skill_eval_nb.running import plan_runs

        looks = (2, self.each) if self.each > 2 else None  # of a stand-in it decides nothing
        return plan_runs(
            self.folder / "skill",
            workspace=self.workspace,
            executor="messages-api",
            executor_model="stand-in",
            judge_model="stand-in-judge",
            judgings=JUDGINGS,
            runs=None if looks else self.each,
            looks=looks,
            concurrency=8,
            budget_usd=1.0,
            connection=Connection(base_url=self.server),
        )

    def start(self) -> int:
        """Start a child that carries the job out."""
        self.starts += 1
        log = self.folder / "child.log"
        return fork(lambda: self.plan().start().wait().status == "done", log)

    def look(self) -> None:
        """Take note of the finished files; those seen before must be the same files."""
        for name in PAID:
            for path in self.workspace.glob(f"iteration-*/eval-*/*/run-*/{name}"):
                self.seen.setdefault(path, identity(path))
        for path, before in self.seen.items():
            assert path.exists(), f"{path} was there, and is gone"
            assert identity(path) == before, f"{path} was made again"


def fork(work: Callable[[], bool], log: Path) -> int:
    """Start a child for some work that says whether it was done; its imports are done already."""
    if child := os.fork():
        return child
    code = 1
    try:
        with log.open("a") as out:
            os.dup2(out.fileno(), 2)
        code = 0 if work() else 2
    except BaseException:  # noqa: BLE001 -- told by the parent
        traceback.print_exc()
    finally:
        os._exit(code)


def identity(path: Path) -> tuple[int, int]:
    """What another file in a file's place has not."""
    about = path.stat()
    return about.st_ino, about.st_mtime_ns


def kill_until_complete(job: Job, kills: int, rng: random.Random, longest: float) -> None:
    """Start, kill after a while, and again; after so many kills the job may end in peace."""
    while True:
        child, begin = job.start(), time.monotonic()
        life = rng.uniform(0.0, longest) if job.kills < kills else LONGEST
        while not (ended := os.waitpid(child, os.WNOHANG))[0] and time.monotonic() - begin < life:
            time.sleep(0.002)
        if not ended[0]:
            os.kill(child, signal.SIGKILL)
            ended = os.waitpid(child, 0)
        job.look()
        code, told = os.waitstatus_to_exitcode(ended[1]), (job.folder / "child.log").read_text()
        if code == 0:
            return
        assert code == -signal.SIGKILL, f"the job ended by itself with {code}:\n{told}"
        assert life < LONGEST, f"the job did not end within {LONGEST} s:\n{told}"
        job.kills += 1


def check_runs(job: Job) -> None:
    """Each run is there exactly once and complete."""
    import skill_eval_nb as sen

    runs = sen.load(job.workspace).polars("runs")
    wanted = job.each * 6
    keys = runs.select("iteration", "eval_id", "configuration", "run_number")
    assert runs.height == wanted == keys.n_unique(), f"{runs.height} runs, not {wanted}"
    assert set(runs["status"]) <= {"graded", "gated"}
    folders = sorted(job.workspace.glob("iteration-*/eval-*/*/run-*"))
    assert len(folders) == wanted
    for folder in folders:
        names = {path.name for path in folder.iterdir()}
        assert names >= {"outputs", "transcript.jsonl", "transcript.md", "metrics.json"}, folder
        grading = json.loads((folder / "grading.json").read_bytes())
        gated = grading.get("layer") == "structural"
        judged = sorted(path.name for path in folder.glob("judgings/*"))
        assert judged == [f"{n}.json" for n in range(1, JUDGINGS + 1) if not gated], folder
    hidden = [path for path in job.workspace.rglob(".*") if path.parent.name != "evals"]
    far = work_folders(job.workspace / "iteration-1", "any", 1)[0].parent
    left = [*hidden, *far.glob("**")]
    assert not left, f"half files and folders were left behind: {left}"
    assert [path.name for path in job.workspace.glob("iter*")] == ["iteration-1"]


def check_log(job: Job, log: Path) -> int:
    """Nothing finished was paid for again; gives the number of requests that were looked at."""
    from skill_eval_nb.running.journal import read_journal

    launches = read_journal(job.workspace / "iteration-1").events
    folders = {one["key"]: one["folder"] for one in launches if one["event"] == "launched"}
    looked = 0
    for told in logged(log):
        key, _, number = told["session"].partition("-") if told["session"] else ("", "", "")
        if key not in folders:
            continue
        name = "timing.json" if told["role"] == "executor" else f"judgings/{number}.json"
        made = (job.workspace / folders[key] / name).stat().st_mtime
        sent = datetime.fromisoformat(told["time"]).timestamp()
        assert sent <= made + SLACK, f"{folders[key]}/{name} was made {sent - made:.3f} s before"
        looked += 1
    return looked


@contextlib.contextmanager
def served(log: Path, latency: float) -> Iterator[str]:
    """The stand-in, served by a process of its own."""
    command = [sys.executable, "-m", "tests.stand_in", str(latency), str(log)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            address = server.stdout.readline().strip()
            assert address, "it has ended"
            yield address
        finally:
            server.terminate()


def main(kills: int = 200, runs: int = 60, longest: float = 3.0) -> str:
    """Kill jobs until `kills` kills are done; gives what was found, in a sentence."""
    import anthropic  # noqa: F401 -- so that no child has to

    import skill_eval_nb.grading.judge
    import skill_eval_nb.grading.structural
    import skill_eval_nb.running.executors.messages_api
    import skill_eval_nb.running.job
    import skill_eval_nb.running.plan  # noqa: F401

    rng = random.Random(0)
    jobs: list[Job] = []
    with tempfile.TemporaryDirectory() as folder:
        while sum(one.kills for one in jobs) < kills:
            home = Path(folder, f"job-{len(jobs)}")
            make_skill(home / "skill")
            # A log each: jobs of the same plan have runs with the same keys.
            with served(home / "log", 0.02) as server:
                job = Job(home, server, runs)
                kill_until_complete(job, kills - sum(one.kills for one in jobs), rng, longest)
            jobs.append(job)
        # Only now: loading brings in libraries with threads, and nothing is forked after it.
        for job in jobs:
            check_runs(job)
        looked = sum(check_log(job, job.folder / "log") for job in jobs)
    done, starts = (sum(getattr(one, name) for one in jobs) for name in ("kills", "starts"))
    return (
        f"{done} kills over {starts} starts of {len(jobs)} jobs: every run is there once and "
        f"complete, and none of {looked:,} requests paid for what was finished"
    )


if __name__ == "__main__":
    print(main(*map(int, sys.argv[1:])))
