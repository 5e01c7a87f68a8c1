"""Which models a connection has, asked of the API."""

from __future__ import annotations

import asyncio

from skill_eval_nb.models import Connection, connect

PATIENCE = 20.0
"""Seconds for which an answer is waited for."""


def ask(connection: Connection) -> list[str]:
    """The models that can be had through a connection, as the API lists them.

    Raises:
        ModelFault: no answer came, or there is no key.
    """

    async def names() -> list[str]:
        async with connect(connection) as client:
            return [one["id"] for one in await client.models(deadline=PATIENCE)]

    return asyncio.run(names())
