from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

import skill_eval_nb.running as face
from skill_eval_nb.running import executors


def test_every_name_of_the_face_is_there():
    assert sorted(face.__all__) == face.__all__ == sorted(face._HOMES)
    assert set(face.__all__) <= set(dir(face))
    for name in face.__all__:
        assert getattr(face, name) is getattr(importlib.import_module(face._HOMES[name]), name)
    assert [name for name in executors.__all__ if not hasattr(executors, name)] == []


def test_a_name_that_is_not_there():
    with pytest.raises(AttributeError, match="no attribute 'plan_run'"):
        _ = face.plan_run


def test_planning_loads_nothing_heavy():
    code = (
        "import sys, skill_eval_nb.running as r; r.plan_runs; r.Limits\n"
        "print([m for m in ('anthropic', 'httpx2', 'pandas', 'polars', 'regex', 'dask', "
        "'skill_eval_nb.tables') if m in sys.modules])"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "[]"
