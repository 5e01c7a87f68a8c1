"""Everything wrong with files and workspaces, at once, each with its file and JSON path."""

from __future__ import annotations

from pathlib import Path

import pytest

import skill_eval_nb as sen
from skill_eval_nb.documents.dialects import NoSuchDocument
from skill_eval_nb.tables import NothingToLoad, check
from tests.checkout import ROOT
from tests.corpus.build import graded, lay, parts
from tests.workspace.made import codingbuddy, laid

GRADING = "iteration-1/eval-0/with_skill/grading.json"


def faults(path: Path, dialect: str | None = None) -> list[tuple[str, str, str, str | None]]:
    """Severity, code, file and JSON path of what is more than information."""
    return [
        (one.severity, one.code, Path(one.path).name, one.where)
        for one in check(path, dialect)
        if one.severity != "info"
    ]


def checked_against(path: Path) -> dict[str, dict[str, str | None]]:
    """By the folder of each workspace what each kind of document was checked against."""
    found: dict[str, dict[str, str | None]] = {}
    for one in check(path):
        if one.code == "dialect":
            for part in one.message.split("; "):
                what, _, kinds = part.partition(": ")
                name = what.split("`")[1] if "`" in what else None
                of_it = dict.fromkeys(kinds.split(", "), name)
                found.setdefault(Path(one.path).name, {}).update(of_it)
    return found


@pytest.mark.parametrize("name", ["codingbuddy", "iterations", "skill-creator", "test-cases"])
def test_the_bundled_workspaces_are_sound_and_recognised(name):
    path = ROOT / "data" / f"{name}-workspace"
    # Of these the test-cases one is the skill's own folder, and not called after it.
    assert faults(path) == [("warning", "skill", "SKILL.md", None)] * (name == "test-cases")
    (against,) = checked_against(path).values()
    assert set(against.values()) - {None} == {name}
    assert name != "codingbuddy" or faults(path, name) == []


STRUCTURAL = {"expectations": [{"text": "x", "passed": True}], "gate_passed": True}
CASE = {"id": "a", "prompt": "P", "assertions": ["e"]}
CASES = {"skill_name": "x", "test_cases": [CASE]}
VERDICT = {"assertion": "e", "result": "pass"}
RUN = "iteration-1/a/with_skill"


@pytest.mark.parametrize(
    ("files", "against"),
    [
        # What only one dialect has tells it; what fits several is of the one that suits all.
        ({"evals.json": CASES}, {"evals": "test-cases"}),
        (
            {f"{RUN}/grading.json": graded("p"), f"{RUN}/structural.json": STRUCTURAL},
            {"grading": "skill-evaluator", "structural": "skill-evaluator"},
        ),
        # A kind that no dialect reads without faults is of none.
        (
            {
                "evals.json": CASES,
                f"{RUN}/grading.json": {"test_case_id": "a", "assertions": [VERDICT]},
                "history.json": {"skill_name": "x", "iterations": "?"},
            },
            {"evals": "test-cases", "grading": "test-cases", "history": None},
        ),
        # What the agent has put out is no document of its run.
        (
            {f"{RUN}/timing.json": {"executor": "x"}, f"{RUN}/outputs/metrics.json": {}},
            {"timing": "skill-evaluator"},
        ),
        # One broken document of many does not decide.
        (
            {f"evals-{n}.json": CASES | {"version": str(n)} for n in range(3)}
            | {"evals.json": {"skill_name": "x", "test_cases": [{"id": 3, "prompt": "P"}]}},
            {"evals": "test-cases"},
        ),
    ],
)
def test_the_dialect_is_the_nearest_kind_by_kind(tmp_path, files, against):
    found = checked_against(lay(tmp_path / "ws", files))
    assert found["ws"] == against


def test_all_faults_of_a_file_at_once_with_what_was_expected_and_found(tmp_path):
    files = codingbuddy()
    del files[GRADING]["expectations"][0]["passed"]
    files[GRADING]["expectations"][1]["passed"] = "perhaps"
    files[GRADING.replace("grading", "timing")] = {"total_tokens": -1, "duration_ms": 2500}
    laid(tmp_path, files)
    assert sorted(faults(tmp_path)) == [
        ("error", "wrong-type", "grading.json", "$.expectations[1].passed"),
        ("error", "wrong-type", "timing.json", "$.total_tokens"),
        ("warning", "disagree", "benchmark.json", "$.runs"),
        ("warning", "missing", "grading.json", "$.expectations[0].passed"),
        ("warning", "missing", "timing.json", "$.total_duration_seconds"),
    ]
    (message,) = [one.message for one in check(tmp_path) if one.where == "$.total_tokens"]
    assert "at least 0" in message
    assert "-1" in message


