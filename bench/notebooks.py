"""Every notebook, run to its end on every workspace there is: a command, and no part of make test.

    python -m bench.notebooks [--notebook 03] [NAME …]

On the bundled data, on all of them at once, and on every repository of the folder that
SKILL_EVAL_NB_CORPUS names in which there is something to load, runs or not. Each is copied first;
ends with 1 where a cell raised, wrote to stderr or was not run.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import skill_eval_nb as sen
from skill_eval_nb.share import fill_in
from tests.checkout import ROOT
from tests.notebooks.desk import execute, faults, lay

CORPUS = "SKILL_EVAL_NB_CORPUS"


def workspaces() -> Iterator[Path]:
    """What the notebooks are let look at."""
    yield from sorted((ROOT / "data").glob("*-workspace"))
    yield ROOT / "data"  # several at once
    for folder in sorted(Path(os.environ[CORPUS]).iterdir()) if CORPUS in os.environ else ():
        try:
            sen.load(folder)
        except sen.NothingToLoad:
            continue
        yield folder


def run_on(workspace: Path, home: Path, numbers: list[str]) -> list[str]:
    """Run the notebooks that look at one on a copy of a workspace; what went wrong, a line each."""
    desk = lay(home / workspace.name)
    copy = shutil.copytree(workspace, desk.folder / workspace.name)
    found = []
    for path in fill_in(desk.work, {"PATH": str(copy)})[0]:
        number = path.name[:2]
        if numbers and number not in numbers:
            continue
        began = time.monotonic()
        wrong = faults(execute(desk, f"notebooks/{path.name}")) + desk.refused()
        took = f"{time.monotonic() - began:.1f} s"
        lines = [f"{workspace.name} {number}: {one}" for one in wrong]
        print("\n".join(lines or [f"{workspace.name} {number}: to its end, {took}"]), flush=True)
        found += lines
    return found


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="only workspaces of these names")
    parser.add_argument("--notebook", action="append", help="only this one, such as 03")
    parser.add_argument("--keep", type=Path, help="keep what was run in this folder")
    asked = parser.parse_args()
    chosen = [one for one in workspaces() if not asked.names or one.name in asked.names]
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        run = partial(run_on, home=asked.keep or Path(folder), numbers=asked.notebook or [])
        found = [one for lines in pool.map(run, chosen) for one in lines]
    print(f"{len(chosen)} workspaces, {len(found)} faults")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
