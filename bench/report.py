"""`python -m bench.report`: a report from the shell's prompt, beside the same of an older commit.

The older commit is checked out beside this one and run in the same environment. Both take turns,
in processes of their own; the least CPU counts, which a busy machine changes less than seconds.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parent.parent
FOLDERS = (ROOT / "data/tdd-workspace", ROOT / "data")


def cpu_seconds(tree: Path, folder: Path) -> float:
    """What a report of the folder takes of the processors with the package as it is in the tree."""
    with tempfile.TemporaryDirectory() as out:
        command = [sys.executable, "-m", "skill_eval_nb", "report", str(folder), "--out", out]
        before = os.times()
        subprocess.run(command, cwd=tree, check=True, stdout=subprocess.DEVNULL)
        after = os.times()
    times = ("children_user", "children_system")
    return sum(getattr(after, name) - getattr(before, name) for name in times)


def main(before: str, repeat: int, folders: Sequence[Path]) -> None:
    """Print a row a folder: CPU of the older commit and of this one, and their ratio."""
    with tempfile.TemporaryDirectory() as place:
        old = Path(place, "old")
        worktree = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*worktree, "add", "--quiet", "--detach", str(old), before], check=True)
        try:
            print(f"## A report from the prompt, best of {repeat}\n")
            print(f"| folder | {before}, CPU s | now, CPU s | × |\n|---|--:|--:|--:|")
            for folder in folders:
                turns = [
                    [cpu_seconds(tree, folder.absolute()) for tree in (old, ROOT)]
                    for _ in range(repeat)
                ]
                then, now = (min(own) for own in zip(*turns, strict=True))
                print(f"| {folder.name} | {then:.2f} | {now:.2f} | {now / then:.2f} |", flush=True)
        finally:
            subprocess.run([*worktree, "remove", "--force", str(old)], check=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m bench.report", description=__doc__)
    parser.add_argument("--before", default="HEAD~1", help="the commit to compare with")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("folders", type=Path, nargs="*", default=FOLDERS)
    main(**vars(parser.parse_args()))
