"""Stored outputs judged again: what there is, what it may cost, how far it is, its end."""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skill_eval_nb.documents import Judging as JudgingDocument
from skill_eval_nb.models import Connection, Prices
from skill_eval_nb.models.stand_in.settings import JUDGE, MODELS
from skill_eval_nb.running import judge_again
from skill_eval_nb.running.asking import AskingProgress
from skill_eval_nb.running.estimate import (
    Measured,
    Part,
    Use,
    assumptions,
    estimate_judging,
    estimate_runs,
    of_judging,
)
from skill_eval_nb.running.judge_tasks import (
    JudgedAgain,
    JudgeTask,
    LeftOut,
    work_of,
)
from skill_eval_nb.running.protocol import refuse
from skill_eval_nb.running.rejudging import FILE
from skill_eval_nb.running.stored_runs import StoredRun, stored_runs
from skill_eval_nb.running.suite import PlannedEval
from skill_eval_nb.stats.values import natural
from skill_eval_nb.text import clock, count, dollars
from skill_eval_nb.workspace import NothingToLoad

from ..ui import Child, Node, action, h
from ..ui.form import BUDGET, OTHER, Field, Fields, controls, faults_view, form_card, model, priced
from ..ui.parts import button, choose, details, figure, notice, place, waiting
from ..ui.source import Source
from ..ui.task import Launch, TaskPanel, plan_card, running_card, time_figures
from .form import FixedArgs, Folder
from .progress import HEADINGS, WorkspaceTask, begin, ended_card

if TYPE_CHECKING:
    from skill_eval_nb.tables import Workspace


WHOLE = "all"
"""The choice of every iteration."""

_MARKERS = ("", "grading.json", "timing.json", "judgings")
"""What changes in a run's folder when it is run or judged."""


@dataclass(frozen=True)
class StoredRuns:
    """Stored runs.

    Attributes:
        part: the iteration that they are of, or WHOLE.
        path: its folder.
        work: those that can be judged.
        left: the others.
        mark: another one where they have changed.
    """

    part: str
    path: Path
    work: tuple[JudgeTask, ...]
    left: tuple[LeftOut, ...]
    mark: int


def read_stored(home: Path, part: str, evals: Folder) -> StoredRuns:
    """Read them; of many runs this takes its time."""
    path = home if part == WHOLE else home / part
    runs = _runs(path, evals)
    mark = _mark(runs)  # before they are read: what changes meanwhile is another one
    work, left = work_of(runs)
    return StoredRuns(part, path, tuple(work), tuple(left), mark)


def _runs(path: Path, evals: Folder) -> list[StoredRun]:
    try:
        return stored_runs(path, evals=evals)
    except (FileNotFoundError, NothingToLoad):
        return []


def _mark(runs: Iterable[StoredRun]) -> int:
    return hash(tuple((run.folder, *_times(run.folder)) for run in runs))


def _times(folder: Path) -> Iterable[int | None]:
    for name in _MARKERS:
        try:
            yield (folder / name).stat().st_mtime_ns
        except OSError:
            yield None


@dataclass(frozen=True)
class JudgeForm:
    """What is to be judged again, by whom and how often.

    Attributes:
        part: an iteration's name, or WHOLE.
        again: judgings to add to each run.
        judge_model: None for the one that judged before.
        batch: whether by message batches.
        budget_usd: the most that may be spent.
        concurrency: runs at a time.
        unlimited: whether money may be spent without a budget.
    """

    part: str = WHOLE
    again: int | None = 1
    judge_model: str | None = None
    batch: bool = False
    budget_usd: float | None = None
    concurrency: int | None = 8
    unlimited: bool = False


FIELDS: Fields = {
    "again": Field("Judgings to add", least=1),
    "budget_usd": BUDGET,
    "concurrency": Field("Runs at a time", least=1),
    "batch": Field("Judge by message batches: half the price, and later", "tick"),
}


