"""The face of the room: what it names is there, and nothing heavy comes with it."""

from __future__ import annotations

import subprocess
import sys

import pytest

import skill_eval_nb.grading as face


@pytest.mark.parametrize("name", face.__all__)
def test_each_name_is_there(name):
    assert getattr(face, name) is not None
    assert name in dir(face)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="nothing_of_ours"):
        _ = face.nothing_of_ours


def test_the_face_loads_nothing_heavy():
    code = (
        "import sys, skill_eval_nb.grading.structural\n"
        "heavy = {'anthropic', 'regex', 'polars', 'pandas', 'skill_eval_nb.grading.judge'}\n"
        "print(heavy & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
