"""What is missing among the runs: gradings, and sides of a pair. Reported, not filled."""

from __future__ import annotations

from skill_eval_nb.workspace import UNSTATED, Problems

from .keys import Side

_UNGRADED = {
    "executed": "was run but not graded",
    "errored": "ended in an error and was not graded",
    "ungraded": "has nothing that could be used as a grading",
}


class Gaps:
    """Takes note of the runs as they are met, of what may be missing among them."""

    def __init__(self) -> None:
        self._ungraded: list[tuple[str, str, str | None]] = []
        self._first: dict[Side, str] = {}

    def add(self, side: Side, status: str, path: str, reason: str | None = None) -> None:
        """Note a run: what became of it and why, and of which side it is."""
        if status in _UNGRADED:
            self._ungraded.append((status, path, reason))
        self._first.setdefault(side, path)

    def report(self, problems: Problems) -> None:
        """Report runs without grading, and evals that lack a configuration of their iteration."""
        for status, path, reason in self._ungraded:
            why = f" ({reason})" if reason and status == "errored" else ""
            message = f"{_UNGRADED[status]}{why}; it enters no rate"
            problems.add("warning", f"{status}-run", path, message)
        for (_, _, iteration), evals in self._evals().items():
            every = set[str]().union(*(sides for _, _, sides in evals.values()))
            for eval_id, (name, path, sides) in evals.items():
                for side in sorted(every - sides):
                    problems.add(
                        "warning",
                        "missing-side",
                        path,
                        f"eval {eval_id} ({name}) has no run of {side} in {iteration}: "
                        "it cannot be compared",
                    )

    def _evals(self) -> dict[tuple[str, str, str], dict[str, tuple[str, str, set[str]]]]:
        """By iteration, the evals by their ids: the name, the first run, the configurations."""
        found: dict[tuple[str, str, str], dict[str, tuple[str, str, set[str]]]] = {}
        for (workspace, skill, iteration, eval_id, name, side), path in self._first.items():
            if side != UNSTATED:
                evals = found.setdefault((workspace, skill, iteration), {})
                evals.setdefault(eval_id, (name, path, set()))[2].add(side)
        return found
