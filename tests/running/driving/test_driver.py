"""A plan is carried out: files, order, resume, errors, and what the tables make of it."""

from __future__ import annotations

import asyncio
import errno
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

import skill_eval_nb as sen
from skill_eval_nb.grading import sandbox
from skill_eval_nb.models import Connection, StandIn, serve
from skill_eval_nb.running import plan_runs
from skill_eval_nb.running.budget import Budget
from skill_eval_nb.running.dispatcher import JobFailed
from skill_eval_nb.running.files import made_by
from skill_eval_nb.running.job import InFlight, Progress, page, watch
from skill_eval_nb.running.journal import NAME, Journal, read
from skill_eval_nb.running.lock import Held
from skill_eval_nb.running.protocol import Limits
from skill_eval_nb.running.refused import Refused
from skill_eval_nb.running.scheduler import Scheduler
from skill_eval_nb.workspace import check
from tests.checkout import ROOT
from tests.running.made_jobs import PRICES, Writer, job_plan, until
from tests.running.made_plans import make_skill


def folders(workspace: Path) -> list[Path]:
    return sorted(workspace.glob("iteration-1/eval-*/*/run-*"))


def statuses(workspace: Path) -> dict[str, int]:
    return dict(sen.load(workspace).polars("runs")["status"].value_counts().iter_rows())


def test_the_workspace_loads_complete_and_without_a_fault(tmp_path):
    made = job_plan(tmp_path, judgings=2)
    progress = made.start().wait(120)
    assert progress.status == "done", progress
    assert (progress.finished, progress.errored, progress.waiting) == (6, 0, 0)
    assert not progress.problems
    ws = sen.load(tmp_path / "ws")
    runs = ws.polars("runs")
    assert runs["status"].to_list() == ["graded"] * 6
    assert set(runs["configuration"]) == {"with_skill", "without_skill"}
    assert runs["time_seconds"].null_count() == 0
    assert set(runs["executor_model"]) == {"worker"}
    assert set(runs["judge_model"]) == {"stand-in-judge"}
    assert ws.polars("evals")["n_dimensions"].to_list() == [1, 0, 0]
    assert ws.polars("dimensions")["weight"].to_list() == [1.0]
    assert ws.polars("rubric_scores").height == 2 * 2
    bad = [one for one in (*ws.problems.iter_rows(named=True),) if one["severity"] != "info"]
    assert not bad
    assert [one for one in check(tmp_path / "ws") if one.severity != "info"] == []


def test_a_runs_folder_has_its_files(tmp_path):
    job_plan(tmp_path, evals_only=["Short log"], configurations=["with_skill"]).start().wait(120)
    (folder,) = folders(tmp_path / "ws")
    assert sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.*")) == [
        "grading.json",
        "inputs/evals/files/log.txt",
        "judgings/1.json",
        "metrics.json",
        "outputs/notes.md",
        "structural.json",
        "timing.json",
        "transcript.jsonl",
        "transcript.md",
    ]
    private = {"transcript.jsonl", "transcript.md", NAME}
    everything = [path for path in (tmp_path / "ws").rglob("*") if path.is_file()]
    assert {path.name for path in everything if not path.stat().st_mode & 0o077} == private
    timing = json.loads((folder / "timing.json").read_bytes())
    assert (timing["status"], timing["model"], timing["executor"]) == ("done", "worker", "writer")
    metadata = json.loads((folder.parents[1] / "eval_metadata.json").read_bytes())
    assert metadata == {
        "eval_id": 1,
        "eval_name": "Short log",
        "prompt": "Write notes of evals/files/log.txt",
        "assertions": ["It has one note"],
    }
    suite = tmp_path / "ws" / "evals" / "evals.json"
    assert suite.read_bytes() == (tmp_path / "skill" / "evals" / "evals.json").read_bytes()
    assert not (tmp_path / "ws" / "iteration-1" / ".staging").exists()


def test_only_one_job_at_a_time_is_at_an_iteration(tmp_path):
    made = job_plan(tmp_path, Writer(seconds=30.0))
    job = made.start()
    try:
        with pytest.raises(Held, match="this process, since 20"):
            job_plan(tmp_path, Writer(seconds=30.0)).start()
    finally:
        job.stop()
    assert job.wait(30).status == "stopped"


