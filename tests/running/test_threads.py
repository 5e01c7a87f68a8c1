"""A coroutine is run to its end from anywhere, and stopped when somebody asks for it."""

import asyncio
import os
import signal
import time

import pytest

from skill_eval_nb.running.threads import in_thread


@pytest.mark.usefixtures("interrupts")
def test_an_interrupt_cancels_what_is_in_flight_and_waits_for_its_end() -> None:
    told: list[str] = []

    async def slow() -> None:
        os.kill(os.getpid(), signal.SIGINT)
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            told.append("cancelled")
            time.sleep(0.3)  # noqa: ASYNC251 -- what was paid for is being written
            told.append("written")
            raise

    with pytest.raises(KeyboardInterrupt):
        in_thread(slow(), name="slow")
    assert told == ["cancelled", "written"]
