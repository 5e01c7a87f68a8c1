"""Where steps are done: in the job's own loop, or by the workers of a pool.

A pool is any `concurrent.futures.Executor`: threads, processes, or that of a Dask client. A
step goes there as one picklable value, with a purse that has the cap of its allotment; the
worker writes the run's files into the shared folder; what it spent comes back.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from concurrent.futures import Executor as Pool
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..money.budget import Purse
from ..money.spending import Halted, Noted
from ..steps.checking import check
from ..steps.executing import CannotRun, execute
from ..steps.folders import InTheWay, Unwritable
from ..steps.judging import judge
from ..steps.orders import Check, Ended, Execute, JudgeOnce, Order
from .loops import run
from .warming import warm_up

OURS: dict[str, type[Exception]] = {one.__name__: one for one in (InTheWay, Unwritable, CannotRun)}
"""What steps raise, by name: not every exception can be sent from process to process."""


@dataclass(frozen=True, slots=True)
class Came:
    """What comes back from a worker.

    Attributes:
        ended: how the step ended; None where it was halted, or raised.
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


def work(order: Order, purse: Purse | None, notes: str | None, halt: str) -> Came:
    """Do a step in a worker; this is what is sent there.

    Args:
        order: the step.
        purse: what it may spend; None for a step that costs nothing.
        notes: the file that notes what it can have cost; None with `purse`.
        halt: a file whose presence says that no more calls are to be made.

    Raises:
        BegunBefore: another worker has begun this step, and was lost.
    """
    if purse is None or notes is None:
        ended, raised = _caught(order, None)
        return Came(ended, raised=raised)
    noted = Noted(purse, Path(notes), halt=Path(halt))
    try:
        ended, raised = _caught(order, noted)
    finally:
        noted.close()
    priced = purse.cost_usd is not None
    return Came(ended, purse.worst_usd, purse.usage.total, priced, raised)


def _caught(order: Order, meter: Noted | None) -> tuple[Ended | None, tuple[str, str, str] | None]:
    try:
        if isinstance(order, Check):
            return check(order), None
        assert meter is not None
        executor = order.executor if isinstance(order, Execute) else None
        warm_up(order.connection, executor, judged=executor is None)
        return run(_alone(order, meter)), None
    except Halted:
        return None, None
    except Exception as error:  # noqa: BLE001 -- sent back, with its trace
        return None, (type(error).__name__, str(error), traceback.format_exc())


async def _alone(order: Execute | JudgeOnce, meter: Noted) -> Ended:
    if isinstance(order, Execute):
        return await execute(order, meter)
    from skill_eval_nb.models import connect

    async with connect(order.connection) as client:
        return await judge(order, meter, client)


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
    distributed = _distributed()
    with (
        distributed.LocalCluster(
            n_workers=workers, threads_per_worker=threads, dashboard_address=None
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
    distributed = _distributed()
    with distributed.Client(address) as client:
        yield client.get_executor(pure=False)


def _distributed() -> Any:
    try:
        import distributed
    except ImportError:
        raise ImportError(
            "a Dask pool needs Dask: `pip install 'skill-eval-nb[dask]'`, then restart the kernel"
        ) from None
    return distributed
