"""What cannot be read says why, whole files are read, and what happens while much is read."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

import skill_eval_nb as sen
from skill_eval_nb.documents import Timing
from skill_eval_nb.workspace import Problems, collector_paused
from skill_eval_nb.workspace.read import load_document, load_if_there, load_raw
from tests.checkout import ROOT
from tests.corpus.build import lay
from tests.documents.examples import EXAMPLES


def test_the_collector_is_away_and_back_after_an_error_and_not_where_it_was_off():
    """What was made meanwhile counts as old."""
    with suppress(ValueError), collector_paused():
        assert not gc.isenabled()
        made = [[number] for number in range(5000)]
        raise ValueError
    assert gc.isenabled()
    assert gc.get_count()[0] < len(made)
    assert any(one is made for one in gc.get_objects(generation=2))
    assert gc.get_freeze_count() == 0
    gc.disable()
    try:
        with collector_paused():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


THREADS = """
import sys, threading
from skill_eval_nb.documents import Judging, Metrics, Structural, Timing
from skill_eval_nb.workspace.read import decoder

sys.setswitchinterval(1e-6)
ready = threading.Barrier(16)

def read():
    for kind in (Judging, Structural, Metrics, Timing):
        ready.wait()
        found = decoder(kind)
        assert found.type is kind
        found.decode('{"expectations": []}')

threads = [threading.Thread(target=read) for _ in range(16)]
for one in threads:
    one.start()
for one in threads:
    one.join()
"""


def test_threads_may_ask_for_their_first_decoders_at_the_same_time():
    """Guards against a crash: msgspec's first decoder of a type is not safe among threads."""
    for _ in range(2):
        command = [sys.executable, "-c", THREADS]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{done.returncode}: {done.stderr}"


@pytest.mark.parametrize("size", [65_534, 65_535, 65_536, 3_000_000])
def test_every_byte_is_read(tmp_path, size):
    lay(tmp_path, {"x.json": [f"{size:x>{size}}"]})
    assert load_raw(str(tmp_path / "x.json"), Problems()) == [f"{size:x>{size}}"]


@pytest.mark.parametrize("key", ["runs", "notes"])
def test_what_a_benchmark_gives_twice_is_told(tmp_path: Path, key: str):
    """However near it is to the documented form: the last counts, and runs would be lost."""
    benchmark = EXAMPLES["skill-creator"]["benchmark"]
    text = f"{json.dumps(benchmark)[:-1]}, {json.dumps(key)}: {json.dumps(benchmark[key])}}}"
    for name, written, told in (("once", json.dumps(benchmark), []), ("twice", text, [key])):
        ws = sen.load(lay(tmp_path / name / "ws", {"iteration-1/benchmark.json": written}))
        messages = ws.problems.filter(code="repaired-json")["message"].to_list()
        assert [message.rpartition(": ")[2] for message in messages] == told


@pytest.mark.parametrize(
    ("content", "code"),
    [("{", "not-json"), (b"\xff\xfe\xff", "not-json"), ("null", "empty"), (None, "unreadable")],
)
def test_what_cannot_be_used_says_why(tmp_path, content, code):
    path = str(tmp_path / "timing.json")
    if content is not None:
        lay(tmp_path, {"timing.json": content})
    problems, of_one_that_need_not_be_there = Problems(), Problems()
    assert load_document(path, Timing, problems) is None
    assert [(one.severity, one.code, one.path) for one in problems] == [("error", code, path)]
    assert load_if_there(path, Timing, of_one_that_need_not_be_there) is None
    assert of_one_that_need_not_be_there == ([] if content is None else problems)
