"""Workspaces to call commands on."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.corpus.build import lay
from tests.tables.made import two_sides


@pytest.fixture
def ws(tmp_path) -> Path:
    """A sound workspace of two runs."""
    return lay(tmp_path / "ws", two_sides())
