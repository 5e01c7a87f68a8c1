"""The command `trigger-draft`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from ..shell import app, out, show, told
from ..spending import BudgetOption, PricesOption
from .measuring import OthersOption, SkillArgument, others_of


@app.command("trigger-draft")
@told
def draft(
    skill: SkillArgument,
    model: Annotated[str, typer.Option(help="The model that drafts.")],
    n: Annotated[int, typer.Option("--n", help="Queries to draft, half of each class.")] = 20,
    others: OthersOption = None,
    file: Annotated[
        Path | None,
        typer.Option("--out", help="Trigger set to add the queries to; it may be there already."),
    ] = None,
    budget_usd: BudgetOption = None,
    prices: PricesOption = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Ask nobody and write nothing; say the price.")
    ] = False,
) -> None:
    """Draft queries that should and should not trigger a skill, near misses above all.

    A model that costs something is asked only with --budget-usd. Exit code 1 where none were
    drafted.
    """
    from skill_eval_nb.models import load_prices
    from skill_eval_nb.triggers.attempt import read_offer
    from skill_eval_nb.triggers.draft import draft_queries
    from skill_eval_nb.triggers.queries import read_queries, write_queries

    offer = read_offer(skill, others_of(others), None)
    existing = ()
    if file is not None and file.exists():
        existing = read_queries(file, skill=offer.skill.name)
    drafted = draft_queries(
        skill,
        model=model,
        n=n,
        others=[other.folder for other in offer.others],
        existing=existing,
        prices=load_prices(prices),
        budget_usd=budget_usd,
        dry_run=dry_run,
    )
    show(drafted)
    if drafted.cost_usd:
        out.print(f"spent ${drafted.cost_usd:.4f}")
    if drafted and file is not None and not dry_run:
        out.print(Text(f"wrote {write_queries(file, [*existing, *drafted])}"))
    if not drafted and not dry_run:
        raise typer.Exit(1)
