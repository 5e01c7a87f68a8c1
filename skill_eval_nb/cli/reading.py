"""Commands that read: `check`, `schema`, `convert`, `report`, `gate`, `library`, `tables`."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Literal

import typer
from rich.text import Text
from typer.core import TyperCommand

from skill_eval_nb.text import some

from .shell import (
    SHOWN,
    Dialect,
    app,
    busy,
    err,
    in_options,
    list_answers,
    load_visibly,
    make_command,
    out,
    print_answers,
    print_fields,
    print_losses,
    print_problems,
    print_written,
    settings,
    show,
    sides,
    split_pair,
)

Format = Literal["parquet", "csv", "json"]


class Several(TyperCommand):
    """A command of several paths, whose help says so in the words of the others."""

    def get_help(self, ctx: Any) -> str:
        """Its help."""
        return super().get_help(ctx).replace("<list[Path]>", "<path>")


@app.command(cls=Several)
@make_command
def check(paths: list[Path], dialect: Dialect | None = None) -> None:
    """Check files, skills or workspaces for problems.

    Shown are the problems of loading, by kind, and what breaks the rules of a dialect: each with
    its file, its place there and what was found. Exit code 1 if one is an error: a file, a run
    or a figure is lost, or a dialect that was asked for is broken. --json lists all of them.

    Options:
        paths: Workspaces, folders above, skills, or files.
        dialect: check against this one; else the nearest.
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
        dialect: as this one has it; else all that is read.
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
    """Write what is loaded from a path as one workspace, or as inspect_ai's logs.

    The workspace has skill-creator's layout with skill-evaluator's fields, whoever's tool wrote
    the results. It loads again to the same runs, figures, checks and scores. What it cannot hold
    is listed on the standard error. Nothing below the path is changed. A workspace that was cut
    off is begun again; logs want a new folder.

    Exit code 0 where something was written, whatever was lost; 2 if nothing could be.

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
        converted = convert_path(path, out_folder, configuration=sides(configuration))
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
    """Write benchmark.json, benchmark.md and report.html, and say what they say in two lines.

    Options:
        dialect: form of benchmark.json.
        timestamp: time stamp to state; else that of the data.
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
    """Say whether something got worse, for CI: the exit code is the answer.

    0: no regression is shown, and it says how large a one may be missed. 1: a regression is shown,
    or a limit is not kept. 3: too little to tell. A bare difference decides nothing. Where
    $GITHUB_STEP_SUMMARY names a file, the Markdown is added to it.

    Options:
        metric (METRIC): what may not get worse; else the pass rate.
        versus (ITERATION): compare with this one instead.
        against (PATH): compare with another workspace's newest iteration.
        most (METRIC=FIGURE): the largest mean of a metric, as cost_usd=0.5; may be given again.
        least (METRIC=FIGURE): the smallest, as pass_rate=0.8; may be given again.
        fail_on (END): what ends with 1: regression, limits, cannot-tell; else the first two.
        markdown (FILE): write Markdown to it.
        junit (FILE): write JUnit XML to it.
        badge (FILE): write a badge to it, as SVG.
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
        raise typer.BadParameter(in_options(error)) from None
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

    Shown are the answer over all skills, each skill's verdict or what it leans to, allowing for
    their number, what would decide the others and what that costs, the evals that tell nothing, and
    what the skills cost. Of each the newest iteration counts that compares pass rates.
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
    """Write the tables as files.

    Texts from the files stand in CSV as they are. A spreadsheet runs a cell that begins with =,
    +, - or @ as a formula, whoever wrote it: give --quote-formulas before you open one there.

    Options:
        format: kind of file.
        names (--table TABLE): Only this table; may be given again.
        quote_formulas: in CSV put ' before a text that a spreadsheet would run: one that begins
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
