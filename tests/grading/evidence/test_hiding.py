"""Names that tell the side are covered, and calls that opened a skill; the task's words are not."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skill_eval_nb.grading.show import Cover, Transcript, transcript_of, uncover_names
from tests.documents.generated import ANY_JSON
from tests.grading.evidence.made import called, said

TELLING = [
    "I used the `tidy-tables` skill.",
    "by the **Tidy_Tables** skill",
    "the tidy tables skill says",
    "skill `tidy-tables`",
    "the skill called tidy-tables",
    "Available skills: tidy-tables",
    'Skill(skill="tidy-tables")',
    '{"skill": "tidy-tables"}',
    "I read skills/tidy-tables/SKILL.md",
    "/home/x/.claude/skills/tidy-tables",
    "tidy-tables/SKILL.md",
    "I ran /tidy-tables.",
    "/plugin:tidy-tables now",
]
PLAIN = [
    "tidy-tables.md",
    "wrote ./tidy-tables.md and out/tidy-tables/a.md",
    "see /box/tidy-tables/a.md and /tidy-tables.md",
    "https://example.com/tidy-tables",
    "# Tidy tables",
    "tidy-tables are a matter of skill",
    "tidy-tables-2 skill",
]


def test_a_skill_is_covered_where_it_is_spoken_of_as_one_and_not_in_file_names_and_prose() -> None:
    for text in TELLING:
        cover = Cover(["tidy-tables"])
        shown = cover(text)
        assert "tidy" not in shown.lower(), text
        assert "skill" not in shown.lower(), text
        assert cover.count == 1
        assert uncover_names(shown, cover.originals) == text
    cover = Cover(["tidy-tables"])
    assert [cover(text) for text in PLAIN] == PLAIN
    assert cover.file_name("skills/tidy-tables/a.md") == "skills/tidy-tables/a.md"
    assert cover.count == 0


NEW: dict[str, Any] = {"skills": [], "configurations": ["new-wording"]}
WORDS = [{"skills": ["v2"]}, {"configurations": ["v2"], "skills": ()}]


@pytest.mark.parametrize(
    ("names", "text", "shown"),
    [
        (NEW, "WITHOUT_SKILL, with_skill", "[name 1], [name 2]"),
        (NEW, "ws/with_skill/run-1/x and with_skill.txt", "ws/[name 1]/run-1/x and [name 1].txt"),
        (NEW, "new-wording (new-wording)", "[name 1] ([name 1])"),
        (NEW, "threshold_skill, with_skills", "threshold_skill, with_skills"),
        # One that may be a word of the task.
        *((one, *["GET /api/v2/users, csv2json, 2.v2"] * 2) for one in WORDS),
        *((one, "in eval-1/v2/run-3/x", "in eval-1/[name 1]/run-3/x") for one in WORDS),
        *(
            (one, "eval-1/v2/outputs; the v2 skill", "eval-1/[name 1]/outputs; the [name 2]")
            for one in WORDS
        ),
    ],
)
def test_a_configuration_is_covered_as_a_whole_word(names: Any, text: str, shown: str) -> None:
    cover = Cover(**names)
    assert cover(text) == shown
    assert uncover_names(shown, cover.originals) == text


def test_the_runs_own_folder_becomes_relative(tmp_path: Path) -> None:
    run = tmp_path / "iteration-1" / "arm_b" / "run-1"
    (run / "outputs").mkdir(parents=True)
    cover = Cover([], [], [run / "outputs", run])
    assert cover(f"wrote {run}/outputs/a.md and {run}/x") == "wrote ./a.md and ./x"
    assert cover(f"{run}-else") == f"{run}-else"  # another folder's name


def test_a_long_text_is_covered_in_one_go() -> None:
    """Blanks behind a skill's name could be shared out in as many ways as there were blanks."""
    begun = time.thread_time()
    for again in (" ", "\t", "release-notes ", "skill ", "`", "/"):
        Cover(["release-notes"])("release-notes" + again * 100_000)
    assert time.thread_time() - begun < 10


# ── transcripts ────────────────────────────────────────────────────────────────────────────────


def told(folder: Path, *events: Any) -> Transcript:
    path = folder / "transcript.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in events), "utf-8")
    return transcript_of(path)


def test_what_the_executor_said_did_and_saw_is_told(tmp_path: Path) -> None:
    found = told(
        tmp_path,
        {"type": "system", "subtype": "init", "skills": ["canary-skill"]},
        {"type": "user", "message": {"content": "the prompt, which is told elsewhere"}},
        said("I begin."),
        *called("Bash", "2 failed", failed=True, command="pytest"),
        *called("Write", "", file_path="SKILL.md", content="# mine"),  # which is the task
        *called("Bash", "a", command="ls src/skills/"),
        said("All done."),
        {"type": "result", "subtype": "success", "result": "All done."},
    )
    assert found.pieces == (
        "[executor] I begin.",
        "[call of Bash] pytest",
        "[result (an error)] 2 failed",
        '[call of Write] {"file_path": "SKILL.md", "content": "# mine"}',
        "[result] ",
        "[call of Bash] ls src/skills/",
        "[result] a",
    )
    assert (found.final, found.setup_calls) == ("All done.", 0)


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        ("Skill", {"skill": "canary-skill"}),
        ("Read", {"file_path": "/skills/canary-skill/reference.md"}),
        ("Bash", {"command": "cat /skills/canary-skill/SKILL.md"}),
        ("Read", {"file_path": "/home/x/.claude/skills/canary-skill/a.md"}),
        ("Glob", {"pattern": "**/SKILL.md"}),
    ],
)
def test_opening_a_skill_is_not_told(tmp_path: Path, tool: str, given: dict[str, str]) -> None:
    body = {"content": [{"type": "text", "text": "Base directory for this skill: canary-body"}]}
    opened = called(tool, "canary-body", **given)
    found = told(tmp_path, *opened, {"type": "user", "message": body}, said("Done"))
    assert "canary" not in found.text + str(found.final)
    assert found.setup_calls == 1


@given(st.lists(ANY_JSON, max_size=4), ANY_JSON)
def test_never_raises(tmp_path_factory: pytest.TempPathFactory, lines: list[Any], odd: Any) -> None:
    block = {"type": "tool_use", "id": odd, "name": odd, "input": odd}
    reply = {"type": "tool_result", "tool_use_id": "x", "content": odd}
    events = [
        {"type": "assistant", "message": {"content": [block, odd]}},
        {"type": "user", "message": {"content": [reply]}},
        {"role": "assistant", "content": odd},
    ]
    assert isinstance(told(tmp_path_factory.mktemp("t"), *lines, *events).text, str)
