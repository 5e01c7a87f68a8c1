"""Nothing is dropped in silence: whatever looks like a result is in a table or in `problems`."""

from __future__ import annotations

import fnmatch
import json
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import skill_eval_nb as sen
from tests.corpus.build import graded, lay, row
from tests.corpus.test_corpus import REPOSITORIES, loaded

# ── what in a JSON file looks like a result, found without the package: a second opinion ─────────
#
# It knows no document and no dialect, only that people call verdicts, rates and scores so.

RESULT = re.compile(r"^(?:.*_)?(?:passed|pass_rate|score|verdict)s?$")
NOT_ENTERED = {"outputs", "inputs", "judgings", "skill-snapshot", ".git", "node_modules"}
"""Folders that hold what a run has put out, or was given: no results of anybody's."""


def files(folder: Path) -> Iterator[str]:
    """The JSON files below a folder, as paths below it."""
    for at, folders, names in os.walk(folder):
        folders[:] = sorted(set(folders) - NOT_ENTERED)
        yield from (os.path.relpath(Path(at, name), folder) for name in names if _is_json(name))


def _is_json(name: str) -> bool:
    return name.endswith(".json")


def results(value: Any, key: str = "") -> list[Any]:
    """The values in a document whose key says that they are a verdict, a rate or a score."""
    if isinstance(value, dict):
        return [one for name, item in value.items() for one in results(item, name)]
    if isinstance(value, list):
        return [one for item in value for one in results(item, key)]
    is_one = isinstance(value, bool | int | float) and RESULT.match(key) is not None
    return [value] if is_one else []


def holds_results(path: Path) -> bool:
    """Whether a file does, or is no strict JSON, so that it may."""
    try:
        return bool(results(json.loads(path.read_text(encoding="utf-8-sig"))))
    except ValueError:
        return True


def passed_over(ws: Any, folder: Path) -> list[str]:
    """The files with results that no table and no problem speaks of."""
    used = {row["path"] for table in ("runs", "stated") for row in ws.polars(table).to_dicts()}
    for table, column in (("comparisons", "comparison"), ("analyses", "analysis")):
        used |= set(ws.polars(table)[column])
    problems = ws.polars("problems").to_dicts()
    named = {row["path"] for row in problems}
    patterns = {
        found[1]
        for row in problems
        if (found := re.search(r" in \d+ places, (\S+)\)$", row["message"]))
    }
    return [
        path
        for path in files(folder)
        if holds_results(folder / path)
        and not {path, str(Path(path).parent)} & used
        and path not in named
        and not any(
            fnmatch.fnmatch(one, pattern)
            for pattern in patterns
            for one in (path, str(Path(path).parent))
        )
    ]


@pytest.mark.parametrize("name", REPOSITORIES)
def test_every_file_of_the_corpus_with_results_is_used_or_named(corpus: Path, name: str) -> None:
    assert passed_over(loaded(corpus / name), corpus / name) == []


RUN = "ws/iteration-1/eval-1/with_skill"
BESIDE = {f"{RUN}/grading.json": graded("pf"), f"{RUN}/timing.json": {"total_tokens": 7}}
BASES: dict[str, dict[str, Any]] = {
    f"{RUN}/grading.json": graded("pf"),
    f"{RUN}/timing.json": {"total_tokens": 5},
    f"{RUN}/notes.json": {},
    "ws/iteration-1/eval-1/eval_metadata.json": {"eval_id": 1, "prompt": "do"},
    "ws/iteration-1/benchmark.json": {
        "metadata": {"skill_name": "s"},
        "runs": [row(1, "with_skill", "pf")],
        "run_summary": {"with_skill": {"tokens": 7}},
    },
    "ws/iteration-1/other.json": {},
    "ws/evals/evals.json": {"skill_name": "s", "evals": [{"id": 1, "prompt": "do"}]},
    "ws/results/benchmark.json": {"results": {"E-1": {"with_skill": {"tokens": 7}}}},
}
"""Files that a result is put into, somewhere: what would lie there without it."""

FIGURE = 0.7391
"""A result that is found nowhere else."""

WHOLE = re.compile(r"\$(?:\[[\d*]+\])*")
"""A JSON path that names no key: of the whole file, or of a whole element of a list."""

NAMES = st.sampled_from(
    "results runs summary run_summary with_skill without_skill evals details extra metadata scores "
    "E-1 gpt-5 expectations configs aggregate totals by_skill iterations".split()
)
PATHS = st.lists(st.one_of(NAMES, st.just(0)), max_size=4)
KEYS = st.sampled_from(["pass_rate", "score", "eval_score", "judge_verdicts", "my_pass_rate"])


def put(base: Any, path: list[str | int], key: str) -> Any:
    """A copy of a document with the figure below a path of keys and, for 0, of lists."""
    if not path:
        return {**(base if isinstance(base, dict) else {}), key: FIGURE}
    step, *rest = path
    if step == 0:
        return [*(base if isinstance(base, list) else []), put(None, rest, key)]
    holder = base if isinstance(base, dict) else {}
    return {**holder, step: put(holder.get(str(step)), rest, key)}


def in_a_table(ws: sen.Workspace) -> bool:
    """Whether some cell has the figure, as a share or as a percentage, or its half."""
    wanted = [FIGURE * factor for factor in (1, 0.01, 100, 5)]
    return any(
        isinstance(cell, float) and any(abs(cell - one) < 1e-6 for one in wanted)
        for name, table in ws.tables().items()
        if name != "problems"
        for cells in table.to_dict(as_series=False).values()
        for cell in cells
    )


def named(ws: sen.Workspace, file: str, path: list[str | int], key: str) -> bool:
    """Whether a problem speaks of the file, and of the key or of one that it lies below.

    One that says that the file as a whole was not used speaks of all its keys.
    """
    words = [key, *(str(step) for step in path if step)]
    return any(
        problem["path"] in (file, str(Path(file).parent))
        and (
            problem["code"] in ("not-a-document", "no-figures")
            or (problem["code"] == "wrong-type" and WHOLE.fullmatch(problem["where"]))
            or any(word in f"{problem['where']} {problem['message']}" for word in words)
        )
        for problem in ws.problems.to_dicts()
    )


@settings(max_examples=60)
@given(st.sampled_from(sorted(BASES)), PATHS, KEYS)
def test_a_result_anywhere_is_used_or_named(file: str, path: list[str | int], key: str) -> None:
    raw = put(BASES[file], path, key)
    with tempfile.TemporaryDirectory() as folder:
        ws = sen.load(lay(Path(folder), {**BESIDE, file: raw}))
        assert in_a_table(ws) or named(ws, file, path, key), raw
