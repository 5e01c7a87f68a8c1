"""A workspace in the dialect `codingbuddy` in which everything holds, for tests to break."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.checkout import ROOT
from tests.corpus.build import lay

SKILL = "sql-migration"


def codingbuddy(n_iterations: int = 1, skill: str = SKILL) -> dict[str, Any]:
    """The documents of the bundled one: three evals, counted from 1 in the suite, from 0 else."""
    root = ROOT / "data" / "codingbuddy-workspace"
    return {
        str(path.relative_to(root)): json.loads(path.read_text("utf-8").replace(SKILL, skill))
        for path in sorted(root.rglob("*.json"))
        if n_iterations > 1 or "iteration-2" not in path.parts
    }


def laid(root: Path, files: dict[str, Any], changes: dict[str, Any] | None = None) -> Path:
    """Write the files, some of them changed; None leaves one out."""
    changed = files | (changes or {})
    return lay(root, {name: one for name, one in changed.items() if one is not None})
