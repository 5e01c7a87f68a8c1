"""What a run still lacks, as its folder tells.

A run goes through executed → checked → judged → graded, each step written in one piece
before the next begins. So the files that are there are the steps that are done, and nothing
else has to be remembered.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skill_eval_nb.disk import read_bytes
from skill_eval_nb.documents import Faults, NotJSON, parse

EXECUTED = "timing.json"
"""Part of a run's folder from the moment that it has its place."""

CHECKED = "structural.json"
GRADED = "grading.json"
JUDGINGS = "judgings"

ERRORED = "errored"
"""The status in timing.json of a run that is not to be graded."""

OF_JUDGE = "judge:"
"""How the reason of an errored run begins, where the run itself is fine."""


@dataclass(frozen=True, slots=True)
class Missing:
    """The steps that a run lacks; it is false where there is none.

    Attributes:
        execute: the run itself, and so everything that follows from it.
        check: the structural expectations.
        judgings: the numbers of the judgings. After a failed gate none of them is done,
            which cannot be known before the run is checked.
        grade: putting together what was checked and judged; it costs nothing.
    """

    execute: bool = False
    check: bool = False
    judgings: tuple[int, ...] = ()
    grade: bool = False

    def __bool__(self) -> bool:
        return bool(self.steps)

    @property
    def steps(self) -> tuple[str, ...]:
        """In words: execute, check, judge 1, …, grade."""
        judged = [f"judge {number}" for number in self.judgings]
        named = (("execute", self.execute), ("check", self.check))
        first = [name for name, lacks in named if lacks]
        return (*first, *judged, *(["grade"] if self.grade else []))


def state(
    folder: Path,
    judgings: int,
    has_structural: bool,
    has_judged: bool,
    *,
    gate: bool = True,
    retry_errored: bool = False,
) -> Missing:
    """The steps that a run lacks.

    Args:
        folder: the run's folder; it need not be there.
        judgings: how many judgings it is to have.
        has_structural: whether its eval has structural expectations.
        has_judged: whether its eval has something for a judge: expectations or a rubric.
        gate: whether a failed critical expectation skips the judge.
        retry_errored: whether a run that errored lacks what it errored in; it is done
            otherwise.
    """
    wanted = tuple(range(1, judgings + 1)) if has_judged else ()
    everything = Missing(execute=True, check=has_structural, judgings=wanted, grade=bool(wanted))
    if not (folder / EXECUTED).is_file():
        return everything
    failed = _reason(folder / EXECUTED)
    if failed is not None and not retry_errored:
        return Missing()
    if failed is not None and not failed.startswith(OF_JUDGE):
        return everything
    passed = _object(folder / CHECKED) if has_structural else {}
    if passed is None:
        return Missing(check=True, judgings=wanted, grade=bool(wanted))
    if gate and passed.get("gate_passed") is False:
        return Missing()
    lacks = tuple(n for n in wanted if not (folder / JUDGINGS / f"{n}.json").is_file())
    return Missing(judgings=lacks, grade=bool(wanted) and (bool(lacks) or _is_older(folder)))


def errored(folder: Path) -> str | None:
    """Why a run errored, in words; None where it did not, or was not executed yet."""
    return _reason(folder / EXECUTED)


def _reason(path: Path) -> str | None:
    timing = _object(path) or {}
    if timing.get("status") != ERRORED:
        return None
    return str(timing.get("reason") or "no reason was given")


def _is_older(folder: Path) -> bool:
    """Whether the grading is not there, or was made before one of the judgings.

    The job may have been killed between a further judging and the new grading. Grading
    costs nothing: once too often does no harm.
    """
    grading = folder / GRADED
    if not grading.is_file():
        return True
    made = grading.stat().st_mtime_ns
    return any(one.stat().st_mtime_ns > made for one in (folder / JUDGINGS).glob("*.json"))


def _object(path: Path) -> dict[str, Any] | None:
    """A file's JSON object; None where there is none that can be read."""
    try:
        found = parse(read_bytes(path), Faults())
    except (FileNotFoundError, NotJSON):
        return None
    return found if isinstance(found, dict) else None