def test_a_stopped_job_goes_on_where_it_was(tmp_path):
    slow = Writer(seconds=30.0)
    job = job_plan(tmp_path, slow, concurrency=2).start()
    until(lambda: len(job.progress.in_flight) == 2)
    assert {one.step for one in job.progress.in_flight} == {"execute"}
    job.stop()
    progress = job.wait(30)
    assert (progress.status, progress.finished, progress.in_flight) == ("stopped", 0, ())
    assert folders(tmp_path / "ws") == []
    assert not (tmp_path / "ws" / "iteration-1" / ".staging").exists()
    assert not made_by(tmp_path / "ws" / "iteration-1", "any", 1)[0].parent.exists()
    told = read(tmp_path / "ws" / "iteration-1").events
    assert [one["event"] for one in told][-3:] == ["cancelled", "cancelled", "ended"]


@pytest.mark.usefixtures("interrupts")
def test_an_interrupted_wait_stops_the_job_and_waits_for_its_end(tmp_path):
    job = job_plan(tmp_path, Writer(seconds=30.0), concurrency=2).start()
    until(lambda: len(job.progress.in_flight) == 2)
    threading.Timer(0.2, os.kill, [os.getpid(), signal.SIGINT]).start()
    with pytest.raises(KeyboardInterrupt):
        job.wait(60)
    told = read(tmp_path / "ws" / "iteration-1").events
    assert [one["event"] for one in told][-3:] == ["cancelled", "cancelled", "ended"]


@pytest.mark.parametrize(
    ("executor", "limits", "words"),
    [
        (Writer(raises="by nought"), Limits(), "ZeroDivisionError: by nought"),
        (Writer(hangs=True), Limits(seconds=0.05), "did not end within"),
        (Writer(hangs=True, deaf=True), Limits(seconds=0.05), "did not end within"),
    ],
)
def test_an_executor_that_fails_or_hangs_makes_errored_runs(
    tmp_path, executor, limits, words, monkeypatch
):
    monkeypatch.setattr("skill_eval_nb.running.steps.OVER", 0.05)
    monkeypatch.setattr("skill_eval_nb.running.threads.GOING", 0.05)
    made = job_plan(tmp_path, executor, limits=limits, evals_only=["No log"])
    progress = made.start().wait(60)
    assert (progress.status, progress.errored) == ("done", 2)
    assert all(words in one for one in progress.problems)
    for folder in folders(tmp_path / "ws"):
        timing = json.loads((folder / "timing.json").read_bytes())
        assert timing["status"] == "errored"
        assert words in timing["reason"]
        assert not (folder / "grading.json").exists()
        assert words in (folder / "transcript.md").read_text()
    assert statuses(tmp_path / "ws") == {"errored": 2}
    if executor.raises:
        events = read(tmp_path / "ws" / "iteration-1").events
        traces = [one["traceback"] for one in events if one["event"] == "errored"]
        assert all("made_jobs.py" in trace for trace in traces)


def test_a_run_that_no_judge_looks_at_has_a_grading_that_other_tools_count_right(tmp_path):
    """skill-creator's aggregator reads grading.json alone, and passed over such runs.

    It takes the pass rate of `summary`; time and tokens it takes from timing.json only where
    grading.json has no `total_duration_seconds`, else it counts characters as tokens.
    """

    missing = {"type": "file_exists", "pattern": "*.pdf"}
    checks = [{"type": "file_exists", "pattern": "*.md"}, missing]
    judge = {"expectations": ["It is short"]}
    gate = {"structural_expectations": [checks[0], missing | {"critical": True}]}
    evals = [
        {"id": 1, "name": "gated", "prompt": "a", **gate, **judge},
        {"id": 2, "name": "judged", "prompt": "b", "structural_expectations": checks, **judge},
        {"id": 3, "name": "unjudged", "prompt": "c", "structural_expectations": checks},
    ]
    make_skill(tmp_path / "skill", evals, skill_name="notes")
    progress = job_plan(tmp_path, Writer(calls=2)).start().wait(60)
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
    assert [one for one in check(tmp_path / "ws") if one.severity != "info"] == []

    for folder in folders(tmp_path / "ws"):  # checked anew, both files say the same again
        (folder / "structural.json").write_text('{"expectations": []}')
        if "layer" in json.loads((folder / "grading.json").read_bytes()):
            (folder / "grading.json").write_text('{"expectations": [], "layer": "structural"}')
    assert sen.grade_stored(tmp_path / "ws", force=True).written == 6
    assert sen.load(tmp_path / "ws").runs.equals(ws.runs)
    gradings = [json.loads((one / "grading.json").read_bytes()) for one in folders(tmp_path / "ws")]
    assert all(len(one["expectations"]) == (2 if "layer" in one else 1) for one in gradings)


