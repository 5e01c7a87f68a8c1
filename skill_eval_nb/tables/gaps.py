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
    names: dict[tuple[str, str, str, str], RunKey] = {}
    for key, status, path in rows.statuses():
        folder = f"{who.base}/{path}"
        if status in _UNGRADED:
            problems.add(
                "warning", f"{status}-run", folder, f"{_UNGRADED[status]}; it enters no rate"
            )
        if key.configuration != UNSTATED:
            iteration = (key.workspace, key.skill, key.iteration)
            sides.setdefault(iteration, {}).setdefault(key.eval_id, set()).add(key.configuration)
            names.setdefault((*iteration, key.eval_id), key)
    for iteration, evals in sides.items():
        every = set().union(*evals.values())
        for eval_id, there in evals.items():
            for side in sorted(every - there):
                name = names[(*iteration, eval_id)].eval_name
                problems.add(
                    "warning",
                    "missing-side",
                    f"{who.base}/{iteration[0]}",
                    f"eval {eval_id} ({name}) has no run of {side} in {iteration[2]}: it cannot be "
                    "compared",
                )
