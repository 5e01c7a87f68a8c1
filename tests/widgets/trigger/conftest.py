"""A skill whose description is tried."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.widgets.trigger.made import demo_skill


@pytest.fixture
def skill(tmp_path: Path) -> Path:
    return demo_skill(tmp_path)
