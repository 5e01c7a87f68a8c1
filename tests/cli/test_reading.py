"""The commands that read, and those that let one look around: what they print, write and start."""

from __future__ import annotations

import ast
import json
import os
import re
import signal
import subprocess
import sys
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from types import SimpleNamespace

import nbformat
import polars as pl
import pytest

import skill_eval_nb as sen
from skill_eval_nb import share
from skill_eval_nb.cli import reading
from skill_eval_nb.tables import TABLES
from tests import bubblewrap
from tests.checkout import ROOT
from tests.cli.calls import PROGRAM, done, refused, run
from tests.corpus.build import graded, lay
from tests.running.made_jobs import until
from tests.tables.made import two_sides


def test_a_sound_workspace_is_exit_code_0_and_an_error_is_1(ws, tmp_path):
    """Markup in a name is shown as it is."""
    assert done("check", ws).splitlines()[-1].startswith("0 errors, 0 warnings")
    place = "iteration-1/eval-1-[bold]x[/bold]/with_skill/run-1/grading.json"
    verdict = {"expectations": [{"name": "it works", "met": "perhaps"}]}
    faulty = lay(tmp_path / "faulty", two_sides() | {place: verdict})
    result = run("check", faulty)
    severities = [line.split()[0] for line in result.stdout.splitlines()[:-1]]
    assert severities == sorted(severities, key=["error", "warning", "info"].index)
    assert re.search(rf"(?m)^error \S+{re.escape(place)} \$\.expectations\[0\]", result.stdout)
    told = run("check", faulty, "--json")
    problems = [json.loads(line) for line in told.stdout.splitlines()]
    assert (result.exit_code, told.exit_code, len(problems)) == (1, 1, len(severities))
    assert "error" in {one["severity"] for one in problems}
    assert {tuple(one) for one in problems} == {("severity", "code", "path", "where", "message")}


def test_a_flood_is_a_few_lines_of_each_kind(tmp_path):
    files = {}
    for n in range(30):
        files[f"eval-{n}/with_skill/grading.json"] = graded("pf", summary={"passed": 2, "total": 2})
        files[f"eval-{n}/with_skill/timing.json"] = "{" if n % 2 else {"total_tokens": f"{n} loops"}
    result = run("check", lay(tmp_path / "ws", files))
    *lines, counts = result.stdout.splitlines()
    kinds = [re.findall(r"\[([a-z-]+)\]$", line)[0] for line in lines]
    assert all(kinds.count(kind) <= 4 for kind in kinds)
    assert any(re.match(r"error … and 12 more of this kind.*\[not-json\]", line) for line in lines)
    assert any(re.match(r"error .*\(15 times in 15 places.*\[wrong-type\]", line) for line in lines)
    assert counts.startswith("16 errors, 30 warnings")
    every = run("check", tmp_path / "ws", "--json").stdout.splitlines()
    assert sum('"not-json"' in line for line in every) == 15


def suite(passed, **more):
    """Results of another tool: a run of which no file says the side."""
    verdict = {"right": {"type": "text", "score": 1, "passed": passed, **more}}
    tasks = [{"test_id": "t1", "runs": [{"run_number": 1, "validations": verdict}]}]
    return {"eval_id": str(passed), "skill": "x", "config": {}, "tasks": tasks}


def test_what_was_converted_loads_and_losses_are_told_on_the_standard_error(tmp_path):
    """What has no place in a workspace of ours: here, the score of the tool that ran it."""
    path, out = lay(tmp_path / "in", {"with_skill.json": suite(True, score=0.5)}), tmp_path / "out"
    result = run("convert", path, "--out", out)
    written = sum(one.is_file() for one in out.rglob("*"))
    assert (result.exit_code, result.stdout) == (0, f"Wrote {written} files to {out}.\n")
    assert "score" in result.stderr
    assert sen.load(out).runs.height


def test_a_report_is_three_files_of_the_time_that_was_given(ws, tmp_path):
    out, time = tmp_path / "out", "2026-01-02T03:04:05Z"
    told = done("report", ws, "--out", out, "--timestamp", time)
    paths = [out / name for name in ("benchmark.json", "benchmark.md", "report.html")]
    assert sorted(out.iterdir()) == paths
    assert told.splitlines()[-1] == "Wrote {}, {} and {}.".format(*paths)
    assert "2 runs (2 graded)" not in told
    more = done("report", ws, "--out", out, "--timestamp", time, "-v")
    assert all(part in more for part in ("2 runs (2 graded)", *(f"wrote {one}" for one in paths)))
    assert json.loads((out / "benchmark.json").read_text())["metadata"]["timestamp"] == time


def test_a_report_of_one_side_says_why_nothing_is_compared(tmp_path):
    home = lay(tmp_path / "kites-workspace", {"eval-1-e/with_skill/grading.json": graded("pf")})
    answer, wrote = run("report", home, "--out", tmp_path / "out").stdout.splitlines()
    assert answer == "Nothing to compare: no baseline among the configurations: with_skill."
    assert wrote.startswith("Wrote ")


