"""JupyterLab on a copy of the notebooks, and the demo."""

from __future__ import annotations

import ast
import os
import re
import signal
import subprocess
import sys
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest

import skill_eval_nb as sen
from skill_eval_nb import share
from skill_eval_nb.cli import reading
from skill_eval_nb.tables import TABLES
from tests import bubblewrap
from tests.checkout import ROOT
from tests.cli.calls import PROGRAM, done, refused, run
from tests.corpus.build import lay
from tests.running.made_jobs import until
from tests.tables.made import two_sides


@pytest.fixture
def commands(monkeypatch) -> list[list[str]]:
    """The commands that would be run, by root; JupyterLab itself is not started."""
    every: list[list[str]] = []

    def record(command: list[str]) -> AbstractContextManager[SimpleNamespace]:
        every.append(command)
        return nullcontext(SimpleNamespace(wait=lambda _: 3))

    monkeypatch.setattr(os, "geteuid", lambda: 0, raising=False)
    fake = SimpleNamespace(Popen=record, TimeoutExpired=subprocess.TimeoutExpired)
    monkeypatch.setattr(reading, "subprocess", fake)
    return every


@pytest.fixture
def copy(tmp_path) -> Path:
    """The folder that the copy goes to."""
    return tmp_path / "mine"


def looked_at(copy: Path, name: str) -> dict[str, str]:
    """What a notebook of a copy looks at."""
    notebook = nbformat.read(copy / "notebooks" / f"{name}.ipynb", as_version=4)
    lines = re.findall(r"(?m)^(PATH|SKILL) = (.*)", "\n".join(one.source for one in notebook.cells))
    return {name: ast.literal_eval(text.split("  #")[0]) for name, text in lines}


OURS = {"PATH": "../data/tdd-workspace", "SKILL": "../data/release-notes"}


def test_jupyterlab_opens_the_dashboard_of_the_copy(commands, copy):
    result = run("lab", "--to", copy)
    first = copy / "notebooks" / "00_start_here.ipynb"
    root = f"--ServerApp.root_dir={os.path.realpath(copy)}"
    assert commands == [[sys.executable, "-m", "jupyterlab", str(first), root]]
    assert (result.exit_code, "You are root" in result.stdout) == (3, True)  # JupyterLab's own
    assert (copy / "data" / "tdd-workspace").is_dir()
    assert str(copy / "notebooks") in result.stdout
    assert looked_at(copy, "00_start_here") == OURS
    # What stands after two dashes is Jupyter's.
    own = ["--no-browser", "--port", "9999", "--allow-root", "--", "-h"]
    result = run("lab", "--to", copy, "--", *own)
    assert commands[-1][-len(own) :] == own
    assert "You are root" not in result.stdout


def test_the_notebooks_look_at_what_is_given_and_an_edited_one_is_kept(commands, copy, ws):
    lay(copy, {"notebooks/03_with_and_without.ipynb": "mine"})
    result = run("lab", ws, "--to", copy)
    assert looked_at(copy, "00_start_here") == {"PATH": str(ws), "SKILL": reading.NO_SKILL}
    assert looked_at(copy, "05_run_and_grade") == {"SKILL": OURS["SKILL"]}
    assert "lies outside of" not in result.stdout
    assert f"PATH is {ws} in 00_start_here.ipynb, 01_load_and_look.ipynb" in result.stdout
    assert (copy / "notebooks" / "03_with_and_without.ipynb").read_text() == "mine"
    assert "You edited 03_with_and_without.ipynb: kept as it is" in result.stdout
    skill = ROOT / "data" / "release-notes"
    for given in (skill, skill / "SKILL.md"):
        run("lab", given, "--to", copy)
        assert looked_at(copy, "05_run_and_grade") == {"SKILL": str(skill)}
    assert len(commands) == 3


