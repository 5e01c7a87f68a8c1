"""The command `trigger`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from ..making import SandboxOption
from ..shell import app, out, show, tell, told
from ..spending import BudgetOption, ExecutorOption, PricesOption, YesOption, ask_first

if TYPE_CHECKING:
    from skill_eval_nb.triggers.measured import Measured
    from skill_eval_nb.triggers.measurement import MeasuringProgress

SkillArgument = Annotated[Path, typer.Argument(help="The skill's folder, or its SKILL.md.")]
QueriesArgument = Annotated[Path, typer.Argument(help="A trigger set.")]
OthersOption = Annotated[
    list[str] | None,
    typer.Option(
        "--others",
        metavar="SKILL",
        help="Skills beside it: bundled, none, or a folder of one or of several; repeatable.",
    ),
]
ConcurrencyOption = Annotated[int, typer.Option(help="Attempts at a time.")]
AgainOption = Annotated[
    bool, typer.Option("--retry-errored", help="Make attempts that errored again.")
]


@app.command("trigger")
@told
def trigger(
    skill: SkillArgument,
    queries: QueriesArgument,
    runs: Annotated[int, typer.Option(help="Runs of each query.")] = 3,
    model: Annotated[str | None, typer.Option(help="The model that decides.")] = None,
    executor: ExecutorOption = "messages-api",
    others: OthersOption = None,
    description: Annotated[
        str | None, typer.Option(help="Measured in place of the one in SKILL.md.")
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option("--out", help="Where attempts go; else NAME-workspace/triggers beside it."),
    ] = None,
    budget_usd: BudgetOption = None,
    concurrency: ConcurrencyOption = 4,
    seed: Annotated[int, typer.Option(help="Of the order of attempts.")] = 0,
    sandbox: SandboxOption = "bubblewrap",
    prices: PricesOption = None,
    retry_errored: AgainOption = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the number of attempts and the price.")
    ] = False,
    yes: YesOption = False,
) -> None:
    """Measure whether a skill is picked up for the queries that it should be picked up for.

    Shows the price first. Whatever was made is kept: the same command, given again, makes only
    what is missing. Exit code 1 where attempts errored or are missing, or where the measurement
    is broken.
    """
    from skill_eval_nb.models import load_prices
    from skill_eval_nb.running.skill import read_skill
    from skill_eval_nb.triggers.measurement import measure
    from skill_eval_nb.triggers.queries import read_queries

    asked = read_queries(queries, skill=read_skill(skill).name)
    options: dict[str, Any] = {
        "runs": runs,
        "model": model,
        "executor": executor,
        "others": others_of(others),
        "description": description,
        "folder": folder,
        "budget_usd": budget_usd,
        "concurrency": concurrency,
        "seed": seed,
        "sandbox": sandbox,
        "prices": load_prices(prices),
        "retry_errored": retry_errored,
    }
    planned = measure(skill, asked, dry_run=True, **options)
    show(planned)
    if dry_run:
        return
    ask_first(budget_usd, yes, planned.price.worst_usd)
    measured = measure(skill, asked, progress=_tell, **options)
    show(measured)
    out.print(Text(f"The attempts are in {measured.folder}."))
    raise typer.Exit(0 if _is_sound(measured) else 1)


def others_of(given: list[str] | None) -> Any:
    """The other skills, as `measure` takes them."""
    if not given:
        return "bundled"
    return given[0] if given in (["bundled"], ["none"]) else given


def _is_sound(measured: Measured) -> bool:
    made = all(attempt.outcome in ("triggered", "not triggered") for attempt in measured.attempts)
    return made and not any(measured.doubts["broken"])


def _tell(progress: MeasuringProgress) -> None:
    """Print how far it is."""
    from skill_eval_nb.text import brief, dollars

    one = progress.latest
    line = f"{progress.done} of {progress.total} attempts, {dollars(progress.spent_usd)}"
    tell(f"{line}: {one.outcome}: {brief(one.query.query, 60)}")
