"""The shell: `skill-eval-nb check | schema | convert | report | tables | lab | demo`.

Commands are thin: they call what Python users call, print what came of it, and end with 1
where something was wrong with the data, with 2 where something was wrong with the call.
"""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.console import Console
from rich.text import Text

from . import __version__

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
out = Console(highlight=False, soft_wrap=True)
err = Console(highlight=False, soft_wrap=True, stderr=True)

SHOWN = 200
"""So many problems are printed; more are counted."""

COLOURS = {"error": "red", "warning": "yellow", "info": "dim"}

Dialect = Literal["skill-creator", "skill-evaluator", "iterations", "codingbuddy", "test-cases"]
Format = Literal["parquet", "csv", "json"]


def _known_tables(names: list[str] | None) -> list[str] | None:
    """Refuse a name that is no table as what it is: a wrong option."""
    from .tables.columns import find

    for name in names or ():
        try:
            find(name)
        except KeyError as error:
            raise typer.BadParameter(error.args[0]) from None
    return names


def _print_version(wanted: bool) -> None:
    if wanted:
        out.print(f"skill-eval-nb {__version__}")
        raise typer.Exit


PathArgument = Annotated[Path, typer.Argument(help="A workspace, any folder above it, or a file.")]
OutOption = Annotated[Path, typer.Option("--out", help="Folder to write to.")]


def main() -> None:
    """Run the shell; what the terminal's encoding lacks is printed as an escape."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    app()


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Does your agent skill really help? Load, check, convert and report skill evaluations."""


def told(command: Callable[..., Any]) -> Callable[..., Any]:
    """Turn the errors that a user can do something about into a line, and exit code 2."""

    @wraps(command)
    def run(*arguments: Any, **options: Any) -> Any:
        try:
            return command(*arguments, **options)
        except BrokenPipeError:  # whoever was reading has read enough
            raise
        except (OSError, ValueError) as error:
            from .documents.dialects import NoSuchDocument
            from .workspace import NothingToLoad

            if not isinstance(error, OSError | NoSuchDocument | NothingToLoad):
                raise
            err.print(Text(str(error), style="red"))
            raise typer.Exit(2) from None

    return run


@app.command()
@told
def check(
    path: PathArgument,
    dialect: Annotated[
        Dialect | None, typer.Option(help="Check against this one; else the nearest.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object a problem.")
    ] = False,
) -> None:
    """Check files or workspaces for faults.

    Every fault is told with its file, its place there, what was expected and what was found.
    Exit code 1 where one of them is an error.
    """
    from .workspace import check as check_path

    problems = check_path(path, dialect)
    if as_json:
        for one in problems:
            fields = ("severity", "code", "path", "where", "message")
            print(json.dumps({name: getattr(one, name) for name in fields}))
    else:
        _print_problems(problems)
    raise typer.Exit(1 if any(one.severity == "error" for one in problems) else 0)


@app.command()
@told
def schema(
    name: Annotated[str, typer.Argument(help="A document: grading, benchmark, evals, …")],
    dialect: Annotated[
        Dialect | None, typer.Option(help="As this one has it; else all that is read.")
    ] = None,
) -> None:
    """Print the JSON Schema of a document."""
    from .documents.schema import json_schema

    print(json.dumps(json_schema(name, dialect), indent=2, ensure_ascii=False))


@app.command()
@told
def convert(
    path: PathArgument,
    to: Annotated[Dialect, typer.Option(help="The dialect to write.")],
    out_folder: OutOption,
) -> None:
    """Turn a workspace into another dialect.

    What the other dialect cannot hold is told. Nothing below the path is changed.
    """
    from .workspace import convert as convert_path

    converted = convert_path(path, to, out_folder)
    _print_problems(converted.losses)
    out.print(f"Wrote {len(converted.written)} files to {out_folder}.")


