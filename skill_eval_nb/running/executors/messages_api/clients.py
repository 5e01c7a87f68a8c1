"""One client for all runs of an event loop: making one costs more than a call does."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from skill_eval_nb.models import Connection, connect

if TYPE_CHECKING:
    from skill_eval_nb.models import Client

LINGER = 5.0
"""Seconds that a client is kept after its last use."""


@dataclass
class _Shared:
    ready: asyncio.Future[Client]
    users: int = 0
    used_at: float = 0.0
    keeper: asyncio.Task[None] | None = field(default=None)


_LOOPS: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[Connection, _Shared]] = (
    WeakKeyDictionary()
)


@asynccontextmanager
async def shared_client(connection: Connection) -> AsyncIterator[Client]:
    """The client of this event loop for a connection.

    A task of the loop's holds it open and closes it some seconds after its last use, or when
    the loop ends and cancels its tasks, as `asyncio.run` does.

    Raises:
        ModelFault: of the kind `key`, where an API key is needed and there is none.
    """
    loop = asyncio.get_running_loop()
    of_loop = _LOOPS.setdefault(loop, {})
    shared = of_loop.get(connection)
    if shared is None:
        shared = of_loop[connection] = _Shared(loop.create_future())
        shared.keeper = loop.create_task(_keep(connection, shared, of_loop))
    shared.users += 1
    try:
        yield await asyncio.shield(shared.ready)
    finally:
        shared.users -= 1
        shared.used_at = loop.time()


async def _keep(
    connection: Connection, shared: _Shared, of_loop: dict[Connection, _Shared]
) -> None:
    loop = asyncio.get_running_loop()
    try:
        async with connect(connection) as client:
            shared.ready.set_result(client)
            shared.used_at = loop.time()
            while shared.users or loop.time() < shared.used_at + LINGER:  # noqa: ASYNC110 (time is to pass)
                await asyncio.sleep(LINGER / 5)
            del of_loop[connection]  # before it is closed: who comes now makes another
    except Exception as fault:
        if shared.ready.done():
            raise
        shared.ready.set_exception(fault)
    finally:
        if of_loop.get(connection) is shared:
            del of_loop[connection]
        shared.ready.cancel()
