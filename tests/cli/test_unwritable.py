"""Commands that write to a place that cannot be written: a line, an exit code, nothing lost."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import skill_eval_nb as sen
from skill_eval_nb.improving import write_drafts
from tests.cli.calls import run
from tests.cli.payers import DEMO, Command, criticised, kites, stored
from tests.improving.made import draft, planted, suite, tried_on
from tests.unwritable import KINDS, SAID, disk

FREE = 60_000
"""Bytes that are left on a disk that lets a job begin, and not end."""


def offline(at: Path) -> Command:
    """Runs of the demo skill."""
    few = ("--eval", "no-version-named", "--runs", 2, "--sandbox", "none")
    return ["run", DEMO, "--workspace", at / "ws", *few]


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


def trigger_draft(at: Path) -> Command:
    """Queries into a set; the answer itself is kept elsewhere."""
    skill, _ = kites(at.parent)
    to = ("--n", 4, "--others", "none", "--out", at / "set.json")
    return ["trigger-draft", skill, "--model", "stand-in-judge", *to]


def init(at: Path) -> Command:
    """The first evals of a skill."""
    kept = ("--out", at / "copy", "--yes")
    return ["init", kites(at.parent)[0], *kept]


COMMANDS: dict[str, Callable[[Path], Command]] = {
    "run": offline,
    "grade": grade,
    "init": init,
    "convert": lambda at: ["convert", stored(at.parent), "--out", at / "out"],
    "report": lambda at: ["report", stored(at.parent), "--out", at / "out"],
    "tables": lambda at: ["tables", stored(at.parent), "--out", at / "out"],
    "aggregate": lambda at: ["improve", "aggregate", criticised(at)],
    "draft": lambda at: ["improve", "draft", criticised(at), "--out", at / "drafts.json"],
    "apply": apply,
    "history": lambda at: ["improve", "history", stored(at.parent), "--out", at / "history.json"],
    "trigger-draft": trigger_draft,
    "lab": lambda at: ["lab", "--to", at / "lab"],
    "demo": lambda at: ["demo", "--out", at / "demo"],
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", COMMANDS)
def test_what_where_and_what_to_do(name, kind, tmp_path):
    at = tmp_path / "disk"
    with disk(at) as shut:
        command = COMMANDS[name](at)
        before = contents(at)
        shut[kind]()
        result = run(*command)
        (at / "filled").unlink(missing_ok=True) if kind == "full" else None
        assert contents(at) == before
        if name == "grade":  # a row for each run
            assert result.exit_code == 1, result.output
            assert SAID[kind] in result.stdout
            return
        assert result.exit_code == 2, result.output
        (told,) = result.stderr.splitlines()
        assert SAID[kind] in told
        assert "again" in told
        if kind == "read-only":
            assert str(at) in told


def test_a_job_whose_disk_runs_full_goes_on_once_there_is_room(tmp_path):
    at = tmp_path / "disk"
    with disk(at) as shut:
        command = offline(at)
        shut["full"]()
        os.truncate(at / "filled", (at / "filled").stat().st_size - (1 << 16) - FREE)
        result = run(*command)
        assert result.exit_code == 2, result.output
        (told,) = result.stderr.splitlines()
        assert "No space left on device" in told
        assert "Nothing that was finished is lost: fix this, and start the plan again" in told
        (at / "filled").unlink()
        again = run(*command)
        assert again.exit_code == 0, again.output
        assert set(sen.load(at / "ws").runs["status"]) <= {"graded", "gated"}
        shutil.rmtree(at / "ws")


def contents(folder: Path) -> dict[Path, bytes]:
    """Every file below a folder, and what is in it."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
