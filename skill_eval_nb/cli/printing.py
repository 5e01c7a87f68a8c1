"""Problems, written files and diffs, as the shell prints them; what money is asked for."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.text import Text

from skill_eval_nb.text import count

from .shell import INTERRUPTED, Terminal, out, show, tell

if TYPE_CHECKING:
    from skill_eval_nb.running.asking import AskingProgress
    from skill_eval_nb.stats.verdict import Answer
    from skill_eval_nb.tables import Workspace


SHOWN = 3
"""So many problems of a kind are printed; more are counted."""

_TIMES = re.compile(r"\((\d+) times")

COLOURS = {"error": "red", "warning": "yellow", "info": "dim"}
OF_DIFFS = {"+": "green", "-": "red", "@": "dim"}
"""Colours of the lines of a diff, by their first character."""


def print_diff(diff: str) -> None:
    """Print what would change in a file."""
    for line in diff.splitlines():
        out.print(Text(line, style=OF_DIFFS.get(line[:1], "")))


def print_answers(ws: Workspace, answers: Sequence[tuple[str, Answer]]) -> None:
    """Print two lines a comparison: its verdict or what it leans to, and the next step.

    Where nothing is compared, print why.
    """
    from skill_eval_nb.stats import deltas_by_eval
    from skill_eval_nb.stats.overview import say_how

    if not answers:
        reasons = [why for why in deltas_by_eval(ws)["unpaired"] if why]
        why = reasons[0] if reasons else "no run has a pass rate"
        out.print(Text(f"Nothing to compare: {why}.", style="bold"))
    for title, answer in answers[:SHOWN]:
        out.print(Text(f"{title}{answer.short}", style="bold"))
        for words, command in say_how(ws, answer, named=False)[:1]:
            out.print(Text(f"{words} {command}".rstrip()))
    if len(answers) > SHOWN:
        more = count(len(answers) - SHOWN, "more comparison")
        out.print(f"… and {more}: report.html has them all.")


ANSWERED = (
    *("workspace", "skill", "iteration", "executor_model", "harness", "configuration", "baseline"),
    *("metric", "scope", "verdict", "reason", "estimate", "low", "high", "p"),
    *("lean", "lean_low", "lean_high", "improved", "n_evals", "n_runs", "n_runs_baseline"),
    "next_step",
)
"""Columns of `deltas` that --json has of a comparison, beside the `command` of its next step."""


def list_answers(ws: Workspace, answers: Iterable[tuple[str, Answer]]) -> list[dict[str, Any]]:
    """A row a comparison and scope, as --json has them, what comes first before the other."""
    from skill_eval_nb.stats.overview import say_how

    rows = []
    for _, answer in answers:
        steps = zip(answer.next_steps, say_how(ws, answer, named=False), strict=True)
        commands = {row["scope"]: command or None for (_, row), (_, command) in steps}
        for row, *_ in answer.claims:
            command = {"command": commands.get(row["scope"])}
            rows.append({name: row[name] for name in ANSWERED} | command)
    return rows


def print_written(written: Iterable[Path]) -> None:
    """Print what a conversion could not hold, and the files that were written."""
    print_losses(written)
    for file in written:
        out.print(Text(f"wrote {file}"))


def print_losses(written: Iterable[Path], console: Terminal = out) -> None:
    """Print what a conversion could not hold."""
    for loss in counted_lines(getattr(written, "losses", ())):
        console.print(Text(f"not kept: {loss.removeprefix('left out: ')}", style="yellow"))


def counted_lines(lines: Iterable[str]) -> list[str]:
    """Lines of which those that differ in their place alone stand once, with their number.

    >>> counted_lines(["$.runs[0]: left out", "$.runs[1]: left out", "$.notes: left out"])
    ['$.runs[0]: left out (and 1 more like it)', '$.notes: left out']
    """
    alike: dict[str, list[str]] = {}
    for line in lines:
        place, colon, what = line.partition(": ")
        kind = re.sub(r"\[[^]]*\]|\d+", "", place) if place.startswith("$") else ""
        alike.setdefault(f"{kind}{colon}{what}", []).append(line)
    more = "{} (and {} more like it)"
    return [
        first if not others else more.format(first, len(others))
        for first, *others in alike.values()
    ]


def _one_line(text: str) -> str:
    """A text whose ends of lines look like no line of ours."""
    return text.replace("\n", "\\n")


def print_problems(
    problems: Iterable[Any], *, weighed: bool = False, console: Terminal = out
) -> None:
    """Print problems by kind, the worst first, and how many there are of each severity.

    Args:
        problems: what to print.
        weighed: whether a line that stands for many counts as so many, and each says its own.
        console: where to.
    """
    order = list(COLOURS)
    ordered = sorted(problems, key=lambda problem: order.index(problem.severity))
    kinds: dict[tuple[Any, ...], list[Any]] = {}
    for problem in ordered:
        own = problem if weighed else None
        kinds.setdefault((problem.severity, problem.code, own), []).append(problem)
    for (severity, code, _), same in kinds.items():
        for problem in same[:SHOWN]:
            line = Text().append(severity, style=COLOURS[severity])
            line.append(f" {_one_line(problem.path)}")
            if problem.where:
                line.append(f" {_one_line(problem.where)}", style="bold")
            console.print(line.append(f": {_one_line(problem.message)} [{code}]"))
        if len(same) > SHOWN:
            line = Text().append(severity, style=COLOURS[severity])
            more = f" … and {len(same) - SHOWN} more of this kind; --json lists all [{code}]"
            console.print(line.append(more))
    counts: Counter[str] = Counter()
    for problem in ordered:
        times = _TIMES.search(problem.message) if weighed else None
        counts[problem.severity] += int(times[1]) if times else 1
    ends = {severity: "" if counts[severity] == 1 else "s" for severity in order}
    words = [f"{counts[severity]} {severity}{ends[severity]}" for severity in ("error", "warning")]
    console.print(", ".join([*words, f"{counts['info']} for information"]))


def ask_first(
    budget_usd: float | None, yes: bool, worst_usd: float | None = None, *, keyed: bool = True
) -> None:
    """Go on if nothing can be spent, a ceiling is given, or the user says so.

    Args:
        budget_usd: the ceiling.
        yes: whether the user said so beforehand.
        worst_usd: what it may cost at most; None if that is not known.
        keyed: whether it takes the key of the API.

    Raises:
        Refused: money may be spent, and there is no key to spend it with.
    """
    from skill_eval_nb.models import Connection
    from skill_eval_nb.running.protocol import refuse

    if worst_usd == 0:
        return
    if keyed and (why := Connection().why_not()):
        raise refuse(why)
    if budget_usd is not None or yes:
        return
    most = "" if worst_usd is None else f", ${worst_usd:.2f} at most,"
    try:
        agreed = typer.confirm(f"This costs money{most} and has no --budget-usd. Continue?")
    except typer.Abort as error:
        if isinstance(error.__context__, KeyboardInterrupt):
            raise typer.Exit(INTERRUPTED) from None
        raise
    if not agreed:
        raise typer.Exit(2)


def price_first(
    ask: Callable[..., Any], budget_usd: float | None, *, dry_run: bool, yes: bool
) -> None:
    """Price what models are to answer, and unless that is all, ask them.

    Raises:
        Exit: they were asked; with 1 where something is missing.
    """
    planned = ask(dry_run=True)
    if dry_run:
        show(planned)
        return
    ask_first(budget_usd, yes, planned.worst_usd if planned.n_missing else 0)
    found = ask(progress=tell_spent)
    show(found)
    raise typer.Exit(0 if found.status == "done" else 1)


def tell_spent(progress: AskingProgress) -> None:
    """Say on a terminal how far asking is, and what it has cost."""
    from skill_eval_nb.text import dollars

    line = f"{progress.done} of {progress.total}, {dollars(progress.spent_usd)}"
    tell(f"{line}: {progress.what}")
