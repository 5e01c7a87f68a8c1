"""JupyterLab on a copy of the notebooks, and the demo."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import skill_eval_nb as sen
from skill_eval_nb.tables import TABLES
from tests.checkout import ROOT
from tests.cli.calls import run
from tests.corpus.build import lay


class TestLab:
    @pytest.fixture
    def commands(self, monkeypatch) -> list[list[str]]:
        """The commands that would be run; JupyterLab itself is not started."""
        every: list[list[str]] = []

        def record(command: list[str], *, check: bool) -> subprocess.CompletedProcess[str]:
            every.append(command)
            assert not check
            return subprocess.CompletedProcess(command, 3)

        monkeypatch.setattr(subprocess, "run", record)
        return every

    def test_jupyterlab_opens_the_first_notebook_of_the_copy(self, commands, tmp_path):
        result = run("lab", tmp_path / "mine")
        first = tmp_path / "mine" / "notebooks" / "01_load_and_look.ipynb"
        assert commands == [[sys.executable, "-m", "jupyterlab", str(first)]]
        assert first.exists()
        assert (tmp_path / "mine" / "data" / "tdd-workspace").is_dir()
        assert str(tmp_path / "mine" / "notebooks") in result.stdout

    def test_its_exit_code_is_passed_on(self, commands, tmp_path):
        assert run("lab", tmp_path / "mine").exit_code == 3
        assert len(commands) == 1

    def test_a_copy_that_is_there_is_kept(self, commands, tmp_path):
        notebook = lay(tmp_path, {"notebooks/01_load_and_look.ipynb": "mine"})
        run("lab", notebook)
        assert (tmp_path / "notebooks" / "01_load_and_look.ipynb").read_text() == "mine"
        assert len(commands) == 1


@pytest.mark.slow
def test_the_demo(tmp_path):
    out = tmp_path / "demo"
    result = run("demo", "--out", out)
    assert result.exit_code == 0
    assert "made up" in result.stdout
    assert "done: 36 of 36 runs" in result.stdout
    bundled = {path.name for path in (ROOT / "data").glob("*-workspace")}
    assert {path.name for path in out.iterdir()} == {"demo-skill-workspace", *bundled}
    ran = out / "demo-skill-workspace"
    assert set(sen.load(ran).runs["status"]) <= {"graded", "gated"}
    charts = list((ran / "charts").glob("*.png"))
    assert {path.stem for path in charts} == set(sen.charts.__all__) - {"save"}
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in charts)
    for folder in out.iterdir():
        assert (folder / "report.html").exists()
        assert {path.stem for path in (folder / "tables").iterdir()} == set(TABLES)
    told = re.findall(r"^  (\S+(?:html|md))$", result.stdout, re.MULTILINE)
    assert told
    assert all(Path(path).exists() for path in told)
