"""Outputs of a few files, and what one check finds in them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from skill_eval_nb.documents import GradedExpectation, StructuralExpectation, mend
from skill_eval_nb.grading.structural import check


def lay(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write these files below a folder, line ends as they are."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def wanted(kind: str, **fields: Any) -> StructuralExpectation:
    """A structural expectation as its JSON says it."""
    return mend({"type": kind, **fields}, StructuralExpectation)[0]


def checked(
    folder: Path,
    kind: str,
    files: Mapping[str, str | bytes] | None = None,
    *,
    transcript: Path | None = None,
    options: Mapping[str, Any] | None = None,
    **fields: Any,
) -> GradedExpectation:
    """What one check finds in outputs of these files."""
    outputs = lay(folder / "outputs", files or {})
    done = check([wanted(kind, **fields)], outputs, transcript, **(options or {}))
    return done.expectations[0]
