"""What a journal tells everybody: who is at work in an iteration, and which looks are planned."""

from __future__ import annotations

import json
import os
import socket
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from skill_eval_nb.disk import open_regular

JOURNAL = "journal.jsonl"
STARTED, ENDED = "started", "ended"
KINDS = (STARTED.encode(), ENDED.encode())
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
    with suppress(OSError), open_regular(iteration / JOURNAL) as lines:
        for line in lines:
            with suppress(ValueError, KeyError, TypeError, AttributeError):  # no event of a job
                event = json.loads(line) if any(kind in line for kind in KINDS) else {}
                if event["event"] == STARTED:
                    looks = tuple(map(int, event["asked"].get("looks") or ()))
                    found = JobRecord(found.looks or looks, name_worker(event))
                elif event["event"] == ENDED:
                    found = found._replace(at_it=None)
    return found


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
