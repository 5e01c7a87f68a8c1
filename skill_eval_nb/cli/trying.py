"""Commands to try it: `lab` and `demo`."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text
from typer.core import TyperCommand

from skill_eval_nb.running.job import watch
from skill_eval_nb.share import COPY

from .shell import INTERRUPTED, app, busy, make_command, out, show

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

    What is there already stays as it is: of a notebook that you edited, not even the path is set.
    What stands after -- goes to JupyterLab: lab PATH -- --no-browser --port 9999 --allow-root

    Options:
        to: where to put the copy of the notebooks and their data.
    """
    from skill_eval_nb.share import START, copy_notebooks, fill_in

    if importlib.util.find_spec("jupyterlab") is None:
        raise ModuleNotFoundError("JupyterLab is missing: `pip install jupyterlab`")
    paths = {} if path is None else _looked_at(path)
    copy_notebooks(to)
    filled, kept = fill_in(to, paths)
    if "PATH" in paths and "SKILL" not in paths:  # the demo's panel has no place among these runs
        fill_in(to, {"SKILL": NO_SKILL}, START)
    out.print(Text(f"The notebooks are in {to / 'notebooks'}."))
    for name, where in paths.items():
        out.print(
            Text(f"  {name} is {where} in {', '.join(path.name for path in filled) or 'none'}.")
        )
    if kept:
        names = ", ".join(path.name for path in kept)
        out.print(Text(f"  You edited {names}: kept as it is, path and all.", style="yellow"))
    given = ctx.meta[JUPYTER]
    if hasattr(os, "geteuid") and os.geteuid() == 0 and "--allow-root" not in given:
        out.print(Text("  You are root: JupyterLab may need -- --allow-root."))
    command = [sys.executable, "-m", "jupyterlab", str(to / "notebooks" / START)]
    served = _served_folder(to, paths.values())
    for name, where in paths.items():
        if not os.path.realpath(where).startswith(served):
            warning = f"  {name} lies outside of {served}, which JupyterLab shows: "
            out.print(Text(f"{warning}to change files there, give --to another folder.", "yellow"))
    command += [f"--ServerApp.root_dir={served}", *given]
    raise typer.Exit(_run_to_its_end(command))


def _run_to_its_end(command: list[str]) -> int:
    """Run a program; what ends us meanwhile ends it first, with its kernels. Gives its exit code.

    Ctrl-C in a terminal reaches it as well, and JupyterLab then asks before it ends.

    Raises:
        SystemExit: 128 and the number of the signal that has ended us.
    """

    def end(number: int, _: object) -> None:
        if number != signal.SIGINT or not os.isatty(0):
            raise SystemExit(128 + number)

    names = ("SIGINT", "SIGTERM", "SIGHUP")  # the last is not there on Windows
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    before = {number: signal.getsignal(number) for number in numbers}
    with subprocess.Popen(command) as program:
        try:
            for number, was in before.items():
                if was is not signal.SIG_IGN:  # as by nohup
                    signal.signal(number, end)
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
    """The folder that JupyterLab shows: the copy, and what the notebooks look at, to be changed."""
    here = os.path.realpath(copy)
    folders = [path if Path(path).is_dir() else os.path.dirname(path) for path in paths]  # noqa: PTH120
    try:
        above = os.path.commonpath([here, *map(os.path.realpath, folders)])
    except ValueError:  # on another drive
        return here
    return here if above == Path(above).anchor else above


def _looked_at(path: Path) -> dict[str, str]:
    """What the notebooks are to look at: a skill, a workspace, or a folder that is both.

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

    Runs and grades the bundled demo skill through the stand-in model and draws its charts, and once
    the skill that teaches an agent this shell; then writes reports and tables of these and of the
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
