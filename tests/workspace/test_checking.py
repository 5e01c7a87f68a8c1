"""Everything wrong with files and workspaces, at once, each with its file and JSON path."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import skill_eval_nb as sen
from skill_eval_nb.documents.dialects import NoSuchDocument
from skill_eval_nb.tables import NothingToLoad, check
from tests.checkout import ROOT
from tests.corpus.build import graded, lay, spread

Files = dict[str, Any]
GRADING = "iteration-1/eval-0/with_skill/grading.json"
ABOUT = "iteration-1/eval-1/with_skill/eval_metadata.json"
OF_FIRST = "iteration-1/eval-0/with_skill/eval_metadata.json"
BENCHMARK = "iteration-1/benchmark.json"
FEEDBACK = "iteration-1/feedback.json"


def codingbuddy(n_iterations: int = 1, skill: str = "sql-migration") -> Files:
    """The documents of the bundled one: three evals, counted from 1 in the suite, from 0 else."""
    root = ROOT / "data" / "codingbuddy-workspace"
    return {
        str(path.relative_to(root)): json.loads(path.read_text().replace("sql-migration", skill))
        for path in sorted(root.rglob("*.json"))
        if n_iterations > 1 or "iteration-2" not in path.parts
    }


def told(path: Path, dialect: str | None = None) -> list[str]:
    """Severity, code, file and JSON path of all that is more than information."""
    return sorted(
        f"{one.severity} {one.code} {Path(one.path).relative_to(path)} {one.where or ''}".strip()
        for one in check(path, dialect)
        if one.severity != "info"
    )


RUN = "iteration-1/a/with_skill"


# ── one thing of a sound workspace broken at a time ──────────────────────────────────────────


def change(name: str, *place: Any, **fields: Any) -> Any:
    """What changes fields in a place of a document."""

    def changed(files: Files) -> None:
        one = files[name]
        for key in place:
            one = one[key]
        one.update(fields)

    return changed


def move(name: str, elsewhere: str) -> Any:
    return lambda files: files.update({elsewhere: files.pop(name)})


def spoil(files: Files) -> None:
    del files[GRADING]["expectations"][0]["passed"]
    files[GRADING]["expectations"][1]["passed"] = "perhaps"
    timing = {"total_tokens": -1, "duration_ms": 2500}
    files[GRADING.replace("grading", "timing")] = timing


def copy_to_no_eval(files: Files) -> None:
    for name in [name for name in files if "eval-1/" in name]:
        own_id = {"eval_id": 5} if "eval_id" in files[name] else {}
        files[name.replace("eval-1/", "eval-5/")] = files[name] | own_id


DISAGREES = f"warning disagree {ABOUT.replace('with_skill', 'without_skill')} $.eval_id"
UNKNOWN_RUN = f"warning unknown-run {FEEDBACK} $.reviews[1].run_id"


@pytest.mark.parametrize(
    ("break_it", "says"),
    [
        (
            change("evals.json", "evals", 1, id=1),
            ["duplicate-id evals.json $.evals[*].id", "unknown-eval iteration-1/eval-1"],
        ),
        (change(ABOUT, eval_id=7), [DISAGREES, f"other-id {ABOUT} $.eval_id"]),
        (
            change(ABOUT, prompt="Do something else"),
            [DISAGREES.replace("eval_id", "prompt"), f"other-prompt {ABOUT} $.prompt"],
        ),
        (
            change(GRADING, "expectations", 1, text="three"),
            [
                f"unknown-expectation {GRADING} $.expectations[1]",
                f"ungraded-assertion {OF_FIRST} $.assertions[1]",
            ],
        ),
        (change(BENCHMARK, iteration=3), [f"other-iteration {BENCHMARK} $.iteration"]),
        (change(FEEDBACK, "reviews", 1, run_id="eval-7-with_skill"), [UNKNOWN_RUN]),
        (change(BENCHMARK, skill_name="other"), [f"other-skill {BENCHMARK} $.skill_name"]),
        (
            change(BENCHMARK, "eval_results", 1, eval_id=9),
            [f"unknown-eval {BENCHMARK} $.eval_results[1].eval_id"],
        ),
        (copy_to_no_eval, ["unknown-eval iteration-1/eval-5"]),
        (
            move(FEEDBACK, "feedback.json"),
            [
                "misplaced feedback.json",
                *(f"unknown-run feedback.json $.reviews[{at}].run_id" for at in (0, 1)),
            ],
        ),
        (
            spoil,  # all faults of a file at once
            [
                f"error wrong-type {GRADING} $.expectations[1].passed",
                f"error wrong-type {GRADING.replace('grading', 'timing')} $.total_tokens",
                f"disagree {BENCHMARK} $.runs",
                f"missing {GRADING} $.expectations[0].passed",
                f"missing {GRADING.replace('grading', 'timing')} $.total_duration_seconds",
            ],
        ),
    ],
)
def test_what_is_wrong_in_a_workspace_is_told_where_it_is(tmp_path, break_it, says):
    files = codingbuddy()
    break_it(files)
    kinds = ("error", "warning")
    wanted = [one if one.startswith(kinds) else f"warning {one}" for one in says]
    assert told(lay(tmp_path, files)) == sorted(wanted)


def test_what_breaks_a_dialect_that_was_asked_for_is_an_error(tmp_path):
    files = codingbuddy()
    files[ABOUT].update(eval_id=7)
    files[BENCHMARK].update(iteration=3)
    files[GRADING.replace("grading", "timing")] = {"total_tokens": -1, "duration_ms": 2500}
    assert told(lay(tmp_path, files), "codingbuddy") == [
        f"error missing {GRADING.replace('grading', 'timing')} $.total_duration_seconds",
        f"error other-id {ABOUT} $.eval_id",
        f"error other-iteration {BENCHMARK} $.iteration",
        f"error wrong-type {GRADING.replace('grading', 'timing')} $.total_tokens",
        DISAGREES,
    ]
    (message,) = [one.message for one in check(tmp_path) if one.where == "$.total_tokens"]
    assert "at least 0" in message
    assert "-1" in message


# ── what loses a figure ──────────────────────────────────────────────────────────────────────

SUITE_OF_0 = {"skill_name": "x", "evals": [{"id": 0, "prompt": "P", "expectations": ["e"]}]}
TWO_OF_ONE = {"expectations": [{"text": "x", "passed": True}], "summary": {"passed": 2, "total": 1}}
NO_TIME = {"total_tokens": 0, "total_duration_seconds": 0}
OF_SIDES = {"with_skill": graded("pp"), "without_skill": {"expectations": [{"text": "x"}]}}
UNKNOWN = {"expectations": [{"text": "x", "passed": "perhaps"}]}


@pytest.mark.parametrize(
    ("grading", "timing", "says"),
    [
        # What a dialect wants otherwise loses nothing: no `files`, an id of 0, another name.
        (graded("p"), None, ""),
        (TWO_OF_ONE, None, "warning disagree"),
        (graded("p"), NO_TIME, "warning zero-means-missing"),
        # What lies beside a grading of two sides is nobody's.
        (OF_SIDES, {"total_tokens": 1}, "warning whose, warning ungraded-run"),
        # A text is not a figure; a verdict, a number, a file are.
        (graded("p", summary="all"), None, "warning wrong-type"),
        (UNKNOWN, None, "error wrong-type, warning ungraded-run"),
        (graded("p"), "{", "error not-json"),
    ],
)
def test_an_error_is_what_loses_a_figure_and_check_says_all_that_loading_says(
    tmp_path, grading, timing, says
):
    home = "iteration-1/eval-0" if "with_skill" in grading else RUN
    files = {"evals.json": SUITE_OF_0, f"{home}/grading.json": grading}
    path = lay(tmp_path / "ws", files | ({f"{home}/timing.json": timing} if timing else {}))
    found = check(path)
    names = ("severity", "code", "where", "message", "workspace")
    loaded = sen.load(path).polars("problems").select(names).rows()
    assert [tuple(getattr(one, name) for name in names) for one in found][: len(loaded)] == loaded
    known = {"missing", "outside-limits"}  # by the rules of a dialect
    worse = [one for one in found if one.severity != "info"]
    of_loading = {f"{one.severity} {one.code}" for one in worse if one.code not in known}
    assert of_loading == set(filter(None, says.split(", ")))
    assert {one.severity for one in worse if one.code in known} <= {"warning"}


def test_an_unknown_dialect_and_nothing_to_check(tmp_path):
    with pytest.raises(NoSuchDocument, match="skill-creator"):
        check(tmp_path, "cobol")
    with pytest.raises(NothingToLoad):
        check(tmp_path)
    with pytest.raises(FileNotFoundError):
        check(tmp_path / "gone")


# ── a dialect that prescribes less ───────────────────────────────────────────────────────────


def test_no_workspace_of_the_corpus_is_held_to_the_layout_of_the_strict_dialect(corpus_workspaces):
    """None was written in it."""
    for path in corpus_workspaces[::3]:
        codes = {one.code for one in check(path)}
        assert not codes & {"missing-folder", "unknown-eval", "misplaced"}, path


def skill_creator() -> Files:
    """Two evals counted from 0, with two runs a side."""
    evals = [{"id": n, "prompt": f"P{n}", "expectations": ["e"]} for n in range(2)]
    return {
        "evals/evals.json": {"skill_name": "x", "evals": evals},
        "iteration-1/eval-{0-name0,1-name1}/{with,old}_skill/run-{1,2}/grading.json": graded("p"),
    }


@pytest.mark.parametrize("suite_in", ["x-workspace", "x"])
@pytest.mark.parametrize(
    ("left_out", "where", "says"),
    [
        ("eval-1-name1/old", None, ["eval 1 (name1)", "old_skill", "iteration-1"]),
        ("eval-1-name1/", "$.evals", ["not run in iteration-1: 1 eval (1)"]),
    ],
)
def test_an_eval_that_was_not_run_is_worth_knowing(tmp_path, suite_in, left_out, where, says):
    """Where the suite lies in the skill beside, too; of which eval it is said is true."""
    files = {at: one for names, one in skill_creator().items() for at in spread(names)}
    lay(tmp_path / suite_in, {"evals/evals.json": files.pop("evals/evals.json")})
    left = {name: one for name, one in files.items() if left_out not in name}
    lay(tmp_path / "x-workspace", left)
    (found,) = (one for one in check(tmp_path) if one.code.startswith("missing-"))
    assert found.where == where
    assert found.path.endswith("evals/evals.json") == (where is not None)
    assert all(part in found.message for part in says)


# ── skills, and suites that quote them ───────────────────────────────────────────────────────

FINE = "description: Does it. Use when it is wanted."


def skill_md(matter: str) -> str:
    return f"---\n{matter}\n---\n# Steps\n"


def rules(path):
    return [one.message for one in check(path) if one.code == "skill"]


@pytest.mark.parametrize(
    ("matter", "says"),
    [
        (f"name: maps\n{FINE}\nlicense: MIT\nallowed-tools: Read\nmetadata: {{version: '2'}}", []),
        (f"name: My Skill.v2\n{FINE}", ["lower-case letters", "its folder is maps"]),
        (
            f"name: -maps\n{FINE}",
            ["`name` is '-maps'; it names a folder", "single hy", "its folder"],
        ),
        (f"name: {'m' * 65}\n{FINE}", ["64 at most", "its folder", "65 characters"]),
        (f"name: maps\ndescription: {'d' * 1025}", ["`description` has 1,025 characters"]),
        (f"name: maps\n{FINE}\ncompatibility: {'c' * 501}", ["`compatibility` has 501"]),
        (f"name: maps\n{FINE}\nversion: 2", ["`version` is not a key that hosts know"]),
        (FINE, ["`name` is missing"]),
        ("- maps", ["front matter that is a list"]),
    ],
)
def test_a_skill_is_held_against_what_hosts_take(tmp_path, matter, says):
    folder = lay(tmp_path / "maps", {"SKILL.md": skill_md(matter)})
    for path in (folder / "SKILL.md", folder):
        found = rules(path)
        assert [part in message for part, message in zip(says, found, strict=True)] == [True] * len(
            says
        )


LEAKING = """---
name: change-log
description: Writes a change log.
---
Group entries by what a reader can do now. Read `log_file` before you write.
"""
LEAKS = [
    ("Use change-log on this repository", ["change-log"]),
    ("The CHANGE-LOG skill was used", ["change-log"]),
    ("Entries are grouped by what a reader can do now.", ["by what a reader can do now"]),
    ("The file change-log.md is written", []),
    ("By what a reader of it can do", []),
    ("It has read log_file", ["log_file"]),
    ("The title is one the prompt asks for: Sums of each month", []),
]


@pytest.mark.parametrize("folder", ["evals/", ""])
def test_what_quotes_the_skill_is_named(folder, tmp_path):
    prompt = "Write a log. The title is: Sums of each month, can it be?"
    texts = [text for text, _ in LEAKS]
    checks = [{"type": "file_contains", "pattern": "*", "match": texts[5]}]
    of_skill = {"id": 1, "prompt": prompt, "expectations": texts, "structural_expectations": checks}
    telling = {"id": 2, "prompt": texts[0], "expectations": [texts[1]]}
    suite = {"skill_name": "change-log", "evals": [of_skill, telling]}
    path = lay(tmp_path / "change-log", {f"{folder}evals.json": suite, "SKILL.md": LEAKING})
    found = {one.where or "": one for one in check(path) if one.code == "leak"}
    wanted = {f"$.evals[0].expectations[{n}]": quotes for n, (_, quotes) in enumerate(LEAKS)}
    wanted |= {"$.evals[0].structural_expectations[0]": ["log_file"]}
    wanted |= {"$.evals[1].prompt": ["change-log"]}
    assert found.keys() == {where for where, quotes in wanted.items() if quotes}
    assert all(", ".join(wanted[where]) in one.message for where, one in found.items())
    assert {one.severity for one in found.values()} == {"info"}
