"""Planned looks: a job goes from look to look, ends where one decides, and resumes with them."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import skill_eval_nb as sen
from skill_eval_nb.running import Execution, Plan, Task
from skill_eval_nb.running.job import Progress
from skill_eval_nb.running.journal import NAME, read_journal
from skill_eval_nb.running.protocol import Refused
from tests.running.made_jobs import Writer, job_plan, make_skill

CHECKS = [{"type": "file_exists", "pattern": f"part-{n}.md"} for n in range(4)]
EVALS = [
    {"id": at, "name": f"eval {at}", "prompt": f"Do {at}", "structural_expectations": CHECKS}
    for at in range(1, 5)
]
LOOKS = (2, 3, 5)
EXECUTED: Counter[str] = Counter()
"""How often each run was executed, by its key."""


@dataclass(frozen=True)
class Sided(Writer):
    """Writes what the checks are for: with the skill so many parts of four, without it none."""

    parts: int = 4

    async def execute(self, task: Task, meter: Any) -> Execution:
        EXECUTED[task.key] += 1
        done = await super().execute(task, meter)
        for part in range(self.parts if task.skill is not None else 0):
            (task.folder / f"part-{part}.md").write_text("x")
        return done


def planned(folder: Path, parts: int = 4, **options: Any) -> Plan:
    if not (folder / "skill").exists():
        make_skill(folder / "skill", EVALS, skill_name="notes")
    return job_plan(folder, Sided(parts=parts), **{"runs": None, "looks": LOOKS} | options)


def deltas_of(folder: Path) -> dict[str, Any]:
    return sen.stats.deltas(sen.load(folder / "ws")).row(0, named=True)


@pytest.fixture(autouse=True)
def _nothing_was_executed():
    EXECUTED.clear()


@pytest.mark.parametrize(
    ("parts", "options", "runs", "message", "said"),
    [
        (4, {}, 2, "decided at the planned look at 2 runs per side, with 24 runs fewer", "helps"),
        # of 2 evals with 2 runs a side the smallest p is .056, and .025 is asked for at 3
        (4, {"evals_only": [1, 2]}, 3, "decided at the planned look at 3 runs per side", "helps"),
        (0, {"evals_only": [1, 2]}, 5, "no planned look reached a verdict", "too few runs"),
    ],
)
def test_a_job_ends_where_a_look_decides_and_pays_for_no_run_after_it(
    tmp_path, parts, options, runs, message, said
):
    plan = planned(tmp_path, parts, **options)
    end = plan.start().wait(120)
    wanted = len(plan.evals) * 2 * runs
    assert (end.status, end.finished, end.waiting, end.share) == ("done", wanted, 0, 1.0)
    assert message in (end.message or "")
    assert sum(EXECUTED.values()) == len(EXECUTED) == wanted

    events = read_journal(plan.folder).events
    numbers = {cell.key: cell.run_number for cell in plan.cells}
    order = [numbers[event["key"]] for event in events if event["event"] == "launched"]
    stage = [next(look for look in LOOKS if number <= look) for number in order]
    assert stage == sorted(stage)
    looks = sen.stats.sequential(sen.load(tmp_path / "ws"))
    assert looks["look"].to_list() == list(LOOKS)
    assert looks.filter("decides")["look"].to_list() == [runs] * (said == "helps")
    found = deltas_of(tmp_path)
    assert (found["verdict"], found["n_runs"]) == (said, wanted / 2)
    assert f"the planned look at {runs} runs per side" in found["reason"].lower()

    again = planned(tmp_path, parts, looks=None, **options)  # as the shell's --resume gives it
    assert (again.looks, again.todo) == (LOOKS, ())
    assert again.start().wait(60).message == end.message
    assert sum(EXECUTED.values()) == wanted
    decided = [one for one in read_journal(plan.folder).events if one["event"] == "decided"]
    assert len(decided) == (said == "helps")


def said_at(folder: Path, number: int, plan: Plan, *, stop: bool = False) -> tuple[Any, Progress]:
    """What is said of a job once so many runs are finished, and the end of it."""
    said, jobs = list[dict[str, Any]](), list[Any]()

    def look(now: Progress) -> None:
        if now.finished == number and not said and now.status == "running":
            said.append(deltas_of(folder))
            if stop:
                jobs[0].stop(60)

    jobs.append(plan.start(on_progress=look))
    return said, jobs[0].wait(120)


def test_a_job_that_is_stopped_or_killed_resumes_with_its_looks_and_says_so_far_meanwhile(tmp_path):
    plan = planned(tmp_path, 4, evals_only=[1, 2], concurrency=1)
    said, end = said_at(tmp_path, 5, plan, stop=True)
    assert end.status == "stopped"
    for row in [*said, deltas_of(tmp_path)]:  # the same when nobody is at work any more
        assert row["verdict"] is None
        assert row["reason"].startswith("Interim figures: no verdict before the planned look at")

    journal = plan.folder / NAME  # a killed job has written neither its end nor what it decided
    for gone, runs in (({"ended"}, 12), ({"ended", "decided"}, 0)):
        lines = journal.read_text().splitlines(keepends=True)
        kept = [line for line in lines if json.loads(line)["event"] not in gone]
        journal.write_text("".join(kept))
        looks = {"looks": None} if runs else {}
        end = planned(tmp_path, 4, evals_only=[1, 2], **looks).start().wait(120)
        assert (end.status, set(EXECUTED.values())) == ("done", {1})
        assert end.finished == runs or not runs
        assert "decided at the planned look at 3 runs per side" in end.message


def test_while_a_job_without_looks_is_at_work_nothing_is_claimed(tmp_path):
    said, end = said_at(tmp_path, 20, planned(tmp_path, runs=3, looks=None))
    assert end.status == "done"
    assert said[0]["verdict"] is None
    assert "before the job ends (this process)." in said[0]["reason"]
    assert deltas_of(tmp_path)["verdict"] == "helps"


def test_looks_are_planned_before_the_first_run_and_where_one_could_decide(tmp_path):
    cards = repr(planned(tmp_path))
    assert "estimated at most" in cards
    for options, why in (
        ({"looks": (2, 2)}, "looks is (2, 2); it must be two or more increasing numbers"),
        ({"evals_only": [1], "looks": (2, 3)}, "no look before the last can decide anything"),
        ({"runs": 3}, "runs is 3, and the last look is at 5: leave `runs` out"),
    ):
        with pytest.raises(Refused, match=re.escape(why)):
            planned(tmp_path, **options)
    planned(tmp_path, 0, runs=1, looks=None).start().wait(60)
    with pytest.raises(Refused, match="iteration-1 was started without looks"):
        planned(tmp_path, 0)