def test_what_lies_beside_a_grading_of_two_sides_is_nobodys(tmp_path):
    both = {"with_skill": graded("pp"), "without_skill": {"expectations": [{"text": "x"}]}}
    run = "iteration-1/eval-0"
    lay(tmp_path, {f"{run}/grading.json": both, f"{run}/timing.json": {"total_tokens": 1}})
    found = {fault[1:3] for fault in faults(tmp_path)}
    assert ("whose", "timing.json") in found
    assert ("missing", "grading.json") in found  # of the second side


def test_several_workspaces_are_checked_each_on_its_own(tmp_path):
    """What one lacks another does not make up for."""
    laid(tmp_path / "a-workspace", codingbuddy(skill="a"))
    suite = {"skill_name": "c", "evals": [{"id": "x", "prompt": "P", "expectations": ["e"]}]}
    lay(tmp_path / "c-workspace", {"evals.json": suite})
    assert faults(tmp_path) == []
    against = checked_against(tmp_path)
    assert set(against["a-workspace"].values()) == {"codingbuddy"}
    assert against["c-workspace"]["evals"] != "codingbuddy"
    lacking = {name: one for name, one in codingbuddy(skill="b").items() if "eval-1/" not in name}
    laid(tmp_path / "b-workspace", lacking)
    found = [one for one in check(tmp_path) if one.severity != "info"]
    assert found
    assert all("b-workspace" in one.path for one in found)


def test_a_dialect_may_be_demanded(tmp_path):
    lay(tmp_path, {"iteration-1/eval-0/with_skill/grading.json": {"expectations": []}})
    assert ("error", "outside-limits", "grading.json", "$.expectations") in faults(
        tmp_path, "codingbuddy"
    )


SUITE_OF_0 = {"skill_name": "x", "evals": [{"id": 0, "prompt": "P", "expectations": ["e"]}]}
TWO_OF_ONE = {"expectations": [{"text": "x", "passed": True}], "summary": {"passed": 2, "total": 1}}
NO_TIME = {"total_tokens": 0, "total_duration_seconds": 0}


@pytest.mark.parametrize(
    ("files", "says"),
    [
        # What a dialect wants otherwise loses nothing: no `files`, an id of 0, another name.
        ({"evals.json": SUITE_OF_0, f"{RUN}/grading.json": graded("p")}, set()),
        (
            {f"{RUN}/grading.json": {"assertions": [{"name": "x", "result": "PASS", "id": 3}]}},
            set(),
        ),
        ({f"{RUN}/grading.json": TWO_OF_ONE}, {("warning", "disagree")}),
        (
            {f"{RUN}/grading.json": graded("p"), f"{RUN}/timing.json": NO_TIME},
            {("warning", "zero-means-missing")},
        ),
        # A text is not a figure; a verdict, a number, a file are.
        ({f"{RUN}/grading.json": graded("p", summary="all")}, {("warning", "wrong-type")}),
        (
            {f"{RUN}/grading.json": {"expectations": [{"text": "x", "passed": "perhaps"}]}},
            {("error", "wrong-type"), ("warning", "ungraded-run")},
        ),
        (
            {f"{RUN}/grading.json": graded("p"), f"{RUN}/timing.json": {"total_tokens": "many"}},
            {("error", "wrong-type")},
        ),
        (
            {f"{RUN}/grading.json": graded("p"), f"{RUN}/timing.json": "{"},
            {("error", "not-json")},
        ),
    ],
)
def test_an_error_is_what_loses_a_figure_and_check_says_all_that_loading_says(
    tmp_path, files, says
):
    path = lay(tmp_path / "ws", files)
    found = check(path)
    names = ("severity", "code", "where", "message", "workspace")
    loaded = sen.load(path).polars("problems").select(names).rows()
    assert [tuple(getattr(one, name) for name in names) for one in found][: len(loaded)] == loaded
    known = {"missing", "outside-limits"}  # by the rules of a dialect
    worse = [one for one in found if one.severity != "info"]
    assert {(one.severity, one.code) for one in worse if one.code not in known} == says
    assert {one.severity for one in worse if one.code in known} <= {"warning"}


def test_an_unknown_dialect_and_nothing_to_check(tmp_path):
    with pytest.raises(NoSuchDocument, match="skill-creator"):
        check(tmp_path, "cobol")
    with pytest.raises(NothingToLoad):
        check(tmp_path)
    with pytest.raises(FileNotFoundError):
        check(tmp_path / "gone")


def test_nothing_is_written(tmp_path):
    laid(tmp_path, codingbuddy())
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    check(tmp_path)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


def test_no_workspace_of_the_corpus_is_taken_for_what_it_is_not(corpus_workspaces):
    """None was written in the strict dialect, so nothing may be held to its layout."""
    places = [place for path in corpus_workspaces for place in parts(path)]
    assert len(places) > len(corpus_workspaces)
    for place in places:
        codes = {one.code for one in check(place)}
        assert not codes & {"missing-folder", "unknown-eval", "misplaced"}, place