def test_errored_runs_are_done_again_only_where_that_is_asked_for(tmp_path):
    options = {"evals_only": ["No log"]}
    job_plan(tmp_path, Writer(raises="x"), **options).start().wait(60)
    sound = Writer(raises=None)
    # The same executor as far as the fingerprint goes: it is what failed that has changed.
    object.__setattr__(sound, "raises", "x")
    assert not job_plan(tmp_path, sound, **options).todo
    again = job_plan(tmp_path, sound, retry_errored=True, **options)
    assert [one.missing.execute for one in again.todo] == [True, True]
    object.__setattr__(sound, "raises", None)
    progress = again.start().wait(60)
    assert (progress.status, progress.finished, progress.errored) == ("done", 2, 0)
    assert statuses(tmp_path / "ws") == {"graded": 2}


def test_something_else_in_the_way_is_not_touched_and_costs_nothing(tmp_path):
    made = job_plan(tmp_path, evals_only=["No log"], configurations=["with_skill"])
    place = made.folder_of(made.cells[0])
    job_plan(tmp_path, evals_only=["No log"], configurations=["with_skill"]).start().wait(60)
    (place / "timing.json").unlink()
    progress = made.start().wait(60)
    assert (progress.status, progress.errored) == ("done", 1)
    assert "is in the way" in progress.problems[0]
    assert (place / "outputs" / "notes.md").exists()


def test_a_workspace_that_cannot_be_written_ends_the_job_and_loses_nothing(tmp_path, monkeypatch):
    from skill_eval_nb.running import steps as executing

    real, count = executing.put_in_place, []

    def full(*given):
        count.append(1)
        if len(count) > 2:
            raise OSError(28, "No space left on device", "somewhere")
        return real(*given)

    monkeypatch.setattr(executing, "put_in_place", full)
    job = job_plan(tmp_path, concurrency=1, judgings=0).start()
    with pytest.raises(JobFailed, match="No space left on device"):
        job.wait(60)
    assert job.status == "failed"
    assert "start the plan again" in str(job.progress)
    assert len(folders(tmp_path / "ws")) == 2
    monkeypatch.setattr(executing, "put_in_place", real)
    assert job_plan(tmp_path, concurrency=1, judgings=0).start().wait(60).finished == 6


def test_an_error_of_the_driver_itself_is_kept_and_raised(tmp_path, monkeypatch):
    def broken(*_):
        raise KeyError("x")

    monkeypatch.setattr("skill_eval_nb.running.scheduler.Scheduler.advance", broken)
    job = job_plan(tmp_path, judgings=0).start()
    with pytest.raises(JobFailed, match="error of its own: KeyError") as caught:
        job.wait(60)
    assert isinstance(caught.value.__cause__, KeyError)
    last = read(tmp_path / "ws" / "iteration-1").events[-1]
    assert (last["event"], last["status"]) == ("ended", "failed")
    assert "KeyError" in last["traceback"]


