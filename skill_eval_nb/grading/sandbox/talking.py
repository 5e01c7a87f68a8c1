"""Feeding a command, reading it and watching it until it ends."""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from dataclasses import replace

from .box import BoxLimits, Ended, Ran
from .process import Process
from .streams import Streams
from .watching import EVERY, Watch, many, size

MUCH = 100
"""How many times the output that is kept may be printed: more is taken for output without end."""


def talk(process: Process, watch: Watch, stdin: bytes, stop: threading.Event) -> Ran:
    """Stay with a running command until it has ended, by itself or at a limit."""
    limits = watch.box.limits
    deadline = time.monotonic() + limits.seconds
    with Streams(process.popen, stdin, limits.output_bytes) as streams:
        passed: tuple[Ended, str] | None = None
        look_at = 0.0
        while passed is None and process.popen.poll() is None:
            streams.move(EVERY)
            if stop.is_set():
                passed = "killed", "it was cancelled"
            elif time.monotonic() > deadline:
                passed = "time", f"it took longer than {limits.seconds:g} s"
            elif streams.seen > MUCH * limits.output_bytes:
                passed = "killed", f"it printed more than {size(MUCH * limits.output_bytes)}"
            elif (begun := time.monotonic()) >= look_at:
                passed = watch.passed(process.look())
                look_at = max(begun + EVERY, 2 * time.monotonic() - begun)
        left = process.left() if passed is None else 0
        if left + 1 > limits.processes:  # between two looks, up to where the kernel stopped it
            passed = "killed", many(limits.processes)
        process.close()
        streams.move_rest()
    ended, why = passed or ("exit", None)
    code = process.popen.returncode
    code = 128 - code if code < 0 else code
    ran = Ran(
        exit_code=code,
        stdout=streams.stdout.data,
        stderr=streams.stderr.data,
        cut=streams.cut,
        ended=ended,
        message=_words(ended, why, code, limits),
        left=left if ended == "exit" else 0,
    )
    return replace(ran, message=f"{ran.message} {ran.left_words}".rstrip())


def _words(ended: Ended, why: str | None, code: int, limits: BoxLimits) -> str:
    if ended != "exit":
        return f"The command was ended, with all processes that it had started: {why}."
    if code == 128 + signal.SIGXFSZ:
        return f"The command was ended: a file would have passed {size(limits.file_bytes)}."
    if code == 128 + signal.SIGXCPU:
        return "The command was ended: it used more processor time than its time limit allows."
    if code > 128:
        with contextlib.suppress(ValueError):
            return f"The command was ended by {signal.Signals(code - 128).name}."
    return f"The command ended with exit code {code}."