def skill_md(folder, matter):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "SKILL.md").write_text(f"---\n{matter}\n---\n# Steps\n")
    return folder / "SKILL.md"


FINE = "description: Does it. Use when it is wanted."


def rules(path):
    return [(one.severity, one.message) for one in check(path) if one.code == "skill"]


@pytest.mark.parametrize(
    ("matter", "says"),
    [
        (f"name: maps\n{FINE}\nlicense: MIT\nallowed-tools: Read\nmetadata: {{version: '2'}}", []),
        (f"name: My Skill.v2\n{FINE}", ["lower-case letters", "its folder is maps"]),
        (
            f"name: -maps\n{FINE}",
            ["`name` is '-maps'; it names a folder", "single hy", "its folder"],
        ),
        (f"name: ma--ps\n{FINE}", ["single hyphens", "its folder is maps"]),
        (f"name: {'m' * 65}\n{FINE}", ["64 at most", "its folder", "65 characters"]),
        (f"name: maps\ndescription: {'d' * 1025}", ["`description` has 1,025 characters"]),
        (f"name: maps\n{FINE}\ncompatibility: {'c' * 501}", ["`compatibility` has 501"]),
        (f"name: maps\n{FINE}\ncompatibility: [a]", ["`compatibility` is not text"]),
        (f"name: maps\n{FINE}\nversion: 2", ["`version` is not a key that hosts know"]),
        (FINE, ["`name` is missing"]),
        ("- maps", ["front matter that is a list"]),
    ],
)
def test_a_skill_is_held_against_what_hosts_take(tmp_path, matter, says):
    file = skill_md(tmp_path / "maps", matter)
    for path in (file, file.parent):
        found = rules(path)
        assert len(found) == len(says)
        for (_, message), part in zip(found, says, strict=True):
            assert part in message


def test_skills_are_found_where_hosts_look_and_beside_a_workspace(tmp_path):
    laid(tmp_path, codingbuddy())
    for folder in ("skills/a", ".claude/skills/b", "skill-snapshot/c"):
        skill_md(tmp_path / folder, f"name: other\n{FINE}")
    assert len(rules(tmp_path)) == 2
    assert len(rules(tmp_path / "skills")) == 1
    assert len(rules([tmp_path / "skills" / "a" / "SKILL.md", tmp_path / ".claude"])) == 2
    assert any(one.code == "dialect" for one in check(tmp_path))


def test_the_bundled_skills_obey(tmp_path):
    skills = sorted((ROOT / "data").glob("**/SKILL.md"))
    own = [one for one in skills if "-workspace" not in str(one)]
    assert len(own) > 5
    assert [rules(one) for one in own] == [[]] * len(own)


LEAKING = """---
name: change-log
description: Writes a change log.
---
Group entries by what a reader can do now. Read `log_file` before you write.
"""
LEAKS = [
    ("Use change-log on this repository", ["change-log"]),
    ("The CHANGE-LOG skill was used", ["change-log"]),
    ("The file change-log.md is written", []),
    ("Entries are grouped by what a reader can do now.", ["by what a reader can do now"]),
    ("By what a reader of it can do", []),
    ("It has read log_file", ["log_file"]),
    ("The title is one the prompt asks for: Sums of each month", []),
    ("It is short", []),
]


@pytest.mark.parametrize("folder", ["evals/", ""])
def test_what_quotes_the_skill_is_named(folder, tmp_path):
    prompt = "Write a log. The title is: Sums of each month, can it be?"
    texts = [text for text, _ in LEAKS]
    checks = [{"type": "file_contains", "pattern": "*", "match": texts[5]}]
    of_skill = {"id": 1, "prompt": prompt, "expectations": texts, "structural_expectations": checks}
    told = {"id": 2, "prompt": texts[0], "expectations": [texts[1]]}
    suite = {"skill_name": "change-log", "evals": [of_skill, told]}
    path = lay(tmp_path / "change-log", {f"{folder}evals.json": suite, "SKILL.md": LEAKING})
    found = {one.where or "": one for one in check(path) if one.code == "leak"}
    wanted = {f"$.evals[0].expectations[{n}]": quotes for n, (_, quotes) in enumerate(LEAKS)}
    wanted |= {"$.evals[0].structural_expectations[0]": ["log_file"]}
    wanted |= {"$.evals[1].prompt": ["change-log"]}
    assert found.keys() == {where for where, quotes in wanted.items() if quotes}
    assert all(", ".join(wanted[where]) in one.message for where, one in found.items())
    assert {one.severity for one in found.values()} == {"info"}
