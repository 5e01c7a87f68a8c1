"""The journal and its lock: one writer at a time, and no half line, whatever ends it."""

from __future__ import annotations

import asyncio
import errno
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skill_eval_nb.models import Usage, load_prices
from skill_eval_nb.running.budget import Budget
from skill_eval_nb.running.journal import (
    LATEST,
    LOCK,
    Ended,
    Held,
    Journal,
    Launched,
    Ledger,
    close_interrupted,
    delete_half_written,
    hold_folders,
    notes_of,
    read_journal,
)
from skill_eval_nb.workspace.jobs import read_job
from tests.corpus.build import lay


def test_only_one_of_many_is_ever_inside(tmp_path):
    inside, most, refused = list[int](), list[int](), list[int]()

    def work(number: int) -> None:
        try:
            with hold_folders([tmp_path], "work"):
                inside.append(number)
                most.append(len(inside))
                inside.pop()
        except Held:
            refused.append(number)

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(work, range(120)))
    assert (set(most), len(most) + len(refused)) == ({1}, 120)


def test_half_files_of_the_dead_go_and_no_others(tmp_path):
    names = (".0123456789abcdef.tmp", "notes.tmp", ".0123.tmp", ".fedcba9876543210.tmp")
    stale, mine, near, young = (tmp_path / name for name in names)
    for path in (stale, mine, near, young):
        path.touch()
        os.utime(path, None if path == young else (time.time() - 120,) * 2)
    delete_half_written(tmp_path)
    assert set(tmp_path.iterdir()) == {young, mine, near}
    delete_half_written(tmp_path, 0)
    assert set(tmp_path.iterdir()) == {mine, near}
    delete_half_written(tmp_path / "not there")


# ── the journal ──────────────────────────────────────────────────────────────────────────────────

PLANNED = {"event": "planned", "fingerprint": {"runs": {"a": [1, 2]}, "grading": {}}}


def opened(folder):
    return Journal(folder / "iteration-1", PLANNED)


def test_the_plan_stands_first_and_once_and_what_was_spent_is_known_over_all_starts(tmp_path):
    journal = opened(tmp_path)
    first, second = (journal.launch("execute", key, 0.5) for key in ("k1", "k2"))
    journal.add("finished", launch=first, usd=0.125, seconds=2.0)
    journal.close()
    journal = opened(tmp_path)
    record = journal.record
    assert (record.spent_usd, record.last, list(record.open)) == (0.125 + 0.5, second, [second])
    assert record.seconds == {"execute": (2.0, 1)}
    journal.add("interrupted", launch=second, usd=0.0625)
    journal.add("cancelled", launch=journal.launch("execute", "k2", 0.25), usd=0.03125)
    journal.close()
    other = {**PLANNED, "fingerprint": {"runs": {"a": [1, 2]}, "grading": {"judge": "x"}}}
    Journal(tmp_path / "iteration-1", other).close()
    record = read_journal(tmp_path / "iteration-1")
    assert (record.spent_usd, record.open) == (0.125 + 0.0625 + 0.03125, {})
    kinds = [one["event"] for one in record.events]
    assert (kinds[0], kinds[-1], kinds.count("planned")) == ("planned", "planned", 2)
    assert [one.name for one in tmp_path.iterdir()] == ["iteration-1"]


@pytest.mark.parametrize(
    ("worst", "notes", "usd"),
    [
        (0.5, None, 0.5),
        (0.5, "", 0.5),
        (0.5, "0.03125\n0.0625\n0.12", 0.0625),  # the last line was cut off
        (0.5, "0.75\n", 0.5),
        *((0.5, odd, 0.5) for odd in ("ten\n", "-1\n", "nan\n")),
        (None, "0.25\n", 0.25),
        (None, None, 0.0),
    ],
)
def test_what_a_kill_left_open_costs_the_same_before_the_next_start_and_after(
    tmp_path, worst, notes, usd
):
    """A plan, and a measurement with `dry_run=True`, say before it what the next start counts."""
    journal = opened(tmp_path)
    launch = journal.launch("execute", "k", worst)
    journal.close()
    iteration = tmp_path / "iteration-1"
    if notes is not None:
        noted = notes_of(iteration, launch)
        lay(noted.parent, {noted.name: notes})
    assert read_journal(iteration).costs == {"k": usd}
    journal = opened(tmp_path)
    close_interrupted(journal)
    journal.close()
    record = read_journal(iteration)
    assert (record.costs, record.open) == ({"k": usd}, {})
    assert record.events[-1]["by"] == ("notes" if (notes or "").startswith("0") else "worst")


