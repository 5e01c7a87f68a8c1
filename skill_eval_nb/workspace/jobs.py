"""What an iteration tells everybody of its job: who is at work, and which looks are planned."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from skill_eval_nb.disk import open_regular

from .layout import OWN
from .writing import find_holder, name_process

JOURNAL, LOCK = "journal.jsonl", f"{OWN}.lock"
STARTED = "started"
"""The event that says what a job was asked for."""
A_JOB = "a job"
"""What somebody does who holds the lock of an iteration, and runs it."""


class JobRecord(NamedTuple):
    """What is known of the job of an iteration.

    Attributes:
        looks: runs a side at which a verdict was planned when it was first started; none if empty.
        at_it: which process is at work; None where none is.
    """

    looks: tuple[int, ...] = ()
    at_it: str | None = None


def read_job(iteration: Path) -> JobRecord:
    """What the folder of an iteration says of its job; nothing where there is none."""
    looks: tuple[int, ...] = ()
    try:
        with open_regular(iteration / JOURNAL) as lines:
            for line in lines:
                if not looks and STARTED.encode() in line:
                    with suppress(ValueError, KeyError, TypeError, AttributeError):  # another's
                        looks = tuple(map(int, json.loads(line)["asked"].get("looks") or ()))
    except OSError:
        return JobRecord()
    holder = find_holder(iteration / LOCK) or {}
    return JobRecord(looks, name_process(holder) if holder.get("doing") == A_JOB else None)
