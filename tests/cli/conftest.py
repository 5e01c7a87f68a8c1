"""Workspaces to call commands on."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.corpus.build import graded, lay
from tests.tables.made import RUN, two_sides


@pytest.fixture
def ws(tmp_path) -> Path:
    """A sound workspace of two runs."""
    return lay(tmp_path / "ws", two_sides())


@pytest.fixture
def no_key(monkeypatch) -> None:
    """No key, and no server of one's own that would want none."""
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    monkeypatch.delenv("ANTHROPIC_BASE_URL", raising=False)


@pytest.fixture
def faulty(tmp_path) -> Path:
    """A workspace with an error and things to look at."""
    grading = graded("ppf") | {"expectations": [{"name": "it works", "met": "perhaps"}]}
    return lay(tmp_path / "faulty", two_sides() | {f"{RUN}/grading.json": grading})
