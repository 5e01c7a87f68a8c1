"""`run_panel`: run a skill's evals from the notebook, with the price before and a way to stop."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from skill_eval_nb.running.options import price_table

from ..ui import Child, Node, action, h, quiet_action, style
from ..ui.paid import MAKING, Launch, plan_card
from ..ui.parts import place, soft, tabs
from ..ui.source import Source
from .form import (
    RUNNING,
    FixedArgs,
    Form,
    Proposal,
    Question,
    best_design,
    form_view,
    open_form,
    proposal_view,
    with_design,
)
from .judge import JUDGING, JudgeTab, Judging
from .plan import (
    PlanPreview,
    Unfinished,
    find_unfinished,
    first_evals_hint,
    home_of,
    make,
    plan_view,
    unfinished_view,
)
from .progress import (
    Observer,
    Running,
    WorkspaceTask,
    begin,
    ended_view,
    errors_view,
    running_view,
    watch,
)

if TYPE_CHECKING:
    from skill_eval_nb.running import Job, Plan

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


HERE = Path(__file__).parent
RUN, JUDGE = "run", JUDGING
NO_SIDE = {"name": "", "folder": ""}


class RunPanel(JudgeTab, Observer):
    """Plans runs and their price, starts them, shows how far they are, and goes on with them.

    What it does can be done in code as well: `sen.plan_runs`, `plan.start()`,
    `sen.judge_again`.
    """

    _css = style(HERE / "run.css")
    label = "Run evals"
    TABS: ClassVar = {RUN: "Run evals", JUDGE: "Judge stored outputs again"}

    def __init__(self, skill: Any, evals: Any, workspace: Any, given: dict[str, Any]) -> None:
        self.form, self._fixed = open_form(skill, evals, workspace, given)
        self._given = (self.form, self._fixed)
        self.home = home_of(self._fixed)
        self._prices = price_table(given.get("prices"), [])
        self._tab = RUN
        self._at: WorkspaceTask[Any] | None = None
        self._side = NO_SIDE
        self._launch = Launch(
            self,
            lambda: (self._part(RUNNING), self._fixed),
            lambda inputs: make(*inputs),
            self._start,
            planned=self._planned,
        )
        self.launches = {RUN: self._launch, JUDGE: self._begin_judge_tab()}
        self._unfinished: list[Unfinished] = []
        self._question = Question()
        self._proposal: Proposal | None = None
        self._proposed_for: tuple[str, ...] = ()
        self._ran: Running | None = None
        self._end_is_shown = False
        self._looking, self._proposing = self.background(), self.background()
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
        self._typed = frozenset()
        models = {"executor_model": mine.executor_model, "judge_model": mine.judge_model}
        self._set(executor=name, **models)

    @action
    def tick_configuration(self, name: str, on: bool) -> None:
        """Take a configuration in, or leave it out."""
        chosen = _order_ticked(self.form.sides, self.form.configurations, name, on)
        self._set(configurations=tuple(chosen))

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
        sides = {**self.form.sides, name: folder}
        chosen = _order_ticked(sides, self.form.configurations, name, on=True)
        self._side = NO_SIDE
        self._set(sides=sides, configurations=tuple(chosen))

    @property
    def _evals(self) -> tuple[str, ...]:
        """The ids of all evals of the suite."""
        preview = self._launch.plan
        suite = preview.suite if preview is not None else None
        return tuple(eval_.id for eval_ in suite.evals) if suite is not None else ()

    @action
    def tick_eval(self, eval_id: str, on: bool) -> None:
        """Take an eval in, or leave it out."""
        every = self._evals
        ticked = every if self.form.evals_only is None else self.form.evals_only
        chosen = tuple(_order_ticked(every, ticked, eval_id, on))
        self._set(evals_only=None if chosen == every else chosen)

    @action
    def all_evals(self, on: bool) -> None:
        """Take all evals in, or none."""
        self._set(evals_only=None if on else ())

    @action
    def ask(self, name: str, value: Any) -> None:
        """Change the question that the next best design is to answer."""
        now = self._question
        if name == "effect":
            if not isinstance(value, int | float) or not value > 0:
                raise ValueError(f"The difference to detect is a number above 0, not {value}.")
            value = value / 100 if now.is_rate else value
        lost = {"effect": None} if name == "metric" else {}
        self._question = replace(now, **lost | {name: value})
        self._propose()

    @action
    def take_design(self, evals: int, runs: int, judgings: int) -> None:
        """Put a design into the form."""
        self.form = with_design(self.form, (evals, runs, judgings), self._evals)
        self._launch.replan()

    @action
    def go_on(self, number: int) -> None:
        """Put the settings of an iteration that is not whole into the form."""
        found = next((rest for rest in self._unfinished if rest.number == number), None)
        if found is None:
            raise LookupError(f"iteration-{number} lacks nothing any more.")
        self._refill(found.preview.form, found.fixed)

    @action
    def begin_anew(self, number: int) -> None:
        """Leave an iteration as it is: the form is as the cell gave it, for the one after."""
        form, fixed = self._given
        self._refill(replace(form, iteration=number + 1), fixed)

    def _refill(self, form: Form, fixed: FixedArgs) -> None:
        """Put other settings of runs into the form."""
        changed = {name: getattr(form, name) for name in RUNNING}
        self._fixed, self.form = fixed, replace(self.form, **changed, unlimited=False)
        self._launch.replan()

    # ── what is under way ────────────────────────────────────────────────────────────────────

    def _start(self, preview: PlanPreview) -> None:
        plan, shown = preview.plan, preview.shown
        assert plan is not None
        self._at = self._ran = begin(self.home, lambda: Running(plan, shown))

    @property
    def busy(self) -> str | None:
        """What is under way; None where nothing is."""
        if self._at is None or not self._at.running:
            return None
        return f"{self.home.name} is busy: it is {self._at.doing}."

    # ── what is worked out ───────────────────────────────────────────────────────────────────

    def _look_anew(self) -> None:
        """Work everything out anew, from what is on disk."""
        self._launch.replan(patience=0.0)
        self._propose(patience=0.0)
        form, fixed = self._given

        def take(found: list[Unfinished]) -> None:
            self._unfinished = found
            if self._ran is None and self.form is form:  # nobody has asked for anything else yet
                for rest in found[:1]:
                    if rest.is_left and rest.preview.plan is not None and rest.at_it is None:
                        self.go_on(rest.number)

        self._looking.begin(lambda: find_unfinished(self.home, form, fixed), take, patience=0.0)

    def _planned(self) -> None:
        if self._launch.plan is not None and self._evals != self._proposed_for:
            self._propose(patience=0.0)

    def _propose(self, **patience: float) -> None:
        evals = self._proposed_for = self._evals
        ws, question = self.source.ws, self._question

        def take(found: Proposal | None) -> None:
            self._proposal = found

        self._proposing.begin(
            lambda: best_design(ws, self.home, question, len(evals)), take, **patience
        )

    # ── what is seen ─────────────────────────────────────────────────────────────────────────

    @property
    def plan(self) -> Plan | None:
        """The plan that is shown or carried out; None where something stands in its way."""
        if isinstance(self._at, Running) and self._at.running:
            return self._at.plan
        return self._launch.plan.plan if self._launch.plan is not None else None

    def _run_tab(self) -> Child:
        """The tab's content."""
        if isinstance(self._at, Running) and self._at.running:
            return running_view(self._at)
        preview = self._launch.plan
        ended = self._ran if self._end_is_shown else None
        form = form_view(
            self.form,
            self._fixed,
            preview.suite if preview is not None else None,
            preview.no_sandbox if preview is not None else None,
            self._launch.faults,
            self._prices,
            self._typed,
        )
        found = self._proposal
        if found is not None:
            found = replace(found, costs=preview is not None and preview.costs)
        proposal = proposal_view(found, busy=self._proposing.busy)
        return [
            ended_view(ended) if ended is not None else None,
            unfinished_view(self._unfinished, preview),
            h("div", form, self._plan_card(ended), proposal, cls="sen-columns sen-launch"),
        ]

    def _plan_card(self, ended: Running | None) -> Node:
        preview = self._launch.plan
        content: Child = h("p", MAKING, role="status")
        if preview is not None and preview.plan is None:
            hint = "Fix the errors in the form."
            content = [h("h4", "No plan yet"), h("p", hint), first_evals_hint(preview, self._fixed)]
        elif preview is not None and preview.plan is not None:
            # why runs errored stands beside the runs, where these are shown
            why = None if ended is not None else errors_view(preview.errored)
            go_on = preview.todo and preview.continues
            label = f"Continue {go_on}" if go_on else "Start"
            content = plan_view(preview.shown, [self._launch.row(label), why])
        stale = " sen-stale" * (preview is not None and self._launch.current is None)
        return plan_card(content, look=stale)

    @property
    def job(self) -> Job | None:
        """The job that runs, or the last one; None where there was none."""
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

    def stop(self, grace: float = 0.0) -> None:
        """Stop what is under way, as the button does; what is finished stays.

        Args:
            grace: seconds that what is in flight has to end by itself.
        """
        if self._at is not None:
            self._at.stop(grace)
        self.show()

    @action
    def press_stop(self, grace: float) -> None:
        """Stop what is under way."""
        self.stop(grace)

    @action
    def put_away(self) -> None:
        """Put away what is said of the last job or judging."""
        if self._tab == JUDGE:
            self._judged = None
        else:
            self._end_is_shown = False

    def progressed(self, at: WorkspaceTask[Any]) -> None:
        """Show how far it is; called from its thread."""
        self._at = at
        if isinstance(at, Running):
            self._ran, self._end_is_shown = at, True
            if at.running:
                self._launch.take(None)  # it is another one when it has ended
                self._unfinished = []
        elif isinstance(at, Judging):
            self._judged = at
        self.show()

    def _changed(self) -> None:
        """The workspace was read anew: what rests on it is worked out when it is at rest."""
        if self._at is None or not self._at.running:
            self._refresh_all()

    def _refresh_all(self) -> None:
        self._look_anew()
        self._refresh_tab(patience=0.0)

    def _refresh_tab(self, **patience: float) -> None:
        if self._tab == JUDGE and (self._at is None or not self._at.running):
            self._preview_judging(**patience)

    def view(self) -> Child:
        """A tab for runs, and one for judging again."""
        at, is_judge = self._at, self._tab == JUDGE
        content = self._judge_tab() if is_judge else self._run_tab()
        if at is not None and at.running and isinstance(at, Judging) is not is_judge:
            content = h("p", f"This workspace is busy: it is {at.doing}.", role="status")
        name = self.plan.skill_name if self.plan is not None else Path(str(self._fixed.skill)).name
        return [
            h("h3", f"Run {name}"),
            soft(f"Runs go to {place(self.home)}"),
            tabs(self.TABS, self._tab, ("tab",), content, label="what to do", page=self._page_id),
        ]


def _order_ticked(every: Iterable[str], ticked: Iterable[str], name: str, on: bool) -> list[str]:
    """Those that are ticked, in the order of all, once this one is or is not."""
    chosen = {*ticked, name} if on else {*ticked} - {name}
    return [entry for entry in every if entry in chosen]
