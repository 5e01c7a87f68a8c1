"""The names of sides mean the same in every reader, and to the statistics."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import skill_eval_nb as sen
from skill_eval_nb.documents.sides import find_side, is_side, side_in, without_side
from tests.cases import document
from tests.corpus.build import graded, lay

WITH, WITHOUT = "with_skill", "without_skill"
NAMES = {
    ("with_skill", "without_skill"): (WITH, WITHOUT),
    ("With-Skill", "no-skill"): (WITH, WITHOUT),
    ("withskill", "withoutskill"): (WITH, WITHOUT),
    ("with-skills", "noskills"): (WITH, WITHOUT),
    ("with_skill", "vanilla"): (WITH, WITHOUT),
    ("treatment", "control"): (WITH, WITHOUT),
    ("skill", "plain"): (WITH, WITHOUT),
    ("skilled", "baseline"): (WITH, WITHOUT),
    ("with", "without"): (WITH, WITHOUT),
    ("skill", "bare"): (WITH, WITHOUT),
    ("skill", "base"): (WITH, WITHOUT),
    ("new_skill", "old_skill"): ("new_skill", "old_skill"),
    ("candidate-skill", "previous-skill"): ("candidate-skill", "previous-skill"),
    ("after", "before"): ("after", "before"),
}
"""Names of the two sides, and what they are called where a tool has words of its own."""
MARKS = ("pp", "pf")
Files = dict[str, Any]


def _a_file_a_side(path: str) -> Callable[..., Files]:
    return lambda *names: {
        path.format(eval="{1,2}", side=name): graded(marks)
        for name, marks in zip(names, MARKS, strict=True)
    }


def _keyed(*names: str) -> Files:
    both = {name: graded(marks) for name, marks in zip(names, MARKS, strict=True)}
    return {"ws/iteration-1/eval-{1,2}/grading.json": both}


def _rows(*names: str) -> Files:
    both = {name: {"passed": 2 - at, "total": 2} for at, name in enumerate(names)}
    return {"ws/benchmark.json": {"results": [{"eval_id": n, **both} for n in (1, 2)]}}


def _harbor(*names: str) -> Files:
    trial = document("tools", "harbor: trial")
    return {
        f"jobs/{name}/{task}__1/result.json": trial
        | {"task_name": task, "verifier_result": {"rewards": {"reward": 1 - at / 2}}}
        for at, name in enumerate(names)
        for task in "ab"
    }


FOLDERS = "folders below evals"
READERS: dict[str, Callable[..., Files]] = {
    FOLDERS: _a_file_a_side("ws/iteration-1/eval-{eval}/{side}/grading.json"),
    "folders above evals": _a_file_a_side("ws/iteration-1/{side}/eval-{eval}/grading.json"),
    "named files": _a_file_a_side("ws/iteration-1/eval-{eval}/grading_{side}.json"),
    "keys of a grading": _keyed,
    "keys of rows": _rows,
    "folders of a tool": _harbor,
}


EVERY = [("skill", "bare"), ("new_skill", "old_skill")]


@pytest.mark.parametrize(
    ("reader", "names"),
    [*((FOLDERS, names) for names in NAMES), *product([*READERS][1:], EVERY)],
)
def test_a_side_is_known_by_its_name(tmp_path: Path, reader: str, names: tuple[str, str]) -> None:
    ws = sen.load(lay(tmp_path, READERS[reader](*names)))
    expected = NAMES[names] if reader == "folders of a tool" else names
    assert set(ws.runs["configuration"]) == set(expected)
    (delta,) = sen.stats.deltas(ws, "pass_rate").rows(named=True)
    assert (delta["configuration"], delta["baseline"]) == expected
    assert (delta["estimate"], delta["n_evals"]) == (0.5, 2)


@pytest.mark.parametrize(
    ("name", "alone", "inside", "tool"),
    [
        ("eval-3-with_skill", False, "with_skill", WITH),
        ("haiku (no skills)", True, "no skills", WITHOUT),
        ("gemini_without_skill", True, "without_skill", WITHOUT),
        ("gpt-5 (vanilla)", True, None, WITHOUT),
        ("with_skill vs baseline", False, "with_skill", None),
        ("access-control", False, None, None),
        ("vanilla-js-todo", False, None, None),
        ("claude-skills", False, None, None),
        ("testing-skill", False, None, None),
        ("variant_a", True, None, "variant_a"),
        ("v1.2", True, None, None),
        ("plainly", False, None, None),
        ("", False, None, None),
    ],
)
def test_what_may_mean_anything_else_is_a_side_only_alone(
    name: str, alone: bool, inside: str | None, tool: str | None
) -> None:
    found = find_side(name)
    assert (is_side(name), found and found[0], side_in(name)) == (alone, inside, tool)


def test_a_label_without_its_side_is_the_model() -> None:
    labels = ("haiku (with skill)", "gpt-5 (vanilla)", "no-skill", "gpt-5 mini")
    assert [without_side(label) for label in labels] == ["haiku", "gpt-5", "", "gpt-5 mini"]
