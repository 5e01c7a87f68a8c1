"""The commonest files, read without detours: the same as the tolerant way, or not at all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from skill_eval_nb.documents.dialects import read
from skill_eval_nb.workspace.read import Known, fast_read

SUITE = {
    "skill_name": "tdd",
    "eval_config": {"runs_per_eval": 3},
    "evals": [
        {
            "id": 1,
            "name": "first",
            "prompt": "Write a test",
            "expected_output": "A test",
            "files": ["a.csv"],
            "expectations": ["It fails first", "It passes later"],
            "structural_expectations": [{"type": "file_exists", "pattern": "*.py"}],
            "quality_rubric": {"dimensions": [{"name": "clarity", "weight": 2.0}]},
        },
        {"id": "two", "prompt": "Another"},
    ],
}
METADATA = {"eval_id": 0, "eval_name": "first", "prompt": "Do", "assertions": ["It works"]}


def strictly(folder: Path, name: str, value: Any) -> tuple[str | None, Any]:
    path = folder / name
    path.write_text(json.dumps(value), encoding="utf-8")
    return fast_read(name, str(path), {})


@pytest.mark.parametrize(
    ("name", "kind", "value"),
    [
        ("evals.json", "evals", SUITE),
        ("eval_metadata.json", "eval_metadata", METADATA),
        (
            "eval_metadata.json",
            "eval_metadata",
            METADATA | {"assertions": [{"text": "It works", "id": "A1"}]},
        ),
    ],
)
def test_it_is_what_the_tolerant_way_gives(
    tmp_path: Path, name: str, kind: str, value: Any
) -> None:
    found, document = strictly(tmp_path, name, value)
    expected, _ = read(kind, value)
    assert found == kind
    assert msgspec.to_builtins(document) == msgspec.to_builtins(expected)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("evals.json", SUITE | {"version_of_ours": 7}),
        ("evals.json", [{"id": 1, "prompt": "a bare list"}]),
        ("evals.json", {"evals": [{"id": 1, "prompt": "x", "expectations": [{"met": True}]}]}),
        ("eval_metadata.json", {"prompt": "no id"}),
        ("grading.json", {"expectations": []}),
    ],
)
def test_anything_else_is_left_to_the_tolerant_way(tmp_path: Path, name: str, value: Any) -> None:
    assert strictly(tmp_path, name, value) == (None, None)


def test_what_is_not_utf_8_or_not_there_is_left_too(tmp_path: Path) -> None:
    path = tmp_path / "evals.json"
    assert fast_read("evals.json", str(path), {}) == (None, None)
    path.write_bytes(b'{"evals": [{"prompt": "caf\xe9"}]}')
    assert fast_read("evals.json", str(path), {}) == (None, None)


def test_the_same_bytes_are_the_same_document(tmp_path: Path) -> None:
    known: Known = {}
    paths = [tmp_path / folder / "eval_metadata.json" for folder in ("one", "two")]
    for path in paths:
        path.parent.mkdir()
        path.write_text(json.dumps(METADATA), encoding="utf-8")
    first, second = (fast_read(path.name, str(path), known) for path in paths)
    assert first[0] == "eval_metadata"
    assert first[1] is second[1]
