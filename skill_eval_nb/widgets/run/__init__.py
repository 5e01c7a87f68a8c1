"""`run_panel`: run a skill's evals from the notebook, with the price before and a way to stop."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from skill_eval_nb.running.options import price_table
from skill_eval_nb.running.spec import iterations_of
from skill_eval_nb.stats.values import order_iterations
from skill_eval_nb.workspace import NO_ITERATION

from ..ui import Child, action, h, quiet_action, style
from ..ui.paid import Launch, PaidPanel, asking_card
from ..ui.parts import place, soft
from ..ui.source import PATIENCE, Source
from .judge import (
    JUDGING,
    JudgeForm,
    begin_judging,
    judge_form_view,
    judge_plan_view,
    judged_view,
    preview_judging,
)
from .plan import (
    FixedArgs,
    Form,
    PlanPreview,
    Unfinished,
    find_unfinished,
    first_evals_hint,
    form_view,
    home_of,
    make,
    open_form,
    plan_view,
    unfinished_view,
)
from .progress import (
    Running,
    WorkspaceTask,
    answer_newest,
    answers_view,
    begin,
    ended_view,
    errors_view,
    running_view,
    watch,
)

if TYPE_CHECKING:
    from skill_eval_nb.running import Job, Plan
    from skill_eval_nb.stats.verdict import Answer

__all__ = ["RunPanel", "run_panel"]


def run_panel(
    skill: str | os.PathLike[str],
    evals: str | os.PathLike[str] | None = None,
    workspace: str | os.PathLike[str] | None = None,
    **given: Any,
) -> RunPanel:
    """A panel to plan, price, start, watch and stop the runs of a skill's evals.

    Nothing is spent or written before you press Start, which only starts a plan that you have
    seen with its price. Runs continue while other cells run. After a kernel restart, a new panel
    finds the unfinished work in the workspace and continues it without paying for anything
    twice. Its second tab judges stored outputs again.

    Args:
        skill: the skill's folder.
        evals: its evals file; `evals/evals.json` in the skill's folder if not given.
        workspace: the folder for the runs; NAME-workspace next to the skill's folder if not
            given.
        **given: the form's initial values, and options that it does not show (`limits`,
            `connection`, `prices`, `executor_options`), as `plan_runs` takes it.

    Returns:
        the panel: `.plan` is the plan shown, `.job` the current or last job, and `.start()` and
        `.stop()` work like its buttons.

    Raises:
        TypeError: if `plan_runs` does not have the option.
    """
    return RunPanel(skill, evals, workspace, given)


RUN, JUDGE = "run", "judge"
NO_SIDE = {"name": "", "folder": ""}


class RunPanel(PaidPanel):
    """Plans runs and their price, starts them, shows how far they are, and goes on with them.

    What it does can be done in code as well: `sen.plan_runs`, `plan.start()`,
    `sen.judge_again`.
    """

    _css = style(Path(__file__).with_name("run.css"))
    label = "Run evals"
    TABS: ClassVar = {RUN: "Run evals", JUDGE: "Judge stored outputs again"}

    def __init__(self, skill: Any, evals: Any, workspace: Any, given: dict[str, Any]) -> None:
        form, self._fixed = self._given = open_form(skill, evals, workspace, given)
        self.home = home_of(self._fixed)
        self.subject = self.home.name
        self._prices = price_table(given.get("prices"), [])
        self._tab = RUN
        self.tasks = {}
        self._side = NO_SIDE
        self._launch = Launch(
            self,
            form,
            make,
            lambda preview: begin(self.home, lambda: Running(preview)),
            beside=lambda: (self._fixed,),
        )
        self._judging = Launch(
            self,
            JudgeForm(),
            partial(preview_judging, self._prices),
            lambda preview: begin_judging(self._prices, preview, *self._judging.inputs),
            beside=lambda: (self.home, self._fixed),
        )
        self.launches = {RUN: self._launch, JUDGE: self._judging}
        self._unfinished: list[Unfinished] = []
        self._answers: list[Answer] | None = None
        self._ran: Running | None = None
        self._looking, self._answering = self.background(), self.background()
        self.source = Source(self.home, self._changed)
        super().__init__()
        if (at := watch(self)) is not None:
            self.progressed(at)
        self._refresh_all()

    # ── the form ─────────────────────────────────────────────────────────────────────────────

    @action
    def set_bare(self, on: bool) -> None:
        """Say that commands may run without a sandbox, or that they may not."""
        self._set(sandbox="none" if on else "bubblewrap")

    @action
    def set_executor(self, name: str) -> None:
        """Choose another executor; its models are those that were given with it, if any."""
        first = self._given[0]
        mine = first if first.executor == name else Form()
        self._launch.typed = frozenset()
        models = {"executor_model": mine.executor_model, "judge_model": mine.judge_model}
        self._set(executor=name, **models)

    @action
    def tick_configuration(self, name: str, on: bool) -> None:
        """Take a configuration in, or leave it out."""
        form = self._launch.form
        self._set(configurations=_order_ticked(form.sides, form.configurations, name, on))

    @quiet_action
    def name_side(self, part: str, value: str) -> None:
        """Note the name or the folder of another configuration."""
        self._side = {**self._side, part: value.strip()}

    @action
    def add_side(self) -> None:
        """Add another configuration, and tick it."""
        name, folder = self._side["name"], self._side["folder"]
        if not name or not folder:
            raise ValueError("Another configuration needs a name, and the folder of its skill.")
        form = self._launch.form
        sides = {**form.sides, name: folder}
        chosen = _order_ticked(sides, form.configurations, name, on=True)
        self._side = NO_SIDE
        self._set(sides=sides, configurations=chosen)

    @property
    def _evals(self) -> tuple[str, ...]:
        """The ids of all evals of the suite."""
        preview = self._launch.plan
        suite = preview.suite if preview is not None else None
        return tuple(eval_.id for eval_ in suite.evals) if suite is not None else ()

    @action
    def tick_eval(self, eval_id: str, on: bool) -> None:
        """Take an eval in, or leave it out."""
        every, only = self._evals, self._launch.form.evals_only
        chosen = _order_ticked(every, every if only is None else only, eval_id, on)
        self._set(evals_only=None if chosen == every else chosen)

    @action
    def all_evals(self, on: bool) -> None:
        """Take all evals in, or none."""
        self._set(evals_only=None if on else ())

    @action
    def take_runs(self, runs: int) -> None:
        """Put this number of runs per eval and side into the form."""
        self._set(runs=runs, looks="")

    @action
    def go_on(self, number: int) -> None:
        """Put the settings of an iteration that is not whole into the form."""
        found = next((rest for rest in self._unfinished if rest.number == number), None)
        if found is None:
            raise LookupError(f"iteration-{number} lacks nothing any more.")
        self._refill(found.form, found.fixed)

    @action
    def begin_anew(self) -> None:
        """Plan a new iteration, with the settings that the cell gave."""
        form, fixed = self._given
        self._refill(replace(form, iteration=max(iterations_of(self.home)) + 1), fixed)

    def _refill(self, form: Form, fixed: FixedArgs) -> None:
        """Put other settings of runs into the form."""
        self._launch.form, self._fixed = form, fixed
        self._launch.replan()

    # ── what is under way ────────────────────────────────────────────────────────────────────

    def progressed(self, at: WorkspaceTask[Any]) -> None:
        """Show how far it is; called from its thread."""
        self.tasks = {**self.tasks, RUN if isinstance(at, Running) else JUDGE: at}
        if isinstance(at, Running):
            self._ran = at
            if at.running:
                self._launch.take(None)  # it is another one when it has ended
                self._unfinished, self._answers = [], None
        self.show()

    # ── what is worked out ───────────────────────────────────────────────────────────────────

    def _changed(self) -> None:
        """The workspace was read anew: what depends on it is worked out when it is at rest."""
        if not self.busy:
            self._refresh_all()

    def _refresh_all(self) -> None:
        """Work everything out anew, from what is on disk."""
        self._launch.replan(patience=0.0)
        ws = self.source.ws

        def take_answers(found: list[Answer]) -> None:
            self._answers = found

        self._answering.begin(lambda: answer_newest(ws), take_answers, patience=0.0)
        if self._tab == JUDGE:
            self._refresh_tab(patience=0.0)
        form, fixed = self._given

        def look() -> list[Unfinished]:
            self._launch.planning.wait()
            return find_unfinished(self.home, form, fixed)

        def take(found: list[Unfinished]) -> None:
            self._unfinished = found
            if self._ran is None and self._launch.form is form:  # nobody has asked for more yet
                for rest in filter(self._is_left, found[:1]):
                    self.go_on(rest.number)

        self._looking.begin(look, take, patience=0.0)

    def _is_left(self, rest: Unfinished) -> bool:
        """Whether the newest iteration can be continued, but not with what the cell gave."""
        can = rest.preview.found is not None and rest.at_it is None
        own = self.plan is not None and self.plan.iteration == rest.number
        return can and not own and rest.number == max(iterations_of(self.home))

    def _refresh_tab(self, patience: float = PATIENCE) -> None:
        if self._tab == JUDGE and self._judging.plan is None and len(self._iterations) > 1:
            form = self._judging.form
            self._judging.form = replace(form, part=self._iterations[-1])  # less to pay
        super()._refresh_tab(patience)

    @property
    def _iterations(self) -> list[str]:
        """The iterations that there are runs of."""
        names = order_iterations(self.source.ws.polars("runs"))
        return [name for name in names if name != NO_ITERATION]

    # ── what is seen ─────────────────────────────────────────────────────────────────────────

    def draw_head(self) -> Child:
        """What is run, and where to."""
        name = self.plan.skill_name if self.plan is not None else Path(self._fixed.skill).name
        return [h("h3", f"Run {name}"), soft(f"Runs go to {place(self.home)}")]

    def draw_running(self, task: Any) -> Child:
        """The job or the judging while it goes on."""
        if isinstance(task, Running):
            return running_view(task)
        return asking_card(task, task.progress, JUDGING, "judgings")

    def draw_tab(self, task: Any) -> Child:
        """The form, the plan, and how the last job or judging ended."""
        return self._draw_run_tab(task) if self._tab == RUN else self._draw_judge_tab(task)

    def _draw_run_tab(self, task: Running | None) -> Child:
        preview = self._launch.plan
        cards = [
            form_view(self._launch, self._fixed, self._prices),
            self._launch.plan_card(
                lambda plan: self._draw_plan(plan, task),
                preview and first_evals_hint(preview, self._launch.form, self._fixed),
            ),
        ]
        return [
            ended_view(task) if task is not None else None,
            answers_view(self._answers),
            unfinished_view(self._unfinished, preview.found if preview is not None else None),
            h("div", cards, cls="sen-columns sen-launch"),
        ]

    def _draw_plan(self, preview: PlanPreview, task: Running | None) -> Child:
        # why runs errored is shown with the runs of the last job, if these are shown
        why = None if task is not None else errors_view(preview.errored)
        go_on = preview.todo and preview.continues
        label = f"Continue {go_on}" if go_on else "Start"
        return plan_view(preview.shown, [self._launch.row(preview, label), why])

    def _draw_judge_tab(self, task: WorkspaceTask[Any] | None) -> Child:
        launch = self._judging
        path, prices = launch.form.path_in(self.home), self._prices
        cards = [
            judge_form_view(launch, self._iterations, prices),
            launch.plan_card(
                lambda plan: [
                    judge_plan_view(plan.found, path, prices),
                    launch.row(plan, "Judge again"),
                ]
            ),
        ]
        return [
            judged_view(task) if task is not None else None,
            h("div", cards, cls="sen-columns sen-launch", key="judging"),
        ]

    @action
    def put_away(self) -> None:
        """Put away how the last job or judging ended."""
        self.tasks = {tab: task for tab, task in self.tasks.items() if tab != self._tab}

    # ── for code ─────────────────────────────────────────────────────────────────────────────

    @property
    def plan(self) -> Plan | None:
        """The plan that is shown or carried out; None if something stands in its way."""
        if self._ran is not None and self._ran.running:
            return self._ran.plan
        return self._launch.plan.found if self._launch.plan is not None else None

    @property
    def job(self) -> Job | None:
        """The job that runs, or the last one; None if there was none."""
        return self._ran.job if self._ran is not None else None

    def start(self) -> Job:
        """Start the plan that is shown, as the button does; returns at once.

        Raises:
            Refused: something stands in the way, or the plan is another one than was shown.
            OSError: the workspace cannot be written.
        """
        self._launch.start()
        self.show()
        assert self._ran is not None
        return self._ran.job


def _order_ticked(
    every: Iterable[str], ticked: Iterable[str], name: str, on: bool
) -> tuple[str, ...]:
    """Those that are ticked, in the order of all, once this one is or is not."""
    chosen = {*ticked, name} if on else {*ticked} - {name}
    return tuple(entry for entry in every if entry in chosen)