@pytest.mark.parametrize("place", ["tidy-workspace", "tidy/evals/workspace", "tidy/workspace"])
def test_the_skill_that_a_workspace_lies_beside_or_in_is_looked_at_too(commands, copy, place):
    theirs = copy.with_name("theirs")
    lay(theirs / place, two_sides())
    lay(theirs / "tidy", {"SKILL.md": "---\nname: tidy\ndescription: Tidies.\n---\n"})
    run("lab", theirs / place, "--to", copy)
    assert looked_at(copy, "00_start_here")["SKILL"] == reading.NO_SKILL  # it has no evals to run
    lay(theirs / "tidy", {"evals/evals.json": {"evals": [{"id": 1, "prompt": "Tidy up."}]}})
    for path in (theirs / place, theirs / place / "iteration-1"):
        run("lab", path, "--to", copy)
        found = {"PATH": str(path), "SKILL": str(theirs / "tidy")}
        assert looked_at(copy, "00_start_here") == found


def test_a_path_with_nothing_to_look_at_is_an_error_at_once(commands, copy, tmp_path):
    for content, fault in (
        ({}, "does not exist"),
        ({"notes.txt": "nothing"}, "There is nothing to load"),
        ({"SKILL.md": "no head"}, "has no front matter"),
    ):
        assert fault in refused("lab", lay(tmp_path / "theirs", content), "--to", copy)
        assert (commands, copy.exists()) == ([], False)


ENDS_SLOWLY = """
import pathlib, signal, sys, time
def end(*_):
    time.sleep(0.2)
    pathlib.Path("ended").touch()
    sys.exit()
signal.signal(signal.SIGTERM, end)
pathlib.Path("up").touch()
time.sleep(60)
"""


@pytest.mark.skipif(os.name != "posix", reason="there are no such signals")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGINT"])
def test_a_signal_ends_jupyterlab_before_the_command(name, tmp_path):
    """In JupyterLab's place stands a program that takes its time to end, and says so."""
    lay(tmp_path, {"jupyterlab/__init__.py": "", "jupyterlab/__main__.py": ENDS_SLOWLY})
    number = signal.Signals[name]
    before = signal.signal(number, lambda *_: None)  # it may be ignored here, and so below
    try:
        env = os.environ | {"PYTHONPATH": str(tmp_path)}
        command = subprocess.Popen([PROGRAM, "lab"], cwd=tmp_path, env=env)
    finally:
        signal.signal(number, before)
    until((tmp_path / "up").exists)
    command.send_signal(number)
    assert command.wait(30) == 128 + number
    assert (tmp_path / "ended").exists()


@bubblewrap.needed
@pytest.mark.slow
def test_the_demo(tmp_path, monkeypatch):
    """With one of the bundled workspaces: what is written of each is a report as any other."""
    bundled = ROOT / "data" / "iterations-workspace"
    assert bundled in share.bundled_workspaces()
    assert "0 errors, 0 warnings" in done("check", ROOT / "skills" / "evaluate-a-skill")
    monkeypatch.setattr(share, "bundled_workspaces", lambda: [bundled])
    out = tmp_path / "demo"
    result = run("demo", "--out", out)
    assert result.exit_code == 0
    for told in ("made up", "done: 36 of 36 runs", "done: 6 of 6 runs"):
        assert told in result.stdout  # the last of the skill that teaches this shell
    benchmark = (out / "release-notes-workspace" / "benchmark.md").read_text()
    assert "**No verdict on whether with_skill helps on these 6 evals.**" in benchmark
    assert "The stand-in is not a model" in benchmark
    assert "The same in every run, and so left out of the tables: cost" in benchmark
    made = {"release-notes-workspace", "evaluate-a-skill-workspace"}
    assert {path.name for path in out.iterdir()} == {*made, bundled.name}
    ran = out / "release-notes-workspace"
    assert set(sen.load(ran).runs["status"]) <= {"graded", "gated"}
    charts = list((ran / "charts").glob("*.png"))
    assert {path.stem for path in charts} == set(sen.charts.__all__) - {"save"}
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in charts)
    for folder in out.iterdir():
        assert (folder / "report.html").exists()
        assert {path.stem for path in (folder / "tables").iterdir()} == set(TABLES)
    written = re.findall(r"^  (\S+(?:html|md))$", result.stdout, re.MULTILINE)
    assert written
    assert all(Path(path).exists() for path in written)
