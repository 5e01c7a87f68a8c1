"""Allotments of a budget, handed out one after the other: who finds no room waits for others."""

from __future__ import annotations

import asyncio

from .budget import Allotment, Budget


class Turns:
    """Hands out a budget's allotments to the tasks of one event loop."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._flying = 0
        self._ended = asyncio.Event()  # a new one each time that something has ended

    async def allot(self, usd: float | None) -> Allotment | None:
        """Money for one step at its worst; waits for what is in flight, where it must.

        Args:
            usd: the most that the step may cost, in US dollars; None without a ceiling.

        Returns:
            the allotment; None where it does not fit with nothing in flight any more.
        """
        while (allotment := self._budget.allot(usd)) is None:
            if not self._flying:
                return None
            await self._ended.wait()
        self._flying += 1
        return allotment

    def close(self, allotment: Allotment) -> None:
        """Give back what is left of it.

        It does not wait: what was just answered is not lost to a cancellation here.
        """
        allotment.close()
        self._flying -= 1
        self._ended.set()
        self._ended = asyncio.Event()
