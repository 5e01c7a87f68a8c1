"""`python -m bench.running`: what the driver adds to the waiting for a model.

400 calls of 100 ms at concurrency 16, end to end: 80 runs of four calls each and one judging,
against a stand-in that is served by another process. The five calls of a run come one after the
other, so the ideal is the critical path: 80 / 16 runs, one behind the other, of 5 × 100 ms. The
same calls by the SDK alone, in 16 lanes, tell how much of the rest is not the driver's: both need
this machine's CPU, which the stand-in shares, and a busy machine has none to spare. So the load
and the CPU time of each are told: on a quiet machine with two cores, what counts is that this
process needs less CPU than the waiting takes. And a pool of Dask workers against a pool of
threads, over the same steps.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import Executor as Pool
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

from skill_eval_nb.models import Connection, StandIn, Tally, Usage, connect
from skill_eval_nb.running import Execution, Plan, Task, plan_runs
from skill_eval_nb.running.pool import local_dask
from tests.running.made_jobs import make_skill

CALLS, LATENCY, LANES = 400, 0.1, 16
A_RUN = 5
"""Calls of a run: four of the executor, one of the judge."""

OVERHEAD, DASK = 1.10, 1.25
"""What is wanted at most, as multiples of the ideal and of threads."""


@dataclass(frozen=True)
class Caller:
    """Makes so many calls, one after the other, and writes their last answer."""

    calls: int = A_RUN - 1
    name: str = "caller"

    def why_not(self, sandbox: str) -> str | None:
        """It can always run."""
        return None

    async def execute(self, task: Task, meter: Any) -> Execution:
        """Call, and write."""
        usage, text = Usage(), ""
        connected = nullcontext(task.client) if task.client else connect(task.connection)
        async with connected as client:
            for turn in range(self.calls):
                said = [{"role": "user", "content": f"{task.prompt} {turn}"}]
                body = {"model": task.model, "max_tokens": 256, "messages": said}
                body["metadata"] = {"user_id": task.key}
                reply = await client.send(body, meter=meter, deadline=60.0)
                usage, text = usage + reply.usage, reply.text
        (task.folder / "notes.md").write_text(text)
        return Execution("done", None, (), usage, None, None)


@dataclass(frozen=True)
class Sleeper:
    """Waits as a model would, without one."""

    name: str = "sleeper"

    def why_not(self, sandbox: str) -> str | None:
        """It can always run."""
        return None

    async def execute(self, task: Task, meter: Any) -> Execution:
        """Wait, and write."""
        await asyncio.sleep(LATENCY * (A_RUN - 1))
        (task.folder / "notes.md").write_text("x")
        return Execution("done", None, (), Usage(), None, None)


def plan(folder: Path, executor: Any, runs: int, judgings: int, address: str | None) -> Plan:
    """Two evals without structural checks, on two sides."""
    evals = [{"id": n, "prompt": f"Write note {n}", "expectations": ["Good"]} for n in (1, 2)]
    make_skill(folder / "skill", evals)
    connection = Connection(address) if address else Connection(stand_in=StandIn())
    return plan_runs(
        folder / "skill",
        workspace=folder / "ws",
        executor=executor,
        executor_model="stand-in",
        judge_model="stand-in-judge",
        runs=runs // 4,
        judgings=judgings,
        concurrency=LANES,
        connection=connection,
    )


def seconds(made: Plan, pool: Pool | None = None) -> float:
    """How long a plan takes to be carried out."""
    begin = perf_counter()
    progress = made.start(pool=pool).wait()
    took = perf_counter() - begin
    assert progress.status == "done", progress
    assert progress.errored == 0, progress.problems
    return took


Taken = tuple[float, float]
"""Seconds, as multiples of the ideal, and milliseconds of this process's CPU for each call."""

IDEAL = CALLS / A_RUN / LANES * A_RUN * LATENCY
"""Seconds of the critical path."""


def taken(work: Callable[[], float]) -> Taken:
    """What some work took that gives its seconds."""
    cpu = process_time()
    return work() / IDEAL, (process_time() - cpu) / CALLS * 1000


async def plainly(address: str) -> float:
    """Seconds that the calls take with our client and nothing else."""

    async def lane(client: Any, calls: int) -> None:
        for turn in range(calls):
            said = [{"role": "user", "content": f"Write note {turn}"}]
            body = {"model": "stand-in", "max_tokens": 256, "messages": said}
            await client.send(body, meter=Tally(), deadline=60.0)

    async with connect(Connection(address)) as client:
        begin = perf_counter()
        await asyncio.gather(*(lane(client, CALLS // LANES) for _ in range(LANES)))
        return perf_counter() - begin


def overhead(folder: Path, repeat: int) -> tuple[Taken, Taken]:
    """The best of some tries, of a job and of the SDK alone."""
    command = [sys.executable, "-m", "tests.stand_in", str(LATENCY)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            address = server.stdout.readline().strip()
            seconds(plan(folder / "warm", Caller(), 4, 1, address))
            runs = CALLS // A_RUN
            jobs, plain = [], []
            for n in range(repeat):
                plain.append(taken(lambda: asyncio.run(plainly(address))))
                made = plan(folder / f"try-{n}", Caller(), runs, 1, address)
                jobs.append(taken(lambda: seconds(made)))  # noqa: B023 -- called at once
        finally:
            server.terminate()
    return min(jobs), min(plain)


def dask_to_threads(folder: Path, repeat: int) -> tuple[float, float]:
    """Seconds of a pool of threads and of a local Dask cluster, the best of some tries each."""
    runs, best = CALLS // A_RUN, {}
    with contextlib.ExitStack() as stack:
        pools = {
            "threads": stack.enter_context(ThreadPoolExecutor(LANES)),
            "dask": stack.enter_context(local_dask(workers=2, threads=LANES // 2)),
        }
        for name, pool in pools.items():  # what is imported once is not measured
            seconds(plan(folder / f"{name}-warm", Sleeper(), 32, 0, None), pool)
        for n in range(repeat):
            for name, pool in pools.items():
                took = seconds(plan(folder / f"{name}-{n}", Sleeper(), runs, 0, None), pool)
                best[name] = min(best.get(name, took), took)
    return best["threads"], best["dask"]


def main(repeat: int = 3) -> None:
    """Print what was measured, and whether what is wanted holds."""
    with tempfile.TemporaryDirectory() as folder:
        (ratio, cpu), (plain, its_cpu) = overhead(Path(folder, "calls"), repeat)
        threads, dask = dask_to_threads(Path(folder, "pools"), repeat)
    print("## Running\n")
    holds = "holds" if ratio <= OVERHEAD else "**does not hold**"
    print(
        f"- {holds}: {CALLS} calls of {LATENCY * 1000:g} ms at concurrency {LANES} took "
        f"{ratio:.3f} × the ideal, wanted at most {OVERHEAD} × (the SDK alone: {plain:.3f} ×)"
    )
    print(
        f"- CPU of this process for each call: {cpu:.1f} ms, of the SDK alone {its_cpu:.1f} ms; "
        f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
    )
    holds = "holds" if dask <= DASK * threads else "**does not hold**"
    print(
        f"- {holds}: a Dask local cluster took {dask:.2f} s, threads {threads:.2f} s "
        f"({dask / threads:.2f} ×), wanted at most {DASK} ×"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m bench.running", description=__doc__)
    parser.add_argument("--repeat", type=int, default=3)
    main(**vars(parser.parse_args()))
