"""Runs of a set and searches for a better description: how far they are, their results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from skill_eval_nb.running.asking import AskingProgress
from skill_eval_nb.tables.columns import iterate_rows
from skill_eval_nb.text import count, dollars, mark_changes, percent
from skill_eval_nb.triggers import Attempt, Measured
from skill_eval_nb.triggers.optimisation import OptimisingProgress
from skill_eval_nb.view import Mark, Text, blocks_of

from ..ui import Child, Node, h
from ..ui.paid import NOT_BEGUN, asking_card, faults_view
from ..ui.parts import (
    blocks_view,
    button,
    details,
    diff_view,
    note,
    notice,
    pill,
    short_path,
    spans,
)
from ..ui.source import Task
from ..ui.track import Axis, interval_track

if TYPE_CHECKING:
    from pathlib import Path

    from skill_eval_nb.triggers import Optimised
    from skill_eval_nb.triggers.measurement import QueryOutcome
    from skill_eval_nb.triggers.search import Score, Step

Figures = Mapping[str, Any]
"""A row of a table of `stats`."""
GROUPS = {True: "Should trigger", False: "Should not trigger"}
LEGEND = (
    "A query triggers where at least half of its runs do. Each line spans 0 to 100% of its "
    "runs and is shaded where its rate should be; the bar is the 95% interval."
)
THRESHOLD = 0.5
"""The rate from which on a query triggers."""


def results_view(measured: Measured) -> Node:
    """The measurement."""
    attempts: dict[tuple[str, bool], list[Attempt]] = {}
    for attempt in measured.attempts:
        if attempt.outcome != "not run":
            query = attempt.query.query, attempt.query.should_trigger
            attempts.setdefault(query, []).append(attempt)
    *blocks, _ = blocks_of(measured)  # the last one is the table of what is below
    rates = sorted(
        iterate_rows(measured.rates), key=lambda row: (row["right"] is None, row["right"] or 0.0)
    )
    groups = []
    for should, heading in GROUPS.items():
        rows = [row for row in rates if row["should_trigger"] is should]
        lanes = [_query_lane(row, attempts.get((row["query"], should), [])) for row in rows]
        head = h("h5", f"{heading} ({len(rows):,})")
        groups.append([head, h("ul", lanes, cls="sen-trig-lanes")] if rows else None)
    return h(
        "section",
        blocks_view(blocks),
        _errored_notice(measured),
        note(LEGEND),
        groups,
        aria_label="what was measured",
    )


def say_interval(low: float | None, high: float | None) -> str:
    """An interval; nothing if it is not known.

    >>> say_interval(0.2, 0.94), say_interval(None, None)
    ('20–94%', '')
    """
    return "" if low is None or high is None else f"{100 * low:.0f}–{high:.0%}"


def _errored_notice(measured: Measured) -> Node | None:
    reasons = [attempt.reason for attempt in measured.attempts if attempt.outcome == "errored"]
    if not reasons:
        return None
    why, times = Counter(reason or "unknown reason" for reason in reasons).most_common(1)[0]
    head = f"{count(len(reasons), 'run')} errored and count in no figure."
    return notice(head, f"Most often, {times:,} times: {why}", key="errored")


def _query_lane(row: Figures, attempts: Sequence[Attempt]) -> Node:
    instead = f"instead: {row['instead']}" if row["instead"] else count(len(attempts), "run")
    runs = h("ul", [h("li", _describe_run(attempt), dir="auto") for attempt in attempts])
    behind = details(h("span", instead, cls="sen-soft", dir="auto"), runs)
    hits, decided = row["n_triggered"], row["n_triggered"] + row["n_not_triggered"]
    counted = "–" if row["rate"] is None else f"{hits:,}/{decided:,}"
    return h(
        "li",
        h("div", h("span", row["query"], dir="auto"), _query_pills(row), cls="sen-trig-words"),
        _rate_track(row),
        h("span", counted, cls="sen-numbers sen-trig-count"),
        h("div", behind, cls="sen-small sen-trig-behind") if attempts else None,
        key=f"{row['should_trigger']} {row['query']}",
    )


def _query_pills(row: Figures) -> Iterator[Child]:
    if row["near_miss"]:
        yield from (" ", pill("near miss"))
    if row["flips"]:
        yield from (" ", pill("flips", "odd"))
    if row["n_errored"]:
        yield from (" ", pill(f"{row['n_errored']:,} errored", "bad"))
    if row["n_not_run"]:
        yield from (" ", pill(f"{row['n_not_run']:,} not run"))


RATES = Axis(0, 1, (0.0, 0.5, 1.0))


def _rate_track(row: Figures) -> Node:
    """The rate with its interval, on a line whose wanted half is shaded."""
    rate, should = row["rate"], row["should_trigger"]
    if rate is None:
        return interval_track(RATES, None, (None, None), "")
    right, sure = row["triggers"] is should, say_interval(row["low"], row["high"])
    words = f"triggers in {rate:.0%} of its runs" + (f", interval {sure}" if sure else "")
    words += ", as it should" if right else ", not as it should"
    look, zone = "good" if right else "bad", (THRESHOLD, 1) if should else (0, THRESHOLD)
    return interval_track(RATES, rate, (row["low"], row["high"]), words, look=look, zone=zone)


def _describe_run(attempt: Attempt) -> str:
    facts = [f"run {attempt.run}: {attempt.outcome}", attempt.reason, attempt.instead]
    if attempt.seconds is not None:
        facts.append(f"{attempt.seconds:.1f} s")
    if attempt.cost_usd:
        facts.append(dollars(attempt.cost_usd))
    return ", ".join(filter(None, facts))


def ended_view(task: Task[Any] | None) -> Node | None:
    """Why a run of the set or a search did not come to its end; nothing where it did."""
    if task is None:
        return None
    message, result = task.message, task.result
    if isinstance(result, Measured) and result.status in ("partial", "stopped"):
        message = f"{result.status}: {result.message}"
    return notice(message, key="ended") if message else None


def optimised_view(found: Optimised, chosen: str | None) -> Node:
    """The result of a search; `chosen` is the description that would be written, if any."""
    broken = faults_view(found.doubts, title="The measurement is broken, so no search was made.")
    texts = blocks_view(block for block in blocks_of(found) if isinstance(block, Text | Mark))
    return h(
        "section",
        h("h4", "What was found"),
        broken if found.status == "broken" else texts,
        rounds_view(found.steps, chosen),
        aria_label="what was found",
    )


def rounds_view(steps: Sequence[Step], chosen: str | None = None) -> Child:
    """The rounds that there are; with `chosen`, one of them can be chosen to be written."""
    return [_round_view(step, steps[0].description, chosen) for step in steps]


def _round_view(step: Step, first: str, chosen: str | None) -> Node:
    is_mine, label = step.description == chosen, f"Choose the description of round {step.round}"
    head = [
        h("b", f"Round {step.round}"),
        pill("current") if step.round == 1 else None,
        pill("chosen", "good") if step.is_best else None,
        h("span", count(len(step.description), "character"), cls="sen-soft sen-small"),
    ]
    words = spans(mark_changes(first, step.description)[1], "new")
    choose = button(
        "To be written" if is_mine else "Choose this one",
        ("choose", step.round),
        aria_pressed=is_mine,
        aria_label=label,
    )
    failed = [row for row in step.asked if row.share is not None and row.share < 1]
    wrong = h("ul", map(_outcome_item, sorted(failed, key=lambda row: row.share or 0)))
    what = details("Queries that went wrong", wrong, key=f"wrong-{step.round}")
    ways = [choose if chosen is not None else None, what if failed else None]
    return h(
        "section",
        h("div", head, cls="sen-row sen-middle"),
        _score_track("train", step.train, ""),
        _score_track("held-out", step.test, "with"),
        h("p", words, cls="sen-trig-described", dir="auto"),
        h("div", ways, cls="sen-row sen-middle"),
        cls="sen-card",
        aria_label=f"round {step.round}",
        key=f"round-{step.round}",
    )


def _score_track(name: str, score: Score | None, look: str) -> Node:
    """The share of runs of one side that were right, with its interval."""
    words = f"{name} {'no score' if score is None else score}"
    value, ends = (None, (None, None)) if score is None else (score.score, (score.low, score.high))
    track = interval_track(RATES, value, ends, words, look=look, zone=(0, 1))
    return h("div", h("span", words, cls="sen-numbers sen-small"), track, cls="sen-trig-score")


def _outcome_item(outcome: QueryOutcome) -> Node:
    should = "should" if outcome.query.should_trigger else "should not"
    side = "held-out" if outcome.query.split == "test" else "train"
    instead = f"; instead: {outcome.instead[0]}" if outcome.instead else ""
    right = f" – {side}, {should}: right in {percent(outcome.share)} of its runs{instead}"
    return h("li", outcome.query.query, h("span", right, cls="sen-soft"), dir="auto")


STEPS = {
    "measuring": "Measuring round {round}. ",
    "proposing": "A model proposes the description of round {round}. ",
    "measuring again": "Measuring the winner on fresh runs. ",
}


def running_view(task: Task[Any]) -> Node:
    """The progress of a measurement or a search: runs, money, time, finished rounds."""
    now: AskingProgress | OptimisingProgress = task.progress
    title = f"{task.doing[:1].upper()}{task.doing[1:]}"
    if isinstance(now, AskingProgress):
        return asking_card(task, now, title, "runs")
    runs = replace(now.measuring or NOT_BEGUN, spent_usd=now.spent_usd)
    doing = STEPS[now.doing].format(round=now.round)
    return asking_card(task, runs, title, "runs", doing, rounds_view(now.steps))


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
        return notice(f"{short_path(file)} already has this description.", key="writing")
    write = button("Write it to SKILL.md", ("write",), kind="main", key="write")
    kept = h("span", "The old file is kept next to it.", cls="sen-soft")
    return h(
        "section",
        h("h4", "Accept"),
        h("p", "This would change in ", h("code", short_path(file)), ", and nothing else:"),
        diff_view(diff),
        h("div", write, kept, cls="sen-row sen-middle sen-start"),
        cls="sen-card",
        aria_label="what would be written",
        key="writing",
    )
