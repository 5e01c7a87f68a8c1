"""The command `compare`: two sides of the same evals, blind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from .shell import PathArgument, app, loaded, show, tell, told
from .spending import BudgetOption, PricesOption, YesOption, ask_first

if TYPE_CHECKING:
    from skill_eval_nb.running.asking import AskingProgress

SIDE = (
    "A configuration (with_skill), an iteration (iteration-1), both (iteration-1/with_skill), or "
    "the path of another workspace."
)


@app.command()
@told
def compare(
    path: PathArgument,
    a: Annotated[str, typer.Argument(help=SIDE)],
    b: Annotated[str, typer.Argument(help="The same.")],
    model: Annotated[
        str | None, typer.Option(help="The model that compares; else the one that judged before.")
    ] = None,
    evals: Annotated[
        list[str] | None,
        typer.Option("--eval", metavar="EVAL", help="Only this eval; may be given again."),
    ] = None,
    repeat: Annotated[
        float, typer.Option(help="Share of the pairs that are judged twice in the same order.")
    ] = 0.2,
    seed: Annotated[int, typer.Option(help="Of the draws.")] = 0,
    budget_usd: BudgetOption = None,
    concurrency: Annotated[int, typer.Option(help="Comparisons at a time.")] = 8,
    prices: PricesOption = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the pairs and the price; ask nobody.")
    ] = False,
    yes: YesOption = False,
) -> None:
    """Compare stored runs of two sides, blind and in both orders.

    Nothing is run. Each comparison is kept in the workspace and never paid for again. Exit code
    1 where one is missing.
    """
    from skill_eval_nb.improving import compare as compare_sides
    from skill_eval_nb.models import load_prices

    ws = loaded(path)
    options = {
        "model": model,
        "evals": evals,
        "repeat": repeat,
        "seed": seed,
        "prices": load_prices(prices),
    }
    planned = compare_sides(ws, a, b, dry_run=True, **options)
    if dry_run:
        _show(planned)
        return
    ask_first(budget_usd, yes, planned.worst_usd if planned.n_missing else 0)
    compared = compare_sides(
        ws, a, b, budget_usd=budget_usd, concurrency=concurrency, progress=_tell, **options
    )
    _show(compared)
    raise typer.Exit(0 if compared.status == "done" else 1)


def _show(compared: object) -> None:
    show(compared)


def _tell(progress: AskingProgress) -> None:
    """Print how far comparing is."""
    from skill_eval_nb.text import dollars

    line = f"{progress.done} of {progress.total} comparisons, {dollars(progress.spent_usd)}"
    tell(f"{line}: {progress.what}")
