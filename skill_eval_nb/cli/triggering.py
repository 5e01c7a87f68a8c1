"""Commands about triggers: `trigger`, `trigger-draft`, `trigger-optimise`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.text import Text

from .printing import (
    ask_first,
    print_diff,
    tell_spent,
)
from .shell import Sandbox, all_but, app, make_command, out, show, tell

if TYPE_CHECKING:
    from skill_eval_nb.triggers.measurement import Measured
    from skill_eval_nb.triggers.optimised import OptimisingProgress


@app.command("trigger")
@make_command
def trigger(
    skill: Path,
    queries: Path,
    runs: int = 3,
    model: str | None = None,
    executor: str = "messages-api",
    others: list[str] | None = None,
    description: str | None = None,
    folder: Path | None = None,
    budget_usd: float | None = None,
    concurrency: int = 4,
    seed: int = 0,
    sandbox: Sandbox = "bubblewrap",
    prices: Path | None = None,
    retry_errored: bool = False,
    dry_run: bool = False,
    yes: bool = False,
) -> None:
    """Measure whether a skill is picked up for the queries that it should be picked up for.

    Shows the price first. Whatever was made is kept: the same command, given again, makes only
    what is missing. Exit code 1 where attempts errored or are missing, or where the measurement
    is broken.

    Options:
        runs: runs of each query.
        model: the model that decides.
        description: measured in place of the one in SKILL.md.
        folder (--out): where attempts go; default: NAME-workspace/triggers.
        seed: of the order of attempts.
    """
    options = all_but(locals(), "dry_run", "yes")

    from skill_eval_nb.triggers.measurement import measure

    options |= _as_taken(skill, queries, others, prices)
    planned = measure(dry_run=True, **options)
    show(planned)
    if dry_run:
        return
    ask_first(budget_usd, yes, planned.worst_usd)
    measured = measure(progress=tell_spent, **options)
    show(measured)
    out.print(Text(f"The attempts are in {measured.folder}."))
    raise typer.Exit(0 if _is_sound(measured) else 1)


@app.command("trigger-draft")
@make_command
def trigger_draft(
    skill: Path,
    model: str,
    n: int = 20,
    others: list[str] | None = None,
    file: Path | None = None,
    budget_usd: float | None = None,
    prices: Path | None = None,
    dry_run: bool = False,
) -> None:
    """Draft queries that should and should not trigger a skill, mainly near misses.

    A model that costs something is asked only with --budget-usd. Exit code 1 if none were
    drafted.

    Options:
        model (--model): the model that drafts.
        n: queries to draft, half of each class.
        file (--out): trigger set to add the queries to; it may be there already.
    """
    options = all_but(locals(), "file")

    from skill_eval_nb.models import load_prices
    from skill_eval_nb.running.skill import read_skill
    from skill_eval_nb.triggers.draft import draft_queries
    from skill_eval_nb.triggers.queries import read_queries, write_queries

    existing = ()
    if file is not None and file.exists():
        existing = read_queries(file, skill=read_skill(skill).name)
    options |= {"others": others_of(others), "existing": existing, "prices": load_prices(prices)}
    drafted = draft_queries(**options)
    show(drafted)
    if drafted.cost_usd:
        out.print(f"spent ${drafted.cost_usd:.4f}")
    if drafted and file is not None and not dry_run:
        out.print(Text(f"wrote {write_queries(file, [*existing, *drafted])}"))
    if not drafted and not dry_run:
        raise typer.Exit(1)


@app.command("trigger-optimise")
@make_command
def trigger_optimise(
    skill: Path,
    queries: Path,
    model: str | None = None,
    proposer_model: str | None = None,
    rounds: int = 5,
    runs: int = 3,
    held_out: float = 0.4,
    executor: str = "messages-api",
    others: list[str] | None = None,
    competing: list[Path] | None = None,
    folder: Path | None = None,
    budget_usd: float | None = None,
    concurrency: int = 4,
    seed: int = 0,
    sandbox: Sandbox = "bubblewrap",
    prices: Path | None = None,
    retry_errored: bool = False,
    write: bool = False,
    dry_run: bool = False,
    yes: bool = False,
) -> None:
    """Search for a description by which a skill is picked up when it should be.

    Shows the price first, and the change of SKILL.md at the end, which only --write makes.
    Whatever was made is kept: the same command, given again, makes only what is missing. Exit
    code 1 where the search did not come to its end, or the first measurement is broken.

    Options:
        model: the model that decides.
        proposer_model: the model that writes descriptions; else the same.
        rounds: most descriptions to measure, including the current one.
        runs: runs of each query in each round.
        held_out: share of the queries that descriptions are chosen by.
        competing (SKILL): a skill whose description the proposer is shown; repeatable.
        folder (--out): where everything goes; default: NAME-workspace/triggers.
        seed: of the split and the order of attempts.
        write: write the chosen description into SKILL.md.
    """
    options = all_but(locals(), "write", "dry_run", "yes")

    from skill_eval_nb.triggers.describe import write_description
    from skill_eval_nb.triggers.optimisation import optimise

    options |= {"competing": competing or "none", **_as_taken(skill, queries, others, prices)}
    planned = optimise(dry_run=True, **options)
    show(planned)
    if dry_run:
        return
    ask_first(budget_usd, yes, planned.worst_usd)
    found = optimise(progress=_tell_search, **options)
    show(found)
    out.print(Text(f"Everything is in {found.folder}."))
    diff = write_description(skill, found.best_description) if found.has_new else ""
    print_diff(diff)
    if diff and write:
        write_description(skill, found.best_description, dry_run=False)
        out.print("SKILL.md has the new description; the old file is kept next to it.")
    elif diff:
        out.print("SKILL.md was not changed; --write changes it.")
    raise typer.Exit(0 if found.status == "done" else 1)


def others_of(given: list[str] | None) -> Any:
    """The other skills, as `measure` takes them."""
    if not given:
        return "bundled"
    return given[0] if given in (["bundled"], ["none"]) else given


def _as_taken(
    skill: Path, queries: Path, others: list[str] | None, prices: Path | None
) -> dict[str, Any]:
    """The queries, the other skills and the prices, as `measure` takes them."""
    from skill_eval_nb.models import load_prices
    from skill_eval_nb.running.skill import read_skill
    from skill_eval_nb.triggers.queries import read_queries

    return {
        "queries": read_queries(queries, skill=read_skill(skill).name),
        "others": others_of(others),
        "prices": load_prices(prices),
    }


def _is_sound(measured: Measured) -> bool:
    complete = all(
        attempt.outcome in ("triggered", "not triggered") for attempt in measured.attempts
    )
    return complete and not any(measured.doubts["broken"])


def _tell_search(progress: OptimisingProgress) -> None:
    """Print how far a search is."""
    from skill_eval_nb.text import dollars

    measuring = progress.measuring
    runs = "" if measuring is None else f", {measuring.done} of {measuring.total} attempts"
    where = f"round {progress.round} of {progress.rounds} at most"
    tell(f"{where}, {progress.doing}{runs}, {dollars(progress.spent_usd)}")
