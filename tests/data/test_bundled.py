"""The bundled data say that they are made up, are what their script writes, and can be trusted.

Whether they load, and whether their verdicts are true of their outputs, other tests ask.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import skill_eval_nb as sen
from tests.checkout import ROOT

DATA = ROOT / "data"
WORKSPACES = sorted(DATA.glob("*-workspace"))
DEMO = DATA / "release-notes"


def generate(data: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(data / "generate.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_files_are_what_the_script_writes_and_a_new_run_mends_them(tmp_path):
    ignored = shutil.ignore_patterns("__pycache__")
    data = shutil.copytree(DATA, tmp_path / "data", ignore=ignored)
    changed = data / "tdd-workspace" / "history.json"
    missing = data / "iterations-workspace" / "benchmark.json"
    added = data / "codingbuddy-workspace" / "more.json"
    before = changed.read_bytes()
    missing.unlink()
    for path in (changed, added):
        path.write_text("{}\n", encoding="utf-8")
    checked = generate(data, "--check")
    assert checked.returncode == 1
    assert set(checked.stdout.splitlines()) == {
        f"differs: {changed}",
        f"missing: {missing}",
        f"should not be there: {added}",
    }
    assert generate(data).returncode == 0
    assert changed.read_bytes() == before


@pytest.mark.parametrize("folder", [*WORKSPACES, DEMO], ids=lambda path: path.name)
def test_every_folder_says_what_it_is_and_names_no_model(folder):
    readme = (folder / "README.md").read_text("utf-8")
    assert "Made-up data" in readme or "no model has run it" in readme
    texts = [path.read_text("utf-8") for path in folder.rglob("*.json")]
    named = re.compile(r'"(?:executor|analyzer|judge)_model": "([^"]*)"')
    models = {name for text in texts for name in named.findall(text)}
    assert models <= {"made-up-model", "made-up-judge", "stand-in", "stand-in-judge"}


@pytest.mark.parametrize("folder", WORKSPACES, ids=lambda path: path.name)
def test_benchmarks_state_what_their_runs_give(folder):
    audit = sen.stats.audit(sen.load(folder))
    assert audit.height or folder.name.startswith("test-cases")
    assert audit.filter(~audit["agrees"]).height == 0


@pytest.mark.parametrize("path", sorted(DATA.rglob("*trigger*.json")), ids=lambda path: path.name)
def test_trigger_sets_have_both_kinds_of_queries(path):
    queries = sen.triggers.read_queries(path)
    assert 2 * sum(one.should_trigger for one in queries) == len(queries)
    assert len({one.query for one in queries}) == len(queries)
