"""A plan in words: what its text and its notebook view both show."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .cells import Cell
    from .estimate import Part, Span
    from .planned import Plan, Todo

FIRST = 6
"""Runs of the order that are shown; the others are counted."""

LONGEST = 50
"""Characters of an eval's name in a line of the order."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the estimate: what it is about, and its figures as text."""

    what: str
    number: str
    calls: str
    tokens: str
    usd: str


@dataclass(frozen=True, slots=True)
class Facts:
    """What is shown of a plan.

    Attributes:
        title: what it is.
        place: where the files go, and why there.
        counts: figures with their nouns, for cards.
        size: in a sentence: how many runs there are, and what is missing.
        settings: label and text of everything that was settled.
        estimate: a line a configuration, judging, and all together.
        assumptions: what the estimate rests on.
        order: the first runs, in order, and how many come after.
        warnings: what to look at before starting.
        next: what to do next, and why.
    """

    title: str
    place: str
    counts: tuple[tuple[str, str], ...]
    size: str
    settings: tuple[tuple[str, str], ...]
    estimate: tuple[Line, ...]
    assumptions: tuple[str, ...]
    order: tuple[str, ...]
    warnings: tuple[str, ...]
    next: str


def facts(plan: Plan) -> Facts:
    """What is shown of a plan; the folder is looked at for what is missing."""
    todo = plan.todo
    usd = plan.estimate.usd
    return Facts(
        title=f"Plan: iteration-{plan.iteration} of {plan.skill_name}",
        place=f"{plan.folder} ({plan.why_iteration})",
        counts=(
            (f"{len(plan.cells):,}", "run" if len(plan.cells) == 1 else "runs"),
            (f"{sum(one.missing.execute for one in todo):,}", "to execute"),
            (f"{sum(len(one.missing.judgings) for one in todo):,}", "to judge"),
            (dollars(usd) if usd is not None else "unknown", "estimated"),
            *(((f"${plan.budget_usd:,.2f}", "budget"),) if plan.budget_usd is not None else ()),
        ),
        size=_size(plan, todo),
        settings=tuple(_settings(plan)),
        estimate=tuple(_estimate(plan)),
        assumptions=plan.estimate.assumptions,
        order=tuple(_order([one.cell for one in todo])),
        warnings=plan.warnings,
        next="plan.start() begins; nothing is spent before" if todo else "everything is done",
    )


def _size(plan: Plan, todo: tuple[Todo, ...]) -> str:
    runs = max((cell.run_number for cell in plan.cells), default=0)
    factors = (
        counted(len(plan.evals), "eval"),
        counted(len(plan.sides), "configuration"),
        counted(runs, "run"),
    )
    judged = f", {counted(plan.judgings, 'judging')} each" if plan.judge is not None else ""
    whole = f"{' × '.join(factors)} = {counted(len(plan.cells), 'run')}{judged}"
    if len(todo) == len(plan.cells) and all(one.missing.execute for one in todo):
        return whole
    done = len(plan.cells) - len(todo)
    return f"{whole}; {done:,} done, {len(todo):,} to do"


def _settings(plan: Plan) -> Iterator[tuple[str, str]]:
    for side in plan.sides:
        if side.skill is None:
            yield side.name, "no skill"
            continue
        files = counted(len(side.skill.files), "file")
        yield side.name, f"skill {side.skill.name}, {files} of {side.skill.folder}"
        if side.skill.left_out:
            yield "  left out", f"{_listed(side.skill.left_out, 8)} (no executor sees them)"
    yield "evals", f"{_listed([one.name for one in plan.evals], 8)} of {plan.suite.path}"
    yield "executor", f"{plan.executor.name}, model {plan.executor_model}"
    yield "judge", _judge(plan)
    limits = plan.limits
    money = f", ${limits.usd:,.2f}" if limits.usd is not None else ""
    times = f"{counted(limits.turns, 'turn')}, {limits.seconds:,.0f} s"
    yield "limits of a run", f"{times}, {limits.output_tokens:,} tokens an answer{money}"
    yield "sandbox", "none: commands are not kept in" if plan.sandbox == "none" else plan.sandbox
    yield "budget", _budget(plan)
    yield "at a time", f"{counted(plan.concurrency, 'step')}, order by seed {plan.seed}"


def _budget(plan: Plan) -> str:
    spent = plan.spent_usd
    if plan.budget_usd is None:
        return f"none; ${spent:,.2f} is spent" if spent else "none"
    return f"${plan.budget_usd:,.2f}" + (f", of which ${spent:,.2f} is spent" if spent else "")


def _judge(plan: Plan) -> str:
    if plan.judge is None:
        return "none"
    ways = [
        "a call a dimension" if plan.judge_per_dimension else "all dimensions in one call",
        *(["by message batches, at half the price"] if plan.judge_batch else []),
        "skipped where the gate fails" if plan.gate else "whether the gate fails or not",
    ]
    return f"model {plan.judge.model}, {', '.join(ways)}"


def _estimate(plan: Plan) -> Iterator[Line]:
    for part in plan.estimate.parts:
        if part.number:
            yield _line(part)
    whole = plan.estimate
    if sum(bool(part.number) for part in whole.parts) > 1:
        usd = dollars(whole.usd) if whole.usd is not None else "unknown"
        yield Line("together", "", span(whole.calls), span(whole.tokens), usd)


def _line(part: Part) -> Line:
    noun = "judging" if part.what == "judging" else "run"
    usd = dollars(part.usd) if part.usd is not None else "no price known"
    return Line(part.what, counted(part.number, noun), span(part.calls), span(part.tokens), usd)


def _order(cells: list[Cell]) -> Iterator[str]:
    for cell in cells[:FIRST]:
        name = cell.eval_name if len(cell.eval_name) <= LONGEST else f"{cell.eval_name[:LONGEST]}…"
        yield f"{name}, {cell.configuration}, run {cell.run_number}"
    if len(cells) > FIRST:
        yield f"… and {len(cells) - FIRST:,} more"


def _listed(names: Iterable[str], most: int) -> str:
    every = list(names)
    more = f" and {len(every) - most} more" if len(every) > most else ""
    return ", ".join(every[:most]) + more


def counted(number: int, noun: str) -> str:
    """A number with its noun.

    >>> counted(1, "run"), counted(2000, "run")
    ('1 run', '2,000 runs')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def span(both: Span) -> str:
    """From low to high, in short numbers.

    >>> from .estimate import Span
    >>> span(Span(36, 36)), span(Span(1234, 5_678_000))
    ('36', '1,234 – 5.7 M')
    """
    low, high = _short(both.low), _short(both.high)
    return low if low == high else f"{low} – {high}"


def dollars(both: Span) -> str:
    """From low to high in US dollars.

    >>> from .estimate import Span
    >>> dollars(Span(0, 0)), dollars(Span(0.004, 1.5)), dollars(Span(2, 2))
    ('$0.00', '$0.0040 – $1.50', '$2.00')
    """
    low, high = _usd(both.low), _usd(both.high)
    return low if low == high else f"{low} – {high}"


def _usd(value: float) -> str:
    return f"${value:,.2f}" if value == 0 or value >= 0.1 else f"${value:.4f}"


def _short(value: float) -> str:
    if value >= 1e6:
        return f"{value / 1e6:,.1f} M"
    return f"{value / 1e3:,.0f} k" if value >= 1e4 else f"{value:,.0f}"