def test_a_check_that_fails_by_itself_makes_an_errored_run(tmp_path, monkeypatch):
    def broken(*_, **__):
        raise ZeroDivisionError("in the check")

    monkeypatch.setattr("skill_eval_nb.grading.structural.check", broken)
    progress = job_plan(tmp_path, evals_only=["Short log"]).start().wait(60)
    assert (progress.status, progress.errored) == ("done", 2)
    assert "check: ZeroDivisionError: in the check" in progress.problems[0]
    monkeypatch.undo()
    again = job_plan(tmp_path, evals_only=["Short log"], retry_errored=True)
    assert all("execute" not in one.missing.steps for one in again.todo)  # it was paid for
    assert again.start().wait(60).finished == 2
    assert statuses(tmp_path / "ws") == {"graded": 2}


def test_nothing_is_begun_without_a_key(tmp_path, monkeypatch):
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    monkeypatch.delenv("ANTHROPIC_BASE_URL", raising=False)
    keyless = job_plan(tmp_path, connection=Connection())
    with pytest.raises(Refused, match="There is no API key"):
        keyless.start()
    assert not keyless.workspace.exists()


def test_a_gate_that_fails_skips_the_judge(tmp_path):
    suite = job_plan(tmp_path).suite  # makes the skill
    path = suite.path
    said = json.loads(path.read_bytes())
    said["evals"] = said["evals"][:1]
    said["evals"][0]["structural_expectations"][0]["pattern"] = "*.pdf"
    path.write_text(json.dumps(said))
    progress = job_plan(tmp_path).start().wait(60)
    assert dict(progress.steps) == {"execute": 2, "check": 2, "judge": 0, "grade": 0}
    assert statuses(tmp_path / "ws") == {"gated": 2}
    said["eval_config"] = {"structural_gate": False}
    path.write_text(json.dumps(said))
    made = job_plan(tmp_path)
    progress = made.start().wait(60)
    assert dict(progress.steps)["judge"] == 2


def test_what_looks_on_is_told_and_may_fail(tmp_path):
    told, threads = [], set()

    def look(progress):
        told.append(progress)
        threads.add(threading.current_thread())

    made = job_plan(tmp_path, judgings=0)
    job = made.start(on_progress=look)
    job.wait(60)
    assert told[-1].status == "done"
    assert threading.main_thread() not in threads
    assert [one.finished for one in told] == sorted(one.finished for one in told)

    def fail(progress):
        raise ZeroDivisionError

    again = job_plan(tmp_path, judgings=0, runs=2).start(on_progress=fail).wait(60)
    assert again.status == "done"
    assert "on_progress raised ZeroDivisionError" in again.problems[0]


def test_a_job_that_nobody_can_reach_a_model_for_tells_so_in_each_run(tmp_path):
    lost = Connection(base_url="http://127.0.0.1:9")
    made = job_plan(tmp_path, evals_only=["No log"], connection=lost)

    judge = made.judge
    assert judge is not None
    import dataclasses

    hasty = dataclasses.replace(judge, deadline=1.0)
    original = Scheduler.__init__

    def init(self, *given, **more):
        original(self, *given, **more)
        self.judge = hasty

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Scheduler, "__init__", init)
        progress = made.start().wait(60)
    assert (progress.status, progress.errored) == ("done", 2)
    assert all("judge: " in one for one in progress.problems)
    assert statuses(tmp_path / "ws") == {"errored": 2}
    with serve(StandIn()) as address:
        found = Connection(base_url=address)
        ready = job_plan(tmp_path, evals_only=["No log"], retry_errored=True, connection=found)
        assert [one.missing.steps for one in ready.todo] == [("judge 1", "grade")] * 2
        progress = ready.start().wait(60)
    assert (progress.status, progress.finished) == ("done", 2)
    assert statuses(tmp_path / "ws") == {"graded": 2}


# ── journal ────────────────────────────────────────────────────────────────────────────────────

PLANNED = {"event": "planned", "fingerprint": {"runs": {"a": [1, 2]}, "grading": {}}}


def opened(folder):
    return Journal(folder / "iteration-1", PLANNED)


