"""Coroutines run to their end: in a thread of their own, in a loop of their own, or unhurt."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Coroutine, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, TypeVar

T = TypeVar("T")


class Stopped(RuntimeError):
    """Somebody asked to stop; what was written stays."""


def is_exiting() -> bool:
    """Whether this interpreter is on its way out, as when a kernel is restarted.

    Threads that are left go on for a while, but can begin none: what fails in them from then on
    says nothing of what they were at.
    """
    try:
        with ThreadPoolExecutor(1) as pool:
            pool.submit(int)
    except RuntimeError as error:
        return "shutdown" in str(error)
    return False


def in_thread(work: Coroutine[Any, Any, T], stop: threading.Event | None = None, *, name: str) -> T:
    """Run a coroutine to its end in a thread with a loop of its own, and wait for it.

    Ctrl-C, a notebook's stop button, or `stop` being set cancels it: what is in flight ends,
    and what was written stays.

    Raises:
        Stopped: `stop` was set; if it was before, nothing is begun.
    """
    if stop is not None and stop.is_set():
        work.close()
    _heed(stop)
    ended: list[T] = []
    failed: list[BaseException] = []
    running: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[T]]] = []
    over = threading.Event()  # an interrupted `Thread.join` takes a running thread for ended
    called_off = threading.Event()

    async def run_task() -> T:
        task = asyncio.ensure_future(work)
        running.append((asyncio.get_running_loop(), task))
        if called_off.is_set():
            task.cancel()
        return await task

    def run_loop() -> None:
        try:
            ended.append(asyncio.run(run_task()))
        except BaseException as error:  # noqa: BLE001 -- raised again if it is waited for
            failed.append(error)
        finally:
            over.set()

    try:
        threading.Thread(target=run_loop, name=name, daemon=True).start()
        while not over.wait(0.1):  # in steps, so that an interrupt is heard on every system
            _heed(stop)
    except BaseException:
        called_off.set()
        if running:  # else it will not begin
            loop, task = running[0]
            with suppress(RuntimeError):  # it has just come to its end
                loop.call_soon_threadsafe(task.cancel)
            over.wait()
        raise
    if failed:
        raise failed[0]
    return ended[0]


def _heed(stop: threading.Event | None) -> None:
    if stop is not None and stop.is_set():
        raise Stopped("it was stopped; what was written stays")


async def several(work: Iterable[Coroutine[Any, Any, None]], at_a_time: int) -> None:
    """Do many things, so many at a time; the first that fails ends the others, and is raised."""
    places = asyncio.Semaphore(at_a_time)
    coroutines = list(work)

    async def run_in_turn(coroutine: Coroutine[Any, Any, None]) -> None:
        async with places:
            await coroutine

    try:
        async with asyncio.TaskGroup() as group:
            for coroutine in coroutines:
                group.create_task(run_in_turn(coroutine))
    except BaseExceptionGroup as failed:
        first = failed.exceptions[0]
        raise first from first.__cause__
    finally:
        for coroutine in coroutines:
            coroutine.close()  # those that were cancelled before they began


GRACE = 10.0
"""Seconds that something may take to go once it was cancelled; it is left behind then."""


async def cut_off(task: asyncio.Future[Any]) -> None:
    """Cancel a task, and wait for it to go, but not for ever."""
    task.cancel()
    await asyncio.wait((task,), timeout=GRACE)


async def to_the_end(work: Awaitable[T], *, then_go: bool = False) -> T:
    """Wait for work that is not to be left half done, whatever is cancelled meanwhile.

    Args:
        work: what is to be done to its end.
        then_go: whether a cancellation that came meanwhile takes its course afterwards; it is
            dropped otherwise, for what was done is done.
    """
    task = asyncio.ensure_future(work)
    cancelled = False
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            cancelled = True
        except Exception:  # noqa: BLE001 -- raised by `result`
            break
    result = task.result()
    if cancelled and then_go:
        raise asyncio.CancelledError
    return result


def run_alone(work: Coroutine[Any, Any, T]) -> T:
    """Run work in a loop of its own, as `asyncio.run` does; but end when the work has ended.

    Tasks that are left are cancelled. `asyncio.run` waits for them for ever; here those that
    take no notice are left behind after some seconds, or one executor could hold up a job.
    """
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(work)
    finally:
        try:
            left = asyncio.all_tasks(loop)
            for task in left:
                task.cancel()
            if left:
                _, deaf = loop.run_until_complete(asyncio.wait(left, timeout=GRACE))
                if deaf:  # it was told: Python need not tell of them when it collects them
                    loop.set_exception_handler(lambda *_: None)
            loop.run_until_complete(loop.shutdown_asyncgens())
            loop.run_until_complete(loop.shutdown_default_executor())
        finally:
            loop.close()
