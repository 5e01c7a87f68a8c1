"""Stored outputs judged again: what there is, what it may cost, how far it is, its end."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from skill_eval_nb.documents import Judging as JudgingDocument
from skill_eval_nb.models import Connection, Prices
from skill_eval_nb.models.stand_in import JUDGE, MODELS
from skill_eval_nb.running import judge_again
from skill_eval_nb.running.asking import AskingProgress
from skill_eval_nb.running.estimate import (
    CostPart,
    PastRuns,
    assumptions,
    estimate_runs,
    of_judging,
)
from skill_eval_nb.running.judge_tasks import JudgedAgain, JudgeTask, LeftOut, work_of
from skill_eval_nb.running.protocol import refuse
from skill_eval_nb.running.rejudging import FILE
from skill_eval_nb.running.stored_runs import StoredRun, stored_runs
from skill_eval_nb.running.suite import PlannedEval
from skill_eval_nb.stats.values import natural
from skill_eval_nb.text import clock, count, dollars
from skill_eval_nb.workspace import NothingToLoad

from ..ui import Child, Node, h
from ..ui.form import Models, controls, form_card, models_with_prices
from ..ui.paid import Launch, PaidPanel, Preview, plan_card
from ..ui.parts import button, details, figure, notice, place, soft, waiting_note
from ..ui.source import Source
from ..ui.task import running_card, time_figures
from .form import FIELDS, REJUDGING, WHOLE, FixedArgs, Folder, Form
from .progress import HEADINGS, WorkspaceTask, begin, ended_card

if TYPE_CHECKING:
    from skill_eval_nb.tables import Workspace


class StoredRuns(NamedTuple):
    """Stored runs.

    Attributes:
        path: the folder that they are below.
        work: those that can be judged.
        left: the others.
        mark: another one where they have changed.
    """

    path: Path
    work: Sequence[JudgeTask]
    left: Sequence[LeftOut]
    mark: int


def read_stored(path: Path, evals: Folder, known: StoredRuns | None = None) -> StoredRuns:
    """Read them; of many runs this takes its time, so those that are known still hold."""
    try:
        runs = stored_runs(path, evals=evals)
    except (FileNotFoundError, NothingToLoad):
        runs = []
    mark = hash((path, *((run.folder, *_change_times(run)) for run in runs)))
    if known is not None and known.mark == mark:
        return known
    return StoredRuns(path, *work_of(runs), mark)


def _change_times(run: StoredRun) -> Iterator[int | None]:
    """When it was run or judged last."""
    for name in ("", "grading.json", "timing.json", "judgings"):
        try:
            yield (run.folder / name).stat().st_mtime_ns
        except OSError:
            yield None


@dataclass(frozen=True, kw_only=True)
class JudgePreview(Preview):
    """What judging again comes to.

    Attributes:
        stored: the runs.
        model: the judge's model; None where none is known.
        before: the models that have judged these runs, with how many judgings.
        part: what the judgings may come to; None where something stands in their way.
        rests: what that rests on.
    """

    stored: StoredRuns
    model: str | None
    before: Mapping[str, int]
    part: CostPart | None
    rests: tuple[str, ...]


def preview_judging(
    stored: StoredRuns, form: Form, connection: Connection | None, prices: Prices
) -> JudgePreview:
    """What judging these runs again comes to; nothing is asked and nothing is written."""
    judgings = [judging for item in stored.work for judging in item.before.judgings.values()]
    before = Counter(judging.judge_model for judging in judgings if judging.judge_model)
    stands_in = connection is not None and connection.stand_in is not None
    usual = JUDGE if stands_in else next(iter(before)) if len(before) == 1 else None
    model = form.rejudge_model or usual
    faults = tuple(_faults(form, model, stored, prices))
    part = _part(form, stored.work, model, judgings, prices) if model and not faults else None
    return JudgePreview(
        stored=stored,
        model=model,
        before=dict(before),
        part=part,
        rests=() if part is None else tuple(assumptions([part], "", prices.date)),
        costs=model is not None and model not in MODELS and not stands_in,
        faults=faults,
        token=f"{hash((form.part, form.again, form.rejudge_batch, model, stored.mark)):x}",
    )


def _faults(form: Form, model: str | None, stored: StoredRuns, prices: Prices) -> Iterator[str]:
    for name in ("again", "rejudge_concurrency"):
        value = getattr(form, name)
        if not isinstance(value, int) or value < 1:
            given = "empty" if value is None else value
            yield f"{FIELDS[name].label} is {given}; it is a whole number of at least 1"
    budget, label = form.rejudge_budget_usd, FIELDS["rejudge_budget_usd"].label
    if budget is not None and not budget >= 0:
        yield f"{label} is {budget:g}; it is a number of at least 0"
    if not stored.work and not stored.left:
        yield "there are no stored runs yet: run the evals first"
    elif not stored.work:
        yield "no stored run can be judged"
    elif model is None:
        yield (
            "Judge's model is not given, and these runs were not judged by one model: "
            "choose which is to judge"
        )
    elif budget is not None and not prices.known(model):
        yield f"{label} is set, so the price must be known: {prices.unknown(model)}"


def _part(
    form: Form,
    work: Sequence[JudgeTask],
    model: str,
    judgings: list[JudgingDocument],
    prices: Prices,
) -> CostPart:
    """As judgings of this model came to, where enough are there; else as assumed."""
    uses = []
    for run, case in ((item.run, item.case) for item in work):
        assert run.eval is not None
        judged = tuple(case.expectations)
        planned = PlannedEval(run.eval_id, run.eval_name, "", run.eval, (), (), judged)
        uses += [of_judging(planned, per_dimension=False)] * (form.again or 1)
    if form.rejudge_batch:
        return estimate_runs("judging", uses, prices, model, batch=True)
    mine = [judging for judging in judgings if judging.judge_model == model and judging.usage]
    used = [judging.usage for judging in mine if judging.usage is not None]
    parts = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
    past = PastRuns(
        tokens=[float(sum(getattr(usage, name) or 0 for name in parts)) for usage in used],
        usd=[judging.cost_usd for judging in mine if judging.cost_usd is not None],
        calls=[float(usage.calls or 1) for usage in used],
    )
    return estimate_runs("judging", uses, prices, model, past)


class Judging(WorkspaceTask[JudgedAgain]):
    """A judging of stored outputs."""

    doing = "judging stored outputs"
    progress: AskingProgress

    def __init__(self, home: Path, path: Path, total: int, given: Mapping[str, Any]) -> None:
        """Begin it.

        Args:
            home: the workspace's folder.
            path: of the runs.
            total: judgings to be done, about.
            given: what `judge_again` is called with.
        """
        self.budget_usd: float | None = given["budget_usd"]

        def judge_stored(
            report: Callable[[AskingProgress], None], stop: threading.Event
        ) -> JudgedAgain:
            return judge_again(path, progress=report, stop=stop, **given)

        first = AskingProgress(0, total, 0, 0.0, "")
        super().__init__(home, judge_stored, first)

    @property
    def results(self) -> int:
        """Judgings that ended."""
        return self.progress.done

    @property
    def spent_usd(self) -> float:
        """US dollars, as far as prices are known."""
        known = self.result.cost_usd if self.result is not None else None
        return self.progress.spent_usd if known is None else known


NOTHING_IS_RUN = (
    "Nothing is run: the judge looks at the stored outputs once more. New judgings are "
    "added to those that are there, which tells how much of the noise is the judge's."
)


def judge_form_view(
    form: Form,
    preview: JudgePreview | None,
    faults: Sequence[str],
    *,
    iterations: Sequence[str],
    prices: Prices | None,
    typed: Container[str],
) -> Node:
    """What is to be judged again; `typed` are fields of models with room for any name."""
    before = preview.before if preview is not None else {}
    known = models_with_prices(
        dict.fromkeys([*before, JUDGE, *(prices.models if prices else ())]), prices
    )
    usual = "as before"
    if preview is not None and preview.model and not form.rejudge_model:
        usual = f"{preview.model} (as before)"
    part = replace(FIELDS["part"], options={WHOLE: "all iterations", **{n: n for n in iterations}})
    models = Models(known, typed, {"rejudge_model": usual})
    first = [
        part.view(form.part, ("set", "part")),
        controls(form, ["rejudge_model"], models=models),
    ]
    numbers = controls(form, ("again", "rejudge_budget_usd", "rejudge_concurrency"))
    return form_card(
        "What to judge again",
        faults,
        h("p", NOTHING_IS_RUN, cls="sen-soft"),
        h("div", first, cls="sen-row"),
        h("div", numbers, cls="sen-row"),
        controls(form, ["rejudge_batch"]),
    )


def judge_preview_view(preview: JudgePreview | None, start: Child) -> Node:
    """What it comes to; `start` is what begins it."""
    content = (
        waiting_note("Looking at what is stored") if preview is None else _preview_nodes(preview)
    )
    return plan_card([h("h4", "What it comes to"), content, start], "what it comes to")


def _preview_nodes(preview: JudgePreview) -> Iterator[Child]:
    part, runs = preview.part, len(preview.stored.work)
    if part is not None:
        usd = part.usd.dollars if part.usd is not None else "no price known"
        figures = [
            figure(f"{runs:,}", "run" if runs == 1 else "runs"),
            figure(f"{part.number:,}", "judging" if part.number == 1 else "judgings"),
            figure(str(part.calls), "calls"),
            figure(usd, "estimated"),
        ]
        yield h("div", figures, cls="sen-job-figures")
        by = ", ".join(f"{count(n, 'judging')} by {name}" for name, n in preview.before.items())
        so_far = f"So far there are {by}." if by else "No judging says by whom it was before."
        yield h("p", f"{preview.model} judges. {so_far}")
        if (preview.stored.path / FILE).is_file():
            yield notice("A batch is under way there: starting with the same settings collects it.")
    if left := preview.stored.left:
        reasons = Counter(run.reason for run in left).items()
        lines = [h("li", f"{count(number, 'run')}: {why}") for why, number in reasons]
        yield details(f"{count(len(left), 'run')} left out", h("ul", lines), key="left")
    if part is not None:
        rests = h("ul", [h("li", words) for words in preview.rests])
        yield details("What the price rests on", rests, key="assumptions")


def judging_view(at: Judging) -> Node:
    """How far it is."""
    now, budget = at.progress, at.budget_usd
    figures = [
        figure(f"{now.done:,} of {now.total:,}", "judgings ended"),
        figure(f"{now.failed:,}", "failed", "bad") if now.failed else None,
        figure(dollars(at.spent_usd), f"spent of {dollars(budget)}" if budget else "spent"),
        time_figures(at),
    ]
    stopping = h("p", "Stopping: what was written stays.", role="status")
    return running_card(
        "Judging stored outputs",
        (now.share, "judgings that have ended"),
        figures,
        stopping=at.stopping,
        doing="judging",
        stop=stopping if at.stopping else button("Stop", ("press_stop", 0.0)),
        below=soft(f"Last: {now.what}") if now.what else None,
    )


def judged_view(at: Judging) -> Node:
    """What became of it."""
    now, result = at.progress, at.result
    partial = result is not None and result.status == "partial"
    message = at.message
    if at.status == "stopped":
        message = (
            "The judgings that were written stay, and count. Judging again adds others to them."
        )
    lost: Counter[str] = Counter()
    if result is not None:
        lost.update(f"failed: {failure.reason}" for failure in result.failed)
        lost.update(f"left out: {run.reason}" for run in result.left_out)
        lost.update(f"grading kept: {run.reason}" for run in result.kept)
        lost.update([result.message] if result.message else [])
    command = h("code", f"sen.charts.variance_components(sen.load({place(at.home)!r}))")
    return ended_card(
        "Judging stored outputs",
        ("Not all of it", "odd") if partial else HEADINGS[at.status],
        f"{now.done:,} of {now.total:,} judgings, {dollars(at.spent_usd)}, {clock(at.seconds)}",
        h("p", message),
        h("ul", [h("li", f"{number:,} × {reason}") for reason, number in lost.items()]),
        h("p", "Next: ", command, " shows how much of the noise is the judge's.", cls="sen-next"),
    )


JUDGING = "judge"
"""The tab."""


class JudgeTab(PaidPanel):
    """What a panel needs to judge stored outputs again."""

    home: Path
    source: Source
    form: Form
    _fixed: FixedArgs
    _prices: Prices | None
    _at: WorkspaceTask[Any] | None

    def _begin_judge_tab(self) -> Launch[JudgePreview]:
        self._stored: StoredRuns | None = None
        self._judged: Judging | None = None
        self._names: tuple[Workspace | None, list[str]] = (None, [])
        inputs = partial(self._part, REJUDGING)
        return Launch(self, inputs, self._judge_preview, self._judge, "rejudge_")

    def _preview_judging(self, **patience: float) -> None:
        launch = self.launches[JUDGING]
        if launch.plan is None and len(names := self._iterations()) > 1:
            self._set(part=names[-1])  # less to pay
        launch.replan(**patience)

    def _judge_preview(self, form: Form) -> JudgePreview:
        path = self.home if form.part == WHOLE else self.home / form.part
        self._stored = read_stored(path, self._fixed.evals, self._stored)
        return preview_judging(self._stored, form, self._judge_connection, self._judge_prices)

    @property
    def _judge_prices(self) -> Prices:
        if self._prices is None:
            raise refuse("no table of prices can be read; see the other tab")
        return self._prices

    @property
    def _judge_connection(self) -> Connection | None:
        """As it was given; the stand-in of an executor that was given answers as its judge."""
        given, model = self._fixed.rest.get("connection"), self.form.rejudge_model
        stand_in = getattr(self._fixed.executor, "stand_in", None)
        if given is None and stand_in is not None and (model is None or model in MODELS):
            return Connection(stand_in=stand_in)
        return given

    def _judge(self, preview: JudgePreview) -> None:
        form, path = self.form, preview.stored.path
        given = {
            "again": form.again,
            "judge_model": preview.model,
            "connection": self._judge_connection,
            "prices": self._judge_prices,
            "budget_usd": form.rejudge_budget_usd,
            "batch": form.rejudge_batch,
            "concurrency": form.rejudge_concurrency,
            "evals": self._fixed.evals,
        }
        total = len(preview.stored.work) * (form.again or 1)
        self._at = self._judged = begin(self.home, lambda: Judging(self.home, path, total, given))

    def _judge_tab(self) -> Child:
        """The tab's content."""
        if isinstance(self._at, Judging) and self._at.running:
            return judging_view(self._at)
        launch = self.launches[JUDGING]
        form_card = judge_form_view(
            self.form,
            launch.plan,
            launch.faults,
            iterations=self._iterations(),
            prices=self._prices,
            typed=self._typed,
        )
        cards = [form_card, judge_preview_view(launch.plan, launch.row("Judge again"))]
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
