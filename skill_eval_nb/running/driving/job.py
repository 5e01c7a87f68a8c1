"""A job: a plan that is being carried out in a thread of its own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Generator
from concurrent.futures import Future, wait
from typing import TYPE_CHECKING, Any

from .progress import Progress, Status

if TYPE_CHECKING:
    from .driver import Driver


class Job:
    """A plan that is being carried out: wait for it, await it, stop it, look at it.

    It goes on in the background, also in a notebook whose cell has returned. A program that
    ends takes it along, as a kill would: what was finished stays, and starting the plan again
    does the rest.
    """

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._ended: Future[Progress] = Future()
        self._ended.set_running_or_notify_cancel()
        self._thread = threading.Thread(target=self._run, name="skill-eval-nb job", daemon=True)

    def begin(self) -> Job:
        """Start the thread; `Plan.start` has done so."""
        self._thread.start()
        return self

    def wait(self, timeout: float | None = None) -> Progress:
        """Wait until the job has ended, or for `timeout` seconds.

        Ctrl-C, or interrupting the kernel, stops the job.

        Returns:
            the progress; its `status` is "running" where the time was up before.

        Raises:
            Exception: what ended the job, where its status is "failed".
        """
        try:
            wait([self._ended], timeout)
        except KeyboardInterrupt:
            self.stop()
            wait([self._ended])  # an interrupted `Thread.join` takes a running thread for ended
            raise
        return self._ended.result() if self._ended.done() else self.progress

    def watch(self) -> None:
        """Show how far it is until it has ended, in a notebook or a terminal; else as `wait`."""
        from .watching import watch

        watch(self)

    def stop(self, grace: float = 0.0) -> None:
        """Begin nothing new, and end what is in flight; returns at once.

        What is in flight has `grace` seconds to end by itself. Then it is cancelled where it
        waits: a call that was sent counts at its worst, since it may be billed, and the step
        is done anew at the next start. What a pool's workers are at is not interrupted: it
        ends at its next call. The status becomes "stopped".
        """
        self._driver.ask_to_stop(grace)

    @property
    def progress(self) -> Progress:
        """How far the job is at this moment."""
        return self._driver.snapshot()

    @property
    def status(self) -> Status:
        """running, done, partial, stopped or failed."""
        return self._driver.status

    def __await__(self) -> Generator[Any, None, Progress]:
        """Wait until the job has ended, as `wait` does, without holding up the loop."""
        return asyncio.shield(asyncio.wrap_future(self._ended)).__await__()

    def __repr__(self) -> str:
        return str(self.progress)

    def _run(self) -> None:
        try:
            self._driver.run()
        except BaseException as error:  # noqa: BLE001 -- kept for whoever waits
            self._ended.set_exception(error)
        else:
            self._ended.set_result(self._driver.snapshot())


Told = Callable[[Progress], object]
"""What is called with each new state of a job."""
