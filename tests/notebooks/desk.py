"""A reader's desk: a folder with the notebooks and the data, a home of its own, no network."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import nbformat

from skill_eval_nb.share import copy_notebooks
from tests.checkout import ROOT
from tests.corpus import build

if TYPE_CHECKING:
    from nbformat import NotebookNode

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
OFFLINE = Path(__file__).parent / "offline"
CLOSED = "http://127.0.0.1:9"
"""A proxy that nobody answers, for libraries that do not go through Python's sockets."""

QUIET_LAB = {
    "@jupyterlab/apputils-extension:notification": {
        "checkForUpdates": False,
        "doNotDisturbMode": True,
        "fetchNews": "false",
    },
    # Every cell is drawn, not only those in sight, and nothing below the last:
    # a picture shows the whole notebook.
    "@jupyterlab/notebook-extension:tracker": {"windowingMode": "none", "scrollPastEnd": False},
}

WITHOUT = {"disabledExtensions": {"@jupyterlab/debugger-extension": True}}
"""It complains on the console of each kernel that ends while it is asked about breakpoints."""


@dataclass(frozen=True)
class Desk:
    """Where a test's JupyterLab or kernel lives, and what it was refused."""

    folder: Path

    @property
    def work(self) -> Path:
        """What the reader sees: `notebooks` and `data` beside each other, as in the checkout."""
        return self.folder / "work"

    def refused(self) -> list[str]:
        """Each attempt to leave this machine since this was last asked, a line."""
        attempts = self._log.read_text().splitlines() if self._log.exists() else []
        self._log.unlink(missing_ok=True)
        return attempts

    def environment(self) -> dict[str, str]:
        """The environment in which a process has this home and no network."""
        home = self.folder / "home"
        kept = {
            key: value
            for key, value in os.environ.items()
            if not key.startswith(("JUPYTER", "IPYTHON", "PYTEST")) and "proxy" not in key.lower()
        }
        return {
            **kept,
            "PATH": os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"])),
            "PYTHONPATH": str(OFFLINE),
            "SKILL_EVAL_NB_REFUSED": str(self._log),
            "HOME": str(home),
            "IPYTHONDIR": str(home / "ipython"),
            "JUPYTER_CONFIG_DIR": str(home / "config"),
            "JUPYTER_DATA_DIR": str(home / "data"),
            "JUPYTER_PATH": str(self.folder / "share"),
            "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
            "JUPYTERLAB_SETTINGS_DIR": str(home / "settings"),
            "JUPYTERLAB_WORKSPACES_DIR": str(home / "workspaces"),
            "HTTP_PROXY": CLOSED,
            "HTTPS_PROXY": CLOSED,
            "NO_PROXY": "127.0.0.1,localhost",
        }

    @property
    def _log(self) -> Path:
        return self.folder / "refused.txt"


def lay(folder: Path) -> Desk:
    """Make a desk in `folder`, with copies: what a notebook writes must not reach the checkout."""
    desk = Desk(folder)
    copy_notebooks(desk.work)
    extension = "labextensions/skill-eval-nb"  # that of the checkout, not one installed before
    shutil.copytree(ROOT / "skill_eval_nb" / "widgets" / "lab", folder / "share" / extension)
    settings = {"default_setting_overrides.json": QUIET_LAB, "page_config.json": WITHOUT}
    build.lay(folder / "home" / "config" / "labconfig", settings)
    return desk


def write(desk: Desk, name: str, *cells: str | NotebookNode) -> None:
    """Put a notebook with these cells on the desk; a text is one of code."""
    code = nbformat.v4.new_code_cell
    nodes = [code(cell) if isinstance(cell, str) else cell for cell in cells]
    for number, cell in enumerate(nodes):  # cells of several notebooks may have the same
        cell.id = str(number)
    kernel = {"name": "python3", "display_name": "Python 3"}
    notebook = nbformat.v4.new_notebook(cells=nodes, metadata={"kernelspec": kernel})
    nbformat.write(notebook, desk.work / name)


def execute(desk: Desk, name: str) -> NotebookNode:
    """Run a notebook of the desk with a kernel alone, through nbclient; what was saved."""
    path = desk.work / name
    command = [sys.executable, "-m", "nbconvert", "--to=notebook", "--execute", "--allow-errors"]
    done = subprocess.run(
        [*command, "--inplace", path.name],
        cwd=path.parent,
        env=desk.environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return nbformat.read(path, as_version=4)


def faults(notebook: NotebookNode) -> list[str]:
    """What a reader would see go wrong in a notebook that was run: a line each.

    A cell that raised, a code cell that was never run, and whatever was written to stderr.
    """
    found = []
    for number, cell in enumerate(notebook.cells):
        if cell.cell_type != "code" or not cell.source.strip():
            continue
        if cell.execution_count is None:
            found.append(f"cell {number} was not run")
        for output in cell.outputs:
            if output.output_type == "error":
                found.append(f"cell {number}: {output.ename}: {output.evalue}")
            elif output.output_type == "stream" and output.name == "stderr":
                found.append(f"cell {number}, stderr: {output.text.strip()}")
    return found
