"""A plan is carried out: files, order, resume, errors, and what the tables make of it."""

from __future__ import annotations

import gc
import io
import itertools
import json
import os
import signal
import threading
from pathlib import Path
from typing import Any
from unittest.mock import Mock, PropertyMock

import pytest
from rich.console import Console

import skill_eval_nb as sen
from skill_eval_nb.models import Connection
from skill_eval_nb.running import steps
from skill_eval_nb.running.engine import Engine
from skill_eval_nb.running.files import work_folders
from skill_eval_nb.running.job import Progress, watch
from skill_eval_nb.running.journal import Held, InFlight
from skill_eval_nb.running.pool import JobFailed
from skill_eval_nb.running.protocol import Limits, Refused
from skill_eval_nb.tables import check
from tests.corpus.build import lay
from tests.golden import hold, lines_of
from tests.running.made_jobs import Writer, job_plan, journal, make_skill, steps_of, until
from tests.stand_in import Fault, RiggedStandIn


def folders(workspace: Path) -> list[Path]:
    return sorted(workspace.glob("iteration-1/eval-*/*/run-*"))


def statuses(workspace: Path) -> dict[str, int]:
    return dict(sen.load(workspace).polars("runs")["status"].value_counts().iter_rows())


def finished(folder: Path, *given: Any, look: Any = None, **options: Any) -> Progress:
    return job_plan(folder, *given, **options).start(on_progress=look).wait(60)


def broken(*_: Any, **__: Any) -> Any:
    raise ZeroDivisionError("by nought")


CLOCKED = ("time_seconds", "started_at", "judged_at", "transcript_chars", "score")
"""What differs from job to job: the stand-in's scores go by the order of its calls."""


def test_a_job_from_its_plan_to_its_tables(tmp_path):
    looks = []
    progress = finished(tmp_path, judgings=2, look=looks.append)
    assert (progress.status, progress.finished, progress.problems) == ("done", 6, ())
    assert (progress.errored, progress.waiting) == (0, 0)
    assert looks[-1].status == "done"
    assert [one.finished for one in looks] == sorted(one.finished for one in looks)
    ws = sen.load(tmp_path / "ws", backend="polars")
    assert ws.runs["time_seconds"].null_count() == 0
    assert {one.severity for one in check(tmp_path / "ws")} <= {"info"}
    files = sorted(path for path in (tmp_path / "ws").rglob("*") if path.is_file())
    kinds = {path: "file" if path.stat().st_mode & 0o77 else "private" for path in files}
    lines = [f"{kind} {path.relative_to(tmp_path)}" for path, kind in kinds.items()]
    for name, table in ws.tables().items():
        lines += lines_of(table.drop(*CLOCKED, strict=False).to_dict(as_series=False), name)
    hold("job", lines)
    suite = tmp_path / "ws" / "evals" / "evals.json"
    assert suite.read_bytes() == (tmp_path / "skill" / "evals" / "evals.json").read_bytes()


def test_a_file_in_the_place_of_the_suites_folder_is_left_and_what_looks_on_may_fail(tmp_path):
    lay(tmp_path / "ws", {"evals": "mine"})
    progress = finished(tmp_path, judgings=0, look=broken)
    assert (progress.status, progress.finished) == ("done", 6)
    said = "\n".join(progress.problems)
    assert "evals is not a folder" in said
    assert "on_progress raised ZeroDivisionError" in said
    assert (tmp_path / "ws" / "evals").read_text() == "mine"


@pytest.mark.usefixtures("interrupts")
@pytest.mark.parametrize("interrupted", [False, True])
def test_a_job_holds_its_iteration_until_it_is_stopped_and_leaves_nothing_half_done(
    tmp_path, interrupted
):
    slow = Writer(seconds=30.0)
    job = job_plan(tmp_path, slow, concurrency=2).start()
    until(lambda: len(job.progress.in_flight) == 2)
    assert {one.step for one in job.progress.in_flight} == {"execute"}
    with pytest.raises(Held, match="this process, since 20"):
        job_plan(tmp_path, slow).start()
    if interrupted:
        threading.Timer(0.2, os.kill, [os.getpid(), signal.SIGINT]).start()
        with pytest.raises(KeyboardInterrupt):
            job.wait(60)
    else:
        job.stop()
    progress = job.wait(30)
    assert (progress.status, progress.finished, progress.in_flight) == ("stopped", 0, ())
    assert folders(tmp_path / "ws") == []
    assert not (tmp_path / "ws" / "iteration-1" / ".staging").exists()
    assert not work_folders(tmp_path / "ws" / "iteration-1", "any", 1)[0].parent.exists()
    told = [one["event"] for one in journal(tmp_path).events]
    assert told[-3:] == ["cancelled", "cancelled", "ended"]


