"""From what a user gives to what lies there: each run once, and nothing followed in circles."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import pytest

import skill_eval_nb as sen
from skill_eval_nb import NothingToLoad
from skill_eval_nb.workspace import Problems
from skill_eval_nb.workspace.folders import crawl
from tests.corpus.build import graded, keys, lay, row

SIDE = "eval-0/with_skill"
RUN = f"iteration-1/{SIDE}/run-1"
OTHER = f"iteration-2/{SIDE}"


@pytest.fixture
def two(tmp_path: Path) -> Path:
    """Two workspaces, and a folder of something else."""
    files = {f"{name}-workspace/{RUN}/grading.json": graded("pf") for name in "ab"}
    files[f"a-workspace/{OTHER}/grading.json"] = graded("pf")
    return lay(tmp_path / "two", {**files, "notes/readme.txt": "hello"})


BOTH = {"a-workspace": 2, "b-workspace": 1}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (lambda two: two, BOTH),
        (lambda two: str(two / "*-workspace"), BOTH),
        (lambda two: [two / "a-workspace/iteration-1", two / "b-workspace", two], BOTH),
        (lambda two: two / "a-workspace/iteration-1", {"a-workspace": 1}),
        (lambda two: two / "a-workspace" / RUN / "grading.json", {"run-1": 1}),
        (os.path.relpath, BOTH),
    ],
)
def test_whatever_way_it_is_given_each_run_is_there_once(
    two: Path, given: Any, expected: dict[str, int]
) -> None:
    found = keys(sen.load(given(two)))
    workspaces = [Path(key[0]).name for key in found]
    assert {name: workspaces.count(name) for name in workspaces} == expected
    assert len({key[:5] for key in found}) == len(found)


def test_two_workspaces_of_one_name_are_two_and_a_link_to_one_is_not(tmp_path: Path) -> None:
    lay(tmp_path, {"{a,b}/ws/" + f"{RUN}/grading.json": graded("p")})
    (tmp_path / "link").symlink_to(tmp_path / "a/ws")
    paths = [tmp_path / path for path in ("a/ws", "b/ws", "link")]
    assert len({key[:5] for key in keys(sen.load(paths))}) == 2
    assert [key[1:] for key in keys(sen.load(tmp_path / "link"))] == [
        ("iteration-1", "0", "with_skill", 1, 1.0)
    ]
    lay(tmp_path / "[old] *", {f"{RUN}/grading.json": graded("p")})
    assert [key[0] for key in keys(sen.load(str(tmp_path / "[old] *")))] == ["[old] *"]


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (lambda two: two / "a-worksapce" / RUN, FileNotFoundError, "Did you mean .*a-workspace"),
        (lambda two: two / "zzz" / "qqq", FileNotFoundError, r"zzz/qqq does not exist\.$"),
        (lambda _: [], NothingToLoad, "empty list"),
        (lambda two: Path(tempfile.mkdtemp(dir=two)), NothingToLoad, "holds nothing"),
        (lambda two: two / "notes", NothingToLoad, r"grading\.json.*holds readme\.txt"),
        (lambda two: lay(two / "x", {"package.json": {"a": 1}}), NothingToLoad, r"package\.json"),
        (
            lambda two: lay(two / "x", {f"{n:02}.txt": "" for n in range(11)}),
            NothingToLoad,
            r"x holds 00.txt, .*, 07.txt and 3 more",
        ),
    ],
)
def test_where_nothing_is_found_it_is_said_what_is_there(
    two: Path, given: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        sen.load(given(two))


# ── folders ──────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "name", "outputs judgings skill-snapshot .staging .git node_modules __pycache__".split()
)
def test_what_holds_no_results_is_not_entered(tmp_path: Path, name: str) -> None:
    """A skill that writes evals leaves whole workspaces in its outputs."""
    inner = f"{RUN}/{name}/pdf-workspace"
    files = {
        f"{RUN}/grading.json": graded("pf"),
        f"{inner}/iteration-1/eval-9/with_skill/grading.json": graded("p"),
        f"{inner}/benchmark.json": {"runs": [row(8, "with_skill", "p")]},
        f"{RUN}/{name}/evals.json": {"evals": [{"id": 78, "prompt": "inner"}]},
    }
    ws = sen.load(lay(tmp_path / "ws", files))
    assert keys(ws) == [("ws", "iteration-1", "0", "with_skill", 1, 0.5)]
    assert ws.evals["eval_id"].to_list() == ["0"]


@pytest.mark.parametrize(
    ("links", "told"),
    [
        ({"linked": "../out"}, ["warning link linked"]),
        ({"grading.json": "../out/b/x.json"}, ["warning link grading.json"]),
        ({"loop": "."}, ["info link loop"]),
        ({"loop": ".."}, ["warning link loop"]),
        ({"ping": "pong", "pong": "ping", "gone": "nothing"}, []),
    ],
)
def test_links_are_followed_neither_out_nor_in_circles(
    tmp_path: Path, links: dict[str, str], told: list[str]
) -> None:
    root, problems = lay(tmp_path, {"out/b/x.json": {}, "ws/a/x.json": {}}) / "ws", Problems()
    for name, target in links.items():
        (root / name).symlink_to(target)
    folders = [os.path.relpath(one.path, root) for one in crawl(str(root), problems)]
    assert folders == [".", "a"]
    assert [f"{p.severity} {p.code} {os.path.relpath(p.path, root)}" for p in problems] == told