def test_what_was_spent_is_known_over_all_starts(tmp_path):
    journal = opened(tmp_path)
    first = journal.launch("execute", "k1", 0.5)
    second = journal.launch("execute", "k2", 0.25)
    journal.add("finished", launch=first, usd=0.125, seconds=2.0)
    journal.close()
    journal = opened(tmp_path)
    told = journal.record
    assert (told.spent_usd, told.last, list(told.open)) == (0.125 + 0.25, second, [second])
    assert told.seconds == {"execute": (2.0, 1)}
    journal.add("interrupted", launch=second, usd=0.0625)
    assert journal.launch("execute", "k2", 0.25) == second + 1
    journal.add("cancelled", launch=second + 1, usd=0.03125)
    journal.close()
    told = read(tmp_path / "iteration-1")
    assert (told.spent_usd, told.open) == (0.125 + 0.0625 + 0.03125, {})


def test_the_plan_is_told_once_and_first(tmp_path):
    opened(tmp_path).close()
    opened(tmp_path).close()
    other = {**PLANNED, "fingerprint": {"runs": {"a": [1, 2]}, "grading": {"judge": "x"}}}
    Journal(tmp_path / "iteration-1", other).close()
    events = read(tmp_path / "iteration-1").events
    assert [one["event"] for one in events] == ["planned", "planned"]
    assert [one.name for one in tmp_path.iterdir()] == ["iteration-1"]


@settings(max_examples=30)
@given(cut=st.integers(1, 400))
def test_a_line_that_was_cut_short_is_not_read_and_not_continued(tmp_path_factory, cut):
    folder = tmp_path_factory.mktemp("cut")
    journal = opened(folder)
    launch = journal.launch("execute", "k", 1.0)
    journal.add("finished", launch=launch, usd=0.25, traceback="x" * 300)
    journal.close()
    path = journal.path
    whole = path.read_bytes()
    path.write_bytes(whole[:-cut])
    lost = whole[:-cut].count(b"\n")
    told = read(folder / "iteration-1")
    assert len(told.events) == lost
    if lost < 1:  # even the plan: the iteration is somebody else's then
        return
    journal = opened(folder)
    journal.add("ended")
    journal.close()
    events = read(folder / "iteration-1").events
    assert len(events) == lost + 1
    assert events[-1]["event"] == "ended"
    assert read(folder / "iteration-1").spent_usd == (1.0 if lost == 2 else 0.0)


def test_another_process_holds_it_until_it_ends_however_it_ends(tmp_path):
    program = f"""
        import os, sys, time
        from skill_eval_nb.running.journal import Journal
        journal = Journal({str(tmp_path / "iteration-1")!r}, {PLANNED!r})
        print("held", flush=True)
        time.sleep(60)
    """
    command = [sys.executable, "-c", textwrap.dedent(program)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        with pytest.raises(Held, match=f"by process {other.pid} on "):
            opened(tmp_path)
        other.kill()
        other.wait()
        opened(tmp_path).close()


def test_a_full_disk_leaves_no_half_line(tmp_path, monkeypatch):
    journal = opened(tmp_path)
    real = os.write

    def full(file, data):
        if not os.path.sameopenfile(file, journal_file):  # another thread's
            return real(file, data)
        if len(data) > 40:
            return real(file, data[:40])
        raise OSError(errno.ENOSPC, "No space left on device")

    journal_file = os.open(journal.path, os.O_RDONLY)
    before = journal.path.read_bytes()
    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match="No space"):
        journal.add("x", text="y" * 10)
    monkeypatch.undo()
    os.close(journal_file)
    assert journal.path.read_bytes() == before
    journal.add("ended")
    journal.close()
    assert json.loads(journal.path.read_bytes().splitlines()[-1])["event"] == "ended"


# ── watching ───────────────────────────────────────────────────────────────────────────────────


class Scripted:
    """A job that goes through these states, a look a state."""

    def __init__(self, *states: Progress, stops: bool = False) -> None:
        self.states = list(states)
        self.stops = stops
        self.stopped = False

    @property
    def progress(self) -> Progress:
        if self.stops and len(self.states) == 1:
            self.stops = False
            raise KeyboardInterrupt
        return self.states.pop(0) if len(self.states) > 1 else self.states[0]

    def stop(self) -> None:
        self.stopped = True

    def wait(self) -> Progress:
        return self.states[-1]


def states(*finished: int) -> list[Progress]:
    running = [Progress("running", cells=3, finished=number) for number in finished]
    return [*running, Progress("done", cells=3, finished=3)]


