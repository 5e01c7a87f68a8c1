"""Stored outputs judged again: what there is, what it may cost, how far it is, its end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from skill_eval_nb.models import Connection, Prices
from skill_eval_nb.models.stand_in import JUDGE, MODELS
from skill_eval_nb.running import judge_again
from skill_eval_nb.running.asking import AskingProgress
from skill_eval_nb.running.estimate import assumptions
from skill_eval_nb.running.judge_tasks import JudgedAgain
from skill_eval_nb.running.protocol import refuse
from skill_eval_nb.running.rejudging import FILE
from skill_eval_nb.text import clock, count, dollars
from skill_eval_nb.workspace import NothingToLoad

from ..ui import Node, h
from ..ui.paid import (
    HEADINGS,
    Launch,
    PaidForm,
    Preview,
    ended_card,
    form_field,
    models_with_prices,
    preview_dry_run,
)
from ..ui.parts import details, figure, notice, place
from .plan import BATCHES, FixedArgs
from .progress import WorkspaceTask, begin

WHOLE = "all"
"""The choice of every iteration."""


@dataclass(frozen=True)
class JudgeForm(PaidForm):
    """What is to be judged again; a number that is None was left empty.

    Attributes:
        part: the iteration whose runs are judged, or WHOLE.

    The others are named as in `judge_again`.
    """

    part: str = form_field("Runs of", "choice", default=WHOLE)
    again: int | None = form_field("Judgings to add", default=1, least=1, needed=True)
    judge_model: str | None = form_field("Judge's model", "model")
    batch: bool = form_field(BATCHES, "tick")
    concurrency: int | None = form_field("Runs at a time", default=8, least=1, needed=True)

    def path_in(self, home: Path) -> Path:
        """The folder of the runs."""
        return home if self.part == WHOLE else home / self.part


NONE_STORED = "there are no stored runs yet: run the evals first"
NONE_JUDGED = "None of these runs can be judged: see the reasons above."


def judge_stored(
    prices: Prices | None, form: JudgeForm, home: Path, fixed: FixedArgs, **given: Any
) -> JudgedAgain:
    """`judge_again`, as the form has it.

    Its connection is the given one; else the stand-in of the given executor judges, too.

    Raises:
        Refused: something is wrong with the form, or there is nothing to judge.
    """
    if prices is None:
        raise refuse("no table of prices can be read; see the other tab")
    connection = fixed.rest.get("connection")
    stand_in = getattr(fixed.executor, "stand_in", None)
    if connection is None and stand_in is not None and form.judge_model in (None, *MODELS):
        connection = Connection(stand_in=stand_in)
    names = ("again", "judge_model", "budget_usd", "batch", "concurrency")
    given |= {name: getattr(form, name) for name in names}
    try:
        return judge_again(
            form.path_in(home), connection=connection, prices=prices, evals=fixed.evals, **given
        )
    except (FileNotFoundError, NothingToLoad) as error:
        raise refuse(NONE_STORED) from error


def preview_judging(prices: Prices | None, *inputs: Any) -> Preview:
    """What `judge_stored` would do; nothing is asked and nothing is written."""
    call = partial(judge_stored, prices)
    return preview_dry_run(call, inputs, lambda found: None if found.n_missing else NONE_JUDGED)


def begin_judging(
    prices: Prices | None, preview: Preview, form: JudgeForm, home: Path, fixed: FixedArgs
) -> None:
    """Begin what was shown."""
    found: JudgedAgain = preview.found
    judge = partial(judge_stored, prices, replace(form, judge_model=found.model), home, fixed)
    first = AskingProgress(0, found.n_missing, 0, 0.0, "")
    begin(
        home,
        lambda: WorkspaceTask(
            home,
            "judging stored outputs",
            lambda report, stop: judge(progress=report, stop=stop),
            first,
        ),
    )


NOTHING_IS_RUN = (
    "Nothing is run: the judge looks at the stored outputs once more. New judgings are "
    "added to those that are there, which tells how much of the noise is the judge's."
)


def judge_form_view(
    launch: Launch[Preview], iterations: Sequence[str], prices: Prices | None
) -> Node:
    """What is to be judged again."""
    form, found = launch.form, launch.plan and launch.plan.found
    before = found.before if found is not None else {}
    known = models_with_prices(
        dict.fromkeys([*before, JUDGE, *(prices.models if prices else ())]), prices
    )
    usual = "as before"
    if found is not None and not form.judge_model:
        usual = f"{found.model} (as before)"
    parts = {WHOLE: "all iterations", **{name: name for name in iterations}}
    first = [
        launch.control("part", options=parts),
        launch.control("judge_model", options=known, placeholder=usual),
    ]
    numbers = map(launch.control, ("again", "budget_usd", "concurrency"))
    return launch.form_card(
        "What to judge again",
        h("p", NOTHING_IS_RUN, cls="sen-soft"),
        h("div", first, cls="sen-row"),
        h("div", numbers, cls="sen-row"),
        launch.control("batch"),
    )


def judge_plan_view(found: JudgedAgain, path: Path, prices: Prices | None) -> Iterator[Node]:
    """What judging the runs below a path comes to."""
    yield h("h4", "What it comes to")
    part = found.estimate
    left = Counter(run.reason for run in found.left_out)
    lines = [h("li", f"{count(number, 'run')}: {why}") for why, number in left.items()]
    if lines:
        yield details(f"{count(left.total(), 'run')} left out", h("ul", lines), key="left")
    if part is None or not found.n_missing:
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
    if (path / FILE).is_file():
        yield notice("A batch is under way there: starting with the same settings collects it.")
    rests = assumptions([part], "", prices.date if prices is not None else "")
    content = h("ul", [h("li", words) for words in rests])
    yield details("What the price rests on", content, key="assumptions")


JUDGING = "Judging stored outputs"


def judged_view(at: WorkspaceTask[JudgedAgain]) -> Node:
    """How it ended."""
    now, result = at.progress, at.result
    partial = result is not None and result.status == "partial"
    message = at.message
    if at.status == "stopped":
        message = (
            "The judgings that were written stay, and count. Judging again adds others to them."
        )
    spent = now.spent_usd
    if result is not None and result.cost_usd is not None:
        spent = result.cost_usd
    _, *lost = repr(result).splitlines()  # after its counts
    command = h("code", f"sen.charts.variance_components(sen.load({place(at.home)!r}))")
    return ended_card(
        JUDGING,
        ("Not all of it", "odd") if partial else HEADINGS[at.status],
        f"{now.done:,} of {now.total:,} judgings, {dollars(spent)}, {clock(at.seconds)}",
        h("p", message),
        h("ul", [h("li", line) for line in lost]),
        h("p", "Next: ", command, " shows how much of the noise is the judge's.", cls="sen-next"),
    )
