"""Do steps in a pool: any `concurrent.futures.Executor` of threads, processes, or a Dask client.

A step is sent as one picklable value, with a meter limited to its reservation. The worker writes
the run's files into the shared folder, and returns what it spent.
"""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Iterator
from concurrent.futures import Executor as Pool
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .budget import Budget, Halted, read_noted
from .files import STAGING, InTheWay, Unwritable
from .ledger import Launched, Ledger, Lost
from .protocol import Executor
from .spec import CHECK, EXECUTE, Ended, Order
from .steps import CannotRun, check, execute, judge
from .threads import run_alone

if TYPE_CHECKING:
    from skill_eval_nb.models import Connection

EXECUTORS = "skill_eval_nb.running.executors."
"""The package of the executors that are known to call models through the SDK."""
OURS: dict[str, type[Exception]] = {
    error.__name__: error for error in (InTheWay, Unwritable, CannotRun)
}
"""The errors of steps, by name: not every exception can be sent between processes."""
HALT = "halt"
"""A file in the staging folder: while it exists, a pool's workers make no calls."""


class JobFailed(RuntimeError):
    """The job could not continue; what was finished stays."""


class StepFailed(Exception):
    """A step failed in a worker by an error of a program; `trace` says where."""

    def __init__(self, reason: str, trace: str) -> None:
        super().__init__(reason)
        self.trace = trace


def warm_up(connection: Connection, executor: Executor | None, *, judged: bool) -> bool:
    """Import what calls to models need, if any are made from this process.

    Args:
        connection: how the models are reached.
        executor: the executor that works here; None if none does. A third party's executor
            imports the SDK itself if needed.
        judged: whether a judge is called from here.

    Returns:
        Whether calls are made.
    """
    ours = executor is not None and type(executor).__module__.startswith(EXECUTORS)
    if not (ours or judged):
        return False
    import_module("anthropic")
    stand_in = connection.stand_in or getattr(executor, "stand_in", None)
    if stand_in is not None:
        import_module("skill_eval_nb.models.stand_in.app")
    if judged:
        import_module("skill_eval_nb.grading.judge")
    return True


@dataclass(frozen=True, slots=True)
class WorkerResult:
    """What a worker returns.

    Attributes:
        ended: how the step ended; None if it was halted or raised an error.
        spent_usd: the most US dollars that it can have cost.
        tokens: tokens that it used.
        priced: whether every call had a known price.
        raised: the name of the error that it raised, its message, and its traceback.
    """

    ended: Ended | None
    spent_usd: float = 0.0
    tokens: int = 0
    priced: bool = True
    raised: tuple[str, str, str] | None = None


def work_step(order: Order, meter: Budget | None, notes: str | None, halt: str) -> WorkerResult:
    """Do a step in a worker; this is what is sent there.

    Args:
        order: the step.
        meter: what it may spend; None for a step that costs nothing.
        notes: the file that notes what it can have cost; None if `meter` is.
        halt: a file that stops all further calls once it exists.

    Raises:
        BegunBefore: another worker began this step and was lost.
    """
    if meter is None or notes is None:
        ended, raised = _caught(order, None)
        return WorkerResult(ended, raised=raised)
    meter.note_in(Path(notes), Path(halt))
    try:
        ended, raised = _caught(order, meter)
    finally:
        meter.close()
    priced = meter.cost_usd is not None
    return WorkerResult(ended, meter.worst_usd, meter.usage.total, priced, raised)


def _caught(order: Order, meter: Budget | None) -> tuple[Ended | None, tuple[str, str, str] | None]:
    try:
        if order.step == CHECK:
            return check(order), None
        assert meter is not None
        executor = order.plan.executor if order.step == EXECUTE else None
        warm_up(order.plan.connection, executor, judged=executor is None)
        return run_alone(_alone(order, meter)), None
    except Halted:
        return None, None
    except Exception as error:  # noqa: BLE001 -- sent back, with its trace
        return None, (type(error).__name__, str(error), traceback.format_exc())


async def _alone(order: Order, meter: Budget) -> Ended:
    if order.step == EXECUTE:
        return await execute(order, meter)
    from skill_eval_nb.models import connect

    async with connect(order.plan.connection) as client:
        return await judge(order, meter, client)


async def do_in_pool(pool: Pool, order: Order, step: Launched, ledger: Ledger) -> Ended:
    """Do a step in a pool, with a meter limited to what is left of its reservation.

    Raises:
        Lost: it was lost with its worker.
        Halted: the worker stopped at its next call, as the job asked.
        StepFailed: it failed by an error of a program.
        JobFailed: the pool takes no more work.
        Exception: one of `OURS`, as the step raised it.
    """
    reservation = step.reservation
    meter = reservation.copy_rest() if reservation is not None else None
    notes = str(step.notes) if meter is not None else None
    call = partial(work_step, order, meter, notes, str(ledger.home / STAGING / HALT))
    try:
        future = pool.submit(call)
    except RuntimeError as error:
        raise JobFailed(
            f"the pool takes no more work: {error}. Start the plan again with a new pool"
        ) from error
    try:
        result: WorkerResult = await asyncio.wrap_future(future)
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if reservation is not None and reservation.cap_usd is not None:
            reservation.count(reservation.cap_usd)  # the worker may continue for a while
        else:
            _count_lost(step)
        if task is not None and task.cancelling():
            raise
        raise Lost("the pool has cancelled the step") from None
    except Exception as error:
        _count_lost(step)
        raise Lost(f"the worker was lost: {type(error).__name__}: {error}") from error
    if reservation is not None:
        reservation.count(result.spent_usd)
        ledger.tokens += result.tokens
        ledger.priced = ledger.priced and result.priced
    if result.raised is not None:
        name, words, trace = result.raised
        raise OURS[name](words) if name in OURS else StepFailed(f"{name}: {words}", trace)
    if result.ended is None:
        raise Halted
    return result.ended


def _count_lost(step: Launched) -> None:
    """Count what a lost step can have cost: by its notes, else all that was reserved for it."""
    if step.reservation is not None:
        found = read_noted(step.notes)
        step.reservation.count((step.reservation.cap_usd or 0.0) if found is None else found)


@contextmanager
def local_dask(workers: int = 4, threads: int = 4) -> Iterator[Pool]:
    """A Dask cluster on this machine as a pool, with one process per worker.

    Args:
        workers: processes.
        threads: steps at a time in each.

    Yields:
        A pool for `plan.start(pool=…)`; the cluster ends with the block.

    Raises:
        ImportError: Dask is not installed.
    """
    distributed = _import_distributed()
    with (
        distributed.LocalCluster(
            n_workers=workers,
            threads_per_worker=threads,
            # Without an address it would listen on every network interface, at a random port.
            dashboard_address="127.0.0.1:0",
            scheduler_kwargs={"dashboard": False},
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client.get_executor(pure=False)


@contextmanager
def dask_at(address: str) -> Iterator[Pool]:
    """The pool of an existing Dask cluster.

    Args:
        address: the address of its scheduler, such as `tcp://10.0.0.5:8786`. Its workers need
            this package, and the workspace's folder under the same path.

    Raises:
        ImportError: Dask is not installed.
        OSError: there is no scheduler at the address.
    """
    with _import_distributed().Client(address) as client:
        yield client.get_executor(pure=False)


def _import_distributed() -> Any:
    try:
        import distributed
    except ImportError:
        raise ImportError(
            "a Dask pool needs Dask: `pip install 'skill-eval-nb[dask]'`, then restart the kernel"
        ) from None
    return distributed