def test_what_a_killed_start_was_writing_goes_with_the_next_start(tmp_path):
    finished(tmp_path, judgings=0)
    copy = "ws/iteration-1/skill-snapshot/.with_skill-0a1b2c3d/SKILL.md"
    lay(tmp_path, {"ws/.iteration-1.0a1b2c3d/journal.jsonl": "", copy: "half"})
    assert finished(tmp_path, judgings=0).status == "done"
    assert not [*(tmp_path / "ws").rglob(".*")]


@pytest.mark.parametrize("deaf", [False, True])
def test_an_executor_that_hangs_makes_errored_runs(tmp_path, deaf, monkeypatch, caplog):
    monkeypatch.setattr("skill_eval_nb.running.steps.OVER", 0.05)
    monkeypatch.setattr("skill_eval_nb.running.threads.GRACE", 0.05)
    options = {"limits": Limits(seconds=0.05), "evals_only": ["No log"]}
    progress = finished(tmp_path, Writer(hangs=True, deaf=deaf), **options)
    assert (progress.status, progress.errored) == ("done", 2)
    for folder in folders(tmp_path / "ws"):
        assert "did not end within" in json.loads((folder / "timing.json").read_bytes())["reason"]
    gc.collect()  # what was left behind goes without a word
    assert not [one for one in caplog.messages if "destroyed" in one]


def test_a_run_that_no_judge_looks_at_has_a_grading_that_other_tools_count_right(tmp_path):
    """skill-creator's aggregator reads grading.json alone, and passed over such runs.

    It takes the pass rate of `summary`; time and tokens it takes from timing.json only where
    grading.json has no `total_duration_seconds`, else it counts characters as tokens.
    """

    found, missing = ({"type": "file_exists", "pattern": one} for one in ("*.md", "*.pdf"))
    both, gate = [found, missing], [found, missing | {"critical": True}]
    short, of = {"prompt": "a", "expectations": ["Short"]}, "structural_expectations"
    evals = [
        short | {"id": 1, "name": "gated", of: gate},
        short | {"id": 2, "name": "judged", of: both},
        {"id": 3, "name": "unjudged", "prompt": "a", of: both},
    ]
    make_skill(tmp_path / "skill", evals, skill_name="notes")
    progress = finished(tmp_path, Writer(calls=2))
    assert (progress.status, progress.errored) == ("done", 0)
    ws = sen.load(tmp_path / "ws")
    assert statuses(tmp_path / "ws") == {"graded": 4, "gated": 2}
    assert ws.expectations.filter(layer="structural").height == 6 * 2
    assert ws.expectations.filter(layer="judged").height == 2
    for run in ws.runs.to_dicts():
        folder = tmp_path / "ws" / run["path"]
        grading = json.loads((folder / "grading.json").read_bytes())
        timing = json.loads((folder / "timing.json").read_bytes())
        assert grading["summary"]["pass_rate"] == pytest.approx(run["pass_rate"])
        assert not grading["timing"].get("total_duration_seconds")
        assert timing["total_tokens"] == run["tokens"] > 0
        assert (grading.get("layer") == "structural") is (run["eval_name"] != "judged")
    assert {one.severity for one in check(tmp_path / "ws")} <= {"info"}

    config = {"structural_gate": False}  # without a gate, those are judged too
    make_skill(tmp_path / "skill", evals, skill_name="notes", eval_config=config)
    assert finished(tmp_path, Writer(calls=2)).status == "done"
    assert len([*(tmp_path / "ws").rglob("judgings/*.json")]) >= 4


JUDGE = ("judge 1", "grade")


FAILS = {
    "tests.running.made_jobs.Writer.execute": ("by nought", ("execute", "check", *JUDGE)),
    "skill_eval_nb.grading.structural.check": ("check: ZeroDivisionError", ("check", *JUDGE)),
    "the judge": ("judge: the judge model refused", JUDGE),
}


