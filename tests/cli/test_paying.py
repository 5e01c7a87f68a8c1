"""Commands that pay a model: one at a time, nothing twice, and nothing that could not be kept.

All of them look again once they have the lock; how one is refused, killed and stopped is seen
in processes of their own, and of a few.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from skill_eval_nb.cli.shell import INTERRUPTED
from skill_eval_nb.running import journal as lock
from skill_eval_nb.running.journal import LOCK, TRIAL
from tests.cli.calls import run
from tests.cli.payers import PAYERS, begun, named, requests
from tests.running.killing import served
from tests.unwritable import KINDS, SAID, disk

pytestmark = pytest.mark.slow
LATENCY = 1.0
"""Seconds of a call: whoever is seen to hold a lock is still paying when it is stopped."""


@pytest.fixture(scope="module")
def servers(tmp_path_factory) -> Iterator[list[tuple[str, Path]]]:
    """A slow model for the first one, and another one for the second."""
    home = tmp_path_factory.mktemp("servers")
    slow, other = home / "slow.log", home / "other.log"
    with served(slow, LATENCY) as first, served(other, 0.0) as second:
        yield [(first, slow), (second, other)]


def is_held(path: Path) -> bool:
    """Whether a lock's file says whose it is: it is there a moment before it is locked."""
    try:
        return path.stat().st_size > 1
    except FileNotFoundError:  # just let go
        return False


@pytest.mark.parametrize("payer", ["run", "judge", "compare_sides", "trigger", "init"])
def test_a_second_one_is_refused_and_a_killed_one_lets_go(payer, servers, tmp_path, monkeypatch):
    (slow, _), (other, log) = servers
    monkeypatch.setenv("ANTHROPIC_BASE_URL", other)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "none is needed")
    command = PAYERS[payer](tmp_path)
    with begun(command, slow) as first:
        while not any(map(is_held, named(tmp_path, LOCK))):
            assert first.poll() is None, first.communicate()
            time.sleep(0.005)
        os.kill(first.pid, signal.SIGSTOP)
        before = requests(log)
        second = run(*command)
        assert second.exit_code == 2, second.output
        (told,) = second.stderr.splitlines()
        assert f"is already running in {tmp_path}" in told
        assert f"by process {first.pid} on " in told
        assert "Wait for it to end, or stop it, and start again" in told
        assert requests(log) == before, "the second one has paid"
        os.kill(first.pid, signal.SIGKILL)
    left = half_files(tmp_path, "run-1" if payer == "judge" else LOCK)
    third = run(*command)
    assert third.exit_code == 0, third.output
    assert requests(log) > before
    assert not any(path.exists() for path in left)
    assert not any(tmp_path.rglob(LOCK))
    assert not any(tmp_path.rglob(TRIAL))


@pytest.mark.parametrize("payer", ["run", "judge_by_batch", "trigger_optimise"])
def test_ctrl_c_ends_it_as_shells_know_it(payer, servers, tmp_path):
    command = PAYERS[payer](tmp_path)
    with begun(command, servers[0][0]) as process:
        while not any(map(is_held, named(tmp_path, LOCK))):
            assert process.poll() is None, process.communicate()
            time.sleep(0.005)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate()
    assert process.returncode == INTERRUPTED
    assert "Traceback" not in told


@pytest.mark.parametrize("payer", [one for one in PAYERS if not one.startswith("judge")])
def test_what_somebody_else_has_just_paid_for_is_seen(payer, servers, tmp_path, monkeypatch):
    """Between the look that shows the price and the moment that the lock is had."""
    _, (server, log) = servers
    monkeypatch.setenv("ANTHROPIC_BASE_URL", server)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "none is needed")
    command, before, after = PAYERS[payer](tmp_path), requests(log), list[int]()
    had = lock.hold_lock

    @contextmanager
    def beaten(*arguments: Any, **more: Any) -> Iterator[None]:
        monkeypatch.setattr(lock, "hold_lock", had)
        assert run(*command).exit_code == 0
        after.append(requests(log))
        with had(*arguments, **more):
            yield

    monkeypatch.setattr(lock, "hold_lock", beaten)
    assert run(*command).exit_code == 0
    assert after == [requests(log)], "it was paid for twice"
    assert after > [before]


def half_files(folder: Path, name: str) -> list[Path]:
    """Files that were being written a while ago, beside or in what has this name."""
    left = []
    for path in folder.rglob(name):
        left.append((path if path.is_dir() else path.parent) / f".{0:016x}.tmp")
        left[-1].touch()
        os.utime(left[-1], (0, 0))
    assert left
    return left


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("payer", PAYERS)
def test_nothing_is_paid_for_that_could_not_be_kept(payer, kind, servers, tmp_path, monkeypatch):
    _, (server, log) = servers
    monkeypatch.setenv("ANTHROPIC_BASE_URL", server)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "none is needed")
    with disk(tmp_path / "disk") as shut:
        command = PAYERS[payer](tmp_path / "disk")
        there, before = files(tmp_path), requests(log)
        shut[kind]()
        result = run(*command)
        assert requests(log) == before, "it was paid for"
        assert result.exit_code == 2, result.output
        (told,) = result.stderr.splitlines()
        assert SAID[kind] in told
        assert str(tmp_path / "disk") in told, "where"
        assert "again" in told, "what to do"
        assert files(tmp_path) - {tmp_path / "disk" / "filled"} == there


def files(folder: Path) -> set[Path]:
    """All that lies below a folder."""
    return {path for path in folder.rglob("*") if path.is_file()}
