"""An event loop for work that others wrote, and that may not want to end."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from ..steps import waiting

T = TypeVar("T")


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
                loop.run_until_complete(asyncio.wait(left, timeout=waiting.GOING))
            loop.run_until_complete(loop.shutdown_asyncgens())
            loop.run_until_complete(loop.shutdown_default_executor())
        finally:
            loop.close()
