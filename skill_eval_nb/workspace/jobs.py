"""What a journal tells everybody: who is at work in an iteration, and which looks are planned."""

from __future__ import annotations

import json
import os
import socket
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from skill_eval_nb.disk import open_regular

JOURNAL = "journal.jsonl"
STARTED, ENDED = "started", "ended"
JOB_THREAD = "skill-eval-nb job"
"""What the thread of a job is called."""


class JobRecord(NamedTuple):
    """What is known of the job of an iteration.

    Attributes:
        looks: runs a side at which a verdict was planned when it was first started; none if empty.
        at_it: which process is at work, as far as can be told; None where none is.
    """

    looks: tuple[int, ...] = ()
    at_it: str | None = None


def read_job(iteration: Path) -> JobRecord:
    """What the journal of an iteration's folder says of its job; nothing where there is none."""
    found = JobRecord()
    try:
        with open_regular(iteration / JOURNAL) as lines:
            for line in lines:
                if (STARTED.encode() in line) or (ENDED.encode() in line):
                    found = _after(found, line)
    except OSError:
        return JobRecord()
    return found


def _after(known: JobRecord, line: bytes) -> JobRecord:
    """What is known after a line; one that is no event of a job tells nothing."""
    try:
        event = json.loads(line)
        kind = event["event"]
        looks = tuple(map(int, (event.get("asked") or {}).get("looks") or ()))
    except (ValueError, KeyError, TypeError, AttributeError):
        return known
    if kind == STARTED:
        return JobRecord(known.looks or looks, name_worker(event))
    return known._replace(at_it=None) if kind == ENDED else known


def name_worker(start: Mapping[str, Any]) -> str | None:
    """Which process wrote that it started a job, and still lives; None where none can be told."""
    pid, host = start.get("pid"), start.get("host")
    if not isinstance(pid, int) or host != socket.gethostname() or os.name != "posix":
        return None
    if pid == os.getpid():  # or one of the same number, before the machine was started anew
        names = {thread.name for thread in threading.enumerate()}
        return "this process" if JOB_THREAD in names else None
    try:
        os.kill(pid, 0)  # asks whether it is there, and does nothing to it
    except ProcessLookupError:
        return None
    except PermissionError:
        pass
    return f"process {pid} on {host}"
