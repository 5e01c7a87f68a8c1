"""Calls that would begin in one heap begin a little apart."""

from __future__ import annotations

import asyncio
import time

APART = 0.003
"""Seconds between calls that would begin at once: about the CPU time that sending one takes."""
BEHIND = 0.1
"""Seconds that a call is held back at most."""


class Pace:
    """Spreads what would begin at the same moment.

    The steps of calls that begin together are taken in turns, so that all are sent when the
    last one is; their answers come together too, and are read in turns again: each call
    waits for the work of all, and this goes on for as long as they last. Begun a little
    apart, they stay apart. Calls that are further apart anyhow are not held back.
    """

    def __init__(self, apart: float = APART) -> None:
        self._apart = apart
        self._next = 0.0

    async def turn(self) -> None:
        """Return when a call may begin."""
        now = time.monotonic()
        at = min(max(now, self._next), now + BEHIND)
        self._next = at + self._apart
        if at > now:
            await asyncio.sleep(at - now)
