"""`run_panel`: run a skill's evals from the notebook, with the price before and a way to stop."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from skill_eval_nb.models import Connection
from skill_eval_nb.models.stand_in import JUDGE as STAND_IN_JUDGE
from skill_eval_nb.models.stand_in import MODELS
from skill_eval_nb.running import judge_again
from skill_eval_nb.running.asking import AskingProgress
from skill_eval_nb.running.estimate import assumptions
from skill_eval_nb.running.judge_tasks import JudgedAgain
from skill_eval_nb.running.options import price_table, read_all
from skill_eval_nb.running.protocol import refuse
from skill_eval_nb.running.rejudging import FILE
from skill_eval_nb.running.spec import iterations_of
from skill_eval_nb.stats.values import order_iterations
from skill_eval_nb.text import clock, count, dollars
from skill_eval_nb.view import blocks_of
from skill_eval_nb.workspace import NO_ITERATION, NothingToLoad

from ..ui import Child, Node, action, h, style
from ..ui.paid import (
    HEADINGS,
    Launch,
    PaidForm,
    PaidPanel,
    Preview,
    asking_card,
    ended_card,
    form_field,
    models_with_prices,
    preview_dry_run,
)
from ..ui.parts import blocks_view, details, note, notice, short_path
from ..ui.source import PATIENCE, Source
from .plan import (
    BATCHES,
    FixedArgs,
    Form,
    Unfinished,
    find_unfinished,
    first_evals_hint,
    form_view,
    open_form,
    preview_plan,
    unfinished_view,
)
from .progress import (
    Running,
    WorkspaceTask,
    answer_newest,
    answers_view,
    begin_task,
    ended_view,
    errors_view,
    running_view,
    watch_workspace,
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

WHOLE = "all"
"""The choice of every iteration."""


@dataclass(frozen=True)
class JudgeForm(PaidForm):
    """What is to be judged again.

    Attributes:
        part: the iteration whose runs are judged, or WHOLE.

    The others are named as in `judge_again`.
    """

    part: str = form_field("Runs of", "choice", default=WHOLE)
    again: int | None = form_field("Judgings to add", default=1, least=1)
    judge_model: str | None = form_field("Judge's model", "model")
    batch: bool = form_field(BATCHES, "tick")
    concurrency: int | None = form_field("Concurrency", default=8, least=1)

    def path_in(self, home: Path) -> Path:
        """The folder of the runs."""
        return home if self.part == WHOLE else home / self.part


NONE_STORED = "there are no stored runs yet: run the evals first"
NONE_JUDGED = "None of these runs can be judged: see the reasons above."
JUDGING = "Judging stored outputs"


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
        self.home = read_all(skill, evals, workspace, [])[2]
        self.subject = self.home.name
        self._prices = price_table(given.get("prices"), [])
        self.models = models_with_prices(self._prices)
        self._tab = RUN
        self.tasks = {}
        self._launch = Launch(
            self,
            form,
            preview_plan,
            lambda preview: begin_task(self.home, lambda: Running(preview)),
            beside=lambda: (self._fixed,),
        )
        self._judging = Launch(
            self,
            JudgeForm(),
            partial(
                preview_dry_run,
                self._judge_again,
                find_complete=lambda found: None if found.n_missing else NONE_JUDGED,
            ),
            self._begin_judging,
            beside=lambda: (self._fixed,),
        )
        self.launches = {RUN: self._launch, JUDGE: self._judging}
        self._unfinished: list[Unfinished] = []
        self._answers: list[Answer] | None = None
        self._ran: Running | None = None
        self._looking, self._answering = self.add_background(), self.add_background()
        self.source = Source(self.home, self._refresh_if_idle)
        super().__init__()
        if (at := watch_workspace(self)) is not None:
            self.progressed(at)
        self._refresh_all()

    # ── the form ─────────────────────────────────────────────────────────────────────────────

    @action
    def tick_configuration(self, name: str, on: bool) -> None:
        """Take a configuration in, or leave it out."""
        form = self._launch.form
        self._change_form(configurations=_order_ticked(form.sides, form.configurations, name, on))

    @action
    def add_side(self, words: str) -> None:
        """Add another configuration, its name before its folder as NAME=FOLDER, and tick it."""
        name, _, folder = (part.strip() for part in words.partition("="))
        if not name or not folder:
            raise ValueError("Another configuration is NAME=FOLDER: the folder is its skill's.")
        form = self._launch.form
        sides = {**form.sides, name: folder}
        chosen = _order_ticked(sides, form.configurations, name, on=True)
        self._change_form(sides=sides, configurations=chosen)

    @action
    def tick_eval(self, eval_id: str, on: bool) -> None:
        """Take an eval in, or leave it out."""
        suite, only = self._launch.plan and self._launch.plan.suite, self._launch.form.evals_only
        every = tuple(eval_.id for eval_ in suite.evals) if suite is not None else ()
        chosen = _order_ticked(every, every if only is None else only, eval_id, on)
        self._change_form(evals_only=None if chosen == every else chosen)

    @action
    def all_evals(self, on: bool) -> None:
        """Take all evals in, or none."""
        self._change_form(evals_only=None if on else ())

    @action
    def take_runs(self, runs: int) -> None:
        """Put this number of runs per eval and side into the form."""
        self._change_form(runs=runs, looks="")

    @action
    def go_on(self, number: int) -> None:
        """Put the settings of an iteration that is not whole into the form."""
        found = next((rest for rest in self._unfinished if rest.number == number), None)
        if found is None:
            raise LookupError(f"iteration-{number} is complete: nothing is missing.")
        self._refill_form(found.form, found.fixed)

    @action
    def begin_anew(self) -> None:
        """Plan a new iteration, with the settings that the cell gave."""
        form, fixed = self._given
        self._refill_form(replace(form, iteration=max(iterations_of(self.home)) + 1), fixed)

    def _refill_form(self, form: Form, fixed: FixedArgs) -> None:
        """Put other settings of runs into the form."""
        self._launch.form, self._fixed = form, fixed
        self._launch.replan()

    # ── stored outputs judged again ──────────────────────────────────────────────────────────

    def _judge_again(self, form: JudgeForm, fixed: FixedArgs, **given: Any) -> JudgedAgain:
        """`judge_again`, as the form has it.

        Its connection is the given one; else the stand-in of the given executor judges, too.

        Raises:
            Refused: something is wrong with the form, or there is nothing to judge.
        """
        if self._prices is None:
            raise refuse("the price table cannot be read; see the other tab")
        connection = fixed.rest.get("connection")
        stand_in = getattr(fixed.executor, "stand_in", None)
        if connection is None and stand_in is not None and form.judge_model in (None, *MODELS):
            connection = Connection(stand_in=stand_in)
        names = ("again", "judge_model", "budget_usd", "batch", "concurrency")
        given |= {name: getattr(form, name) for name in names}
        given |= {"connection": connection, "prices": self._prices, "evals": fixed.evals}
        try:
            return judge_again(form.path_in(self.home), **given)
        except (FileNotFoundError, NothingToLoad) as error:
            raise refuse(NONE_STORED) from error

    def _begin_judging(self, preview: Preview) -> None:
        found: JudgedAgain = preview.found
        form, fixed = self._judging.inputs
        judge = partial(self._judge_again, replace(form, judge_model=found.model), fixed)
        first = AskingProgress(0, found.n_missing, 0, 0.0, "")
        doing = "judging stored outputs"
        begin_task(self.home, lambda: WorkspaceTask(self.home, doing, judge, first))

    # ── what is under way ────────────────────────────────────────────────────────────────────

    def progressed(self, at: WorkspaceTask[Any]) -> None:
        """Show how far it is; called from its thread."""
        self.tasks = {**self.tasks, RUN if isinstance(at, Running) else JUDGE: at}
        if isinstance(at, Running):
            self._ran = at
            if at.running:
                self._launch.show_plan(None)  # it is another one when it has ended
                self._unfinished, self._answers = [], None
        self.show()

    # ── what is worked out ───────────────────────────────────────────────────────────────────

    def _refresh_if_idle(self) -> None:
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

        def find_rest() -> list[Unfinished]:
            self._launch.planning.wait()
            return find_unfinished(self.home, form, fixed)

        def show_rest(found: list[Unfinished]) -> None:
            self._unfinished = found
            if self._ran is None and self._launch.form is form:  # nobody has asked for more yet
                for rest in filter(self._is_left, found[:1]):
                    self.go_on(rest.number)

        self._looking.begin(find_rest, show_rest, patience=0.0)

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
        return [h("h3", f"Run {name}"), note(f"Runs go to {short_path(self.home)}")]

    def draw_running(self, task: Any) -> Child:
        """The job or the judging while it goes on."""
        if isinstance(task, Running):
            return running_view(task)
        return asking_card(task, task.progress, JUDGING, "judgings")

    def draw_tab(self, task: Any) -> Child:
        """The form, the plan, and how the last job or judging ended."""
        return self._draw_run_tab(task) if self._tab == RUN else self._draw_judge_tab(task)

    def _draw_run_tab(self, task: Running | None) -> Child:
        launch, preview = self._launch, self._launch.plan
        hint = why = planned = go_on = None
        if preview is not None:
            hint, planned = first_evals_hint(preview, launch.form, self._fixed), preview.found
            go_on = preview.continues if preview.todo else None
            # why runs errored is shown with the runs of the last job, if these are shown
            why = None if task is not None else errors_view(preview.errored)
        label = f"Continue {go_on}" if go_on else "Start"
        return [
            ended_view(task) if task is not None else None,
            answers_view(self._answers),
            unfinished_view(self._unfinished, planned),
            launch.view("What to run", form_view(launch), why, label=label, instead=hint),
        ]

    def _draw_judge_tab(self, task: WorkspaceTask[Any] | None) -> Child:
        launch = self._judging
        found = launch.plan and launch.plan.found
        form = judge_form_view(launch, self._iterations)
        more = found and self._say_judging(found)
        return [
            judged_view(task) if task is not None else None,
            launch.view("What to judge again", form, more, label="Judge again"),
        ]

    def _say_judging(self, found: JudgedAgain) -> Iterator[Node]:
        """What else is to be known of judging runs again, beside its own blocks."""
        if found.estimate is None or not found.n_missing:
            return
        by = ", ".join(f"{count(n, 'judging')} by {name}" for name, n in found.before.items())
        so_far = f"So far: {by}." if by else "No judging names its judge."
        usd = found.estimate.usd
        yield h("p", f"Estimated: {usd.dollars if usd else 'no price known'}. {so_far}")
        if (self._judging.form.path_in(self.home) / FILE).is_file():
            yield notice("A batch is pending there: start with the same settings to collect it.")
        date = self._prices.date if self._prices is not None else ""
        rests = [h("li", words) for words in assumptions([found.estimate], "", date)]
        yield details("Price assumptions", h("ul", rests), key="assumptions")

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


NOTHING_IS_RUN = "Nothing is rerun: this adds new judgings of the stored outputs."


def judge_form_view(launch: Launch[Preview], iterations: Sequence[str]) -> Iterator[Child]:
    """What is to be judged again."""
    form, found = launch.form, launch.plan and launch.plan.found
    before = found.before if found is not None else {}
    usual = "as before"
    if found is not None and not form.judge_model:
        usual = f"{found.model} (as before)"
    parts = {WHOLE: "all iterations", **{name: name for name in iterations}}
    own = {name: name for name in (*before, STAND_IN_JUDGE)}
    first = [
        launch.control("part", options=parts),
        launch.control("judge_model", options={**own, **launch.panel.models}, placeholder=usual),
    ]
    numbers = map(launch.control, ("again", "budget_usd", "concurrency"))
    yield h("p", NOTHING_IS_RUN, cls="sen-soft")
    yield h("div", first, cls="sen-row")
    yield h("div", numbers, cls="sen-row")
    yield launch.control("batch")


def judged_view(at: WorkspaceTask[JudgedAgain]) -> Node:
    """How it ended."""
    now, result = at.progress, at.result
    partial = result is not None and result.status == "partial"
    lost = [*blocks_of(result)][1:] if result is not None else []  # after its counts
    command = h("code", f"sen.charts.variance_components(sen.load({short_path(at.home)!r}))")
    return ended_card(
        JUDGING,
        ("Incomplete", "odd") if partial else HEADINGS[at.status],
        f"{now.done:,} of {now.total:,} judgings, {dollars(now.spent_usd)}, {clock(at.seconds)}",
        h("p", at.message),
        blocks_view(lost),
        h("p", "Next: ", command, " shows how much of the noise is the judge's.", cls="sen-next"),
    )
