"""The command `improve analyse`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ..shell import PathArgument, loaded, show, tell, told
from ..spending import BudgetOption, PricesOption, YesOption, ask_first
from .app import improve

if TYPE_CHECKING:
    from skill_eval_nb.running.asking import AskingProgress


@improve.command()
@told
def analyse(
    path: PathArgument,
    comparison: Annotated[
        str | None, typer.Option(help="Only this one: its id, its pair or its file.")
    ] = None,
    sides: Annotated[
        str | None,
        typer.Option(help="A,B: what stands behind them, where comparisons do not say."),
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="The model that analyses; else the one that compared.")
    ] = None,
    budget_usd: BudgetOption = None,
    concurrency: Annotated[int, typer.Option(help="Analyses at a time.")] = 4,
    prices: PricesOption = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what is missing and the price; ask nobody.")
    ] = False,
    yes: YesOption = False,
) -> None:
    """Ask why the winners of blind comparisons won, and what to change in the skill.

    Each analysis is kept beside its comparison and never paid for again. Exit code 1 where one
    is missing.
    """
    from skill_eval_nb.improving.analysis import analyse
    from skill_eval_nb.models import load_prices

    ws = loaded(path)
    options = {
        "comparison": comparison,
        "sides": None if sides is None else _pair(sides),
        "model": model,
        "prices": load_prices(prices),
    }
    planned = analyse(ws, dry_run=True, **options)
    if dry_run:
        show(planned)
        return
    ask_first(budget_usd, yes, planned.worst_usd if planned.n_missing else 0)
    found = analyse(ws, budget_usd=budget_usd, concurrency=concurrency, progress=_tell, **options)
    show(found)
    raise typer.Exit(0 if found.status == "done" else 1)


def _pair(given: str) -> tuple[str, str]:
    a, comma, b = given.partition(",")
    if not comma:
        raise typer.BadParameter(f"`{given}` is not of the form A,B", param_hint="--sides")
    return a.strip(), b.strip()


def _tell(progress: AskingProgress) -> None:
    """Print how far it is."""
    from skill_eval_nb.text import dollars

    told = f"{progress.done} of {progress.total} analyses, {dollars(progress.spent_usd)}"
    tell(told)
