"""Other people's files: none of a document's name is overlooked."""

from __future__ import annotations

from pathlib import Path

from skill_eval_nb.documents import Faults, NotJSON, parse
from skill_eval_nb.documents.dialects import kind_of

KNOWN = ("grading", "timing", "metrics", "benchmark", "feedback", "evals", "eval_metadata")


def test_no_file_of_a_known_name_is_overlooked(corpus: Path) -> None:
    found = [path for name in KNOWN for path in corpus.rglob(f"{name}.json")]
    assert len(found) > 1000
    for path in found:
        try:
            raw = parse(path.read_bytes(), Faults())
        except NotJSON:
            continue
        assert kind_of(path.name, raw) is not None, path
