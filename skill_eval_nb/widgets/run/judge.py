"""Stored outputs judged again: what there is, what it may cost, how far it is, its end."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skill_eval_nb.models import Connection, Prices
from skill_eval_nb.models.stand_in import JUDGE, MODELS
from skill_eval_nb.running import Refused, judge_again
from skill_eval_nb.running.asking import AskingProgress
from skill_eval_nb.running.estimate import assumptions
from skill_eval_nb.running.judge_tasks import JudgedAgain
from skill_eval_nb.running.protocol import refuse
from skill_eval_nb.running.rejudging import FILE
from skill_eval_nb.stats.values import natural
from skill_eval_nb.text import clock, count, dollars, in_terms
from skill_eval_nb.workspace import NothingToLoad

from ..ui import Child, Node, h
from ..ui.paid import (
    Launch,
    Models,
    PaidPanel,
    Preview,
    controls,
    empty,
    form_card,
    models_with_prices,
    plan_card,
)
from ..ui.parts import button, details, figure, notice, place, soft, waiting_note
from ..ui.source import Source
from ..ui.task import running_card, time_figures
from .form import FIELDS, REJUDGING, WHOLE, FixedArgs, Form
from .progress import HEADINGS, WorkspaceTask, begin, ended_card

if TYPE_CHECKING:
    from skill_eval_nb.tables import Workspace


TERMS = {
    "again is": f"{FIELDS['again'].label} is",
    "concurrency is": f"{FIELDS['rejudge_concurrency'].label} is",
    "budget_usd": FIELDS["rejudge_budget_usd"].label,
    "judge_model": FIELDS["rejudge_model"].label,
}
"""What is said of arguments in Python, and how this form says it."""
NONE_STORED = "there are no stored runs yet: run the evals first"
NONE_JUDGED = "None of these runs can be judged: see the reasons above."


@dataclass(frozen=True, kw_only=True)
class JudgePreview(Preview):
    """What judging again would do.

    Attributes:
        path: the folder that the runs are below.
        found: what a dry run gives; None where something stands in its way.
    """

    path: Path
    found: JudgedAgain | None = None


def preview_judging(path: Path, form: Form, given: Mapping[str, Any]) -> JudgePreview:
    """What `judge_again` would do with this; nothing is asked and nothing is written."""
    if faults := empty(form):
        return JudgePreview(path=path, faults=faults)
    try:
        found = judge_again(path, dry_run=True, **given)
    except (FileNotFoundError, NothingToLoad):
        return JudgePreview(path=path, faults=(NONE_STORED,))
    except Refused as error:
        return JudgePreview(path=path, faults=tuple(in_terms(why, TERMS) for why in error.faults))
    shown = form.rejudge_batch, found.model, found.n_missing, found.worst_usd, found.before
    return JudgePreview(
        path=path,
        found=found,
        costs=found.worst_usd != 0,
        token=f"{hash((path, repr(shown))):x}",
        complete=None if found.n_missing else NONE_JUDGED,
    )


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
    found = preview.found if preview is not None else None
    before = found.before if found is not None else {}
    known = models_with_prices(
        dict.fromkeys([*before, JUDGE, *(prices.models if prices else ())]), prices
    )
    usual = "as before"
    if found is not None and not form.rejudge_model:
        usual = f"{found.model} (as before)"
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


def judge_preview_view(preview: JudgePreview | None, prices: Prices | None, start: Child) -> Node:
    """What it comes to; `start` is what begins it."""
    content: Child = waiting_note("Looking at what is stored")
    if preview is not None:
        content = _preview_nodes(preview, prices)
    return plan_card([h("h4", "What it comes to"), content, start], "what it comes to")


def _preview_nodes(preview: JudgePreview, prices: Prices | None) -> Iterator[Child]:
    found = preview.found
    if found is None or found.estimate is None:
        return
    part = found.estimate
    left = Counter(run.reason for run in found.left_out)
    lines = [h("li", f"{count(number, 'run')}: {why}") for why, number in left.items()]
    left_out = details(f"{count(left.total(), 'run')} left out", h("ul", lines), key="left")
    if not found.n_missing:
        yield left_out if left else None
        return
    figures = [
        figure(f"{part.number:,}", "judging" if part.number == 1 else "judgings"),
        figure(str(part.calls), "calls"),
        figure(part.usd.dollars if part.usd is not None else "no price known", "estimated"),
        figure(dollars(found.worst_usd), "at most") if found.worst_usd is not None else None,
    ]
    yield h("div", figures, cls="sen-job-figures")
    by = ", ".join(f"{count(n, 'judging')} by {name}" for name, n in found.before.items())
    so_far = f"So far there are {by}." if by else "No judging says by whom it was before."
    yield h("p", f"{found.model} judges. {so_far}")
    if (preview.path / FILE).is_file():
        yield notice("A batch is under way there: starting with the same settings collects it.")
    yield left_out if left else None
    rests = assumptions([part], "", prices.date if prices is not None else "")
    content = h("ul", [h("li", words) for words in rests])
    yield details("What the price rests on", content, key="assumptions")


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
        return preview_judging(path, form, self._judging_options)

    @property
    def _judging_options(self) -> dict[str, Any]:
        """What `judge_again` is called with."""
        form = self.form
        return {
            "again": form.again,
            "judge_model": form.rejudge_model,
            "connection": self._judge_connection,
            "prices": self._judge_prices,
            "budget_usd": form.rejudge_budget_usd,
            "batch": form.rejudge_batch,
            "concurrency": form.rejudge_concurrency,
            "evals": self._fixed.evals,
        }

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
        path, found = preview.path, preview.found
        assert found is not None
        given = {**self._judging_options, "judge_model": found.model}
        self._at = self._judged = begin(
            self.home, lambda: Judging(self.home, path, found.n_missing, given)
        )

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
        cards = [
            form_card,
            judge_preview_view(launch.plan, self._prices, launch.row("Judge again")),
        ]
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