def test_a_ledger_goes_on_from_earlier_starts_and_one_call_without_a_price_is_enough(tmp_path):
    journal = opened(tmp_path)
    journal.add("finished", launch=journal.launch("judge", "k", None), seconds=2.0)
    journal.close()
    journal = opened(tmp_path)
    ledger = Ledger(journal, Budget(None, load_prices()), lambda: None)

    async def judge(model):
        async with ledger.step("judge", "k", "a-run", ledger.budget.allot(None)) as step:
            meter, used = step.meter(), Usage(input_tokens=10, calls=1)
            meter.settle(meter.reserve(model, used), used)
            assert step.notes.exists()
            step.ended = Ended(seconds=4.0)
        assert not step.notes.exists()

    for model in ("of-nobody", "claude-sonnet-5"):
        asyncio.run(judge(model))
    journal.close()
    assert (ledger.took, ledger.priced) == ({"judge": (10.0, 3)}, False)


def test_a_step_in_flight_shows_its_latest_events():
    step = Launched("execute", "a-run", 1, None, Path(), events=[{"at": at} for at in range(20)])
    assert [event["at"] for event in step.look().events] == [*range(20 - LATEST, 20)]


@settings(max_examples=30)
@given(cut=st.integers(1, 400))
def test_a_line_that_was_cut_short_is_not_read_and_not_continued(tmp_path_factory, cut):
    folder = tmp_path_factory.mktemp("cut")
    journal = opened(folder)
    launch = journal.launch("execute", "k", 1.0)
    journal.add("finished", launch=launch, usd=0.25, traceback="x" * 300)
    journal.close()
    whole = journal.path.read_bytes()
    journal.path.write_bytes(whole[:-cut])
    lines = whole[:-cut].count(b"\n")
    assert len(read_journal(folder / "iteration-1").events) == lines
    if lines < 1:  # even the plan: the iteration is somebody else's then
        return
    journal = opened(folder)
    journal.add("ended")
    journal.close()
    record = read_journal(folder / "iteration-1")
    assert (len(record.events), record.events[-1]["event"]) == (lines + 1, "ended")
    assert record.spent_usd == (1.0 if lines == 2 else 0.0)


PROGRAM = """
import sys, time
from skill_eval_nb.running.journal import Journal
journal = Journal(sys.argv[1], {"event": "planned"})
print("held", flush=True)
time.sleep(60)
"""


def test_another_process_holds_it_until_it_ends_however_it_ends(tmp_path):
    command = [sys.executable, "-c", PROGRAM, tmp_path / "iteration-1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        with pytest.raises(Held, match=f"by process {other.pid} on "):
            opened(tmp_path)
        assert f"process {other.pid} on" in (read_job(tmp_path / "iteration-1").at_it or "")
        other.kill()
        other.wait()
        assert (tmp_path / "iteration-1" / LOCK).exists()
        assert read_job(tmp_path / "iteration-1").at_it is None
        opened(tmp_path).close()


def test_a_full_disk_leaves_no_half_line(tmp_path, monkeypatch):
    journal, real = opened(tmp_path), os.write
    before = journal.path.read_bytes()

    def full(file, data):
        if not os.path.samestat(os.fstat(file), journal.path.stat()):  # another thread's
            return real(file, data)
        if len(data) > 40:
            return real(file, data[:40])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match="No space"):
        journal.add("x", text="y" * 10)
    monkeypatch.undo()
    assert journal.path.read_bytes() == before
    journal.add("ended")
    journal.close()
    events = read_journal(tmp_path / "iteration-1").events
    assert [one["event"] for one in events] == ["planned", "ended"]