@dataclass(frozen=True)
class JudgePreview:
    """What judging again comes to.

    Attributes:
        form: what it was looked at for.
        stored: the runs.
        model: the judge's model; None where none is known.
        before: the models that have judged these runs, with how many judgings.
        left_out: why runs cannot be judged, with how many each.
        part: what the judgings may come to; None where something stands in their way.
        assumptions: what that rests on.
        costs: whether a real model is asked.
        faults: what stands in the way.
        batched: whether a batch is under way that will be collected.
    """

    form: JudgeForm
    stored: StoredRuns
    model: str | None
    before: Mapping[str, int]
    left_out: Mapping[str, int]
    part: Part | None
    assumptions: tuple[str, ...]
    costs: bool
    faults: tuple[str, ...]
    batched: bool
    complete: None = None

    @property
    def runs(self) -> int:
        """How many can be judged."""
        return len(self.stored.work)

    @property
    def token(self) -> str:
        """The same for what somebody who looks at it sees as one."""
        return f"{hash((self.form, self.model, self.stored.mark)):x}"


def preview_judging(
    stored: StoredRuns, form: JudgeForm, connection: Connection | None, prices: Prices
) -> JudgePreview:
    """What judging these runs again comes to; nothing is asked and nothing is written."""
    work = stored.work
    judgings = [judging for item in work for judging in item.before.judgings.values()]
    before = Counter(judging.judge_model for judging in judgings if judging.judge_model)
    stands_in = connection is not None and connection.stand_in is not None
    usual = JUDGE if stands_in else next(iter(before)) if len(before) == 1 else None
    model = form.judge_model or usual
    faults = tuple(_faults(form, model, stored, prices))
    part = _part(form, work, model, judgings, prices) if model and not faults else None
    rests = {"prices": f"prices of {prices.date}"}
    return JudgePreview(
        form=form,
        stored=stored,
        model=model,
        before=dict(before),
        left_out=Counter(skipped.reason for skipped in stored.left),
        part=part,
        assumptions=assumptions([part], "", rests) if part is not None else (),
        costs=model is not None and model not in MODELS and not stands_in,
        faults=faults,
        batched=(stored.path / FILE).is_file(),
    )


def _faults(
    form: JudgeForm, model: str | None, stored: StoredRuns, prices: Prices
) -> Iterator[str]:
    for name in ("again", "concurrency"):
        value = getattr(form, name)
        if not isinstance(value, int) or value < 1:
            given = "empty" if value is None else value
            yield f"{FIELDS[name].label} is {given}; it is a whole number of at least 1"
    if form.budget_usd is not None and not form.budget_usd > 0:
        yield f"{BUDGET.label} is {form.budget_usd:g}; it is a number above 0"
    if not stored.work and not stored.left:
        yield "there are no stored runs yet: run the evals first"
    elif not stored.work:
        yield "no stored run can be judged"
    elif model is None:
        yield (
            "Judge's model is not given, and these runs were not judged by one model: "
            "choose which is to judge"
        )
    elif form.budget_usd is not None and not prices.known(model):
        yield f"{BUDGET.label} is set, so the price must be known: {prices.unknown(model)}"


def _part(
    form: JudgeForm,
    work: Sequence[JudgeTask],
    model: str,
    judgings: list[JudgingDocument],
    prices: Prices,
) -> Part:
    """As judgings of this model came to, where enough are there; else as assumed."""
    uses = [use for item in work for use in [_use(item)] * (form.again or 1)]
    if form.batch:
        return estimate_judging(uses, prices, model, batch=True)
    mine = [
        judging
        for judging in judgings
        if judging.judge_model == model and judging.usage is not None
    ]
    past = Measured(
        tokens=[float(_tokens(judging)) for judging in mine],
        usd=[judging.cost_usd for judging in mine if judging.cost_usd is not None],
        calls=[float(judging.usage.calls or 1) for judging in mine if judging.usage is not None],
    )
    return estimate_runs("judging", uses, prices, model, past)


