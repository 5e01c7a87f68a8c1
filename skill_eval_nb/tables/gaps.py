"""What is missing among the runs: gradings, and sides of a pair. Reported, not filled."""

from __future__ import annotations

from skill_eval_nb.workspace import UNSTATED, Catalogue, Problems

from .rows import Rows, RunKey

_UNGRADED = {
    "executed": "was run but not graded",
    "errored": "ended in an error and was not graded",
    "ungraded": "has nothing that could be used as a grading",
}


def report_gaps(rows: Rows, who: Catalogue, problems: Problems) -> None:
    """Report runs without grading, and evals that lack a configuration of their iteration."""
    sides: dict[tuple[str, str, str], dict[str, set[str]]] = {}
    known: dict[tuple[str, str, str, str], tuple[RunKey, str]] = {}
    for key, status, path in rows.statuses():
        folder = f"{who.base}/{path}"
        if status in _UNGRADED:
            problems.add(
                "warning", f"{status}-run", folder, f"{_UNGRADED[status]}; it enters no rate"
            )
        if key.configuration != UNSTATED:
            iteration = (key.workspace, key.skill, key.iteration)
            sides.setdefault(iteration, {}).setdefault(key.eval_id, set()).add(key.configuration)
            known.setdefault((*iteration, key.eval_id), (key, folder))
    for iteration, evals in sides.items():
        every = set().union(*evals.values())
        for eval_id, there in evals.items():
            for side in sorted(every - there):
                key, folder = known[(*iteration, eval_id)]
                problems.add(
                    "warning",
                    "missing-side",
                    folder,
                    f"eval {eval_id} ({key.eval_name}) has no run of {side} in {key.iteration}: "
                    "it cannot be compared",
                )
