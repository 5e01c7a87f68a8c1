"""Do steps in a pool: any `concurrent.futures.Executor` of threads, processes, or a Dask client.

A step is sent as one picklable value, with a meter limited to its reservation. The worker writes
the run's files into the shared folder, and returns what it spent.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import Executor as Pool
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from .budget import Budget, Halted, read_noted
from .files import STAGING, InTheWay, Unwritable
from .journal import Ended, Launched, Ledger, Lost
from .protocol import calls_models
from .spec import CHECK, EXECUTE, Order
from .steps import CannotRun, check, execute, failed_step, judge
from .threads import run_alone

HALT = "halt"
"""A file in the staging folder: while it exists, a pool's workers make no calls."""


class JobFailed(RuntimeError):
    """The job could not continue; what was finished stays."""


StepEnd = Ended | InTheWay | Unwritable | CannotRun | None
"""How a step ended in a worker: also by an error that says more; None if it was halted."""


def work_step(
    order: Order, meter: Budget | None, notes: Path, halt: Path
) -> tuple[StepEnd, Budget | None]:
    """Do a step in a worker; this is what is sent there.

    Args:
        order: the step.
        meter: what it may spend; None for a step that costs nothing.
        notes: the file that notes what it can have cost.
        halt: a file that stops all further calls once it exists.

    Returns:
        How it ended, and the meter, closed.

    Raises:
        BegunBefore: another worker began this step and was lost.
    """
    if meter is None:
        return _end_of_step(order, None), None
    meter.note_in(notes, halt)
    try:
        return _end_of_step(order, meter), meter
    finally:
        meter.close()


def _end_of_step(order: Order, meter: Budget | None) -> StepEnd:
    try:
        if order.step == CHECK:
            return check(order)
        if order.step == EXECUTE and calls_models(order.plan.executor):
            import_module("anthropic")  # this takes a moment, which is not the run's
        assert meter is not None
        return run_alone(_call_models(order, meter))
    except Halted:
        return None
    except (InTheWay, Unwritable, CannotRun) as error:
        return error
    except Exception as error:  # noqa: BLE001 -- sent back, with its trace
        return failed_step(error)


async def _call_models(order: Order, meter: Budget) -> Ended:
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
        JobFailed: the pool takes no more work.
        InTheWay, Unwritable, CannotRun: as the step raised it.
    """
    reservation = step.reservation
    meter = reservation.copy_rest() if reservation is not None else None
    call = partial(work_step, order, meter, step.notes, ledger.home / STAGING / HALT)
    try:
        future = pool.submit(call)
    except RuntimeError as error:
        raise JobFailed(
            f"the pool accepts no more work: {error}. Start the plan again with a new pool"
        ) from error
    try:
        ended, meter = await asyncio.wrap_future(future)
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
    if reservation is not None and meter is not None:
        reservation.count(meter.worst_usd)
        ledger.priced = ledger.priced and meter.cost_usd is not None
    if isinstance(ended, Exception):
        raise ended
    if ended is None:
        raise Halted
    return ended


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
