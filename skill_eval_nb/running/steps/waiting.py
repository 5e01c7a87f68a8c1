"""Waiting for work that others wrote: that it goes when it is cancelled, or ends unhurt."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Any, TypeVar

T = TypeVar("T")

GOING = 10.0
"""Seconds that something may take to go once it was cancelled; it is left behind then."""


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
