"""`custom_script`: only where it is allowed, and only in the sandbox."""

from __future__ import annotations

import pytest

from skill_eval_nb.grading import sandbox
from tests.grading.structural.made import checked, lay

REASON = sandbox.available()
boxed = pytest.mark.skipif(REASON is not None, reason=f"no sandbox here: {REASON}")
ALLOWED = {"allow_scripts": True}


@pytest.mark.parametrize(
    ("options", "said"),
    [({"sandbox": "none"}, "allow_scripts=True"), (ALLOWED, "bwrap is not installed")],
    ids=["without permission", "without a sandbox"],
)
def test_what_must_not_run_is_not_scored_and_does_not_run(tmp_path, monkeypatch, options, said):
    monkeypatch.setattr(sandbox, "available", lambda: "bwrap is not installed")
    mark = tmp_path / "ran"
    found = checked(tmp_path, "custom_script", script=f"touch {mark}", options=options)
    assert found.passed is None
    assert said in found.evidence
    assert not mark.exists()


def test_none_is_spelled_out(tmp_path):
    options = {**ALLOWED, "sandbox": "none"}
    found = checked(tmp_path, "custom_script", {"a": "x"}, script="grep -q x a", options=options)
    assert found.passed is True


@boxed
@pytest.mark.parametrize(
    ("script", "passed"),
    [
        ("grep -q x a.md", True),
        ("grep -q y a.md", False),
        ("test -f docs/deep/b.md && test -x run.sh", True),
        ("./run.sh", True),
        ("exit 3", False),
        ("no-such-program a.md", None),
        ("./missing.sh", False),
        ("echo 1 > new.txt && rm a.md", True),
        ("if then", False),
    ],
)
def test_exit_0_passes(tmp_path, script, passed):
    files = {"a.md": "x", "docs/deep/b.md": "", "run.sh": "#!/bin/sh\nexit 0\n"}
    lay(tmp_path / "outputs", files)
    (tmp_path / "outputs/run.sh").chmod(0o755)
    found = checked(tmp_path, "custom_script", script=script, options=ALLOWED)
    assert found.passed is passed, found.evidence
    assert (tmp_path / "outputs/a.md").read_text() == "x"
    assert not (tmp_path / "outputs/new.txt").exists()


@boxed
def test_a_script_reads_and_reaches_nothing_else(tmp_path, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "key-of-the-user")
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    secret.chmod(0o644)
    (tmp_path / "outputs").mkdir()
    (tmp_path / "outputs/link.txt").symlink_to(secret)
    for script in (f"cat {secret}", "cat link.txt", 'test -n "$ANTHROPIC_API_KEY"'):
        found = checked(tmp_path, "custom_script", script=script, options=ALLOWED)
        assert found.passed is False, (script, found.evidence)


@boxed
def test_a_script_that_sleeps_for_ever_is_ended(tmp_path, monkeypatch):
    monkeypatch.setattr("skill_eval_nb.grading.structural.types.SECONDS", 1.0)
    found = checked(tmp_path, "custom_script", {"a": ""}, script="sleep 600", options=ALLOWED)
    assert found.passed is False
    assert "was ended" in found.evidence


def test_too_large_outputs_are_not_copied(tmp_path, monkeypatch):
    monkeypatch.setattr("skill_eval_nb.grading.structural.types.LARGEST_COPY", 10)
    options = {**ALLOWED, "sandbox": "none"}
    found = checked(tmp_path, "custom_script", {"a": "x" * 11}, script="true", options=options)
    assert found.passed is None
    assert "cannot be copied" in found.evidence
    assert [path.name for path in (tmp_path / "outputs").iterdir()] == ["a"]
