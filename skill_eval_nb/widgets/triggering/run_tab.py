"""The second tab: the set is run as it was priced, and what came of it is shown."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from skill_eval_nb.running.refused import refuse

from ..launching.beside import Beside
from ..panel import Child, action, h
from ..source import landed
from .form import part
from .form_actions import FormActions
from .planning import RUNNING, RunPlan, run_plan
from .reach import Reach, measure_set
from .views.results import results_view
from .views.running import ended_view, going_view, plan_view, start_row, unlimited
from .views.setting import setting_view
from .work import Work

if TYPE_CHECKING:
    from skill_eval_nb.models import Prices
    from skill_eval_nb.triggers import Measured, Optimised, Query

WHILE = 60.0
"""Seconds for which the plan is waited for once something has ended."""
MAKING = "The plan is being made…"
IN_THE_WAY = "Something stands in the way: it is said in the form."
NO_BUDGET = "This may cost money: give a budget, or tick “Without a budget”."
ANEW = (
    "What is on disk or in the panel has changed since that was shown, so it was planned anew: "
    "look at it, and start again."
)


class RunTab(FormActions):
    """What a panel needs to run a set of queries."""

    _reach: Reach
    _known_prices: Prices
    _searched: Work[Optimised] | None
    _lock: threading.RLock
    show: Callable[[], None]

    def _begin_run_tab(self, planning: Beside, starting: Beside) -> None:
        self._planning, self._starting = planning, starting
        self._plan: RunPlan | None = None
        self._ran: Work[Measured] | None = None

    @property
    def queries(self) -> tuple[Query, ...]:
        """The set as it is in the grid."""
        raise NotImplementedError

    @property
    def measured(self) -> Measured | None:
        """What the runs of these queries came to, looked up on disk; None where there are none."""
        if not self._busy and self._plan_now is None:
            self._plan = run_plan(self._reach, self.form, self.queries, self._made)
        return self._made

    @property
    def _made(self) -> Measured | None:
        """The measurement that is shown."""
        results = self._plan.results if self._plan is not None else None
        return results.measured if results is not None else None

    @property
    def _busy(self) -> str | None:
        """What goes on; None where nothing does."""
        if self._ran is not None and self._ran.going:
            return "The queries are being run."
        if self._searched is not None and self._searched.going:
            return "A better description is being looked for."
        return None

    @action
    def start(self, token: str) -> None:
        """Run the set as it was planned under this token."""
        if self._starting.busy or self._busy:
            return  # a second click on the same button
        if self._plan is None or self._plan.token != token:
            raise refuse(ANEW)
        self._starting.begin(self._start, lambda _: None)

    @action
    def stop(self) -> None:
        """Stop what goes on; what is there stays."""
        for work in (self._ran, self._searched):
            if work is not None and work.going:
                work.stop()

    def _start(self) -> None:
        if (why := self._why_not_run()) is not None:
            raise refuse(why)
        form, queries, shown = self.form, self.queries, self._plan
        self._plan = run_plan(self._reach, form, queries, self._made)
        if shown is None or not shown.covers(self._plan):
            raise refuse(ANEW)
        self._ran = Work(
            lambda told, stop: measure_set(self._reach, form, queries, progress=told, stop=stop),
            lambda now: now.done / now.total,
            self.show,
            self._run_ended,
        )

    def _run_ended(self, work: Work[Measured]) -> None:
        """Plan anew, with what was made; and tell who looks at the same folder."""
        with self._lock:
            self.form = replace(self.form, again=False)
        self._plan_run(work.result, patience=WHILE)
        if work.result is not None:
            landed(work.result.folder)
        self.show()

    def _plan_run(self, made: Measured | None, **patience: float) -> None:
        """Plan what the panel holds, with what was made last."""
        form, queries = self.form, self.queries

        def take(plan: RunPlan) -> None:
            self._plan = plan

        self._planning.begin(lambda: run_plan(self._reach, form, queries, made), take, **patience)

    def _why_not_run(self) -> str | None:
        """Why the set cannot be run now; None where it can."""
        plan = self._plan_now
        if self._busy:
            return self._busy
        if self._planning.busy or plan is None:
            return MAKING
        if plan.measured is None:
            return IN_THE_WAY
        if not plan.missing:
            return "All runs are there: more runs or other queries give it more to do."
        if plan.costs and self.form.budget_usd is None and not self.form.unlimited:
            return NO_BUDGET
        return None

    @property
    def _plan_now(self) -> RunPlan | None:
        """The plan, where it was made for what the panel now holds."""
        plan, now = self._plan, (part(self.form, RUNNING), self.queries)
        return plan if plan is not None and (plan.form, plan.queries) == now else None

    # ── what is seen ─────────────────────────────────────────────────────────────────────────

    def _run_tab(self) -> Child:
        work, plan = self._ran, self._plan
        if work is not None and work.going:
            return going_view(work, "The queries are being run", work.progress)
        if self._busy:
            return h("p", self._busy, role="status")
        faults = self._plan_now.faults if self._plan_now is not None else ()
        return [
            ended_view(work),
            h(
                "div",
                setting_view(self.form, self._known_prices, self._typed, faults),
                plan_view(plan, self.form, self._start_row(plan)),
                cls="sen-columns",
            ),
            results_view(plan.results) if plan is not None and plan.results is not None else None,
        ]

    def _start_row(self, plan: RunPlan | None) -> Child:
        if plan is None:
            return None
        wanted = plan.costs and self.form.budget_usd is None
        free = unlimited(self.form, "unlimited") if wanted else None
        return start_row(("start", plan.token), self._why_not_run(), free)
