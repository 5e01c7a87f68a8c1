"""`python -m bench.start`: from the first import to the first chart, as a Markdown table.

Each time in a process of its own, the smallest of several; what counts on a busy machine is the
CPU. Modules are compiled before, as pip does it.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from time import perf_counter, process_time

REPEATS = 5
DATA = Path(__file__).parents[1] / "data" / "tdd-workspace"


def stages() -> dict[str, tuple[float, float]]:
    """By stage its seconds and CPU seconds, in this process."""
    found, at = {}, (perf_counter(), process_time())

    def done(name: str) -> None:
        nonlocal at
        now = perf_counter(), process_time()
        found[name], at = (now[0] - at[0], now[1] - at[1]), now

    import skill_eval_nb as sen

    done("import skill_eval_nb")
    ws = sen.load(DATA)
    done("sen.load")
    assert ws.runs.height
    done("ws.runs")
    chart = sen.charts.forest(ws)
    done("sen.charts.forest")
    assert chart._repr_mimebundle_()
    done("shown: specification and picture")
    return found


def main() -> None:
    """Measure, and say what was measured."""
    command = [sys.executable, "-m", "bench.start", "here"]
    times = [
        json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
        for _ in range(REPEATS + 1)
    ][1:]  # the first one compiles
    best = min(times, key=lambda one: sum(cpu for _, cpu in one.values()))
    total = [sum(one) for one in zip(*best.values(), strict=True)]
    print("| | seconds | CPU seconds |\n|---|---|---|")
    for name, (seconds, cpu) in {**best, "in all": total}.items():
        print(f"| {name} | {seconds:.2f} | {cpu:.2f} |")


if __name__ == "__main__":
    if sys.argv[1:] == ["here"]:
        print(json.dumps(stages()))
    else:
        main()