def _use(item: JudgeTask) -> Use:
    run, case = item.run, item.case
    assert run.eval is not None
    judged = tuple(case.expectations)
    planned = PlannedEval(run.eval_id, run.eval_name, "", run.eval, (), (), judged)
    return of_judging(planned, per_dimension=False)


def _tokens(document: JudgingDocument) -> int:
    used = document.usage
    if used is None:
        return 0
    parts = (used.input_tokens, used.output_tokens, used.cache_read_tokens, used.cache_write_tokens)
    return sum(part or 0 for part in parts)


RECENT = 6
"""Judgings that ended last and are shown."""


class Judging(WorkspaceTask[JudgedAgain]):
    """A judging of stored outputs."""

    doing = "judging stored outputs"
    progress: AskingProgress | None

    def __init__(
        self,
        home: Path,
        preview: JudgePreview,
        evals: Folder,
        connection: Connection | None,
        prices: Prices,
    ) -> None:
        """Begin it.

        Args:
            home: the workspace's folder.
            preview: what was looked at and shown.
            evals: the suite, where it lies elsewhere.
            connection: how the judge is reached, where that was given.
            prices: of its calls.
        """
        self.preview = preview
        self.recent: deque[str] = deque(maxlen=RECENT)
        form = preview.form
        given: dict[str, Any] = {
            "again": form.again,
            "judge_model": preview.model,
            "connection": connection,
            "prices": prices,
            "budget_usd": form.budget_usd,
            "batch": form.batch,
            "concurrency": form.concurrency,
            "evals": evals,
        }

        def judge(report: Callable[[AskingProgress], None], stop: threading.Event) -> JudgedAgain:
            def ended(now: AskingProgress) -> None:
                self.recent.appendleft(now.what)
                report(now)

            return judge_again(preview.stored.path, progress=ended, stop=stop, **given)

        super().__init__(home, judge, lambda now: now.done / now.total)

    @property
    def total(self) -> int:
        """Judgings to be done."""
        now = self.progress
        return self.preview.runs * (self.preview.form.again or 1) if now is None else now.total

    @property
    def results(self) -> int:
        """Judgings that ended."""
        return self.progress.done if self.progress is not None else 0

    @property
    def spent_usd(self) -> float:
        """US dollars, as far as prices are known."""
        if self.result is not None and self.result.cost_usd is not None:
            return self.result.cost_usd
        return self.progress.spent_usd if self.progress is not None else 0.0


def judge_form_view(
    form: JudgeForm,
    preview: JudgePreview | None,
    faults: Sequence[str],
    *,
    iterations: Sequence[str],
    prices: Prices | None,
    other: bool,
) -> Node:
    """What is to be judged again; `other` is whether there is room for any model's name."""
    before = preview.before if preview is not None else {}
    known = priced(dict.fromkeys([*before, JUDGE, *(prices.models if prices else ())]), prices)
    usual = "as before"
    if preview is not None and preview.model and not form.judge_model:
        usual = f"{preview.model} (as before)"
    parts = {WHOLE: "all iterations", **{name: name for name in iterations}}
    return form_card(
        "What to judge again",
        faults_view(faults),
        h(
            "p",
            "Nothing is run: the judge looks at the stored outputs once more. New judgings are "
            "added to those that are there, which tells how much of the noise is the judge's.",
            cls="sen-soft",
        ),
        h(
            "div",
            choose("Runs of", parts, form.part, ("judge_set", "part")),
            model(
                "Judge's model",
                known,
                form.judge_model,
                ("judge_model",),
                other=other,
                unsaid=usual,
            ),
            cls="sen-row",
        ),
        h(
            "div",
            controls(FIELDS, form, ("again", "budget_usd", "concurrency"), act="judge_set"),
            cls="sen-row",
        ),
        controls(FIELDS, form, ["batch"], act="judge_set"),
    )


def judge_preview_view(preview: JudgePreview | None, start: Child) -> Node:
    """What it comes to; `start` is what begins it."""
    content = (
        list(_preview(preview)) if preview is not None else waiting("Looking at what is stored")
    )
    head = h("h4", "What it comes to")
    return plan_card("what it comes to", [head, content, start])


