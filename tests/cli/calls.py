"""The shell's commands, called as tests and as users call them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from typer.testing import CliRunner, Result

from skill_eval_nb import cli
from tests.checkout import ROOT

PROGRAM = Path(sys.executable).with_name("skill-eval-nb")
COMMANDS = (
    "init run grade judge compare check schema convert report gate library tables trigger "
    "trigger-draft trigger-optimise lab demo improve"
).split()
WITH_PATH = "check convert report gate library tables".split()
TDD = ROOT / "data" / "tdd-workspace"


def run(*arguments: Any, typed: str | None = None) -> Result:
    """A command, in this process, with what is typed; a traceback is a failure of the test."""
    words = [str(one) for one in arguments]
    result = CliRunner().invoke(cli.app, words, input=typed, terminal_width=200)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def done(*arguments: Any) -> str:
    """What a command prints that ends well, with nothing to complain of."""
    result = run(*arguments)
    assert (result.exit_code, result.stderr) == (0, ""), result.output
    return result.stdout


def refused(*arguments: Any) -> str:
    """What a user is told who can do something about it; nothing else is printed."""
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (2, ""), result.output
    return result.stderr


def started(*arguments: Any, **more: Any) -> subprocess.CompletedProcess[str]:
    """A command as users start it, in a process of its own."""
    command = [PROGRAM, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, **more)
