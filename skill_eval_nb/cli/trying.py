"""Commands to try it: `lab` and `demo`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from .shell import OutOption, app, out, told


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
    from skill_eval_nb.share import copy_notebooks

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
    from skill_eval_nb.share import bundled_workspaces

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
