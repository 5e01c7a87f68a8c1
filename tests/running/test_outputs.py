"""What an agent leaves: outputs, links and pipes, and how a run's folder comes to its place."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import pickle
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path

import pytest

from skill_eval_nb.models import Connection
from skill_eval_nb.running.files import (
    clear,
    collect,
    make_ready,
    put_in_place,
    remove,
    work_folders,
)
from skill_eval_nb.running.protocol import Refused
from skill_eval_nb.running.spec import state
from skill_eval_nb.running.suite import find_inputs, read_suite
from tests.corpus.build import lay
from tests.running.made_jobs import job_plan
from tests.running.made_plans import make_skill, steps_of
from tests.stand_in import RiggedStandIn


@pytest.fixture
def run(tmp_path):
    """A run's folder with two inputs in its working folder."""
    inputs = find_inputs(
        ["files"], [lay(tmp_path / "skill", {"files/a.txt": "a", "files/b.txt": "b"})]
    )
    make_ready(tmp_path / "run", tmp_path / "scratch", inputs)
    return tmp_path / "run", inputs


def test_new_and_changed_files_are_outputs_and_the_others_inputs(run):
    folder, inputs = run
    given = {"files/b.txt": "changed", "new/ä.md": "größer", "picture.png": b"\x89PNG\xff\xfe"}
    work = lay(folder / "outputs", given)
    found = collect(folder, inputs)
    assert found.files == ("files/b.txt", "new/ä.md", "picture.png")
    assert found.inputs == ("files/a.txt",)
    assert found.chars == len("changed") + len("größer")
    assert found.left_out == ()
    assert (folder / "inputs" / "files" / "a.txt").read_text() == "a"
    assert not (work / "files" / "a.txt").exists()


def test_links_pipes_and_sockets_are_told_and_taken_away(run, tmp_path):
    folder, inputs = run
    work = folder / "outputs"
    secret = tmp_path / "secret"
    secret.write_text("key")
    (work / "note.md").write_text("x")
    links = {"out": secret, "up": "../..", "gone": "nothing", "circle": "circle"}
    for name, target in (links | {"latest.md": "note.md", "input": "files/a.txt"}).items():
        (work / name).symlink_to(target)
    os.mkfifo(work / "pipe")
    with socket.socket(socket.AF_UNIX) as one:
        with contextlib.chdir(work):  # the name of a socket must be short
            one.bind("socket")
        found = collect(folder, inputs)
    assert found.left_out == (
        "circle: a link that leads nowhere",
        "gone: a link that leads nowhere",
        "input: a link that leads nowhere",
        "out: a link that leads out of the folder",
        "pipe: a pipe",
        "socket: a socket",
        "up: a link that leads out of the folder",
    )
    assert found.files == ("note.md",)
    assert {path.name for path in work.iterdir()} == {"latest.md", "note.md"}


def test_what_an_agent_closed_is_opened(run):
    folder, inputs = run
    shut = lay(folder / "outputs" / "shut", {"in/x.md": "x"})
    for path in (shut / "in" / "x.md", shut / "in", shut):
        path.chmod(0)
    assert collect(folder, inputs).files == ("shut/in/x.md",)
    (shut / "in").chmod(0)
    remove(folder)
    assert not folder.exists()


@pytest.mark.parametrize("level", ["file", "folder", "above"])
def test_a_file_of_the_host_is_never_taken_for_an_input(tmp_path, level):
    skill = lay(tmp_path / "skill", {"files/deep/a.txt": "a"})
    host = lay(tmp_path / "host", {"deep/a.txt": "a"})  # the very same, so that it passes for it
    inputs = find_inputs(["files"], [skill])
    make_ready(tmp_path / "run", tmp_path / "scratch", inputs)
    work = tmp_path / "run" / "outputs"
    place = {"file": "files/deep/a.txt", "folder": "files/deep", "above": "files"}[level]
    remove(work / place)
    (work / place).symlink_to(host / Path(place).relative_to("files"))
    found = collect(tmp_path / "run", inputs)
    assert found.inputs == ()
    assert found.left_out == (f"{place}: a link that leads out of the folder",)
    remove(tmp_path / "run")
    assert (host / "deep" / "a.txt").read_text() == "a"


