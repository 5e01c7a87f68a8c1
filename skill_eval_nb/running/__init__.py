"""From a skill and its evals to a graded workspace: plan, driver, journal, budget.

Heavy modules are imported on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from skill_eval_nb.faces import load_lazily

if TYPE_CHECKING:
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

__getattr__, __dir__ = load_lazily(
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
