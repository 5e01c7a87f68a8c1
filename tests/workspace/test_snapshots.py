"""Versions of a skill that a workspace keeps, in the layouts that people have."""

from __future__ import annotations

from pathlib import Path

import pytest

from skill_eval_nb.running.spec import SNAPSHOTS
from skill_eval_nb.workspace.jobs import (
    KeptSkill,
    find_kept_skill,
    kept_skills,
)
from tests.corpus.build import lay

ITERATIONS = ["iteration-1", "iteration-2", "iteration-20"]
SIDES = ["with_skill", "old_skill", "without_skill"]


def found(root: Path, *folders: str) -> dict[str, tuple[str | None, str | None]]:
    """What is told of the versions in these folders: the iteration and the side, by name."""
    workspace = lay(root / "skill-workspace", {f"{one}/SKILL.md": one for one in folders})
    kept = kept_skills(workspace, ITERATIONS, SIDES)
    assert all((one.folder / "SKILL.md").read_text() == one.name for one in kept)
    return {one.name: (one.iteration, one.configuration) for one in kept}


@pytest.mark.parametrize(
    ("folder", "told"),
    [
        (f"iteration-2/{SNAPSHOTS}/with_skill", ("iteration-2", "with_skill")),
        (f"iteration-2/{SNAPSHOTS}/old_skill/pdf", ("iteration-2", "old_skill")),
        (f"runs/iteration-2/{SNAPSHOTS}/with_skill", ("iteration-2", "with_skill")),
        ("iteration-2/skill-snapshot", ("iteration-2", None)),
        ("iteration-2/skill-snapshot-old", ("iteration-2", "old_skill")),
        ("skill-snapshot-pre-20260618", (None, "old_skill")),
        ("skill-snapshot-iteration-1", ("iteration-1", None)),
        ("skill-snapshot/iteration-2-old-skill", ("iteration-2", "old_skill")),
        ("skill-snapshot-v7", (None, None)),
        ("a/b/c/d/skill-snapshot", None),
        ("skill-snapshot/a/b/c/d", None),
        ("outputs/skill-snapshot", None),
        ("iteration-1/eval-1-login/with_skill", None),
        ("iteration-1/with_skill/run-1/.claude/skills/pdf", None),
        ("notes", None),
    ],
)
def test_the_path_says_what_a_version_is_of(folder, told, tmp_path):
    assert found(tmp_path, folder) == ({folder: told} if told else {})


def test_a_link_in_a_circle_and_a_folder_that_is_not_there(tmp_path):
    (tmp_path / "skill-snapshot").symlink_to(tmp_path / "skill-snapshot")
    (tmp_path / "skills").symlink_to(tmp_path)
    assert kept_skills(tmp_path, ITERATIONS, SIDES) == []
    assert kept_skills(tmp_path / "none", ITERATIONS, SIDES) == []


def test_the_version_of_a_side_is_the_one_that_says_so():
    def kept(iteration, configuration):
        return KeptSkill(f"{iteration} {configuration}", Path(), iteration, configuration)

    exact, unsaid = kept("iteration-1", "with_skill"), kept("iteration-1", None)
    of_all, other = kept(None, "old_skill"), kept("iteration-2", "with_skill")
    every = [unsaid, of_all, other, exact]
    assert find_kept_skill(every, "iteration-1", "with_skill") == exact
    assert find_kept_skill([unsaid, other], "iteration-1", "with_skill") == unsaid
    assert find_kept_skill([unsaid, other], "iteration-1", "old_skill", alone=False) is None
    assert find_kept_skill(every, "iteration-2", "old_skill") == of_all
    assert find_kept_skill(every, "iteration-20", "with_skill") is None
