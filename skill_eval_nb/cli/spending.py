"""What the commands share that may cost money: their options, and the question before it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

BudgetOption = Annotated[
    float | None,
    typer.Option("--budget-usd", help="Stop before more than this is spent, in US dollars."),
]
PricesOption = Annotated[Path | None, typer.Option(help="A table of prices of your own.")]
YesOption = Annotated[
    bool, typer.Option("--yes", "-y", help="Spend money without a budget, and without asking.")
]
ExecutorOption = Annotated[
    str, typer.Option(help="offline, messages-api, claude-code, or one you installed.")
]


def ask_first(budget_usd: float | None, yes: bool, worst_usd: float | None = None) -> None:
    """Go on where nothing can be spent, a ceiling is given, or the user says so.

    Args:
        budget_usd: the ceiling.
        yes: whether the user said so beforehand.
        worst_usd: what it may cost at most; None where that is not known.
    """
    if worst_usd == 0 or budget_usd is not None or yes:
        return
    most = "" if worst_usd is None else f", ${worst_usd:.2f} at most,"
    if not typer.confirm(f"This costs money{most} and has no --budget-usd. Go on?"):
        raise typer.Exit(2)