def test_a_folder_that_is_gone_is_empty_and_a_deep_one_is_kept(run):
    folder, inputs = run
    deep = "/".join(["d"] * 105) + "/x.md"
    lay(folder / "outputs", {deep: "kept"})
    assert collect(folder, inputs).files == (deep,)
    shutil.rmtree(folder / "outputs")
    assert collect(folder, inputs).files == ()


def test_git_starts_nothing_in_the_outputs(run):
    folder, inputs = run
    work, mark = folder / "outputs", folder.parent / "started"
    program = f"#!/bin/sh\ntouch {mark}\n"
    git = ["git", "-C", work]
    subprocess.run([*git, "init", "--quiet"], check=True)
    subprocess.run([*git, "config", "core.fsmonitor", f"touch {mark};:"], check=True)
    lay(work, {".git/hooks/post-index-change": program})
    (work / ".git" / "hooks" / "post-index-change").chmod(0o755)
    subprocess.run([*git, "add", "files"], check=True)
    assert mark.exists()  # so it would go
    mark.unlink()
    found = collect(folder, inputs)
    assert [one.split(":")[0] for one in found.left_out] == [".git/config", ".git/hooks"]
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "status"], check=True, stdout=subprocess.DEVNULL)
    assert not mark.exists()


OTHER_DISK = Path("/dev/shm")


@pytest.fixture(params=["the same disk", "another disk"])
def far(request, tmp_path):
    """A folder in which runs are made."""
    if request.param == "the same disk":
        yield tmp_path
        return
    if not OTHER_DISK.is_dir() or OTHER_DISK.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("left out: there is one disk only")
    with tempfile.TemporaryDirectory(dir=OTHER_DISK) as folder:
        yield Path(folder)


@pytest.mark.parametrize(("before", "kept"), [("errored", "new"), ("done", "old")])
def test_an_errored_run_is_replaced_and_a_sound_one_is_not(tmp_path, far, before, kept):
    place, staging = tmp_path / "a" / "run-1", far / "far" / "k-1"
    for folder, status, text in ((place, before, "old"), (staging, "done", "new")):
        lay(folder, {"timing.json": {"status": status, "reason": "x"}, "text": text})
    put_in_place(staging, tmp_path, place)
    assert (place / "text").read_text() == kept
    assert list((tmp_path / ".staging").iterdir()) == list((far / "far").iterdir()) == []


def make_deep(folder: Path) -> None:
    """A folder deeper than a path may be long."""
    folder.mkdir()
    at = os.open(folder, os.O_RDONLY)
    for _ in range(3000):
        os.mkdir("f", dir_fd=at)
        below = os.open("f", os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = below
    os.close(at)


@pytest.mark.parametrize(
    "make", [os.mkfifo, Path.touch, make_deep, lambda path: path.symlink_to("no")]
)
def test_whatever_lies_there_is_taken_away(tmp_path, make):
    make(tmp_path / "there")
    remove(tmp_path / "there")
    remove(tmp_path / "there")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="left out: only root can give a folder away")
