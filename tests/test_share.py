"""The notebooks and the bundled data: found where they are, copied beside what is there."""

from __future__ import annotations

import ast
import json

import pytest

from skill_eval_nb import share
from tests.corpus.build import lay

HERE = {
    "notebooks/01_look.ipynb": "one",
    "notebooks/02_more.ipynb": "two",
    "notebooks/images/overview.png": b"png",
    "notebooks/.ipynb_checkpoints/01_look.ipynb": "old",
    "data/README.md": "made up",
    "data/a-workspace/evals.json": [],
    "data/b-workspace/.hidden": "x",
    "data/making/__pycache__/model.pyc": b"x",
    "data/release-notes/SKILL.md": "skill",
}
COPIED = {name for name in HERE if not any(part in name for part in ("/.", "/__"))}


@pytest.fixture
def source(tmp_path, monkeypatch):
    """A package with notebooks and data of a few files."""
    lay(tmp_path / "package" / "_share", HERE)
    monkeypatch.setattr(share, "PACKAGE", tmp_path / "package")
    return tmp_path / "package" / "_share"


def files(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_in_an_installed_package_they_are_inside(source):
    assert share.share() == source
    assert [path.name for path in share.bundled_workspaces()] == ["a-workspace", "b-workspace"]


def test_everything_that_is_not_hidden_is_copied(source, tmp_path):
    notebooks = share.copy_notebooks(tmp_path / "mine")
    copied = files(tmp_path / "mine")
    assert set(copied) == COPIED
    assert all(copied[name] == files(source)[name] for name in COPIED)
    assert [path.name for path in notebooks] == ["01_look.ipynb", "02_more.ipynb"]
    assert all(path.parent == tmp_path / "mine" / "notebooks" for path in notebooks)


def test_what_is_there_stays_and_what_is_gone_comes_back(source, tmp_path):
    folder = lay(
        tmp_path / "mine", {"notebooks/01_look.ipynb": "my notes", "notebooks/my.ipynb": "x"}
    )
    notebooks = share.copy_notebooks(folder)
    assert (folder / "notebooks" / "01_look.ipynb").read_text() == "my notes"
    assert (folder / "notebooks" / "02_more.ipynb").read_text() == "two"
    assert [path.name for path in notebooks] == ["01_look.ipynb", "02_more.ipynb", "my.ipynb"]


def test_the_tour_is_the_copy_that_stands_near_else_one_is_made(source, tmp_path):
    lay(source, {f"notebooks/{share.START}": "start"})
    first = share.tour_notebook(tmp_path / "mine")
    assert first == tmp_path / "mine" / share.COPY / "notebooks" / share.START
    assert first.read_text() == "start"
    made = files(tmp_path / "mine")
    for near in (".", share.COPY, f"{share.COPY}/notebooks"):
        assert share.tour_notebook(tmp_path / "mine" / near).samefile(first)
    assert files(tmp_path / "mine") == made


# ── what the notebooks look at ────────────────────────────────────────────────────────────────

FIRST = 'import it\n\nPATH = "../data/x"  # your own\n\nlook(PATH)'
RUNS = 'SKILL = "../data/skill"  # your own\nWORKSPACE = "runs"'
PATHS = (
    "/home/me/plain",
    "/with 'single'",
    '/with "double"',
    """/with 'both' "of" them""",
    "C:\\new\\tools",
    "/ends with \\",
    "/a\nline",
    "/技能/\N{PARTY POPPER}/\u202eoverride",
    "/not utf-8 \udcff",
    "/group \\1 \\g<0> {x} %s $HOME",
)


def cell(source, kind="code", **more):
    """A cell as JupyterLab writes it."""
    of_code = {"outputs": [], "execution_count": None} if kind == "code" else {}
    return {"cell_type": kind, "metadata": {}, "source": source, **of_code, **more}


def notebook(*cells):
    return {"cells": list(cells), "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


@pytest.fixture
def mine(source, tmp_path):
    """A copy of notebooks of which one looks at a path, one at a skill, one at nothing."""
    head = cell(["# Look\n", "\n", "PATH = words"], "markdown")
    lay(
        source,
        {
            "notebooks/01_look.ipynb": notebook(head, cell(FIRST.splitlines(keepends=True))),
            "notebooks/02_more.ipynb": notebook(cell(RUNS)),
            "notebooks/03_none.ipynb": notebook(cell("1 + 1")),
        },
    )
    share.copy_notebooks(tmp_path / "mine")
    return tmp_path / "mine"


def source_of(folder, name, at=-1):
    return "".join(json.loads((folder / "notebooks" / name).read_text())["cells"][at]["source"])


def test_any_path_comes_back_as_it_was(mine):
    for path in PATHS:
        assert share.fill_in(mine, {"PATH": path}) == ([mine / "notebooks" / "01_look.ipynb"], [])
        source = source_of(mine, "01_look.ipynb")
        (assignment,) = (one for one in ast.parse(source).body if isinstance(one, ast.Assign))
        assert ast.literal_eval(assignment.value) == path
        assert source.startswith("import it\n\nPATH = ")
        assert source.endswith("\n\nlook(PATH)")


def test_a_copy_is_filled_in_again_also_when_it_was_run(mine):
    share.fill_in(mine, {"PATH": "/first"})
    ran = json.loads((mine / "notebooks" / "01_look.ipynb").read_text())
    ran["cells"][-1] |= {"execution_count": 1, "outputs": [{"output_type": "stream"}]}
    ran["metadata"] = {"kernelspec": {"name": "python3"}}
    (mine / "notebooks" / "01_look.ipynb").write_text(json.dumps(ran))
    filled, _ = share.fill_in(mine, {"PATH": "/second"})
    assert [path.name for path in filled] == ["01_look.ipynb"]
    assert 'PATH = "/second"\n' in source_of(mine, "01_look.ipynb")
    again = json.loads((mine / "notebooks" / "01_look.ipynb").read_text())
    assert again["cells"][-1]["outputs"] == [{"output_type": "stream"}]


@pytest.mark.parametrize(
    "edited",
    [
        json.dumps(notebook(cell(FIRST.replace("look", "stare")))),
        json.dumps(notebook(cell(FIRST), cell("more"))),
        json.dumps({"cells": "none"}),
        json.dumps({"cells": [{"cell_type": "code"}]}),
        "[]",
        "no notebook",
        b"\xff\xfe",
    ],
)
def test_what_somebody_edited_stays_as_it_is(edited, mine):
    copy = mine / "notebooks" / "01_look.ipynb"
    lay(mine, {"notebooks/01_look.ipynb": edited})
    before = copy.read_bytes()
    assert share.fill_in(mine, {"PATH": "/mine"}) == ([], [copy])
    assert copy.read_bytes() == before


def test_our_own_notebooks_name_what_they_look_at(tmp_path):
    share.copy_notebooks(tmp_path)
    for name, looking in (("PATH", "00 01 02 03 04 06 07 10"), ("SKILL", "00 05 07 08")):
        filled, left = share.fill_in(tmp_path, {name: "mine"})
        assert ([path.name[:2] for path in filled], left) == (looking.split(), [])
    assert (tmp_path / "notebooks" / share.START).exists()
