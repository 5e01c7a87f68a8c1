"""What holds for every agent, and for executors that others have registered."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from skill_eval_nb.models import BudgetSpent, Connection, StandIn, Tally, Usage
from skill_eval_nb.running import Executor, executor
from skill_eval_nb.running.executors.messages_api import Offline
from skill_eval_nb.running.protocol import GROUP, Task, executor_names
from tests.bubblewrap import needed
from tests.corpus.build import lay
from tests.grading.made import marker, running
from tests.running.agents import NAME, Conversation, execute, say, skill, task, use
from tests.running.made_jobs import job_plan, until

pytestmark = needed


def processes(one: Task) -> list[Path]:
    """What runs for a task: its model is in the environment."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if one.model.encode() in (folder / "environ").read_bytes():
                found.append(folder)
        except OSError:
            continue
    return found


def test_at_the_ceiling_the_run_ends_and_the_ceiling_holds(tmp_path, agent):
    class Cap(Tally):
        """A meter with room for the first call at its worst, and for little more."""

        most = 0

        def reserve(self, model, worst: Usage, *, batch=False):
            self.most = self.most or worst.total + 1000
            if (self.usage + self.assumed + self.open + worst).total > self.most:
                raise BudgetSpent("The budget is spent.")
            return super().reserve(model, worst, batch=batch)

    cap = Cap()
    with Conversation(use("Bash", command="true")) as server:
        one = task(tmp_path / "run", Connection(server.base_url), skill=skill(tmp_path))
        execution = execute(executor(agent), one, cap)
    assert (execution.status, execution.reason) == ("errored", "The budget is spent.")
    assert execution.skill_used is False
    assert 0 < len(server.seen) == cap.calls < 30
    assert execution.usage == cap.usage == sum([Usage(100, 20, calls=1)] * cap.calls, Usage())
    assert cap.usage.total <= cap.most
    assert cap.assumed == cap.open == Usage()
    until(lambda: not processes(one), 20)


def test_cancelled_it_leaves_no_process_behind(tmp_path, agent):
    mark, tally = marker(), Tally()

    async def cancelled(one: Task) -> None:
        at_it = asyncio.create_task(executor(agent).execute(one, tally))
        while not running(mark):  # noqa: ASYNC110 (another process is waited for)
            await asyncio.sleep(0.02)
        assert processes(one) or agent == "messages-api"
        at_it.cancel()
        with pytest.raises(asyncio.CancelledError):
            await at_it

    command = f"trap '' TERM; while :; do sleep {mark}; done"
    with Conversation(use("Bash", command=command)) as server:
        one = task(tmp_path / "run", Connection(server.base_url))
        asyncio.run(asyncio.wait_for(cancelled(one), 60))
    until(lambda: not running(mark) and not processes(one), 20)
    assert tally.open == Usage()


@pytest.mark.parametrize("enough", [True, False])
def test_among_other_skills_it_ends_once_the_skill_was_opened_where_that_is_enough(
    tmp_path, agent, enough
):
    others = [skill(tmp_path, name, f"The work of {name}.\n") for name in ("zither", "abacus")]
    steps = [use("Skill", skill="abacus"), use("Bash", command="cat /skills/zither/SKILL.md")]
    steps += [use("Skill", skill=NAME), use("Bash", command="touch after"), say("Done.")]
    with Conversation(*steps) as server:
        given = {"skill": skill(tmp_path), "others": tuple(others), "until_opened": enough}
        one = task(tmp_path / "run", Connection(server.base_url), **given)
        execution = execute(executor(agent), one)
    assert (execution.status, execution.reason, execution.skill_used) == ("done", None, True)
    assert (one.folder / "after").exists() is not enough
    offered = [name for name in execution.events[0]["skills"] if name in ("abacus", NAME, "zither")]
    assert offered == ["abacus", NAME, "zither"]
    assert "work of abacus" in str(server.bodies)  # and was not enough


def test_offline_it_needs_no_key_and_no_network_and_repeats_itself(tmp_path, monkeypatch, agent):
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://192.0.2.1:9")  # nowhere
    written = []
    for n in range(2):
        one = task(tmp_path / str(n), Connection(), model="stand-in", key="the-same")
        execution = execute(Offline(StandIn(seed=5), agent), one)
        assert execution.status == "done", execution.reason
        assert execution.cost_usd == 0.0
        assert execution.events[-1]["result"].startswith("No model wrote this")
        outputs = sorted(one.folder.rglob("*"))
        written.append([(path.name, path.read_bytes()) for path in outputs])
    assert written[0]
    assert written[0] == written[1]


# ── executors of others ──────────────────────────────────────────────────────────────────────────

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
