"""Names that tell the side are covered; words of the task are not."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skill_eval_nb.grading.evidence import Cover, uncover_names

TELLING = [
    "I used the tidy-tables skill",
    "I used the `tidy-tables` skill.",
    "by the **Tidy_Tables** skill",
    "the tidy tables skill says",
    "skill tidy-tables",
    "skill `tidy-tables`",
    "the skill called tidy-tables",
    "Available skills: tidy-tables",
    'Skill(skill="tidy-tables")',
    '{"skill": "tidy-tables"}',
    "I read skills/tidy-tables/SKILL.md",
    "cat /skills/tidy-tables/notes.md",
    "/home/x/.claude/skills/tidy-tables",
    "tidy-tables/SKILL.md",
    "I ran /tidy-tables.",
    "`/tidy-tables`",
    "/plugin:tidy-tables now",
    "/tidy-tables",
]
PLAIN = [
    "TIDY_TABLES.md",
    "tidy-tables.md",
    "wrote ./tidy-tables.md and out/tidy-tables/a.md",
    "see /box/tidy-tables/a.md and /tidy-tables.md",
    "https://example.com/tidy-tables",
    "# Tidy tables",
    "tidy-tables are a matter of skill",
    "my-tidy-tables skill",
    "tidy-tables-2 skill",
]


@pytest.mark.parametrize("text", TELLING)
def test_a_skill_is_covered_where_it_is_spoken_of_as_one(text: str) -> None:
    cover = Cover(["tidy-tables"])
    shown = cover(text)
    assert "tidy" not in shown.lower()
    assert "skill" not in shown.lower()
    assert cover.count == 1
    assert uncover_names(shown, cover.originals) == text


@pytest.mark.parametrize("text", PLAIN)
def test_in_file_names_and_in_prose_it_stays(text: str) -> None:
    cover = Cover(["tidy-tables"])
    assert cover(text) == text
    assert cover.file_name("skills/tidy-tables/a.md") == "skills/tidy-tables/a.md"
    assert cover.count == 0


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("WITHOUT_SKILL, with_skill", "[name 1], [name 2]"),
        ("ws/with_skill/run-1/x and with_skill.txt", "ws/[name 1]/run-1/x and [name 1].txt"),
        ("new-wording (new-wording)", "[name 1] ([name 1])"),
        ("threshold_skill, with_skills", "threshold_skill, with_skills"),
    ],
)
def test_a_configuration_is_covered_as_a_whole_word(text: str, shown: str) -> None:
    cover = Cover([], ["new-wording"])
    assert cover(text) == shown
    assert uncover_names(shown, cover.originals) == text


@pytest.mark.parametrize("names", [{"skills": ["v2"]}, {"configurations": ["v2"], "skills": ()}])
def test_a_configuration_that_may_be_a_word_of_the_task(names: dict[str, list[str]]) -> None:
    cover = Cover(**names)
    assert cover("GET /api/v2/users, csv2json, 2.v2") == "GET /api/v2/users, csv2json, 2.v2"
    assert cover("in eval-1/v2/run-3/x") == "in eval-1/[name 1]/run-3/x"
    assert cover("eval-1/v2/outputs") == "eval-1/[name 1]/outputs"
    assert cover("the v2 skill") == "the [name 2]"


def test_the_runs_own_folder_becomes_relative(tmp_path: Path) -> None:
    run = tmp_path / "iteration-1" / "arm_b" / "run-1"
    (run / "outputs").mkdir(parents=True)
    cover = Cover([], [], [run / "outputs", run])
    assert cover(f"wrote {run}/outputs/a.md and {run}/x") == "wrote ./a.md and ./x"
    assert cover(f"{run}-else") == f"{run}-else"  # another folder's name


@given(st.lists(st.sampled_from([*TELLING, *PLAIN, "with_skill", " ", "\n", ", "])))
def test_what_is_covered_can_be_uncovered(parts: list[str]) -> None:
    cover = Cover(["tidy-tables"], ["new-wording"])
    text = "".join(parts)
    assert uncover_names(cover(text), cover.originals) == text


@pytest.mark.parametrize("again", [" ", "\t", "release-notes ", "skill ", "`", "/"])
def test_a_long_text_is_covered_in_one_go(again: str) -> None:
    """Blanks behind a skill's name could be shared out in as many ways as there were blanks."""
    begun = time.thread_time()
    Cover(["release-notes"])("release-notes" + again * 100_000)
    assert time.thread_time() - begun < 10
