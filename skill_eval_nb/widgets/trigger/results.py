"""Runs of a set and searches for a better description: how far they are, what came of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from skill_eval_nb.text import count, dollars, percent
from skill_eval_nb.triggers import Attempt, Measured
from skill_eval_nb.triggers.measurement import MeasuringProgress
from skill_eval_nb.view import Mark, Text, blocks_of

from ..diff.skill import marked, spans
from ..ui import Child, Node, h
from ..ui.form import faults_view
from ..ui.parts import (
    blocks_view,
    button,
    details,
    diff_view,
    figure,
    notice,
    pill,
    place,
    soft,
    tick,
    waiting,
)
from ..ui.task import Task, likely, running_card, time_figures
from ..ui.track import Axis, interval_track
from .plan import Figures, Form, Results, RunPlan, SearchPlan, between

if TYPE_CHECKING:
    from pathlib import Path

    from skill_eval_nb.triggers import Optimised
    from skill_eval_nb.triggers.optimised import OptimisingProgress, QueryOutcome, Score, Step


SCORES = {
    "precision": "of what triggered, the share that should",
    "recall": "of what should trigger, the share that did",
    "f1": "both in one",
    "accuracy": "of all queries, the share that did right",
}
GROUPS = {True: "Should trigger", False: "Should not trigger"}
LEGEND = (
    "Each line goes from 0 to 100% of a query's runs, and is shaded where its rate should be; "
    "the bar is the 95% interval."
)
THRESHOLD = 0.5
"""The rate from which on a query triggers."""
REASONS = 8
"""Reasons of errored runs that are shown."""


def results_view(results: Results) -> Node:
    """The measurement."""
    return h(
        "section",
        h("h4", _title(results.measured)),
        [_doubt(doubt) for doubt in results.doubts],
        _scores(results.scores) if results.scores is not None else None,
        _errored(results.errored),
        soft(LEGEND),
        [_group(should, results) for should in GROUPS],
        aria_label="what was measured",
    )


def _title(measured: Measured) -> str:
    n_run = sum(attempt.outcome != "not run" for attempt in measured.attempts)
    of = "" if n_run == len(measured.attempts) else f" of {len(measured.attempts):,}"
    cost = "" if measured.cost_usd is None else f", {dollars(measured.cost_usd)}"
    return f"{n_run:,}{of} runs, by {measured.model} ({measured.executor}){cost}"


def _doubt(doubt: Figures) -> Node | None:
    if doubt["broken"]:
        return faults_view([doubt["message"]], title="The measurement is broken.")
    return notice(doubt["message"], key=f"doubt-{doubt['doubt']}")


def _scores(row: Figures) -> Node:
    tiles = []
    for name, means in SCORES.items():
        interval = between(row[f"{name}_low"], row[f"{name}_high"]) or "no interval"
        noun = f"{name.replace('f1', 'F1')}, {interval}"
        tiles.append(figure(percent(row[name]), noun, title=means))
    return h(
        "div",
        h("div", tiles, cls="sen-job-figures"),
        soft(
            f"By query: one triggers where at least {THRESHOLD:.0%} of its runs do; "
            f"{count(row['n_positive'], 'query')} that should, {row['n_negative']:,} that "
            "should not. Intervals (95%) are for other queries like these."
        ),
    )


def _errored(errored: Sequence[Attempt]) -> Node | None:
    if not errored:
        return None
    reasons = Counter(attempt.reason or "no reason is known" for attempt in errored)
    items = [
        h("li", f"{reason} ({number:,})", dir="auto")
        for reason, number in reasons.most_common(REASONS)
    ]
    head = f"{count(len(errored), 'run')} errored: they are in no figure."
    return notice(head, h("ul", items), key="errored")


def _group(should: bool, results: Results) -> Node | None:
    rows = [row for row in results.rates if row["should_trigger"] is should]
    if not rows:
        return None
    return h(
        "div",
        h("h5", f"{GROUPS[should]} ({len(rows):,})"),
        h("ul", [_lane(row, results) for row in rows], cls="sen-trig-lanes"),
        key=f"group-{should}",
    )


def _lane(row: Figures, results: Results) -> Node:
    outcomes = results.attempts[row["query"], row["should_trigger"]]
    attempts = [outcome for outcome in outcomes if outcome.outcome != "not run"]
    return h(
        "li",
        h("div", h("span", row["query"], dir="auto"), list(_pills(row)), cls="sen-trig-words"),
        _track(row),
        h("span", _counted(row), cls="sen-numbers sen-trig-count"),
        h("div", _behind(row, attempts), cls="sen-small sen-trig-behind") if attempts else None,
        key=f"{row['should_trigger']} {row['query']}",
    )


def _pills(row: Figures) -> Iterator[Child]:
    if row["near_miss"]:
        yield from (" ", pill("near miss"))
    if row["flips"]:
        yield from (" ", pill("flips", "odd"))
    for name, words in (("n_errored", "errored"), ("n_not_run", "not run")):
        if row[name]:
            yield from (" ", pill(f"{row[name]:,} {words}", "bad" if name == "n_errored" else ""))


RATES = Axis(0, 1, (0.0, 0.5, 1.0))


def _track(row: Figures) -> Node:
    """The rate with its interval, on a line whose wanted half is shaded."""
    rate, should = row["rate"], row["should_trigger"]
    if rate is None:
        return interval_track(RATES, None, (None, None), "")
    right, sure = row["triggers"] is should, between(row["low"], row["high"])
    words = f"triggers in {rate:.0%} of its runs" + (f", interval {sure}" if sure else "")
    return interval_track(
        RATES,
        rate,
        (row["low"], row["high"]),
        f"{words}, {'as it should' if right else 'not as it should'}",
        look="good" if right else "bad",
        zone=(THRESHOLD, 1) if should else (0, THRESHOLD),
    )


def _counted(row: Figures) -> str:
    hits, missed = row["n_triggered"], row["n_not_triggered"]
    return "–" if row["rate"] is None else f"{hits:,}/{hits + missed:,}"


def _behind(row: Figures, attempts: Sequence[Attempt]) -> Node:
    """What the model did instead; and the runs behind it, if one wants them."""
    instead = f"instead: {row['instead']}" if row["instead"] else count(len(attempts), "run")
    runs = h("ul", [h("li", list(_run(attempt)), dir="auto") for attempt in attempts])
    return details(h("span", instead, cls="sen-soft", dir="auto"), runs)


def _run(attempt: Attempt) -> Iterator[str]:
    yield f"run {attempt.run}: {attempt.outcome}"
    if attempt.reason:
        yield f", {attempt.reason}"
    if attempt.instead:
        yield f", {attempt.instead}"
    if attempt.seconds is not None:
        yield f", {attempt.seconds:.1f} s"
    if attempt.cost_usd:
        yield f", {dollars(attempt.cost_usd)}"


OUTCOMES = {"triggered": "", "not triggered": "", "errored": "bad"}


def run_plan_view(plan: RunPlan | None, form: Form) -> Child:
    """How many runs, and what they cost."""
    head = h("h4", "What will be done")
    if plan is None:
        return [head, waiting("The plan is being made")]
    measured = plan.measured
    if measured is None:
        return head
    due, total = measured.price, len(measured.attempts)
    there = total - due.attempts
    beside = ", ".join(measured.others) or "no other skill"
    left = "all are there already."
    if due.attempts:
        already = f" ({there:,} are there already)" if there else ""
        left = f"{count(due.attempts, 'run')} to make{already}, {count(due.calls, 'call')} at most."
    errored = sum(attempt.outcome == "errored" for attempt in measured.attempts)
    cost = likely(due.low_usd, due.high_usd, due.worst_usd)
    again = f"Make the {count(errored, 'run')} that errored again"
    return [
        head,
        h(
            "p",
            h("b", f"{count(len(measured.queries), 'query')} × {form.runs} = "),
            h("b", count(total, "run")),
            f": {left}",
        ),
        h("p", cost if due.attempts else "Nothing is missing that costs money."),
        tick(again, form.again, ("set", "again")) if errored else None,
        soft(f"Beside it: {beside}. Kept in {place(measured.folder)}."),
    ]


def measuring_view(task: Task[Any]) -> Node:
    """How far a run of the set is."""
    now: MeasuringProgress | None = task.progress
    promise = (
        "Stopping: nothing new is begun."
        if task.stopping
        else "Each run is written when it ends; what is there is not paid for again."
    )
    return running_card(
        "The queries are being run",
        _ended_runs(now),
        list(_figures(task, now)),
        stopping=task.stopping,
        below=[
            soft(promise, role="status"),
            _latest(now.latest) if now is not None else None,
        ],
    )


def _ended_runs(now: MeasuringProgress | None) -> tuple[float, str]:
    return (now.done / now.total if now is not None else 0.0), "runs that have ended"


def _figures(
    task: Task[Any], now: MeasuringProgress | None, spent_usd: float | None = None
) -> Iterator[Child]:
    """Outcomes, money and time; `spent_usd` where it is not that of the measurement."""
    if now is not None:
        yield figure(f"{now.done:,} of {now.total:,}", "runs ended")
        for outcome, kind in OUTCOMES.items():
            if number := now.outcomes.get(outcome, 0):
                yield figure(f"{number:,}", outcome, kind)
        spent_usd = now.spent_usd if spent_usd is None else spent_usd
    if spent_usd is not None:
        yield figure(dollars(spent_usd), "spent")
    yield time_figures(task)


def _latest(attempt: Attempt) -> Node:
    instead = f" ({attempt.instead})" if attempt.instead else ""
    return soft(f"Last: {attempt.outcome}{instead} – ", h("span", attempt.query.query, dir="auto"))


def ended_view(task: Task[Measured] | None) -> Node | None:
    """Why a run of the set did not come to its end; nothing where it did."""
    if task is None:
        return None
    message, measured = task.message, task.result
    if measured is not None and measured.status in ("partial", "stopped"):
        message = f"{measured.status}: {measured.message}"
    return notice(message, key="ended") if message else None


def optimised_view(found: Optimised, chosen: str | None) -> Node:
    """What came of a search; `chosen` is the description that would be written, if any."""
    texts = [block for block in blocks_of(found) if isinstance(block, Text | Mark)]
    broken = faults_view(found.doubts, title="The measurement is broken: nothing was looked for.")
    return h(
        "section",
        h("h4", "What was found"),
        broken if found.status == "broken" else blocks_view(texts),
        rounds_view(found.steps, chosen),
        aria_label="what was found",
    )


def rounds_view(steps: Sequence[Step], chosen: str | None = None) -> Child:
    """The rounds that there are; with `chosen`, one of them can be chosen to be written."""
    return [_step(step, steps[0].description, chosen) for step in steps]


SIDES = {"train": "train", "test": "held-out"}


def _step(step: Step, first: str, chosen: str | None) -> Node:
    present, is_mine = step.round == 1, step.description == chosen
    choose = button(
        "To be written" if is_mine else "Choose this one",
        ("choose", step.round),
        aria_pressed=is_mine,
        aria_label=f"Choose the description of round {step.round}",
    )
    _, words = marked(first, step.description)
    failed = sorted((row for row in step.asked if _fails(row)), key=lambda row: row.share or 0)
    wrong = h("ul", [_item(row) for row in failed])
    return h(
        "section",
        h(
            "div",
            h("b", f"Round {step.round}"),
            pill("as it was") if present else None,
            pill("chosen", "good") if step.is_best else None,
            h("span", count(len(step.description), "character"), cls="sen-soft sen-small"),
            cls="sen-row sen-middle",
        ),
        [_score(name, getattr(step, side)) for side, name in SIDES.items()],
        h(
            "p",
            step.description if present else spans(words, "new"),
            cls="sen-trig-described",
            dir="auto",
        ),
        h(
            "div",
            choose if chosen is not None else None,
            details("Queries that went wrong", wrong, key=f"wrong-{step.round}")
            if failed
            else None,
            cls="sen-row sen-middle",
        ),
        cls="sen-card",
        aria_label=f"round {step.round}",
        key=f"round-{step.round}",
    )


def _score(name: str, score: Score | None) -> Node:
    """The share of runs of one side that were right, with its interval."""
    words = f"{name} {'no score' if score is None else score}"
    value, ends = (None, (None, None)) if score is None else (score.score, (score.low, score.high))
    look = "with" if name == SIDES["test"] else ""
    return h(
        "div",
        h("span", words, cls="sen-numbers sen-small"),
        interval_track(RATES, value, ends, words, look=look, zone=(0, 1)),
        cls="sen-trig-score",
    )


def _fails(outcome: QueryOutcome) -> bool:
    return outcome.share is not None and outcome.share < 1


def _item(outcome: QueryOutcome) -> Node:
    should = "should" if outcome.query.should_trigger else "should not"
    side = "held-out" if outcome.query.split == "test" else "train"
    instead = f"; instead: {outcome.instead[0]}" if outcome.instead else ""
    return h(
        "li",
        outcome.query.query,
        h(
            "span",
            f" – {side}, {should}: right in {percent(outcome.share)} of its runs{instead}",
            cls="sen-soft",
        ),
        dir="auto",
    )


DOING = {
    "measuring": "measuring round {round}",
    "proposing": "a model proposes the description of round {round}",
    "measuring again": "measuring the winner on fresh runs",
}


def search_plan_view(plan: SearchPlan | None) -> Child:
    """How many runs at most, and what they cost."""
    head = h("h4", "What will be done")
    if plan is None:
        return [head, waiting("The plan is being made")]
    found = plan.optimised
    if found is None:
        return head
    return [
        head,
        h(
            "p",
            h("b", f"{count(found.n_train, 'query')} to learn from, {found.n_test:,} held out"),
            f", {count(found.runs, 'run')} of each: {count(found.n_runs, 'run')} at most, "
            "the last measurement of the winner among them.",
        ),
        h("p", likely(*found.estimate)),
        [soft(note, dir="auto") for note in found.notes],
        soft(
            f"Kept in {place(found.folder)}. What is there of it already is in this price, and is "
            "not paid for again."
        ),
    ]


def searching_view(task: Task[Any]) -> Node:
    """How far a search is, with the rounds that have ended."""
    now: OptimisingProgress | None = task.progress
    doing = "beginning" if now is None else DOING[now.doing].format(round=now.round)
    measuring = now.measuring if now is not None else None
    return running_card(
        "A better description is looked for",
        _ended_runs(measuring),
        list(_figures(task, measuring, now.spent_usd if now is not None else None)),
        stopping=task.stopping,
        below=[
            h("p", f"{doing[:1].upper()}{doing[1:]}", role="status"),
            rounds_view(now.steps) if now is not None else None,
        ],
    )


def writing_view(file: Path, diff: str, unfit: str | None) -> Node:
    """What would be written to SKILL.md, and the button that writes it.

    Args:
        file: SKILL.md.
        diff: what would change; empty where nothing would.
        unfit: why the description cannot be written; None where it can.
    """
    if unfit is not None:
        return notice(unfit, key="writing")
    if not diff:
        return notice(f"{place(file)} has this description already.", key="writing")
    return h(
        "section",
        h("h4", "Accept it"),
        h("p", "This would change in ", h("code", place(file)), ", and nothing else:"),
        diff_view(diff),
        h(
            "div",
            button("Write it to SKILL.md", ("write",), kind="main", key="write"),
            h("span", "The old file is kept beside it.", cls="sen-soft"),
            cls="sen-row sen-middle sen-start",
        ),
        cls="sen-card",
        aria_label="what would be written",
        key="writing",
    )
