"""Judging that is killed again and again makes as many judgings as were asked for, and no more."""

from __future__ import annotations

import os
import random
import signal
import time
from pathlib import Path

import pytest

from skill_eval_nb.running.journal import LOCK
from tests.cli.payers import begun, judge, named, requests
from tests.running.killing import served

KILLS, AGAIN, RUNS = 2, 3, 4


@pytest.mark.slow
def test_given_again_after_kills_only_the_rest_is_paid_for(tmp_path):
    rng, seen = random.Random(7), dict[Path, int]()
    command, log = judge(tmp_path), tmp_path / "log"

    def judgings() -> list[Path]:
        """The new ones: each run's grading counts as the first."""
        return [path for n in range(2, AGAIN + 2) for path in named(tmp_path, f"{n}.json")]

    def start(server: str, enough: int | None) -> int | None:
        """Judge; kill it once there are so many judgings."""
        with begun([*command, "--again", AGAIN], server) as process:
            while process.poll() is None:
                held = enough is not None and any(named(tmp_path, LOCK))
                if held and len(judgings()) >= enough:
                    time.sleep(rng.uniform(0, 0.1))
                    os.kill(process.pid, signal.SIGKILL)
                    process.wait()
                    break
                time.sleep(0.005)
            process.communicate()
        for path in judgings():
            assert seen.setdefault(path, path.stat().st_ino) == path.stat().st_ino, "made again"
        return process.returncode

    with served(log, 0.2) as server:
        for _ in range(KILLS):
            start(server, len(seen) + rng.randint(1, 3))
        assert 0 < len(seen) < RUNS * AGAIN
        assert start(server, None) == 0
        names = [f"{number}.json" for number in range(1, AGAIN + 2)]
        runs = list(tmp_path.rglob("run-1"))
        assert len(runs) == RUNS
        for run in runs:
            assert sorted(path.name for path in (run / "judgings").iterdir()) == names
        # What was in flight may be paid for twice, and each run has one judging in flight.
        assert requests(log) <= RUNS * AGAIN + RUNS * KILLS
    assert not any(tmp_path.rglob("judging.json"))
