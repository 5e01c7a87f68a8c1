"""What takes seconds to import is there before the first run is measured."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.checkout import ROOT

PROGRAM = """
import json, sys
from dataclasses import dataclass
from pathlib import Path
from tests.running.made_jobs import Writer, job_plan

@dataclass(frozen=True)
class Looks(Writer):
    async def execute(self, task, meter):
        (task.folder / "sdk.txt").write_text(str("anthropic" in sys.modules))
        return await super().execute(task, meter)

folder = Path(sys.argv[1])
assert "anthropic" not in sys.modules
progress = job_plan(folder, Looks(), judgings=int(sys.argv[2])).start().wait(120)
assert progress.status == "done", progress
found = sorted({path.read_text() for path in folder.rglob("sdk.txt")})
print(json.dumps(found))
"""


@pytest.mark.parametrize(("judgings", "there"), [(1, "True"), (0, "False")])
def test_the_sdk_is_imported_before_the_first_run_and_only_if_it_is_needed(
    tmp_path, judgings, there
):
    command = [sys.executable, "-c", PROGRAM, str(tmp_path), str(judgings)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [there]
