"""What a plan shows of itself: its facts in words, and the blocks that they stand in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from skill_eval_nb.text import brief, count, dollars, some
from skill_eval_nb.view import Block, Card, Cards, Items, Mark, Pairs, Table, Text, Title

from .estimate import Estimate
from .spec import Spec, Todo

HEADS = ("part", "how many", "calls", "tokens", "US dollars")

FIRST = 6
"""Runs of the order that are shown; the others are counted."""

LONGEST = 50
"""Characters of an eval's name in a line of the order."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What is shown of a plan.

    Attributes:
        title: what it is.
        place: where the files go, and why there.
        counts: figures with their nouns, for cards.
        size: in a sentence: how many runs there are, and what is missing.
        settings: label and text of everything that was settled.
        estimate: a line a configuration, judging, and all together, as of `HEADS`.
        assumptions: what the estimate rests on.
        order: the first runs, in order.
        more: how many come after them.
        warnings: what to look at before starting.
        next: what to do next, and why.
    """

    title: str
    place: str
    counts: tuple[tuple[str, str], ...]
    size: str
    settings: tuple[tuple[str, str], ...]
    estimate: tuple[tuple[str, str, str, str, str], ...]
    assumptions: tuple[str, ...]
    order: tuple[str, ...]
    more: int
    warnings: tuple[str, ...]
    next: str


def facts(plan: Spec, whole: Estimate, warnings: tuple[str, ...]) -> Facts:
    """What is shown of a plan; the folder is looked at for what is missing."""
    todo = plan.todo
    usd = whole.usd
    return Facts(
        title=f"Plan: iteration-{plan.iteration} of {plan.skill_name}",
        place=f"{plan.folder} ({plan.why_iteration})",
        counts=(
            (f"{len(plan.cells):,}", count(len(plan.cells), "run").partition(" ")[2]),
            (f"{sum(run.missing.execute for run in todo):,}", "to execute"),
            (f"{sum(len(run.missing.judgings) for run in todo):,}", "to judge"),
            (usd.dollars if usd is not None else "unknown", "estimated"),
            *(((dollars(plan.budget_usd), "budget"),) if plan.budget_usd is not None else ()),
        ),
        size=_size(plan, todo),
        settings=tuple(_settings(plan)),
        estimate=tuple(_estimate(whole)),
        assumptions=whole.assumptions,
        order=tuple(
            f"{brief(run.cell.eval_name, LONGEST)}, {run.cell.configuration}, run "
            f"{run.cell.run_number}"
            for run in todo[:FIRST]
        ),
        more=max(len(todo) - FIRST, 0),
        warnings=warnings,
        next="plan.start() begins; nothing is spent before" if todo else "everything is done",
    )


def _size(plan: Spec, todo: tuple[Todo, ...]) -> str:
    runs = max((cell.run_number for cell in plan.cells), default=0)
    factors = (
        count(len(plan.evals), "eval"),
        count(len(plan.sides), "configuration"),
        count(runs, "run"),
    )
    judged = f", {count(plan.judgings, 'judging')} each" if plan.judge is not None else ""
    whole = f"{' × '.join(factors)} = {count(len(plan.cells), 'run')}{judged}"
    if len(todo) == len(plan.cells) and all(run.missing.execute for run in todo):
        return whole
    done = len(plan.cells) - len(todo)
    return f"{whole}; {done:,} done, {len(todo):,} to do"


def _settings(plan: Spec) -> Iterator[tuple[str, str]]:
    for side in plan.sides:
        if side.skill is None:
            yield side.name, "no skill"
            continue
        files = count(len(side.skill.files), "file")
        yield side.name, f"skill {side.skill.name}, {files} of {side.skill.folder}"
        if side.skill.left_out:
            yield "  left out", f"{some(side.skill.left_out, 8)} (no executor sees them)"
    yield "evals", f"{some([eval_.name for eval_ in plan.evals], 8)} of {plan.suite.path}"
    yield "executor", f"{plan.executor.name}, model {plan.executor_model}"
    yield "judge", _judge(plan)
    limits = plan.limits
    money = f", {dollars(limits.usd)}" if limits.usd is not None else ""
    times = f"{count(limits.turns, 'turn')}, {limits.seconds:,.0f} s"
    yield "limits of a run", f"{times}, {limits.output_tokens:,} tokens an answer{money}"
    yield "sandbox", "none: commands are not kept in" if plan.sandbox == "none" else plan.sandbox
    yield "budget", _budget(plan)
    yield "at a time", f"{count(plan.concurrency, 'step')}, order by seed {plan.seed}"


def _budget(plan: Spec) -> str:
    spent = plan.spent_usd
    if plan.budget_usd is None:
        return f"none; {dollars(spent)} is spent" if spent else "none"
    return dollars(plan.budget_usd) + (f", of which {dollars(spent)} is spent" if spent else "")


def _judge(plan: Spec) -> str:
    if plan.judge is None:
        return "none"
    ways = [
        "a call a dimension" if plan.judge_per_dimension else "all dimensions in one call",
        *(["by message batches, at half the price"] if plan.judge_batch else []),
        "skipped where the gate fails" if plan.gate else "whether the gate fails or not",
    ]
    return f"model {plan.judge.model}, {', '.join(ways)}"


def _estimate(whole: Estimate) -> Iterator[tuple[str, str, str, str, str]]:
    parts = [part for part in whole.parts if part.number]
    for part in parts:
        number = count(part.number, "judging" if part.what == "judging" else "run")
        usd = part.usd.dollars if part.usd is not None else "no price known"
        yield part.what, number, str(part.calls), str(part.tokens), usd
    if len(parts) > 1:
        usd = whole.usd.dollars if whole.usd is not None else "unknown"
        yield "together", "", str(whole.calls), str(whole.tokens), usd


def blocks(shown: Facts) -> Iterator[Block]:
    """The facts in the order in which they are read: first what one decides by."""
    yield Title(shown.title, shown.place)
    yield Cards([Card(figure, noun) for figure, noun in shown.counts])
    yield Text(shown.size)
    warnings = [(Mark("warning", "look"), warning) for warning in shown.warnings]
    yield Table(("", ""), warnings, "Look at this before starting")
    yield Pairs(shown.settings, "What is run")
    if shown.estimate:
        yield Table(HEADS, shown.estimate, "Estimate, low to high", right=HEADS[1:])
    else:
        yield Text("nothing is missing that costs money.", "Estimate:")
    yield Items(shown.assumptions, soft=True)
    yield Items(shown.order, "Order", numbered=True, more=shown.more)
    yield Text(shown.next)
