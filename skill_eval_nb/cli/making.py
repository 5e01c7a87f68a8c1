"""Commands that make: `run`, `grade`, `judge`; and about triggers: `trigger`, `trigger-…`."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.text import Text
from typer.core import TyperCommand

from .shell import (
    INTERRUPTED,
    Sandbox,
    app,
    ask_first,
    busy,
    counted_lines,
    err,
    list_answers,
    make_command,
    out,
    price_first,
    print_answers,
    print_diff,
    print_fields,
    print_problems,
    settings,
    show,
    tell_progress,
    tell_spent,
    use_option_names,
    without_keys,
)

if TYPE_CHECKING:
    from concurrent.futures import Executor as Pool

    from skill_eval_nb.running import Plan
    from skill_eval_nb.running.job import Progress
    from skill_eval_nb.stats.verdict import Answer
    from skill_eval_nb.triggers.optimisation import OptimisingProgress

Layer = Literal["structural"]

LOCAL = "local"


class RunCommand(TyperCommand):
    """The command `run`, whose option --dask may stand without an address.

    Its skill may still be given by --skill, as it had to be.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments."""
        following = [*args[1:], "--"]
        filled = [
            f"--dask={LOCAL}" if argument == "--dask" and after.startswith("-") else argument
            for argument, after in zip(args, following, strict=False)
        ]
        named = [arg.removeprefix("--skill=") for arg in filled if arg != "--skill"]
        return super().parse_args(ctx, named)


@app.command(cls=RunCommand)
@make_command
def run(
    skill: Path,
    workspace: Path | None = None,
    evals: Path | None = None,
    configurations: list[str] | None = None,
    evals_only: list[str] | None = None,
    executor: str = "offline",
    executor_model: str | None = None,
    judge_model: str | None = None,
    runs: int | None = None,
    looks: str | None = None,
    judgings: int = 1,
    judge_batch: bool = False,
    budget_usd: float | None = None,
    run_usd: float | None = None,
    concurrency: int = 8,
    seed: int = 0,
    iteration: int | None = None,
    sandbox: Sandbox = "bubblewrap",
    allow_scripts: bool = False,
    prices: Path | None = None,
    retry_errored: bool = False,
    resume: bool = False,
    dry_run: bool = False,
    dask: str | None = None,
    yes: bool = False,
    verbose: bool = False,
) -> None:
    """Run a skill's evals with and without it, grade them, and print the result.

    Shows the size and price of the plan first. Finished work is kept: run the same command again
    to do only what is missing. Exit code 1 if a run errored, or if anything is left to do.

    Options:
        workspace: folder for the runs; default: NAME-workspace next to the skill.
        evals: the evals file; default: the skill's evals/evals.json.
        configurations (--configuration NAME[=FOLDER]): with_skill, without_skill, or NAME=FOLDER
            for another skill; repeatable.
        executor_model: the model that works on the prompts.
        judge_model: the model that judges; default: the suite's.
        runs: runs per eval and side; default: the suite's number, or 3.
        looks (2,4,6,10): look after these numbers of runs, and stop once a look decides; the last
            is the maximum.
        judgings: judgings per run; 0 for none.
        judge_batch: judge by batch: half the price, but slower.
        run_usd: stop a run before it costs more than this, in US dollars.
        concurrency: steps in parallel.
        seed: seed for the order of runs.
        iteration: number of the iteration; default: that of the same plan, or the next.
        retry_errored: repeat runs that errored.
        resume: continue an earlier job; an error if there is none.
        dask ([ADDRESS]): use a Dask cluster; without an address, a local one.
        verbose (--verbose -v): show the whole plan, as --dry-run does.
    """
    options = without_keys(locals(), "run_usd", "resume", "dry_run", "dask", "yes", "verbose")

    import skill_eval_nb as sen

    options["configurations"] = _parse_sides(configurations, skill)
    limits = None if run_usd is None else sen.running.Limits(usd=run_usd)
    plan = sen.plan_runs(limits=limits, **options)
    if settings.as_json and dry_run:
        print_fields(_plan_fields(plan))
    else:
        whole = dry_run or verbose
        out.print(Text(use_option_names(plan if whole else plan.summary()).rstrip()))
    if resume and not (plan.folder / "journal.jsonl").exists():
        raise typer.BadParameter(
            f"nothing to resume in {plan.folder}: no run with these options was started there. "
            "Check the options and --workspace, or leave out --resume to start."
        )
    if dry_run:
        return
    if plan.connection.stand_in is None:
        if why := plan.no_key:
            raise sen.running.Refused([why])
        ask_first(budget_usd, yes, None if plan.todo else 0, keyed=False)
    from skill_eval_nb.running.job import watch

    with _open_pool(dask) as pool:
        end = watch(plan.start(pool=pool), out)
    out.print(Text(use_option_names(end)))
    for line in counted_lines(end.problems):
        err.print(Text(use_option_names(line), style="yellow"))
    _say_result(plan, end)
    if end.status == "stopped":  # nothing but Ctrl-C stops it
        raise typer.Exit(INTERRUPTED)
    raise typer.Exit(0 if end.status == "done" and not end.errored else 1)


@app.command()
@make_command
def grade(
    path: Path,
    layer: Layer = "structural",
    allow_scripts: bool = False,
    near: int = 2,
    force: bool = False,
    sandbox: Sandbox = "bubblewrap",
) -> None:
    """Run the deterministic checks on stored outputs, and write structural.json next to them.

    No eval is run and no model is asked. Stored verdicts that differ from the new ones are reported
    and stay, unless --force is given. Exit code 1 if one stays, or cannot be written.

    Options:
        layer: the layer to grade; only the deterministic checks can be chosen.
        force: replace stored verdicts that differ from the new ones.
    """
    options = without_keys(locals())

    from skill_eval_nb.running import grade_stored

    with busy(f"checking the outputs in {path}"):
        graded = grade_stored(**options)
    print_problems(graded.problems)
    out.print(Text(str(graded)))
    lost = any(problem.code == "not-written" for problem in graded.problems)
    raise typer.Exit(1 if graded.kept or lost else 0)


@app.command()
@make_command
def judge(
    path: Path,
    again: Annotated[int, typer.Option(min=1, help="Judgings to add to each run.")] = 1,
    judge_model: str | None = None,
    batch: bool = False,
    budget_usd: float | None = None,
    concurrency: int = 8,
    prices: Path | None = None,
    dry_run: bool = False,
    yes: bool = False,
) -> None:
    """Judge stored outputs again, with the same or another model.

    Shows the price first. No eval is run. New judgings are added, and grading.json is rewritten
    from all of them. Exit code 1 if a judging failed or was left out.

    Options:
        judge_model: the model that judges; default: the one that did before.
        batch: judge by batch: half the price, but slower.
        concurrency: judgings in parallel.
    """
    options = without_keys(locals(), "dry_run", "yes")

    import skill_eval_nb as sen

    options["prices"] = sen.models.load_prices(prices)
    price_first(partial(sen.judge_again, **options), budget_usd, dry_run=dry_run, yes=yes)


def _parse_sides(given: list[str] | None, skill: Path) -> Any:
    """The configurations, as `plan_runs` takes them."""
    if not given:
        return ("with_skill", "without_skill")
    usual: dict[str, Path | None] = {"with_skill": skill, "without_skill": None}
    sides: dict[str, Path | None] = {}
    for side in given:
        name, equals, folder = side.partition("=")
        if not equals and name not in usual:
            raise typer.BadParameter(
                f"`{name}` needs the folder of its skill: {name}=FOLDER; only with_skill and "
                "without_skill need none",
                param_hint="--configuration",
            )
        sides[name] = Path(folder) if equals else usual[name]
    return sides


def _open_pool(dask: str | None) -> AbstractContextManager[Pool | None]:
    """Where steps are done: here, or on a Dask cluster."""
    from skill_eval_nb.running.pool import dask_at, local_dask

    if dask is None:
        return nullcontext()
    return local_dask() if dask == LOCAL else dask_at(dask)


def _say_result(plan: Plan, end: Progress) -> None:
    """What the runs say, and where they lie."""
    from skill_eval_nb.stats.overview import answer_headline
    from skill_eval_nb.tables import load

    answers: list[tuple[str, Answer]] = []
    with busy("working out what the runs say"):
        ws = load(plan.workspace).select(iteration=plan.folder.name)
        answers = [("", answer) for answer in answer_headline(ws)]
    if settings.as_json:
        names = ("status", "cells", "finished", "errored", "waiting", "spent_usd", "seconds")
        fields = {name: getattr(end, name) for name in names} | {"problems": end.problems}
        found = {"answers": list_answers(ws, answers), "paths": [str(plan.folder)]}
        print_fields(fields | found)
    print_answers(ws, answers)
    out.print(Text(f"The runs are in {plan.folder}."))
    out.print(Text(f"For all figures: skill-eval-nb report {plan.workspace} --out report"))


def _plan_fields(plan: Plan) -> dict[str, Any]:
    """What --json has of a plan."""
    from skill_eval_nb.view import as_plain

    names = ("iteration", "why_iteration", "configurations", "executor_model", "judge_model")
    return {
        **{name: getattr(plan, name) for name in names},
        "evals": [eval_.name for eval_ in plan.evals],
        "runs": len(plan.cells),
        "runs_to_do": len(plan.todo),
        "estimate": as_plain(plan.estimate.parts),
        "warnings": list(map(use_option_names, plan.warnings)),
        "paths": [str(plan.folder)],
    }


# ── triggers ─────────────────────────────────────────────────────────────────────────────────


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
    """Measure whether a skill triggers for the queries that it should, and for no others.

    Shows the price first. Finished attempts are kept: run the same command again to make only
    what is missing. Exit code 1 if attempts errored or are missing, or if the measurement is
    broken.

    Options:
        runs: attempts per query.
        model: the model that decides which skill to open.
        description: measure this description instead of the one in SKILL.md.
        folder (--out): folder for the attempts; default: NAME-workspace/triggers.
        seed: seed for the order of attempts.
    """
    options = without_keys(locals(), "dry_run", "yes")

    from skill_eval_nb.triggers.measurement import measure

    options |= _read_arguments(skill, queries, others, prices)
    planned = measure(dry_run=True, **options)
    show(planned)
    if dry_run:
        return
    ask_first(budget_usd, yes, planned.worst_usd)
    measured = measure(progress=tell_spent, **options)
    show(measured)
    out.print(Text(f"The runs are in {measured.folder}."))
    told = {attempt.outcome for attempt in measured.attempts} <= {"triggered", "not triggered"}
    raise typer.Exit(0 if told and not any(measured.doubts["broken"]) else 1)


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
        n: number of queries to draft; half of them should trigger.
        file (--out): trigger set to add the queries to; created if it does not exist.
    """
    options = without_keys(locals(), "file")

    from skill_eval_nb.models import load_prices
    from skill_eval_nb.running.skill import read_skill
    from skill_eval_nb.triggers.queries import draft_queries, read_queries, write_queries

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
    """Search for a description that makes a skill trigger when it should.

    Shows the price first, and at the end the change to SKILL.md; only --write makes that change.
    Finished attempts are kept: run the same command again to make only what is missing. Exit code
    1 if the search did not finish, or if the first measurement is broken.

    Options:
        model: the model that decides which skill to open.
        proposer_model: the model that writes descriptions; default: the same.
        rounds: maximum number of descriptions to measure, including the current one.
        runs: attempts per query and round.
        held_out: share of the queries to hold out and choose the description by.
        competing (SKILL): a skill whose description the proposer sees too; repeatable.
        folder (--out): folder for all files; default: NAME-workspace/triggers.
        seed: seed for the split and the order of attempts.
        write: write the chosen description into SKILL.md.
    """
    options = without_keys(locals(), "write", "dry_run", "yes")

    from skill_eval_nb.triggers.describe import write_description
    from skill_eval_nb.triggers.optimisation import optimise

    options |= {"competing": competing or "none", **_read_arguments(skill, queries, others, prices)}
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
        out.print("SKILL.md was not changed; give --write to change it.")
    raise typer.Exit(0 if found.status == "done" else 1)


def others_of(given: list[str] | None) -> Any:
    """The other skills, as `measure` takes them."""
    if not given:
        return "bundled"
    return given[0] if given in (["bundled"], ["none"]) else given


def _read_arguments(
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


def _tell_search(progress: OptimisingProgress) -> None:
    """Print how far a search is."""
    from skill_eval_nb.text import dollars

    measuring = progress.measuring
    runs = "" if measuring is None else f", {measuring.done} of {measuring.total} runs"
    where = f"round {progress.round} of {progress.rounds} at most"
    tell_progress(f"{where}, {progress.doing}{runs}, {dollars(progress.spent_usd)}")
