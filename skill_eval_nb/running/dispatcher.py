"""One step from its launch to its end: its money, its lines in the journal, where it is done.

That is the job's own loop, or a pool: any `concurrent.futures.Executor`, of threads, processes, or
a Dask client. A step goes there as one picklable value, with a meter that has the cap of its
reservation; the worker writes the run's files into the shared folder; what it spent comes back.
"""

from __future__ import annotations

import asyncio
import contextlib
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, ThreadPoolExecutor
from concurrent.futures import Executor as Pool
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, Self

from skill_eval_nb.models.client import ON_RETRY, Retry

from .budget import Budget, BudgetMeter, Halted, PersistedMeter, Reservation, noted
from .files import STAGING, InTheWay, Unwritable, mark_errored, notes_of, remove, work_folders
from .job import InFlight
from .journal import CANCELLED, ERRORED, FINISHED, LOST, Journal
from .protocol import Executor
from .spec import Check, Ended, Execute, JudgeOnce, Missing, Order, Run, Spec, state
from .spec import errored as why_errored
from .steps import CannotRun, check, execute, judge
from .threads import exiting, run_alone

if TYPE_CHECKING:
    from skill_eval_nb.grading.judge import Prepared
    from skill_eval_nb.models import Client, Connection


EXECUTORS = "skill_eval_nb.running.executors."
"""Where the executors live of which it is known that they call models through the SDK."""


def warm_up(connection: Connection, executor: Executor | None, *, judged: bool) -> bool:
    """Import what calls of models need, if any are to be made from this process.

    Args:
        connection: how the models are reached.
        executor: what works on prompts here; None where nothing does. One of somebody else's
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


OURS: dict[str, type[Exception]] = {
    error.__name__: error for error in (InTheWay, Unwritable, CannotRun)
}
"""What steps raise, by name: not every exception can be sent from process to process."""


@dataclass(frozen=True, slots=True)
class WorkerResult:
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


def work(order: Order, meter: BudgetMeter | None, notes: str | None, halt: str) -> WorkerResult:
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
    noted = PersistedMeter(meter, Path(notes), halt=Path(halt))
    try:
        ended, raised = _caught(order, noted)
    finally:
        noted.close()
    priced = meter.cost_usd is not None
    return WorkerResult(ended, meter.worst_usd, meter.usage.total, priced, raised)


def _caught(
    order: Order, meter: PersistedMeter | None
) -> tuple[Ended | None, tuple[str, str, str] | None]:
    try:
        if isinstance(order, Check):
            return check(order), None
        assert meter is not None
        executor = order.executor if isinstance(order, Execute) else None
        warm_up(order.connection, executor, judged=executor is None)
        return run_alone(_alone(order, meter)), None
    except Halted:
        return None, None
    except Exception as error:  # noqa: BLE001 -- sent back, with its trace
        return None, (type(error).__name__, str(error), traceback.format_exc())


async def _alone(order: Execute | JudgeOnce, meter: PersistedMeter) -> Ended:
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


CHECKS = 4
"""Structural checks at a time; they call no model, and programs may run in them."""

HALT = "halt"
"""In the staging folder: while it is there, a pool's workers make no more calls."""


class JobFailed(RuntimeError):
    """The job could not go on; what was finished stays."""


class Lost(Exception):
    """A worker took a step along."""


class Interrupted(Exception):
    """The interpreter is exiting: what failed is no error of the run, and is done anew."""


class _Halted(Exception):
    """A worker stopped at its next call, as it was told to."""


