"""`custom_script`: only where it is allowed, and only in the sandbox."""

from __future__ import annotations

import pytest

from skill_eval_nb.grading import sandbox
from tests.bubblewrap import needed
from tests.grading.structural.made import checked, lay

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


@needed
@pytest.mark.parametrize(
    ("script", "passed", "said"),
    [
        ("grep -q x a.md", True, ""),
        ("grep -q y a.md", False, ""),
        ("test -f docs/deep/b.md && test -x run.sh", True, ""),
        ("./run.sh", True, ""),
        ("exit 3", False, ""),
        ("no-such-program a.md", None, ""),
        ("./missing.sh", False, ""),
        ("echo 1 > new.txt && rm a.md", True, ""),
        ("if then", False, ""),
        ("cat {secret}", False, ""),
        ("cat link.txt", False, ""),
        ('test -n "$ANTHROPIC_API_KEY"', False, ""),
        ("sleep 600", False, "was ended"),
        ("i=0; while :; do : > f$((i+=1)); done", False, "more than 20,000 files"),
    ],
)
def test_exit_0_passes_and_nothing_else_is_reached(tmp_path, monkeypatch, script, passed, said):
    if "sleep" in script:
        monkeypatch.setattr("skill_eval_nb.grading.check_types.SECONDS", 1.0)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "key-of-the-user")
    secret = lay(tmp_path, {"secret.txt": "secret"}) / "secret.txt"
    files = {"a.md": "x", "docs/deep/b.md": "", "run.sh": "#!/bin/sh\nexit 0\n"}
    outputs = lay(tmp_path / "outputs", files)
    (outputs / "run.sh").chmod(0o755)
    (outputs / "link.txt").symlink_to(secret)
    script = script.format(secret=secret)
    found = checked(tmp_path, "custom_script", script=script, options=ALLOWED)
    assert found.passed is passed, found.evidence
    assert said in found.evidence
    assert (outputs / "a.md").read_text() == "x"
    assert not (outputs / "new.txt").exists()


def test_none_is_spelled_out_and_too_large_outputs_are_not_copied(tmp_path, monkeypatch):
    asked = {"script": "grep -q x a", "options": {**ALLOWED, "sandbox": "none"}}
    assert checked(tmp_path, "custom_script", {"a": "x"}, **asked).passed is True
    monkeypatch.setattr("skill_eval_nb.grading.check_types.LARGEST_COPY", 10)
    found = checked(tmp_path, "custom_script", {"a": "x" * 11}, **asked)
    assert found.passed is None
    assert "cannot be copied" in found.evidence
    assert [path.name for path in (tmp_path / "outputs").iterdir()] == ["a"]
