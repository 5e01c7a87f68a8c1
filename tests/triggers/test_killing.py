"""A measurement that is killed at random instants goes on, and pays for nothing twice.

`python -m tests.triggers.test_killing FOLDER KILLS` does more of it. The stand-in is a server in a
process of its own, with a log. Looked at from the outside: what was finished is never made again,
by its file and by the server's log; every attempt is there at the end; and what was billed by then
is never more than what the measurement says it has cost.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from datetime import datetime
from glob import glob
from pathlib import Path

import pytest

from skill_eval_nb.models import Connection
from skill_eval_nb.running import Limits
from skill_eval_nb.running.journal import read_journal
from skill_eval_nb.triggers import Attempt, Measured
from skill_eval_nb.triggers.attempt import attempt_path, short_hash
from tests import bubblewrap
from tests.checkout import ROOT
from tests.running.killing import SLACK, fork, identity, served
from tests.stand_in import logged
from tests.triggers.made import QUERIES, make_skill, measured

RUNS = 2
CELLS = [Attempt(query, run, "not run") for query in QUERIES for run in range(1, RUNS + 1)]
ATTEMPTS = "*/*/run-*.json"
IN, OUT = 1e-6, 5e-6


def measure_at(server: str, root: Path) -> Measured:
    """Measure with a model at an address."""
    limits = Limits(turns=2, output_tokens=1000)
    given = {"runs": RUNS, "model": "claude-haiku-4-5", "budget_usd": 20.0, "limits": limits}
    return measured(root, *QUERIES, connection=Connection(base_url=server), **given)


def main(root: Path, kills: int, seed: int = 0) -> str:
    """Measure, kill after a while, and again; gives what was found, in a sentence."""
    import anthropic  # noqa: F401 -- so that no child has to
    import httpx2  # noqa: F401

    import skill_eval_nb.running.executors.messages_api  # noqa: F401

    rng, seen, done = random.Random(seed), dict[Path, tuple[int, int]](), 0
    make_skill(root / "kites")
    home = root / "kites-workspace" / "triggers"

    def attempts() -> list[Path]:
        """Those that are there; `glob` bears that folders come and go beside them."""
        found = glob(f"{home}/{ATTEMPTS}")  # noqa: PTH207 -- that of Path stumbles over them
        return [Path(path) for path in found]

    with served(root / "log", 0.15) as server:
        while True:
            pid = fork(lambda: measure_at(server, root).status == "done", root / "child.log")
            enough = len(seen) + rng.randint(1, 5) if done < kills else len(CELLS) + 1
            while (ended := os.waitpid(pid, os.WNOHANG))[0] == 0:
                if len(attempts()) >= enough:
                    time.sleep(rng.uniform(0, 0.1))
                    os.kill(pid, signal.SIGKILL)
                    os.waitpid(pid, 0)
                    done += 1
                    break
                time.sleep(0.01)
            for path in attempts():
                now = identity(path)
                assert seen.setdefault(path, now) == now, f"{path} was made again"
            if ended[0]:
                assert os.waitstatus_to_exitcode(ended[1]) == 0, (root / "child.log").read_text()
                break
    found = measure_at("http://127.0.0.1:1", root)  # nobody is there: nothing is asked
    assert [one.outcome for one in found.attempts] == ["triggered"] * len(CELLS)
    assert len(seen) == len(CELLS)
    assert done == kills
    places = {"launched": "folder", "started": "skills"}
    events = [one for one in read_journal(found.folder).events if one["event"] in places]
    left = [one for one in events if Path(one[places[one["event"]]]).exists()]
    assert left == [], "folders of killed runs were left behind"
    log = logged(root / "log")
    keys = {
        short_hash([found.folder.name, cell.key]): attempt_path(found.folder, cell)
        for cell in CELLS
    }
    for line in log:
        if line["session"] is None:  # cut off before the server had heard all of it
            continue
        sent, made = datetime.fromisoformat(line["time"]), keys[line["session"]].stat().st_mtime
        assert sent.timestamp() <= made + SLACK, "what was finished was paid for again"
    usage = [line["usage"] for line in log if line["usage"]]
    billed = sum(IN * one["input_tokens"] + OUT * one["output_tokens"] for one in usage)
    assert billed <= found.cost_usd <= 20.0, f"{billed} were billed, {found.cost_usd} told"
    assert not list(root.rglob(".*")), "half files were left behind"
    return f"{done} kills, {len(log)} requests for {len(CELLS)} attempts"


@pytest.mark.slow
@bubblewrap.needed
def test_killed_again_and_again_it_makes_only_what_is_missing(tmp_path):
    # In a process of its own: it forks, which other tests' threads would not survive.
    command = [sys.executable, "-m", "tests.triggers.test_killing", str(tmp_path), "2"]
    done = subprocess.run(
        command, check=False, cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.endswith("for 16 attempts\n")


if __name__ == "__main__":
    print(main(Path(sys.argv[1]), int(sys.argv[2])))
