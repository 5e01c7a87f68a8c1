from __future__ import annotations

import sys
from pathlib import Path

import pytest

from skill_eval_nb.running import Executor, executor
from skill_eval_nb.running.protocol import GROUP, executor_names
from tests.corpus.build import lay
from tests.running.made_jobs import job_plan

MODULE = """
from dataclasses import dataclass
from skill_eval_nb.running import Execution
from skill_eval_nb.models import Usage

@dataclass(frozen=True)
class Mine:
    greeting: str = "hello"
    name: str = "mine"

    def why_not(self, sandbox):
        return None if sandbox == "none" else "it knows no sandbox"

    async def execute(self, task, meter):
        (task.folder / "out.txt").write_text(f"{self.greeting}: {task.prompt}")
        meter.settle(meter.reserve(task.model, Usage(10, calls=1)), Usage(7, calls=1))
        return Execution("done", None, (), Usage(7, calls=1), 0.0, None)

class Half:
    name = "half"
"""
ENTRIES = f"[{GROUP}]\nlost = sen_test_no_such_module:X\n"
ENTRIES += "".join(f"{name.lower()} = sen_test_mine:{name}\n" for name in ("Mine", "Half", "Gone"))


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A small distribution, installed as installers do it: a module and its dist-info."""
    info = "sen_test_mine-1.0.dist-info"
    files = {
        "sen_test_mine.py": MODULE,
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: sen-test-mine\nVersion: 1.0\n",
        f"{info}/entry_points.txt": ENTRIES,
    }
    monkeypatch.syspath_prepend(str(lay(tmp_path / "site", files)))
    monkeypatch.delitem(sys.modules, "sen_test_mine", raising=False)


@pytest.mark.usefixtures("installed")
def test_anybody_can_register_an_executor_and_plan_with_it_by_name(tmp_path):
    assert "mine" in executor_names()
    assert isinstance(executor("mine"), Executor)
    given = {"judgings": 0, "evals_only": [2], "configurations": ["with_skill"]}
    with pytest.raises(ValueError, match="`mine` cannot run here: it knows no sandbox"):
        job_plan(tmp_path, "mine", **given)
    given["sandbox"] = "none"
    first = job_plan(tmp_path, "mine", **given)
    other = job_plan(tmp_path, "mine", **given, executor_options={"greeting": "good day"})
    assert first.executor.name == "mine"
    assert first.fingerprint != other.fingerprint
    progress = other.start().wait(60)
    (out,) = other.workspace.rglob("outputs/out.txt")
    assert out.read_text() == "good day: Write notes"
    assert (progress.status, progress.spent_usd) == ("done", pytest.approx(7e-6))


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("name", "options", "told"),
    [
        ("mien", {}, "did you mean `mine`"),
        ("mine", {"greting": "x"}, "does not take these options: .*greting"),
        ("half", {}, "made a Half, which lacks"),
        ("gone", {}, "registered as `sen_test_mine:Gone`, which cannot be imported"),
        ("lost", {}, "cannot be imported: No module"),
    ],
)
def test_what_cannot_be_made_is_told(name, options, told):
    with pytest.raises(ValueError, match=told):
        executor(name, **options)
