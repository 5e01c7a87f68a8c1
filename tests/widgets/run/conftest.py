"""A skill whose evals are run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.widgets.run.panels import demo_skill


@pytest.fixture
def skill(tmp_path: Path) -> Path:
    return demo_skill(tmp_path)
