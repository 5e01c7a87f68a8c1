"""From what a user gives to what lies there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from skill_eval_nb.workspace import NothingToLoad, find
from tests.corpus.build import graded, lay, row

RUN = "iteration-1/eval-0/with_skill"


@pytest.fixture
def two(tmp_path: Path) -> Path:
    return lay(
        tmp_path,
        {
            f"a-workspace/{RUN}/grading.json": graded("p"),
            f"b-workspace/{RUN}/grading.json": graded("f"),
            "notes/readme.txt": "hello",
        },
    )


def found(path: Any) -> list[str]:
    return [Path(run.place.workspace).name for run in find(path).layout.runs]


def test_a_folder_a_list_and_a_glob_find_the_same(two):
    assert found(two) == ["a-workspace", "b-workspace"]
    assert found([two / "a-workspace", two / "b-workspace"]) == ["a-workspace", "b-workspace"]
    assert found(str(two / "*-workspace")) == ["a-workspace", "b-workspace"]


def test_a_trailing_slash_changes_nothing(two):
    assert find(f"{two}/").base == find(two).base == str(two)


@pytest.mark.parametrize("again", [".", "a-workspace", "a-workspace/iteration-1"])
def test_what_lies_below_another_path_is_found_once(two, again):
    assert found([two / again, two]) == ["a-workspace", "b-workspace"]


def test_the_same_folder_by_a_link_is_found_once(two, tmp_path_factory):
    link = tmp_path_factory.mktemp("links") / "link"
    link.symlink_to(two / "a-workspace")
    assert found([two / "a-workspace", link]) == ["a-workspace"]


def test_a_path_with_stars_in_its_name_is_itself(tmp_path):
    lay(tmp_path / "[old] *", {f"{RUN}/grading.json": graded("p")})
    assert found(str(tmp_path / "[old] *")) == ["[old] *"]


def test_the_base_of_several_paths_is_what_they_share(two):
    assert find([two / "a-workspace", two / "b-workspace"]).base == str(two)


@pytest.mark.parametrize(
    ("name", "content", "runs", "files"),
    [
        ("grading.json", graded("p"), 1, 0),
        ("benchmark.json", {"runs": [row(1, "with_skill", "p")]}, 0, 1),
        ("anything.json", {"evals": [{"id": 1, "prompt": "P"}]}, 0, 1),
    ],
)
def test_a_single_file(tmp_path, name, content, runs, files):
    lay(tmp_path, {f"{RUN}/{name}": content, f"{RUN}/other.json": {"a": 1}})
    layout = find(tmp_path / RUN / name).layout
    assert (len(layout.runs), len(layout.files)) == (runs, files)


def test_what_is_there_instead_is_told(two):
    with pytest.raises(NothingToLoad, match=r"readme\.txt"):
        find(two / "notes")


def test_many_other_things_are_counted(tmp_path):
    lay(tmp_path, {f"{n:02}.txt": "" for n in range(11)})
    with pytest.raises(NothingToLoad, match=r"00.txt, .* and 3 more"):
        find(tmp_path)


def test_a_single_file_that_is_no_document_is_nothing_to_load(tmp_path):
    lay(tmp_path, {"package.json": {"name": "x"}})
    with pytest.raises(NothingToLoad):
        find(tmp_path / "package.json")


def test_a_broken_document_is_something_to_load_and_to_report(tmp_path):
    lay(tmp_path, {"evals.json": "{"})
    assert len(find(tmp_path).layout.files) == 1


def test_the_nearest_name_is_proposed(two):
    with pytest.raises(FileNotFoundError, match=r"Did you mean .*a-workspace"):
        find(two / "a-worksapce" / "iteration-1")


def test_two_paths_of_which_one_is_missing(two):
    with pytest.raises(FileNotFoundError, match="gone"):
        find([two, two / "gone"])
