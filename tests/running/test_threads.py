"""A coroutine is run to its end from anywhere, and stopped when somebody asks for it."""

import asyncio
import threading

import pytest

from skill_eval_nb.running.threads import Stopped, in_thread


def test_an_interrupt_cancels_what_is_in_flight(monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[str] = []

    async def slow() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            ended.append("cancelled")

    class Interrupted(BaseException):
        pass

    class Thread(threading.Thread):
        def join(self, timeout: float | None = None) -> None:
            super().join(timeout)
            if timeout is not None:
                raise Interrupted

    monkeypatch.setattr("skill_eval_nb.running.threads.threading.Thread", Thread)
    with pytest.raises(Interrupted):
        in_thread(slow(), name="slow")
    assert ended == ["cancelled"]


def test_what_is_stopped_is_cancelled() -> None:
    ended: list[str] = []
    stop = threading.Event()

    async def slow() -> None:
        stop.set()
        try:
            await asyncio.sleep(60)
        finally:
            ended.append("cancelled")

    with pytest.raises(Stopped):
        in_thread(slow(), stop, name="slow")
    assert ended == ["cancelled"]


def test_what_goes_wrong_is_raised_where_it_is_waited_for() -> None:
    async def wrong() -> None:
        raise KeyError("here")

    with pytest.raises(KeyError, match="here"):
        in_thread(wrong(), name="wrong")
