"""A workspace of strangers, in which links lead to files of the user's: none of these is sent to
a model, copied, or written to."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from typer.testing import CliRunner

import skill_eval_nb as sen
from skill_eval_nb.cli.shell import app
from skill_eval_nb.grading.judge import Judge
from skill_eval_nb.improving import analyse, compare, draft
from skill_eval_nb.models import Connection
from skill_eval_nb.running import judge_again
from skill_eval_nb.widgets.review.book import Book
from skill_eval_nb.widgets.ui.source import key_of
from skill_eval_nb.workspace.feedback import Remarks
from tests.checkout import ROOT
from tests.corpus.build import graded, lay
from tests.stand_in import RiggedStandIn

SECRET = "the diary of the user"
SIDE = "iteration-1/eval-1-lend-a-book/with_skill"

READ = {
    "transcript.jsonl": "diary",
    "transcript.md": "diary",
    "grading.json": "run/grading.json",
    "inputs": ".",
    "outputs": ".",
    "outputs/diary.md": "diary",
    "outputs/below": ".",
    ".": "run",
}
"""Links by their place in a run's folder, and where they lead to in the user's home."""

WRITTEN = {
    f"{SIDE}/run-1/structural.json": "file",
    f"{SIDE}/run-1/timing.json": "file",
    f"{SIDE}/run-2/grading.json": "file",
    f"{SIDE}/run-3/judgings": "folder",
    "iteration-1/eval-2-late-fee/with_skill/run-1": "run",
    "batch.json": "file",
    "history.json": "file",
    "comparisons": "folder",
    "iteration-1/feedback.json": "file",
    "iteration-1/benchmark.json": "file",
    "iteration-1/benchmark.md": "file",
    "iteration-1/eval_feedback_aggregate.json": "file",
    "report.html": "file",
    "runs.csv": "file",
    ".skill-eval-nb": "folder",
}
"""Links by their place in the workspace, and what they lead to."""


@pytest.fixture
def home(tmp_path) -> Path:
    """The user's files: a diary, a run, a side of runs."""
    source = ROOT / "data/tdd-workspace" / SIDE
    folder = tmp_path / "home"
    shutil.copytree(source, folder / "side")
    for path in folder.rglob("*.*"):
        text = path.read_text()
        path.write_text(
            text.replace('": "', f'": "{SECRET}, ')
            if path.suffix == ".json"
            else f"{SECRET}\n{text}"
        )
    shutil.copytree(folder / "side/run-1", folder / "run")
    (folder / "diary").write_text(SECRET)
    return folder


@pytest.fixture
def ws(tmp_path) -> Path:
    """A workspace of two evals in one iteration, without links as yet."""
    left = shutil.ignore_patterns("iteration-2", "eval-[3-6]*")
    return shutil.copytree(
        ROOT / "data/tdd-workspace", tmp_path / "foreign/tdd-workspace", ignore=left
    )


def link(place: Path, target: Path) -> None:
    """Put a link in the place of what is there."""
    if place.is_dir():
        shutil.rmtree(place)
    place.unlink(missing_ok=True)
    place.symlink_to(target)


def files(folder: Path) -> dict[str, bytes | None]:
    """What lies below a folder, with its bytes."""
    return {
        str(one.relative_to(folder)): one.read_bytes() if one.is_file() else None
        for one in folder.rglob("*")
    }


def ask_everything(ws: Path, log: Path) -> None:
    """Judge, compare and analyse, whatever comes of it."""
    connection = Connection(stand_in=RiggedStandIn(log=str(log)))
    judged = judge_again(ws, judge=Judge("stand-in-judge"), connection=connection)
    linked = {run for run in ws.glob("*/*/*/run-*") if run.is_symlink()}
    assert set(map(str, linked)) <= {one.what for one in judged.left_out}
    both = sen.load(ws)
    sides = ("iteration-1", "with_skill"), ("iteration-1", "without_skill")
    compare(both, *sides, connection=connection)
    analyse(sen.load(ws), connection=connection)


def link_runs(ws: Path, home: Path) -> None:
    """Put each of the links into a run of its own."""
    runs = sorted((ws / "iteration-1").glob("*/with*_skill/run-*"))
    for run, (place, target) in zip(runs, READ.items(), strict=False):
        link((run / place).resolve(), home / target)


def test_no_model_is_shown_a_file_of_the_user_s(ws, home, tmp_path):
    link_runs(ws, home)
    piped = max((ws / "iteration-1").glob("*/with_skill/run-*"))
    (piped / "transcript.md").unlink(missing_ok=True)
    os.mkfifo(piped / "transcript.md")  # which nobody waits for
    ask_everything(ws, tmp_path / "log")
    assert SECRET not in (tmp_path / "log").read_text()
    assert (piped / "judgings").is_dir()
    mine = max((ws / "iteration-1").glob("*/without_skill/run-*"))
    shutil.copy(home / "diary", mine / "outputs/diary.md")
    ask_everything(ws, tmp_path / "log")
    assert SECRET in (tmp_path / "log").read_text()  # what lies in the workspace is shown


