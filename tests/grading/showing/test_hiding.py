"""Names that tell the side are covered; words of the task are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from skill_eval_nb.grading.showing import Cover


@pytest.mark.parametrize(
    "text",
    [
        "saved to /work/ws/iteration-1/eval-1/with_skill/run-1/outputs",
        "WITHOUT_SKILL",
        "I read skills/tidy-tables/SKILL.md",
        "the tidy_tables skill says",
        'Skill(skill="tidy-tables")',
        "new_skill and old_skill",
    ],
)
def test_what_tells_the_side_is_covered(text: str) -> None:
    cover = Cover(["tidy-tables"])
    shown = cover(text).lower()
    assert "tidy" not in shown
    assert "_skill" not in shown
    assert cover.count


def test_a_plain_word_is_covered_as_a_skill_only() -> None:
    cover = Cover(["pdf"])
    assert cover("make a pdf: report.pdf, with pdf tools") == (
        "make a pdf: report.pdf, with pdf tools"
    )
    assert cover.count == 0
    for text in ("using the pdf skill", "/skills/pdf/x", "skill: 'pdf'", "pdf/SKILL.md"):
        assert "pdf" not in cover(text)


def test_a_short_name_is_covered_in_paths_of_runs_only() -> None:
    cover = Cover(["v2", "skill-v2"])
    assert cover("GET /api/v2/users, csv2json, 2.v2") == "GET /api/v2/users, csv2json, 2.v2"
    assert cover("in ws/iteration-1/eval-1/v2/run-3/x") == "in ws/iteration-1/eval-1/[name]/run-3/x"
    assert cover("eval-1/v2/outputs") == "eval-1/[name]/outputs"
    assert cover("my_skill-v2_x, but skill-v20") == "my_[name]_x, but skill-v20"


def test_the_runs_own_folder_becomes_relative(tmp_path: Path) -> None:
    run = tmp_path / "iteration-1" / "arm_b" / "run-1"
    (run / "outputs").mkdir(parents=True)
    cover = Cover([], [run / "outputs", run])
    assert cover(f"wrote {run}/outputs/a.md and {run}/x") == "wrote ./a.md and ./x"
    assert cover(f"{run}-else") == f"{run}-else"  # another folder's name