def test_a_report_ends_with_what_single_runs_lean_to_and_what_would_decide_it(tmp_path):
    """The command of a tool's runs makes them anew; as JSON every figure is a field."""
    files = {
        f"iteration-1/eval-{n}-e{n}/{side}/grading.json": graded(verdicts)
        for n in range(1, 5)
        for side, verdicts in (("with_skill", "ppppp"), ("without_skill", "pffff"))
    }
    home, out = lay(tmp_path / "kites-workspace", files), tmp_path / "out"
    answer, step, wrote = run("report", home, "--out", out).stdout.splitlines()
    assert answer.startswith("Too few runs to say whether with_skill helps on these 4 evals. If ")
    assert "with_skill leans up: +80 pp (+" in answer
    assert answer.endswith("on these 4 evals; 4 of 4 improved.")
    assert step.startswith("Next: 1 more run per eval and side (8 runs) would settle it in most")
    assert " --runs 2 --executor claude-code --executor-model MODEL" in step
    assert wrote.startswith("Wrote ")
    said = (out / "benchmark.md").read_text()
    assert str(tmp_path) not in said
    assert re.search(r"(?m)^Next: 1 more run .*: `skill-eval-nb run \w+ --runs 2 ", said)
    notes = json.loads((out / "benchmark.json").read_text())["notes"]
    assert any("leans up: +80 pp" in note for note in notes)
    fields = json.loads(run("report", home, "--out", out, "--json").stdout)
    own, beyond = fields["answers"]
    (row,) = sen.stats.deltas(sen.load(home)).to_dicts()
    assert own.pop("command") in step
    assert own == {name: row[name] for name in own}
    assert (own["verdict"], own["lean"]) == ("too few runs", "leans up")
    assert (beyond["scope"], beyond["verdict"]) == ("population", "too few evals")
    assert beyond["next_step"].startswith("2 more evals")
    assert fields["paths"] == [str(out / path.name) for path in sorted(out.iterdir())]


def test_the_sides_of_results_that_state_none_are_said_of_a_file_and_of_all_others(tmp_path):
    results = lay(tmp_path / "in", {"x.json": suite(False), "y.json": suite(True)})
    out = tmp_path / "out"
    sides = ("--configuration", "with_skill", "--configuration", "x.json=without_skill")
    for name in ("tables", "report", "convert"):
        assert run(name, results, "--out", out / name, *sides).exit_code == 0
    rows = [pl.read_parquet(out / "tables" / "runs.parquet"), sen.load(out / "convert").runs]
    for found in rows:
        rates = dict(found.select("configuration", "pass_rate").rows())
        assert rates == {"with_skill": 1.0, "without_skill": 0.0}
    assert "without_skill" in (out / "report" / "benchmark.md").read_text()
    two = (*sides[:3], "without_skill")
    assert "only one --configuration" in refused("tables", results, "--out", tmp_path / "t", *two)


def test_a_library_is_shown_and_written_and_its_json_has_fields(tmp_path):
    shown = done("library", ROOT / "data", "--out", tmp_path)
    assert "Too few skills to say whether a skill like these helps on average" in shown
    assert shown.split()[-1] == str(tmp_path / "library.html")
    assert {path.name for path in tmp_path.iterdir()} == {"library.md", "library.html"}
    found = json.loads(run("library", ROOT / "data", "--out", tmp_path, "--json").stdout)
    assert (found["skills"][0]["skill"], found["answers"][0]["n_skills"]) == ("testing", 4)


# ── JupyterLab on a copy of the notebooks, and the demo ───────────────────────────────────────────


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
    assert "is outside" not in result.stdout
    assert f"PATH is {ws} in 00_start_here.ipynb, 01_load_and_look.ipynb" in result.stdout
    assert (copy / "notebooks" / "03_with_and_without.ipynb").read_text() == "mine"
    assert "You edited 03_with_and_without.ipynb: the old path stays" in result.stdout
    skill = ROOT / "data" / "release-notes"
    for given in (skill, skill / "SKILL.md"):
        run("lab", given, "--to", copy)
        assert looked_at(copy, "05_run_and_grade") == {"SKILL": str(skill)}
    assert len(commands) == 3


def test_the_skill_that_a_workspace_lies_beside_is_looked_at_too(commands, copy):
    theirs, place = copy.with_name("theirs"), "tidy-workspace"
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
        (None, "does not exist"),
        ({"notes.txt": "nothing"}, "There is nothing to load"),
        ({"SKILL.md": "no head"}, "has no front matter"),
    ):
        theirs = tmp_path / "theirs"
        path = theirs if content is None else lay(theirs, content)
        assert fault in refused("lab", path, "--to", copy)
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
