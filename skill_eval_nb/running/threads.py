"""A coroutine run to its end from anywhere, also where an event loop runs already."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class Stopped(RuntimeError):
    """Somebody asked to stop; what was written stays."""


def in_thread(work: Coroutine[Any, Any, T], stop: threading.Event | None = None, *, name: str) -> T:
    """Run a coroutine to its end in a thread with a loop of its own, and wait for it.

    Ctrl-C, a notebook's stop button, or `stop` being set cancels it: what is in flight ends,
    and what was written stays.

    Raises:
        Stopped: `stop` was set.
    """
    ended: list[T] = []
    failed: list[BaseException] = []
    running: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[T]]] = []

    async def main() -> T:
        task = asyncio.ensure_future(work)
        running.append((asyncio.get_running_loop(), task))
        return await task

    def target() -> None:
        try:
            ended.append(asyncio.run(main()))
        except BaseException as error:  # noqa: BLE001 -- raised again where it is waited for
            failed.append(error)

    thread = threading.Thread(target=target, name=name, daemon=True)
    thread.start()
    try:
        while thread.is_alive():
            thread.join(0.1)  # in steps, so that an interrupt is heard on every system
            if thread.is_alive():
                _heed(stop)
    except BaseException:
        if running:
            loop, task = running[0]
            loop.call_soon_threadsafe(task.cancel)
        thread.join()
        raise
    if failed:
        raise failed[0]
    return ended[0]


def _heed(stop: threading.Event | None) -> None:
    if stop is not None and stop.is_set():
        raise Stopped("it was stopped; what was written stays")
