"""Everything wrong with files and workspaces, at once, each with its file and JSON path."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import skill_eval_nb as sen
from skill_eval_nb.documents.dialects import NoSuchDocument
from skill_eval_nb.tables import NothingToLoad, check
from skill_eval_nb.workspace import Problem
from tests.cases import Case, cases
from tests.checkout import ROOT
from tests.corpus.build import lay

Files = dict[str, Any]
GRADING = "iteration-1/eval-0/with_skill/grading.json"
ABOUT = "iteration-1/eval-1/with_skill/eval_metadata.json"
OF_FIRST = "iteration-1/eval-0/with_skill/eval_metadata.json"
BENCHMARK = "iteration-1/benchmark.json"
FEEDBACK = "iteration-1/feedback.json"


def codingbuddy() -> Files:
    """One iteration of the bundled workspace: evals counted from 1 in the suite, from 0 else."""
    root = ROOT / "data" / "codingbuddy-workspace"
    return {
        str(path.relative_to(root)): json.loads(path.read_text())
        for path in sorted(root.rglob("*.json"))
        if "iteration-2" not in path.parts
    }


def told(problem: Problem, folder: Path) -> str:
    """Severity, code, file and JSON path of a problem."""
    path = Path(problem.path).relative_to(folder)
    return f"{problem.severity} {problem.code} {path} {problem.where or ''}".strip()


def faults(folder: Path, dialect: str | None = None) -> list[str]:
    """All that is more than information."""
    return sorted(told(one, folder) for one in check(folder, dialect) if one.severity != "info")


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
    assert faults(lay(tmp_path, files)) == sorted(wanted)


def test_what_breaks_a_dialect_that_was_asked_for_is_an_error(tmp_path):
    files = codingbuddy()
    files[ABOUT].update(eval_id=7)
    files[BENCHMARK].update(iteration=3)
    files[GRADING.replace("grading", "timing")] = {"total_tokens": -1, "duration_ms": 2500}
    assert faults(lay(tmp_path, files), "codingbuddy") == [
        f"error missing {GRADING.replace('grading', 'timing')} $.total_duration_seconds",
        f"error other-id {ABOUT} $.eval_id",
        f"error other-iteration {BENCHMARK} $.iteration",
        f"error wrong-type {GRADING.replace('grading', 'timing')} $.total_tokens",
        DISAGREES,
    ]
    (message,) = [one.message for one in check(tmp_path) if one.where == "$.total_tokens"]
    assert "at least 0" in message
    assert "-1" in message


# ── files of all kinds ───────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("case", cases("checking"))
def test_what_is_said_of_files(tmp_path: Path, case: Case) -> None:
    """An error is what loses a figure; all that loading says is said, too, and first."""
    folder = lay(tmp_path / "maps", case.files)
    found = check(folder)
    case.hold(f"{told(one, folder)}: {one.message}" for one in found)
    with suppress(NothingToLoad):  # a skill alone
        names = ("severity", "code", "where", "message", "workspace")
        loaded = sen.load(folder).polars("problems").select(names).rows()
        checked = [tuple(getattr(one, name) for name in names) for one in found]
        assert checked[: len(loaded)] == loaded


@pytest.mark.parametrize(
    ("key", "length"), [("name", 65), ("description", 1025), ("compatibility", 501)]
)
def test_what_is_longer_than_hosts_take(tmp_path: Path, key: str, length: int) -> None:
    """Of a skill, given as its folder or as its file."""
    matter = {"name": "maps", "description": "Does it."} | {key: "m" * length}
    text = "\n".join(["---", *map(": ".join, matter.items()), "---"])
    folder = lay(tmp_path / "maps", {"SKILL.md": text})
    for path in (folder, folder / "SKILL.md"):
        assert any(f"{length:,} characters" in one.message for one in check(path))


def test_an_unknown_dialect_and_nothing_to_check(tmp_path):
    with pytest.raises(NoSuchDocument, match="skill-creator"):
        check(tmp_path, "cobol")
    with pytest.raises(NothingToLoad):
        check(tmp_path)
    with pytest.raises(FileNotFoundError):
        check(tmp_path / "gone")


def test_no_workspace_of_the_corpus_is_held_to_the_layout_of_the_strict_dialect(corpus_workspaces):
    """None was written in it."""
    for path in corpus_workspaces[::3]:
        codes = {one.code for one in check(path)}
        assert not codes & {"missing-folder", "unknown-eval", "misplaced"}, path
