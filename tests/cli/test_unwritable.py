"""Commands that write to a place that cannot be written: a line, an exit code, nothing lost.

And nothing is paid for that could not be kept.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import skill_eval_nb as sen
from skill_eval_nb.improving import write_drafts
from skill_eval_nb.tables.conversion import MARK
from tests.cli.calls import run
from tests.cli.payers import DEMO, FEW, PAYERS, Command, criticised, files, requests, stored
from tests.improving.made import draft, planted, suite, tried_on
from tests.running.killing import served
from tests.unwritable import KINDS, SAID, disk

FREE = 60_000
"""Bytes that are left on a disk that lets a job begin, and not end."""


def grade(at: Path) -> Command:
    """Outputs that nobody has checked yet."""
    ws = tried_on(at, planted(3, 0), evals=1, runs=1)
    for path in ws.rglob("structural.json"):
        path.unlink()
    return ["grade", ws]


def apply(at: Path) -> Command:
    """A change of a suite."""
    file = write_drafts(at.parent / "drafts.json", [draft("expectations", "It is dated")])
    return ["improve", "apply", file, suite(at / "skill"), "--yes"]


COMMANDS: dict[str, Callable[[Path], Command]] = {
    "grade": grade,
    "convert": lambda at: ["convert", stored(at.parent), "--out", at / "out"],
    "report": lambda at: ["report", stored(at.parent), "--out", at / "out"],
    "tables": lambda at: ["tables", stored(at.parent), "--out", at / "out"],
    "draft": lambda at: ["improve", "draft", criticised(at), "--out", at / "drafts.json"],
    "apply": apply,
    "history": lambda at: ["improve", "history", stored(at.parent), "--out", at / "history.json"],
    "lab": lambda at: ["lab", "--to", at / "lab"],
    "demo": lambda at: ["demo", "--out", at / "demo"],
    **PAYERS,
}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A model, and what reaches it."""
    log = tmp_path_factory.mktemp("server") / "log"
    with served(log, 0.0) as url:
        yield url, log


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", COMMANDS)
def test_what_where_and_what_to_do(name, kind, server, tmp_path, monkeypatch):
    url, log = server
    monkeypatch.setenv("ANTHROPIC_BASE_URL", url)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "none is needed")
    at = tmp_path / "disk"
    with disk(at) as shut:
        command = COMMANDS[name](at)
        before = files(tmp_path), requests(log)
        shut[kind]()
        result = run(*command)
        (at / "filled").unlink(missing_ok=True) if kind == "full" else None
        (at / "out" / MARK).unlink(missing_ok=True)  # so that the next conversion begins again
        assert (files(tmp_path), requests(log)) == before
        if name == "grade":  # a row for each run
            assert result.exit_code == 1, result.output
            assert SAID[kind] in result.stdout
            return
        assert result.exit_code == 2, result.output
        (told,) = result.stderr.splitlines()
        assert SAID[kind] in told
        assert "again" in told
        if kind == "read-only" or name in PAYERS:
            assert str(at) in told


def test_a_job_whose_disk_runs_full_goes_on_once_there_is_room(tmp_path):
    at = tmp_path / "disk"
    with disk(at) as shut:
        command = ["run", DEMO, "--workspace", at / "ws", *FEW, "--runs", 2]
        shut["full"]()
        os.truncate(at / "filled", (at / "filled").stat().st_size - (1 << 16) - FREE)
        result = run(*command)
        assert result.exit_code == 2, result.output
        (told,) = result.stderr.splitlines()
        assert "No space left on device" in told
        assert "Finished work is kept: fix this, and start the plan again" in told
        (at / "filled").unlink()
        again = run(*command)
        assert again.exit_code == 0, again.output
        assert set(sen.load(at / "ws").runs["status"]) <= {"graded", "gated"}
        shutil.rmtree(at / "ws")