DOCUMENTS = {
    "files": (
        f"{SIDE}/run-1/grading.json",
        f"{SIDE}/run-2/structural.json",
        "iteration-1/eval-2-late-fee/eval_metadata.json",
        "iteration-1/skill-snapshot/with_skill/SKILL.md",
        "iteration-1/benchmark.json",
        "history.json",
    ),
    "the suite": ("evals.json",),
    "folders": (SIDE, "iteration-1/eval-2-late-fee", "iteration-1/skill-snapshot"),
}


@pytest.mark.parametrize("kind", DOCUMENTS)
def test_no_document_of_the_user_s_is_taken_for_one_of_theirs(ws, tmp_path, kind):
    """Though it is just what would lie there: nothing that is sent or written has it.

    Every other one is led to by a link that lies in the workspace itself.
    """
    places, twin = DOCUMENTS[kind], shutil.copytree(ws, tmp_path / "home/twin")
    for path in twin.rglob("*.*"):
        text, is_json = path.read_text(), path.suffix == ".json"
        path.write_text(text.replace('": "', f'": "{SECRET}, ') if is_json else text + SECRET)
    (ws / "by.the.way").symlink_to(twin)
    for at, place in enumerate(places):
        target = twin / place
        if at % 2 == 0:
            target = Path(os.path.relpath(ws / "by.the.way" / place, (ws / place).parent))
        link(ws / place, target)
    log, out = tmp_path / "log", tmp_path / "out"
    with suppress(ValueError):  # without the suite there is nothing to ask
        ask_everything(ws, log)
    draft(
        sen.load(ws), model="stand-in-judge", connection=Connection(stand_in=RiggedStandIn(log=log))
    )
    for command in ("report", "tables --format csv", "convert"):
        name, *options = command.split()
        done = CliRunner().invoke(app, [name, str(ws), "--out", str(out / name), *options])
        assert done.exit_code in (0, 1), done.output
    told = {name: data for name, data in files(out).items() if data} | {"log": log.read_bytes()}
    assert len(told) > 20
    assert not [name for name, data in told.items() if SECRET.encode() in data]
    said = sen.load(ws).problems.filter(code="link")["path"].to_list()
    assert {place for place in places if "skill-snapshot" not in place} <= set(said)


def test_nothing_is_written_to_the_user_s_files(ws, home):
    for place, kind in WRITTEN.items():
        target = home / kind if kind == "run" else home / place.replace("/", "-")
        if kind == "folder":
            target.mkdir()
        elif kind == "file":
            target.write_bytes((ws / place).read_bytes() if (ws / place).exists() else b"{}")
        link(ws / place, target)
    before = files(home)
    folder, runs = str(ws), "iteration-1"
    aggregate = ["improve", "aggregate", folder, "--iteration", "iteration-1", "--force"]
    judge = ["judge", folder, "--judge-model", "stand-in-judge"]
    ended = [
        CliRunner().invoke(app, [str(part) for part in command])
        for command in (
            ["grade", folder, "--force"],
            judge,
            [*judge, "--batch"],
            ["compare", folder, f"{runs}/with_skill", f"{runs}/without_skill"],
            [*aggregate],
            [*aggregate, "--merge-model", "stand-in-judge"],
            ["improve", "draft", folder, "--model", "stand-in-judge"],
            ["improve", "analyse", folder, "--model", "stand-in-judge"],
            ["improve", "history", folder, "--out", folder, "--force"],
            ["report", folder, "--out", folder],
            ["tables", folder, "--out", folder, "--format", "csv"],
        )
    ]
    book = Book(sen.load(ws))
    for row in sen.load(ws).polars("runs").filter(iteration="iteration-1").iter_rows(named=True):
        with suppress(OSError):  # which a reviewer is told
            book.say(key_of(row), Remarks("well done"))
    assert files(home) == before
    for one in ended:
        assert one.exception is None or isinstance(one.exception, SystemExit), one.output


PIPES = """
import os, sys
from pathlib import Path
import skill_eval_nb as sen
from skill_eval_nb.running import plan_runs

def start(folder):
    plan_runs(folder / "tdd", workspace=folder / "ws", executor="offline").start().wait()

folder, place, work = Path(sys.argv[1]), sys.argv[2], globals()[sys.argv[3]]
(folder / place).unlink(missing_ok=True)
os.mkfifo(folder / place)
try:
    work(folder)
except (OSError, ValueError) as error:
    print(error)
"""
"""Does some work with a pipe in the place of a file; nobody writes to it, and nobody reads."""


@pytest.mark.parametrize(
    ("place", "work", "said"),
    [
        ("tdd/SKILL.md", "start", "no SKILL.md"),
        ("ws/iteration-1/journal.jsonl", "start", "not a regular file"),
    ],
)
def test_nobody_waits_for_a_pipe_in_the_place_of_a_file(tmp_path, place, work, said):
    suite = {"skill_name": "tdd", "evals": [{"id": 1, "prompt": "Do.", "expectations": ["done"]}]}
    text = "---\nname: tdd\ndescription: does\n---\nDo it.\n"
    run = {"ws/iteration-1/eval-1/with_skill/run-1/grading.json": graded("pf")}
    lay(tmp_path, {"tdd/SKILL.md": text, "tdd/evals/evals.json": suite, **run})
    done = subprocess.run(
        [sys.executable, "-c", PIPES, tmp_path, place, work],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        timeout=90,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, said in done.stdout) == (0, True), done.stdout + done.stderr