@app.command()
@told
def report(
    path: PathArgument,
    out_folder: OutOption,
    dialect: Annotated[Dialect, typer.Option(help="Form of benchmark.json.")] = "skill-creator",
    timestamp: Annotated[
        str | None, typer.Option(help="Time stamp to state; else that of the data.")
    ] = None,
) -> None:
    """Write benchmark.json, benchmark.md and report.html."""
    import skill_eval_nb as sen

    ws = sen.load(path)
    written = sen.report.write_report(ws, out_folder, dialect=dialect, timestamp=timestamp)
    out.print(Text(repr(ws)))
    _print_written(written)


@app.command()
@told
def tables(
    path: PathArgument,
    out_folder: OutOption,
    format: Annotated[Format, typer.Option(help="Kind of file.")] = "parquet",  # noqa: A002
    names: Annotated[
        list[str] | None,
        typer.Option(
            "--table", callback=_known_tables, help="Only this table; may be given again."
        ),
    ] = None,
) -> None:
    """Write the tables as files."""
    import skill_eval_nb as sen

    ws = sen.load(path)
    _print_written(sen.report.write_tables(ws, out_folder, format=format, names=names))


@app.command()
@told
def lab(
    folder: Annotated[
        Path, typer.Argument(help="Where to put the copy of the notebooks and their data.")
    ] = Path("skill-eval-nb"),
) -> None:
    """Open JupyterLab on a copy of the notebooks.

    What is there already stays as it is.
    """
    from .share import copy_notebooks

    notebooks = copy_notebooks(folder)
    out.print(f"The notebooks are in {folder / 'notebooks'}.")
    command = [sys.executable, "-m", "jupyterlab", str(notebooks[0])]
    raise typer.Exit(subprocess.run(command, check=False).returncode)


@app.command()
@told
def demo(out_folder: OutOption = Path("skill-eval-nb-demo")) -> None:
    """Try everything on the bundled data.

    Loads the bundled workspaces (made-up data), draws the charts, writes reports and tables.
    """
    import skill_eval_nb as sen

    from .share import bundled_workspaces

    written: list[Path] = []
    for path in bundled_workspaces():
        ws = sen.load(path)
        out.print(Text(repr(ws)))
        folder = out_folder / path.name
        written += sen.report.write_report(ws, folder)
        written += sen.report.write_tables(ws, folder / "tables", format="parquet")
        for name in sen.charts.__all__:
            if name != "save":
                chart = getattr(sen.charts, name)(ws)
                written.append(sen.charts.save(chart, folder / "charts" / f"{name}.png"))
    out.print(f"\nWrote {len(written)} files. Look at:")
    for file in written:
        if file.suffix == ".html" or file.name == "benchmark.md":
            out.print(f"  {file}")
    out.print("The bundled data are made up: no model produced these figures.")


def _print_written(written: Iterable[Path]) -> None:
    for loss in getattr(written, "losses", ()):
        out.print(Text(f"not held: {loss}", style="yellow"))
    for file in written:
        out.print(Text(f"wrote {file}"))


def _print_problems(problems: Iterable[Any]) -> None:
    """Print problems, the worst first, and how many there are of each severity."""
    order = list(COLOURS)
    ordered = sorted(problems, key=lambda one: order.index(one.severity))
    for one in ordered[:SHOWN]:
        line = Text()
        line.append(f"{one.severity}", style=COLOURS[one.severity])
        line.append(f" {one.path}")
        if one.where:
            line.append(f" {one.where}", style="bold")
        line.append(f": {one.message} [{one.code}]")
        out.print(line)
    if len(ordered) > SHOWN:
        out.print(f"… and {len(ordered) - SHOWN} more")
    counts = Counter(one.severity for one in ordered)
    ends = {one: "" if counts[one] == 1 else "s" for one in order}
    words = [f"{counts[one]} {one}{ends[one]}" for one in ("error", "warning")]
    out.print(", ".join([*words, f"{counts['info']} for information"]))
