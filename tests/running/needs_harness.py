"""The real harness in its sandbox: left out where it is missing, unless that is forbidden."""

from __future__ import annotations

import pytest

from skill_eval_nb.running.executors.claude_code import ClaudeCode
from tests.bubblewrap import required


def needs_harness() -> None:
    """Skip where the harness cannot run here; fail where the tests of it may not be left out."""
    why = ClaudeCode().why_not("bubblewrap")
    if why is None:
        return
    if required():
        pytest.fail(f"SKILL_EVAL_NB_REQUIRE_SANDBOX is set, but: {why}")
    pytest.skip(f"left out: {why}")
