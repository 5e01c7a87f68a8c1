"""Other people's files: every one is read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from skill_eval_nb.documents import Faults, NotJSON, parse
from skill_eval_nb.documents.dialects import check, kind_of, read_as_shared, recognise

KNOWN = {
    *("grading.json", "timing.json", "metrics.json", "benchmark.json", "feedback.json"),
    *("evals.json", "eval_metadata.json"),
}


@pytest.fixture(scope="module")
def found(corpus: Path) -> list[tuple[Path, str, Any]]:
    """Every file of the corpus that is one of the documents: path, kind, JSON value."""
    documents = list(_documents(corpus))
    assert len(documents) > 1000
    return documents


def _documents(folder: Path) -> Iterator[tuple[Path, str, Any]]:
    for path in sorted(folder.rglob("*.json")):
        try:
            raw = parse(path.read_bytes(), Faults())
        except NotJSON:
            continue
        kind = kind_of(path.name, raw)
        if kind is not None:
            yield path, kind, raw


def test_every_fault_has_its_place(
    found: list[tuple[Path, str, Any]],
) -> None:
    for _, kind, raw in found:
        _, faults = read_as_shared(kind, raw)
        check(kind, raw, recognise(kind, raw))
        assert all(fault.where.startswith("$") for fault in faults)


def test_no_file_of_a_known_name_is_overlooked(
    corpus: Path, found: list[tuple[Path, str, Any]]
) -> None:
    seen = {path for path, _, _ in found}
    overlooked = [path for name in KNOWN for path in corpus.rglob(name) if path not in seen]
    for path in overlooked:
        with pytest.raises(NotJSON):
            parse(path.read_bytes(), Faults())
