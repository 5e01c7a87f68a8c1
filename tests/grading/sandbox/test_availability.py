"""Whether a sandbox works here is tried, and what is missing is said in words."""

import shutil
from contextlib import nullcontext

import pytest

from skill_eval_nb.grading.sandbox import Box, SandboxMissing, available, run_in_box, why_not
from skill_eval_nb.grading.sandbox import process as availability


@pytest.fixture(autouse=True)
def _anew():
    """Nothing of what is found out here is remembered."""
    available.cache_clear()
    yield
    available.cache_clear()


@pytest.fixture
def no_bwrap(monkeypatch, tmp_path):
    monkeypatch.setattr(availability.platform, "system", lambda: "Linux")
    monkeypatch.setenv("PATH", str(tmp_path))


@pytest.mark.usefixtures("no_bwrap")
def test_nothing_runs_unkept_unless_that_is_spelled_out(tmp_path, monkeypatch):
    why = available()
    assert why is not None
    assert "apt install bubblewrap" in why
    assert 'sandbox="none"' in why
    folder = tmp_path / "work"
    folder.mkdir()
    with pytest.raises(SandboxMissing, match="bubblewrap"):
        run_in_box(Box(folder), ["touch", "ran"])
    assert not (folder / "ran").exists()
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    assert why_not("none") is None
    assert run_in_box(Box(folder, kind="none"), ["touch", "ran"]).exit_code == 0
    assert (folder / "ran").exists()


def test_one_that_is_there_but_does_not_work(monkeypatch, tmp_path):
    """As in a container that forbids namespaces: its own words are passed on."""
    false = tmp_path / "bwrap"
    false.write_text("#!/bin/sh\necho 'No permissions to create a new namespace' >&2\nexit 1\n")
    false.chmod(0o755)
    tmp_path.chmod(0o755)
    which = shutil.which
    found = {"bwrap": str(false)}
    monkeypatch.setattr(shutil, "which", lambda name, **_: found.get(name) or which(name))
    monkeypatch.setattr(availability, "wrap_command", lambda *_: nullcontext(([str(false)], ())))
    why = available()
    assert why is not None
    assert "No permissions to create a new namespace" in why
    assert "--privileged" in why
