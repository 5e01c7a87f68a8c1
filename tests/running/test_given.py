"""The skill, its evals and their input files as they are given: read, refused, and copied."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from skill_eval_nb.running.protocol import Refused, Skill
from skill_eval_nb.running.skill import read_skill, stage
from skill_eval_nb.running.suite import find_inputs, place_inputs, read_suite
from tests.corpus.build import lay
from tests.golden import hold
from tests.running.made_jobs import SKILL, make_skill


@pytest.fixture
def skill(tmp_path: Path) -> Path:
    (tmp_path / "secret.txt").write_text("secret")
    return make_skill(tmp_path / "skill")


TOLD = (
    "evals.json deep/down/Evals.JSON evals.json.1.bak evals/rubric.md data/trigger_evals.json "
    "my-eval-triggers.json eval_queries.json iteration-2/notes.md grading_with_skill.json "
    "old-workspace/iteration-1/eval-1/with_skill/run-1/grading.json benchmark.md feedback.json "
    "eval_metadata.json .git/objects/aa sub/.git/HEAD __pycache__/x.pyc"
).split()
"""Files that tell about evals, or are no part of a skill."""


def test_what_tells_about_evals_is_in_no_copy(tmp_path):
    skill = lay(tmp_path / "skill", dict.fromkeys(["SKILL.md", *TOLD], SKILL))
    copy = stage(skill, None, tmp_path / "copy").folder
    assert [one.name for one in copy.rglob("*") if one.is_file()] == ["SKILL.md"]
    (skill / "results").mkdir()
    source = read_skill(skill, apart=[skill / "results"])
    assert "results/" in source.left_out
    for name in TOLD:
        assert any(f"{name}/".startswith(one) or one == name for one in source.left_out), name


def test_a_copy_is_whole_and_keeps_what_may_be_executed(tmp_path, skill):
    (skill / "scripts" / "help.py").chmod(0o755)
    (skill / "tools").symlink_to((skill / "scripts").resolve())  # absolute, but inside
    links = {"same.py": "help.py", "cases": "../evals/files", "c.json": "../evals/evals.json"}
    for name, target in links.items():
        (skill / "scripts" / name).symlink_to(target)
    assert {"scripts/cases", "scripts/c.json"} <= set(read_skill(skill).left_out)
    copy = tmp_path / "snap" / "with_skill"
    made = stage(skill, skill / "evals" / "evals.json", copy)
    assert made == Skill("notes", "Writes notes.", copy)
    skill.rename(tmp_path / "gone")
    assert (copy / "SKILL.md").read_text() == SKILL
    assert os.access(copy / "scripts" / "help.py", os.X_OK)
    assert (copy / "tools" / "same.py").read_text() == "print('help')\n"
    assert (copy / "tools").resolve() == (copy / "scripts").resolve()
    assert not (copy / "scripts" / "cases").is_symlink()
    assert [one.name for one in copy.parent.iterdir()] == ["with_skill"]


def test_the_digest_sees_names_contents_and_modes_and_nothing_of_the_evals(tmp_path, skill):
    first = read_skill(skill).digest
    (skill / "evals" / "evals.json").write_text('{"evals": []}')
    assert read_skill(skill).digest == first
    seen = {first}
    for change in (
        lambda path: path.chmod(0o755),
        lambda path: path.write_text(""),
        lambda path: path.rename(path.with_name("other.py")),
    ):
        change(skill / "scripts" / "help.py")
        seen.add(read_skill(skill).digest)
    assert len(seen) == 4
    with pytest.raises(Refused, match="changed since the plan"):
        stage(skill, None, tmp_path / "copy", expected=first)
    assert not (tmp_path / "copy").exists()


def test_links_that_leave_lead_nowhere_or_in_circles_are_all_told(tmp_path, skill):
    links = {"a": "../secret.txt", "b": "nothing-there", "c": "c"}
    for name, target in (links | {"scripts/d": "..", "scripts/e": "."}).items():
        (skill / name).symlink_to(target)
    with pytest.raises(Refused) as caught:
        read_skill(skill)
    faults = caught.value.faults
    told = "and not to another file or folder of the skill"
    assert all(told in one for one in faults)
    assert len(faults) == 5


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("# Notes\n", "begins with '# Notes'"),
        ("---\nname: x\n", "not closed"),
        ("---\nname: x\ndescription: a: b\n---\n", "not YAML in line 3.*between quotes"),
        ("---\n- x\n---\n", "is a list"),
        ("---\nname: x\n---\n", "`description` is missing"),
        ("---\nname: 7\ndescription: d\n---\n", "`name` is 7, not a text"),
        ("---\nname: ../x\ndescription: d\n---\n", "names a folder"),
        ("---\na: &a x\nb: [*a]\nname: x\n---\n", r"line 3: an alias \(`\*a`\); write"),
        (f"---\nname: x\ndescription: {'[' * 10_000}\n---\n", "line 3: nested too deep"),
        (f"---\nname: {'1' * 10_000}\ndescription: d\n---\n", "not YAML: Exceeds the limit"),
        (f"---\nname: x\ndescription: {'d' * 70_000}\n---\n", "too long: it has 70,022"),
        ("---\nname: x\nsince: 2026-02-30\ndescription: d\n---\n", "not YAML: day"),
    ],
)
def test_broken_front_matter_is_told_with_what_was_found(tmp_path, content, told):
    (tmp_path / "SKILL.md").write_text(content)
    with pytest.raises(ValueError, match=told):
        read_skill(tmp_path)


# ── suite ────────────────────────────────────────────────────────────────────────────────────────


def test_every_fault_at_once(tmp_path):
    evals = [
        {"id": 1, "prompt": " ", "files": ["../x", "none.txt"]},
        {"id": 1, "prompt": "Do", "expectations": [{"id": "E", "text": "a"}] * 2},
        {"id": 2, "expectations": ["no prompt"]},
        {"id": 4, "prompt": "Do", "quality_rubric": {"dimensions": [{"name": "x"}] * 2}},
        # What is lost would make another check of it than the suite states.
        {"id": 5, "prompt": "Do", "structural_expectations": [{"type": "x", "match": ["a", "b"]}]},
        {
            "id": 6,
            "prompt": "Do",
            "assertions": [{"text": "x", "type": "row_count", "count": "two"}],
        },
    ]
    skill = make_skill(tmp_path / "skill", evals)
    with pytest.raises(Refused) as caught:
        read_suite(skill / "evals" / "evals.json", skill)
    hold("suite", [one.replace(str(tmp_path), "HOME") for one in caught.value.faults])


# ── input files ──────────────────────────────────────────────────────────────────────────────────


def test_the_path_in_the_working_folder_is_the_one_in_the_prompt(tmp_path, skill):
    found = find_inputs(["./evals//files/log.txt"], [skill])
    place_inputs(found, tmp_path / "work")
    (placed,) = (one for one in (tmp_path / "work").rglob("*") if one.is_file())
    assert placed == tmp_path / "work" / found[0].name == tmp_path / "work/evals/files/log.txt"
    assert placed.read_text() == "fix: clocks\n"
    (skill / "evals/files/log.txt").write_text("other")
    with pytest.raises(Refused, match="changed since the plan"):
        place_inputs(found, tmp_path / "again")


REFUSED = {
    "is not a path in": [
        *("../secret.txt", "evals\\..\\..\\secret.txt", "/etc/hostname", "~/x"),
        *("C:\\x", "\\\\host\\x", "", ".", "a\0b"),
    ],
    "through a link": ["link.txt", "linked/secret.txt", "around"],
    "cannot be read as a file": ["dangling"],
    "Did you mean `log.txt`": ["evals/files/logg.txt"],
    "does not exist": ["nowhere/x.txt"],
    "no executor may see": ["SKILL.md", "evals", "trigger-eval-set.json", "innocent.txt"],
}


def test_what_leaves_the_folder_is_missing_or_may_not_be_seen_is_refused(tmp_path, skill):
    secret = tmp_path / "secret.txt"
    (skill / "around").mkdir()
    links = {"link.txt": secret, "linked": tmp_path, "around/x": secret, "dangling": "nothing"}
    for name, target in (links | {"innocent.txt": "evals/evals.json"}).items():
        (skill / name).symlink_to(target)
    hidden = [skill / "SKILL.md", skill / "evals/evals.json"]
    for reason, paths in REFUSED.items():
        for stated in paths:
            with pytest.raises(Refused, match=reason):
                find_inputs([stated], [skill], hidden)