def test_a_terminal_gets_a_picture_that_goes_away():
    into = io.StringIO()
    watch(Scripted(*states(0, 1)), Console(file=into, force_terminal=True, width=60))
    assert "1 of 3 runs" in into.getvalue()
    assert "\x1b[2K" in into.getvalue()  # the line is erased


def test_an_interrupt_stops_the_job():
    job = Scripted(*states(0, 1), stops=True)
    assert watch(job, Console(file=io.StringIO())).status == "done"
    assert job.stopped


def test_names_from_files_are_only_text():
    flights = (InFlight("execute", "<img src=x onerror=alert(1)>", 1.0),)
    shown = page(Progress("running", cells=1, in_flight=flights, problems=("<b>",)))
    assert "<img" not in shown
    assert "<b>" not in shown


# ── shown ──────────────────────────────────────────────────────────────────────────────────────

FILE = "evals/files/mixed.txt"


def asked(log: Path) -> list[dict[str, Any]]:
    """The bodies of the requests to the judge."""
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    bodies = [line["body"] for line in lines if line["path"].endswith("/messages")]
    return [body for body in bodies if "output_config" in body]


def texts(body: dict[str, Any]) -> str:
    return "\n".join(block.get("text", "") for block in body["messages"][0]["content"])


@pytest.mark.skipif(sandbox.available() is not None, reason="no sandbox for the agent here")
def test_the_judge_of_a_demo_run_sees_the_input_files(tmp_path):
    skill = Path(shutil.copytree(ROOT / "data" / "release-notes", tmp_path / "release-notes"))
    stand_in = StandIn(log=str(tmp_path / "log"))
    made = plan_runs(
        skill,
        workspace=tmp_path / "ws",
        runs=2,
        evals_only=[1],
        executor_options={"stand_in": stand_in},
        connection=Connection(stand_in=stand_in),
    )
    progress = made.start().wait(120)
    assert (progress.status, progress.finished) == ("done", 4), progress
    given = (skill / FILE).read_bytes()
    kept = [made.folder_of(cell) / "inputs" / FILE for cell in made.cells]
    assert [one.read_bytes() for one in kept] == [given] * 4
    requests = asked(tmp_path / "log")
    assert len(requests) >= 2  # a run without the skill may miss the gate
    for body in requests:
        assert f'<input file="{FILE}"' in texts(body)
        assert given.decode().splitlines()[0] in texts(body)


def test_configurations_are_covered_and_words_of_the_task_are_not(tmp_path):
    log = tmp_path / "log"
    executor = Writer(text="By the notes skill, on the side terse-notes; not-terse wrote notes.")
    progress = job_plan(
        tmp_path,
        executor,
        configurations={"terse-notes": tmp_path / "skill", "not-terse": None},
        connection=Connection(stand_in=StandIn(log=str(log))),
    )
    assert progress.start().wait(60).finished == 6
    for body in asked(log):
        told = texts(body)
        assert "By the [name 1], on the side [name 2]; [name 3] wrote notes." in told
        assert "terse" not in told


# ── course ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("turns", [0, 1, 2])
def test_a_step_that_was_only_just_launched_gives_back_its_money(
    tmp_path: Path, turns: int
) -> None:
    unused: Any = None
    budget = Budget(5.0, PRICES)
    scheduler = Scheduler(job_plan(tmp_path), unused, budget, unused, {}, unused, lambda: None)
    told: list[str] = []

    async def step(reservation: Any) -> None:
        told.append("begun")
        try:
            await asyncio.sleep(3600)
        finally:
            reservation.close()
            told.append("cut off")

    async def job() -> None:
        scheduler.spawn(step(budget.allot(2.0)))
        for _ in range(turns):
            await asyncio.sleep(0)
        scheduler.stopping = True
        scheduler.cancel()
        await asyncio.wait_for(scheduler.to_its_end(), 10)

    asyncio.run(job())
    assert told == ["begun", "cut off"]
    assert budget.reserved_usd == 0.0


# ── warming ────────────────────────────────────────────────────────────────────────────────────

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