@pytest.mark.parametrize("fails", FAILS)
def test_errored_runs_are_done_again_only_where_asked_for_and_from_where_they_failed(
    tmp_path, monkeypatch, fails
):
    told, again = FAILS[fails]
    options: dict[str, Any] = {"evals_only": ["Short log"]}
    refusing = RiggedStandIn(
        faults=(Fault("refusal", role="judge"),) if fails == "the judge" else ()
    )
    with monkeypatch.context() as patch:
        if fails != "the judge":
            patch.setattr(fails, broken)
        progress = finished(tmp_path, connection=Connection(stand_in=refusing), **options)
    assert (progress.status, progress.errored) == ("done", 2)
    assert statuses(tmp_path / "ws") == {"errored": 2}
    assert all(told in problem for problem in progress.problems)
    for folder in folders(tmp_path / "ws"):
        assert told in json.loads((folder / "timing.json").read_bytes())["reason"]
        assert not (folder / "grading.json").exists()
    traces = [one.get("traceback") for one in journal(tmp_path).events if one["event"] == "errored"]
    assert traces
    assert fails == "the judge" or all("in broken" in trace for trace in traces)
    assert not job_plan(tmp_path, **options).todo
    ready = job_plan(tmp_path, retry_errored=True, **options)
    assert [steps_of(one.missing) for one in ready.todo] == [again] * 2
    progress = ready.start().wait(60)
    assert (progress.status, progress.finished, progress.errored) == ("done", 2, 0)
    assert statuses(tmp_path / "ws") == {"graded": 2}


def test_something_else_in_the_way_is_not_touched_and_costs_nothing(tmp_path):
    options = {"evals_only": ["No log"], "configurations": ["with_skill"]}
    made = job_plan(tmp_path, **options)
    place = made.run_of(made.cells[0]).place
    finished(tmp_path, **options)
    (place / "timing.json").unlink()
    progress = made.start().wait(60)
    assert (progress.status, progress.errored) == ("done", 1)
    assert "is in the way" in progress.problems[0]
    assert (place / "outputs" / "notes.md").exists()


def test_nothing_is_begun_without_a_key(tmp_path, monkeypatch):
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    keyless = job_plan(tmp_path, connection=Connection())
    with pytest.raises(Refused, match="There is no API key"):
        keyless.start()
    assert not keyless.workspace.exists()


FULL = OSError(28, "No space left on device")


@pytest.mark.parametrize(
    ("owner", "name", "fault", "told"),
    [
        (steps, "put_in_place", FULL, "No space left.*start the plan again"),
        (Engine, "missing", KeyError("x"), "the job failed: KeyError"),
    ],
)
def test_a_job_that_cannot_go_on_says_why_and_loses_nothing(
    tmp_path, monkeypatch, owner, name, fault, told
):
    real = getattr(owner, name)
    rest = itertools.chain([real] * 4, itertools.repeat(Mock(side_effect=fault)))

    def failing(*given):
        return next(rest)(*given)

    with monkeypatch.context() as patch:
        patch.setattr(owner, name, failing)
        job = job_plan(tmp_path, judgings=0).start()
        with pytest.raises(JobFailed, match=told) as caught:
            job.wait(60)
    assert caught.value.__cause__ is not None
    assert job.status == "failed"
    last = journal(tmp_path).events[-1]
    assert (last["event"], last["status"]) == ("ended", "failed")
    assert type(fault).__name__ in last["traceback"]
    assert folders(tmp_path / "ws")
    assert finished(tmp_path, judgings=0).finished == 6


# ── watching ─────────────────────────────────────────────────────────────────────────────────────


def interrupted_job() -> Mock:
    """A job that is at two states, and interrupted at the next look."""
    waits = InFlight("execute", "run-1", 1.0, "HTTP 529. Retry 1, next in 9 s")
    looks = [Progress("running", cells=3, finished=n, in_flight=(waits,)) for n in (0, 1)]
    end = Progress("done", cells=3, finished=3)
    told = itertools.chain([*looks, KeyboardInterrupt], itertools.repeat(end))
    job = Mock(wait=Mock(return_value=end))
    type(job).progress = PropertyMock(side_effect=told)
    return job


@pytest.mark.parametrize("terminal", [True, False])
def test_a_terminal_gets_a_picture_that_goes_away_and_an_interrupt_stops_the_job(terminal, capsys):
    into, job = io.StringIO(), interrupted_job()
    console = Console(file=into, force_terminal=terminal, width=60)
    assert watch(job, console).status == "done"
    job.stop.assert_called_once_with()
    assert ("1 of 3 runs" in into.getvalue()) is terminal
    assert ("\x1b[2K" in into.getvalue()) is terminal  # the line is erased
    retry = "HTTP 529. Retry 1, next in 9 s (1 of 1 step in flight)."
    assert (retry in into.getvalue().replace("\n", " ")) is terminal
    assert capsys.readouterr().err == ("" if terminal else f"{retry}\n")
