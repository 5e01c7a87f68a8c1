"""Steps in a pool: any `concurrent.futures.Executor`, of threads, processes, or a Dask client.

A step goes there as one picklable value, with a meter that has the cap of its reservation; the
worker writes the run's files into the shared folder; what it spent comes back.
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
"""Where the executors live of which it is known that they call models through the SDK."""
OURS: dict[str, type[Exception]] = {
    error.__name__: error for error in (InTheWay, Unwritable, CannotRun)
}
"""What steps raise, by name: not every exception can be sent from process to process."""
HALT = "halt"
"""In the staging folder: while it is there, a pool's workers make no more calls."""


class JobFailed(RuntimeError):
    """The job could not go on; what was finished stays."""


class StepFailed(Exception):
    """A step failed by an error of a program, in a worker; `trace` is where."""

    def __init__(self, reason: str, trace: str) -> None:
        super().__init__(reason)
        self.trace = trace


def warm_up(connection: Connection, executor: Executor | None, *, judged: bool) -> bool:
    """Import what calls of models need, if any are to be made from this process.

    Args:
        connection: how the models are reached.
        executor: what works on prompts here; None if nothing does. One of somebody else's
            that needs the SDK imports it itself.
        judged: whether a judge is called from here.

    Returns:
        whether calls are to be made.
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
    """What comes back from a worker.

    Attributes:
        ended: how the step ended; None if it was halted, or raised.
        spent_usd: US dollars that it can have cost.
        tokens: that it used.
        priced: whether every call had a known price.
        raised: the name of what it raised, its words, and where in the code.
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
        notes: the file that notes what it can have cost; None with `meter`.
        halt: a file whose presence says that no more calls are to be made.

    Raises:
        BegunBefore: another worker has begun this step, and was lost.
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
    """Do a step in a pool, with a meter that has what is left of its reservation.

    Raises:
        Lost: a worker took it along.
        Halted: a worker stopped at its next call, as it was told to.
        StepFailed: it failed by an error of a program.
        JobFailed: the pool takes no more work.
        Exception: one of `OURS`, as the step raises it.
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
            reservation.count(reservation.cap_usd)  # the worker may go on for a while
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
    """What a lost step can have cost: by its notes, else all that was allotted to it."""
    if step.reservation is not None:
        found = read_noted(step.notes)
        step.reservation.count((step.reservation.cap_usd or 0.0) if found is None else found)


@contextmanager
def local_dask(workers: int = 4, threads: int = 4) -> Iterator[Pool]:
    """A Dask cluster on this machine, as a pool: one process a worker.

    Args:
        workers: processes.
        threads: steps at a time in each.

    Yields:
        a pool for `plan.start(pool=…)`; the cluster ends with the block.

    Raises:
        ImportError: Dask is not installed.
    """
    distributed = _import_distributed()
    with (
        distributed.LocalCluster(
            n_workers=workers,
            threads_per_worker=threads,
            # Without an address it would listen on every interface, at a port of its choice.
            dashboard_address="127.0.0.1:0",
            scheduler_kwargs={"dashboard": False},
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client.get_executor(pure=False)


@contextmanager
def dask_at(address: str) -> Iterator[Pool]:
    """The pool of a Dask cluster that is there already.

    Args:
        address: of its scheduler, such as `tcp://10.0.0.5:8786`. Its workers need this
            package, and the workspace's folder under the same path.

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
