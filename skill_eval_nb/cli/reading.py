"""Commands that read: `check` to `tables`; and `lab` and `demo`, which let one look around."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.text import Text
from typer.core import TyperCommand

from skill_eval_nb.share import COPY
from skill_eval_nb.text import some

from .shell import (
    INTERRUPTED,
    SHOWN,
    Dialect,
    app,
    busy,
    err,
    list_answers,
    load_visibly,
    make_command,
    out,
    print_answers,
    print_fields,
    print_losses,
    print_problems,
    print_written,
    read_sides,
    settings,
    show,
    split_pair,
    use_option_names,
)

Format = Literal["parquet", "csv", "json"]


class Several(TyperCommand):
    """A command of several paths, whose help says so in the words of the others."""

    def get_help(self, ctx: Any) -> str:
        """The help of the command."""
        return super().get_help(ctx).replace("<list[Path]>", "<path>")


@app.command(cls=Several)
@make_command
def check(paths: list[Path], dialect: Dialect | None = None) -> None:
    """Check files, skills or workspaces for problems.

    Lists, by kind, what could not be loaded and what breaks the rules of a dialect, each with its
    file, the place in it, and what was found. Exit code 1 if one is an error: a file, a run or a
    figure is lost, or a rule of the dialect you asked for is broken. --json lists all of them.

    Options:
        paths: Workspaces, folders above them, skills, or files.
        dialect: check against this dialect; default: the nearest.
    """
    from skill_eval_nb.tables import check as check_path

    with busy(f"checking {some(list(map(str, paths)), 3)}"):
        problems = check_path(paths, dialect)
    if settings.as_json:
        for problem in problems:
            fields = ("severity", "code", "path", "where", "message")
            print(json.dumps({name: getattr(problem, name) for name in fields}))
    else:
        print_problems(problems)
    raise typer.Exit(1 if any(problem.severity == "error" for problem in problems) else 0)


@app.command()
@make_command
def schema(name: str, dialect: Dialect | None = None) -> None:
    """Print the JSON Schema of a document.

    Options:
        name: a document: grading, benchmark, evals, …
        dialect: only what this dialect has; default: everything that is read.
    """
    from skill_eval_nb.documents.dialects import json_schema

    print(json.dumps(json_schema(name, dialect), indent=2, ensure_ascii=False))


@app.command()
@make_command
def convert(
    path: Path,
    out_folder: Path,
    to: Literal["workspace", "inspect"] = "workspace",
    configuration: list[str] | None = None,
) -> None:
    """Convert any tool's results to one workspace, or to inspect_ai logs.

    The workspace has skill-creator's layout with skill-evaluator's fields, and loads again to the
    same runs, figures, checks and scores. What it cannot hold is listed on standard error. The
    source is not changed. A conversion to a workspace that was interrupted starts over; logs need
    a new folder.

    Exit code 0 if anything was written, even if some of it was lost; 2 if nothing could be.

    Options:
        to: a workspace, or inspect_ai logs.
    """
    from skill_eval_nb.tables.conversion import convert as convert_path
    from skill_eval_nb.tables.conversion import refuse_full

    if to == "inspect":
        import skill_eval_nb as sen

        refuse_full(out_folder)
        ws = load_visibly(path, configuration)
        with busy(f"converting {path}"):
            written = sen.report.write_inspect(ws, out_folder)
        print_losses(written, err)
        out.print(f"Wrote {len(written)} files to {out_folder}.")
        raise typer.Exit(0 if written else 2)
    with busy(f"converting {path}"):
        converted = convert_path(path, out_folder, configuration=read_sides(configuration))
    print_problems(converted.losses, weighed=True, console=err)
    out.print(f"Wrote {len(converted.written)} files to {out_folder}.")
    raise typer.Exit(0 if converted.written else 2)


@app.command()
@make_command
def report(
    path: Path,
    out_folder: Path,
    dialect: Dialect = "skill-creator",
    timestamp: str | None = None,
    configuration: list[str] | None = None,
    verbose: bool = False,
) -> None:
    """Write benchmark.json, benchmark.md and report.html, and print the verdict and next step.

    Options:
        dialect: dialect of benchmark.json.
        timestamp: timestamp to write; default: that of the data.
    """
    import skill_eval_nb as sen

    ws = load_visibly(path, configuration)
    with busy("working out the figures") as doing:
        written = sen.report.write_report(
            ws, out_folder, dialect=dialect, timestamp=timestamp, progress=doing
        )
    if settings.as_json:
        paths = {"paths": [str(path) for path in written], "not_held": written.losses}
        print_fields({"answers": list_answers(ws, written.answers)} | paths)
    elif verbose:
        show(ws)
        print_written(written)
    print_answers(ws, written.answers)
    files = written if len(written) <= SHOWN else written[-1:]
    more = f" and {len(written) - 1} files of {len(written) // 2} benchmarks" * (files != written)
    out.print(Text(f"Wrote {some(files, SHOWN)}{more}."))


@app.command()
@make_command
def gate(
    path: Path,
    metric: str | None = None,
    baseline: str | None = None,
    versus: str | None = None,
    against: Path | None = None,
    most: list[str] | None = None,
    least: list[str] | None = None,
    fail_on: list[str] | None = None,
    markdown: Path | None = None,
    junit: Path | None = None,
    badge: Path | None = None,
    configuration: list[str] | None = None,
) -> None:
    """Check for CI whether something got worse: the exit code is the answer.

    0: no regression is shown; the message says how large a loss could have been missed. 1: a
    regression is shown, or a limit is not met. 3: too little data to tell. A difference alone
    decides nothing. If $GITHUB_STEP_SUMMARY names a file, the Markdown is appended to it.

    Options:
        metric (METRIC): the metric that must not get worse; default: the pass rate.
        versus (ITERATION): compare with this iteration instead.
        against (PATH): compare with another workspace's newest iteration instead.
        most (METRIC=FIGURE): the highest mean allowed, as in cost_usd=0.5; repeatable.
        least (METRIC=FIGURE): the lowest mean allowed, as in pass_rate=0.8; repeatable.
        fail_on (END): what exits with 1: regression, limits or cannot-tell; repeatable; default:
            the first two.
        markdown (FILE): write the result to this file, as Markdown.
        junit (FILE): write the result to this file, as JUnit XML.
        badge (FILE): write a badge to this file, as SVG.
    """
    import skill_eval_nb as sen
    from skill_eval_nb.disk import write_atomic

    ws, other = load_visibly(path, configuration), against and load_visibly(against, configuration)
    how: dict[str, Any] = {"versus": versus, "against": other, "fail_on": fail_on}
    for sign, given in (("most", most), ("least", least)):
        how[sign] = dict(split_pair(text, "METRIC=FIGURE", f"--{sign}") for text in given or ())
    try:
        with busy("comparing"):
            found = sen.gate(ws, metric, baseline, **how)
    except ValueError as error:
        raise typer.BadParameter(use_option_names(error)) from None
    drawn = ((markdown, found.markdown), (junit, found.junit), (badge, found.badge))
    written = [write_atomic(file, draw()) for file, draw in drawn if file is not None]
    if summary := os.environ.get("GITHUB_STEP_SUMMARY"):
        with Path(summary).open("a", encoding="utf-8") as file:
            file.write(found.markdown())
    show(found)
    print_written(written)
    raise typer.Exit(found.end)


@app.command()
@make_command
def library(path: Path, out_folder: Path, configuration: list[str] | None = None) -> None:
    """Write library.md and library.html: many skills on one page.

    The page has the answer over all skills; each skill's verdict or lean, corrected for their
    number; what would decide the others, and the price; the evals that tell nothing; and what the
    skills cost. Each skill's newest iteration that compares pass rates counts.
    """
    import skill_eval_nb as sen

    ws = load_visibly(path, configuration)
    with busy("working out the figures"):
        found = sen.library(ws)
        written = found.write(out_folder)
    show(found)
    print_written(written)


@app.command()
@make_command
def tables(
    path: Path,
    out_folder: Path,
    format: Format = "parquet",  # noqa: A002
    names: list[str] | None = None,
    quote_formulas: bool = False,
    configuration: list[str] | None = None,
) -> None:
    """Write the tables as Parquet, CSV or JSON files.

    CSV has every text as it is stored. A spreadsheet runs a cell that begins with =, +, - or @ as
    a formula, whoever wrote it: use --quote-formulas if you want to open the file in one.

    Options:
        format: format of the files.
        names (--table TABLE): Only this table; repeatable.
        quote_formulas: in CSV, put ' before a text that a spreadsheet would run: one that begins
            with =, +, -, @, a tab or a carriage return.
    """
    import skill_eval_nb as sen

    ws = load_visibly(path, configuration)
    how = {"format": format, "names": names, "quote_formulas": quote_formulas}
    try:
        with busy("writing the tables"):
            written = sen.report.write_tables(ws, out_folder, **how)
    except KeyError as error:
        raise typer.BadParameter(error.args[0], param_hint="'--table'") from None
    print_written(written)


# ── JupyterLab and the demo ──────────────────────────────────────────────────────────────────

JUPYTER = "jupyter"
"""Under this name a call of `lab` keeps what it hands on."""


NO_SKILL = "path/to/your-skill"
"""What the first notebook looks at beside a workspace of which no skill is found."""


class Lab(TyperCommand):
    """The command `lab`, which hands on what stands after `--`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments."""
        at = args.index("--") if "--" in args else len(args)
        ctx.meta[JUPYTER] = args[at + 1 :]
        return super().parse_args(ctx, args[:at])


@app.command(cls=Lab, options_metavar="[OPTIONS]")
@make_command
def lab(
    ctx: typer.Context,
    path: Annotated[
        Path | None,
        typer.Argument(
            help="Your own workspace, or your skill's folder; the bundled data by default."
        ),
    ] = None,
    to: Path = Path(COPY),
) -> None:
    """Open JupyterLab on a copy of the notebooks, with your path filled in.

    Files in an existing copy are kept: a notebook that you edited does not even get the new path.
    Options after -- go to JupyterLab: lab PATH -- --no-browser --port 9999 --allow-root

    Options:
        to: folder for the copy of the notebooks and their data.
    """
    from skill_eval_nb.share import START, copy_notebooks, fill_in

    if importlib.util.find_spec("jupyterlab") is None:
        raise ModuleNotFoundError("JupyterLab is missing: `pip install jupyterlab`")
    paths = {} if path is None else _find_paths(path)
    copy_notebooks(to)
    filled, kept = fill_in(to, paths)
    if "PATH" in paths and "SKILL" not in paths:  # the demo's panel has no place among these runs
        fill_in(to, {"SKILL": NO_SKILL}, START)
    out.print(Text(f"The notebooks are in {to / 'notebooks'}."))
    books = ", ".join(path.name for path in filled) or "no notebook"
    for name, where in paths.items():
        out.print(Text(f"  {name} is {where} in {books}."))
    if kept:
        edited = ", ".join(path.name for path in kept)
        out.print(Text(f"  You edited {edited}: the old path stays there.", style="yellow"))
    given = ctx.meta[JUPYTER]
    if hasattr(os, "geteuid") and os.geteuid() == 0 and "--allow-root" not in given:
        out.print(Text("  You are root: JupyterLab may need -- --allow-root."))
    command = [sys.executable, "-m", "jupyterlab", str(to / "notebooks" / START)]
    served = _served_folder(to, paths.values())
    for name, where in paths.items():
        if not os.path.realpath(where).startswith(served):
            warning = f"  {name} is outside {served}, the folder that JupyterLab shows: "
            out.print(Text(f"{warning}to edit files there, choose another --to.", "yellow"))
    command += [f"--ServerApp.root_dir={served}", *given]
    raise typer.Exit(_run_to_its_end(command))


def _run_to_its_end(command: list[str]) -> int:
    """Run a program; what ends us meanwhile ends it first, with its kernels. Gives its exit code.

    Ctrl-C in a terminal reaches it as well, and JupyterLab then asks before it ends.

    Raises:
        SystemExit: 128 and the number of the signal that has ended us.
    """

    def exit_on_signal(number: int, _: object) -> None:
        if number != signal.SIGINT or not os.isatty(0):
            raise SystemExit(128 + number)

    names = ("SIGINT", "SIGTERM", "SIGHUP")  # the last is not there on Windows
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    before = {number: signal.getsignal(number) for number in numbers}
    with subprocess.Popen(command) as program:
        try:
            for number, was in before.items():
                if was is not signal.SIG_IGN:  # as by nohup
                    signal.signal(number, exit_on_signal)
            while True:  # a signal that comes just before it waits would be seen after its end
                with suppress(subprocess.TimeoutExpired):
                    return program.wait(1)
        except SystemExit:
            program.terminate()
            raise
        finally:
            for number, was in before.items():
                signal.signal(number, was)


def _served_folder(copy: Path, paths: Iterable[str]) -> str:
    """The folder that JupyterLab shows: the nearest one with the copy and all paths in it."""
    here = os.path.realpath(copy)
    folders = [path if Path(path).is_dir() else os.path.dirname(path) for path in paths]  # noqa: PTH120
    try:
        above = os.path.commonpath([here, *map(os.path.realpath, folders)])
    except ValueError:  # on another drive
        return here
    return here if above == Path(above).anchor else above


def _find_paths(path: Path) -> dict[str, str]:
    """What the notebooks will show: a skill, a workspace, or a folder that is both.

    Raises:
        Refused: the folder is a skill that cannot be offered to an executor.
        FileNotFoundError: there is no such path.
        NothingToLoad: it is not a skill, and there is nothing to load.
    """
    from skill_eval_nb.running.skill import SKILL_FILE, read_skill
    from skill_eval_nb.tables import NothingToLoad, load
    from skill_eval_nb.workspace.jobs import find_skill

    given = Path(os.path.abspath(path.expanduser()))  # noqa: PTH100 -- a link stays a link
    folder = given.parent if given.name == SKILL_FILE else given
    if not (folder / SKILL_FILE).is_file():
        with busy(f"reading {given}"):
            load(given)
        skill = find_skill(given)
        return {"PATH": str(given)} | ({"SKILL": str(skill)} if skill else {})
    read_skill(folder)
    try:
        has_runs = bool(load(folder).polars("runs").height)
    except NothingToLoad:
        has_runs = False
    return {"SKILL": str(folder)} | ({"PATH": str(folder)} if has_runs else {})


@app.command()
@make_command
def demo(out_folder: Path = Path("skill-eval-nb-demo")) -> None:
    """Try everything offline.

    Runs and grades the bundled demo skill with the stand-in model, and draws its charts. Also runs
    the skill that teaches an agent this shell. Then writes reports and tables of both, and of the
    bundled workspaces (made-up data).
    """
    import skill_eval_nb as sen
    from skill_eval_nb.share import bundled_workspaces, share

    written: list[Path] = []
    workspace = _run_skill(share() / "data" / "release-notes", out_folder, runs=3, judgings=2)
    second = _run_skill(share() / "skills" / "evaluate-a-skill", out_folder, runs=1, judgings=1)
    for path in (workspace, second, *bundled_workspaces()):
        ws = sen.load(path)
        show(ws)
        folder = out_folder / path.name
        with busy(f"writing {folder}"):
            written += sen.report.write_report(ws, folder)
            written += sen.report.write_tables(ws, folder / "tables", format="parquet")
            for name in sen.charts.__all__:
                if name != "save" and path == workspace:
                    chart = getattr(sen.charts, name)(ws)
                    written.append(sen.charts.save(chart, folder / "charts" / f"{name}.png"))
    out.print(f"\nWrote {len(written)} files. Look at:")
    for file in written:
        if file.suffix == ".html" or file.name == "benchmark.md":
            out.print(f"  {file}")
    out.print(
        "No model produced these figures: the bundled data are made up, and the stand-in model "
        "follows rules and a seed. Next: `skill-eval-nb lab` opens the notebooks on them, "
        "`skill-eval-nb run YOUR-SKILL` runs your own."
    )


def _run_skill(skill: Path, out_folder: Path, runs: int, judgings: int) -> Path:
    """Run and grade a skill through the stand-in model; its workspace."""
    import skill_eval_nb as sen
    from skill_eval_nb.grading import sandbox
    from skill_eval_nb.running.job import watch

    missing = sandbox.available()
    if missing:  # what the stand-in has done is known, so it may do without
        out.print(Text(f"Without a sandbox: {missing}", style="yellow"))
    plan = sen.plan_runs(
        skill,
        workspace=out_folder / f"{skill.name}-workspace",
        runs=runs,
        judgings=judgings,
        sandbox="none" if missing else "bubblewrap",
        allow_scripts=not missing,
    )
    show(plan)
    end = watch(plan.start(), out)
    out.print(Text(str(end)))
    if end.status == "stopped":  # nothing but Ctrl-C stops it
        raise typer.Exit(INTERRUPTED)
    return plan.workspace
