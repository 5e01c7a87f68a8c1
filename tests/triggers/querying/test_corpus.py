"""Other people's trigger sets: every one is read, or said to be none."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from skill_eval_nb.running.protocol import Refused
from skill_eval_nb.triggers.queries import read_queries, write_queries


@pytest.fixture(scope="module")
def sets(corpus: Path) -> dict[Path, Any]:
    """Every JSON file whose name or text speaks of triggers."""
    found = {}
    for path in corpus.rglob("*.json"):
        data = path.read_bytes()
        if "trigger" in path.name or b'"should_trigger"' in data:
            found[path] = json.loads(data)
    assert len(found) > 40
    return found


def rows_of(raw: Any) -> list[dict[str, Any]]:
    """The objects that have a label or an expected skill, wherever they stand."""
    several = (
        raw
        if isinstance(raw, list)
        else [row for rows in raw.values() if isinstance(rows, list) for row in rows]
    )
    return [
        row
        for row in several
        if isinstance(row, dict) and {"should_trigger", "expected"} & row.keys()
    ]


def test_every_set_is_read_whole(sets: dict[Path, Any], tmp_path: Path) -> None:
    refused = []
    for path, raw in sets.items():
        rows = rows_of(raw)
        wanted = [(row.get("query", row.get("prompt")), row.get("should_trigger")) for row in rows]
        try:
            found = read_queries(path)
        except Refused as error:
            refused.append((path.name, str(error)))
            continue
        assert [(one.query, one.should_trigger) for one in found] == wanted, path
        copy = tmp_path / "copy.json"
        copy.write_bytes(path.read_bytes())
        write_queries(copy, found)
        assert json.loads(copy.read_bytes()) == raw, path
    by_name = Counter(name for name, _ in refused)
    assert by_name == {"trigger_evals.json": 3, "manual_scorecard.json": 1}
    assert sum("for several skills" in why for _, why in refused) == 3
