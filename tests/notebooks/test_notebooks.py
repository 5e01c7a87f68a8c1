"""Every notebook runs from top to bottom with a kernel alone: no browser, no network.

All in one kernel, which forgets between two of them whatever has a name: to begin one takes
longest. What was loaded may be anything: those that look at a workspace run to their end on it.
(`python -m bench.notebooks` runs them on all there is, each by itself.) And a notebook
that is saved as soon as it has run shows finished pages to who has no kernel.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import nbconvert
import nbformat
import pytest

import skill_eval_nb as sen
from skill_eval_nb.share import copy_notebooks, fill_in
from tests.corpus.build import lay
from tests.notebooks.desk import NOTEBOOKS, execute, faults, write
from tests.tables.made import two_sides

if TYPE_CHECKING:
    from pathlib import Path

    from nbformat import NotebookNode

pytestmark = pytest.mark.slow

SUITE = {"skill_name": "tidy", "evals": [{"id": 1, "prompt": "Tidy up."}]}
NOTHING = "nothing that was run"
PLAIN = "a skill with plain evals, its first runs beside another workspace"
"""No trigger set, no structural checks, no rubric, one iteration, one run a side, as skill-creator
has them; and several workspaces at once."""
WIDGETS = (
    "import skill_eval_nb as sen\nws = sen.load('../data/tdd-workspace')\nsen.explore(ws)",
    "sen.diff(ws)",
    "sen.drafts('../data/tdd-workspace')",
    "sen.run_panel('../data/release-notes')",
)
OF_SKILLS = {"05_run_and_grade.ipynb", "08_triggers.ipynb"}
"""Notebooks that look at a skill, whatever was loaded."""
ELSEWHERE = {"09_published_results.ipynb"}
"""That has a table of its own."""
PROMISES = ("Counting", "counted", "Grouping what", "is being made", "Looking at")
ASK = "import urllib.request as u; u.urlopen('http://example.org')"
FAULTY = (
    "1 + 1",
    "print('fine')",
    "import socket; socket.create_connection(('192.0.2.1', 80))",
    f"import subprocess, sys\nsubprocess.call([sys.executable, '-c', {ASK!r}]) and None",
    "import warnings; warnings.warn('look out')",
    "1 / 0",
    "2",
)
FORGET = "%reset_selective -f ."


def plain_skill(folder: Path) -> dict[str, Path]:
    """A plain skill and its workspace beside another, by the names that notebooks have for them."""
    evals = [
        {"id": number, "prompt": f"Write {what}.", "expected_output": what, "files": []}
        | {"expectations": [f"It is {what}", "It is no longer than it must be"]}
        for number, what in enumerate(("a haiku", "a limerick", "a sonnet", "an ode"), 1)
    ]
    head = "---\nname: poet\ndescription: Writes poems. Use where one is asked for.\n---\n"
    suite = {"skill_name": "poet", "evals": evals}
    lay(folder / "poet", {"SKILL.md": f"{head}\nCount syllables.\n", "evals/evals.json": suite})
    workspace = folder / "poet-workspace"
    sandbox = "none" if sen.grading.sandbox.available() else "bubblewrap"
    how = {"executor": "offline", "runs": 1, "sandbox": sandbox}
    sen.plan_runs(folder / "poet", workspace=workspace, **how).start().wait()
    lay(workspace.with_name("tidy-workspace"), two_sides())
    return {"PATH": folder, "SKILL": folder / "poet"}


@pytest.fixture(scope="module")
def ran(desk, tmp_path_factory) -> dict[str, NotebookNode]:
    """What a kernel made of every notebook on the bundled data and on whatever was loaded."""
    parts = {path.stem: nbformat.read(path, as_version=4).cells for path in NOTEBOOKS}
    loaded = {
        NOTHING: {"PATH": lay(tmp_path_factory.mktemp("theirs"), {"evals.json": SUITE})},
        PLAIN: plain_skill(tmp_path_factory.mktemp("mine")),
    }
    for kind, paths in loaded.items():
        folder = desk.folder / kind
        copy_notebooks(folder)
        for path in fill_in(folder, {name: str(there) for name, there in paths.items()})[0]:
            parts[f"{path.name}, {kind}"] = nbformat.read(path, 4).cells
    parts |= {"widgets": WIDGETS, "faulty": FAULTY}
    every = [cell for cells in parts.values() for cell in (*cells, FORGET)]
    write(desk, "notebooks/every.ipynb", *every)
    saved = execute(desk, "notebooks/every.ipynb")
    rest = iter(saved.cells)
    metadata = {name: value for name, value in saved.metadata.items() if name != "widgets"}
    return {
        name: nbformat.v4.new_notebook(cells=[next(rest) for _ in [*cells, 0]], metadata=metadata)
        for name, cells in parts.items()
    }


def test_every_notebook_runs_to_its_end_whatever_was_loaded(ran):
    found = {name: faults(notebook) for name, notebook in ran.items() if name != "faulty"}
    for kind in (NOTHING, PLAIN):
        looking = {path.name for path in NOTEBOOKS if f"{path.name}, {kind}" in found}
        left_out = ELSEWHERE if kind == PLAIN else ELSEWHERE | OF_SKILLS
        assert {path.name for path in NOTEBOOKS} - looking == left_out
    assert {name: wrong for name, wrong in found.items() if wrong} == {}


def test_a_saved_notebook_shows_finished_pages(ran):
    """As JupyterLab saves it, and GitHub shows it: without the state of its widgets."""
    page, _ = nbconvert.HTMLExporter().from_notebook_node(ran["widgets"])
    assert page.count('class="sen sen-still') == len(WIDGETS)
    assert [one for one in PROMISES if one in page] == []
    saved = (output.get("data", {}) for cell in ran["widgets"].cells for output in cell.outputs)
    views = [data["text/html"] for data in saved if "text/html" in data]
    assert len(views) == len(WIDGETS)
    assert not [view for view in views if "<script" in view]  # which no host without a kernel runs
    for found in ("helps on these 6 evals", "What changed", "Plan: iteration-1 of release-notes"):
        assert found in page


def test_what_goes_wrong_is_seen(ran):
    ran["faulty"].cells[6].execution_count = None
    refused, started, warning, error, not_run = faults(ran["faulty"])
    assert refused.startswith("cell 2: OSError: there is no network here")
    assert started.startswith("cell 3, stderr")
    assert "cell 4, stderr" in warning
    assert "look out" in warning
    assert error == "cell 5: ZeroDivisionError: division by zero"
    assert not_run == "cell 6 was not run"


def test_no_notebook_asks_the_network(ran, desk):
    """What was refused is what the faulty cells asked for; its second is the proxy."""
    assert "faulty" in ran
    assert desk.refused() == ["192.0.2.1:80", "127.0.0.1:9"]
    assert desk.refused() == []


def test_the_first_leads_to_all_others():
    first, *others = NOTEBOOKS
    words = first.read_text("utf-8")
    assert [path.name for path in others if f"[{path.stem}]({path.name})" not in words] == []
