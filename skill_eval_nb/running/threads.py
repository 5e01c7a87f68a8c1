"""Run coroutines to their end: in a new thread, in a new loop, or protected from cancellation."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Coroutine, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from typing import Any, TypeVar

T = TypeVar("T")


class Stopped(RuntimeError):
    """The user asked to stop; what was written is kept."""


def is_exiting() -> bool:
    """Whether this interpreter is exiting, as when a kernel is restarted.

    Remaining threads continue for a while, but cannot start others: an error in them from then on
    says nothing about their work.
    """
    try:
        with ThreadPoolExecutor(1) as pool:
            pool.submit(int)
    except RuntimeError as error:
        return "shutdown" in str(error)
    return False


def in_thread(work: Coroutine[Any, Any, T], stop: threading.Event | None = None, *, name: str) -> T:
    """Run a coroutine to its end in a thread with its own loop, and wait for it.

    Ctrl-C, a notebook's stop button, or setting `stop` cancels it: what is in flight ends, and
    what was written stays.

    Raises:
        Stopped: `stop` was set; if it was set before the call, nothing is begun.
    """
    if stop is not None and stop.is_set():
        work.close()
    _check_stop(stop)
    ended = Future[T]()  # an interrupted `Thread.join` marks a running thread as ended
    running: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[T]]] = []
    called_off = threading.Event()

    async def run_task() -> T:
        task = asyncio.ensure_future(work)
        running.append((asyncio.get_running_loop(), task))
        if called_off.is_set():
            task.cancel()
        return await task

    def run_loop() -> None:
        try:
            ended.set_result(asyncio.run(run_task()))
        except BaseException as error:  # noqa: BLE001 -- raised again by whoever waits
            ended.set_exception(error)

    try:
        threading.Thread(target=run_loop, name=name, daemon=True).start()
        while not wait([ended], 0.1).done:  # in steps, so that every system notices an interrupt
            _check_stop(stop)
    except BaseException:
        called_off.set()
        if running:  # otherwise it will not begin
            loop, task = running[0]
            with suppress(RuntimeError):  # it has just ended
                loop.call_soon_threadsafe(task.cancel)
            wait([ended])
        raise
    return ended.result()


def _check_stop(stop: threading.Event | None) -> None:
    if stop is not None and stop.is_set():
        raise Stopped("it was stopped; what was written is kept")


async def run_several(work: Iterable[Coroutine[Any, Any, None]], at_a_time: int) -> None:
    """Run coroutines, several at a time; the first error ends the others and is raised."""
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
            coroutine.close()  # some were cancelled before they began


GRACE = 10.0
"""Seconds to wait for something that was cancelled; after that it is left alone."""


async def cut_off(task: asyncio.Future[Any]) -> None:
    """Cancel a task, and wait for its end, but not forever."""
    task.cancel()
    await asyncio.wait((task,), timeout=GRACE)


async def finish_work(work: Awaitable[T], *, then_go: bool = False) -> T:
    """Wait for work that must not be interrupted, even if this task is cancelled meanwhile.

    Args:
        work: what to finish.
        then_go: whether such a cancellation is raised afterwards; otherwise it is dropped.
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
    """Run work in its own loop, like `asyncio.run`, but end as soon as the work has ended.

    Remaining tasks are cancelled. `asyncio.run` would wait for them forever; here, those that do
    not react are left behind after some seconds, so that no executor can block a job.
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
                if deaf:  # keep Python from warning about them when it collects them
                    loop.set_exception_handler(lambda *_: None)
            loop.run_until_complete(loop.shutdown_asyncgens())
            loop.run_until_complete(loop.shutdown_default_executor())
        finally:
            loop.close()