class Dispatcher:
    """Does steps, here or in a pool, and accounts for each; one for a job."""

    def __init__(
        self,
        plan: Spec,
        pool: Pool | None,
        journal: Journal,
        budget: Budget,
        changed: Callable[[], None],
    ) -> None:
        self._plan, self._pool, self._journal, self._budget = plan, pool, journal, budget
        self._changed = changed
        self._client: Client | None = None
        self._checks = ThreadPoolExecutor(CHECKS, "skill-eval-nb check")
        self._stack = AsyncExitStack()
        self._flying: dict[int, tuple[str, str, float, Retry | None]] = {}
        self.took = dict(journal.record.seconds)
        self.done: Counter[str] = Counter()
        self.tokens, self.priced = 0, True
        self.closed = False  # nothing is sent out once more

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()
        self._checks.shutdown()

    def halt(self) -> bool:
        """Send nothing out once more, and let a pool's workers make no more calls.

        Gives whether there is a pool.
        """
        self.closed = True
        if self._pool is None:
            return False
        path = self._plan.folder / STAGING / HALT
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        return True

    @property
    def flying(self) -> tuple[InFlight, ...]:
        """What is being done; may be asked from any thread."""
        now = monotonic()
        return tuple(
            InFlight(step, folder, now - since, str(retry or ""))
            for step, folder, since, retry in tuple(self._flying.values())
        )

    async def connected(self) -> Client:
        """The client of this loop, which the executor of the Messages API uses too."""
        if self._client is None:
            from .executors.messages_api import shared_client

            shared = shared_client(self._plan.connection)
            self._client = await self._stack.enter_async_context(shared)
        return self._client

    async def do(
        self,
        step: str,
        order: Order,
        reservation: Reservation | None,
        prepared: Prepared | None = None,
    ) -> Ended | None:
        """Do a step; None where it was cut off.

        A worker that is lost takes its money along; the step is sent out once more, if it has
        written nothing.

        Raises:
            InTheWay: something else lies where the run is to go.
            Unwritable: the workspace cannot be written; nor can any other run.
            CannotRun: the executor cannot run; nor can any other run.
            JobFailed: the pool takes no more work.
            Interrupted: the interpreter is exiting.
        """
        worst = reservation.cap_usd if reservation is not None else None
        try:
            return await self._attempt(step, order, reservation, prepared)
        except Lost as error:
            if isinstance(error.__cause__, BrokenExecutor):
                raise JobFailed(f"{error}. Start the plan again with a new pool") from error
            if not self._lacks(step, order):
                return Ended(why_errored(order.run.place))
            if not self.closed and (step == "check" or (reservation := self._budget.allot(worst))):
                try:
                    return await self._attempt(step, order, reservation, prepared)
                except Lost as again:
                    error = again
            if self.closed:
                return None  # it went with the job, and is done anew at the next start
            return self._at_fault(order, str(error), None)

    async def _attempt(
        self, step: str, order: Order, reservation: Reservation | None, prepared: Prepared | None
    ) -> Ended | None:
        worst = reservation.cap_usd if reservation is not None else None
        run = order.run
        details = {"number": order.number} if isinstance(order, JudgeOnce) else {}
        launch = self.begin(step, run.cell.key, run.cell.folder, worst, **details)
        if isinstance(order, Execute):
            order = replace(order, launch=launch)
        try:
            ended = await (
                self._here(order, reservation, launch, prepared)
                if self._pool is None
                else self._there(self._pool, order, reservation, launch)
            )
        except (asyncio.CancelledError, _Halted):
            self.close(launch, CANCELLED, reservation)  # first: a worker that goes on sees it
            for path in work_folders(run.iteration, run.cell.key, launch):
                with contextlib.suppress(OSError):  # it goes at the next start
                    remove(path)
            return None
        except Lost as error:
            self.close(launch, LOST, reservation, reason=str(error))
            raise
        except (Unwritable, CannotRun, InTheWay, JobFailed) as error:
            self.close(launch, ERRORED, reservation, reason=str(error))
            raise
        except Exception as error:  # noqa: BLE001 -- told, with its trace
            self._unless_exiting(launch, reservation)
            trace = traceback.format_exc()
            ended = self._at_fault(order, f"{type(error).__name__}: {error}", trace)
        if ended.reason is not None and isinstance(order, JudgeOnce):
            self._unless_exiting(launch, reservation)
        if ended.own_usd is not None and reservation is not None:
            reservation.count(ended.own_usd)
        details = {"reason": ended.reason, "traceback": ended.trace}
        if ended.reason is None:
            total, count = self.took.get(step, (0.0, 0))
            self.took[step] = (total + ended.seconds, count + 1)
        self.done[step] += 1
        event = FINISHED if ended.reason is None else ERRORED
        self.close(launch, event, reservation, seconds=round(ended.seconds, 3), **details)
        return ended

    def _unless_exiting(self, launch: int, reservation: Reservation | None) -> None:
        """What a step that failed says of its run: nothing, where the interpreter is exiting."""
        if exiting():
            self.close(launch, CANCELLED, reservation)
            raise Interrupted

    def begin(self, step: str, key: str, folder: str, worst: float | None, **data: Any) -> int:
        """Write down that a step begins; gives its launch."""
        launch = self._journal.launch(step, key, worst, folder=folder, **data)
        self.take_up(launch, step, folder)
        return launch

    def take_up(self, launch: int, step: str, folder: str) -> None:
        """Show a step among what is being done."""
        self._flying[launch] = (step, folder, monotonic(), None)
        ON_RETRY.set(partial(self._note_retry, launch))
        self._changed()

    def _note_retry(self, launch: int, retry: Retry | None) -> None:
        """Keep that a step's call is tried again, as long as it is."""
        if launch in self._flying:
            step, folder, since, before = self._flying[launch]
            self._flying[launch] = (step, folder, since, retry)
            if retry != before:
                self._changed()

    def leave(self, launch: int, reservation: Reservation) -> None:
        """Leave a step open in the journal: the next start takes it up."""
        reservation.close()
        self._flying.pop(launch, None)

    def close(self, launch: int, event: str, reservation: Reservation | None, **data: Any) -> None:
        """Close a launch: give back its money, and write down what it cost."""
        usd = None
        if reservation is not None:
            reservation.close()
            usd = reservation.spent_usd
            self.tokens += reservation.usage.total
            self.priced = self.priced and reservation.cost_usd is not None
        kept = {key: value for key, value in data.items() if value is not None}
        self._journal.add(event, launch=launch, usd=usd, **kept)
        notes_of(self._plan.folder, launch).unlink(missing_ok=True)
        self._flying.pop(launch, None)
        self._changed()

    def missing(self, run: Run) -> Missing:
        """What a run lacks; one that errored lacks nothing."""
        plan = self._plan
        has = run.eval.has_structural, run.eval.has_judged
        return state(run.place, plan.judgings, *has, gate=plan.gate)

    def _lacks(self, step: str, order: Order) -> bool:
        """Whether a step whose worker was lost has written nothing."""
        missing = self.missing(order.run)
        if isinstance(order, JudgeOnce):
            return order.number in missing.judgings
        return missing.execute if step == "execute" else missing.check

    def _at_fault(self, order: Order, reason: str, trace: str | None) -> Ended:
        """A run whose step failed by an error of a program: it is errored, and says so."""
        if exiting():
            raise Interrupted
        if isinstance(order, Execute):
            mark_errored(order.run, reason)
        return Ended(reason, trace)

    async def _here(
        self, order: Order, reservation: Reservation | None, launch: int, prepared: Prepared | None
    ) -> Ended:
        """Do a step in this loop; a check, in which programs may run, in a thread."""
        if isinstance(order, Check):
            return await asyncio.get_running_loop().run_in_executor(self._checks, check, order)
        assert reservation is not None
        meter = PersistedMeter(reservation, notes_of(self._plan.folder, launch))
        try:
            if isinstance(order, Execute):
                return await execute(order, meter)
            return await judge(order, meter, await self.connected(), prepared)
        finally:
            meter.close()

    async def _there(
        self, pool: Pool, order: Order, reservation: Reservation | None, launch: int
    ) -> Ended:
        """Send a step to the pool."""
        folder = self._plan.folder
        path = notes_of(folder, launch)
        meter = reservation.meter() if reservation is not None else None
        notes = str(path) if meter is not None else None
        sent = partial(work, order, meter, notes, str(folder / STAGING / HALT))
        try:
            future = pool.submit(sent)
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
                self._count_lost(reservation, path)
            if task is not None and task.cancelling():
                raise
            raise Lost("the pool has cancelled the step") from None
        except Exception as error:
            self._count_lost(reservation, path)
            raise Lost(f"the worker was lost: {type(error).__name__}: {error}") from error
        if reservation is not None:
            reservation.count(result.spent_usd)
            self.tokens += result.tokens
            self.priced = self.priced and result.priced
        if result.raised is not None:
            name, words, trace = result.raised
            if name in OURS:
                raise OURS[name](words)
            return self._at_fault(order, f"{name}: {words}", trace)
        if result.ended is None:
            raise _Halted
        return result.ended

    def _count_lost(self, reservation: Reservation | None, path: Path) -> None:
        """What a lost step can have cost: by its notes, else all that was allotted to it."""
        if reservation is not None:
            found = noted(path)
            reservation.count((reservation.cap_usd or 0.0) if found is None else found)
