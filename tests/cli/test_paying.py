"""Commands that pay a model: asked first, one at a time, nothing twice, nothing without a key.

All of them look again once they have the lock; how one is refused, killed and stopped is seen
in processes of their own, and of a few.
"""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import typer

from skill_eval_nb.cli.shell import INTERRUPTED, ask_first
from skill_eval_nb.running import journal as lock
from skill_eval_nb.running.journal import LOCK
from tests.cli.calls import run
from tests.cli.payers import PAYERS, Command, begun, files, named, requests
from tests.running.killing import served

pytestmark = pytest.mark.slow
LATENCY = 1.0
"""Seconds of a call: whoever is seen to hold a lock is still paying when it is stopped."""
OFFERING = ("draft_changes", "try_out", "trigger_draft", "init")
"""They say what a model would cost in place of a question, and do the rest of their work."""
WITHOUT_DRY_RUN = ("draft_changes", "try_out")


@pytest.fixture(scope="module")
def servers(tmp_path_factory) -> Iterator[list[tuple[str, Path]]]:
    """A slow model for the first one, and another one for the second."""
    home = tmp_path_factory.mktemp("servers")
    slow, other = home / "slow.log", home / "other.log"
    with served(slow, LATENCY) as first, served(other, 0.0) as second:
        yield [(first, slow), (second, other)]


@pytest.fixture(autouse=True)
def log(servers, monkeypatch) -> Path:
    """A key, and what reaches the model that answers at once."""
    _, (server, log) = servers
    monkeypatch.setenv("ANTHROPIC_BASE_URL", server)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "none is needed")
    return log


def is_held(path: Path) -> bool:
    """Whether a lock's file says whose it is: it is there a moment before it is locked."""
    try:
        return path.stat().st_size > 1
    except FileNotFoundError:  # just let go
        return False


@contextmanager
def paying(command: Command, servers: Any, home: Path) -> Iterator[Any]:
    """A command in a process of its own, once it holds the lock."""
    with begun(command, servers[0][0]) as process:
        while not any(map(is_held, named(home, LOCK))):
            assert process.poll() is None, process.communicate()
            time.sleep(0.005)
        yield process


@pytest.mark.parametrize("payer", ["run", "judge", "trigger"])
def test_a_second_one_is_refused_and_a_killed_one_lets_go(payer, servers, log, tmp_path):
    command = PAYERS[payer](tmp_path)
    with paying(command, servers, tmp_path) as first:
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
    assert not [*filter(Path.exists, left), *tmp_path.rglob(LOCK)]


def half_files(folder: Path, name: str) -> list[Path]:
    """Files that were being written a while ago, beside or in what has this name."""
    left = []
    for path in folder.rglob(name):
        left.append((path if path.is_dir() else path.parent) / f".{0:016x}.tmp")
        left[-1].touch()
        os.utime(left[-1], (0, 0))
    assert left
    return left


@pytest.mark.parametrize("payer", ["run", "judge_by_batch", "trigger_optimise"])
def test_ctrl_c_ends_it_as_shells_know_it(payer, servers, tmp_path):
    with paying(PAYERS[payer](tmp_path), servers, tmp_path) as process:
        process.send_signal(signal.SIGINT)
        _, told = process.communicate()
    assert (process.returncode, "Traceback" in told) == (INTERRUPTED, False)


@pytest.mark.parametrize("payer", [one for one in PAYERS if not one.startswith("judge")])
def test_what_somebody_else_has_just_paid_for_is_seen(payer, log, tmp_path, monkeypatch):
    """Between the look that shows the price and the moment that the lock is had."""
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


# ── before money is spent without a ceiling, the user is asked; nobody else is ────────────────


def unlimited(payer: str, home: Path) -> Command:
    """A command that pays, without a ceiling and without a yes."""
    command = [part for part in PAYERS[payer](home) if part != "--yes"]
    at = command.index("--budget-usd") if "--budget-usd" in command else len(command)
    return command[:at] + command[at + 2 :]


@pytest.mark.parametrize("payer", PAYERS)
def test_without_a_ceiling_or_a_yes_and_without_a_key_nothing_is_spent(
    payer, log, tmp_path, monkeypatch
):
    command, before = unlimited(payer, tmp_path), (files(tmp_path), requests(log))
    result = run(*command)
    if payer in OFFERING:
        assert re.search(r"\$0\.\d+ at (worst|most)[;:].* --budget-usd", result.output)
    else:
        assert "This costs money" in result.output
        assert "and has no --budget-usd. Continue?" in result.output
        assert result.exit_code == 1
    monkeypatch.delenv("ANTHROPIC_API_KEY")
    if payer not in WITHOUT_DRY_RUN:
        shown = run(*command, "--dry-run")
        assert shown.exit_code == 0
        assert re.search(r"\$\d*\.\d*[1-9]", shown.stdout)
    monkeypatch.delenv("ANTHROPIC_BASE_URL")
    limit = ("--budget-usd", 5) if payer in OFFERING else ("--yes",)
    result = run(*command, *limit)
    assert (result.exit_code, "There is no API key" in result.stderr) == (2, True)
    assert "Continue?" not in result.output
    assert (files(tmp_path), requests(log)) == before


def test_the_user_decides_and_knows_what_it_may_cost_and_may_press_ctrl_c(tmp_path, monkeypatch):
    asked = list[str]()
    with monkeypatch.context() as patch:
        patch.setattr(typer, "confirm", asked.append)
        assert run(*unlimited("compare_sides", tmp_path)).exit_code == 2
        patch.setattr(typer, "confirm", lambda _: True)
        ask_first(None, False, 0.76)
    assert asked == ["This costs money, $0.76 at most, and has no --budget-usd. Continue?"]

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("typer._click.termui.visible_prompt_func", interrupted)
    with pytest.raises(typer.Exit) as ended:
        ask_first(None, False)
    assert ended.value.exit_code == INTERRUPTED
