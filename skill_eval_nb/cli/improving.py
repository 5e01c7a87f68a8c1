"""Commands that improve: `init`, `compare`, and `improve` with its own."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from skill_eval_nb.text import dollars

from .shell import (
    InOrder,
    app,
    ask_first,
    busy,
    err,
    load_visibly,
    make_command,
    out,
    price_first,
    print_diff,
    show,
    tell_spent,
    without_keys,
)

if TYPE_CHECKING:
    from skill_eval_nb.improving import Change, Draft
    from skill_eval_nb.tables import Workspace

improve = typer.Typer(
    cls=InOrder,
    no_args_is_help=True,
    help="From results to better evals and skills: aggregate, draft, try, apply, analyse, history.",
)
app.add_typer(improve, name="improve")

SIDE = (
    "A configuration (with_skill), an iteration (iteration-1), both (iteration-1/with_skill), or "
    "the path of another workspace."
)


@app.command()
@make_command
def init(
    skill: Path,
    to: Path | None = None,
    model: str | None = None,
    n: int = 8,
    budget_usd: float | None = None,
    prices: Path | None = None,
    dry_run: bool = False,
    yes: bool = False,
) -> None:
    """Draft the first evals for a skill, show the diff, and write them.

    A model that costs something is asked only with --budget-usd. Exit code 1 if nothing was
    drafted, or if the evals would have errors.

    Options:
        to (--out): copy the skill into this folder, and write to the copy.
        model: the model that drafts; without one, you get a form to fill in.
        n: number of evals to draft.
        yes: write without asking.
    """
    options = without_keys(locals(), "skill", "to", "yes")

    import skill_eval_nb as sen
    from skill_eval_nb.running.protocol import refuse
    from skill_eval_nb.running.skill import read_skill, stage
    from skill_eval_nb.running.suite import USUAL

    folder = read_skill(skill).folder
    if to is not None and not dry_run:
        source, folder = folder, to / folder.name
        stage(source, None, folder)
    there = next((folder / name for name in USUAL if (folder / name).exists()), None)
    if there is not None and not dry_run:
        raise refuse(f"{folder} already has evals: {there}; to draft for a copy, give --out")
    options["prices"] = sen.models.load_prices(prices)
    drafts = sen.draft_evals(folder, **options)
    show(drafts)
    if drafts.cost_usd:
        out.print(f"spent {dollars(drafts.cost_usd)}")
    if dry_run or not drafts:
        raise typer.Exit(0 if dry_run else 1)
    change = sen.improving.preview(drafts, folder)
    if _show_and_write(change, yes=yes):
        first = "" if model else "fill in the form, then run: "
        out.print(Text(f"Next: {first}skill-eval-nb run {folder}"))
    raise typer.Exit(1 if change.refused or change.errors else 0)


@app.command()
@make_command
def compare(
    path: Path,
    a: Annotated[str, typer.Argument(help=SIDE)],
    b: str,
    model: str | None = None,
    evals: list[str] | None = None,
    repeat: float = 0.2,
    budget_usd: float | None = None,
    concurrency: int = 8,
    prices: Path | None = None,
    dry_run: bool = False,
    yes: bool = False,
) -> None:
    """Compare the stored outputs of two sides, blind and in both orders.

    No eval is run. Each comparison is kept in the workspace and never paid for twice. Exit code
    1 if one is missing.

    Options:
        b: the other side, in the same form.
        model: the model that compares; default: the one that judged before.
        repeat: share of the pairs to compare twice in the same order.
        concurrency: comparisons in parallel.
    """
    options = without_keys(locals(), "path", "dry_run", "yes")

    from skill_eval_nb.improving import compare as compare_sides
    from skill_eval_nb.models import load_prices

    options |= {"ws": load_visibly(path), "prices": load_prices(prices)}
    price_first(partial(compare_sides, **options), budget_usd, dry_run=dry_run, yes=yes)


@improve.command()
@make_command
def aggregate(
    path: Path,
    iteration: list[str] | None = None,
    threshold: float | None = None,
    file: Path | None = None,
    merge_model: str | None = None,
    budget_usd: float | None = None,
    dry_run: bool = False,
    yes: bool = False,
    force: bool = False,
) -> None:
    """Collect what the graders suggest for the evals, without duplicates.

    Options:
        threshold: how far two wordings may be apart, 0 to 1, and still count as the same.
        file (--out): the file to write; default: eval_feedback_aggregate.json in the iteration's
            folder, or in the workspace if there are several iterations.
        merge_model: a model that also merges suggestions that mean the same.
    """
    options = without_keys(locals(), "path", "iteration", "file", "yes", "force")

    import skill_eval_nb as sen
    from skill_eval_nb.improving.aggregation import place_of
    from skill_eval_nb.models.stand_in import MODELS

    ws = _select_iterations(load_visibly(path), iteration or [])
    target = None if dry_run else file or place_of(ws)
    if not dry_run and merge_model not in (None, *MODELS):
        ask_first(budget_usd, yes)
    with busy("collecting what the graders suggest"):
        given = {name: value for name, value in options.items() if value is not None}
        found = sen.improving.aggregate(ws, **given)
    show(found, paths=[] if target is None else [found.write(target, force=force)])


@improve.command()
@make_command
def draft(
    path: Path,
    to: Path | None = None,
    iteration: list[str] | None = None,
    baseline: str | None = None,
    model: str | None = None,
    budget_usd: float | None = None,
) -> None:
    """Draft changes to the evals from suggestions and figures; only --out is written.

    Options:
        to (--out): file to write the drafts to, such as drafts.json.
        model: a model that drafts too; default: only the rules.
    """
    import skill_eval_nb as sen

    ws = _select_iterations(load_visibly(path), iteration or [])
    with busy("drafting"):
        drafts = sen.improving.draft(ws, baseline=baseline, model=model, budget_usd=budget_usd)
    show(drafts, paths=[] if to is None else [sen.improving.write_drafts(to, drafts)])
    if drafts.cost_usd:
        out.print(f"spent {dollars(drafts.cost_usd)}")


@improve.command(name="try")
@make_command
def try_(
    drafts: Path,
    path: Path,
    keys: list[str] | None = None,
    baseline: str | None = None,
    judge_model: str | None = None,
    budget_usd: float | None = None,
    prices: Path | None = None,
    allow_scripts: bool = False,
    near: int = 2,
) -> None:
    """Try drafts on the stored outputs, before you pay for new runs.

    The suite and the runs stay as they are. A drafted rubric dimension is judged only with
    --budget-usd, one budget for all drafts; without it, you see the price.

    Options:
        drafts: a file of drafts, as `improve draft` writes it.
        judge_model: the model that judges a dimension; default: the one that did before.
    """
    options = without_keys(locals(), "drafts", "path", "keys", "budget_usd")

    import skill_eval_nb as sen

    chosen = _choose_drafts(sen.improving.read_drafts(drafts), keys)
    options |= {"ws": load_visibly(path), "prices": sen.models.load_prices(prices)}
    left = budget_usd
    for number_ in chosen:
        tried = sen.improving.try_out(number_, budget_usd=left, progress=tell_spent, **options)
        show(tried)
        if left is not None:
            left = max(0.0, left - (tried.cost_usd or 0.0))


@improve.command()
@make_command
def apply(
    drafts: Path,
    evals: Path,
    keys: list[str] | None = None,
    workspace: Path | None = None,
    yes: bool = False,
) -> None:
    """Write drafts into evals.json, after showing the diff.

    Nothing is written until you confirm. The old file is kept. Exit code 1 if a draft was refused,
    or if the evals would have new errors.

    Options:
        drafts: a file of accepted drafts, such as drafts.json.
        evals: the evals.json, or the folder of its skill or workspace.
        workspace: the workspace the drafts came from; default: the one next to the evals.
        yes: write without asking.
    """
    from skill_eval_nb.improving import preview, read_drafts

    change = preview(_choose_drafts(read_drafts(drafts), keys), evals, workspace=workspace)
    _show_and_write(change, yes=yes)
    raise typer.Exit(1 if change.refused or change.errors else 0)


@improve.command()
@make_command
def analyse(
    path: Path,
    comparison: str | None = None,
    model: str | None = None,
    budget_usd: float | None = None,
    concurrency: int = 4,
    prices: Path | None = None,
    dry_run: bool = False,
    yes: bool = False,
) -> None:
    """Ask why the winners of blind comparisons won, and what to change in the skill.

    Each analysis is kept next to its comparison and never paid for twice. Exit code 1 if one
    is missing.

    Options:
        comparison: only this one, by its id, pair or file.
        model: the model that analyses; default: the one that compared.
        concurrency: analyses in parallel.
    """
    options = without_keys(locals(), "path", "dry_run", "yes")

    from skill_eval_nb.improving.analysis import analyse
    from skill_eval_nb.models import load_prices

    options |= {"ws": load_visibly(path), "prices": load_prices(prices)}
    price_first(partial(analyse, **options), budget_usd, dry_run=dry_run, yes=yes)


@improve.command()
@make_command
def history(path: Path, out_file: Path | None = None, force: bool = False) -> None:
    """Show the versions of the skill: which won, what each was made from, and what changed.

    A win that the statistics do not support counts as a tie, and says so.

    Options:
        out_file (--out): write history.json to this file or folder.
    """
    from skill_eval_nb.improving import history

    ws = load_visibly(path)
    with busy("comparing the versions"):
        found = history(ws)
    show(found, paths=[] if out_file is None else [found.write(out_file, force=force)])


def _show_and_write(change: Change, *, yes: bool) -> bool:
    """Show a change, and write it if the user agrees; whether it was written."""
    print_diff(change.diff)
    out.print(Text(change.headline))
    for line in change.notes:
        err.print(Text(line, style="yellow"))
    if change.after == change.before or change.errors:
        return False
    if not (yes or (_is_at_terminal() and typer.confirm("Write this?"))):
        out.print("Nothing was written; give --yes to write it.")
        return False
    for line in change.write().results:
        out.print(Text(line))
    return True


def _select_iterations(ws: Workspace, wanted: Sequence[str]) -> Workspace:
    """The part of a workspace that is of some iterations; all of it where none is named."""
    known = ws.polars("runs")["iteration"].unique().sort().to_list()
    _refuse_unknown("iteration", wanted, known)
    return ws.select(iteration=list(wanted)) if wanted else ws


def _choose_drafts(drafts: Iterable[Draft], keys: Sequence[str] | None) -> list[Draft]:
    """The drafts of the given keys, in their order; all if none is given."""
    every = {draft.key: draft for draft in drafts}
    _refuse_unknown("draft", keys or (), list(every))
    return [every[key] for key in keys or every]


def _refuse_unknown(what: str, wanted: Iterable[str], known: list[str]) -> None:
    """Refuse what there is not.

    Raises:
        Refused: one of them is not known.
    """
    from skill_eval_nb.running.protocol import Refused, no_such

    if missing := [name for name in wanted if name not in known]:
        raise Refused(no_such(what, name, known) for name in missing)


def _is_at_terminal() -> bool:
    return sys.stdin.isatty()