def test_a_folder_that_another_user_has_made_is_not_used_nor_taken_away(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    staging, scratch = work_folders(tmp_path, "key", 1)
    staging.parent.mkdir()
    os.chown(staging.parent, 1234, 1234)
    with pytest.raises(PermissionError, match="another user's"):
        make_ready(staging, scratch, ())
    clear(tmp_path)
    assert staging.parent.is_dir()


def test_a_disk_that_is_full_is_told_from_a_run_that_failed(tmp_path, monkeypatch):
    """From another disk a run is copied, file by file."""
    staging = tmp_path / "made" / "k-1"
    lay(staging, {"timing.json": "{}", "outputs/a.txt": "a"})

    def fails(real, number, why):
        """For what is below this folder alone: other threads go on."""

        def failing(source, *more, **options):
            if Path(source).is_relative_to(tmp_path):
                raise OSError(number, why)
            return real(source, *more, **options)

        return failing

    for module, name, number, why in (
        (shutil, "copy2", errno.ENOSPC, "No space left on device"),
        (os, "rename", errno.EXDEV, "Invalid cross-device link"),
    ):
        monkeypatch.setattr(module, name, fails(getattr(module, name), number, why))
    with pytest.raises(OSError, match="No space") as error:
        put_in_place(staging, tmp_path, tmp_path / "run-1")
    assert error.value.errno == errno.ENOSPC
    assert (staging / "outputs" / "a.txt").exists()


# ── which steps a run lacks ────────────────────────────────────────────────────────────────────


def lacks(folder: Path, judgings: int = 2, **options) -> tuple[str, ...]:
    given = {"has_structural": True, "has_judged": True, **options}
    return steps_of(state(folder, judgings, **given))


def test_the_steps_follow_the_files(tmp_path):
    lay(tmp_path, {"outputs/x.json": {}})  # without timing.json the run is not there
    every = ("execute", "check", "judge 1", "judge 2", "grade")
    assert lacks(tmp_path) == every
    for name, missing in {
        "timing.json": every[1:],
        "structural.json": every[2:],
        "judgings/2.json": ("judge 1", "grade"),
        "judgings/1.json": ("grade",),
        "grading.json": (),
    }.items():
        lay(tmp_path, {name: {}})
        assert lacks(tmp_path) == missing, name
    assert not state(tmp_path, 2, has_structural=True, has_judged=True)
    assert lacks(tmp_path, 3) == ("judge 3", "grade")
    os.utime(tmp_path / "grading.json", ns=(10**18, 10**18))  # it is older than a judging
    assert lacks(tmp_path) == ("grade",)
    lay(tmp_path, {"structural.json": {"gate_passed": False}})
    (tmp_path / "grading.json").unlink()
    assert lacks(tmp_path) == ()
    assert lacks(tmp_path, gate=False) == ("grade",)


# ── who looks at which expectation ─────────────────────────────────────────────────────────────


def test_typed_expectations_go_to_the_checks_and_the_others_to_the_judge(tmp_path):
    typed = [
        {"description": "notes.md is created", "type": "file_exists"},
        {"description": "table.csv is created", "type": "file_exists"},
        {"description": "It says so", "type": "contains_text", "match": "a note"},
        {"description": "Tests pass", "type": "custom", "script": "test -f notes.md"},
    ]
    spoken = [{"name": "good", "description": "The notes read well"}]
    spoken += [{"name": "apt", "description": "The notes are apt", "type": "custom"}]
    make_skill(tmp_path / "skill", [{"id": 1, "prompt": "Do", "assertions": [*typed, *spoken]}])
    model = Connection(stand_in=RiggedStandIn(log=str(tmp_path / "log")))
    options = {"configurations": ["with_skill"], "allow_scripts": True, "sandbox": "none"}
    plan = job_plan(tmp_path, connection=model, **options)
    assert plan.start().wait(60).finished == 1
    checks, grading = (
        json.loads((plan.run_of(plan.cells[0]).place / name).read_bytes())["expectations"]
        for name in ("structural.json", "grading.json")
    )
    assert [one["passed"] for one in checks] == [True, False, True, True]
    assert [one["text"] for one in grading] == ["The notes read well", "The notes are apt"]
    (asked,) = (tmp_path / "log").read_text().splitlines()
    assert "The notes read well" in asked
    assert "table.csv is created" not in asked


def test_what_a_check_needs_goes_along_to_another_process_and_into_the_digest(tmp_path):
    digests = set()
    for script in ("true", "false"):
        typed = {"description": "Tests pass", "type": "custom", "script": script}
        make_skill(tmp_path, [{"prompt": "Do", "assertions": [typed]}])
        suite = read_suite(tmp_path / "evals" / "evals.json", tmp_path)
        (check,) = pickle.loads(pickle.dumps(suite)).evals[0].checks
        assert (check.script, check.id) == (script, "E1")
        digests.add(suite.digest)
    assert len(digests) == 2


@pytest.mark.parametrize(
    ("where", "check", "fault"),
    [
        ("assertions", {"type": "file_not_contains", "match": ["a", "b"]}, "`match` of check"),
        ("structural_expectations", {"type": "x", "match": ["a", "b"]}, "`match` of check"),
        ("assertions", {"type": "row_count", "count": "two"}, "`count` of check E1"),
    ],
)
def test_a_check_of_which_something_cannot_be_read_is_refused(tmp_path, where, check, fault):
    """What is lost would make another check of it than the suite states."""
    make_skill(tmp_path, [{"prompt": "Do", where: [{**check, "text": "x"}]}])
    with pytest.raises(Refused, match=fault) as caught:
        read_suite(tmp_path / "evals" / "evals.json", tmp_path)
    assert len(caught.value.faults) == 1
