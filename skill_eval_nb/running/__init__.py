"""From a skill and its evals to a graded workspace: plan, driver, journal, budget.

Nothing heavy is imported before it is used. Whether a planned look ends a job is for statistics,
which this room does not know: the package itself, which knows all rooms, hands their rules down.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from skill_eval_nb.faces import lazy

if TYPE_CHECKING:
    from pathlib import Path

    from skill_eval_nb.models import BudgetSpent

    from .job import Job
    from .plan import Plan, plan_runs
    from .protocol import Execution, Executor, Limits, Refused, Skill, Task, executor
    from .rejudging import judge_again
    from .spec import Cell
    from .stored_runs import grade_stored

__all__ = [
    "BudgetSpent",
    "Cell",
    "Execution",
    "Executor",
    "Job",
    "Limits",
    "Plan",
    "Refused",
    "Skill",
    "Task",
    "executor",
    "grade_stored",
    "judge_again",
    "plan_runs",
]


class LookRules(Protocol):
    """What statistics say of planned looks."""

    def check_looks(self, looks: Sequence[int], n_evals: int) -> None:
        """Raise a ValueError where looks over so many evals cannot be planned."""
        ...

    def decide_look(
        self, workspace: Path, iteration: int, looks: Sequence[int], runs: int
    ) -> str | None:
        """What the look at so many runs a side decides, in words; None where it decides nothing."""
        ...


look_rules: Callable[[], LookRules]
"""Gives them; `skill_eval_nb` sets it when it is imported."""

__getattr__, __dir__ = lazy(
    __name__,
    {
        "skill_eval_nb.models": "BudgetSpent",
        ".spec": "Cell",
        ".job": "Job",
        ".plan": "Plan plan_runs",
        ".protocol": "Execution Executor Limits Refused Skill Task executor",
        ".rejudging": "judge_again",
        ".stored_runs": "grade_stored",
    },
)
