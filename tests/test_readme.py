"""The README is true: its Python runs, its commands run, its links lead somewhere.

So is what stands in the pages of Python and shell, and of the widgets.
"""

import re
import shlex
import shutil

import pytest

from tests.checkout import ROOT
from tests.cli.calls import run

TEXT = (ROOT / "README.md").read_text()
PAGES = "".join((ROOT / "docs" / "pages" / name).read_text() for name in ("ways.md", "widgets.md"))
CELLS = re.findall(r"`([^`\n]+)`", TEXT + PAGES)


def blocks(language):
    """The fenced blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", TEXT + PAGES, re.MULTILINE | re.DOTALL)


PYTHON = [
    *blocks("python"),
    *(cell for cell in CELLS if cell.startswith("sen.") and cell.endswith(")") and "…" not in cell),
]
SHELL = [
    line.partition("#")[0].strip()
    for line in [*"".join(blocks("sh")).replace("\\\n", "").splitlines(), *CELLS]
    if line.startswith("skill-eval-nb ") and not line.startswith("skill-eval-nb lab")
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with copies of `data` and `skills`, so that what the README writes does not stay."""
    folder = tmp_path_factory.mktemp("readme")
    for name in ("data", "skills"):
        shutil.copytree(ROOT / name, folder / name)
    return folder


@pytest.mark.slow
def test_the_python_runs_in_order(folder, monkeypatch):
    assert len(PYTHON) >= 4
    monkeypatch.chdir(folder)
    names = {"path": "data/tdd-workspace"}
    for block in PYTHON:
        exec(block, names)


@pytest.mark.parametrize("line", SHELL)
def test_the_command_runs(line, folder, monkeypatch):
    monkeypatch.chdir(folder)
    result = run(*shlex.split(line)[1:])
    assert result.exit_code == 0, result.output


def test_the_commands_are_found():
    assert {shlex.split(line)[1] for line in SHELL} >= {"report", "tables", "check", "convert"}


@pytest.mark.parametrize("target", re.findall(r"\]\(([^)]+)\)", TEXT))
def test_the_link_leads_somewhere(target):
    assert (ROOT / target).exists()


def test_it_is_read_in_a_few_minutes():
    assert TEXT.index("![") < TEXT.index("```")
    assert len(TEXT.split()) <= 1400


def test_the_tour_names_every_notebook():
    notebooks = {path.stem for path in (ROOT / "notebooks").glob("*.ipynb")}
    assert set(re.findall(r"^\| `(\d\d_\w+)`", TEXT, re.MULTILINE)) == notebooks


SKILL = ROOT / "skills" / "evaluate-a-skill"


def test_the_skill_names_commands_and_options_that_there_are():
    """Of the shell alone: what a model makes of them is what its evals are for."""
    text = (SKILL / "SKILL.md").read_text("utf-8").replace("\\\n", "")
    lines = re.findall(r"(?:^|`)skill-eval-nb ([a-z][^#`\n]*)", text, re.MULTILINE)
    assert len(lines) >= 6
    for line in lines:
        words = shlex.split(line)
        names = words[: 2 if words[0] == "improve" else 1]
        told = run(*names, "--help").output
        assert [one for one in words if one.startswith("--") and one not in told] == []