def _preview(preview: JudgePreview) -> Iterator[Child]:
    part = preview.part
    if part is None:
        yield _left_out(preview.left_out)
        return
    usd = part.usd.dollars if part.usd is not None else "no price known"
    yield h(
        "div",
        figure(f"{preview.runs:,}", "run" if preview.runs == 1 else "runs"),
        figure(f"{part.number:,}", "judging" if part.number == 1 else "judgings"),
        figure(str(part.calls), "calls"),
        figure(usd, "estimated"),
        cls="sen-job-figures",
    )
    yield h("p", f"{preview.model} judges. {_history(preview.before)}")
    if preview.batched:
        yield notice("A batch is under way there: starting with the same settings collects it.")
    yield _left_out(preview.left_out)
    rests = h("ul", [h("li", assumption) for assumption in preview.assumptions])
    yield details("What the price rests on", rests, key="assumptions")


def _history(before: Mapping[str, int]) -> str:
    if not before:
        return "No judging says by whom it was before."
    found = ", ".join(f"{count(number, 'judging')} by {name}" for name, number in before.items())
    return f"So far there are {found}."


def _left_out(reasons: Mapping[str, int]) -> Node | None:
    if not reasons:
        return None
    lines = [h("li", f"{count(number, 'run')}: {why}") for why, number in reasons.items()]
    return details(f"{count(sum(reasons.values()), 'run')} left out", h("ul", lines), key="left")


def judging_view(at: Judging) -> Node:
    """How far it is."""
    now, budget = at.progress, at.preview.form.budget_usd
    of = "spent" if budget is None else f"spent of {dollars(budget)}"
    figures = [
        figure(f"{at.results:,} of {at.total:,}", "judgings ended"),
        figure(f"{now.failed:,}", "failed", "bad") if now and now.failed else None,
        figure(dollars(at.spent_usd), of),
        time_figures(at),
    ]
    recent = h("ul", [h("li", line, key=line) for line in at.recent], cls="sen-recent")
    return running_card(
        "Judging stored outputs",
        (at.results / at.total if at.total else 1.0, "judgings that have ended"),
        figures,
        stopping=at.stopping,
        doing="judging",
        stop=h("p", "Stopping: what was written stays.", role="status")
        if at.stopping
        else button("Stop", ("press_stop", 0.0)),
        below=[h("h5", "Ended last"), recent] if at.recent else None,
    )


def judged_view(at: Judging) -> Node:
    """What became of it."""
    partial = at.result is not None and at.result.status == "partial"
    heading = ("Not all of it", "odd") if partial else HEADINGS[at.status]
    message = at.message
    if at.status == "stopped":
        message = (
            "The judgings that were written stay, and count. Judging again adds others to them."
        )
    command = f"sen.charts.variance_components(sen.load({place(at.home)!r}))"
    return ended_card(
        "Judging stored outputs",
        heading,
        f"{at.results:,} of {at.total:,} judgings, {dollars(at.spent_usd)}, {clock(at.seconds)}",
        h("p", message),
        h("ul", [h("li", reason) for reason in _not_judged(at.result)]),
        h(
            "p",
            *("Next: ", h("code", command), " shows how much of the noise is the judge's."),
            cls="sen-next",
        ),
    )


def _not_judged(result: JudgedAgain | None) -> list[str]:
    """Each thing that was not judged, once, with how often."""
    if result is None:
        return []
    found = [
        *(f"failed: {failure.reason}" for failure in result.failed),
        *(f"left out: {run.reason}" for run in result.left_out),
        *(f"grading kept: {run.reason}" for run in result.kept),
        *([result.message] if result.message else []),
    ]
    return [f"{number:,} × {reason}" for reason, number in Counter(found).items()]


