"""The command `trigger-optimise`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from ..making import SandboxOption
from ..shell import app, out, show, tell, told
from ..spending import BudgetOption, ExecutorOption, PricesOption, YesOption, ask_first
from .measuring import (
    AgainOption,
    ConcurrencyOption,
    OthersOption,
    QueriesArgument,
    SkillArgument,
    others_of,
)

if TYPE_CHECKING:
    from skill_eval_nb.triggers.optimised import OptimisingProgress

COLOURS = {"+": "green", "-": "red", "@": "dim"}
"""Of the lines of a diff, by their first character."""


@app.command("trigger-optimise")
@told
def trigger_optimise(
    skill: SkillArgument,
    queries: QueriesArgument,
    model: Annotated[str | None, typer.Option(help="The model that decides.")] = None,
    proposer_model: Annotated[
        str | None, typer.Option(help="The model that writes descriptions; else the same.")
    ] = None,
    rounds: Annotated[
        int, typer.Option(help="Descriptions that are measured at most, the present one included.")
    ] = 5,
    runs: Annotated[int, typer.Option(help="Runs of each query in each round.")] = 3,
    held_out: Annotated[
        float,
        typer.Option("--held-out", help="Share of the queries that descriptions are chosen by."),
    ] = 0.4,
    executor: ExecutorOption = "messages-api",
    others: OthersOption = None,
    competing: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="SKILL", help="A skill whose description the proposer is shown; repeatable."
        ),
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option("--out", help="Where all of it goes; else NAME-workspace/triggers beside it."),
    ] = None,
    budget_usd: BudgetOption = None,
    concurrency: ConcurrencyOption = 4,
    seed: Annotated[int, typer.Option(help="Of the split and the order of attempts.")] = 0,
    sandbox: SandboxOption = "bubblewrap",
    prices: PricesOption = None,
    retry_errored: AgainOption = False,
    write: Annotated[
        bool, typer.Option("--write", help="Write the chosen description into SKILL.md.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the number of runs and the price.")
    ] = False,
    yes: YesOption = False,
) -> None:
    """Search for a description by which a skill is picked up when it should be.

    Shows the price first, and the change of SKILL.md at the end, which only --write makes.
    Whatever was made is kept: the same command, given again, makes only what is missing. Exit
    code 1 where the search did not come to its end, or the first measurement is broken.
    """
    from skill_eval_nb.models import load_prices
    from skill_eval_nb.running.skill import read_skill
    from skill_eval_nb.triggers.describe import write_description
    from skill_eval_nb.triggers.optimisation import optimise
    from skill_eval_nb.triggers.queries import read_queries

    asked = read_queries(queries, skill=read_skill(skill).name)
    options: dict[str, Any] = {
        "model": model,
        "proposer_model": proposer_model,
        "rounds": rounds,
        "runs": runs,
        "held_out": held_out,
        "executor": executor,
        "others": others_of(others),
        "competing": competing or (),
        "folder": folder,
        "budget_usd": budget_usd,
        "concurrency": concurrency,
        "seed": seed,
        "sandbox": sandbox,
        "prices": load_prices(prices),
        "retry_errored": retry_errored,
    }
    planned = optimise(skill, asked, dry_run=True, **options)
    show(planned)
    if dry_run:
        return
    ask_first(budget_usd, yes, planned.estimate.worst)
    found = optimise(skill, asked, progress=_tell, **options)
    show(found)
    out.print(Text(f"All of it is in {found.folder}."))
    diff = write_description(skill, found.best_description) if found.has_new else ""
    for line in diff.splitlines():
        out.print(Text(line, style=COLOURS.get(line[:1], "")))
    if diff and write:
        write_description(skill, found.best_description, dry_run=False)
        out.print("SKILL.md has the new description; the old file is kept beside it.")
    elif diff:
        out.print("SKILL.md was not changed; --write changes it.")
    raise typer.Exit(0 if found.status == "done" else 1)


def _tell(progress: OptimisingProgress) -> None:
    """Print how far it is."""
    from skill_eval_nb.text import dollars

    one = progress.measuring
    runs = "" if one is None else f", {one.done} of {one.total} attempts"
    where = f"round {progress.round} of {progress.rounds} at most"
    tell(f"{where}, {progress.doing}{runs}, {dollars(progress.spent_usd)}")
