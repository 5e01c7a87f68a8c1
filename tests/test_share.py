"""The notebooks and the bundled data: found where they are, copied beside what is there."""

from __future__ import annotations

import ast
import json

import pytest

from skill_eval_nb import share
from tests.cli.payers import files
from tests.corpus.build import lay


def cell(source, kind="code", **more):
    """A cell as JupyterLab writes it."""
    of_code = {"outputs": [], "execution_count": None} if kind == "code" else {}
    return {"cell_type": kind, "metadata": {}, "source": source, **of_code, **more}


def notebook(*cells):
    return {"cells": list(cells), "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


FIRST = 'import it\n\nPATH = "../data/x"  # your own\n\nlook(PATH)'
RUNS = 'SKILL = "../data/skill"  # your own\nWORKSPACE = "runs"'
HEAD = cell(["# Look\n", "\n", "PATH = words"], "markdown")
HERE = {
    "notebooks/01_look.ipynb": notebook(HEAD, cell(FIRST.splitlines(keepends=True))),
    "notebooks/02_more.ipynb": notebook(cell(RUNS)),
    "notebooks/03_none.ipynb": notebook(cell("1 + 1")),
    "notebooks/images/overview.png": b"png",
    "notebooks/.ipynb_checkpoints/01_look.ipynb": "old",
    "data/a-workspace/evals.json": [],
    "data/b-workspace/.hidden": "x",
    "data/making/__pycache__/model.pyc": b"x",
    "data/release-notes/SKILL.md": "skill",
}
COPIED = {name for name in HERE if not any(part in name for part in ("/.", "/__"))}
NAMES = ["01_look.ipynb", "02_more.ipynb", "03_none.ipynb"]


def below(folder):
    return {path.relative_to(folder).as_posix(): data for path, data in files(folder).items()}


@pytest.fixture
def source(tmp_path, monkeypatch):
    """A package with notebooks and data of a few files."""
    lay(tmp_path / "package" / "_share", HERE)
    monkeypatch.setattr(share, "PACKAGE", tmp_path / "package")
    return tmp_path / "package" / "_share"


@pytest.fixture
def mine(source, tmp_path):
    """A copy, of whose notebooks one looks at a path, one at a skill, one at nothing."""
    share.copy_notebooks(tmp_path / "mine")
    return tmp_path / "mine"


def test_everything_that_is_not_hidden_is_copied_and_what_is_there_stays(source, mine):
    assert share.share() == source
    assert [path.name for path in share.bundled_workspaces()] == ["a-workspace", "b-workspace"]
    there = below(source)
    assert below(mine) == {name: there[name] for name in COPIED}
    (mine / "notebooks" / NAMES[1]).unlink()
    lay(mine, {"notebooks/01_look.ipynb": "my notes", "notebooks/my.ipynb": "x"})
    notebooks = share.copy_notebooks(mine)
    assert notebooks == [mine / "notebooks" / name for name in (*NAMES, "my.ipynb")]
    assert notebooks[0].read_text() == "my notes"
    assert notebooks[1].read_bytes() == there["notebooks/02_more.ipynb"]


def test_the_tour_is_the_copy_that_stands_near_else_one_is_made(source, tmp_path):
    lay(source, {f"notebooks/{share.START}": "start"})
    first = share.tour_notebook(tmp_path / "mine")
    assert first == tmp_path / "mine" / share.COPY / "notebooks" / share.START
    assert first.read_text() == "start"
    made = files(tmp_path / "mine")
    for near in (".", share.COPY, f"{share.COPY}/notebooks"):
        assert share.tour_notebook(tmp_path / "mine" / near).samefile(first)
    assert files(tmp_path / "mine") == made


PATHS = (
    """/with 'both' "of" them""",
    "C:\\new\\tools\\",
    "/a\nline",
    "/技能/\u202eoverride/not utf-8 \udcff",
    "/group \\1 \\g<0> {x} %s $HOME",
)


def test_any_path_comes_back_as_it_was_also_in_a_copy_that_was_run(mine):
    """Each is filled in where the one before it stands."""
    place = mine / "notebooks" / NAMES[0]
    ran = json.loads(place.read_text())
    ran["cells"][-1] |= {"execution_count": 1, "outputs": [{"output_type": "stream"}]}
    ran["metadata"] = {"kernelspec": {"name": "python3"}}
    place.write_text(json.dumps(ran))
    for path in PATHS:
        assert share.fill_in(mine, {"PATH": path}) == ([place], [])
        filled = json.loads(place.read_text())["cells"][-1]
        source = "".join(filled["source"])
        (assignment,) = (one for one in ast.parse(source).body if isinstance(one, ast.Assign))
        assert ast.literal_eval(assignment.value) == path
        assert source.startswith("import it\n\nPATH = ")
        assert source.endswith("\n\nlook(PATH)")
        assert filled["outputs"] == [{"output_type": "stream"}]


@pytest.mark.parametrize(
    "edited",
    [
        notebook(cell(FIRST.replace("look", "stare"))),
        {"cells": [{"cell_type": "code"}]},
        b"\xff\xfe",
    ],
)
def test_what_somebody_edited_stays_as_it_is(edited, mine):
    copy = mine / "notebooks" / NAMES[0]
    lay(copy.parent, {copy.name: edited})
    before = copy.read_bytes()
    assert share.fill_in(mine, {"PATH": "/mine"}) == ([], [copy])
    assert copy.read_bytes() == before


def test_our_own_notebooks_name_what_they_look_at(tmp_path):
    share.copy_notebooks(tmp_path)
    for name, looking in (("PATH", "00 01 02 03 04 06 07 10"), ("SKILL", "00 05 07 08")):
        filled, left = share.fill_in(tmp_path, {name: "mine"})
        assert ([path.name[:2] for path in filled], left) == (looking.split(), [])
    assert (tmp_path / "notebooks" / share.START).exists()