class JudgeTab(TaskPanel):
    """What a panel needs to judge stored outputs again."""

    home: Path
    source: Source
    _fixed: FixedArgs
    _prices: Prices | None
    _at: WorkspaceTask[Any] | None
    _busy: Callable[[], str | None]

    def _begin_judge_tab(self) -> None:
        self._judge_form = JudgeForm()
        self._stored: StoredRuns | None = None
        self._judged: Judging | None = None
        self._other_judge = False
        self._names: tuple[Workspace | None, list[str]] = (None, [])
        self._judge_launch: Launch[JudgePreview] = Launch(
            self._background,
            lambda: replace(self._judge_form, unlimited=False),
            self._judge_preview,
            self._judge,
            free=lambda: self._judge_form.unlimited or self._judge_form.budget_usd is not None,
            busy=self._busy,
        )

    @action
    def judge_set(self, name: str, value: Any) -> None:
        """Set what is to be judged again, how often and for how much."""
        if name not in JudgeForm.__dataclass_fields__:
            raise LookupError(f"There is no `{name}` to be set.")
        self._judge_form = replace(self._judge_form, **{name: value})
        if self._judge_launch.current is None:
            self._preview_judging()

    @action
    def judge_model(self, value: str) -> None:
        """Choose who judges, or that there is to be room for any name."""
        self._other_judge = value == OTHER
        if not self._other_judge:
            self._judge_form = replace(self._judge_form, judge_model=value.strip() or None)
            self._preview_judging()

    @action
    def press_judge(self, token: str) -> None:
        """Begin to judge what was shown with this token."""
        self._judge_launch.press(token)

    def _preview_judging(self, **patience: float) -> None:
        if self._judge_launch.plan is None and len(names := self._iterations()) > 1:
            self._judge_form = replace(self._judge_form, part=names[-1])  # less to pay
        self._judge_launch.replan(**patience)

    def _judge_preview(self, form: JudgeForm) -> JudgePreview:
        """What is stored is read where it has changed."""
        evals, known = self._fixed.evals, self._stored
        if (
            known is None
            or known.part != form.part
            or _mark(_runs(known.path, evals)) != known.mark
        ):
            known = self._stored = read_stored(self.home, form.part, evals)
        return preview_judging(known, form, self._judge_connection, self._judge_prices)

    @property
    def _judge_prices(self) -> Prices:
        if self._prices is None:
            raise refuse("no table of prices can be read; see the other tab")
        return self._prices

    @property
    def _judge_connection(self) -> Connection | None:
        """As it was given; the stand-in of an executor that was given answers as its judge."""
        given = self._fixed.rest.get("connection")
        stand_in = getattr(self._fixed.executor, "stand_in", None)
        model = self._judge_form.judge_model
        if given is None and stand_in is not None and (model is None or model in MODELS):
            return Connection(stand_in=stand_in)
        return given

    def _judge(self, preview: JudgePreview) -> None:
        args = (self._fixed.evals, self._judge_connection, self._judge_prices)
        self._at = self._judged = begin(self.home, lambda: Judging(self.home, preview, *args))

    def _judge_tab(self) -> Child:
        """The tab's content."""
        if isinstance(self._at, Judging) and self._at.running:
            return judging_view(self._at)
        if self._at is not None and self._at.running:
            return h("p", f"This workspace is busy: it is {self._at.doing}.", role="status")
        launch, form = self._judge_launch, self._judge_form
        current = launch.current
        form_card = judge_form_view(
            form,
            launch.plan,
            current.faults if current is not None else (),
            iterations=self._iterations(),
            prices=self._prices,
            other=self._other_judge,
        )
        free = (("judge_set", "unlimited"), form.unlimited)
        start = launch.row("press_judge", free, "Judge again")
        cards = [form_card, judge_preview_view(launch.plan, start)]
        return [
            judged_view(self._judged) if self._judged is not None else None,
            h("div", cards, cls="sen-columns sen-asking", key="asking"),
        ]

    def _iterations(self) -> list[str]:
        """The iterations that there are runs of."""
        ws = self.source.ws
        if self._names[0] is not ws:
            found = ws.polars("runs")["iteration"].unique().to_list()
            self._names = (ws, sorted((name for name in found if name != "none"), key=natural))
        return self._names[1]
