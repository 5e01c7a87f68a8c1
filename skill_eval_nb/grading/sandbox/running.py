"""Running a command in a box, to its end or to a limit."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Sequence

from .availability import SandboxMissing, why_not
from .box import Box, Ran
from .folder import lent
from .process import started
from .talking import talk
from .watching import Watch


def run(
    box: Box, argv: Sequence[str], stdin: bytes = b"", *, stop: threading.Event | None = None
) -> Ran:
    """Run a command in a box; it returns when no process of the command is left.

    With kind "none" a process that leaves the group of its parents may stay.

    Args:
        box: what the command may see and use.
        argv: the command and its arguments, as they are: no shell reads them.
        stdin: what it reads.
        stop: ends the command with all its processes once it is set.

    Raises:
        SandboxMissing: the box asks for a sandbox, and none works here.
        OSError: the box's folder is not there, or cannot be used.
    """
    if (reason := why_not(box.kind)) is not None:
        raise SandboxMissing(reason)
    with lent(box):
        watch = Watch(box)
        with started(box, argv) as process:
            return talk(process, watch, stdin, stop or threading.Event())


async def arun(box: Box, argv: Sequence[str], stdin: bytes = b"") -> Ran:
    """The same, while others go on; where it is cancelled, it first ends the command.

    Raises:
        SandboxMissing: the box asks for a sandbox, and none works here.
        OSError: the box's folder is not there, or cannot be used.
    """
    stop = threading.Event()
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Ran] = loop.create_future()

    def settle(ran: Ran | None, error: BaseException | None) -> None:
        if done.done():
            return
        if error is not None:
            done.set_exception(error)
        elif ran is not None:
            done.set_result(ran)

    def work() -> None:
        ran, error = None, None
        try:
            ran = run(box, argv, stdin, stop=stop)
        except BaseException as caught:  # noqa: BLE001 (it is raised where it is awaited)
            error = caught
        loop.call_soon_threadsafe(settle, ran, error)

    # A thread of its own: those that asyncio keeps are few, and a box may take minutes. And
    # a box dies with the thread that started it, so that thread stays to its end.
    threading.Thread(target=work, name=f"box-{os.getpid()}", daemon=True).start()
    try:
        return await asyncio.shield(done)
    except asyncio.CancelledError:
        stop.set()
        await asyncio.wait([done])
        done.exception()  # looked at, so that nobody misses it
        raise
