"""`python -m bench.before`: what users wait for, beside the same of an older commit.

The older commit is checked out beside this one and run in the same environment. Both take turns,
in processes of their own; the least CPU counts, which a busy machine changes less than seconds.
A report counts from the shell's prompt, imports included; all else in a process that has done
the same once before.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from .generate import workspace

ROOT = Path(__file__).parent.parent
REPORTS = (ROOT / "data/tdd-workspace", ROOT / "data")
MEASURED = {
    "`.runs` of 6,000 runs": "sen.load(large).runs",
    "every table of 6,000 runs": "sen.load(large).tables()",
    "`explore`, drawn": "sen.explore(sen.load(small)).settle()",
    "`drafts`, drawn": "sen.drafts(sen.load(small)).settle()",
}
"""By what it is called, what is done."""

TIMED = """
import sys, time
import skill_eval_nb as sen
small, large, work = sys.argv[1:]
for _ in range(2):
    begun = time.process_time()
    exec(work)
    taken = time.process_time() - begun
print(taken)
"""


def time_report(tree: Path, folder: Path) -> float:
    """CPU seconds of a report of the folder, with the package as it is in the tree."""
    with tempfile.TemporaryDirectory() as out:
        command = [sys.executable, "-m", "skill_eval_nb", "report", str(folder), "--out", out]
        before = os.times()
        subprocess.run(command, cwd=tree, check=True, stdout=subprocess.DEVNULL)
        after = os.times()
    times = ("children_user", "children_system")
    return sum(getattr(after, name) - getattr(before, name) for name in times)


def time_work(tree: Path, work: str) -> float:
    """CPU seconds of a piece of work done a second time, with the package as it is in the tree."""
    folders = (str(REPORTS[0]), str(workspace(6_000)))
    command = [sys.executable, "-c", TIMED, *folders, work]
    done = subprocess.run(command, cwd=tree, check=True, capture_output=True, text=True)
    return float(done.stdout)


def main(before: str, repeat: int) -> None:
    """Print a row for each thing: CPU of the older commit and of this one, and their ratio."""
    measured = {f"report of {own.name}": (time_report, own) for own in REPORTS}
    measured |= {name: (time_work, work) for name, work in MEASURED.items()}
    with tempfile.TemporaryDirectory() as place:
        old = Path(place, "old")
        worktree = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*worktree, "add", "--quiet", "--detach", str(old), before], check=True)
        try:
            print(f"## Beside {before}, best of {repeat}\n")
            print(f"| what | {before}, CPU s | now, CPU s | × |\n|---|--:|--:|--:|")
            for name, (time, given) in measured.items():
                turns = [[time(tree, given) for tree in (old, ROOT)] for _ in range(repeat)]
                then, now = (min(own) for own in zip(*turns, strict=True))
                print(f"| {name} | {then:.2f} | {now:.2f} | {now / then:.2f} |", flush=True)
        finally:
            subprocess.run([*worktree, "remove", "--force", str(old)], check=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m bench.before", description=__doc__)
    parser.add_argument("--before", default="HEAD~1", help="the commit to compare with")
    parser.add_argument("--repeat", type=int, default=3)
    main(**vars(parser.parse_args()))
