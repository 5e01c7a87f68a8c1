"""An event loop for work that others wrote, and that may not want to end."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")

GOING = 10.0
"""Seconds that something may take to go once it was cancelled; it is left behind then."""


def run(work: Coroutine[Any, Any, T]) -> T:
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
                loop.run_until_complete(asyncio.wait(left, timeout=GOING))
            loop.run_until_complete(loop.shutdown_asyncgens())
            loop.run_until_complete(loop.shutdown_default_executor())
        finally:
            loop.close()


async def cut_off(task: asyncio.Future[Any]) -> None:
    """Cancel a task, and wait for it to go, but not for ever."""
    task.cancel()
    await asyncio.wait((task,), timeout=GOING)


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
